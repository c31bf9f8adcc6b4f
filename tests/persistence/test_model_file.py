"""Model files: the same scores in a fresh process, small, whole or not there, and safe."""

import copy
import json
import os
import pickle
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from messy import make_messy
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, special
from sklearn.base import clone
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
from reproduction.data_sets import load_dataset
from skauc import (
    OAM,
    OILK,
    OPAUC,
    AdaOAM,
    KernelRankSVM,
    SAdaOAM,
    SparseKernelAUC,
    SparseKernelAUCCV,
    StructuralAUC,
    inspect_model,
    load_model,
    save_model,
)
from skauc.exceptions import InvalidParameterError, MissingPackageError, ModelFileError
from skauc.persistence.archive import pack
from skauc.persistence.models import bytes_by_place, from_bytes_by_place
from skauc.persistence.state import to_plain
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
    "ranks": small(scaling="rank", linear_term=True),
    "refined ranks": small(20, scaling="rank", refine=True),
    "normal": small(scaling="normal"),
    "axes": small(rotate=True, refine=5),
    "normal along axes": small(rotate=True, scaling="normal", linear_term=True),
    "cv": small_cv(),
    "pipeline": make_pipeline(StandardScaler(), PCA(3), small()),
    "calibrated": CalibratedClassifierCV(make_pipeline(StandardScaler(), small()), ensemble=False),
    "isotonic": CalibratedClassifierCV(small(), method="isotonic", ensemble=False),
    "tuned": TunedThresholdClassifierCV(small(), cv=3),
    "frozen": CalibratedClassifierCV(FrozenEstimator(small().fit(X, WORDS)), ensemble=False),
    "structural": StructuralAUC(),
    "structural rbf": StructuralAUC(kernel="rbf"),
    "rank svm": make_pipeline(StandardScaler(), KernelRankSVM()),
    "online": CalibratedClassifierCV(make_pipeline(StandardScaler(), OPAUC()), ensemble=False),
}

LEARNERS = {
    "OAM": OAM(buffer_size=20, random_state=0),
    "OAM fifo": OAM("gradient", buffer="fifo", buffer_size=20, average=False, random_state=0),
    "OPAUC": OPAUC(random_state=0),
    "OPAUC sketch": OPAUC(rank=2, random_state=0),
    "AdaOAM": AdaOAM(random_state=0),
    "SAdaOAM": SAdaOAM(random_state=0),
    "OILK": OILK(buffer_size=20, random_state=0),
    "OILK rsx": OILK("rsx", buffer_size=20, n_violators=3, random_state=0),
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
        "numpy.save(folder + '/scores.npy', model.decision_function(rows))\n"
        "assert 'skops' not in sys.modules  # whose import takes long"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert_array_equal(np.load(tmp_path / "scores.npy"), model.decision_function(frame))


@pytest.mark.parametrize("function", [np.log1p, np.abs, special.expit])
def test_functions_of_numbers(tmp_path, function):
    model = make_pipeline(FunctionTransformer(function), small()).fit(np.abs(X), Y)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert loaded[0].func is function
    assert_array_equal(scores(loaded, np.abs(X)), scores(model, np.abs(X)))


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


def leaves(state):
    """The arrays of a state, with their names."""
    for name, value in state._asdict().items():
        yield from leaves(value) if isinstance(value, tuple) else [(name, value)]


@pytest.mark.parametrize("start", [5, 150])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_loaded_learner_goes_on_as_the_original_would(tmp_path, name, start):
    model = clone(LEARNERS[name]).partial_fit(X[:start], WORDS[:start], classes=["no", "yes"])
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert set(vars(loaded)) == set(vars(model))
    for part in (slice(start, start), slice(start, 200), slice(200, 300)):
        for learner in (model, loaded) if part.start < part.stop else ():
            learner.partial_fit(X[part], WORDS[part])
        assert type(loaded._state) is type(model._state)
        states = zip(leaves(loaded._state), leaves(model._state), strict=True)
        for (field, found), (_, expected) in states:
            assert_array_equal(found, expected, err_msg=field)
            assert (found.dtype, found.flags.c_contiguous) == (expected.dtype, True)
        assert_array_equal(scores(loaded), scores(model))
        assert_array_equal(loaded.predict(X), model.predict(X))
        assert loaded.n_samples_seen_ == model.n_samples_seen_


def test_parameters_that_were_set_after_the_fit(tmp_path):
    """The model is still that of the fit; what is learnt from now on is another matter."""
    model = OAM(buffer_size=20, random_state=0).fit(X, Y).set_params(average=False, buffer_size=5)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert_array_equal(scores(loaded), scores(model))
    assert_array_equal(scores(loaded.partial_fit(X, Y)), scores(model.partial_fit(X, Y)))


def test_grades_in_queries(tmp_path):
    queries, grades = np.repeat(np.arange(10), 30), np.arange(300) % 3
    model = KernelRankSVM().fit(X, grades, qid=queries)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert_array_equal(scores(loaded), scores(model))
    assert loaded.score(X, grades, qid=queries) == model.score(X, grades, qid=queries)
    assert set(vars(loaded)) == set(vars(model))


def test_ranks_come_back_to_the_last_bit(tmp_path):
    rows = np.column_stack((np.exp(3 * X), Y, np.round(X[:, 0])))
    model = small(scaling="rank").fit(rows, Y)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    for name in ("knots", "half_steps", "levels"):
        found, expected = getattr(loaded.scaling_.ranks, name), getattr(model.scaling_.ranks, name)
        assert found.dtype == expected.dtype
        assert_array_equal(found, expected)
    assert loaded.rank_features() == model.rank_features()


@pytest.mark.parametrize("scaling", [None, "rank"])
def test_history_keeps_the_path(tmp_path, scaling):
    model = small(40, refine=True, scaling=scaling).fit(X, Y)
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


def test_ranks_take_no_more_than_their_knots(tmp_path):
    """Knots are training values, 100 a feature; their places and levels take next to nothing."""
    rows, y = make_classification(1000, 22, n_informative=9, random_state=0)
    sizes = [
        save_model(small(64, scaling=scaling).fit(rows, y), tmp_path / f"{scaling}.skauc")
        .stat()
        .st_size
        for scaling in (None, "rank")
    ]
    assert sizes[1] - sizes[0] < 22 * 100 * 8 + 1_000


@pytest.mark.skipif("SKAUC_DATA" not in os.environ, reason="needs ijcnn1")
@pytest.mark.parametrize("parameters", [{}, {"refine": True}])
@pytest.mark.parametrize("scaling", [None, "rank"])
def test_a_model_of_ijcnn1_takes_less_than_20_kb(tmp_path, scaling, parameters):
    data = load_dataset("ijcnn1")
    rows, y = data.X_train[::10], data.y_train[::10]
    model = make_pipeline(StandardScaler(), small(64, scaling=scaling, **parameters)).fit(rows, y)
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


@pytest.mark.parametrize("name", ["widths", "ranks", "svm", "online"])
def test_the_files_of_the_first_release(name):
    """Written by 0.1.0 on 15 November 2026; they are never to be written again."""
    path = DATA / f"first_release_{name}.skauc"
    expected = json.loads((DATA / "first_release.json").read_text())[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = load_model(path)
    rows = np.array(expected["rows"])
    close = partial(assert_allclose, rtol=1e-9, atol=1e-9)
    close(model.decision_function(rows), expected["scores"])
    assert model.predict(rows).tolist() == expected["labels"]
    if "stages" in expected:
        stages = model[-1].staged_decision_function(model[:-1].transform(rows))
        close(list(stages), expected["stages"])
    if "next_rows" in expected:
        more = model[:-1].transform(np.array(expected["next_rows"]))
        model[-1].partial_fit(more, expected["next_labels"])
        close(model.decision_function(rows), expected["next_scores"])
    assert inspect_model(path)["summary"] == {"note": "the first release"}


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
            r"a type that is not trusted: '.*of_my_own'\. Use steps from",
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
    with pytest.raises(MissingPackageError, match=r"needs skops, .* pip install 'skauc\[files\]'"):
        save_model(small().fit(X, Y), tmp_path / "model.skauc")


def written(part, value):
    """Put a value in the place of a part: ("scaling", "knots", (0, 1)) is an entry of an array."""

    def write(learnt):
        *way, last = part
        for name in way:
            learnt = learnt[name]
        learnt[last] = value(learnt[last]) if callable(value) else value

    return write


RANKS = [
    written(("scaling", "knots", (0, 1)), -np.inf),
    written(("scaling", "knots", (0, 1)), 1e9),
    written(("scaling", "knots"), lambda knots: knots[:, ::-1].copy()),
    written(("scaling", "knots"), lambda knots: np.hstack((knots[:, :1], knots[:, :-1]))),
    written(("scaling", "knots"), lambda knots: knots[1:]),
    written(("scaling", "knots"), lambda knots: knots[:, :1]),
    written(("scaling", "knots"), lambda knots: knots.tolist()),
    written(("scaling", "knots"), lambda knots: bytes_by_place(knots)[1:]),
    written(("scaling", "knots"), lambda knots: bytes_by_place(knots)[:, 0]),
    written(("scaling", "knots"), lambda knots: bytes_by_place(knots)[:, 1:]),
    written(("scaling", "knots"), lambda knots: bytes_by_place(knots) ^ 255),
    written(("scaling", "half_steps", (0, 50)), 0),
    written(("scaling", "word"), "logistic"),
    written(("scaling", "word"), None),
    written(("scaling", "half_steps", (0, 99)), 255),
    written(("scaling", "half_steps"), lambda steps: steps.astype(float)),
    written(("scaling", "half_steps"), lambda steps: steps[:, :-1]),
    written(("scaling", "mean"), lambda mean: mean[:-1]),
    written(("scaling", "mean", 0), np.nan),
    written(("scaling", "deviation", 0), 0.0),
    written(("scaling", "deviation", 0), -1.0),
    written(("scaling", "deviation", 0), 1e-320),
]
MEMORIES = [
    ("OAM", written(("n_offered", 0), -1)),
    ("OAM", written(("n_offered", 0), 2**60)),
    ("OAM", written(("n_seen", 1), 0)),
    ("OAM", written(("n_seen",), lambda counts: counts.astype(np.int32))),
    ("OAM", written(("rows",), lambda rows: rows[:, :5])),
    ("OAM", written(("rows",), lambda rows: rows[:, :, :2])),
    ("OAM", written(("rows",), lambda rows: rows[:, :0])),
    ("OAM", written(("rows",), 3)),
    ("OAM", written(("rows", (0, 0, 0)), np.nan)),
    ("OAM", written(("sources", 0), 20)),
    ("OAM", written(("sources", 0), -2)),
    ("OAM", written(("random",), lambda random: random.astype(np.int64))),
    ("OAM", written(("random",), lambda random: np.zeros(0, np.uint64))),
    ("OAM", written(("weights",), lambda weights: weights[:2])),
    ("OAM", lambda learnt: learnt.pop("means")),
    ("OPAUC", written(("scatter",), lambda scatter: scatter[:, :-1])),
    ("OPAUC", lambda learnt: learnt.update(extra=np.zeros(2))),
    ("OPAUC sketch", written(("n_rows", 0), 5)),
    ("OPAUC sketch", written(("n_rows", 0), -1)),
    ("OPAUC sketch", written(("sketch",), lambda sketch: sketch[:, :3])),
    ("AdaOAM", written(("squares",), lambda squares: squares[:, None])),
    ("OILK", written(("gram",), lambda gram: gram[:-1])),
    ("OILK", written(("coef",), lambda coef: coef[:-2])),
    ("OILK", written(("gamma", 0), -1.0)),
    ("OILK", written(("n_offered",), lambda counts: np.zeros_like(counts))),
]
AXES = [
    written(("axes", (0, 0)), np.nan),
    written(("axes",), lambda axes: axes[:, :-1]),
    written(("axes",), lambda axes: axes.astype(np.float16)),
    written(("axes",), lambda axes: axes.tolist()),
]
BROKEN = [("ranks", small(scaling="rank"), write) for write in RANKS]
BROKEN += [("axes", small(rotate=True), write) for write in AXES]
BROKEN += [("memories|counts", LEARNERS[name], write) for name, write in MEMORIES]


@pytest.mark.parametrize(("what", "model", "write"), BROKEN)
def test_every_number_that_a_model_leans_on_is_checked(what, model, write):
    stored = to_plain(clone(model).fit(X, Y), history=True)
    copy.deepcopy(stored)
    if what == "ranks":  # as the first release has them
        knots = stored.learnt["scaling"]["knots"]
        stored.learnt["scaling"]["knots"] = from_bytes_by_place(knots)
        copy.deepcopy(stored)
    write(stored.learnt)
    with pytest.raises(ModelFileError, match=rf"its ({what}) are not what an estimator's can be"):
        copy.deepcopy(stored)


@pytest.mark.parametrize(
    ("model", "attribute", "value"),
    [
        (small(), "n_basis_", 3),
        (small(), "scaling_", {}),
        (small(), "_models", {}),
        (small(), "feature_spread_", np.ones(3)),
        (small(), "feature_names_in_", np.array([1.0] * 5)),
        (small(), "n_features_in_", 10**9),
        (small(), "classes_", np.arange(3)),
        (StructuralAUC(), "coef_", np.zeros(2)),
        (LEARNERS["OAM"], "coef_", np.zeros((1, 3))),
        (LEARNERS["OAM"], "intercept_", np.array([np.nan])),
        (LEARNERS["OAM"], "n_samples_seen_", 1.5),
    ],
)
def test_attributes_are_those_that_a_fit_sets(model, attribute, value):
    stored = to_plain(clone(model).fit(X, Y), history=True)
    stored.fitted[attribute] = value
    words = "attributes|numbers|features|classes"
    with pytest.raises(ModelFileError, match=f"its ({words}) are not what an estimator's can be"):
        copy.deepcopy(stored)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="counts memory as Linux does"
)
@pytest.mark.parametrize("kind", ["table", "learner"])
def test_thousands_of_hostile_files(tmp_path, kind):
    """A clean error, or a model where the change was harmless; no crash, no hang, no code run."""
    frame, y = make_messy(200)
    estimator = small(6, gamma=[0.1, 1.0], linear_term=True, scaling="rank")
    model = {
        "table": lambda: make_pipeline(TablePreprocessor(), estimator).fit(frame, y),
        "learner": lambda: OILK(buffer_size=8, random_state=0).fit(X, Y),
    }[kind]()
    path = save_model(model, tmp_path / "model.skauc", history=True)
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


def test_the_manifest_names_the_kinds_of_columns_behind_a_frozen_model(tmp_path):
    table, y = make_messy(200)
    fitted = make_pipeline(TablePreprocessor(), SparseKernelAUC(2)).fit(table, y)
    model = CalibratedClassifierCV(FrozenEstimator(fitted), method="sigmoid").fit(table, y)
    path = save_model(model, tmp_path / "frozen.skauc")
    assert {"name": "town", "kind": "category"} in inspect_model(path)["columns"]
