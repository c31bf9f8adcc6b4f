"""Triangular systems against NumPy's dense solutions, for factors stored in any way."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skauc.solvers.triangular import (
    cholesky_factor,
    inverse_lower,
    solve_factored,
    solve_lower,
    solve_upper,
)

LAYOUTS = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "part of a larger array": lambda matrix: np.pad(matrix, 3, constant_values=7.0)[3:-3, 3:-3],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [0, 1, 6])
def test_they_are_the_dense_solutions(size, layout):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(size, size + 2))
    matrix = root @ root.T + np.eye(size)
    factor = cholesky_factor(LAYOUTS[layout](matrix))
    assert_allclose(factor, np.linalg.cholesky(matrix), atol=1e-12)
    factor = LAYOUTS[layout](factor)
    assert_allclose(inverse_lower(factor), np.linalg.inv(factor), atol=1e-12)
    for right in (rng.normal(size=size), rng.normal(size=(size, 3)), np.empty((size, 0))):
        before = right.copy(), factor.copy()
        assert_allclose(solve_lower(factor, right), np.linalg.solve(factor, right), atol=1e-12)
        assert_allclose(solve_upper(factor, right), np.linalg.solve(factor.T, right), atol=1e-12)
        assert_allclose(solve_factored(factor, right), np.linalg.solve(matrix, right), atol=1e-12)
        assert_array_equal(right, before[0])
        assert_array_equal(factor, before[1])


def test_matrices_without_a_factor_are_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="size 2 is not positive definite"):
        cholesky_factor(np.diag([1.0, -1.0]))
    for solve in (inverse_lower, lambda factor: solve_lower(factor, np.ones(2))):
        with pytest.raises(np.linalg.LinAlgError, match="zero on its diagonal"):
            solve(np.diag([1.0, 0.0]))
