"""The GPU engine: one block of rows on a device."""

from __future__ import annotations

import torch

from skauc.data.training import TrainingData
from skauc.engines.block import column_dtype
from skauc.engines.gpu.block import DeviceBlock
from skauc.engines.gpu.devices import multiply_precisely
from skauc.engines.local import LocalEngine
from skauc.engines.threads import RowThreads
from skauc.exceptions import InvalidParameterError


class GPUEngine(LocalEngine):
    """Rows are copied to the device that the data name; columns are kept row by row beside them."""

    def __init__(self, data: TrainingData, *, capacity: int, n_whole: int | None = None):
        dtype = column_dtype(data.n_rows if n_whole is None else n_whole)
        # What is done here is small: many threads of the processor would wait for each other.
        self._threads = RowThreads(1)
        super().__init__(data, _put_block(data, capacity, dtype))

    def __enter__(self) -> GPUEngine:
        self._threads.__enter__()
        self._precision_before = multiply_precisely()
        return self

    def __exit__(self, *exception) -> None:
        torch.set_float32_matmul_precision(self._precision_before)
        self._threads.__exit__(*exception)


def _put_block(data: TrainingData, capacity: int, dtype) -> DeviceBlock:
    try:
        rows = DeviceBlock(data, data.weights, data.device)
        return rows.with_columns(rows.no_columns(capacity, dtype))
    except RuntimeError as error:
        gigabytes = data.n_rows * capacity * dtype.itemsize / 1e9
        raise InvalidParameterError(
            f"{data.device} cannot hold {data.n_rows} rows and {capacity} columns of the basis, "
            f"{gigabytes:.1f} GB ({str(error).splitlines()[0]}). Use a smaller `n_basis`, "
            "engine='cpu', or engine='cluster' with several GPUs."
        ) from error
