"""Small problems, and bases grown by hand."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from skauc.kernels import RBF
from skauc.sparse.basis import Added, Basis

KERNEL = RBF(0.5)


@dataclass(frozen=True)
class Toy:
    """Two overlapping classes in three dimensions, one row in three positive."""

    X: np.ndarray
    positive: np.ndarray
    weights: np.ndarray


def make_toy(n_rows=120, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n_rows) < n_rows // 3)
    X = rng.normal(size=(n_rows, 3)) + 0.8 * positive[:, None]
    return Toy(X.astype(dtype), positive, rng.uniform(0.5, 2.0, size=n_rows))


def half_empty_rows():
    """Forty rows of six features, half of them zero."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.5)


def those(mask):
    """The rows of a mask over all rows, for `Engine.hold_out`."""
    return None if mask is None else lambda data: mask[data.row_numbers]


def grow(engine, X, kernel, indices, capacity=None):
    """Put rows into the engine and into a basis, one by one."""
    basis = Basis([kernel], capacity or len(indices) + 1, engine.precision)
    for index in indices:
        grow_by(engine, basis, X, [index])
    return basis


def grow_by(engine, basis, X, indices, width=0):
    """Add rows, all at once, as centres of one of the kernels of the basis."""
    indices = np.asarray(indices)
    widths, centres = np.full(len(indices), width), X[indices]
    kernel = basis.kernel_of(widths)
    coordinates = basis.project(kernel, centres).coordinates
    rests = kernel.gram(centres, kernel, centres) - coordinates.T @ coordinates
    factor = np.linalg.cholesky(rests)
    basis.append(engine, Added(kernel, centres, indices, widths, coordinates, factor))


def explicit_columns(X, indices, gamma=KERNEL.gamma):
    """K_.J L^-T by scikit-learn's kernel and NumPy's Cholesky factor, in float64."""
    gram = rbf_kernel(X, X[indices], gamma=gamma)
    factor = np.linalg.cholesky(gram[indices])
    return np.linalg.solve(factor, gram.T).T
