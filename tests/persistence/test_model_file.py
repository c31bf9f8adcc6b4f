"""Model files: the same scores in a fresh process, small, whole or not there, and safe."""

import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from messy import make_messy
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import skauc
from skauc import SparseKernelAUC, SparseKernelAUCCV, inspect_model, load_model, save_model
from skauc.exceptions import InvalidParameterError, MissingPackageError, ModelFileError
from skauc.persistence.archive import pack
from skauc.preprocessing import TablePreprocessor

DATA = Path(__file__).parent / "data"
X, Y = make_classification(300, 5, class_sep=0.7, random_state=0)
WORDS = np.array(["no", "yes"])[Y]


def small(n_basis=8, **parameters):
    return SparseKernelAUC(n_basis, random_state=0, **parameters)


def small_cv():
    return SparseKernelAUCCV(
        n_basis=8, Cs=[1.0], gammas=["scale"], cv=2, refine=False, random_state=0
    )


MODELS = {
    "rbf": small(),
    "laplacian": small(kernel="laplacian"),
    "polynomial": small(kernel="polynomial", degree=2),
    "linear": small(kernel="linear"),
    "widths": small(gamma=[0.05, 0.5], linear_term=True),
    "refined": small(20, refine=True),
    "early": small(early_stopping=True),
    "cv": small_cv(),
    "pipeline": make_pipeline(StandardScaler(), PCA(3), small()),
    "calibrated": CalibratedClassifierCV(make_pipeline(StandardScaler(), small()), ensemble=False),
    "isotonic": CalibratedClassifierCV(small(), method="isotonic", ensemble=False),
    "tuned": TunedThresholdClassifierCV(small(), cv=3),
    "frozen": CalibratedClassifierCV(FrozenEstimator(small().fit(X, WORDS)), ensemble=False),
}


def scores(model, rows=X):
    method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    return getattr(model, method)(rows)


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_gives_the_same_scores_and_labels(tmp_path, name, history):
    model = MODELS[name].fit(X, WORDS)
    loaded = load_model(save_model(model, tmp_path / "model.skauc", history=history))
    assert type(loaded) is type(model)
    assert_array_equal(scores(loaded), scores(model))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert repr(loaded) == repr(model)


def test_a_fresh_process_gives_the_same_scores(tmp_path):
    frame, y = make_messy(400)
    model = make_pipeline(TablePreprocessor(), small()).fit(frame, y)
    save_model(model, tmp_path / "model.skauc")
    frame.to_pickle(tmp_path / "rows.pickle")
    code = (
        "import sys, numpy, pandas, skauc; folder = sys.argv[1]\n"
        "rows = pandas.read_pickle(folder + '/rows.pickle')\n"
        "model = skauc.load_model(folder + '/model.skauc')\n"
        "numpy.save(folder + '/scores.npy', model.decision_function(rows))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert_array_equal(np.load(tmp_path / "scores.npy"), model.decision_function(frame))


@pytest.mark.parametrize("convert", [sparse.csr_array, np.float32])
def test_sparse_and_single_precision_centres(tmp_path, convert):
    rows = convert(X) if convert is sparse.csr_array else X.astype(convert)
    model = small(linear_term=True).fit(rows, Y)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert type(loaded.basis_vectors_) is type(model.basis_vectors_)
    assert loaded.basis_vectors_.dtype == model.basis_vectors_.dtype
    assert_array_equal(loaded.decision_function(rows), model.decision_function(rows))


def test_fitted_attributes_come_back(tmp_path):
    model = small_cv().fit(X, WORDS)
    loaded = load_model(save_model(model, tmp_path / "model.skauc", history=True))
    assert set(vars(loaded)) == set(vars(model))
    for name in ("basis_vectors_", "dual_coef_", "basis_indices_", "length_scales_", "classes_"):
        assert_array_equal(getattr(loaded, name), getattr(model, name))
    for name in ("best_params_", "best_score_", "gamma_", "intercept_", "n_iter_", "n_splits_"):
        assert getattr(loaded, name) == getattr(model, name)
    assert repr(loaded.path_) == repr(model.path_)
    assert set(loaded.cv_results_) == set(model.cv_results_)
    assert_array_equal(loaded.best_estimator_.decision_function(X), model.decision_function(X))


def test_history_keeps_the_path(tmp_path):
    model = small(40, refine=True).fit(X, Y)
    loaded = load_model(save_model(model, tmp_path / "model.skauc", history=True))
    stages = zip(loaded.staged_decision_function(X), model.staged_decision_function(X), strict=True)
    for found, expected in stages:
        assert_array_equal(found, expected)
    for size in (3, 17, 33):
        assert_array_equal(scores(loaded.truncate(size)), scores(model.truncate(size)))


def test_without_history_there_is_one_size(tmp_path):
    loaded = load_model(save_model(small().fit(X, Y), tmp_path / "model.skauc"))
    assert [record.n_basis for record in loaded.path_] == [8]
    with pytest.raises(InvalidParameterError, match=r"was saved with, \[8\]; got 4\. Save it with"):
        loaded.truncate(4)


def test_a_loaded_model_can_be_fitted_pickled_and_saved_again(tmp_path):
    model = small().fit(X, Y)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert_array_equal(scores(pickle.loads(pickle.dumps(loaded))), scores(model))
    again = load_model(save_model(loaded, tmp_path / "again.skauc"))
    assert_array_equal(scores(again), scores(model))
    assert_array_equal(scores(loaded.fit(X, Y)), scores(model))


def test_the_same_model_makes_the_same_file(tmp_path):
    model = make_pipeline(StandardScaler(), small()).fit(X, Y)
    files = [save_model(model, tmp_path / name) for name in ("a.skauc", "b.skauc")]
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("prepare", [StandardScaler, TablePreprocessor])
@pytest.mark.parametrize("parameters", [{}, {"refine": True, "linear_term": True}])
def test_64_centres_of_22_features_take_less_than_20_kb(tmp_path, prepare, parameters):
    rows, y = make_classification(1000, 22, n_informative=9, random_state=0)
    model = make_pipeline(prepare(), small(64, **parameters)).fit(rows, y)
    assert save_model(model, tmp_path / "model.skauc").stat().st_size < 20_000


def test_what_a_file_says_about_itself(tmp_path):
    frame, y = make_messy(400)
    model = make_pipeline(TablePreprocessor(), small()).fit(frame, y)
    path = save_model(model, tmp_path / "model.skauc", summary={"target": "bought", "auc": 0.9})
    manifest = inspect_model(path)
    assert manifest["format_version"] == 1
    assert manifest["versions"]["skauc"] == skauc.__version__
    assert manifest["summary"] == {"target": "bought", "auc": 0.9}
    assert {"name": "town", "kind": "category"} in manifest["columns"]
    assert manifest["training"]["n_basis"] == 8
    assert manifest["training"]["train_auc"] == model[-1].path_[-1].train_auc


def test_the_file_of_the_first_release():
    """Written by 0.1.0 on 15 November 2026; it is never to be written again."""
    expected = json.loads((DATA / "first_release.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = load_model(DATA / "first_release.skauc")
    rows = np.array(expected["rows"])
    assert_allclose(model.decision_function(rows), expected["scores"], rtol=1e-9, atol=1e-9)
    assert model.predict(rows).tolist() == expected["labels"]
    stages = model[-1].staged_decision_function(model[:-1].transform(rows))
    assert_allclose(list(stages), expected["stages"], rtol=1e-9, atol=1e-9)
    assert inspect_model(DATA / "first_release.skauc")["summary"] == {"note": "the first release"}


def test_an_existing_file_is_kept_unless_told(tmp_path):
    path = tmp_path / "model.skauc"
    path.write_text("precious")
    with pytest.raises(ModelFileError, match=r"exists already\. .* with overwrite=True"):
        save_model(MODELS["rbf"].fit(X, Y), path)
    assert path.read_text() == "precious"
    save_model(MODELS["rbf"], path, overwrite=True)
    assert_array_equal(scores(load_model(path)), scores(MODELS["rbf"]))


def test_nothing_is_left_where_nothing_can_be_written(tmp_path):
    model = small().fit(X, Y)
    with pytest.raises(ModelFileError, match=r"cannot be written: No such file .* Choose another"):
        save_model(model, tmp_path / "nowhere" / "model.skauc")
    with pytest.raises(InvalidParameterError, match="`summary` must be a dictionary that JSON"):
        save_model(model, tmp_path / "model.skauc", summary={"x": object()})
    (tmp_path / "folder").mkdir()
    with pytest.raises(ModelFileError, match="cannot be written"):
        save_model(model, tmp_path / "folder", overwrite=True)
    assert os.listdir(tmp_path) == ["folder"]


def of_my_own(rows):
    return rows + 1


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (small(), NotFittedError, "not fitted"),
        (LogisticRegression().fit(X, Y), ModelFileError, "LogisticRegression does not hold an est"),
        (small(kernel=rbf_kernel).fit(X, Y), ModelFileError, "a kernel of your own cannot be"),
        (
            make_pipeline(FunctionTransformer(of_my_own), small()).fit(X, Y),
            ModelFileError,
            r"types that are not trusted: \['.*of_my_own'\]\. Use steps from",
        ),
        (
            make_pipeline(FunctionTransformer(lambda rows: rows), small()).fit(X, Y),
            ModelFileError,
            "something that cannot be stored: .*lambda",
        ),
    ],
)
def test_models_that_cannot_be_stored(tmp_path, model, error, message):
    with pytest.raises(error, match=message):
        save_model(model, tmp_path / "model.skauc")
    assert os.listdir(tmp_path) == []


BAD = [
    (b"", "is not a skauc model file"),
    (b"PK\x03\x04 something else", "is not a skauc model file"),
    (b"skauc-model 1 " + b"0" * 64 + b"\nbody", "is damaged: its content does not match"),
    (pack(7, {}), r"is of format 7; skauc .* reads up to 1\. Install the version"),
    (pack(1, {}), "has no sound manifest"),
    (pack(1, {"manifest.json": b"{}"}), "has a manifest that lacks entries"),
    (pack(1, {"evil.py": b""}), "its member 'evil.py' does not belong there"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_files_that_are_no_models(tmp_path, content, message):
    path = tmp_path / "model.skauc"
    path.write_bytes(content)
    for read in (load_model, inspect_model):
        with pytest.raises(ModelFileError, match=message):
            read(path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*x\.skauc\. Check the name"):
        load_model(tmp_path / "x.skauc")
    with pytest.raises(ModelFileError, match=r"cannot be read: .* Check the name"):
        load_model(tmp_path)


def test_a_model_larger_than_allowed(tmp_path):
    path = save_model(small().fit(X, Y), tmp_path / "model.skauc")
    with pytest.raises(ModelFileError, match=r"more than 1000 bytes\. If you trust it, pass a"):
        load_model(path, max_bytes=1000)


def test_skops_is_not_installed(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "skops"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(MissingPackageError, match=r"need skops, .* pip install 'skauc\[files\]'"):
        save_model(small().fit(X, Y), tmp_path / "model.skauc")


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="counts memory as Linux does"
)
def test_thousands_of_hostile_files(tmp_path):
    """A clean error, or a model where the change was harmless; no crash, no hang, no code run."""
    frame, y = make_messy(200)
    model = make_pipeline(TablePreprocessor(), small(6, gamma=[0.1, 1.0], linear_term=True))
    path = save_model(model.fit(frame, y), tmp_path / "model.skauc", history=True)
    program = Path(__file__).with_name("hostile.py")
    answer = subprocess.run(
        [sys.executable, str(program), str(path), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    altered = {kind: found["outcomes"].pop(kind) for kind in ("altered", "altered archive")}
    for kind, outcomes in altered.items():
        assert set(outcomes) <= {"refused", "loaded"}, (kind, outcomes)
        assert outcomes["refused"] > 400
    for kind, outcomes in found["outcomes"].items():
        assert set(outcomes) == {"refused"}, (kind, outcomes)
    assert found["memory"] < 200e6
    assert found["slowest"] < 60
