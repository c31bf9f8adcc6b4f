"""The seam between algorithms and the machine that holds the rows.

Arrays of the length of the data stay behind it, inside of opaque `State` and `Line` handles. What
crosses it are scalars and float64 NumPy arrays of the size of the basis.

An engine keeps the columns Phi of an orthonormal basis, f = Phi w. It knows kernels and pairs. It
knows nothing of regularisation, Newton steps or selection.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from sklearn.utils.random import sample_without_replacement

from skauc.data.training import TrainingData
from skauc.engines.blocks.base import Line, NewColumns, Product
from skauc.engines.passes.base import Pass
from skauc.engines.passes.quality import Quality
from skauc.kernels import Kernel, Rows

Chosen = Callable[[TrainingData], np.ndarray]


class State(Protocol):
    """Scores of all rows, with the pairs that they violate."""

    @property
    def loss(self) -> float:
        """The sum of squared hinges over all pairs."""


# The states of one engine.
OwnState = TypeVar("OwnState", bound=State)


class Engine(ABC, Generic[OwnState]):
    """Rows, labels, weights and the columns of the basis, on some device.

    Rows may be held out: they are scored with the others and count only in the validation AUC.
    The operations are `draw`, `rows`, `hold_out`, `append`, `replace`, `line`, `step`, `ask`,
    `quality`, and a ``with`` statement that opens and closes it. `direction` and `at` are short
    for some of them.

    Attributes
    ----------
    n_rows, n_features : int
        Shape of the data.
    n_counting : int
        The number of rows in the loss.
    positive_weight, negative_weight : float
        Total weight of each class in the loss.
    precision : float
        Relative rounding error of the columns.
    screens : bool
        Whether `ScreenedGains` is much faster than `CandidateGains`.
    """

    n_rows: int
    n_counting: int
    n_features: int
    positive_weight: float
    negative_weight: float
    precision: float

    @property
    def screens(self) -> bool:
        """False unless an engine says otherwise."""
        return False

    @abstractmethod
    def draw(
        self, n_rows: int, taken: Sequence[int], random_state: np.random.RandomState
    ) -> tuple[np.ndarray, Rows]:
        """Draw rows that count and are not taken; return their indices, ascending, and the rows.

        If there are at most ``n_rows`` such rows, all of them are returned.
        """

    @abstractmethod
    def rows(self, indices: np.ndarray) -> Rows:
        """Return a few rows as they were given."""

    @abstractmethod
    def hold_out(self, chosen: Chosen | None) -> None:
        """Take rows out of the loss and keep them for validation. None puts all rows back.

        ``chosen`` returns a mask of the rows to hold out. It is called where the rows are.
        """

    @abstractmethod
    def append(self, columns: NewColumns) -> None:
        """Add columns after the ``columns.n_before`` that stay."""

    @abstractmethod
    def replace(self, kernel: Kernel, centres: Rows, transform: np.ndarray, n_kept: int) -> None:
        """Keep the first ``n_kept`` columns, the linear ones; set the others to K_.Z transform."""

    @abstractmethod
    def line(self, line: Line) -> Any:
        """Return a line in the form in which `step` and passes are fastest."""

    @abstractmethod
    def step(self, state: OwnState | None, line: Any, length: float) -> OwnState:
        """Return the state of the scores moved along a line; they are zero if ``state`` is None."""

    @abstractmethod
    def ask(self, question: Pass, *states: OwnState) -> Any:
        """Run a pass over the rows and return its answer. See `skauc.engines.passes`."""

    @abstractmethod
    def quality(self, state: OwnState) -> Quality:
        """Return AUC, validation AUC and threshold of the scores."""

    @abstractmethod
    def __enter__(self) -> Engine:
        """Take the threads or devices that the work needs."""

    @abstractmethod
    def __exit__(self, *exception: Any) -> None:
        """Release them."""

    def draw_ranks(self, n_drawn: int, random_state: np.random.RandomState) -> np.ndarray:
        """Draw positions among the rows that count; all of them if they are no more."""
        if n_drawn >= self.n_counting:
            return np.arange(self.n_counting)
        return sample_without_replacement(self.n_counting, n_drawn, random_state=random_state)

    def direction(self, weights: np.ndarray) -> Any:
        """Return the line Phi w."""
        return self.line(Product(weights))

    def at(self, weights: np.ndarray) -> OwnState:
        """Return the state of the scores Phi w."""
        return self.step(None, self.line(Product(weights)), 1.0)
