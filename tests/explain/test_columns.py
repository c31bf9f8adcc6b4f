"""Columns of the user's table in the features of a classifier, found from the steps alone."""

from datetime import datetime, timedelta
from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.exceptions import InvalidParameterError
from skauc.explain import shapley_values
from skauc.explain.columns import as_array
from skauc.explain.sources import sources_of_steps
from skauc.preprocessing import ArcSinh


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 200),
            "size": np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200)),
            "flat": np.full(200, 2.0),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, 200), "D"),
            "note": rng.choice(["late and cold", "early", "cold", "late but warm"], 200),
        }
    )
    y = (frame["colour"] == "red") + frame["size"].fillna(0) + rng.normal(size=200) > 1
    return frame, y.to_numpy()


def encoder():
    return ColumnTransformer(
        [
            ("words", OneHotEncoder(handle_unknown="ignore"), ["colour", "note"]),
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), [1, 2]),
            ("nothing", "drop", ["day"]),
        ]
    )


STEPS = {
    "table": lambda: [TablePreprocessor()],
    "scikit-learn": lambda: [encoder(), VarianceThreshold()],
}


@pytest.mark.parametrize("name", STEPS)
def test_one_row_is_explained_without_a_background(table, name):
    frame, y = table
    model = make_pipeline(*STEPS[name](), SparseKernelAUC(8, random_state=0)).fit(frame, y)
    row = frame[:1].assign(colour="unseen")
    explanation = shapley_values(model, row)
    assert explanation.is_exact
    assert explanation.feature_names == list(frame.columns)
    assert explanation.data[0, 0] == "unseen"
    total = explanation.values.sum() + explanation.base_values[0]
    assert abs(total - model.decision_function(row)[0]) < 1e-10
    assert explanation.values[0, 2] == 0  # the constant column
    # Probing the columns of the table with other rows finds the same columns.
    several = shapley_values(model, frame[:3], frame[50:60])
    changed = frame[:3].assign(size=frame["size"].iloc[10], day=frame["day"].iloc[10])
    other = shapley_values(model, changed, frame[50:60])
    assert (np.abs(several.values - other.values)[:, 1] > 0).all()


class RowShares(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Divide each row by its sum: one output per column, from all columns."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X / X.sum(axis=1, keepdims=True)


class ScaledShares(StandardScaler):
    def transform(self, X):
        return RowShares().transform(np.exp(super().transform(X)))


@pytest.mark.parametrize("step", [TfidfTransformer(), Normalizer(), RowShares(), ScaledShares()])
def test_steps_that_mix_columns_are_explained_by_sampling(step):
    rng = np.random.default_rng(0)
    X = rng.random((150, 3))
    y = X[:, 0] / X.sum(axis=1) + rng.normal(scale=0.05, size=150) > 0.33
    model = make_pipeline(step, SparseKernelAUC(8, random_state=0)).fit(X, y)
    with pytest.raises(InvalidParameterError, match="`background` must be rows of the table"):
        shapley_values(model, X[:2])
    background = X[100:120]
    explanation = shapley_values(model, X[:2], background)
    assert not explanation.is_exact
    # With three columns, the Shapley values follow from the means over the 8 subsets.
    assert np.allclose(explanation.values, brute_force(model, X[:2], background), atol=0.05)
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert np.allclose(total, model.decision_function(X[:2]))


def brute_force(model, rows, background):
    """Shapley values from the mean score for each subset of the columns."""
    n_columns = rows.shape[1]

    def mean_score(row, known):
        mixed = np.where(np.isin(np.arange(n_columns), known), row, background)
        return model.decision_function(mixed).mean()

    values = np.zeros_like(rows)
    for i, row in enumerate(rows):
        for order in permutations(range(n_columns)):
            for place, column in enumerate(order):
                gain = mean_score(row, order[: place + 1]) - mean_score(row, order[:place])
                values[i, column] += gain / factorial(n_columns)
    return values


SLICES = {
    "to c": (slice(None, "c"), [0, 1, 2]),
    "from b": (slice("b", None), [1, 2, 3]),
    "b to c": (slice("b", "c"), [1, 2]),
    "numbers": (slice(1, 3), [1, 2]),
    "names": (["c", "a"], [2, 0]),
    "mask": ([True, False, False, True], [0, 3]),
}


@pytest.mark.parametrize("case", SLICES)
def test_columns_of_a_part_are_found_however_they_are_chosen(case):
    chosen, expected = SLICES[case]
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 4)), columns=list("abcd"))
    step = ColumnTransformer([("scale", make_pipeline(ArcSinh(), StandardScaler()), chosen)])
    step.fit(table)
    assert sources_of_steps([step], list("abcd")).tolist() == expected
    # The rows to explain may have their columns in another order.
    found = sources_of_steps([step], list("dcba"))
    assert ["dcba"[column] for column in found] == ["abcd"[column] for column in expected]


def test_dates_of_a_polars_frame_stay_dates():
    """Polars has no common type of dates and integers, and makes dates beside floats floats."""
    pl = pytest.importorskip("polars")
    born, hour = datetime(2020, 1, 1), timedelta(hours=1)
    numbers = {"number": [1.5, None], "count": [2, 3]}
    times = {"born": [born, None], "wait": [hour, hour], "flag": [True, None], "word": ["a", "b"]}
    mixed = as_array(pl.DataFrame({**numbers, **times}))
    assert mixed.tolist() == [
        [1.5, 2, born, hour, True, "a"],
        [None, 3, None, hour, None, "b"],
    ]
    assert as_array(pl.DataFrame(numbers)).dtype == np.float64
