"""Permutation importance by column of the table, and the columns that the model uses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skauc import SparseKernelAUC
from skauc.metrics import auc
from skauc.preprocessing import TablePreprocessor
from skauc.report import make_report_content
from skauc.report.columns import with_column_from
from skauc.report.importance import MOST_SHUFFLED, column_importance
from skauc.report.missing import Missing
from skauc.report.rows import LabelledRows
from skauc.unwrapping import unwrap


class LinearScore(ClassifierMixin, BaseEstimator):
    """Scores rows by given coefficients, whatever it is fitted to."""

    def __init__(self, coef):
        self.coef = coef

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
        return X @ np.asarray(self.coef, dtype=float)

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def importance(model, X, y, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    return column_importance(model, unwrap(model), LabelledRows(X, y, weights))


def drops(found):
    return {column.name: column.drop for column in found.columns}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.random(1_500) < 0.2
    return rng.normal(size=(1_500, 4)) + y[:, None] * [2.0, 1.0, 0.0, 1.0], y


COEF = [1.0, 0.5, 0.3, 0.0]


def test_drops_are_those_of_scikit_learn(rows):
    X, y = rows
    model = LinearScore(COEF).fit(X, y)
    found = importance(model, X, y)
    theirs = permutation_importance(model, X, y, scoring="roc_auc", n_repeats=20, random_state=0)
    by_name = drops(found)
    assert_allclose(
        [by_name[name] for name in ("x0", "x1", "x2")], theirs.importances_mean[:3], atol=0.02
    )
    assert list(by_name) == ["x0", "x1", "x2"]
    assert found.unused == ("x3",)
    assert (found.n_untested, found.n_rows, found.n_repeats) == (0, 1_500, 5)
    assert found == importance(model, X, y)


def test_intervals_cover_the_drop_of_new_rows():
    """The true drop is that of very many rows."""
    model = LinearScore([1.0, 0.5])

    def draw(n_rows, seed):
        rng = np.random.default_rng(seed)
        y = np.arange(n_rows) < n_rows // 5
        return rng.normal(size=(n_rows, 2)) + y[:, None], y

    X, y = draw(100_000, 0)
    shuffled = X.copy()
    shuffled[:, 1] = np.random.default_rng(1).permutation(X[:, 1])
    model.fit(X, y)
    truth = auc(y, model.decision_function(X)) - auc(y, model.decision_function(shuffled))
    samples = [importance(model, *draw(300, seed)).columns for seed in range(2, 152)]
    found = [column for columns in samples for column in columns if column.name == "x1"]
    covered = np.mean([column.low <= truth <= column.high for column in found])
    assert 0.9 <= covered <= 0.99


def test_features_of_one_column_are_shuffled_together():
    rng = np.random.default_rng(0)
    y = rng.random(1_000) < 0.3
    X = pd.DataFrame(
        {"town": np.where(y, rng.choice(["a", "b"], 1_000), rng.choice(["c", "d"], 1_000))}
    )
    X["noise"] = rng.normal(size=1_000)
    encode = make_column_transformer((OneHotEncoder(), ["town"]), remainder=StandardScaler())
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    by_name = drops(importance(model, X, y))
    assert by_name["town"] == pytest.approx(0.5, abs=0.03)
    assert abs(by_name["noise"]) < 0.01


def test_a_rare_class_is_kept_and_values_come_from_all_rows():
    """A balanced sample must not change the distribution of the shuffled values."""
    rng = np.random.default_rng(0)
    y = np.arange(40_000) % 20 == 0
    X = np.c_[rng.normal(size=40_000) + y, y * 100.0]
    # The second column takes effect for values of the positive rows only.
    found = importance(LinearScore([1.0, 0.05]).fit(X, y), X, y)
    assert found.n_rows == 2_000
    exact = permutation_importance(
        LinearScore([1.0, 0.05]).fit(X, y), X, y, scoring="roc_auc", n_repeats=5, random_state=0
    )
    assert drops(found)["x1"] == pytest.approx(exact.importances_mean[1], abs=0.03)


def test_rows_of_weight_zero_do_not_count(rows):
    X, y = rows
    model = LinearScore(COEF).fit(X, y)
    weights = np.ones(len(y))
    weights[1_000:] = 0
    expected = importance(model, X[:1_000], y[:1_000])
    assert importance(model, np.r_[X[:1_000], 9 + X[1_000:]], y, weights) == expected


@pytest.mark.parametrize("kind", ["list", "pandas", "polars", "sparse"])
def test_every_kind_of_table(rows, kind):
    X, y = rows
    make = {
        "list": np.ndarray.tolist,
        "pandas": lambda X: pd.DataFrame(X, index=np.arange(len(X))[::-1]).add_prefix("x"),
        "polars": lambda X: pl.DataFrame(X, schema=[f"x{i}" for i in range(4)]),
        "sparse": sparse.csr_array,
    }[kind]
    model = LinearScore(COEF).fit(X, y)
    expected = importance(model, X, y)
    found = importance(model, make(X), y)
    assert found.unused == expected.unused
    assert_allclose(list(drops(found).values()), list(drops(expected).values()))


def test_mixed_lists_keep_their_numbers():
    rows = [["a", 1.5], ["b", 2.5]]
    changed = with_column_from(rows, 1, rows, np.array([1, 0]))
    assert changed.tolist() == [["a", 2.5], ["b", 1.5]]


def test_columns_keep_their_type():
    frame = pd.DataFrame(
        {"town": pd.Categorical(["a", "b", "c"]), "n": pd.array([1, None, 3], "Int64")}
    )
    changed = with_column_from(frame, 1, frame, np.array([2, 1, 0]))
    assert changed.dtypes.equals(frame.dtypes)
    assert changed["n"].tolist() == [3, pd.NA, 1]
    changed = with_column_from(frame, 0, frame, np.array([2, 2, 2]))
    assert changed["town"].tolist() == ["c", "c", "c"]
    assert frame["town"].tolist() == ["a", "b", "c"]


def test_an_unknown_kind_of_table_has_no_importance(rows):
    class Table:
        """Has the rows of an array, and no way to replace a column."""

        def __init__(self, X):
            self.X, self.shape, self.columns = X, X.shape, ["a", "b", "c", "d"]

        def __array__(self, dtype=None, copy=None):
            return self.X

        def take(self, indices, axis=0):
            return Table(self.X.take(indices, axis=axis))

        def __getitem__(self, key):
            return Table(self.X[key])

    X, y = rows
    found = importance(LinearScore(COEF).fit(X, y), Table(X), y)
    assert found == Missing("No column can be shuffled: columns of a Table cannot be replaced.")


def test_many_columns_are_limited_to_the_best_ones():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2 == 0
    X = rng.normal(size=(400, 120))
    X[:, [7, 90]] += 3 * y[:, None]
    found = importance(LinearScore(np.ones(120)).fit(X, y), X, y)
    assert len(found.columns) == MOST_SHUFFLED
    assert found.n_untested == 120 - MOST_SHUFFLED
    assert {column.name for column in found.columns[:2]} == {"x7", "x90"}


@pytest.fixture(scope="module")
def imbalanced():
    """Rare positives with other values than most rows, and an identifier."""
    rng = np.random.default_rng(0)
    y = rng.random(24_000) < 0.12
    X = pd.DataFrame(
        {
            "id": np.arange(24_000),
            "amount": rng.normal(size=24_000) + 10 * y,
            "channel": np.where(y, "web", rng.choice(["shop", "phone"], 24_000, p=[0.6, 0.4])),
            "age": rng.normal(40, 10, size=24_000),
        }
    )
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(4, random_state=0))
    return model.fit(X[:2_000], y[:2_000]), X, y


def test_usual_values_are_those_of_the_rows_as_they_are(imbalanced):
    model, X, y = imbalanced
    content = make_report_content(model, X[2_000:], y[2_000:], X_train=X, y_train=y)
    usual = {column.name: column.usual for column in content.centres.columns}
    assert usual["amount"] == pytest.approx(X["amount"].median(), abs=0.05)
    assert usual["channel"] == "shop"


def test_usual_values_are_weighted():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3 == 0
    X = pd.DataFrame({"amount": rng.normal(size=600) + 10 * y, "noise": rng.normal(size=600)})
    model = SparseKernelAUC(4, random_state=0).fit(X, y)
    weights = np.where(y, 10.0, 1.0)
    content = make_report_content(model, X, y, sample_weight=weights)
    usual = {column.name: column.usual for column in content.centres.columns}
    order = np.argsort(X["amount"].to_numpy())
    cumulative = np.cumsum(weights[order])
    middle = np.searchsorted(cumulative, cumulative[-1] / 2, side="right")
    expected = X["amount"].to_numpy()[order][middle]
    assert usual["amount"] == pytest.approx(expected)
    assert usual["amount"] > 9


def test_a_number_that_is_mostly_missing_is_usually_missing():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3 == 0
    X = pd.DataFrame({"amount": rng.normal(size=600) + y, "gap": rng.normal(size=600)})
    X.loc[rng.random(600) < 0.7, "gap"] = np.nan
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(4, random_state=0)).fit(X, y)
    content = make_report_content(model, X, y, X_train=X, y_train=y)
    usual = {column.name: column.usual for column in content.centres.columns}
    assert usual["gap"] == "missing"


def test_a_column_that_the_model_does_not_use_is_not_shown(imbalanced):
    model, X, y = imbalanced
    assert "id" in model[0].dropped_
    content = make_report_content(model, X[2_000:4_000], y[2_000:4_000], X_train=X, y_train=y)
    assert content.importance.unused == ("id",)
    assert {column.name for column in content.centres.columns} == {"amount", "channel", "age"}
    assert content.centres.n_columns == 3
    assert content.data.n_columns == 4
