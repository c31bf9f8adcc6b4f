"""Kernel matrices of many rows on the CPU or a GPU: products, and scores of other rows.

On a GPU the whole matrix of an RBF kernel is stored in float64: 50,000 rows take 20 GB, and a
product takes as long as reading them.
"""

from __future__ import annotations

import numpy as np

from skauc.engines import gpu_engine
from skauc.engines.expansion import evaluate_expansion
from skauc.engines.gram_matrix import GramMatrix
from skauc.kernels import RBF, Kernel

_BLOCK_ROWS = 4096


class CPUGramMatrix(GramMatrix):
    """The kernel matrix of some rows, used in a ``with`` statement."""

    def __init__(self, kernel: Kernel, rows: np.ndarray, *, cache_size: float):
        super().__init__(kernel, rows, cache_size=cache_size)
        self._expansion = kernel, rows

    def scores(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Return the scores of other rows, one column per column of coefficients."""
        kernel, centres = self._expansion
        return evaluate_expansion(kernel, centres, coef, rows)


class TorchGramMatrix:
    """The RBF kernel matrix of some rows on a torch device, used in a ``with`` statement."""

    def __init__(self, kernel: RBF, rows: np.ndarray, *, device: str):
        import torch

        self._torch = torch
        self._gamma, self._device = float(kernel.gamma), device
        self._rows = self._moved(rows)
        self._matrix = None

    def __enter__(self) -> TorchGramMatrix:
        n_rows = len(self._rows)
        self._matrix = self._rows.new_empty((n_rows, n_rows))
        for start, block in self._blocks(self._rows):
            self._matrix[start : start + len(block)] = block
        return self

    def __exit__(self, *exception) -> None:
        self._matrix = None
        if self._torch.cuda.is_available():
            self._torch.cuda.empty_cache()

    def product(self, vector: np.ndarray) -> np.ndarray:
        """Return the kernel matrix times a vector."""
        return (self._matrix @ self._moved(vector)).cpu().numpy()

    def scores(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Return the scores of other rows, one column per column of coefficients."""
        coef = self._moved(coef)
        parts = [block @ coef for _, block in self._blocks(self._moved(rows))]
        return self._torch.cat(parts).cpu().numpy()

    def _moved(self, values: np.ndarray):
        """Return the values on the device, in float64."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        return self._torch.from_numpy(values).to(self._device)

    def _blocks(self, rows):
        """Yield the first row of each block and the kernel values of its rows."""
        for start in range(0, len(rows), _BLOCK_ROWS):
            distances = self._torch.cdist(rows[start : start + _BLOCK_ROWS], self._rows)
            yield start, distances.square_().mul_(-self._gamma).exp_()


def check_device(device: str) -> None:
    """Raise an error if the device cannot hold kernel matrices."""
    if device != "cpu":
        gpu_engine().check_device("`device`", device)
