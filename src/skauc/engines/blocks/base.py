"""What every block of rows offers to engines and passes.

A block knows its rows and computes columns and lines for them. What is summed over rows is a pass
(`skauc.engines.passes`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skauc.engines.few_rows import FewRows
from skauc.engines.passes.base import Sums
from skauc.engines.policy import SizePolicy
from skauc.kernels import Kernel, Rows


class Block(ABC):
    """Rows, which of them are positive, their weights, and their columns of the basis.

    Arrays are NumPy arrays in a CPU block and tensors in a GPU block.
    """

    # The name of the version of a pass that this kind of block runs.
    kind: ClassVar[str]
    X: Any
    positive: Any
    weights: Any
    columns: Any
    n_rows: int
    n_features: int
    policy: SizePolicy
    # Weights of the rows in the loss and, if rows are held out, those of the rows held out.
    weightings: tuple[np.ndarray, ...]

    @abstractmethod
    def with_columns(self, columns: Any) -> Block:
        """Return the same rows with other columns."""

    @abstractmethod
    def no_columns(self, capacity: int, dtype: np.dtype) -> Any:
        """Return room for columns."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """The type of the columns."""

    @abstractmethod
    def weigh(self, *weightings: np.ndarray) -> None:
        """Set the weights of the rows in the loss and, after them, of the rows held out."""

    @abstractmethod
    def fetch(self, answer: Any) -> Any:
        """Return an array, or a dataclass of arrays, as NumPy arrays."""

    @abstractmethod
    def column(self, kernel: Kernel, centre: Rows) -> Any:
        """Return k(., centre)."""

    @abstractmethod
    def set_linear(self, origin: np.ndarray, scale: float, axes: np.ndarray | None) -> None:
        """Set the first columns to scale * (x - origin) axes; no axes are one per feature."""

    @abstractmethod
    def set_columns(
        self, kernel: Kernel, centres: Rows, projection: np.ndarray, transform: np.ndarray
    ) -> None:
        """Set the columns after those of the projection to (K_.Z - Phi projection) transform."""

    @abstractmethod
    def direction(self, weights: np.ndarray) -> Any:
        """Return Phi w."""

    @abstractmethod
    def transposed_products(self, values: Any, n_columns: int) -> Iterator[Sums]:
        """Yield sums whose total is Phi^T values over the first ``n_columns`` columns."""

    def few_rows(self) -> FewRows | None:
        """Return the rows as arrays if they are few, dense, and not on a device; else None."""
        return None

    def values(self, line: Any) -> Any:
        """Return a line as one number per row."""
        return line.values(self) if isinstance(line, Line) else line


class Line(ABC):
    """A direction in score space, described by little, for any block."""

    @abstractmethod
    def values(self, block: Block) -> Any:
        """Return one number per row of a block."""


@dataclass(frozen=True, eq=False)
class Product(Line):
    """The line Phi w."""

    weights: np.ndarray

    def values(self, block: Block) -> Any:
        """Multiply the columns by the weights."""
        return block.direction(self.weights)


@dataclass(frozen=True, eq=False)
class KernelColumn(Line):
    """The line k(., centre)."""

    kernel: Kernel
    centre: Rows

    def values(self, block: Block) -> Any:
        """Evaluate the kernel."""
        return block.column(self.kernel, self.centre)


class NewColumns(ABC):
    """Columns to add to those that a block has."""

    @property
    @abstractmethod
    def n_before(self) -> int:
        """The number of columns that stay; the new ones come after them."""

    @abstractmethod
    def count(self, n_features: int) -> int:
        """Return how many columns are added."""

    @abstractmethod
    def write(self, block: Block) -> None:
        """Compute the columns of a block that has room for them."""


@dataclass(frozen=True, eq=False)
class OrthonormalColumns(NewColumns):
    """The columns (K_.Z - Phi projection) transform, after those of the projection."""

    kernel: Kernel
    centres: Rows
    projection: np.ndarray
    transform: np.ndarray

    @property
    def n_before(self) -> int:
        """The columns of the projection stay."""
        return len(self.projection)

    def count(self, n_features: int) -> int:
        """Return one column per centre."""
        return self.projection.shape[1]

    def write(self, block: Block) -> None:
        """Evaluate the kernel and subtract what the other columns explain."""
        block.set_columns(self.kernel, self.centres, self.projection, self.transform)


@dataclass(frozen=True, eq=False)
class LinearColumns(NewColumns):
    """The columns scale * (x - origin) axes, or one per feature. They are the first columns."""

    origin: np.ndarray
    scale: float
    axes: np.ndarray | None = None
    n_before = 0

    def count(self, n_features: int) -> int:
        """Return the number of axes, or of features."""
        return n_features if self.axes is None else self.axes.shape[1]

    def write(self, block: Block) -> None:
        """Shift, scale and project the features."""
        block.set_linear(self.origin, self.scale, self.axes)
