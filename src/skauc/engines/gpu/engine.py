"""The GPU engine: one block of rows on a device."""

from __future__ import annotations

import torch

from skauc.engines.block import column_dtype
from skauc.engines.gpu.block import DeviceBlock
from skauc.engines.gpu.devices import multiply_precisely
from skauc.engines.local import LocalEngine
from skauc.engines.threads import RowThreads
from skauc.validation import TrainingData


class GPUEngine(LocalEngine):
    """Rows are copied to the device that the data name; columns are kept row by row beside them."""

    def __init__(self, data: TrainingData, *, capacity: int, n_whole: int | None = None):
        dtype = column_dtype(data.n_rows if n_whole is None else n_whole)
        rows = DeviceBlock(data, data.weights, data.device)
        # What is done here is small: many threads of the processor would wait for each other.
        self._threads = RowThreads(1)
        super().__init__(data, rows.with_columns(rows.no_columns(capacity, dtype)))

    def __enter__(self) -> GPUEngine:
        self._threads.__enter__()
        self._precision_before = multiply_precisely()
        return self

    def __exit__(self, *exception) -> None:
        torch.set_float32_matmul_precision(self._precision_before)
        self._threads.__exit__(*exception)
