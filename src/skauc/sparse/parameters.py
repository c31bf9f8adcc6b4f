"""The parameters of a fit: the numbers and names that decide which model is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from skauc.data.sampling import class_weights
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidParameterError
from skauc.feature_map import check_scaling
from skauc.kernel_parameters import check_kernel_parameters
from skauc.losses.focus import Focus, make_focus
from skauc.metrics.partial_area import check_corner
from skauc.solvers.newton import SOLVERS
from skauc.sparse.loss_weight import FIRST_C
from skauc.sparse.ridges import RIDGES
from skauc.sparse.selection import SELECTIONS
from skauc.sparse.sizes import SCHEDULES
from skauc.validation import (
    check_boolean,
    check_boolean_or_auto,
    check_choice,
    check_fraction,
    check_integer,
    check_positive,
    check_refine,
    is_auto,
)

SHAPES = ("round", "local", "ridge", "additive")

# Steps of the last refinement if `refine` is True: more where each centre has its own scales.
DEFAULT_STEPS = 10
SHAPED_STEPS = 20
# Rows of the rarer class, or their weights, from which on scaling="auto" takes features as they are
# (docs/results/development_fits.md).
ENOUGH_UNSCALED = 1_000


@dataclass(frozen=True)
class Selection:
    """How centres are chosen, and how often and how coefficients are optimised.

    Parameters
    ----------
    rule : {"orthogonal", "greedy", "exact", "exhaustive", "random", "kmeans"}, \
            default="orthogonal"
        How the next centre is chosen among the candidates. "orthogonal": by the gain of one Newton
        step over all coefficients, including the new one. "greedy": by the gain of one Newton step
        along the new column (the paper's Method 2). "exact": by the minimum along the new column.
        "exhaustive": by optimising all coefficients for each candidate (the paper's Method 1).
        "random": at random. "kmeans": k-means landmarks are the candidates instead of rows.
    n_candidates : int, default=100
        Number of rows drawn as candidates at a time (the paper's kappa). All rows are candidates
        if there are no more than that.
    retrain : {"auto", "doubling", "geometric", "always"}, default="auto"
        At which sizes all coefficients are optimised: 4, 8, 16 and so on ("doubling"),
        floor(2^(j/4)) as in the paper ("geometric"), or every size. They are always optimised at
        the first and at the last size. "auto" is "geometric" for ``shapes="ridge"``, where each
        new pool has other directions, and "doubling" otherwise.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        How the Newton system is solved. "auto" is "cholesky" up to a thousand columns and "cg",
        conjugate gradients, above.
    max_iter : int, default=100
        Maximum number of Newton iterations per optimisation.
    n_rows : int, None or "auto", default="auto"
        Number of rows on which centres are chosen and refined, half of each class if possible.
        "auto" is 4,000 if there are more than 8,000 rows, or without refinement 100 per centre and
        at least 8,000. None is all rows. The coefficients are fitted to all rows.

    Examples
    --------
    >>> from skauc import Selection, SparseKernelAUC
    >>> model = SparseKernelAUC(selection=Selection("greedy", n_candidates=50))
    >>> model.selection.retrain
    'auto'
    """

    rule: str = "orthogonal"
    n_candidates: int = 100
    retrain: str = "auto"
    solver: str = "auto"
    max_iter: int = 100
    n_rows: int | str | None = "auto"

    def check(self) -> None:
        """Raise an error for an invalid value."""
        check_choice("selection", self.rule, SELECTIONS)
        check_integer("n_candidates", self.n_candidates, 1, "100 is a good choice.")
        check_choice("retrain", self.retrain, ("auto", *SCHEDULES))
        check_choice("solver", self.solver, SOLVERS)
        check_integer("max_iter", self.max_iter, 1, "100 is a good choice.")
        if self.n_rows is not None and self.n_rows != "auto":
            check_integer("n_rows", self.n_rows, 2, 'Use None for all rows, or "auto".')


def as_selection(selection: str | Selection) -> Selection:
    """Return the parameter ``selection`` as a `Selection`, of which a name is the rule."""
    return selection if isinstance(selection, Selection) else Selection(selection)


@dataclass(frozen=True)
class Parameters:
    """The parameters of `SparseKernelAUC` that decide which model is found.

    ``refine`` is a number of steps, 0 for no refinement. What scaling="auto" means is not known
    before `for_rows`.
    """

    n_basis: int = 64
    C: float | str = 1.0
    kernel: str | Callable = "rbf"
    gamma: str | float | Sequence[float] = "scale"
    degree: int = 3
    coef0: float = 1.0
    linear_term: bool = False
    scaling: str | None = None
    rotate: bool = False
    shapes: str = "round"
    selection: Selection = Selection()
    refine: int = 0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    tol: float = 1e-4
    max_fpr: float | None = None
    min_tpr: float | None = None

    @property
    def focus(self) -> Focus:
        """The part of the pairs that counts."""
        return make_focus(self.max_fpr, self.min_tpr)

    @classmethod
    def of(cls, estimator: Any) -> Parameters:
        """Return the checked parameters of a `SparseKernelAUC`."""
        own = {field.name: getattr(estimator, field.name) for field in fields(cls)}
        check_kernel_parameters(estimator.kernel, estimator.gamma, own["degree"], own["coef0"])
        own["selection"] = as_selection(estimator.selection)
        own["refine"] = n_steps(estimator.refine, estimator.kernel, estimator.shapes)
        check_boolean_or_auto("linear_term", estimator.linear_term)
        if isinstance(estimator.linear_term, str):
            own["linear_term"] = is_rbf(estimator.kernel)
        parameters = cls(**own)
        parameters.check()
        return parameters

    def check(self) -> None:
        """Raise an error for an invalid value."""
        check_integer("n_basis", self.n_basis, 1, "Set `n_basis` to the size of model you want.")
        if not is_auto(self.C):
            check_positive(
                "C", self.C, "Larger values fit pairs more closely; 'auto' estimates it."
            )
        check_scaling(self.scaling)
        for name in ("rotate", "early_stopping"):
            check_boolean(name, getattr(self, name))
        self.selection.check()
        self._check_shapes()
        check_fraction(
            "validation_fraction", self.validation_fraction, "0.1 holds out a tenth of the rows."
        )
        check_positive("tol", self.tol, "1e-4 is a good choice.")
        check_corner(self.max_fpr, self.min_tpr)

    def _check_shapes(self) -> None:
        check_choice("shapes", self.shapes, SHAPES)
        if self.shapes != "round" and not is_rbf(self.kernel):
            raise InvalidParameterError(
                f"shapes={self.shapes!r} needs kernel='rbf'; got kernel={self.kernel!r}. Use "
                "'rbf' or shapes='round'."
            )
        if self.shapes in RIDGES and self.selection.rule != "orthogonal":
            raise InvalidParameterError(
                f"shapes={self.shapes!r} needs the selection rule 'orthogonal'; got "
                f"{self.selection.rule!r}. Use 'orthogonal' or shapes='round'."
            )

    def for_rows(self, rows: TrainingData) -> Parameters:
        """Return the parameters for these rows: the size, and what scaling="auto" means.

        A row is a centre once per width. If all rows are candidates, this limit does not depend on
        them: repeating a row must be the same as a larger weight.
        """
        n_most = np.size(self.gamma) * max(rows.n_rows, self.selection.n_candidates)
        scaling = self._usual_scaling(rows) if is_auto(self.scaling) else self.scaling
        return replace(self, n_basis=min(self.n_basis, n_most), scaling=scaling)

    def _usual_scaling(self, rows: TrainingData) -> str | None:
        """Return "normal" for few rows of the rarer class, unless distances are given a meaning."""
        has_free_width = is_rbf(self.kernel) and isinstance(self.gamma, str)
        are_few = not rows.is_sparse and min(class_weights(rows)) < ENOUGH_UNSCALED
        return "normal" if has_free_width and are_few else None

    @property
    def estimates_loss_weight(self) -> bool:
        """Whether C is estimated during the fit: if it is "auto", and the basis is refined."""
        return isinstance(self.C, str) and self.refine > 0

    @property
    def first_loss_weight(self) -> float:
        """The C that a fit starts with."""
        return FIRST_C if isinstance(self.C, str) else float(self.C)

    @property
    def schedule(self) -> str:
        """The name of the sizes at which all coefficients are optimised."""
        if self.selection.retrain != "auto":
            return self.selection.retrain
        return "geometric" if self.shapes == "ridge" else "doubling"

    @property
    def is_shaped(self) -> bool:
        """Whether centres have a metric each."""
        return self.shapes in RIDGES or (self.shapes == "local" and self.refine > 0)


def n_steps(refine: str | bool | int, kernel: str | Callable, shapes: str) -> int:
    """Return the number of steps of the last refinement, 0 for none.

    "auto" refines RBF kernels, the only ones that can be refined, but no additive models.
    """
    check_refine(refine)
    if isinstance(refine, str):
        refine = is_rbf(kernel) and shapes != "additive"
    if refine and not is_rbf(kernel):
        raise InvalidParameterError(
            "`refine` moves centres along the gradient of the kernel, which is implemented for "
            f"kernel='rbf' only; got kernel={kernel!r}. Use 'rbf' or refine=False."
        )
    if not isinstance(refine, bool | np.bool_) or not refine:
        return int(refine)
    return DEFAULT_STEPS if shapes == "round" else SHAPED_STEPS


def is_rbf(kernel: str | Callable) -> bool:
    """Tell whether a kernel is "rbf"."""
    return isinstance(kernel, str) and kernel == "rbf"
