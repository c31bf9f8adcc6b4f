"""Files of every format and of other versions of scikit-learn load, with the same scores."""

import json
import sys
import warnings
from pathlib import Path

import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import InconsistentVersionWarning

from skauc import inspect_model, load_model

sys.path.insert(0, str(Path(__file__).parent))
from write_examples import LABELS, rows_for, scores_of

DATA = Path(__file__).parent / "data"
FILES = sorted(path.stem for path in DATA.glob("*.skauc"))


def loaded(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        return load_model(DATA / f"{name}.skauc")


@pytest.mark.parametrize("name", FILES)
def test_files_of_earlier_versions(name):
    rows = rows_for(name.rpartition("_")[2])[:20]
    expected = json.loads((DATA / f"{name}.json").read_text())
    assert_allclose(scores_of(loaded(name), rows), expected, rtol=1e-9, atol=1e-9)
    assert inspect_model(DATA / f"{name}.skauc")["summary"] == {"note": name.rpartition("_")[0]}


def test_the_path_and_the_state_of_a_learner_are_there():
    assert len(loaded("format_1_widths").path_) > 1
    assert "mean_test_score" in loaded("format_1_search").cv_results_
    loaded("format_1_online").partial_fit(rows_for("online"), LABELS)


@pytest.mark.parametrize("name", ["pipeline", "calibrated"])
def test_steps_of_another_version_of_scikit_learn_are_named_once(name):
    with pytest.warns(InconsistentVersionWarning, match=r"StandardScaler from version 1\.6") as all:
        load_model(DATA / f"sklearn_1_6_{name}.skauc")
    assert len(all) == 1


def test_our_own_estimators_load_without_a_warning():
    for name in FILES:
        if "pipeline" not in name and "calibrated" not in name and "table" not in name:
            load_model(DATA / f"{name}.skauc")


def test_files_name_the_versions_they_were_made_with():
    versions = inspect_model(DATA / "sklearn_1_6_pipeline.skauc")["versions"]
    assert versions["scikit-learn"] == "1.6.1"
    assert versions.keys() == {"skauc", "scikit-learn", "numpy", "python", "skops"}
