"""Partial dependence against the mean of scored rows, and global importance."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.exceptions import InvalidParameterError
from skauc.explain import column_importances, partial_dependence, shapley_values


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", ""], 200, p=[0.5, 0.3, 0.15, 0.05]),
            "size": rng.normal(size=200),
            "paid": [f"${value}" for value in rng.integers(0, 99, 200)],
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, 200), "D"),
            "count": rng.integers(0, 5, 200),
        }
    )
    y = (frame["colour"] == "red") * frame["size"] + rng.normal(size=200) > 0.5
    return frame, y.to_numpy()


def by_definition(model, background, columns, values):
    """Return the mean score of background rows with replaced columns."""
    means = []
    for point in zip(*values, strict=True):
        rows = background.copy()
        for column, value in zip(columns, point, strict=True):
            rows[column] = value
        means.append(model.decision_function(rows).mean())
    return np.array(means)


MODELS = {
    "closed form": lambda: [SparseKernelAUC(8, linear_term=True, random_state=0)],
    "mixed features": lambda: [SparseKernelAUC(8, rotate=True, refine=3, random_state=0)],
    "ridges": lambda: [SparseKernelAUC(8, shapes="ridge", random_state=0)],
    "mixed tables": lambda: [PCA(4), SparseKernelAUC(8, random_state=0)],
}


@pytest.mark.parametrize("name", MODELS)
def test_it_is_the_mean_score_of_changed_rows(table, name):
    frame, y = table
    model = make_pipeline(TablePreprocessor(), *MODELS[name]()).fit(frame, y)
    background = frame[:20]
    for column in frame.columns:
        found = partial_dependence(model, frame, column, background, n_points=7)
        expected = by_definition(model, background, [column], [found.grids[0].values])
        np.testing.assert_allclose(found.average, expected, rtol=0, atol=1e-10)
    found = partial_dependence(model, frame, ["size", "colour"], background, n_points=4)
    values = [np.repeat(found.grids[0].values, 4), np.tile(found.grids[1].values, 4)]
    expected = by_definition(model, background, ["size", "colour"], values).reshape(4, 4)
    np.testing.assert_allclose(found.average, expected, rtol=0, atol=1e-10)
    alone = partial_dependence(model, frame, "size", background, n_points=4)
    other = partial_dependence(model, frame, "colour", background)
    sums = alone.effect[:, None] + other.effect + found.base_value + found.interaction
    np.testing.assert_allclose(sums, found.average, rtol=0, atol=1e-10)


def test_grids_are_in_the_words_of_the_table(table):
    frame, y = table
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(8, random_state=0)).fit(frame, y)
    grids = [partial_dependence(model, frame, name, n_points=6).grids[0] for name in frame]
    assert [grid.kind for grid in grids] == ["level", "number", "number", "date", "number"]
    assert grids[0].labels == ["red", "green", "blue", "missing"]
    assert grids[2].values[0].startswith("$")
    assert grids[3].labels[0].startswith("2024-01-")
    assert grids[4].values.tolist() == [0, 1, 2, 3, 4]


def test_arrays_have_numbered_columns(table):
    frame, y = table
    X = frame[["size", "count"]].to_numpy()
    model = make_pipeline(StandardScaler(), SparseKernelAUC(4, random_state=0)).fit(X, y)
    assert partial_dependence(model, X, 1).grids[0].name == "x1"
    for bad in (2, "size", [0, 0], [0, 1, 0], None):
        with pytest.raises(InvalidParameterError, match="`features` must be"):
            partial_dependence(model, X, bad)


def test_importance_is_the_mean_size_of_contributions(table):
    frame, y = table
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(8, random_state=0)).fit(frame, y)
    explanation = shapley_values(model, frame)
    found = column_importances(explanation)
    sizes = dict(zip(frame.columns, np.abs(explanation.values).mean(axis=0), strict=True))
    assert [each.name for each in found] == sorted(sizes, key=lambda name: -sizes[name])
    assert all(each.low < each.importance < each.high for each in found)
    with pytest.raises(ValueError, match="at least two rows; got 1"):
        column_importances(explanation[:1])


def test_an_unknown_category_in_the_first_row_is_no_warning():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=200), "town": rng.choice(["a", "b"], 200)})
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(4, random_state=0))
    model.fit(frame, frame["size"] > 0.5)
    rows = frame[:60].copy()
    rows.loc[0, "town"] = "new"
    assert len(partial_dependence(model, rows, "size").effect) > 1
