"""The AUC of the smaller models on the path to the fitted one."""

from __future__ import annotations

from dataclasses import dataclass

from skauc.metrics import auc_interval
from skauc.report.missing import SEVERAL, Missing
from skauc.report.rows import LabelledRows
from skauc.sparse.cv_results import rows_of_choice
from skauc.unwrapping import UnwrappedModel

_SAMPLE_ROWS = 60_000


@dataclass(frozen=True)
class Sizes:
    """AUC at each size: on the test rows with limits, on the training rows, cross-validated.

    ``average`` tells what the model is the average of. If these are ``n_averaged`` models, the
    smaller ones approximate their average. If these are values of C, the others have a single C.
    """

    n_basis: tuple[int, ...]
    test: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    train: tuple[float, ...]
    chosen: int
    average: str | None
    n_averaged: int
    n_sampled: int | None
    cv_n_basis: tuple[int, ...]
    cv_auc: tuple[float, ...]


def auc_by_size(unwrapped: UnwrappedModel, test: LabelledRows) -> Sizes | Missing:
    """Score the test rows at each size on the path of the model."""
    classifier = unwrapped.classifier
    if classifier is None:
        return SEVERAL
    if not getattr(classifier, "path_", None) or not hasattr(
        classifier, "staged_decision_function"
    ):
        return Missing(f"{type(classifier).__name__} has no path of smaller models.")
    sample = test.balanced_sample(_SAMPLE_ROWS)
    rows = unwrapped.transform(sample.X)
    stages = zip(classifier.path_, classifier.staged_decision_function(rows), strict=True)
    # A size that was refined has two records. The later one is the model of that size.
    by_size = {
        record.n_basis: (
            auc_interval(sample.positive, scores, sample_weight=sample.weights),
            record.train_auc,
        )
        for record, scores in stages
    }
    if len(by_size) == 1:
        return Missing("The path has a single size, so there are no smaller models to compare.")
    intervals, train = zip(*by_size.values(), strict=True)
    cv_n_basis, cv_auc = _cross_validated(classifier)
    return Sizes(
        n_basis=tuple(map(int, by_size)),
        test=tuple(float(interval.auc) for interval in intervals),
        low=tuple(float(interval.low) for interval in intervals),
        high=tuple(float(interval.high) for interval in intervals),
        train=tuple(map(float, train)),
        chosen=int(classifier.n_basis_),
        average=unwrapped.average,
        n_averaged=unwrapped.n_averaged,
        n_sampled=None if sample is test else len(sample),
        cv_n_basis=cv_n_basis,
        cv_auc=cv_auc,
    )


def _cross_validated(classifier) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the mean AUC over the folds by size, with the other parameters as chosen."""
    results = getattr(classifier, "cv_results_", None)
    if results is None:
        return (), ()
    shown = rows_of_choice(results, classifier.best_params_, ("n_basis",))
    sizes, means = results["param_n_basis"][shown], results["mean_test_score"][shown]
    by_size = sorted((int(n), float(auc)) for n, auc in zip(sizes, means, strict=True))
    return tuple(n for n, _ in by_size), tuple(auc for _, auc in by_size)
