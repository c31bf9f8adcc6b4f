"""Rows that several tests of metrics use."""

import numpy as np
import pytest


@pytest.fixture
def noisy():
    """300 rows, one in five positive, a hundred distinct scores."""
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.2).astype(int)
    scores = np.round(rng.normal(size=300) + y, 2)
    return y, scores, rng.exponential(size=300)
