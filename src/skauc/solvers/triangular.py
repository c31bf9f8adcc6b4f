"""Cholesky factors and triangular systems: LAPACK without the checks of scipy.linalg.

The systems of a fit are small and many. There the checks take longer than the arithmetic.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri, dtrtrs


def cholesky_factor(matrix: np.ndarray) -> np.ndarray:
    """Return the lower triangular factor; raise LinAlgError unless it is positive definite."""
    if not len(matrix):
        return np.zeros((0, 0))
    # LAPACK reads columns: the transpose of a symmetric matrix is the matrix.
    factor, info = dpotrf(matrix.T, lower=1, clean=1)
    if info:
        raise LinAlgError(f"The matrix of size {len(matrix)} is not positive definite.")
    return factor


def solve_lower(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return L^-1 right."""
    return _solve(factor, right, 0)


def solve_upper(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return L^-T right, for the lower factor L."""
    return _solve(factor, right, 1)


def _solve(factor: np.ndarray, right: np.ndarray, trans: int) -> np.ndarray:
    if not right.size:
        return np.zeros(right.shape)
    if factor.flags.c_contiguous and not factor.flags.f_contiguous:
        # The transpose is stored as LAPACK wants it, as an upper factor.
        solution, info = dtrtrs(factor.T, right, lower=0, trans=1 - trans)
    else:
        solution, info = dtrtrs(factor, right, lower=1, trans=trans)
    if info:
        raise LinAlgError("The factor has a zero on its diagonal.")
    return solution


def solve_factored(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return (L L^T)^-1 right."""
    if not right.size:
        return np.zeros(right.shape)
    return dpotrs(factor, right, lower=1)[0]


def inverse_lower(factor: np.ndarray) -> np.ndarray:
    """Return L^-1. The factor must be zero above the diagonal."""
    if not len(factor):
        return np.zeros((0, 0))
    inverse, info = dtrtri(factor, lower=1)
    if info:
        raise LinAlgError("The factor has a zero on its diagonal.")
    return inverse
