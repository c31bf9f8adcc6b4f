"""Model files: the same scores in a fresh process, small, and complete or not there."""

import io
import os
import pickle
import subprocess
import sys
import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import pytest
from messy import make_messy
from numpy.testing import assert_array_equal
from scipy import sparse, special
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import skauc
from reproduction.data_sets import load_dataset
from skauc import (
    OAM,
    OILK,
    OPAUC,
    AdaOAM,
    KernelRankSVM,
    SAdaOAM,
    Selection,
    SparseKernelAUC,
    SparseKernelAUCCV,
    StructuralAUC,
    inspect_model,
    load_model,
    save_model,
)
from skauc.app.workflow.inspection import describe_model
from skauc.archive import write_archive
from skauc.exceptions import InvalidParameterError, MissingPackageError, ModelFileError
from skauc.persistence import check_savable
from skauc.preprocessing import TablePreprocessor
from skauc.unwrapping import unwrap

X, Y = make_classification(300, 5, class_sep=0.7, random_state=0)
WORDS = np.array(["no", "yes"])[Y]


def small(n_basis=8, **parameters):
    return SparseKernelAUC(n_basis, random_state=0, **{"scaling": None, **parameters})


def small_cv():
    small = {"n_basis": 8, "Cs": [1.0], "gammas": ["scale"], "cv": 2, "refine": False}
    return SparseKernelAUCCV(**small, n_jobs=None, random_state=0)


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
    "screened": small(scaling="screened"),
    "clip": small(scaling="clip"),
    "log": small(scaling="log"),
    "axes": small(rotate=True, refine=5),
    "normal along axes": small(rotate=True, scaling="normal", linear_term=True),
    # A loaded model has no n_jobs.
    "cv": small_cv().set_params(n_jobs=None),
    "pipeline": make_pipeline(StandardScaler(), PCA(3), small()),
    "calibrated": CalibratedClassifierCV(make_pipeline(StandardScaler(), small()), ensemble=False),
    "isotonic": CalibratedClassifierCV(small(), method="isotonic", ensemble=False),
    "tuned": TunedThresholdClassifierCV(small(), cv=3),
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


@cache
def fitted(name):
    return MODELS[name].fit(X, WORDS)


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_gives_the_same_scores_and_labels(tmp_path, name):
    model = fitted(name)
    for history in (False, True):
        path = tmp_path / f"model{history}.skauc"
        loaded = load_model(save_model(model, path, history=history))
        assert type(loaded) is type(model)
        assert_array_equal(scores(loaded), scores(model))
        assert_array_equal(loaded.predict(X), model.predict(X))
        assert repr(loaded) == repr(model)


def test_a_calibrated_frozen_model(tmp_path):
    model = CalibratedClassifierCV(FrozenEstimator(fitted("rbf")), ensemble=False).fit(X, WORDS)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert_array_equal(scores(loaded), scores(model))
    assert repr(loaded) == repr(model)


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(small(2), {"C": [0.1, 1.0], "scaling": [None, "rank"]}, cv=2),
        GridSearchCV(
            make_pipeline(StandardScaler(), small(2)),
            {"sparsekernelauc": [small(2), small(3)]},
            scoring={"rank": "roc_auc", "precise": "average_precision"},
            refit="rank",
            cv=2,
        ),
        GridSearchCV(small(2), {"C": np.logspace(-1, 1, 3)}, scoring="roc_auc", cv=GroupKFold(2)),
        RandomizedSearchCV(small(2), {"C": [0.1, 1.0]}, n_iter=2, cv=2, random_state=0),
        TunedThresholdClassifierCV(GridSearchCV(small(2), {"C": [0.1, 1.0]}, cv=2), cv=2),
    ],
    ids=["grid", "metrics", "groups", "random", "threshold"],
)
@pytest.mark.parametrize("history", [False, True])
def test_searches_of_scikit_learn_are_stored_without_their_tables(tmp_path, search, history):
    check_savable(search)
    groups = {"groups": np.arange(len(X)) % 5} if "GroupKFold" in repr(search) else {}
    model = clone(search).fit(X, Y, **groups)
    loaded = load_model(save_model(model, tmp_path / "model.skauc", history=history))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(scores(unwrap(loaded).classifier), scores(unwrap(model).classifier))
    assert not hasattr(getattr(loaded, "estimator_", loaded), "cv_results_")
    assert hasattr(getattr(model, "estimator_", model), "cv_results_")
    if hasattr(model, "best_params_"):
        assert loaded.score(X, Y) == model.score(X, Y)
        assert loaded.best_score_ == model.best_score_


def test_a_fresh_process_gives_the_same_scores(tmp_path):
    frame, y = make_messy(400)
    table = make_pipeline(TablePreprocessor(), small()).fit(frame, y)
    own = small().fit(X, Y)
    for name, model, rows in (("own", own, X), ("table", table, frame)):
        save_model(model, tmp_path / f"{name}.skauc")
        (tmp_path / f"{name}.pickle").write_bytes(pickle.dumps(rows))
    code = (
        "import pickle, sys, numpy, skauc\n"
        "from pathlib import Path\n"
        "for name in ('own', 'table'):\n"
        "    path = Path(sys.argv[1]) / name\n"
        "    model = skauc.load_model(path.with_suffix('.skauc'))\n"
        "    rows = pickle.loads(path.with_suffix('.pickle').read_bytes())\n"
        "    numpy.save(path, model.decision_function(rows))\n"
        "    assert not {'skops', 'torch', 'dask'} & set(sys.modules)  # their imports take long\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert_array_equal(np.load(tmp_path / "own.npy"), own.decision_function(X))
    assert_array_equal(np.load(tmp_path / "table.npy"), table.decision_function(frame))


@pytest.mark.parametrize("threshold", [0.3, "auto"])
def test_a_table_behind_a_threshold_needs_no_skops(tmp_path, threshold):
    frame, y = make_messy(400)
    pipeline = make_pipeline(TablePreprocessor(), small_cv().set_params(n_jobs=None))
    model = FixedThresholdClassifier(pipeline, threshold=threshold).fit(frame, y)
    path = save_model(model, tmp_path / "model.skauc")
    assert "skops" not in inspect_model(path)["versions"]
    loaded = load_model(path)
    assert repr(loaded) == repr(model)
    assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert_array_equal(scores(loaded, frame), scores(model, frame))
    assert_array_equal(loaded.fit(frame, y).predict(frame), model.predict(frame))


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.estimator.set_params(sparsekernelauc__C=3.0),
        lambda model: model.set_params(pos_label=np.int64(1)),
        lambda model: model.set_params(threshold=float("inf")),
        lambda model: model.estimator_.set_params(verbose=True),
    ],
)
def test_unusual_pipelines_are_stored_as_they_are(tmp_path, change):
    frame, y = make_messy(200)
    model = FixedThresholdClassifier(make_pipeline(TablePreprocessor(), small())).fit(frame, y)
    change(model)
    path = save_model(model, tmp_path / "model.skauc")
    assert "skops" in inspect_model(path)["versions"]
    assert repr(load_model(path)) == repr(model)


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
        found, expected = (getattr(each.scaling_.by_feature, name) for each in (loaded, model))
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
    for size in (4, 16, 32):
        assert_array_equal(scores(loaded.truncate(size)), scores(model.truncate(size)))


def test_without_history_there_is_one_size(tmp_path):
    loaded = load_model(save_model(small().fit(X, Y), tmp_path / "model.skauc"))
    assert [record.n_basis for record in loaded.path_] == [8]
    message = r"sizes of the path, \[8\]; got 4\. .* if it is saved with history=True"
    with pytest.raises(InvalidParameterError, match=message):
        loaded.truncate(4)


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize(
    ("parameters", "size"), [({"selection": "greedy", "refine": False}, 3), ({"n_basis": 64}, 48)]
)
def test_a_size_between_two_retrainings_can_be_stored(tmp_path, parameters, size, history):
    model = small(**parameters).fit(X, Y).truncate(size)
    assert model.path_[-1].n_basis < size
    loaded = load_model(save_model(model, tmp_path / "model.skauc", history=history))
    assert (loaded.n_basis_, loaded.C_) == (size, model.C_)
    assert_array_equal(scores(loaded), scores(model))


def test_a_loaded_model_can_be_fitted_pickled_and_saved_again(tmp_path):
    model = small().fit(X, Y)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert_array_equal(scores(pickle.loads(pickle.dumps(loaded))), scores(model))
    again = load_model(save_model(loaded, tmp_path / "again.skauc"))
    assert_array_equal(scores(again), scores(model))
    assert_array_equal(scores(loaded.fit(X, Y)), scores(model))


def test_the_same_model_makes_the_same_file(tmp_path):
    model = small().fit(X, Y)
    files = [save_model(model, tmp_path / name) for name in ("a.skauc", "b.skauc")]
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("prepare", [StandardScaler, TablePreprocessor])
@pytest.mark.parametrize("parameters", [{}, {"refine": True, "linear_term": True}])
def test_64_centres_of_22_features_take_about_20_kb(tmp_path, prepare, parameters):
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
@pytest.mark.parametrize(("scaling", "parameters"), [(None, {}), ("rank", {"refine": True})])
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
    assert manifest["versions"].keys() == {"skauc", "scikit-learn", "numpy", "python"}
    assert manifest["versions"]["skauc"] == skauc.__version__
    assert manifest["summary"] == {"target": "bought", "auc": 0.9}
    assert {"name": "town", "kind": "category", "form": None} in manifest["columns"]
    assert manifest["training"]["n_basis"] == 8
    assert manifest["training"]["train_auc"] == model[-1].path_[-1].train_auc


def test_an_existing_file_is_kept_unless_told(tmp_path):
    path = tmp_path / "model.skauc"
    path.write_text("precious")
    with pytest.raises(ModelFileError, match=r"exists already\. .* with overwrite=True"):
        save_model(fitted("rbf"), path)
    assert path.read_text() == "precious"
    save_model(fitted("rbf"), path, overwrite=True)
    assert_array_equal(scores(load_model(path)), scores(fitted("rbf")))


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
    ("make_model", "error", "message"),
    [
        (small, NotFittedError, "not fitted"),
        (
            lambda: LogisticRegression().fit(X, Y),
            ModelFileError,
            "LogisticRegression does not end in an est",
        ),
        (
            lambda: small(2, kernel=rbf_kernel).fit(X[:40], Y[:40]),
            ModelFileError,
            "whose `kernel` is a function cannot be stored",
        ),
        (
            lambda: make_pipeline(FunctionTransformer(of_my_own), small(2)).fit(X, Y),
            ModelFileError,
            r"types that are not trusted \(.*of_my_own\)\. Use steps and",
        ),
        (
            lambda: make_pipeline(FunctionTransformer(lambda rows: rows), small(2)).fit(X, Y),
            ModelFileError,
            r"types that are not trusted \(.*<lambda>\)\. Use steps",
        ),
    ],
)
def test_models_that_cannot_be_stored(tmp_path, make_model, error, message):
    with pytest.raises(error, match=message):
        save_model(make_model(), tmp_path / "model.skauc")
    assert os.listdir(tmp_path) == []


def archive(**header):
    file = io.BytesIO()
    write_archive(file, header, {})
    return file.getvalue()


BAD = [
    (b"", "cannot be loaded: it is not an archive of skauc, or its end is missing"),
    (b"PK\x03\x04 something else", "is not an archive of skauc"),
    (archive(), "is not a skauc model file. Pass a file written by skauc.save_model"),
    (archive(format="skauc model"), "its format version is not valid"),
    (
        archive(format="skauc model", format_version=7),
        r"has format 7; skauc .* reads up to 1\. Install the version",
    ),
    (archive(format="skauc model", format_version=1), "its header lacks versions, estimator, col"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_files_that_are_not_models(tmp_path, content, message):
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
    with pytest.raises(ModelFileError, match=r"at most 1000 may be read\. If you trust the file"):
        load_model(path, max_bytes=1000)


def test_skops_is_not_installed(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "skops"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "skops", None)
    frame, y = make_messy(200)
    table = make_pipeline(TablePreprocessor(), small()).fit(frame, y)
    for model, rows in ((small().fit(X, Y), X), (table, frame)):
        check_savable(model)
        loaded = load_model(save_model(model, tmp_path / "model.skauc", overwrite=True))
        assert_array_equal(scores(loaded, rows), scores(model, rows))
    with pytest.raises(MissingPackageError, match=r"need skops, .* pip install 'skauc\[files\]'"):
        save_model(fitted("pipeline"), tmp_path / "other.skauc")


def test_the_manifest_names_the_kinds_of_columns_behind_a_frozen_model(tmp_path):
    table, y = make_messy(200)
    inner = make_pipeline(TablePreprocessor(), SparseKernelAUC(2)).fit(table, y)
    model = CalibratedClassifierCV(FrozenEstimator(inner), method="sigmoid").fit(table, y)
    path = save_model(model, tmp_path / "frozen.skauc")
    assert {"name": "town", "kind": "category", "form": None} in inspect_model(path)["columns"]


def test_wide_tables_can_be_saved(tmp_path):
    """Each of these was refused after the training."""
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(60, 600))).add_prefix("a column of numbers ")
    gaps = numbers.iloc[:, :300].mask(rng.random((60, 300)) < 0.1)
    words = pd.DataFrame(rng.choice(list("abcdef"), (60, 200))).add_prefix("a column of words ")
    y = np.arange(60) % 2
    for frame in (numbers, gaps, words):
        model = make_pipeline(TablePreprocessor(), small(2)).fit(frame, y)
        path = save_model(model, tmp_path / "model.skauc", overwrite=True)
        assert_array_equal(scores(load_model(path), frame), scores(model, frame))
        assert len(inspect_model(path)["columns"]) == frame.shape[1]


def test_a_model_over_16_mib_loads_with_the_default_limits(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 40_000))
    model = small(60, kernel="linear").fit(rows, np.arange(60) % 2)
    path = save_model(model, tmp_path / "model.skauc")
    assert path.stat().st_size > 16 << 20
    assert inspect_model(path)["training"]["n_features"] == 40_000
    assert_array_equal(scores(load_model(path), rows), scores(model, rows))


def test_a_model_that_compresses_well_loads_with_the_default_limits(tmp_path):
    rows = np.zeros((60, 50_000))
    rows[:, :2] = np.random.default_rng(0).normal(size=(60, 2))
    model = small(60, kernel="linear").fit(rows, np.arange(60) % 2)
    path = save_model(model, tmp_path / "model.skauc")
    assert_array_equal(scores(load_model(path), rows), scores(model, rows))


def test_words_of_a_text(tmp_path):
    texts = ["a good thing", "a bad thing", "good", "worse"] * 10
    model = make_pipeline(TfidfVectorizer(), small(2)).fit(texts, [1, 0, 1, 0] * 10)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert_array_equal(scores(loaded, texts), scores(model, texts))


def test_many_sparse_features_take_little_memory(tmp_path):
    """Columns without names are not listed, and centres are not copied for every size."""
    rng = np.random.default_rng(0)
    # `sparse.random` permutes the numbers of all 42 million cells.
    places = np.repeat(np.arange(80), 20), rng.integers(1 << 19, size=1600)
    rows = sparse.csr_array((rng.random(1600), places), shape=(80, 1 << 19))
    model = small(40, kernel="linear").fit(rows, np.arange(80) % 2)
    path = save_model(model, tmp_path / "model.skauc", history=True)
    assert inspect_model(path)["columns"] == []
    tracemalloc.start()
    try:
        loaded = load_model(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert_array_equal(scores(loaded, rows), scores(model, rows))
    assert peak < 50 << 20
    assert describe_model(loaded).centres == {}


@pytest.mark.parametrize("name", ["rank svm", "structural rbf", "online", "rbf"])
def test_every_kind_of_model_can_be_described(tmp_path, name):
    """`skauc inspect` raised IndexError for kernel machines."""
    path = save_model(fitted(name), tmp_path / "model.skauc")
    parts = describe_model(load_model(path))
    assert all(len(column) == parts.n_basis for column in parts.centres.values())
    assert inspect_model(path)["training"]["n_basis"] == parts.n_basis


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression(), "LogisticRegression does not end in an estimator of skauc"),
        (small(kernel=rbf_kernel), "its `kernel` is a function, and files never hold code"),
        (make_pipeline(StandardScaler(), small(kernel=rbf_kernel)), "its `kernel` is a function"),
        (make_pipeline(FunctionTransformer(of_my_own), small()), "not trusted .*of_my_own"),
        (
            make_pipeline(SelectFromModel(RandomForestClassifier()), small()),
            "the trees of RandomForestClassifier cannot be stored",
        ),
        (
            RandomizedSearchCV(small(), {"C": loguniform(0.1, 1.0)}),
            r"not trusted \(scipy\.stats.*Of a search, save `best_estimator_` instead\.",
        ),
    ],
)
def test_what_cannot_be_saved_is_found_before_the_training(model, message):
    with pytest.raises(ModelFileError, match=message):
        check_savable(model)


def test_what_can_be_saved_passes():
    for model in map(clone, MODELS.values()):
        check_savable(model)
        check_savable(make_pipeline(TablePreprocessor(), model))


def test_settings_that_reach_beyond_the_model_are_reset(tmp_path):
    steps = [("scale", StandardScaler()), ("rank", small(n_jobs=2))]
    pipeline = Pipeline(steps, memory=str(tmp_path / "cache"))
    model = CalibratedClassifierCV(pipeline, ensemble=False).fit(X, Y).set_params(n_jobs=2)
    fitted = model.calibrated_classifiers_[0].estimator[-1]
    fitted.set_params(checkpoint=str(tmp_path / "checkpoint"))
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    inner = loaded.calibrated_classifiers_[0].estimator
    assert (loaded.n_jobs, inner.memory, loaded.estimator.memory) == (None, None, None)
    assert (inner[-1].n_jobs, inner[-1].checkpoint) == (None, None)
    assert_array_equal(scores(loaded), scores(model))
    # The default of a search, all cores, is reset, too.
    search = SparseKernelAUCCV(n_basis=2, effort="quick", cv=2, random_state=0).fit(X, Y)
    assert load_model(save_model(search, tmp_path / "search.skauc")).n_jobs is None


def test_a_parameter_that_is_an_object_of_ours(tmp_path):
    selection = Selection("greedy", n_candidates=20)
    model = small(selection=selection).fit(X, Y)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert loaded.selection == selection
    assert_array_equal(scores(loaded.fit(X, Y)), scores(model))


def test_a_table_step_that_returns_frames(tmp_path):
    frame, y = make_messy(200)
    model = make_pipeline(TablePreprocessor().set_output(transform="pandas"), small())
    loaded = load_model(save_model(model.fit(frame, y), tmp_path / "model.skauc"))
    assert_array_equal(scores(loaded, frame), scores(model, frame))


@pytest.mark.parametrize("name", ["levels", "filled", "alone"])
def test_steps_of_scikit_learn_that_take_strings(name, tmp_path):
    encoder = OneHotEncoder(sparse_output=False)
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), clone(encoder))
    text = (TfidfVectorizer(), "text")
    step = {
        "levels": make_column_transformer((encoder, ["town"]), (StandardScaler(), ["age"])),
        "filled": make_column_transformer((filled, ["town"]), text, sparse_threshold=0),
        "alone": encoder,
    }[name]
    towns, texts = np.array(["Oslo", "Bern"])[Y], np.array(["one two", "two three four"])[Y[::-1]]
    frame = pd.DataFrame({"age": X[:, 0], "town": towns, "text": texts})
    frame = frame[["town", "text"]].to_numpy() if name == "alone" else frame
    model = make_pipeline(step, small(2)).fit(frame, Y)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    assert_array_equal(scores(loaded, frame), scores(model, frame))


def test_columns_with_names_of_any_kind(tmp_path):
    rng = np.random.default_rng(0)
    names = ["$price", "__class__", "", "a\nb", "[/x]", "\x1b[31m", *map(str, range(10))]
    frame = pd.DataFrame(rng.normal(size=(60, len(names))), columns=names)
    model = make_pipeline(TablePreprocessor(), small(2)).fit(frame, np.arange(60) % 2)
    path = save_model(model, tmp_path / "model.skauc")
    assert_array_equal(scores(load_model(path), frame), scores(model, frame))
    assert [column["name"] for column in inspect_model(path)["columns"]] == names


def test_permissions_are_kept(tmp_path):
    path = save_model(small().fit(X, Y), tmp_path / "model.skauc")
    path.chmod(0o600)
    save_model(small().fit(X, Y), path, overwrite=True)
    assert path.stat().st_mode & 0o777 == 0o600
