"""A block of rows on a device of torch.

Arrays of the length of the block are tensors on the device. Sums over rows of float32 columns are
taken in float64, segment by segment. Sums by cells are sums of integers, or of rows in the order of
their cells. No sum depends on the order in which threads of the device reach it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import torch

from skauc.data.training import TrainingData
from skauc.engines.blocks.base import Block
from skauc.engines.gpu.kernels import TensorColumns, make_columns
from skauc.engines.gpu.rows import put, put_rows
from skauc.engines.gpu.sums import transposed_product
from skauc.engines.passes.base import Sums, alone
from skauc.engines.policy import SizePolicy
from skauc.kernels import Kernel, Rows
from skauc.support import cached_property, row_slices, rows_per_block


class GPUBlock(Block):
    """Rows are copied to the device; columns are kept row by row beside them."""

    kind = "gpu"

    def __init__(
        self, data: TrainingData, *weightings: np.ndarray, device: str, policy: SizePolicy
    ):
        self.X, self.device, self.policy = put_rows(data.X, device), device, policy
        self.n_rows, self.n_features = data.X.shape
        self.host_positive = data.positive
        self.positive = put(data.positive, device)
        self.columns = None
        self.weigh(*weightings)

    def with_columns(self, columns: torch.Tensor | None) -> GPUBlock:
        other = copy.copy(self)
        other.columns, other.known_sums = columns, None
        return other

    def no_columns(self, capacity: int, dtype: np.dtype) -> torch.Tensor:
        size = self.n_rows, capacity
        return torch.empty(size, dtype=getattr(torch, np.dtype(dtype).name), device=self.device)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(str(self.columns.dtype).removeprefix("torch."))

    @cached_property
    def signs(self) -> torch.Tensor:
        """1 for a negative row, -1 for a positive one."""
        return 1.0 - 2.0 * self.positive

    def weigh(self, *weightings: np.ndarray) -> None:
        self.host_weights, self.weightings = weightings[0], weightings
        self.weights = self.put(weightings[0])
        # The last state for which columns were added up by cell, and these sums.
        self.known_sums: tuple[Any, torch.Tensor] | None = None

    def fetch(self, answer):
        if isinstance(answer, torch.Tensor):
            return answer.cpu().numpy()
        if is_dataclass(answer) and not isinstance(answer, type):
            parts = {field.name: getattr(answer, field.name) for field in fields(answer)}
            return replace(answer, **{name: self.fetch(part) for name, part in parts.items()})
        return answer

    def put(self, values: np.ndarray) -> torch.Tensor:
        """Return numbers of the host on the device, in float64."""
        return put(values, self.device, torch.float64)

    def rounded(self, values: torch.Tensor) -> torch.Tensor:
        """Return numbers in the type of the columns."""
        return values.to(self.columns.dtype)

    def parts(self, n_rows: int, width: int) -> Iterator[slice]:
        """Cut rows of ``width`` numbers each into parts."""
        return row_slices(n_rows, rows_per_block(width, self.policy.gpu_part_numbers, 1))

    def kernel_columns(self, kernel: Kernel, centres: Rows) -> TensorColumns:
        """Return the function that maps rows on the device to the block k(row, centre)."""
        return make_columns(kernel, centres, self.dtype, self.device)

    # -- columns and lines -------------------------------------------------------------------

    def column(self, kernel: Kernel, centre: Rows) -> torch.Tensor:
        out = self.weights.new_empty(self.n_rows)
        columns = self.kernel_columns(kernel, centre)
        for rows in self.parts(self.n_rows, 2 * self.n_features + 2):
            out[rows] = columns(self.X.take(rows))[:, 0]
        return out

    def set_column(self, column: torch.Tensor, projection: np.ndarray, norm: float) -> None:
        self._forget_sums(len(projection))
        explained = self.direction(projection)
        self.columns[:, len(projection)] = explained.neg_().add_(column).div_(norm)

    def set_linear(self, first: int, origin: np.ndarray, scale: float) -> None:
        self._forget_sums(first)
        last, start = first + self.n_features, self.put(origin)
        for rows in self.parts(self.n_rows, 2 * self.n_features):
            self.columns[rows, first:last] = (self.X.take(rows) - start).mul_(scale)

    def set_expansion(
        self, first: int, kernel: Kernel, centres: Rows, transform: np.ndarray
    ) -> None:
        self._forget_sums(first)
        last = first + transform.shape[1]
        columns, factors = self.kernel_columns(kernel, centres), self.put(transform)
        for rows in self.parts(self.n_rows, self.n_features + 2 * transform.shape[1]):
            values = columns(self.X.take(rows))
            self.columns[rows, first:last] = values @ factors.to(values.dtype)

    def _forget_sums(self, first: int) -> None:
        """Forget the sums by cell of the columns from ``first`` on."""
        if self.known_sums is not None:
            self.known_sums = self.known_sums[0], self.known_sums[1][:, :first]

    def direction(self, weights: np.ndarray) -> torch.Tensor:
        out, factors = self.weights.new_empty(self.n_rows), self.rounded(self.put(weights))
        for rows in self.parts(self.n_rows, len(weights)):
            out[rows] = self.columns[rows, : len(weights)] @ factors
        return out

    def transposed_products(self, values: torch.Tensor, n_columns: int) -> Iterator[Sums]:
        total, values = self.weights.new_zeros((n_columns, 1)), self.rounded(values)
        for rows in self.parts(self.n_rows, n_columns):
            columns = self.columns[rows, :n_columns]
            total += transposed_product(columns, values[rows, None], self.policy.gpu_segment_rows)
        return alone(self.fetch(total[:, 0]))
