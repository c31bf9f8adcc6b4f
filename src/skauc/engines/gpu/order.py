"""Rows in the order of their class and cell, so that sums by cell are products of matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from skauc.support import row_slices


@dataclass(frozen=True, eq=False)
class Order:
    """Indices of rows in ascending order of their keys, and where the rows of each key end."""

    rows: torch.Tensor
    keys: torch.Tensor
    ends: np.ndarray
    part_numbers: int

    @property
    def n_partnered(self) -> int:
        """The number of rows with a violating partner; they come first."""
        return int(self.ends[-1])

    @property
    def partnerless(self) -> torch.Tensor:
        """The rows without a violating partner."""
        return self.rows[self.n_partnered :]

    def parts(self, width: int) -> Iterator[RowRange]:
        """Cut the rows with partners into parts of ``width`` numbers per row."""
        n_rows = self.n_partnered
        # A part of m rows has about m / n_rows of the keys, and one number per row and key.
        most = math.isqrt(self.part_numbers * n_rows // len(self.ends))
        part_rows = max(min(self.part_numbers // max(width, 1), most or n_rows), 1)
        for rows in row_slices(n_rows, part_rows):
            first = int(np.searchsorted(self.ends, rows.start, side="right"))
            last = int(np.searchsorted(self.ends, rows.stop, side="left"))
            yield RowRange(self.rows[rows], self.keys[rows], slice(first, last + 1))


@dataclass(frozen=True, eq=False)
class RowRange:
    """Some rows in the order of their keys, and the range of these keys."""

    rows: torch.Tensor
    keys: torch.Tensor
    span: slice

    def members(self, weights: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Return a matrix with the weight of each row in the column of its key."""
        shape = len(self.rows), self.span.stop - self.span.start
        columns = self.keys.long() - self.span.start
        own = weights[self.rows, None].to(dtype)
        return weights.new_zeros(shape, dtype=dtype).scatter_(1, columns[:, None], own)
