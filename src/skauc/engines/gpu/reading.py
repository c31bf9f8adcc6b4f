"""The door in for rows that an engine is to take to a GPU."""

from __future__ import annotations

from dataclasses import replace

from skauc.data.training import TrainingData, check_training
from skauc.engines.gpu.devices import find_device
from skauc.engines.gpu.kernels import check_kernel
from skauc.validation import is_tensor


def read_training(estimator, X, y, sample_weight=None) -> TrainingData:
    """Validate what was passed to ``fit``; a tensor on a GPU decides on which to work."""
    check_kernel(getattr(estimator, "kernel", None))
    device = str(X.device) if is_tensor(X) and X.is_cuda else find_device()
    return replace(check_training(estimator, X, y, sample_weight), device=device)
