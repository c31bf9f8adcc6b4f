"""What the parameters of a fit mean for some rows: kernels, sizes and stages.

`Parameters` are the numbers and names that decide which model is found. `make_plan` resolves them
for some rows into a `Plan`. A plan holds no engine and no state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from skauc.data.statistics import feature_statistics
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidParameterError
from skauc.feature_map import FeatureMap, check_scaling, rotate, scale
from skauc.kernels import Kernel, check_kernel_parameters, make_kernels, resolve_gammas
from skauc.losses.focus import WHOLE, Focus, make_focus
from skauc.metrics.partial_area import check_corner, check_part
from skauc.model import Model, PathRecord
from skauc.solvers.newton import (
    SOLVERS,
    Newton,
    halving_search,
    make_step,
    parabola_search,
)
from skauc.sparse.finishing import FinishKept
from skauc.sparse.linear_term import KnownAxes, LinearTerm, linear_term
from skauc.sparse.loss_weight import FIRST_C
from skauc.sparse.ridges import RIDGES
from skauc.sparse.sampling import (
    MOST_REFINED_ROWS,
    REFINED_ROWS,
    HeldOut,
    hold_out,
    hold_out_none,
)
from skauc.sparse.selection import SELECTIONS, n_from_pool
from skauc.sparse.stages import Finish, MoveTo, Pursue, Refine, SetC, Stage
from skauc.support import quiet_overflow
from skauc.validation import (
    check_boolean,
    check_boolean_or_auto,
    check_choice,
    check_fraction,
    check_integer,
    check_positive,
    check_refine,
)

SHAPES = ("round", "local", "ridge", "additive")

# Smallest basis that is refined before it grows further.
FIRST_REFINED = 8
# Steps of the last refinement if `refine` is True: more where each centre has its own scales.
DEFAULT_STEPS = 10
SHAPED_STEPS = 20
# How often the basis still doubles after C has been estimated.
LAST_DOUBLINGS = 2
# Rows on which centres are chosen without refinement: this many per centre, and at least these.
ROWS_PER_CENTRE = 100
LEAST_PURSUED_ROWS = 8_000
# Early stopping ends a fit of at least this size, if the validation AUC has not improved since the
# basis was this many times smaller.
LEAST_STOPPED = 16
GROWTH_NO_CHANGE = 4


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

    ``refine`` is a number of steps, 0 for no refinement.
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
        if not (isinstance(self.C, str) and self.C == "auto"):
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

    def limited_to(self, n_rows: int) -> Parameters:
        """Return the parameters for so many rows, each of which is a centre once per width.

        If all rows are candidates, the limit does not depend on them: repeating a row must be the
        same as a larger weight.
        """
        n_widths = np.size(self.gamma)
        n_most = n_widths * max(n_rows, self.selection.n_candidates)
        return replace(self, n_basis=min(self.n_basis, n_most))

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


def n_steps(refine: str | bool | int, kernel: str | Callable, shapes: str = "round") -> int:
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

    def stages(self, held_out: HeldOut) -> tuple[Stage, ...]:
        """Return the stages of the fit, in order.

        Without refinement there is a single pursuit. With it, pursuit and refinement alternate,
        doubling the size. If there are many rows, each of these works on a sample: a new one of
        hard rows for each size. The coefficients are fitted to all rows at the end, for the part of
        the ROC curve that matters. C is estimated when a refined basis has a quarter of its size.
        If this was on a sample, and the whole curve matters, it is estimated once more, on all
        rows.
        """
        is_sampled = self.sample_rows(held_out) is not None
        return *self._growth(is_sampled), *self._end(is_sampled)

    def _growth(self, is_sampled: bool) -> Iterator[Stage]:
        """Yield the stages that choose and refine the centres."""
        parameters = self.parameters
        sizes = partial(retraining_sizes, parameters.schedule)
        with_C = self._sizes_between[-LAST_DOUBLINGS:] if parameters.estimates_loss_weight else []
        for size in self._sizes_between:
            yield Pursue(sizes(size))
            yield Refine(-(-parameters.refine // 2), grows=True)
            if [size] == with_C[:1]:
                yield SetC()
            if is_sampled:
                yield MoveTo("hard", size, grows=True)
        yield Pursue(sizes(parameters.n_basis))
        if parameters.refine:
            yield Refine(parameters.refine)

    def _end(self, is_sampled: bool) -> Iterator[Stage]:
        """Yield the stages that fit the last coefficients."""
        parameters, is_whole = self.parameters, self.parameters.focus.is_whole
        is_estimated = parameters.estimates_loss_weight and not self._sizes_between
        if is_estimated and not is_whole:
            yield SetC()
        if is_sampled or not is_whole:
            yield MoveTo("all", parameters.n_basis)
        elif not parameters.refine:
            return
        if is_whole and (is_estimated or (is_sampled and parameters.estimates_loss_weight)):
            yield SetC()
        yield Finish()
        if parameters.early_stopping:
            yield FinishKept()

    @property
    def _sizes_between(self) -> list[int]:
        """The sizes at which the basis is refined before its last."""
        return refined_sizes(self.parameters.n_basis)[:-1] if self.parameters.refine else []

    def sample_rows(self, held_out: HeldOut) -> int | None:
        """Return how many rows centres are chosen and refined on; None for all rows."""
        parameters, n_rows = self.parameters, sum(held_out.learning)
        size = parameters.selection.n_rows
        if size == "auto" and parameters.refine:
            return REFINED_ROWS if n_rows > MOST_REFINED_ROWS else None
        if size == "auto":
            size = max(LEAST_PURSUED_ROWS, ROWS_PER_CENTRE * parameters.n_basis)
        return None if size is None or n_rows <= int(size) else int(size)

    def grown_sizes(self) -> list[int]:
        """Return the sizes of a basis that grows to its end, in ascending order.

        "orthogonal" adds the centres up to the next retraining at once, or in a few parts, other
        rules one by one.
        """
        parameters, selection = self.parameters, self.parameters.selection
        if selection.rule != "orthogonal":
            return list(range(1, parameters.n_basis + 1))
        ends = refined_sizes(parameters.n_basis) if parameters.refine else [parameters.n_basis]
        retrained = set().union(*(retraining_sizes(parameters.schedule, end) for end in ends))
        sizes = [0]
        while sizes[-1] < parameters.n_basis:
            missing = min(size for size in retrained if size > sizes[-1]) - sizes[-1]
            sizes.append(sizes[-1] + n_from_pool(missing, selection.n_candidates))
        return sizes[1:]

    @property
    def most_steps(self) -> int:
        """The largest number of steps that all refinements take together."""
        if not self.parameters.refine:
            return 0
        n_steps = self.parameters.refine
        n_between = len(refined_sizes(self.parameters.n_basis)) - 1
        return n_between * -(-n_steps // 2) + n_steps

    def capacity(self, n_rows: int) -> int:
        """Return the largest number of columns that the fit needs."""
        parameters = self.parameters
        n_linear = 0 if self.linear is None else self.linear.n_columns
        # A row that a refined centre has left can be chosen again.
        n_most = parameters.n_basis if parameters.refine else n_rows * len(self.kernels)
        return n_linear + min(parameters.n_basis, n_most)

    def hold_out(self, rows: TrainingData, random_state: np.random.RandomState) -> HeldOut:
        """Return which rows are held out, and the order that samples are drawn by."""
        parameters = self.parameters
        if parameters.early_stopping:
            held_out = hold_out(rows, parameters.validation_fraction, random_state)
        else:
            held_out = hold_out_none(rows, random_state)
        check_part(parameters.max_fpr, parameters.min_tpr, held_out.learning)
        return held_out

    def optimiser(self, capacity: int, focus: Focus = WHOLE) -> Newton:
        """Return Newton's method with the solver of the parameters."""
        selection = self.parameters.selection
        # The Hessian is that for fixed shares of the rows, see `skauc.losses.focus`.
        search = halving_search if focus.is_whole else parabola_search
        return Newton(
            step=make_step(selection.solver, capacity),
            tol=self.parameters.tol,
            max_iter=selection.max_iter,
            search=search,
        )

    def has_converged(self, records: Sequence[PathRecord]) -> bool:
        """Tell whether early stopping ends the pursuit after these retrainings."""
        size = records[-1].n_basis if records else 0
        if not self.parameters.early_stopping or size < LEAST_STOPPED:
            return False
        before = [r.validation_auc for r in records if GROWTH_NO_CHANGE * r.n_basis <= size]
        best = max(record.validation_auc or 0.0 for record in records)
        return bool(before) and best <= max(auc or 0.0 for auc in before) + self.parameters.tol

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
def make_plan(
    parameters: Parameters,
    rows: TrainingData,
    scaled: FeatureMap | None = None,
    known_axes: KnownAxes | None = None,
) -> tuple[Plan, TrainingData]:
    """Return the plan for these rows, and the rows as the kernel sees them.

    ``scaled`` is the map of ``parameters.scaling`` if it is known already. ``known_axes`` holds the
    axes that were found for these rows with other parameters. New axes are added.
    """
    if scaled is None:
        feature_map, rows = scale(parameters.scaling, rows)
    else:
        feature_map, rows = scaled, rows.transformed(scaled.transform)
    mean, variance = feature_statistics(rows)
    # A rotation must not change the widths, so they are resolved before it.
    gammas = resolve_gammas(parameters.gamma, parameters.kernel, rows)
    if parameters.rotate:
        feature_map, rows = rotate(feature_map, rows)
    linear = None
    if parameters.linear_term:
        known_axes = {} if known_axes is None else known_axes
        linear = linear_term(rows, (parameters.scaling, parameters.rotate), known_axes)
    plan = Plan(
        parameters=parameters,
        kernels=make_kernels(
            parameters.kernel, gammas=gammas, degree=parameters.degree, coef0=parameters.coef0
        ),
        linear=linear,
        feature_map=feature_map,
        mean=mean,
        spread=np.sqrt(variance),
    )
    return plan, rows


SCHEDULES: dict[str, Callable[[], Iterator[int]]] = {
    "doubling": lambda: (2**j for j in count(2)),
    # The schedule of the paper, floor(2^(j/4)), in integer arithmetic.
    "geometric": lambda: (math.isqrt(math.isqrt(2**j)) for j in count()),
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
    """Return the sizes at which the basis is refined: n_basis, its half and so on, from 8 on."""
    sizes = [n_basis]
    while sizes[0] >= 2 * FIRST_REFINED:
        sizes.insert(0, -(-sizes[0] // 2))
    return sizes
