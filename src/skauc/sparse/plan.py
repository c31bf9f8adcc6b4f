"""What the parameters of a fit mean for some rows: kernels, sizes and stages.

`Parameters` are the numbers and names that decide which model is found. `make_plan` resolves them
for some rows into a `Plan`. A plan holds no engine and no state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from skauc.data.statistics import feature_statistics, rounded
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidParameterError
from skauc.feature_map import FeatureMap, check_scaling, rotate, scale
from skauc.kernels import Kernel, check_kernel_parameters, make_kernels, resolve_gammas
from skauc.model import Model, PathRecord
from skauc.solvers.newton import SOLVERS, make_step, minimise
from skauc.sparse.sampling import HeldOut, hold_out, hold_out_none
from skauc.sparse.selection import SELECTIONS
from skauc.sparse.stages import Finish, MoveTo, Pursue, Refine, Stage
from skauc.support import quiet_overflow
from skauc.validation import (
    check_boolean,
    check_choice,
    check_fraction,
    check_integer,
    check_positive,
    check_refine,
)

# Smallest basis that is refined before it grows further.
FIRST_REFINED = 4
# Retrainings without a better validation AUC after which early stopping ends a fit.
N_ITER_NO_CHANGE = 5


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
        Number of rows drawn as candidates for each centre (the paper's kappa). All rows are
        candidates if there are no more than that.
    retrain : {"geometric", "doubling", "always"}, default="geometric"
        At which sizes all coefficients are optimised: floor(2^(j/4)), 2^j, or every size. They
        are always optimised at the last size.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        How the Newton system is solved. "auto" is "cholesky" up to a thousand columns and "cg",
        conjugate gradients, above.
    max_iter : int, default=100
        Maximum number of Newton iterations per optimisation.

    Examples
    --------
    >>> from skauc import Selection, SparseKernelAUC
    >>> model = SparseKernelAUC(selection=Selection("greedy", n_candidates=50))
    >>> model.selection.retrain
    'geometric'
    """

    rule: str = "orthogonal"
    n_candidates: int = 100
    retrain: str = "geometric"
    solver: str = "auto"
    max_iter: int = 100

    def check(self) -> None:
        """Raise an error for an invalid value."""
        check_choice("selection", self.rule, SELECTIONS)
        check_integer("n_candidates", self.n_candidates, 1, "100 is a good choice.")
        check_choice("retrain", self.retrain, SCHEDULES)
        check_choice("solver", self.solver, SOLVERS)
        check_integer("max_iter", self.max_iter, 1, "100 is a good choice.")


def as_selection(selection: str | Selection) -> Selection:
    """Return the parameter ``selection`` as a `Selection`, of which a name is the rule."""
    return selection if isinstance(selection, Selection) else Selection(selection)


@dataclass(frozen=True)
class Parameters:
    """The parameters of `SparseKernelAUC` that decide which model is found."""

    n_basis: int = 64
    C: float = 1.0
    kernel: str | Callable = "rbf"
    gamma: str | float | Sequence[float] = "scale"
    degree: int = 3
    coef0: float = 1.0
    linear_term: bool = False
    scaling: str | None = None
    rotate: bool = False
    selection: Selection = Selection()
    refine: bool | int = False
    early_stopping: bool = False
    validation_fraction: float = 0.1
    tol: float = 1e-4

    @classmethod
    def of(cls, estimator: Any) -> Parameters:
        """Return the checked parameters of a `SparseKernelAUC`."""
        own = {field.name: getattr(estimator, field.name) for field in fields(cls)}
        parameters = cls(**{**own, "selection": as_selection(estimator.selection)})
        parameters.check()
        return parameters

    def check(self) -> None:
        """Raise an error for an invalid value."""
        check_integer("n_basis", self.n_basis, 1, "Set `n_basis` to the size of model you want.")
        check_positive("C", self.C, "Larger values fit the training pairs more closely.")
        check_kernel_parameters(self.kernel, self.gamma, self.degree, self.coef0)
        check_scaling(self.scaling)
        for name in ("linear_term", "rotate", "early_stopping"):
            check_boolean(name, getattr(self, name))
        check_refine(self.refine)
        if self.refine and self.kernel != "rbf":
            raise InvalidParameterError(
                "`refine` moves centres along the gradient of the kernel, which is implemented "
                f"for kernel='rbf' only; got kernel={self.kernel!r}. Use 'rbf' or refine=False."
            )
        self.selection.check()
        check_fraction(
            "validation_fraction", self.validation_fraction, "0.1 holds out a tenth of the rows."
        )
        check_positive("tol", self.tol, "1e-4 is a good choice.")

    @property
    def is_validated(self) -> bool:
        """Whether rows are held out for validation."""
        return bool(self.early_stopping) or self.refines_by_validation

    @property
    def refines_by_validation(self) -> bool:
        """Whether validation rows end the refinement, instead of a number of steps."""
        return isinstance(self.refine, bool | np.bool_) and bool(self.refine)


@dataclass(frozen=True, eq=False)
class LinearTerm:
    """The columns of the linear part, scale * (x - origin), of about unit length together."""

    origin: np.ndarray
    scale: float

    @classmethod
    def of(cls, data: TrainingData) -> LinearTerm:
        """Return the linear term for these rows."""
        mean, variance = feature_statistics(data)
        total = variance.sum()
        total = float(rounded(total, total))
        # The loss ignores a constant, so the origin may be rounded, also of constant features.
        origin = rounded(mean, np.maximum(np.sqrt(variance), np.abs(mean)))
        return cls(origin, 1.0 / np.sqrt(total) if total > 0 else 1.0)


@dataclass(frozen=True)
class Steps:
    """Number of L-BFGS steps of each refinement.

    ``between`` is used between pursuits and ``at_the_end`` after the last one. If the rows are a
    sample, ``before_hard_rows`` and then ``on_hard_rows`` take the place of ``at_the_end``.
    """

    between: int
    at_the_end: int
    before_hard_rows: int
    on_hard_rows: int

    @classmethod
    def counted(cls, n_steps: int) -> Steps:
        """Return the steps for a number of steps that the user gives."""
        return cls(-(-n_steps // 2), n_steps, n_steps, n_steps)


# Maximum number of steps where validation rows end a descent.
VALIDATED_STEPS = Steps(between=20, at_the_end=120, before_hard_rows=60, on_hard_rows=80)


@dataclass(frozen=True, eq=False)
class Plan:
    """Parameters with everything that they imply for some rows.

    ``mean`` and ``spread`` are the means and standard deviations of the features, after scaling
    and before rotation.
    """

    parameters: Parameters
    kernels: Sequence[Kernel]
    linear: LinearTerm | None
    feature_map: FeatureMap | None
    mean: np.ndarray
    spread: np.ndarray

    def stages(self, held_out: HeldOut | None) -> tuple[Stage, ...]:
        """Return the stages of the fit, in order.

        Without refinement there is a single pursuit. With it, pursuit and refinement alternate,
        doubling the size. If refinement works on a sample, a descent on hard rows follows. The
        coefficients are fitted to all rows at the end.
        """
        parameters = self.parameters
        sizes = partial(retraining_sizes, parameters.selection.retrain)
        if held_out is None or not parameters.refine:
            return (Pursue(sizes(parameters.n_basis)),)
        steps = self._steps()
        *between, last = refined_sizes(parameters.n_basis)
        growth: list[Stage] = []
        for size in between:
            growth += [Pursue(sizes(size)), Refine(steps.between, grows=True)]
        growth.append(Pursue(sizes(last)))
        if held_out.samples_all:
            return *growth, Refine(steps.at_the_end), Finish()
        return (
            *growth,
            Refine(steps.before_hard_rows),
            MoveTo("hard"),
            Refine(steps.on_hard_rows),
            MoveTo("all"),
            Finish(),
        )

    @property
    def most_steps(self) -> int:
        """The largest number of steps that all refinements take together."""
        if not self.parameters.refine:
            return 0
        steps = self._steps()
        n_between = len(refined_sizes(self.parameters.n_basis)) - 1
        at_the_end = max(steps.at_the_end, steps.before_hard_rows + steps.on_hard_rows)
        return n_between * steps.between + at_the_end

    def _steps(self) -> Steps:
        if self.parameters.refines_by_validation:
            return VALIDATED_STEPS
        return Steps.counted(int(self.parameters.refine))

    def capacity(self, n_rows: int) -> int:
        """Return the largest number of columns that the fit needs."""
        parameters = self.parameters
        n_linear = 0 if self.linear is None else len(self.linear.origin)
        # A row that a refined centre has left can be chosen again.
        n_most = parameters.n_basis if parameters.refine else n_rows * len(self.kernels)
        return n_linear + min(parameters.n_basis, n_most)

    def hold_out(self, rows: TrainingData, random_state: np.random.RandomState) -> HeldOut | None:
        """Return which rows are held out; None if no rows are held out or sampled."""
        if self.parameters.is_validated:
            return hold_out(rows, self.parameters.validation_fraction, random_state)
        return hold_out_none(rows, random_state) if self.parameters.refine else None

    def optimiser(self, capacity: int) -> Callable[..., Any]:
        """Return ``minimise(objective, weights)`` with the solver of the parameters."""
        selection = self.parameters.selection
        step = make_step(selection.solver, capacity)
        return partial(minimise, step=step, tol=self.parameters.tol, max_iter=selection.max_iter)

    def has_converged(self, records: Sequence[PathRecord]) -> bool:
        """Tell whether early stopping ends the pursuit after these retrainings."""
        if not self.parameters.early_stopping or len(records) <= N_ITER_NO_CHANGE:
            return False
        scores = [record.validation_auc or 0.0 for record in records]
        before, after = scores[:-N_ITER_NO_CHANGE], scores[-N_ITER_NO_CHANGE:]
        return max(after) <= max(before) + self.parameters.tol

    def best_size(self, records: Sequence[PathRecord], models: dict[int, Model]) -> int:
        """Return the size to keep: with early stopping the smallest that validates best."""
        scores = {
            record.n_basis: record.validation_auc
            for record in records
            if record.validation_auc is not None
        }
        if not self.parameters.early_stopping or not scores:
            return max(models)
        least = max(scores.values()) - self.parameters.tol
        return next(size for size, auc in scores.items() if auc >= least)


@quiet_overflow()
def make_plan(parameters: Parameters, rows: TrainingData) -> tuple[Plan, TrainingData]:
    """Return the plan for these rows, and the rows as the kernel sees them."""
    feature_map, rows = scale(parameters.scaling, rows)
    mean, variance = feature_statistics(rows)
    # A rotation must not change the widths, so they are resolved before it.
    gammas = resolve_gammas(parameters.gamma, parameters.kernel, rows)
    if parameters.rotate:
        feature_map, rows = rotate(feature_map, rows)
    plan = Plan(
        parameters=parameters,
        kernels=make_kernels(
            parameters.kernel, gammas=gammas, degree=parameters.degree, coef0=parameters.coef0
        ),
        linear=LinearTerm.of(rows) if parameters.linear_term else None,
        feature_map=feature_map,
        mean=mean,
        spread=np.sqrt(variance),
    )
    return plan, rows


def _geometric() -> Iterator[int]:
    """floor(2^(j/4)) in integer arithmetic: the fourth root of 2^j is a root of a root."""
    return (math.isqrt(math.isqrt(2**j)) for j in count())


SCHEDULES: dict[str, Callable[[], Iterator[int]]] = {
    "geometric": _geometric,
    "doubling": lambda: (2**j for j in count()),
    "always": lambda: count(1),
}


def retraining_sizes(retrain: str, n_basis: int) -> frozenset[int]:
    """Return the sizes at which all coefficients are optimised; they include ``n_basis``."""
    check_choice("retrain", retrain, SCHEDULES)
    sizes = {n_basis}
    for size in SCHEDULES[retrain]():
        if size > n_basis:
            break
        sizes.add(size)
    return frozenset(sizes)


def refined_sizes(n_basis: int) -> list[int]:
    """Return the sizes at which the basis is refined: n_basis, its half and so on, from 4 on."""
    sizes = [n_basis]
    while sizes[0] >= 2 * FIRST_REFINED:
        sizes.insert(0, -(-sizes[0] // 2))
    return sizes
