"""What the parameters of a fit mean for some rows: kernels, sizes and stages.

`make_plan` resolves them into a `Plan`, which holds no engine and no state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from skauc.data.statistics import feature_statistics
from skauc.data.training import TrainingData
from skauc.feature_map import FeatureMap, rotate, scale
from skauc.kernel_parameters import make_kernels, resolve_gammas
from skauc.kernels import Kernel
from skauc.losses.focus import Focus
from skauc.metrics.partial_area import check_part
from skauc.model import Model, PathRecord
from skauc.solvers.newton import Newton, halving_search, make_step, parabola_search
from skauc.sparse.finishing import FinishKept
from skauc.sparse.linear_term import KnownAxes, LinearTerm, linear_term
from skauc.sparse.parameters import Parameters
from skauc.sparse.sampling import (
    MOST_REFINED_ROWS,
    REFINED_ROWS,
    HeldOut,
    hold_out,
    hold_out_none,
)
from skauc.sparse.selection import n_from_pool
from skauc.sparse.sizes import refined_sizes, retraining_sizes
from skauc.sparse.stages import Finish, MoveTo, Pursue, Refine, SetC, Stage
from skauc.support import quiet_overflow

# How often the basis still doubles after C has been estimated.
LAST_DOUBLINGS = 2
# Rows on which centres are chosen without refinement: this many per centre, and at least these.
ROWS_PER_CENTRE = 100
LEAST_PURSUED_ROWS = 8_000
# Early stopping ends a fit of at least this size, if the validation AUC has not improved since the
# basis was this many times smaller.
LEAST_STOPPED = 16
GROWTH_NO_CHANGE = 4


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
        ends = [*self._sizes_between, parameters.n_basis]
        retrained = set().union(*(retraining_sizes(parameters.schedule, end) for end in ends))
        sizes = [0]
        while sizes[-1] < parameters.n_basis:
            missing = min(size for size in retrained if size > sizes[-1]) - sizes[-1]
            sizes.append(sizes[-1] + n_from_pool(missing, selection.n_candidates))
        return sizes[1:]

    @property
    def most_steps(self) -> int:
        """The largest number of steps that all refinements take together."""
        n_steps = self.parameters.refine
        return len(self._sizes_between) * -(-n_steps // 2) + n_steps

    @property
    def n_linear(self) -> int:
        """The number of columns of the linear term."""
        return 0 if self.linear is None else self.linear.n_columns

    def capacity(self, n_rows: int) -> int:
        """Return the largest number of columns that the fit needs."""
        parameters = self.parameters
        # A row that a refined centre has left can be chosen again.
        n_most = parameters.n_basis if parameters.refine else n_rows * len(self.kernels)
        return self.n_linear + min(parameters.n_basis, n_most)

    def hold_out(self, rows: TrainingData, random_state: np.random.RandomState) -> HeldOut:
        """Return which rows are held out, and the order that samples are drawn by."""
        parameters = self.parameters
        if parameters.early_stopping:
            held_out = hold_out(rows, parameters.validation_fraction, random_state)
        else:
            held_out = hold_out_none(rows, random_state)
        check_part(parameters.max_fpr, parameters.min_tpr, held_out.learning)
        return held_out

    def optimiser(self, capacity: int, focus: Focus) -> Newton:
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
    n_jobs: int | None = None,
) -> tuple[Plan, TrainingData]:
    """Return the plan for these rows, and the rows as the kernel sees them.

    ``scaled`` is the map of ``parameters.scaling`` if it is known already. ``known_axes`` holds the
    axes that were found for these rows with other parameters. New axes are added.
    """
    if scaled is None:
        feature_map, rows = scale(parameters.scaling, rows, n_jobs)
    else:
        transform = partial(scaled.transform_in_fit, n_jobs=n_jobs)
        feature_map, rows = scaled, rows.transformed(transform)
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
