"""The content of a report: numbers and text, without markup."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import scipy
import sklearn
from sklearn.utils.validation import check_is_fitted

import skauc
from skauc.exceptions import InvalidDataError
from skauc.explain.columns import column_names
from skauc.metrics import auc_interval, curve_bands, operating_points
from skauc.report.calibration import Calibration, calibrate_scores
from skauc.report.centres import TypicalCentres, typical_centres
from skauc.report.curves import (
    Curve,
    CurvePart,
    Histogram,
    histogram,
    precision_recall_curve,
    roc_curve,
)
from skauc.report.data_warnings import DataWarning, describe_checks, find_warnings
from skauc.report.domain import FarRows, far_rows
from skauc.report.explained_rows import ExplainedRows, explain_leading_rows
from skauc.report.importance import Importance, column_importance
from skauc.report.missing import Missing
from skauc.report.model_summary import ModelSummary, summarise_model
from skauc.report.prototypes import Prototypes, list_prototypes
from skauc.report.row_lookup import RowLookup, look_up_rows
from skauc.report.rows import LabelledRows, as_read, check_labelled_rows
from skauc.report.scored import LabelledScores, Score, main_scores
from skauc.report.shapes import Shapes, leading_shapes
from skauc.report.sizes import Sizes, auc_by_size
from skauc.report.slices import Slices, auc_of_slices
from skauc.report.threshold_table import (
    ThresholdTable,
    own_threshold,
    probability_thresholds,
    threshold_table,
)
from skauc.unwrapping import first_step, positive_probabilities, ranking_scores, unwrap
from skauc.validation import check_scored


@dataclass(frozen=True)
class DataSummary:
    """Labels, and the numbers of columns and rows."""

    positive_label: str
    negative_label: str
    n_columns: int
    n_test: int
    n_test_positive: int
    n_train: int | None
    n_train_positive: int | None
    is_weighted: bool


@dataclass(frozen=True)
class ReportContent:
    """Everything that a report shows."""

    title: str
    made: str
    versions: tuple[tuple[str, str], ...]
    model: ModelSummary
    data: DataSummary
    scores: tuple[Score, ...]
    part: CurvePart | None
    warnings: tuple[DataWarning, ...]
    checks: str
    roc: Curve
    precision_recall: Curve
    thresholds: ThresholdTable
    histogram: Histogram
    calibration: Calibration | Missing
    sizes: Sizes | Missing
    importance: Importance | Missing
    shapes: Shapes | Missing
    explained: ExplainedRows | Missing
    lookup: RowLookup | Missing
    slices: Slices | Missing
    far: FarRows | Missing
    centres: TypicalCentres | Missing
    prototypes: Prototypes | Missing


def make_report_content(
    model,
    X_test,
    y_test,
    *,
    X_train=None,
    y_train=None,
    sample_weight=None,
    row_numbers=None,
    train_row_numbers=None,
    costs=None,
    labels=None,
    title=None,
) -> ReportContent:
    """Compute the content of a report on a fitted model.

    The test rows are scored three times and sorted twice. The importance of the columns takes
    another score of at most 10,000 rows per column, for at most 50 columns. Training rows, if
    given, are read once.

    Parameters
    ----------
    model : estimator
        A fitted binary classifier with `decision_function` or `predict_proba`. A classifier of
        skauc may be inside a pipeline, `CalibratedClassifierCV`, a threshold classifier, a search
        or a `FrozenEstimator`. The report on other classifiers has no sizes and no centres.
    X_test : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
        Rows that the model was not fitted to, in the form that `model` takes.
    y_test : array-like of shape (n_samples,)
        Labels of the test rows.
    X_train, y_train : as above, default=None
        Rows that the model was fitted to, and their labels. They are needed to find rows that
        are in both tables, and to show centres in the units of the table if the preprocessing
        has no inverse.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each test row.
    row_numbers : array-like of shape (n_samples,), default=None
        Number of each test row in the table that it comes from, by which the report names the row.
        If None, the test rows are counted from 1.
    train_row_numbers : array-like of shape (n_samples,), default=None
        The same for the training rows.
    costs : tuple of two floats, default=None
        Initial costs of a false alarm and of a miss. If None, a false alarm costs 1 and a miss
        costs the number of negative rows per positive row.
    labels : tuple of two, default=None
        Names of the negative and the positive class. If None, the labels of the model.
    title : str, default=None
        Title of the page. If None, it is made from the positive label.

    Returns
    -------
    content : ReportContent
        Frozen dataclasses of numbers and text.

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
            f"A report needs a model of two classes; this one has {len(model.classes_)}: "
            f"{model.classes_.tolist()[:5]}. Fit it to two classes, such as y >= 1."
        )
    test = check_labelled_rows(model, X_test, y_test, "test", sample_weight, row_numbers)
    train = _training_rows(model, X_train, y_train, train_row_numbers)
    all_scores = ranking_scores(model, X_test)
    scored = LabelledScores(*check_scored(test.positive, all_scores, test.weights, pos_label=True))
    points = operating_points(scored.scores, scored.positive, scored.weights)
    probabilities = positive_probabilities(model, X_test)
    if probabilities is not None:
        probabilities = probabilities[test.weights > 0]
    thresholds = threshold_table(
        points,
        own_threshold(model, X_test, all_scores),
        costs,
        probability_thresholds(scored, probabilities),
    )
    interval = auc_interval(**scored.as_metric)
    bands = curve_bands(points)
    unwrapped = unwrap(model)
    data = _summarise_data(model.classes_ if labels is None else labels, test, train, sample_weight)
    importance = column_importance(model, unwrapped, test)
    unused = _unused(importance)
    names = (data.negative_label, data.positive_label)
    shapes = leading_shapes(model, unwrapped, test)
    step = first_step(model)
    read = as_read(step, test)
    read_train = None if train is None else as_read(step, train)
    return ReportContent(
        title=f"How well “{data.positive_label}” is ranked" if title is None else str(title),
        made=datetime.now().astimezone().isoformat(timespec="minutes"),
        versions=_versions(),
        model=summarise_model(unwrapped),
        data=data,
        scores=main_scores(scored, interval, points, bands, unwrapped.limits),
        part=CurvePart.of(unwrapped),
        warnings=find_warnings(
            read_train,
            read,
            names,
            all_scores,
            interval,
            unwrapped.train_auc,
            unused,
        ),
        checks=describe_checks(read_train, read),
        roc=roc_curve(points, bands),
        precision_recall=precision_recall_curve(points, bands),
        thresholds=thresholds,
        histogram=histogram(scored, is_probability=not hasattr(model, "decision_function")),
        calibration=calibrate_scores(scored, probabilities),
        sizes=auc_by_size(unwrapped, test),
        importance=importance,
        shapes=shapes,
        explained=explain_leading_rows(model, test, all_scores, names),
        lookup=look_up_rows(model, test, names),
        slices=auc_of_slices(step, test, all_scores, importance),
        far=far_rows(unwrapped, train, test, all_scores),
        centres=typical_centres(unwrapped, train, test, read_train or read, unused),
        prototypes=list_prototypes(unwrapped, _leading(shapes)),
    )


def _training_rows(model, X, y, numbers) -> LabelledRows | None:
    if X is not None:
        return check_labelled_rows(model, X, y, "train", numbers=numbers)
    if numbers is not None:
        raise InvalidDataError(
            "`train_row_numbers` was given without `X_train`. Pass these rows as well."
        )
    return None


def _leading(shapes: Shapes | Missing) -> tuple[str, ...]:
    return () if isinstance(shapes, Missing) else tuple(each.name for each in shapes.shapes)


def _unused(importance: Importance | Missing) -> frozenset[str]:
    return frozenset() if isinstance(importance, Missing) else frozenset(importance.unused)


def _summarise_data(
    labels, test: LabelledRows, train: LabelledRows | None, sample_weight
) -> DataSummary:
    return DataSummary(
        positive_label=str(labels[1]),
        negative_label=str(labels[0]),
        n_columns=len(column_names(test.X)),
        n_test=len(test),
        n_test_positive=int(np.count_nonzero(test.positive)),
        n_train=None if train is None else len(train),
        n_train_positive=None if train is None else int(np.count_nonzero(train.positive)),
        is_weighted=sample_weight is not None,
    )


def _versions() -> tuple[tuple[str, str], ...]:
    packages = (skauc, sklearn, scipy, np)
    return tuple((package.__name__, package.__version__) for package in packages)
