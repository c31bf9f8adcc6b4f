"""Columns of the user's table in the features of a classifier, found from the steps alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.explain import shapley_values


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
