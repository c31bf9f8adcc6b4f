"""What a report says, as plain numbers and words: no markup, nothing drawn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import scipy
import sklearn
from scipy.special import expit, logit
from sklearn.metrics import average_precision_score, brier_score_loss
from sklearn.utils.validation import check_is_fitted

import skauc
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.metrics import (
    AUCInterval,
    Bands,
    OperatingPoints,
    auc_interval,
    calibration_bins,
    cross_fitted_probabilities,
    curve_bands,
    operating_points,
    partial_auc,
    score_histogram,
)
from skauc.report.centres import TypicalCentres, typical_centres
from skauc.report.columns import column_names
from skauc.report.data_warnings import DataWarning, find_warnings, looked_at
from skauc.report.missing import Missing
from skauc.report.model_section import (
    FeatureScales,
    ModelSummary,
    Sizes,
    auc_by_size,
    feature_scales,
    summarise,
)
from skauc.report.rows import Rows
from skauc.unwrapping import positive_probabilities, ranking_scores, unwrap
from skauc.validation import check_positive, check_scored, is_sequence

MOST_THRESHOLDS = 2_000
MOST_CURVE_POINTS = 300
FEW_FALSE_ALARMS = 0.05
PARTIAL = 0.1
# Probabilities closer to 0 or 1 are drawn here.
SURE = 1e-6


@dataclass(frozen=True)
class DataSummary:
    """How many rows of which class the figures are from."""

    positive_label: str
    negative_label: str
    n_features: int
    n_test: int
    n_test_positive: int
    n_train: int | None
    n_train_positive: int | None
    is_weighted: bool


@dataclass(frozen=True)
class Score:
    """One figure with its 95 % limits, where there are any, and what it means."""

    key: str
    name: str
    value: float
    low: float | None
    high: float | None
    meaning: str


@dataclass(frozen=True)
class Curve:
    """A curve and its pointwise 95 % band; the two have points of their own."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    band_x: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class ThresholdTable:
    """Counts at each threshold, from the highest; a row is flagged if its score is at least it."""

    thresholds: tuple[float, ...]
    true_positives: tuple[float, ...]
    false_positives: tuple[float, ...]
    n_positive: float
    n_negative: float
    n_distinct: int
    own: int | None
    false_alarm_cost: float
    miss_cost: float


@dataclass(frozen=True)
class Histogram:
    """Shares of each class between neighbouring edges of the score.

    Where scores are probabilities, edges are at equal steps of log(p / (1 - p)): rare positives
    would all be in the first bar otherwise.
    """

    is_probability: bool
    edges: tuple[float, ...]
    positives: tuple[float, ...]
    negatives: tuple[float, ...]


@dataclass(frozen=True)
class Calibration:
    """Groups of rows of like probability, and whose probabilities they are."""

    source: str
    is_own: bool
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n_rows: tuple[int, ...]
    brier: float


@dataclass(frozen=True)
class ReportContent:
    """Everything a report says."""

    title: str
    made: str
    versions: tuple[tuple[str, str], ...]
    model: ModelSummary
    data: DataSummary
    scores: tuple[Score, ...]
    warnings: tuple[DataWarning, ...]
    looked_at: str
    roc: Curve
    precision_recall: Curve
    thresholds: ThresholdTable
    histogram: Histogram
    calibration: Calibration | Missing
    sizes: Sizes | Missing
    features: FeatureScales | Missing
    centres: TypicalCentres | Missing


@dataclass(frozen=True, eq=False)
class _Scored:
    """The test rows that count, as the metrics see them."""

    scores: np.ndarray
    positive: np.ndarray
    weights: np.ndarray

    @property
    def as_metric(self) -> dict:
        return {
            "y_true": self.positive,
            "y_score": self.scores,
            "sample_weight": self.weights,
        }


def make_report_content(
    model,
    X_test,
    y_test,
    *,
    X_train=None,
    y_train=None,
    sample_weight=None,
    costs=None,
    labels=None,
    title=None,
) -> ReportContent:
    """Work out everything a report says of a fitted model.

    The cost is that of scoring the test rows twice, a sort of their scores, and, where training
    rows are given, a pass over them. Curves are thinned; for a million test rows it takes seconds.

    Parameters
    ----------
    model : estimator
        A fitted binary classifier: one of skauc's, a pipeline that ends in one, or one of these in
        `CalibratedClassifierCV`, a threshold classifier, a search or a `FrozenEstimator`. Others
        with `decision_function` or `predict_proba` work too, without sizes, scales and centres.
    X_test : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
        Rows that the model was not fitted to, as they go into `model`.
    y_test : array-like of shape (n_samples,)
        Their labels.
    X_train, y_train : as above, default=None
        The rows that the model was fitted to. They are needed for centres in original units where
        the preprocessing cannot be undone, and to find rows that are in both.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each test row counts.
    costs : tuple of two floats, default=None
        The cost of a false alarm and of a miss to begin with. None takes 1, and for a miss the
        number of negative rows to one positive.
    labels : tuple of two, default=None
        What the negative and the positive class are called. None takes the model's own labels.
    title : str, default=None
        The title. None makes one from the positive label.

    Returns
    -------
    content : ReportContent
        Frozen dataclasses of numbers and words.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import SparseKernelAUC
    >>> from skauc.report import make_report_content
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), SparseKernelAUC(n_basis=8, random_state=0))
    >>> model.fit(X_train, y_train)
    Pipeline(...)
    >>> content = make_report_content(model, X_test, y_test, X_train=X_train, y_train=y_train)
    >>> content.scores[0].name, content.scores[0].value > 0.98
    ('AUC', True)
    """
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise InvalidDataError(
            f"A report is about two classes; the model ranks {len(model.classes_)}: "
            f"{model.classes_.tolist()[:5]}. Fit it to two classes, such as y >= 1."
        )
    test = _as_rows(model, X_test, y_test, "test", sample_weight)
    train = None if X_train is None else _as_rows(model, X_train, y_train, "train")
    all_scores = ranking_scores(model, X_test)
    scored = _Scored(*check_scored(test.positive, all_scores, test.weights, pos_label=True))
    interval = auc_interval(**scored.as_metric)
    points = operating_points(scored.scores, scored.positive, scored.weights)
    bands = curve_bands(points)
    unwrapped = unwrap(model)
    labels = model.classes_ if labels is None else labels
    data = _summarise_data(labels, test, train, sample_weight)
    return ReportContent(
        title=f"How well “{data.positive_label}” is ranked" if title is None else str(title),
        made=datetime.now().astimezone().isoformat(timespec="minutes"),
        versions=_versions(),
        model=summarise(unwrapped),
        data=data,
        scores=_scores(scored, interval, points, bands),
        warnings=find_warnings(
            train,
            test,
            (data.negative_label, data.positive_label),
            all_scores,
            interval,
            unwrapped.train_auc,
        ),
        looked_at=looked_at(train, test),
        roc=_roc(points, bands),
        precision_recall=_precision_recall(points, bands),
        thresholds=_threshold_table(points, _own_threshold(model, X_test, all_scores), costs),
        histogram=_histogram(scored, is_probability=not hasattr(model, "decision_function")),
        calibration=_calibration(model, test, scored),
        sizes=auc_by_size(unwrapped, test),
        features=feature_scales(unwrapped),
        centres=typical_centres(unwrapped, train, test),
    )


def _as_rows(model, X, y, which: str, sample_weight=None) -> Rows:
    if y is None:
        raise InvalidDataError(
            f"`X_{which}` was given without `y_{which}`. Pass the labels of these rows as well."
        )
    labels = np.asarray(y).ravel()
    if len(labels) != np.shape(X)[0]:
        raise InvalidDataError(
            f"`X_{which}` and `y_{which}` must be as long as each other; got {np.shape(X)[0]} rows "
            f"and {len(labels)} labels. Pass one label a row."
        )
    unknown = np.setdiff1d(labels, model.classes_)
    if len(unknown):
        raise InvalidDataError(
            f"`y_{which}` has labels that the model does not know: {unknown.tolist()[:5]}. It was "
            f"fitted to {model.classes_.tolist()}. Leave such rows out, or map their labels."
        )
    weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight).ravel()
    return Rows(X, labels == model.classes_[1], weights)


def _summarise_data(labels, test: Rows, train: Rows | None, sample_weight) -> DataSummary:
    return DataSummary(
        positive_label=str(labels[1]),
        negative_label=str(labels[0]),
        n_features=len(column_names(test.X)),
        n_test=len(test.positive),
        n_test_positive=int(np.count_nonzero(test.positive)),
        n_train=None if train is None else len(train.positive),
        n_train_positive=None if train is None else int(np.count_nonzero(train.positive)),
        is_weighted=sample_weight is not None,
    )


def _versions() -> tuple[tuple[str, str], ...]:
    packages = (skauc, sklearn, scipy, np)
    return tuple((package.__name__, package.__version__) for package in packages)


def _scores(scored: _Scored, interval: AUCInterval, points, bands: Bands) -> tuple[Score, ...]:
    share = points.n_positive / (points.n_positive + points.n_negative)
    allowed = np.searchsorted(points.false_positive_rate, FEW_FALSE_ALARMS, side="right") - 1
    low, high = (
        float(np.interp(FEW_FALSE_ALARMS, bands.false_positive_rate, limit))
        for limit in (bands.recall_low, bands.recall_high)
    )
    recall = float(points.recall[allowed])
    precision = float(average_precision_score(**scored.as_metric))
    return (
        Score(
            "auc",
            "AUC",
            interval.auc,
            interval.low,
            interval.high,
            "The chance that a positive row has a higher score than a negative one.",
        ),
        Score(
            "average_precision",
            "Average precision",
            precision,
            min(bands.average_precision[0], precision),
            max(bands.average_precision[1], precision),
            f"The mean precision over all recalls. A random ranking has {share:.3g}.",
        ),
        Score(
            "recall_few_alarms",
            f"Recall at {FEW_FALSE_ALARMS:.0%} false alarms",
            recall,
            min(low, recall),
            max(high, recall),
            f"Positives found when {FEW_FALSE_ALARMS:.0%} of the negatives may be flagged.",
        ),
        Score(
            "partial_auc",
            f"Partial AUC up to {PARTIAL:.0%}",
            partial_auc(**scored.as_metric, max_fpr=PARTIAL),
            None,
            None,
            f"The AUC where at most {PARTIAL:.0%} of the negatives are flagged; 0.5 is chance.",
        ),
    )


def _roc(points: OperatingPoints, bands: Bands) -> Curve:
    shown = points.thinned(MOST_CURVE_POINTS)
    return Curve(
        numbers(shown.false_positive_rate),
        numbers(shown.recall),
        numbers(bands.false_positive_rate),
        numbers(bands.recall_low),
        numbers(bands.recall_high),
    )


def _precision_recall(points: OperatingPoints, bands: Bands) -> Curve:
    shown = points.thinned(MOST_CURVE_POINTS)
    return Curve(
        numbers(shown.recall[1:]),
        numbers(shown.precision[1:]),
        numbers(bands.recall),
        numbers(bands.precision_low),
        numbers(bands.precision_high),
    )


def _own_threshold(model, X_test, scores: np.ndarray) -> float | None:
    """Return the lowest score that the model predicts positive, if a threshold is what it uses."""
    predicted = np.asarray(model.predict(X_test)) == model.classes_[1]
    if not predicted.any():
        return np.inf
    lowest = scores[predicted].min()
    return None if (scores[~predicted] >= lowest).any() else float(lowest)


def _threshold_table(points: OperatingPoints, own: float | None, costs) -> ThresholdTable:
    false_alarm, miss = _check_costs(costs, points)
    # Thresholds descend; the model's own entry is the first with a threshold at or below `own`.
    entry = None if own is None else int(np.searchsorted(-points.thresholds, -own))
    kept = points.thinned(MOST_THRESHOLDS, keep=() if entry is None else (entry,))
    if entry is not None:
        entry = int(np.searchsorted(-kept.thresholds, -points.thresholds[entry]))
    return ThresholdTable(
        thresholds=tuple(kept.thresholds.tolist()),
        true_positives=_counts(kept.true_positives),
        false_positives=_counts(kept.false_positives),
        n_positive=_counts(kept.true_positives[-1:])[0],
        n_negative=_counts(kept.false_positives[-1:])[0],
        n_distinct=points.n_distinct,
        own=entry,
        false_alarm_cost=false_alarm,
        miss_cost=miss,
    )


def _check_costs(costs, points: OperatingPoints) -> tuple[float, float]:
    if costs is None:
        ratio = points.n_negative / points.n_positive
        return 1.0, float(f"{ratio:.2g}")
    if not is_sequence(costs) or len(costs) != 2:
        raise InvalidParameterError(
            f"`costs` must be two numbers, the cost of a false alarm and of a miss; got {costs!r}. "
            "Pass for instance (1, 20)."
        )
    advice = "Pass the cost of a false alarm and of a miss, for instance (1, 20)."
    return check_positive("costs", costs[0], advice), check_positive("costs", costs[1], advice)


def _histogram(scored: _Scored, is_probability: bool) -> Histogram:
    scores = scored.scores
    if is_probability:
        scores = logit(np.clip(scores, SURE, 1 - SURE))
    bars = score_histogram(scores, scored.positive, scored.weights)
    edges = expit(bars.edges) if is_probability else bars.edges
    shares = numbers(bars.positives), numbers(bars.negatives)
    return Histogram(is_probability, numbers(edges, digits=10), *shares)


def _calibration(model, test: Rows, scored: _Scored) -> Calibration | Missing:
    probabilities = positive_probabilities(model, test.X)
    if probabilities is not None:
        source = "These are the model's own probabilities (predict_proba)."
        probabilities = probabilities[test.weights > 0]
    else:
        source = (
            "The model ranks and gives no probabilities. These come from a logistic map of its "
            "scores (Platt's), fitted to four fifths of the test rows at a time and shown on the "
            "rest: what CalibratedClassifierCV(method='sigmoid') would give."
        )
        probabilities = cross_fitted_probabilities(scored.scores, scored.positive, scored.weights)
    if probabilities is None:
        return Missing("A class has a single test row: there is nothing to calibrate with.")
    bins = calibration_bins(probabilities, scored.positive, scored.weights)
    return Calibration(
        source=source,
        is_own=hasattr(model, "predict_proba"),
        predicted=numbers(bins.predicted),
        observed=numbers(bins.observed),
        low=numbers(bins.low),
        high=numbers(bins.high),
        n_rows=tuple(bins.n_rows.tolist()),
        brier=float(brier_score_loss(scored.positive, probabilities, sample_weight=scored.weights)),
    )


def numbers(values, digits: int = 5) -> tuple[float, ...]:
    """Return numbers for drawing: Python floats of that many significant digits."""
    return tuple(float(f"{value:.{digits}g}") for value in np.asarray(values).tolist())


def _counts(values: np.ndarray) -> tuple[float, ...]:
    """Return counts as whole numbers where they are; sums of weights otherwise."""
    if np.all(values == np.floor(values)):
        return tuple(int(value) for value in values)
    return tuple(float(f"{value:.12g}") for value in values)
