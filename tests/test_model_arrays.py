"""Models as arrays: the same scores, one copy of the centres, and every number checked."""

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from skauc import Selection, SparseKernelAUC
from skauc.archive import ArchiveError, read_archive, write_archive
from skauc.model_arrays import (
    models_from_arrays,
    models_to_arrays,
    records_from_json,
    records_to_json,
)

X, Y = make_classification(200, 5, class_sep=0.7, random_state=0)
X[:, 4] = np.exp(X[:, 4])
CASES = {
    "rbf": {},
    "laplacian": {"kernel": "laplacian"},
    "polynomial": {"kernel": "polynomial", "degree": 2},
    "linear": {"kernel": "linear"},
    "widths": {"gamma": [0.05, 0.5], "linear_term": True},
    "refined ranks": {"scaling": "rank", "refine": True},
    "ridges": {"shapes": "ridge", "refine": 2},
    "normal along axes": {"scaling": "normal", "rotate": True},
    "clip": {"scaling": "clip"},
    "log": {"scaling": "log"},
}


def fitted(rows=X, **parameters):
    selection = Selection(retrain="geometric")
    model = SparseKernelAUC(16, selection=selection, random_state=0, **parameters).fit(rows, Y)
    return [model._models[size] for size in sorted(model._models)], model


def through_a_file(models):
    file = io.BytesIO()
    write_archive(file, *models_to_arrays(models))
    return read_archive(file)


@pytest.mark.parametrize("name", CASES)
def test_models_come_back_to_the_last_bit(name):
    models, model = fitted(**CASES[name])
    back = models_from_arrays(*through_a_file(models), 5)
    assert len(back) == len(models) > 1
    for found, expected in zip(back, models, strict=True):
        assert_array_equal(found.scores(X), expected.scores(X))
        assert_array_equal(found.indices, expected.indices)
        assert found.centres.dtype == expected.centres.dtype
    records = records_from_json(
        records_to_json(model.path_), {len(each.coef): each for each in back}
    )
    assert repr(records) == repr(model.path_)


@pytest.mark.parametrize("convert", [np.float64, np.float32, sparse.csr_array])
def test_models_of_a_generation_share_their_centres(convert):
    rows = X.astype(convert) if convert is not sparse.csr_array else convert(X)
    models, _ = fitted(rows, refine=False)
    back = models_from_arrays(*through_a_file(models), 5)
    parts = [getattr(each.centres, "data", None) for each in back]
    parts = parts if convert is sparse.csr_array else [each.centres for each in back]
    assert all(np.shares_memory(part, parts[-1]) for part in parts)
    for found, expected in zip(back, models, strict=True):
        assert type(found.centres) is type(expected.centres)
        assert_array_equal(found.scores(rows), expected.scores(rows))


def test_a_kernel_that_is_a_function():
    models, _ = fitted(kernel=rbf_kernel)
    with pytest.raises(ArchiveError, match="whose `kernel` is a function cannot be stored"):
        models_to_arrays(models)


def entry(name, at, value):
    def change(header, arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][at] = value

    return change


def array(name, function):
    def change(header, arrays):
        arrays[name] = function(arrays[name])

    return change


def value(*path, to):
    def change(header, arrays):
        *way, last = path
        for name in way:
            header = header[name]
        header[last] = to

    return change


BROKEN = {
    "rbf": [
        value("sizes", to=[3]),
        value("sizes", to=[2**60]),
        value("sizes", to=None),
        value("sizes", to=[]),
        value("sizes", 0, to=True),
        value("generations", 0, to=7),
        value("generations", to=[]),
        value("bases", to=[]),
        value("bases", 0, "kernel", "name", to="evil"),
        value("bases", 0, "kernel", "name", to=[]),
        value("bases", 0, "kernel", "gamma", to=0.0),
        value("bases", 0, "kernel", "gamma", to=-1.0),
        value("bases", 0, "kernel", "gamma", to=float("nan")),
        value("bases", 0, "kernel", "gamma", to=float("inf")),
        value("bases", 0, "kernel", "gamma", to="scale"),
        value("bases", 0, "kernel", "gamma", to=None),
        value("bases", 0, "kernel", "extra", to=1),
        value("bases", 0, "dtype", to="object"),
        value("bases", 0, "is_sparse", to=True),
        entry("coef", 0, np.nan),
        entry("intercepts", 0, np.inf),
        array("coef", lambda coef: coef[1:]),
        array("coef", lambda coef: coef.astype(np.float32)),
        array("centres_0", lambda centres: centres[:, :2]),
        array("centres_0", lambda centres: centres[:3]),
        entry("centres_0", (0, 0), np.nan),
        array("indices_0", lambda indices: indices.astype(float)),
    ],
    "polynomial": [
        value("bases", 0, "kernel", "degree", to=0),
        value("bases", 0, "kernel", "degree", to=10**9),
        value("bases", 0, "kernel", "degree", to=1.5),
        value("bases", 0, "kernel", "coef0", to=float("nan")),
    ],
    "widths": [
        entry("gamma_0", 0, 0.0),
        entry("gamma_0", 0, np.nan),
        array("gamma_0", lambda gamma: gamma[1:]),
        entry("linear_coef", (0, 0), np.nan),
        array("linear_coef", lambda coef: coef[:, 1:]),
    ],
    "refined ranks": [
        entry("scales_1", 0, 0.0),
        entry("knots", (0, 1), -np.inf),
        entry("knots", (0, 1), 1e9),
        array("knots", lambda knots: knots[:, ::-1].copy()),
        array("knots", lambda knots: np.hstack((knots[:, :1], knots[:, :-1]))),
        array("knots", lambda knots: knots[1:]),
        array("knots", lambda knots: knots[:, :1]),
        entry("half_steps", (0, 20), 0),
        entry("half_steps", (0, 31), 255),
        array("half_steps", lambda steps: steps.astype(float)),
        array("half_steps", lambda steps: steps[:, :-1]),
        value("scaling", "ranks", to="logistic"),
        array("mean", lambda mean: mean[:-1]),
        entry("mean", 0, np.nan),
        entry("deviation", 0, 0.0),
        entry("deviation", 0, -1.0),
        entry("deviation", 0, 1e-320),
    ],
    "clip": [
        entry("width", 0, 0.0),
        entry("width", 0, np.nan),
        array("middle", lambda middle: middle[1:]),
        value("scaling", "by_feature", to="rank"),
        value("scaling", "by_feature", to="log"),
    ],
    "log": [
        entry("least", 4, -1.0),
        entry("deviation", 0, 0.0),
        array("is_log", lambda flags: flags.astype(float)),
    ],
    "ridges": [
        entry("metric_1", (0, 0), np.nan),
        array("metric_1", lambda metric: -np.abs(metric) * 0),
        array("metric_1", lambda metric: metric[:, 1:]),
        array("is_ridge_1", lambda flags: flags.astype(float)),
        array("is_ridge_1", lambda flags: flags[1:]),
        value("bases", 1, "kernel", "name", to="rbf"),
        value("bases", 1, "kernel", "gamma", to=1.0),
    ],
    "normal along axes": [
        entry("axes", (0, 0), np.nan),
        array("axes", lambda axes: axes[:, :-1]),
        array("axes", lambda axes: axes.astype(np.float16)),
    ],
}


@pytest.mark.parametrize("name", BROKEN)
def test_every_number_is_checked(name):
    models, _ = fitted(**CASES[name])
    for change in BROKEN[name]:
        header, arrays = through_a_file(models)
        models_from_arrays(header, arrays, 5)
        change(header, arrays)
        with pytest.raises(ArchiveError, match=r"not valid|its model lacks a part"):
            models_from_arrays(header, arrays, 5)


def test_sparse_centres_are_checked():
    models, _ = fitted(sparse.csr_array(X))
    changes = [
        entry("centres_indices_0", 0, 5),
        entry("centres_indices_0", 0, -1),
        entry("centres_indptr_0", 1, 10**6),
        entry("centres_data_0", 0, np.nan),
        array("centres_data_0", lambda data: data[1:]),
        array("centres_indptr_0", lambda indptr: indptr[:-1]),
        value("bases", 0, "is_sparse", to=False),
    ]
    for change in changes:
        header, arrays = through_a_file(models)
        change(header, arrays)
        with pytest.raises(ArchiveError, match=r"not valid|its model lacks a part"):
            models_from_arrays(header, arrays, 5)


@pytest.mark.parametrize("values", [None, [None], [[1, 2]], [[99] * 7], [["x"] * 7]])
def test_records_are_checked(values):
    with pytest.raises(ArchiveError, match="its path is not valid"):
        records_from_json(values, {})
