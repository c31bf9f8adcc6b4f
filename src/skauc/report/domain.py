"""Test rows that are far from every centre of the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.engines.expansion import evaluate_expansion
from skauc.kernels import RBF, Laplacian
from skauc.metrics import auc
from skauc.model import Model, without_ridges
from skauc.report.missing import ONLY_RIDGES, Missing
from skauc.report.rows import LabelledRows
from skauc.shaped_rbf import ShapedRBF
from skauc.unwrapping import UnwrappedModel

_MOST_ROWS = 20_000
# A row is far if it is less similar to its nearest centre than all but this share of the training
# rows, or than this if the training rows are not known.
TRAINING_SHARE = 0.005
LEAST_SIMILARITY = 1e-3
_N_LISTED = 8


@dataclass(frozen=True)
class FarRows:
    """Rows far from every centre.

    Attributes
    ----------
    n_rows, n_far : int
        Number of test rows that were looked at, and of those that are far.
    limit : float
        Rows whose similarity to the nearest centre is below this number are far.
    is_from_training : bool
        Whether the limit comes from the training rows.
    auc : float or None
        The AUC of the far rows, if they have both classes.
    rows : tuple of tuple of int and float
        Number and similarity of the farthest rows.
    """

    n_rows: int
    n_far: int
    limit: float
    is_from_training: bool
    auc: float | None
    rows: tuple[tuple[int, float], ...]


def far_rows(
    unwrapped: UnwrappedModel, train: LabelledRows | None, test: LabelledRows, scores: np.ndarray
) -> FarRows | Missing:
    """Find the test rows whose kernel value at the nearest centre is small."""
    model = unwrapped.model
    if (
        model is None
        or not isinstance(model.kernel, RBF | Laplacian | ShapedRBF)
        or not len(model.coef)
    ):
        return Missing("Distances need a model with RBF or Laplacian centres.")
    model = without_ridges(model)
    if not len(model.coef):
        return ONLY_RIDGES
    numbers = np.arange(min(len(test), _MOST_ROWS))
    similarity = _nearest(unwrapped, model, test.take(numbers))
    limit = LEAST_SIMILARITY
    if train is not None:
        known = _nearest(unwrapped, model, train.random_sample(_MOST_ROWS // 4))
        limit = float(np.quantile(known, TRAINING_SHARE))
    far = np.flatnonzero(similarity < limit)
    is_positive = test.positive[far]
    both = is_positive.any() and not is_positive.all()
    listed = far[np.argsort(similarity[far], kind="stable")[:_N_LISTED]]
    return FarRows(
        n_rows=len(numbers),
        n_far=len(far),
        limit=limit,
        is_from_training=train is not None,
        auc=auc(is_positive, scores[far]) if both else None,
        rows=tuple((test.number(row), float(similarity[row])) for row in listed),
    )


def _nearest(unwrapped: UnwrappedModel, model: Model, rows: LabelledRows) -> np.ndarray:
    """Return the kernel value of each row at its nearest centre."""
    seen = unwrapped.scaled(rows.X)
    values = evaluate_expansion(model.kernel, model.centres, np.eye(len(model.coef)), seen)
    return values.max(axis=1)
