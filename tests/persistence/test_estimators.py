"""Our estimators as JSON and arrays: whatever a fit does not set is refused."""

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification

from skauc import (
    OAM,
    OILK,
    OPAUC,
    AdaOAM,
    SparseKernelAUC,
    StructuralAUC,
)
from skauc.archive import ArchiveError, read_archive, write_archive
from skauc.persistence.estimators import decode_estimator, encode_estimator

X, Y = make_classification(200, 5, class_sep=0.7, random_state=0)


def small(**parameters):
    return SparseKernelAUC(6, random_state=0, **parameters)


LEARNERS = {
    "OAM": OAM(buffer_size=20, random_state=0),
    "OPAUC": OPAUC(random_state=0),
    "OPAUC sketch": OPAUC(rank=2, random_state=0),
    "AdaOAM": AdaOAM(random_state=0),
    "OILK": OILK(buffer_size=20, random_state=0),
}


def encoded(model):
    file, arrays = io.BytesIO(), {}
    header = encode_estimator(clone(model).fit(X, Y), "0.", arrays, history=True)
    write_archive(file, header, arrays)
    header, arrays = read_archive(file)
    decode_estimator(header, "0.", arrays)
    return header, arrays


def entry(name, at, value):
    def change(arrays):
        arrays[name][at] = value

    return change


def array(name, function):
    def change(arrays):
        arrays[name] = function(arrays[name])

    return change


MEMORIES = [
    ("OAM", entry("n_offered", 0, -1)),
    ("OAM", entry("n_offered", 0, 2**60)),
    ("OAM", entry("n_seen", 1, 0)),
    ("OAM", array("n_seen", lambda counts: counts.astype(np.int32))),
    ("OAM", array("rows", lambda rows: rows[:, :5])),
    ("OAM", array("rows", lambda rows: rows[:, :, :2])),
    ("OAM", array("rows", lambda rows: rows[:, :0])),
    ("OAM", array("rows", lambda rows: rows[0])),
    ("OAM", entry("rows", (0, 0, 0), np.nan)),
    ("OAM", entry("sources", 0, 20)),
    ("OAM", entry("sources", 0, -2)),
    ("OAM", array("random", lambda random: random.astype(np.int64))),
    ("OAM", array("random", lambda random: np.zeros(0, np.uint64))),
    ("OAM", array("weights", lambda weights: weights[:2])),
    ("OAM", lambda arrays: arrays.pop("means")),
    ("OPAUC", array("scatter", lambda scatter: scatter[:, :-1])),
    ("OPAUC", lambda arrays: arrays.update(extra=np.zeros(2))),
    ("OPAUC sketch", entry("n_rows", 0, 5)),
    ("OPAUC sketch", entry("n_rows", 0, -1)),
    ("OPAUC sketch", array("sketch", lambda sketch: sketch[:, :3])),
    ("AdaOAM", array("squares", lambda squares: squares[:, None])),
    ("OILK", array("gram", lambda gram: gram[:-1])),
    ("OILK", array("coef", lambda coef: coef[:-2])),
    ("OILK", entry("gamma", 0, -1.0)),
    ("OILK", array("n_offered", np.zeros_like)),
]


@pytest.mark.parametrize(("name", "change"), MEMORIES)
def test_the_memory_of_a_learner_is_checked(name, change):
    header, arrays = encoded(LEARNERS[name])
    prefix = "0.model."
    own = {key.removeprefix(prefix): arrays.pop(key) for key in list(arrays) if prefix in key}
    change(own)
    arrays |= {prefix + key: each for key, each in own.items()}
    with pytest.raises(ArchiveError, match=r"its (memory is|counts are) not valid"):
        decode_estimator(header, "0.", arrays)


@pytest.mark.parametrize(
    ("model", "attribute", "value"),
    [
        (small(), "n_basis_", 3),
        (small(), "scaling_", {}),
        (small(), "_models", {}),
        (small(), "__class__", "x"),
        (small(), "predict", 1),
        (small(), "feature_spread_", {"$floats": [1.0] * 3}),
        (small(), "feature_spread_", {"$floats": [{"$float": "nan"}] * 5}),
        (small(), "feature_names_in_", {"$floats": [1.0] * 5}),
        (small(), "n_features_in_", 10**9),
        (small(), "n_features_in_", "5"),
        (small(), "n_features_in_", True),
        (small(), "classes_", {"$objects": [0, 1, 2]}),
        (small(), "classes_", {"$objects": [1, 1]}),
        (small(), "classes_", [0, 1]),
        (StructuralAUC(), "coef_", {"$floats": [0.0, 0.0]}),
        (LEARNERS["OAM"], "coef_", {"$floats": [0.0] * 3}),
        (LEARNERS["OAM"], "intercept_", {"$floats": [{"$float": "nan"}]}),
        (LEARNERS["OAM"], "n_samples_seen_", 1.5),
    ],
)
def test_attributes_are_those_that_a_fit_sets(model, attribute, value):
    header, arrays = encoded(model)
    header["attributes"][attribute] = value
    with pytest.raises(ArchiveError, match="not valid"):
        decode_estimator(header, "0.", arrays)


@pytest.mark.parametrize(
    "change",
    [
        {"class": "Popen"},
        {"class": None},
        {"class": "OAM"},
        {"class": "StructuralAUC"},
        {"parameters": None},
        {"parameters": {"C": {"$type": "Popen", "fields": {}}}},
        {"parameters": {"C": {"$array": "elsewhere"}}},
        {"parameters": {"C": {"$evil": 1}}},
        {"parameters": {"C": {"$dict": [[[], 1]]}}},
        {"parameters": {"C": {"$strings": [1]}}},
        {"parameters": {"C": {"$strings": ["x" * 10**6, *["y"] * 10**5]}}},
        {"attributes": None},
        {"path": []},
        {"path": None},
        {"best_parameters": 3},
    ],
)
def test_headers_are_checked(change):
    header, arrays = encoded(small())
    with pytest.raises(ArchiveError, match="not valid"):
        decode_estimator({**header, **change}, "0.", arrays)


def test_parameters_that_this_version_does_not_have_are_ignored():
    header, arrays = encoded(small())
    header["parameters"] |= {"retired": 3, "n_jobs": 64, "checkpoint": "/tmp/x"}
    loaded = decode_estimator(header, "0.", arrays)
    assert (loaded.n_jobs, loaded.checkpoint, hasattr(loaded, "retired")) == (None, None, False)
    assert_array_equal(loaded.decision_function(X), small().fit(X, Y).decision_function(X))


LABELS = [
    *(np.array(["a", "b"]), np.array(["a", "b"], dtype=object), np.array([False, True])),
    *(np.array([-1.0, 1.0]), np.array([2, 10**15]), np.array([0, 1], dtype=np.uint8)),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: str(labels.dtype))
def test_labels_of_any_type(labels):
    model = small().fit(X, labels[Y])
    file, arrays = io.BytesIO(), {}
    header = encode_estimator(model, "0.", arrays, history=False)
    write_archive(file, header, arrays)
    header, arrays = read_archive(file)
    loaded = decode_estimator(header, "0.", arrays)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert_array_equal(loaded.predict(X), model.predict(X))
