"""Compiled loops against what they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skauc.scratch import ScratchArrays, augment


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_augmented_as_without_a_compiler(dtype, precision):
    rng = np.random.default_rng(0)
    rows = (3 + rng.standard_normal((40, 7))).astype(dtype)
    origin = rows.mean(axis=0).astype(np.result_type(dtype, precision))
    roots = rng.uniform(0.5, 2, 7).astype(precision)
    found, expected = (np.full((40, 9), np.nan, precision) for _ in range(2))
    augment(rows, origin, roots, found)
    ScratchArrays().augment(rows, origin, roots, expected)
    assert_allclose(found, expected, rtol=8 * np.finfo(precision).eps)
    squares = np.sum((roots * (rows.astype(np.float64) - origin)) ** 2, axis=1)
    assert_allclose(found[:, 7], squares, rtol=2e-6 if np.float32 in (dtype, precision) else 1e-14)
