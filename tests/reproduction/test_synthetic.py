"""Synthetic data: seeded, imbalanced, not linear, in any size and type."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from reproduction.synthetic import make_islands, make_waves
from skauc import SparseKernelAUC
from skauc.exceptions import InvalidParameterError
from skauc.metrics import auc

MAKERS = [make_islands, make_waves]


@pytest.mark.parametrize("make", MAKERS)
def test_seeded_with_the_share_of_positives_asked_for(make):
    X, y = make(301, 5, positive_fraction=0.05, random_state=3)
    again, y_again = make(301, 5, positive_fraction=0.05, random_state=3)
    other, _ = make(301, 5, positive_fraction=0.05, random_state=4)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, other)
    assert X.shape == (301, 5)
    assert y.dtype == bool
    assert y.sum() == 16


@pytest.mark.parametrize("make", MAKERS)
def test_a_kernel_ranks_them_better_than_a_line(make):
    X, y = make(2000, 3)
    ours = SparseKernelAUC(32, C=10.0, random_state=0).fit(X[:1000], y[:1000])
    line = LogisticRegression().fit(X[:1000], y[:1000])
    kernel_auc = ours.score(X[1000:], y[1000:])
    assert kernel_auc > 0.85
    assert kernel_auc > auc(y[1000:], line.decision_function(X[1000:])) + 0.05


@pytest.mark.parametrize("make", MAKERS)
def test_many_rows_in_float32(make):
    X, y = make(150_000, 4, positive_fraction=0.01, dtype=np.float32)
    assert X.dtype == np.float32
    assert y.sum() == 1500
    # Blocks are not copies of one another.
    assert len(np.unique(X[:, 0])) > 140_000


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples": 1}, "`n_samples` must be an integer of at least 2; got 1"),
        ({"n_features": 0}, "`n_features` must be an integer of at least 1; got 0"),
        (
            {"positive_fraction": 1.0},
            "`positive_fraction` must be a number between 0 and 1, .*; got 1.0",
        ),
    ],
)
def test_bad_shapes(make, wrong, message):
    with pytest.raises(InvalidParameterError, match=message):
        make(**wrong)
