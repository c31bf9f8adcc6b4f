"""The relevance of the columns of a table."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skauc import SparseKernelAUC, SparseKernelAUCCV, TablePreprocessor
from skauc.exceptions import InvalidParameterError
from skauc.explain import column_relevance


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    age = rng.normal(40, 12, 400)
    age[::9] = np.nan
    return pd.DataFrame(
        {
            "age": age,
            "town": rng.choice(["Oslo", "Bern", "Porto", "Graz"], 400),
            "same": 1,
            "noise": rng.normal(size=400),
        }
    )


@pytest.fixture(scope="module")
def y(table):
    return table["town"].isin(["Oslo", "Porto"]) == (table["age"].fillna(40) > 40)


@pytest.mark.parametrize("scaling", [None, "normal"])
def test_it_is_the_distance_of_rows_along_a_column(table, y, scaling):
    classifier = SparseKernelAUC(8, scaling=scaling, random_state=0)
    model = make_pipeline(TablePreprocessor(), classifier).fit(table, y)
    found = dict(column_relevance(model))
    assert set(found) == {"age", "town", "noise"}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    rows = model[0].fit_transform(table, y)
    rows = (rows if scaling is None else classifier.scaling_.transform(rows)).astype(float)
    sources = np.array(model[0].feature_sources())
    for name, relevance in found.items():
        features = sources == name
        distances = pdist(rows[:, features] / classifier.length_scales_[features])
        # All pairs but those of a row with itself.
        n_pairs = 2 / (1 - 1 / len(rows))
        assert_allclose(np.sqrt(np.mean(distances**2) / n_pairs), relevance, rtol=1e-4)


def test_steps_of_scikit_learn_and_arrays(table, y):
    encoded = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["town"]), (StandardScaler(), ["noise"])
    )
    model = make_pipeline(encoded, SparseKernelAUC(4, random_state=0)).fit(table, y)
    relevance = model[-1].feature_relevance_
    assert dict(column_relevance(model)) == pytest.approx(
        {"town": np.linalg.norm(relevance[:4]), "noise": relevance[4]}
    )
    scaled = make_pipeline(StandardScaler(), SparseKernelAUC(4, random_state=0))
    scaled.fit(table[["noise", "same"]].to_numpy(), y)
    assert {name for name, _ in column_relevance(scaled)} == {"x0", "x1"}


def test_features_of_several_columns_stay_features(table, y):
    rows = table[["noise", "age"]].fillna(0)
    model = make_pipeline(PCA(2), SparseKernelAUC(4, random_state=0)).fit(rows, y)
    assert {name for name, _ in column_relevance(model)} == {"pca0", "pca1"}
    alone = SparseKernelAUC(4, random_state=0).fit(rows, y)
    assert column_relevance(alone) == alone.rank_features()


def test_a_search(table, y):
    search = SparseKernelAUCCV(effort="quick", random_state=0)
    model = make_pipeline(TablePreprocessor(), search).fit(table, y)
    assert {name for name, _ in column_relevance(model)} == {"age", "town", "noise"}


def test_other_classifiers_are_refused(table, y):
    model = LogisticRegression().fit(table[["noise"]], y)
    with pytest.raises(
        InvalidParameterError, match="one SparseKernelAUC or SparseKernelAUCCV; got"
    ):
        column_relevance(model)
