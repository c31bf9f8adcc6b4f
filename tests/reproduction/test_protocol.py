"""The paper's protocol: units, folds, and rows that are left out."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.utils import Bunch

from reproduction.protocol import (
    FULL,
    QUICK,
    gamma_of,
    inner_parts,
    part_of,
    split_numbers,
    to_scale_free,
)
from reproduction.synthetic import make_waves
from skauc import SparseKernelAUC


def bunch(n_train=100, n_test=0):
    X, y = make_waves(n_train + n_test, 3)
    signs = np.where(y, 1, -1)
    test = (X[n_train:], signs[n_train:]) if n_test else (None, None)
    return Bunch(
        X_train=X[:n_train], y_train=signs[:n_train], X_test=test[0], y_test=test[1], name="made up"
    )


def test_the_grid_is_the_papers():
    assert len(FULL.C_pairs) == len(FULL.sigmas) == 11
    assert (FULL.C_pairs[0], FULL.C_pairs[-1]) == pytest.approx((1e-5, 1e5))
    assert (FULL.sigmas[0], FULL.sigmas[-1]) == (2**-5, 2**5)
    assert set(QUICK.C_pairs) < set(FULL.C_pairs)
    assert set(QUICK.sigmas) < set(FULL.sigmas)


def test_the_papers_units_become_ours():
    """The objective that is minimised weighs a pair as the paper's C does."""
    X, y = make_waves(60, 2)
    C_pair, sigma = 0.3, 1.7
    C = to_scale_free(C_pair, y)
    paper = {"refine": False, "linear_term": False, "tol": 1e-12, "random_state": 0}
    model = SparseKernelAUC(50, C=C, gamma=gamma_of(sigma), **paper).fit(X, y)
    squared = ((model.basis_vectors_[:, None] - model.basis_vectors_) ** 2).sum(axis=2)
    K = np.exp(-squared / (2 * sigma**2))
    f = model.decision_function(X)
    hinges = np.maximum(0, 1 - f[y][:, None] + f[~y]) ** 2
    objective = 0.5 * model.dual_coef_ @ K @ model.dual_coef_ + 0.5 * C_pair * hinges.sum()
    assert objective == pytest.approx(model.path_[-1].objective, rel=1e-6)


def test_runs_of_five_folds():
    assert len(split_numbers(False, 4)) == 20
    assert split_numbers(True, 4) == [(0, 0)]
    data = bunch()
    seen = [part_of(data, 1, fold, FULL) for fold in range(5)]
    rows = np.concatenate([part.X_test for part in seen])
    assert np.array_equal(np.sort(rows[:, 0]), np.sort(data.X_train[:, 0]))
    for part in seen:
        assert len(part.y_train) + len(part.y_test) == 100
        assert part.y_test.sum() == 2
        assert set(part.y_train) == {0, 1}


def test_folds_depend_on_the_seed_and_the_run_alone():
    data = bunch()
    first = part_of(data, 0, 2, FULL).X_test
    np.testing.assert_array_equal(first, part_of(data, 0, 2, FULL).X_test)
    assert not np.array_equal(first, part_of(data, 1, 2, FULL).X_test)
    assert not np.array_equal(first, part_of(data, 0, 2, replace(FULL, seed=7)).X_test)


def test_an_official_test_part_is_used_whole():
    data = bunch(1500, 300)
    part = part_of(data, 0, 0, QUICK)
    assert part.X_train.shape == (1000, 3)
    np.testing.assert_array_equal(part.X_test, data.X_test)
    assert part.y_train.mean() == pytest.approx(np.mean(data.y_train > 0), abs=0.002)


def test_inner_folds_never_see_the_test_part():
    part = part_of(bunch(), 0, 0, FULL)
    test_rows = set(part.X_test[:, 0])
    parts = list(inner_parts(part, FULL))
    assert len(parts) == 3
    for inner in parts:
        assert not test_rows & (set(inner.X_train[:, 0]) | set(inner.X_test[:, 0]))
