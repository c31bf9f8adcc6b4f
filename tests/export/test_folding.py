"""Centres in the units of the table: fewer digits, and the same scores."""

import numpy as np
import pytest
from exported import columns_of, needs_gcc, run_c, run_duckdb
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from skauc import SparseKernelAUC, to_source
from skauc.export.folding import with_short_centres
from skauc.export.reading import read_program

X, Y = make_classification(150, 5, class_sep=0.7, random_state=0)
# Prices, a whole number, and a time whose shift is much larger than its scale.
X = np.column_stack((np.round(X[:, :3], 2), np.round(20 * X[:, 3]), np.round(X[:, 4] + 1e9, 2)))
MODELS = {
    "gaussian": {"linear_term": True},
    "widths": {"gamma": [0.05, 0.5], "linear_term": False},
    "laplacian": {"kernel": "laplacian"},
    "local": {"shapes": "local"},
    "ridges": {"shapes": "ridge", "n_basis": 12},
    "log": {"scaling": "log", "linear_term": True},
}


def fitted(name, scaler):
    parameters = {"n_basis": 6, "scaling": None, "refine": False, **MODELS[name]}
    return make_pipeline(scaler, SparseKernelAUC(**parameters, random_state=0)).fit(X, Y)


@needs_gcc
@pytest.mark.parametrize("name", MODELS)
def test_scores_stay_the_same(name, tmp_path):
    model = fitted(name, StandardScaler())
    scores = model.decision_function(X)
    values = {f"x{j}": column for j, column in enumerate(X.T)}
    columns = columns_of(model)
    found, _, _, failed = run_c(tmp_path, {"model": to_source(model, "c")}, columns, values)[
        "model"
    ]
    assert_allclose(found, scores, rtol=0, atol=1e-9)
    assert failed == 0
    found, _, _, failed = run_duckdb(to_source(model, "sql"), values, columns)
    assert_allclose(found, scores, rtol=0, atol=1e-9)
    assert failed == 0


def test_rows_of_the_table_are_written_as_they_are():
    model = fitted("widths", RobustScaler())
    program = with_short_centres(read_program(model))
    rows = X[model[-1].basis_indices_]
    np.testing.assert_array_equal(program.expansion.centres[:, :4], rows[:, :4])
    # 1000000000.08 is longer than the scaled number.
    (stage,) = program.stages
    np.testing.assert_array_equal(stage.operation.scale != 1, [False] * 4 + [True])


def test_a_linear_term_of_a_large_number_keeps_its_shift():
    program = with_short_centres(read_program(fitted("gaussian", StandardScaler())))
    (stage,) = program.stages
    np.testing.assert_array_equal(stage.operation.scale[:4], 1.0)
    assert stage.operation.shift[4] == pytest.approx(1e9, rel=1e-6)


@pytest.mark.parametrize(
    "parameters", [{"scaling": "clip"}, {"scaling": None, "rotate": True}, {"kernel": "polynomial"}]
)
def test_other_maps_are_kept(parameters):
    classifier = SparseKernelAUC(6, refine=False, random_state=0, **parameters)
    program = read_program(make_pipeline(StandardScaler(), classifier).fit(X, Y))
    assert with_short_centres(program).stages == program.stages


@pytest.mark.parametrize(
    ("scaler", "scaling"),
    [(StandardScaler(), None), ("passthrough", None), ("passthrough", "log")],
)
def test_headers_of_short_rows_have_at_most_20_kilobytes(scaler, scaling):
    """64 centres of 22 features with six decimals that are not refined."""
    rows, y = make_classification(400, 22, n_informative=8, random_state=0)
    classifier = SparseKernelAUC(64, refine=False, scaling=scaling, random_state=0)
    model = make_pipeline(scaler, classifier).fit(np.round(rows, 6), y)
    assert len(to_source(model, "c")) < 20_000
    assert len(to_source(model, "html")) < 40_000


def test_maps_that_change_nothing_are_left_out():
    X, y = make_classification(120, 4, random_state=0)
    plain = SparseKernelAUC(4, scaling="normal", random_state=0).fit(X, y)
    scaled = make_pipeline(StandardScaler(with_mean=False, with_std=False), plain).fit(X, y)
    shifted = make_pipeline(StandardScaler(), plain).fit(X, y)
    words = [[stage.operation.word for stage in read_program(m).stages] for m in (scaled, shifted)]
    assert words == [["ranks"], ["affine", "ranks"]]
