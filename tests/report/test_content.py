"""The content of a report, compared with scikit-learn and the rows."""

import json
import re
from dataclasses import asdict

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    roc_auc_score,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    StandardScaler,
)

from skauc import SparseKernelAUC, SparseKernelAUCCV, TablePreprocessor
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.metrics import auc_interval, partial_auc
from skauc.report import make_report_content, render_report
from skauc.report.missing import SEVERAL, Missing
from skauc.report.scored import LabelledScores
from skauc.report.threshold_table import probability_thresholds


@pytest.fixture(scope="module")
def content(tumours):
    return make_report_content(*tumours.test, **tumours.train)


def test_figures_are_those_of_the_metrics(tumours, content):
    positive = tumours.y_test == "malignant"
    scores = tumours.model.decision_function(tumours.X_test)
    by_key = {score.key: score for score in content.scores}
    interval = auc_interval(positive, scores)
    auc = by_key["auc"]
    assert (auc.value, auc.low, auc.high) == (interval.auc, interval.low, interval.high)
    average = by_key["average_precision"]
    assert_allclose(average.value, average_precision_score(positive, scores))
    assert_allclose(by_key["partial_auc"].value, roc_auc_score(positive, scores, max_fpr=0.1))
    for score in content.scores:
        assert 0 <= score.low <= score.value <= score.high <= 1


def test_a_model_for_a_part_of_the_curve_shows_it(tumours):
    model = make_pipeline(StandardScaler(), SparseKernelAUC(4, max_fpr=0.2, min_tpr=0.5))
    model.fit(tumours.X_train, tumours.y_train)
    content = make_report_content(model, tumours.X_test, tumours.y_test)
    assert (content.part.max_fpr, content.part.min_tpr) == (0.2, 0.5)
    shown = content.scores[3]
    scores, positive = model.decision_function(tumours.X_test), tumours.y_test == "malignant"
    assert_allclose(shown.value, partial_auc(positive, scores, max_fpr=0.2, min_tpr=0.5))
    assert "up to a false positive rate of 0.2 and above a recall of 0.5" in shown.meaning
    assert "fitted for this part" in shown.meaning
    page = render_report(content)
    assert re.search(r'"part": ?{"max_fpr": ?0.2, ?"min_tpr": ?0.5}', page)
    assert "false positive rates up to 0.2 and recalls above 0.5" in page


def test_every_threshold_has_the_counts_of_the_confusion_matrix(tumours, content):
    scores = tumours.model.decision_function(tumours.X_test)
    positive = tumours.y_test == "malignant"
    entries = content.thresholds
    for threshold, tp, fp in zip(
        entries.thresholds, entries.true_positives, entries.false_positives, strict=True
    ):
        matrix = confusion_matrix(positive, scores >= threshold)
        assert (matrix[1, 1], matrix[0, 1]) == (tp, fp)
    assert (entries.n_positive, entries.n_negative) == (positive.sum(), (~positive).sum())


def test_the_models_own_threshold_is_where_it_predicts(tumours, content):
    predicted = tumours.model.predict(tumours.X_test) == "malignant"
    scores = tumours.model.decision_function(tumours.X_test)
    threshold = content.thresholds.thresholds[content.thresholds.own]
    assert np.array_equal(scores >= threshold, predicted)


def test_the_data_are_counted(tumours, content):
    data = content.data
    assert (data.positive_label, data.negative_label) == ("malignant", "benign")
    assert (data.n_train, data.n_test) == (len(tumours.y_train), len(tumours.y_test))
    assert data.n_test_positive == np.count_nonzero(tumours.y_test == "malignant")
    assert data.n_columns == 30
    assert content.model.name == "SparseKernelAUC"
    assert content.model.steps == ("StandardScaler",)
    assert ("n_basis", "12") in content.model.parameters
    assert content.model.n_basis == 12


def test_classes_are_called_what_the_caller_calls_them(tumours):
    content = make_report_content(*tumours.test, labels=("fine", "ill"))
    assert (content.data.negative_label, content.data.positive_label) == ("fine", "ill")
    assert content.title == "How well “ill” is ranked"


def test_sizes_follow_the_path(tumours, content):
    rows = tumours.model[:-1].transform(tumours.X_test)
    staged = list(tumours.model[-1].staged_decision_function(rows))
    expected = [roc_auc_score(tumours.y_test == "malignant", scores) for scores in staged]
    assert_allclose(content.sizes.test, expected)
    assert content.sizes.chosen == content.sizes.n_basis[-1] == 12
    assert content.sizes.test[-1] == pytest.approx(content.scores[0].value)


def test_everything_is_plain(content):
    text = json.dumps(asdict(content), allow_nan=False)
    assert json.loads(text)["model"]["name"] == "SparseKernelAUC"


@pytest.mark.parametrize("kind", ["array", "list", "polars", "sparse", "coordinates"])
def test_rows_of_every_kind(tumours, kind):
    make = {
        "array": np.asarray,
        "list": lambda X: np.asarray(X).tolist(),
        "polars": lambda X: pl.DataFrame({name: X[name].to_numpy() for name in X}),
        "sparse": lambda X: sparse.csr_array(np.asarray(X)),
        "coordinates": lambda X: sparse.coo_array(np.asarray(X)),
    }[kind]
    X_train, X_test = make(tumours.X_train), make(tumours.X_test)
    classifier = SparseKernelAUC(8, refine=False, random_state=0)
    model = make_pipeline(StandardScaler(with_mean=False), classifier)
    model.fit(X_train, tumours.y_train)
    content = make_report_content(
        model, X_test, tumours.y_test, X_train=X_train, y_train=tumours.y_train
    )
    names = {feature.name for feature in content.centres.columns}
    assert names == (set(tumours.X_train) if kind == "polars" else {f"x{i}" for i in range(30)})
    assert content.centres.positive.source.startswith("Row ")


def test_dates_of_a_polars_frame_are_shown():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 1000, 200)
    frame = pl.DataFrame(
        {
            "visits": rng.integers(0, 50, 200),
            "income": rng.normal(size=200),
            "seen": np.datetime64("2020-01-01", "us") + days * np.timedelta64(1, "D"),
        }
    )
    y = days + 300 * rng.normal(size=200) > 500
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(4, random_state=0)).fit(frame, y)
    content = make_report_content(model, frame, y, X_train=frame, y_train=y)
    first = content.explained.rows[0]
    cells = {part.name: part.cell for part in first.contributions}
    assert cells["seen"] == str(frame["seen"][first.number - 1].date())
    assert cells["visits"] == str(frame["visits"][first.number - 1])


def wrap(name, model, X, y):
    if name == "calibrated":
        return CalibratedClassifierCV(model, ensemble=False, cv=3).fit(X, y)
    if name == "calibrated frozen":
        return CalibratedClassifierCV(FrozenEstimator(model), ensemble=False).fit(X, y)
    if name == "tuned threshold":
        return TunedThresholdClassifierCV(model, cv=3).fit(X, y)
    if name == "fixed threshold":
        return FixedThresholdClassifier(
            model, threshold=0.7, response_method="decision_function"
        ).fit(X, y)
    return GridSearchCV(model, {"sparsekernelauc__C": [1.0]}, cv=2).fit(X, y)


@pytest.mark.parametrize(
    "name", ["calibrated", "calibrated frozen", "tuned threshold", "fixed threshold", "search"]
)
def test_wrappers_are_seen_through(tumours, name):
    model = wrap(name, tumours.model, tumours.X_train, tumours.y_train)
    content = make_report_content(model, tumours.X_test, tumours.y_test, **tumours.train)
    assert content.model.name == "SparseKernelAUC"
    assert content.sizes.chosen == 12
    assert content.centres.positive.source.startswith("Row ")
    predicted = model.predict(tumours.X_test) == "malignant"
    own = content.thresholds.own
    flagged = content.thresholds.true_positives[own] + content.thresholds.false_positives[own]
    assert flagged == predicted.sum()


def test_own_probabilities_are_said_to_be(tumours):
    model = wrap("calibrated", tumours.model, tumours.X_train, tumours.y_train)
    content = make_report_content(model, tumours.X_test, tumours.y_test)
    assert "of the model itself" in content.calibration.source
    probabilities = model.predict_proba(tumours.X_test)[:, 1]
    assert content.calibration.brier == pytest.approx(
        brier_score_loss(tumours.y_test == "malignant", probabilities)
    )


def test_probabilities_that_are_not_its_own_are_said_to_be(content):
    assert "and no probabilities" in content.calibration.source
    assert sum(content.calibration.n_rows) == content.data.n_test


def test_an_ensemble_has_no_one_path(tumours):
    model = CalibratedClassifierCV(tumours.model, cv=2).fit(tumours.X_train, tumours.y_train)
    content = make_report_content(model, tumours.X_test, tumours.y_test)
    assert content.sizes == content.centres == SEVERAL
    assert content.model.name == "Ensemble"


def test_other_classifiers_have_the_rest(tumours):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(tumours.X_train, tumours.y_train)
    content = make_report_content(model, tumours.X_test, tumours.y_test, **tumours.train)
    assert content.sizes == Missing("LogisticRegression has no path of smaller models.")
    assert content.importance.columns[0].drop > 0
    assert content.centres == Missing("LogisticRegression has no centres.")
    assert "of the model itself" in content.calibration.source


def test_thresholds_as_probabilities_flag_the_same_rows(tumours):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(tumours.X_train, tumours.y_train)
    entries = make_report_content(model, tumours.X_test, tumours.y_test).thresholds
    scores = model.decision_function(tumours.X_test)
    probabilities = model.predict_proba(tumours.X_test)[:, 1]
    assert len(entries.probabilities) == len(entries.thresholds) == len(scores) + 1
    for score, probability in zip(entries.thresholds, entries.probabilities, strict=True):
        np.testing.assert_array_equal(scores >= score, probabilities >= probability)
    assert 0 <= min(entries.probabilities) < max(entries.probabilities) <= 1


def test_thresholds_as_probabilities_of_few_values(tumours):
    """Scores that share a probability share its threshold."""
    scores = tumours.model.decision_function(tumours.X_test)
    scored = LabelledScores(scores, tumours.y_test == "malignant", np.ones(len(scores)))
    rounded = np.round(1 / (1 + np.exp(-scores)), 1)
    found = probability_thresholds(scored, rounded)
    distinct = np.unique(scores)[::-1]
    for threshold, lowest in zip(found[1:], distinct, strict=True):
        tied = rounded[scores == lowest].min()
        np.testing.assert_array_equal(rounded >= threshold, rounded >= tied)
    assert probability_thresholds(scored, 1 - rounded) is None
    assert probability_thresholds(scored, None) is None


def test_one_size_has_nothing_to_compare_with(tumours):
    model = make_pipeline(StandardScaler(), SparseKernelAUC(1, random_state=0))
    model.fit(tumours.X_train, tumours.y_train)
    content = make_report_content(model, tumours.X_test, tumours.y_test)
    assert "no smaller models to compare" in content.sizes.reason
    assert content.model.n_basis == 1


def mean_of_the_best(search):
    """The mean AUC of the chosen setting; ``best_score_`` is corrected for the choice."""
    results, best = search.cv_results_, search.best_params_
    is_best = np.all([results[f"param_{name}"] == best[name] for name in best], axis=0)
    return results["mean_test_score"][is_best].item()


def test_cross_validated_sizes_are_shown_beside(tumours):
    X = np.asarray(tumours.X_train)[:, :5]
    model = SparseKernelAUCCV(
        Cs=[1.0], gammas=["scale"], n_basis=8, refine=False, linear_term=False, cv=2, random_state=0
    ).fit(StandardScaler().fit_transform(X), tumours.y_train)
    X_test = StandardScaler().fit(X).transform(np.asarray(tumours.X_test)[:, :5])
    content = make_report_content(model, X_test, tumours.y_test)
    sizes = content.sizes
    best = sizes.cv_auc[sizes.cv_n_basis.index(model.best_params_["n_basis"])]
    assert best == pytest.approx(mean_of_the_best(model))
    assert max(sizes.cv_n_basis) == 8
    assert ("n_basis (chosen)", str(model.n_basis_)) in content.model.parameters
    is_ranked = model.best_params_["scaling"] is not None
    own = "Its values before the scaling." if is_ranked else "Its own values."
    assert content.centres.positive.source == own


def test_sizes_of_a_cross_validation_are_those_of_the_scaling_that_was_chosen(tumours):
    X = np.asarray(tumours.X_train)[:, :3]
    settings = {"Cs": [1.0], "gammas": ["scale"], "refine": 2, "linear_term": False, "cv": 2}
    model = SparseKernelAUCCV(n_basis=8, random_state=0, **settings).fit(X, tumours.y_train)
    assert len(set(model.cv_results_["param_scaling"])) > 1
    sizes = make_report_content(model, X, tumours.y_train).sizes
    assert len(set(sizes.cv_n_basis)) == len(sizes.cv_n_basis)
    best = sizes.cv_auc[sizes.cv_n_basis.index(model.n_basis_)]
    assert best == pytest.approx(mean_of_the_best(model))


def test_weights_reach_every_count(tumours):
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(tumours.y_test))
    content = make_report_content(*tumours.test, sample_weight=weights, **tumours.train)
    scores = tumours.model.decision_function(tumours.X_test)
    positive = tumours.y_test == "malignant"
    assert_allclose(content.scores[0].value, roc_auc_score(positive, scores, sample_weight=weights))
    assert content.sizes.test[-1] == pytest.approx(content.scores[0].value)
    entries = content.thresholds
    i = len(entries.thresholds) // 2
    matrix = confusion_matrix(positive, scores >= entries.thresholds[i], sample_weight=weights)
    assert_allclose(
        [entries.false_positives[i], entries.true_positives[i]], matrix[:, 1], rtol=1e-9
    )
    assert content.data.is_weighted


def test_costs_begin_at_the_ratio_of_the_classes(tumours, content):
    ratio = np.mean(tumours.y_test == "benign") / np.mean(tumours.y_test == "malignant")
    assert content.thresholds.false_alarm_cost == 1
    assert content.thresholds.miss_cost == pytest.approx(ratio, rel=0.05)
    given = make_report_content(*tumours.test, costs=(2, 50)).thresholds
    assert (given.false_alarm_cost, given.miss_cost) == (2, 50)


@pytest.mark.parametrize("costs", [3, (1, 2, 3), "ab"])
def test_costs_are_two_numbers(tumours, costs):
    with pytest.raises(InvalidParameterError, match=r"`costs` must be"):
        make_report_content(*tumours.test, costs=costs)


def test_bad_rows_are_told(tumours):
    model, X, y = tumours.test
    with pytest.raises(InvalidDataError, match="`X_train` was given without `y_train`"):
        make_report_content(model, X, y, X_train=X)
    with pytest.raises(InvalidDataError, match="got 143 rows and 142 labels"):
        make_report_content(model, X, y[1:])
    with pytest.raises(InvalidDataError, match=r"does not know: \['other'\]"):
        make_report_content(model, X, np.append(y[1:], "other"))
    with pytest.raises(InvalidDataError, match="must have two classes"):
        make_report_content(model, X, np.full(143, "benign"))
    with pytest.raises(NotFittedError):
        make_report_content(SparseKernelAUC(), X, y)


def test_one_positive_row_is_enough(tumours):
    rows = np.append(
        np.flatnonzero(tumours.y_test == "benign"), np.argmax(tumours.y_test == "malignant")
    )
    content = make_report_content(tumours.model, tumours.X_test.iloc[rows], tumours.y_test[rows])
    assert "A class has a single test row" in content.calibration.reason
    assert any("Only 1 positive test row" in warning.title for warning in content.warnings)


def test_a_model_that_flags_nothing_has_the_highest_threshold(tumours):
    model = FixedThresholdClassifier(
        FrozenEstimator(tumours.model), threshold=1e9, response_method="decision_function"
    ).fit(tumours.X_train, tumours.y_train)
    assert make_report_content(model, tumours.X_test, tumours.y_test).thresholds.own == 0


def test_many_rows_make_a_short_report():
    rng = np.random.default_rng(0)
    y = rng.random(80_000) < 0.02
    X = pd.DataFrame(rng.normal(size=(80_000, 3)) + y[:, None], columns=list("abc"))
    model = SparseKernelAUC(8, random_state=0).fit(X[:2_000], y[:2_000])
    content = make_report_content(model, X[2_000:], y[2_000:], X_train=X, y_train=y)
    assert len(content.thresholds.thresholds) <= 2_000
    assert content.thresholds.n_distinct > 70_000
    assert content.sizes.n_sampled == 60_000
    assert len(json.dumps(asdict(content))) < 350_000
