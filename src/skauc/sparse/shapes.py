"""The shape of a basis, and the variables by which refinement changes it.

| variable    | of               | meaning                                                  |
| ----------- | ---------------- | -------------------------------------------------------- |
| centres     | round centres    | position, in units of the width of the kernel            |
| log scales  | all round ones   | one scale per feature, shared by all round centres       |
| deviations  | round centres    | log of the own scales relative to the shared, in units   |
| directions  | ridges           | row of the metric, relative to its length at the start   |
| shifts      | ridges           | displacement along the direction, in units of the width  |

Centres that share their scales have no deviations. A direction keeps its zeros: a ridge goes on
using the features that it was chosen with. The penalty of refinement pulls log
scales and deviations to zero and the others to where they start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.engines.passes import Ridges
from skauc.kernels import RBF, Kernel, as_rbf
from skauc.shaped_rbf import ShapedRBF
from skauc.sparse.basis import RIDGE, Basis
from skauc.support import quiet_overflow

# Bounds of log scales and deviations. Beyond them exp overflows or underflows.
SCALE_BOUNDS = (-5.0, 3.0)
# The unit of deviations. The smaller it is, the more a deviation costs.
DEVIATION_UNIT = 0.5
# Centres are rounded to decimals of this part of the width of the kernel. The coefficients are
# solved for afterwards, so the objective changes by the square of it.
_ROUNDING = 1e-4


@dataclass(frozen=True, eq=False)
class Shape:
    """What refinement changes: the centres, the shared scales, and the metric.

    ``metric`` is None if all centres share their scales.
    """

    centres: np.ndarray
    scales: np.ndarray
    metric: np.ndarray | None = None

    def rounded(self, gamma: float) -> Shape:
        """Return the shape with centres of a few decimals, in single precision if that has them.

        More digits of a refined centre mean nothing, and files and exported code are smaller
        without them. ``gamma`` is that of the narrowest kernel.
        """
        metric = self.metric
        steepest = np.sqrt(gamma) * self.scales if metric is None else np.abs(metric).max(axis=0)
        with quiet_overflow(), np.errstate(divide="ignore"):
            grain = _ROUNDING / steepest
            decimals = np.clip(np.ceil(-np.log10(grain)), -300, 300).astype(int)
            rounded = np.empty(self.centres.shape)
            for places in set(decimals.tolist()):
                columns = np.flatnonzero(decimals == places)
                rounded[:, columns] = np.round(self.centres[:, columns], places)
            single = rounded.astype(np.float32).astype(np.float64)
        if metric is not None:
            # Scales that are too small or too large for single precision stay as they are.
            with quiet_overflow():
                shorter = metric.astype(np.float32).astype(np.float64)
            metric = np.where((shorter == 0) | np.isinf(shorter), metric, shorter)
        for centres in (single, rounded):
            if np.all(np.abs(centres - self.centres) <= grain):
                return Shape(centres, self.scales, metric)
        return self


@dataclass(frozen=True, eq=False)
class ShapeDerivatives:
    """Derivatives by the centres, by the metric and by the shifts of ridges.

    ``by_metric`` are derivatives by the logarithm of the metric for round centres, and by the
    metric itself for ridges, whose ``by_centre`` means nothing. Where all centres share their
    scales, it has one row, the sum over the centres.
    """

    by_centre: np.ndarray
    by_metric: np.ndarray
    by_shift: np.ndarray


class ShapeVariables:
    """The variables of a basis that starts with some shape."""

    def __init__(self, basis: Basis, start: Shape):
        widths = np.asarray(basis.widths)
        self.is_ridge = widths == RIDGE
        gammas = basis.gammas(widths)
        self._gamma = gammas if len(basis.kernels) > 1 else as_rbf(basis.kernels[0]).gamma
        self._roots = np.sqrt(gammas[~self.is_ridge])[:, None]
        # Centres are in units of the width of the kernel.
        self._unit = 1.0 / (self._roots * start.scales)
        self._has_deviations = start.metric is not None
        ridges = self.metric(start)[self.is_ridge]
        self._lengths = np.linalg.norm(ridges, axis=1, keepdims=True)
        self._support = ridges != 0
        self._points = start.centres[self.is_ridge]
        self._ends = np.cumsum(self._sizes).tolist()

    def metric(self, shape: Shape) -> np.ndarray:
        """Return one row of the metric per centre."""
        if shape.metric is not None:
            return shape.metric
        return self._roots * shape.scales

    def centred(self, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of the round centres, or of all, and the centres relative to it."""
        round_ones = np.flatnonzero(~self.is_ridge)
        origin = shape.centres[round_ones if len(round_ones) else slice(None)].mean(axis=0)
        return origin, shape.centres - origin

    def ridges(self, metric: np.ndarray, centres: np.ndarray) -> Ridges:
        """Return which of the centres are ridges, and their directions and offsets."""
        places = np.flatnonzero(self.is_ridge)
        directions = metric[places]
        return Ridges(places, directions, np.einsum("kj,kj->k", directions, centres[places]))

    def kernel(self, shape: Shape) -> Kernel:
        """Return the kernel of all centres."""
        if shape.metric is not None:
            return ShapedRBF(shape.metric, self.is_ridge)
        return RBF(self._gamma, shape.scales)

    def pack(self, shape: Shape) -> np.ndarray:
        """Return a shape as one vector."""
        metric, is_ridge = self.metric(shape), self.is_ridge
        deviations = np.log(metric[~is_ridge] / (self._roots * shape.scales))
        along = metric[is_ridge] * (shape.centres[is_ridge] - self._points)
        parts = (
            shape.centres[~is_ridge] / self._unit,
            np.log(shape.scales),
            deviations / DEVIATION_UNIT if self._has_deviations else np.zeros(0),
            metric[is_ridge] / self._lengths,
            along.sum(axis=1),
        )
        return np.concatenate([part.ravel() for part in parts])

    def unpack(self, theta: np.ndarray) -> Shape:
        """Return a vector as a shape."""
        centres, logs, deviations, directions, shifts = self._split(theta)
        scales = np.exp(logs.clip(*SCALE_BOUNDS))
        if not self._has_deviations:
            return Shape(centres * self._unit, scales)
        directions = directions * self._lengths
        own = self._roots * scales * np.exp((DEVIATION_UNIT * deviations).clip(*SCALE_BOUNDS))
        return Shape(
            self._merge(centres * self._unit, self._points + self._moves(directions, shifts)),
            scales,
            self._merge(own, directions),
        )

    def gradient(self, theta: np.ndarray, derivatives: ShapeDerivatives) -> np.ndarray:
        """Return the derivatives by the vector."""
        _, logs, deviations, directions, shifts = self._split(theta)
        by_log = derivatives.by_metric
        if self._has_deviations:
            by_log = by_log[~self.is_ridge]
        parts = [
            derivatives.by_centre[~self.is_ridge] * self._unit,
            by_log.sum(axis=0) * within_bounds(logs),
            self._by_deviation(by_log, deviations),
        ]
        if len(shifts):
            parts += self._by_ridge(derivatives, directions, shifts)
        return np.concatenate([part.ravel() for part in parts])

    def _by_ridge(
        self, derivatives: ShapeDerivatives, directions: np.ndarray, shifts: np.ndarray
    ) -> list[np.ndarray]:
        """Return the derivatives by the directions and the shifts of ridges."""
        by_shift = derivatives.by_shift[:, None]
        # A ridge that turns moves its point, too: the shift stays as it is.
        moves = self._moves(directions * self._lengths, shifts)
        by_direction = derivatives.by_metric[self.is_ridge] - by_shift * moves
        return [by_direction * self._lengths * self._support, by_shift]

    def rest(self, start: Shape) -> np.ndarray:
        """Return the vector that the penalty pulls to."""
        centres, logs, deviations, directions, shifts = self._split(self.pack(start))
        parts = (centres, 0 * logs, 0 * deviations, directions, shifts)
        return np.concatenate([part.ravel() for part in parts])

    def _by_deviation(self, by_log: np.ndarray, deviations: np.ndarray) -> np.ndarray:
        if not self._has_deviations:
            return np.zeros(0)
        return DEVIATION_UNIT * by_log * within_bounds(DEVIATION_UNIT * deviations)

    @property
    def _sizes(self) -> list[int]:
        (n_round, n_features), n_ridges = self._unit.shape, len(self._points)
        n_deviations = n_round * n_features if self._has_deviations else 0
        return [n_round * n_features, n_features, n_deviations, n_ridges * n_features, n_ridges]

    def _split(self, theta: np.ndarray) -> list[np.ndarray]:
        """Return the parts of a vector, each with the shape that it has in the table above."""
        shape, ends = (-1, self._unit.shape[1]), self._ends
        return [
            theta[: ends[0]].reshape(shape),
            theta[ends[0] : ends[1]],
            theta[ends[1] : ends[2]].reshape(shape),
            theta[ends[2] : ends[3]].reshape(shape),
            theta[ends[3] :],
        ]

    @staticmethod
    def _moves(directions: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        """Return the displacements of ridges along their directions."""
        return directions * (shifts / np.square(directions).sum(axis=1))[:, None]

    def _merge(self, of_round: np.ndarray, of_ridges: np.ndarray) -> np.ndarray:
        """Return rows of round centres and of ridges in the order of the basis."""
        rows = np.empty((len(self.is_ridge), of_round.shape[1]))
        rows[~self.is_ridge], rows[self.is_ridge] = of_round, of_ridges
        return rows


def within_bounds(logs: np.ndarray) -> np.ndarray:
    """Tell which logarithms are between their bounds. Beyond, scales change no more."""
    return (logs > SCALE_BOUNDS[0]) & (logs < SCALE_BOUNDS[1])
