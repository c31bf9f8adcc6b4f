"""Validate training data for the GPU engine."""

from __future__ import annotations

from dataclasses import replace

from skauc.data.training import TrainingData, check_training
from skauc.engines.gpu.devices import find_device
from skauc.engines.gpu.kernels import check_kernel
from skauc.validation import is_tensor


def read_for_gpu(estimator, X, y, sample_weight) -> TrainingData:
    """Validate the arguments of ``fit`` and choose the GPU: that of a tensor, if ``X`` is one."""
    check_kernel(getattr(estimator, "kernel", None))
    device = str(X.device) if is_tensor(X) and X.is_cuda else find_device()
    return replace(check_training(estimator, X, y, sample_weight), device=device)
