"""What a report says of the model itself: its settings, its sizes, the scales it has learnt."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np

from skauc.metrics import auc_interval
from skauc.report.missing import SEVERAL, Missing
from skauc.report.rows import Rows
from skauc.unwrapping import UnwrappedModel

_SAMPLE_ROWS = 60_000
_MOST_FEATURES = 25


@dataclass(frozen=True)
class ModelSummary:
    """The classifier, what was set, and what comes before it."""

    name: str
    steps: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    n_basis: int | None
    n_numbers: int | None


@dataclass(frozen=True)
class Sizes:
    """AUC at each size of the model: on test rows with limits, on training rows, in folds."""

    n_basis: tuple[int, ...]
    test: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    train: tuple[float, ...]
    chosen: int
    n_sampled: int | None
    cv_n_basis: tuple[int, ...]
    cv_auc: tuple[float, ...]


@dataclass(frozen=True)
class FeatureScales:
    """Spread of the rows along each feature in length scales, the widest first."""

    names: tuple[str, ...]
    relevance: tuple[float, ...]
    n_features: int


def summarise(unwrapped: UnwrappedModel) -> ModelSummary:
    """Name the classifier, what was set other than by default, and its size."""
    classifier = unwrapped.classifier
    steps = tuple(type(step).__name__ for step in unwrapped.steps)
    if classifier is None:
        return ModelSummary("Ensemble", steps, (), None, None)
    model = unwrapped.model
    return ModelSummary(
        name=type(classifier).__name__,
        steps=steps,
        parameters=_changed_parameters(classifier),
        n_basis=None if model is None else len(model.coef) or None,
        n_numbers=None if model is None else model.n_numbers,
    )


def _changed_parameters(classifier) -> tuple[tuple[str, str], ...]:
    defaults = inspect.signature(type(classifier)).parameters
    chosen = getattr(classifier, "best_params_", {})
    changed = {
        name: value
        for name, value in classifier.get_params(deep=False).items()
        if name not in chosen and repr(value) != repr(defaults[name].default)
    }
    shown = [(f"{name} (chosen)", value) for name, value in chosen.items()] + [*changed.items()]
    return tuple((name, _brief(value)) for name, value in shown)


def _brief(value) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(_brief(item) for item in value)
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def auc_by_size(unwrapped: UnwrappedModel, test: Rows) -> Sizes | Missing:
    """Score the test rows at each size on the model's path."""
    classifier = unwrapped.classifier
    if classifier is None:
        return SEVERAL
    if not getattr(classifier, "path_", None) or not hasattr(
        classifier, "staged_decision_function"
    ):
        return Missing(f"{type(classifier).__name__} keeps no path of smaller models.")
    sample = test.sample(_SAMPLE_ROWS)
    rows = unwrapped.transform(sample.X)
    stages = zip(classifier.path_, classifier.staged_decision_function(rows), strict=True)
    # A size that was refined has two records; the later one is the model of that size.
    by_size = {
        record.n_basis: (
            auc_interval(sample.positive, scores, sample_weight=sample.weights),
            record.train_auc,
        )
        for record, scores in stages
    }
    if len(by_size) == 1:
        return Missing("There are no smaller models to compare with: the path has one size.")
    intervals, train = zip(*by_size.values(), strict=True)
    cv_n_basis, cv_auc = _cross_validated(classifier)
    return Sizes(
        n_basis=tuple(map(int, by_size)),
        test=tuple(float(interval.auc) for interval in intervals),
        low=tuple(float(interval.low) for interval in intervals),
        high=tuple(float(interval.high) for interval in intervals),
        train=tuple(map(float, train)),
        chosen=int(classifier.n_basis_),
        n_sampled=None if sample is test else len(sample.positive),
        cv_n_basis=cv_n_basis,
        cv_auc=cv_auc,
    )


def _cross_validated(classifier) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the mean AUC over the folds by size, for the other settings that were chosen."""
    results = getattr(classifier, "cv_results_", None)
    if results is None:
        return (), ()
    best = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in classifier.best_params_.items()
    }
    others = ("C", "gamma", "linear_term", "refine", "rotate", "scaling")
    settings = zip(
        results["param_n_basis"],
        results["mean_test_score"],
        *(results[f"param_{name}"] for name in others),
        strict=True,
    )
    wanted = tuple(best[name] for name in others)
    by_size = sorted(
        (int(n), float(auc)) for n, auc, *values in settings if tuple(values) == wanted
    )
    return tuple(n for n, _ in by_size), tuple(auc for _, auc in by_size)


def feature_scales(unwrapped: UnwrappedModel) -> FeatureScales | Missing:
    """Rank the features by the scales that refinement has learnt."""
    classifier = unwrapped.classifier
    if classifier is None:
        return SEVERAL
    if not hasattr(classifier, "length_scales_"):
        return Missing(f"{type(classifier).__name__} learns no length scales.")
    if np.all(classifier.length_scales_ == 1):
        return _no_scales(classifier)
    relevance = classifier.feature_relevance_
    names = unwrapped.feature_names()
    order = np.argsort(-relevance, kind="stable")[:_MOST_FEATURES]
    return FeatureScales(
        names=tuple(names[i] for i in order),
        relevance=tuple(float(f"{relevance[i]:.5g}") for i in order),
        n_features=len(names),
    )


def _no_scales(classifier) -> Missing:
    """Say why there are none, and how features count without them."""
    counts = "Every feature counts as it was scaled before the fit."
    if classifier.scaling_ is not None and classifier.scaling_.ranks is not None:
        counts = "Every feature counts the same: by the ranks of its values."
    if any(record.is_refined for record in classifier.path_):
        return Missing(
            "Length scales were tried and not kept: without them the model was better on the rows "
            f"held out. {counts}"
        )
    return Missing(
        f"No length scales were learnt. {counts} Fit with refine=True to learn one for each "
        "feature."
    )
