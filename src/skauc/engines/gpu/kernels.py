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
    densified,
)
from skauc.shaped_rbf import CentredShapes, ShapedRBF

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
    return _columns(kernel, densified(centres), np.dtype(dtype), device)


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
    roots = put(centred.roots.astype(precise), device)

    def block(rows: torch.Tensor) -> torch.Tensor:
        left = torch.ones((len(rows), n_features + 2), dtype=right.dtype, device=device)
        moved = left[:, :n_features]
        moved.copy_((rows - origin).mul_(roots))
        left[:, n_features] = torch.linalg.vecdot(moved, moved)
        return (left @ right).exp_()

    return block


def _by_differences(centred: CentredRBF, device: str) -> TensorColumns:
    origin = put(centred.origin, device, torch.float64)
    roots, ratios, centres = (
        put(part, device) for part in (centred.roots, centred.ratios, centred.centres)
    )

    def block(rows: torch.Tensor) -> torch.Tensor:
        moved = (rows - origin) * roots
        mode = "donot_use_mm_for_euclid_dist"
        return torch.cdist(moved, centres, compute_mode=mode).square_().mul_(-ratios).exp_()

    return block


@_columns.register
def _(kernel: ShapedRBF, centres, dtype, device):
    centred = CentredShapes.of(kernel, centres, dtype)
    if centred.right is None:
        return _shapes_by_differences(kernel, centred, device)
    right = put(centred.right, device)
    of_type, precise = right.dtype, np.result_type(centres, centred.right)
    origin = put(centred.origin.astype(precise), device)
    directions, offsets = (
        put(part, device, of_type) for part in (centred.directions, centred.offsets)
    )
    round_ones, ridges = (
        torch.as_tensor(part, device=device) for part in (centred.round_ones, centred.ridges)
    )

    def block(rows: torch.Tensor) -> torch.Tensor:
        moved = (rows - origin).to(of_type)
        left = torch.cat((moved, moved.square(), torch.ones_like(moved[:, :1])), dim=1)
        if not len(ridges):
            return (left @ right).exp_()
        exponent = left.new_empty((len(rows), len(centres)))
        exponent[:, round_ones] = left @ right
        exponent[:, ridges] = (moved @ directions - offsets).square_().neg_()
        return exponent.exp_()

    return block


def _shapes_by_differences(kernel: ShapedRBF, centred: CentredShapes, device: str) -> TensorColumns:
    origin = put(centred.origin, device, torch.float64)
    centres, metric = (put(part, device) for part in (centred.centres, kernel.metric))

    def block(rows: torch.Tensor) -> torch.Tensor:
        moved = rows - origin
        exponent = moved.new_empty((len(rows), len(centres)))
        for k, is_ridge in enumerate(kernel.is_ridge):
            terms = (moved - centres[k]) * metric[k]
            exponent[:, k] = terms.sum(dim=1).square() if is_ridge else terms.square().sum(dim=1)
        return exponent.neg_().exp_()

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
