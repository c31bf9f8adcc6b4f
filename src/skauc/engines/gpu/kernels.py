"""The kernels of `skauc.kernels`, computed on a device."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import numpy as np
import torch

from skauc.engines.gpu.rows import put
from skauc.exceptions import InvalidParameterError
from skauc.kernels import (
    RBF,
    CentredRBF,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Rows,
    is_sparse,
)

TensorColumns = Callable[[torch.Tensor], torch.Tensor]

_NEEDS_NAME = (
    "engine='gpu' does not support a function as `kernel`. Use kernel='rbf', 'laplacian', "
    "'polynomial' or 'linear', or engine='cpu'."
)


def check_kernel(kernel) -> None:
    """Raise an error if the kernel is a function. Functions take NumPy arrays."""
    if callable(kernel):
        raise InvalidParameterError(_NEEDS_NAME)


def make_columns(kernel: Kernel, centres: Rows, dtype, device: str) -> TensorColumns:
    """Return a function that maps dense rows on the device to the matrix k(row, centre).

    As in `Kernel.columns`, the matrix has the given dtype where that is precise enough, and is
    float64 otherwise.
    """
    centres = centres.toarray() if is_sparse(centres) else centres
    return _columns(kernel, centres, np.dtype(dtype), device)


@singledispatch
def _columns(kernel: Kernel, centres: np.ndarray, dtype: np.dtype, device: str) -> TensorColumns:
    # Only `CallableKernel` gets here. All other kernels are registered.
    raise InvalidParameterError(_NEEDS_NAME)


@_columns.register
def _(kernel: RBF, centres, dtype, device):
    centred = CentredRBF.of(kernel, centres, dtype)
    if centred.right is None:
        return _by_differences(centred, device)
    right, n_features = put(centred.right, device), centres.shape[1]
    precise = np.result_type(centred.origin, centred.right)
    origin = put(centred.origin.astype(precise), device)
    roots = put(np.full(n_features, centred.root, precise), device)

    def block(rows: torch.Tensor) -> torch.Tensor:
        left = torch.ones((len(rows), n_features + 2), dtype=right.dtype, device=device)
        moved = left[:, :n_features]
        moved.copy_((rows - origin).mul_(roots))
        left[:, n_features] = torch.linalg.vecdot(moved, moved)
        return (left @ right).exp_()

    return block


def _by_differences(centred: CentredRBF, device: str) -> TensorColumns:
    origin = put(centred.origin, device, torch.float64)
    root, ratios = (torch.as_tensor(part, device=device) for part in (centred.root, centred.ratios))
    centres = put(centred.centres, device)

    def block(rows: torch.Tensor) -> torch.Tensor:
        moved = (rows - origin) * root
        mode = "donot_use_mm_for_euclid_dist"
        return torch.cdist(moved, centres, compute_mode=mode).square_().mul_(-ratios).exp_()

    return block


@_columns.register
def _(kernel: Laplacian, centres, dtype, device):
    centres = put(centres, device, torch.float64)
    of_type = getattr(torch, dtype.name)
    return lambda rows: (
        torch.cdist(rows.double(), centres, p=1).mul_(-kernel.gamma).exp_().to(of_type)
    )


@_columns.register
def _(kernel: Polynomial, centres, dtype, device):
    centres = put(centres, device, torch.float64)
    gamma, coef0, degree = kernel.gamma, kernel.coef0, kernel.degree
    return lambda rows: (rows.double() @ centres.T).mul_(gamma).add_(coef0).pow_(degree)


@_columns.register
def _(kernel: Linear, centres, dtype, device):
    centres = put(centres, device, torch.float64)
    return lambda rows: rows.double() @ centres.T
