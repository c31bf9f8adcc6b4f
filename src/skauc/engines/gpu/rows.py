"""Rows on a device, stored as a dense or a sparse matrix. `take` always returns dense rows."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from skauc.kernels import Rows


def put(values: np.ndarray, device: str, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Copy an array from the host to the device."""
    return torch.tensor(np.ascontiguousarray(values), dtype=dtype, device=device)


def put_rows(X: Rows, device: str) -> DenseRows | SparseRows:
    """Copy rows from the host to the device."""
    return SparseRows(X, device) if sparse.issparse(X) else DenseRows(X, device)


class DenseRows:
    """Rows stored as a dense matrix."""

    def __init__(self, X: np.ndarray, device: str):
        self._matrix = put(X, device)

    def take(self, rows: slice | torch.Tensor) -> torch.Tensor:
        """Return the selected rows."""
        return self._matrix[rows]


class SparseRows:
    """Rows stored in the CSR format: the values that are not zero, and their columns."""

    def __init__(self, X: sparse.csr_array, device: str):
        self._values, self._columns = put(X.data, device), put(X.indices, device)
        self._ends = put(X.indptr, device, torch.int64)
        self._n_rows, self._n_features = X.shape

    def take(self, rows: slice | torch.Tensor) -> torch.Tensor:
        """Return the selected rows as a dense matrix."""
        if isinstance(rows, slice):
            rows = torch.arange(*rows.indices(self._n_rows), device=self._ends.device)
        counts = self._ends[rows + 1] - self._ends[rows]
        places = torch.arange(len(rows), device=rows.device).repeat_interleave(counts)
        # Per row: the position of its first entry in the matrix, minus the one in the selection.
        moves = self._ends[rows] - (counts.cumsum(0) - counts)
        entries = torch.arange(len(places), device=rows.device) + moves[places]
        dense = self._values.new_zeros((len(rows), self._n_features))
        dense[places, self._columns[entries]] = self._values[entries]
        return dense
