"""The seam between algorithms and the machine that holds the rows.

Arrays of the length of the data stay behind it, inside of opaque `State` and `Line` handles. What
crosses it are scalars and float64 NumPy arrays of the size of the basis.

An engine keeps the columns Phi of an orthonormal basis, f = Phi w. It knows kernels and pairs. It
knows nothing of regularisation, Newton steps or selection.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from sklearn.utils.random import sample_without_replacement

from skauc.data.sampling import Counts, balanced_counts
from skauc.data.training import TrainingData
from skauc.engines.blocks.base import Line, NewColumns, Product
from skauc.engines.few_rows import FewRows
from skauc.engines.passes.base import Pass
from skauc.engines.passes.quality import Quality
from skauc.kernels import Rows, stack_rows

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
    The operations are `find`, `hold_out`, `append`, `line`, `step`, `ask`,
    `quality`, and a ``with`` statement that opens and closes it. `draw`, `direction` and `at` are
    made of them.

    Attributes
    ----------
    n_rows, n_features : int
        Shape of the data.
    class_counts : tuple of int
        The number of negative and of positive rows in the loss.
    positive_weight, negative_weight : float
        Weight of each class that counts in the loss.
    precision : float
        Relative rounding error of the columns.
    n_threads : int
        Number of threads of this process that passes run on.
    """

    n_rows: int
    class_counts: Counts
    n_features: int
    positive_weight: float
    negative_weight: float
    precision: float
    n_threads: int = 1

    @property
    def few_rows(self) -> FewRows | None:
        """The rows as arrays, for algorithms that are one compiled call on few rows.

        None if there are many rows, or if they are not here. If it is not None, lines are arrays,
        and states have ``scores``.
        """
        return None

    @abstractmethod
    def find(self, of_class: int, ranks: np.ndarray) -> tuple[np.ndarray, Rows]:
        """Return the numbers and the rows with these ranks among the rows of a class that count."""

    @abstractmethod
    def hold_out(self, chosen: Chosen | None) -> None:
        """Take rows out of the loss and keep them for validation. None puts all rows back.

        ``chosen`` returns a mask of the rows to hold out. It is called where the rows are.
        """

    @abstractmethod
    def append(self, columns: NewColumns) -> None:
        """Add columns after the ``columns.n_before`` that stay."""

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

    def draw(
        self, n_rows: int, taken: Iterable[int], random_state: np.random.RandomState
    ) -> tuple[np.ndarray, Rows]:
        """Draw rows that count and are not taken, half of each class if there are enough.

        Return their row numbers and the rows, negative rows first. If there are at most
        ``n_rows`` such rows, all of them are returned.
        """
        numbers, rows, taken = [], [], set(taken)
        # The rows taken may all be of one class.
        n_drawn = n_rows + 2 * len(taken)
        for of_class, count in enumerate(balanced_counts(self.class_counts, n_drawn)):
            ranks = np.sort(_draw_ranks(self.class_counts[of_class], count, random_state))
            found, part = self.find(of_class, ranks)
            if len(taken):
                free = [place for place, row in enumerate(found.tolist()) if row not in taken]
                found, part = found[free], part[free]
            numbers.append(found)
            rows.append(part)
        keep = balanced_counts((len(numbers[0]), len(numbers[1])), n_rows)
        chosen = [
            np.sort(sample_without_replacement(len(found), count, random_state=random_state))
            for found, count in zip(numbers, keep, strict=True)
        ]
        parts = [part[one] for part, one in zip(rows, chosen, strict=True)]
        drawn = np.concatenate([n[one] for n, one in zip(numbers, chosen, strict=True)])
        return drawn, stack_rows(parts)

    def direction(self, weights: np.ndarray) -> Any:
        """Return the line Phi w."""
        return self.line(Product(weights))

    def at(self, weights: np.ndarray) -> OwnState:
        """Return the state of the scores Phi w."""
        return self.step(None, self.line(Product(weights)), 1.0)


def _draw_ranks(n_all: int, n_drawn: int, random_state: np.random.RandomState) -> np.ndarray:
    """Draw different numbers below ``n_all``; all of them if they are no more."""
    if n_drawn >= n_all:
        return np.arange(n_all)
    return sample_without_replacement(n_all, n_drawn, random_state=random_state)
