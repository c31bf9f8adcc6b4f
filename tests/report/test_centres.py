"""The most typical centre of each class, in the units of the table."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
)

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.report import make_report_content


@pytest.fixture(scope="module")
def content(tumours):
    return make_report_content(*tumours.test, **tumours.train)


def test_a_centre_that_is_a_row_is_shown_as_it_is_in_the_frame(tumours, content):
    classifier = tumours.model[-1]
    for centre, side in (
        (content.centres.positive, "positive"),
        (content.centres.negative, "negative"),
    ):
        row = tumours.X_train.iloc[classifier.basis_indices_[centre.number]]
        for feature in content.centres.columns:
            assert getattr(feature, side) == row[feature.name]
        assert centre.source == (
            f"Row {classifier.basis_indices_[centre.number] + 1:,}, a training row."
        )
    assert content.centres.positive.score > content.centres.negative.score


def test_typical_centres_are_most_alike_their_class(tumours, content):
    from sklearn.metrics.pairwise import rbf_kernel

    classifier = tumours.model[-1]
    rows = tumours.model[:-1].transform(tumours.X_test)
    likeness = rbf_kernel(rows, classifier.basis_vectors_, gamma=classifier.gamma_)
    positive = tumours.y_test == "malignant"
    difference = likeness[positive].mean(axis=0) - likeness[~positive].mean(axis=0)
    assert content.centres.positive.number == np.argmax(difference)
    assert content.centres.negative.number == np.argmin(difference)


def test_without_training_rows_scaling_is_undone(tumours, content):
    alone = make_report_content(*tumours.test)
    assert alone.centres.positive.source == "Its values before preprocessing."
    shown = {feature.name: feature.positive for feature in alone.centres.columns}
    for feature in content.centres.columns:
        assert shown[feature.name] == pytest.approx(feature.positive)
    assert alone.data.n_train is None
    assert "could not be found" in alone.checks


@pytest.fixture(scope="module")
def encoded():
    days = FunctionTransformer(lambda frame: frame.astype("int64"))

    def fit(X, y, **kwargs):
        encode = make_column_transformer(
            (OneHotEncoder(), ["country"]),
            (StandardScaler(), ["amount"]),
            (make_pipeline(days, StandardScaler()), ["placed"]),
            ("passthrough", ["is_new"]),
            sparse_threshold=0,
        )
        kwargs = {"scaling": None, **kwargs}
        return make_pipeline(encode, SparseKernelAUC(8, random_state=0, **kwargs)).fit(X, y)

    return fit


def test_words_and_dates_come_from_the_training_frame(orders, encoded):
    X, y = orders
    model = encoded(X[:400], y[:400], refine=False)
    content = make_report_content(model, X[400:], y[400:], X_train=X[:400], y_train=y[:400])
    row = X.iloc[model[-1].basis_indices_[content.centres.positive.number]]
    shown = {feature.name: feature for feature in content.centres.columns}
    assert shown["country"].positive == row["country"]
    assert shown["placed"].positive == str(row["placed"].date())
    assert shown["amount"].positive == row["amount"]
    assert shown["is_new"].positive == ("yes" if row["is_new"] else "no")
    assert shown["country"].usual == X["country"][:400].mode()[0]


def test_a_moved_centre_is_shown_as_its_nearest_training_row(orders, encoded):
    X, y = orders
    model = encoded(X[:400], y[:400], refine=True, C=10.0)
    assert not np.all(model[-1].length_scales_ == 1)
    content = make_report_content(model, X[400:], y[400:], X_train=X[:400], y_train=y[:400])
    scales = model[-1].length_scales_
    rows = model[:-1].transform(X[:400])
    is_moved = []
    for centre in (content.centres.positive, content.centres.negative):
        vector = model[-1].basis_vectors_[centre.number]
        own = model[-1].basis_indices_[centre.number]
        nearest = int(np.argmin(np.linalg.norm((rows - vector) / scales, axis=1)))
        is_moved.append(not np.allclose(rows[own], vector))
        source = f"The nearest training row is row {nearest + 1:,}."
        assert centre.source == (source if is_moved[-1] else f"Row {own + 1:,}, a training row.")
    assert any(is_moved)


def test_training_rows_have_the_numbers_of_their_table(orders, encoded):
    X, y = orders
    for moves in (True, False):
        model = encoded(X[:400], y[:400], refine=moves, C=10.0)
        train = {"X_train": X[:400], "y_train": y[:400]}
        numbers = 3 * np.arange(400) + 1001
        plain = make_report_content(model, X[400:], y[400:], **train)
        named = make_report_content(model, X[400:], y[400:], **train, train_row_numbers=numbers)
        for side in ("positive", "negative"):
            sources = (getattr(each.centres, side).source for each in (plain, named))
            row, number = (
                int(re.search(r"[Rr]ow ([\d,]+)[.,]", each)[1].replace(",", "")) for each in sources
            )
            assert number == numbers[row - 1]


def test_centres_that_cannot_be_shown_say_why(orders, encoded):
    X, y = orders
    content = make_report_content(encoded(X[:400], y[:400]), X[400:], y[400:])
    assert "Pass the training rows to show them" in content.centres.reason


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(np.tanh),
        SelectKBest(k=10),
        PCA(5),
    ],
    ids=lambda step: type(step).__name__,
)
def test_an_inverse_that_does_not_lead_back_is_not_believed(tumours, step):
    classifier = SparseKernelAUC(4, refine=False, random_state=0)
    model = make_pipeline(StandardScaler(), step, classifier)
    model.fit(tumours.X_train, tumours.y_train)
    assert (
        "has no exact inverse"
        in make_report_content(model, tumours.X_test, tumours.y_test).centres.reason
    )
    content = make_report_content(model, tumours.X_test, tumours.y_test, **tumours.train)
    assert content.centres.positive.source.startswith("Row ")


def test_wide_rows_show_the_features_that_differ_most():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2 == 0
    X = rng.normal(size=(200, 300)) + y[:, None]
    model = SparseKernelAUC(4, random_state=0).fit(X[:100], y[:100])
    centres = make_report_content(model, X[100:], y[100:]).centres
    assert (len(centres.columns), centres.n_columns) == (200, 300)
    spread = {f"x{i}": sd for i, sd in enumerate(X[100:].std(axis=0))}
    apart = [abs(each.positive - each.negative) / spread[each.name] for each in centres.columns]
    assert apart == sorted(apart, reverse=True)


def test_amounts_and_dates_in_text_are_numbers_and_dates():
    """The usual one is the median."""
    rng = np.random.default_rng(0)
    paid, code = rng.normal(2000, 400, 300).round(2), rng.choice(["07", "08"], 300)
    seen = pd.date_range("2024-01-01", periods=300)[rng.permutation(300)]
    frame = pd.DataFrame({"paid": [f"${value:,.2f}" for value in paid], "code": code})
    X = frame.assign(member=code == "07", seen=seen.strftime("%d/%m/%Y"))
    y = paid + 10 * rng.normal(size=300) > 2000
    step = TablePreprocessor(category=["code"])
    model = make_pipeline(step, SparseKernelAUC(4, random_state=0)).fit(X[:200], y[:200])
    train = {"X_train": X[:200], "y_train": y[:200]}
    content = make_report_content(model, X[200:], y[200:], **train)
    rows = {each.name: each for each in content.centres.columns}
    assert rows["paid"].usual == np.sort(paid[:200])[100]
    assert rows["seen"].usual == str(np.sort(seen[:200])[100])[:10]
    assert rows["paid"].positive > rows["paid"].negative
    assert {rows["code"].usual, rows["member"].usual} < {"07", "08", "yes", "no"}
    # The centres themselves are shown in all of their columns.
    content = make_report_content(model, X[200:], y[200:])
    assert "no exact inverse" in content.centres.reason
    assert content.prototypes.centres
