"""Each warning where it is due, and none where it is not."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.report import make_report_content
from skauc.report.columns import row_hashes


class LastColumn(ClassifierMixin, BaseEstimator):
    """Ranks by the last column, whatever the others are."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X.iloc[:, -1], dtype=float)

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def make_rows(n_rows=400, shift=1.0, seed=0, **columns):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2 == 0
    made = {name: make(rng, y) for name, make in columns.items()}
    return pd.DataFrame({**made, "score": rng.normal(size=n_rows) + shift * y}), y


def titles(X, y, n_train=200, with_train=True, kind=LastColumn):
    model = kind().fit(X, y)
    train = {"X_train": X[:n_train], "y_train": y[:n_train]} if with_train else {}
    content = make_report_content(model, X[n_train:], y[n_train:], **train)
    return {warning.title: warning for warning in content.warnings}


def test_good_data_have_no_warning():
    assert titles(*make_rows()) == {}


@pytest.mark.parametrize("with_train", [True, False])
@pytest.mark.parametrize(
    "leak",
    [
        lambda rng, y: y.astype(int),
        lambda rng, y: -3.0 * y + rng.normal(scale=0.1, size=len(y)),
        lambda rng, y: np.where(y, np.nan, rng.normal(size=len(y))),
        lambda rng, y: np.where(y, "paid", "open"),
        lambda rng, y: pd.to_datetime(np.where(y, "2024-01-05", "2023-01-05")),
        lambda rng, y: pd.array(np.where(y, 1, 2), dtype="Int64"),
    ],
    ids=["target", "upside down", "missing", "words", "dates", "nullable"],
)
def test_a_leak(leak, with_train):
    found = titles(*make_rows(leak=leak), with_train=with_train)
    warning = found["1 column that may leak the label"]
    assert warning.level == "serious"
    assert "“leak” has an AUC of" in warning.detail
    assert "drop it and fit again" in warning.advice


class AlsoIdentifiers(LastColumn):
    """Ranks by the last column and a little by the digits in the others."""

    def decision_function(self, X):
        digits = sum(X[name].astype(str).str.extract(r"(\d+)")[0].astype(int) for name in X)
        return super().decision_function(X) + 1e-6 * digits.to_numpy()


def test_an_identifier_is_no_leak_but_useless():
    names = np.array([f"customer {i}" for i in range(400)])
    rows = make_rows(id=lambda rng, y: names, number=lambda rng, y: rng.permutation(400))
    found = titles(*rows, kind=AlsoIdentifiers)
    assert list(found) == ["2 columns that may be an identifier"]
    assert "“id”, “number”" in found["2 columns that may be an identifier"].detail


def test_an_identifier_that_the_model_does_not_use_is_no_problem():
    assert titles(*make_rows(number=lambda rng, y: rng.permutation(400))) == {}


def test_constant_columns_and_empty_ones():
    found = titles(
        *make_rows(
            one=lambda rng, y: np.ones(len(y)),
            none=lambda rng, y: np.full(len(y), np.nan),
            word=lambda rng, y: np.full(len(y), "x"),
        )
    )
    assert list(found) == ["3 constant columns"]


def test_rows_in_both_tables():
    X, y = make_rows(word=lambda rng, y: rng.choice(["a", "b"], len(y)))
    X.iloc[200:220] = X.iloc[:20].to_numpy()
    warning = titles(X, y)["20 test rows also in the training rows"]
    assert warning.level == "serious"
    assert "20 of 200 test rows (10.0%)" in warning.detail
    assert "Without them the AUC is 0." in warning.detail
    assert "GroupShuffleSplit" in warning.advice
    X.loc[201:219, "word"] = "c"
    assert titles(X, y)["1 test row also in the training rows"].level == "caution"


def test_text_is_checked_as_the_model_reads_it():
    """A leak is found in amounts, and dates and amounts identify no rows."""
    rng = np.random.default_rng(0)
    X, y = make_rows()
    X["paid"] = [f"${value:,.2f}" for value in rng.normal(2000 + 900 * y)]
    X["seen"] = pd.date_range("2023-01-01", periods=400)[rng.permutation(400)].astype(str)
    X["id"] = [f"u{number}" for number in range(400)]
    X["constant"] = "x"
    X.iloc[200:220, :3] = X.iloc[:20, :3].to_numpy()
    X.loc[200:219, "seen"] += " 00:00:00"

    def kind():
        return make_pipeline(TablePreprocessor(), SparseKernelAUC(2, random_state=0))

    found = titles(X, y, kind=kind)
    assert found.keys() == {
        "1 column that may leak the label",
        "20 test rows also in the training rows",
    }
    assert "“paid” has an AUC of 1." in found["1 column that may leak the label"].detail


def test_few_rows_of_a_class():
    X, y = make_rows()
    y[200:] = np.arange(200) < 20
    assert "Only 20 positive test rows" in titles(X, y)


def test_a_common_positive_class():
    X, y = make_rows()
    y[200:] = np.arange(200) >= 30
    warning = titles(X, y)["The positive class is the common one"]
    assert "“True” is the positive class and has 85.0% of the test rows" in warning.detail
    assert "such as y == 'False'" in warning.advice


def test_a_ranking_by_chance():
    assert "The ranking may be random" in titles(*make_rows(shift=0.0))


def test_a_much_better_ranking_of_the_training_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 20)), np.arange(400) % 2 == 0
    X[:, 0] += y
    model = SparseKernelAUC(64, C=1e4, random_state=0).fit(X[:100], y[:100])
    content = make_report_content(model, X[100:], y[100:])
    assert "The AUC is much higher on the training rows" in {w.title for w in content.warnings}


def test_serious_warnings_come_first():
    X, y = make_rows(one=lambda rng, y: np.ones(len(y)), leak=lambda rng, y: y * 1.0)
    assert [warning.level for warning in titles(X, y).values()] == ["serious", "caution"]


def test_equal_rows_have_equal_hashes_and_others_do_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(5_000, 16)).astype(float)
    X[0, 0], X[1, 0] = 0.0, -0.0
    _, groups = np.unique(X, axis=0, return_inverse=True)
    hashes = row_hashes(X)
    _, hashed_groups = np.unique(hashes, return_inverse=True)
    assert len(np.unique(groups)) == len(np.unique(hashed_groups))
    assert len(np.unique(np.c_[groups, hashed_groups], axis=0)) == len(np.unique(groups))


def test_sparse_rows_are_hashed_by_their_entries():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(3_000, 12)).astype(float)
    stored_zero = sparse.csr_array(X)
    stored_zero.data[::7] = 0
    _, groups = np.unique(stored_zero.toarray(), axis=0, return_inverse=True)
    _, hashed_groups = np.unique(row_hashes(stored_zero), return_inverse=True)
    assert len(np.unique(np.c_[groups, hashed_groups], axis=0)) == len(np.unique(groups))
    assert len(np.unique(hashed_groups)) == len(np.unique(groups))


def test_wide_rows_are_compared_in_every_column():
    X = np.zeros((2, 2_500))
    X[1, -1] = 1
    assert len(np.unique(row_hashes(X))) == 2


def test_values_that_cannot_be_hashed_are_compared_by_their_text():
    X = pd.DataFrame({"list": [[1], [2], [1]]})
    hashes = row_hashes(X)
    assert hashes[0] == hashes[2] != hashes[1]
