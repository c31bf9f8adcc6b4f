"""Hostile and damaged files raise a clear error or load; no crash, no hang, no code is run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from messy import make_messy
from numpy.testing import assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC, load_model, save_model
from skauc.exceptions import ModelFileError
from skauc.preprocessing import TablePreprocessor
from tests.persistence.hostile import members_of, sealed, shell_of, with_shell

X, Y = make_classification(200, 5, class_sep=0.7, random_state=0)
MOST_MEMORY = 250e6


def table_model():
    frame, y = make_messy(200)
    estimator = SparseKernelAUC(
        6, gamma=[0.1, 1.0], linear_term=True, scaling="rank", random_state=0
    )
    return make_pipeline(TablePreprocessor(), estimator).fit(frame, y)


def calibrated_model():
    model = make_pipeline(StandardScaler(), SparseKernelAUC(6, random_state=0))
    return CalibratedClassifierCV(model, ensemble=False).fit(X, Y)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="counts memory as Linux does"
)
@pytest.mark.parametrize("kind", ["table", "calibrated"])
def test_hundreds_of_hostile_files(tmp_path, kind):
    """The attack `model_files` runs thousands, for twenty models."""
    model = table_model() if kind == "table" else calibrated_model()
    path = save_model(model, tmp_path / "model.skauc", history=True)
    program = Path(__file__).with_name("hostile.py")
    answer = subprocess.run(
        [sys.executable, str(program), str(path), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    for name in ("altered", "altered archive"):
        outcomes = found["outcomes"].pop(name)
        assert set(outcomes) <= {"refused", "loaded"}, (name, outcomes)
        assert outcomes["refused"] > 40
    for name, outcomes in found["outcomes"].items():
        assert set(outcomes) == {"refused"}, (name, outcomes)
    large = {name: size for name, size in found["memory"].items() if size > MOST_MEMORY}
    assert not large
    assert found["slowest"] < 60


@pytest.mark.parametrize("name", ["__class__", "__setstate__", "__mine"])
def test_state_that_begins_with_two_underscores_is_refused(tmp_path, name):
    path = save_model(calibrated_model(), tmp_path / "model.skauc")
    members = members_of(path.read_bytes())
    shell = shell_of(members)
    schema = json.loads(shell["schema.json"])
    state = schema["content"]["content"]
    state[name] = state["method"]
    text = json.dumps(schema, indent=2).encode()
    path.write_bytes(sealed(with_shell(members, {**shell, "schema.json": text})))
    with pytest.raises(ModelFileError, match=rf"the attribute \['{name}'\] is not valid"):
        load_model(path)


def with_header(path, **changes):
    """Change the header of a model file, and seal it as an attacker would."""
    members = members_of(path.read_bytes())
    header = json.loads(members["header.json"]) | changes
    path.write_bytes(sealed({**members, "header.json": json.dumps(header).encode()}))
    return path


@pytest.mark.parametrize(
    "names",
    [None, ["only one"], ["a", "b", "c"], ["a", "a"], ["a", "memory"], ["a__b", "c"], [1, 2]],
)
def test_the_names_of_steps_are_checked(tmp_path, names):
    path = save_model(table_model(), tmp_path / "model.skauc")
    with pytest.raises(ModelFileError, match="the names of its steps are not valid"):
        load_model(with_header(path, pipeline={"names": names}))


def test_the_steps_of_a_pipeline_are_checked(tmp_path):
    path = save_model(table_model(), tmp_path / "model.skauc")
    estimator = {"estimator": {"class": "OPAUC", "parameters": {}}}
    with pytest.raises(ModelFileError, match="its steps are not valid"):
        load_model(with_header(path, parts=[estimator] * 2))


@pytest.mark.parametrize(
    "flagging",
    [
        [],
        {"threshold": 0.5},
        {"threshold": [], "response_method": "auto", "pos_label": None},
        {"threshold": "os", "response_method": "auto", "pos_label": None},
        {"threshold": 0.5, "response_method": "predict", "pos_label": None},
        {"threshold": 0.5, "response_method": "auto", "pos_label": {}},
    ],
)
def test_the_threshold_of_a_pipeline_is_checked(tmp_path, flagging):
    path = save_model(table_model(), tmp_path / "model.skauc")
    with pytest.raises(ModelFileError, match="its threshold is not valid"):
        load_model(with_header(path, pipeline={"names": ["a", "b"], "flagging": flagging}))


@pytest.mark.parametrize("make", [table_model, calibrated_model])
def test_every_flipped_byte_and_cut_is_noticed(tmp_path, make):
    path = save_model(make(), tmp_path / "model.skauc")
    content = path.read_bytes()
    for at in np.random.default_rng(0).integers(0, len(content), 200):
        flipped = bytearray(content)
        flipped[at] ^= 1 << (at % 8)
        for damaged in (bytes(flipped), content[:at], content + b"x", content[at:]):
            path.write_bytes(damaged)
            if damaged != content:
                with pytest.raises(ModelFileError, match="cannot be loaded: "):
                    load_model(path)


def altered(model, change):
    """Return a copy of a model file whose scaler was changed before it was saved."""
    change(model.calibrated_classifiers_[0].estimator[0])
    return model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda step: vars(step).update(mean_=np.zeros(3)), "cannot score a row"),
        (lambda step: vars(step).update(mean_=None), "cannot score a row"),
        (lambda step: vars(step).update(scale_="x"), "cannot score a row"),
        (lambda step: vars(step).update(mean_=np.full(5, np.nan)), "cannot score a row"),
        (lambda step: vars(step).update(scale_=np.full(5, np.inf)), "attribute 'scale_' is not"),
        (lambda step: vars(step).update(with_mean="maybe"), "'with_mean' parameter"),
        (lambda step: vars(step).update(transform="x"), "attribute 'transform' is not valid"),
        (lambda step: vars(step).update(__len__="x"), "attribute .*__len__.* is not valid"),
    ],
)
def test_attributes_of_steps_are_checked(tmp_path, change, message):
    model = altered(calibrated_model(), change)
    with pytest.raises(ModelFileError, match=message):
        save_model(model, tmp_path / "model.skauc")


def test_calibrators_are_checked(tmp_path):
    model = calibrated_model()
    model.calibrated_classifiers_[0].calibrators[0].a_ = float("nan")
    with pytest.raises(ModelFileError, match=r"score of a row is not valid|cannot score a row"):
        save_model(model, tmp_path / "model.skauc")


def test_a_loaded_model_keeps_its_scores(tmp_path):
    model = calibrated_model()
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
