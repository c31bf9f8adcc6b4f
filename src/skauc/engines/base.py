"""The seam: what an algorithm may ask of the machine that holds the rows.

Arrays as long as the data stay behind it, inside opaque `State` and `Line` handles. What crosses
is scalars and float64 NumPy arrays as small as the basis.

An engine keeps the columns Phi of an orthonormal basis, f = Phi w. It knows kernels and pairs; it
knows nothing of regularisation, Newton steps or selection.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.utils.random import sample_without_replacement

from skauc.data.training import TrainingData
from skauc.kernels import Kernel, Rows

Chosen = Callable[[TrainingData], np.ndarray]


class State(Protocol):
    """Scores of all rows, with the pairs that they violate."""

    loss: float


class Line(Protocol):
    """A direction in score space: one number a row."""


@dataclass(frozen=True)
class CandidateSlopes:
    """First and second derivatives of half the loss along candidates' columns."""

    slopes: np.ndarray
    curvatures: np.ndarray
    cross: np.ndarray


@dataclass(frozen=True)
class KernelMoments:
    """With M_ik = r_i k(x_i, z_k) coef_k and x measured from ``origin``: sums over the rows.

    ``first[k]`` is the sum of M_ik x_i, ``total[k]`` of M_ik, ``second`` the sum of M_ik x_i^2
    over all rows and centres.
    """

    origin: np.ndarray
    first: np.ndarray
    total: np.ndarray
    second: np.ndarray


@dataclass(frozen=True)
class Quality:
    """How well the scores of a state rank.

    Parameters
    ----------
    train_auc : float
        AUC of the rows that are in the loss.
    validation_auc : float or None
        AUC of the rows held out; None if no rows are held out.
    threshold : float
        Scores above it are predicted positive. It maximises the balanced accuracy of the rows
        that are in the loss.
    """

    train_auc: float
    validation_auc: float | None
    threshold: float


class Engine(ABC):
    """Rows, labels, weights and the columns of the basis, on some device.

    Rows may be held out: they are scored with the others and count only in the validation AUC.
    """

    screens = False
    n_rows: int
    n_counting: int
    n_features: int
    size: int
    positive_weight: float
    negative_weight: float

    @property
    @abstractmethod
    def precision(self) -> float:
        """Relative rounding error of the columns."""

    def draw(self, n_rows: int, taken, random_state) -> tuple[np.ndarray, Rows]:
        """Draw rows that count and are not taken; return their indices, ascending, and the rows.

        If there are at most ``n_rows`` such rows, all of them are returned.
        """
        n_drawn = n_rows + len(taken)
        if n_drawn >= self.n_counting:
            places = np.arange(self.n_counting)
        else:
            places = sample_without_replacement(self.n_counting, n_drawn, random_state=random_state)
        indices = self.find(places)
        indices = np.sort(indices[~np.isin(indices, taken)][:n_rows])
        return indices, self.rows(indices)

    @abstractmethod
    def find(self, places: np.ndarray) -> np.ndarray:
        """Return the numbers of the rows in these places among those that count."""

    @abstractmethod
    def hold_out(self, chosen: Chosen | None) -> None:
        """Take rows out of the loss and keep them for validation; None: no rows.

        ``chosen`` tells, of some rows, which are to be held out; it is called where they are.
        """

    @abstractmethod
    def rows(self, indices: np.ndarray) -> Rows:
        """Return a few rows as they were given."""

    @abstractmethod
    def append(self, kernel: Kernel, centre: Rows, projection: np.ndarray, norm: float) -> Line:
        """Add the column (k(., centre) - Phi projection) / norm; return k(., centre)."""

    @abstractmethod
    def append_linear(self, origin: np.ndarray, scale: float) -> None:
        """Add one column for each feature: scale * (x - origin)."""

    @abstractmethod
    def replace(self, kernel: Kernel, centres: Rows, transform: np.ndarray, n_kept: int) -> None:
        """Keep the linear columns, the first ``n_kept``, and make the others K_.Z transform."""

    @abstractmethod
    def kernel_moments(
        self, state: State, origin: np.ndarray, factor: np.ndarray, coef: np.ndarray
    ) -> KernelMoments:
        """Return what the derivatives of half the loss by centres and scales are made of.

        The last columns are K_.Z L^-T with the given factor L, so that no kernel is evaluated.
        """

    @abstractmethod
    def resize(self, size: int) -> None:
        """Work with the first ``size`` of the columns that were added."""

    @abstractmethod
    def column(self, kernel: Kernel, centre: Rows) -> Line:
        """Return k(., centre)."""

    @abstractmethod
    def at(self, weights: np.ndarray) -> State:
        """Return the state of the scores Phi w."""

    @abstractmethod
    def direction(self, weights: np.ndarray) -> Line:
        """Return Phi w as a direction."""

    @abstractmethod
    def step(self, state: State, line: Line, length: float) -> State:
        """Return the state of the scores moved along the line."""

    @abstractmethod
    def gradient(self, state: State) -> np.ndarray:
        """Return half the gradient of the loss with respect to w: Phi^T r."""

    @abstractmethod
    def hessian(self, state: State) -> np.ndarray:
        """Return half the Hessian of the loss with respect to w."""

    @abstractmethod
    def hessian_product(self, state: State, weights: np.ndarray) -> np.ndarray:
        """Return that Hessian times a vector, without forming it."""

    @abstractmethod
    def candidate_slopes(
        self, state: State, curved: State, kernel: Kernel, centres: Rows, n_columns: int
    ) -> CandidateSlopes:
        """Return half the slopes and curvatures of the loss along k(., z), for each z.

        Slopes are those of ``state``, curvatures those of the pairs that violate in ``curved``;
        the cross terms are with the first ``n_columns`` columns of the basis.
        """

    def screening_slopes(
        self, state: State, curved: State, kernel: Kernel, centres: Rows, n_columns: int
    ) -> CandidateSlopes:
        """Return about the same as `candidate_slopes`, from a sample of many rows.

        An engine that has such a sample says so in ``screens``.
        """
        return self.candidate_slopes(state, curved, kernel, centres, n_columns)

    @abstractmethod
    def line_slopes(self, state: State, line: Line) -> tuple[float, float]:
        """Return half the slope and half the curvature of the loss along a line."""

    @abstractmethod
    def quality(self, state: State) -> Quality:
        """Return AUC, validation AUC and threshold of the scores."""

    @abstractmethod
    def __enter__(self) -> Engine:
        """Take the threads or devices that the work needs."""

    @abstractmethod
    def __exit__(self, *exception) -> None:
        """Give them back."""
