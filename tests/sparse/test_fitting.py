"""What a fit remembers on the way: records and models."""

from functools import partial

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from toys import KERNEL, make_toy, those

from skauc.data.training import TrainingData
from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.basis import Basis
from skauc.sparse.fitting import Fitting
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.selection import make_selector

optimise = partial(minimise, step=cholesky_step, tol=1e-8, max_iter=100)


@pytest.fixture
def toy():
    return make_toy()


@pytest.fixture
def pursued(engine_case, toy):
    """Pursue to the largest of some sizes, with some rows held out."""

    def pursue(sizes, held_out=None):
        engine = engine_case.build(toy)
        engine.hold_out(those(held_out))
        selector = make_selector(
            "orthogonal",
            engine,
            n_basis=12,
            n_candidates=20,
            minimise=optimise,
            random_state=np.random.RandomState(0),
        )
        objective = Objective(engine, pair_weight(10.0, engine))
        data = TrainingData(toy.X, toy.positive, toy.weights, np.array([0, 1]))
        basis = Basis([KERNEL], 12, engine.precision)
        fitting = Fitting(objective, basis, selector, optimise, data)
        fitting.pursue(frozenset(sizes), lambda: False)
        return fitting

    return pursue


def kernel_scores(toy, model):
    return rbf_kernel(toy.X, model.centres, gamma=KERNEL.gamma) @ model.coef


def test_every_size_has_a_model_and_retrained_sizes_have_records(pursued, toy):
    fitting = pursued({1, 2, 4, 8})
    assert list(fitting.models) == list(range(1, 9))
    assert [record.n_basis for record in fitting.records] == [1, 2, 4, 8]
    for size, model in fitting.models.items():
        assert_allclose(model.centres, toy.X[model.indices])
        assert model.coef.shape == model.indices.shape == (size,)


def test_records_say_what_the_model_is_worth(engine_case, pursued, toy):
    fitting = pursued({1, 2, 3, 4})
    for record in fitting.records:
        model = record.model
        scores = kernel_scores(toy, model)
        squared_norm = model.coef @ rbf_kernel(model.centres, gamma=KERNEL.gamma) @ model.coef
        loss = oracles.loss(scores, toy.positive, toy.weights)
        value = 0.5 * squared_norm + 0.5 * fitting.objective.C_pair * loss
        assert_allclose(record.objective, value, rtol=max(engine_case.tolerance, 1e-8))
        auc = roc_auc_score(toy.positive, scores, sample_weight=toy.weights)
        assert_allclose(record.train_auc, auc, atol=1e-6)
        assert record.validation_auc is None
        assert record.n_iter >= 1


def test_rows_held_out_are_scored_by_the_same_expansion(pursued, toy):
    held_out = np.arange(len(toy.X)) % 4 == 0
    fitting = pursued({1, 2, 3, 4}, held_out)
    for record in fitting.records:
        scores = kernel_scores(toy, record.model)
        for rows, auc in ((~held_out, record.train_auc), (held_out, record.validation_auc)):
            expected = roc_auc_score(
                toy.positive[rows], scores[rows], sample_weight=toy.weights[rows]
            )
            assert_allclose(auc, expected, atol=1e-6)
        assert not held_out[record.model.indices].any()


def test_no_intercept_has_a_better_balanced_accuracy(pursued, toy):
    model = pursued({1, 4}).records[-1].model
    scores = kernel_scores(toy, model)

    def accuracy(intercept):
        predicted = scores + intercept > 0
        return balanced_accuracy_score(toy.positive, predicted, sample_weight=toy.weights)

    assert accuracy(model.intercept) >= max(map(accuracy, -scores)) - 1e-12


def test_seconds_grow_along_the_path(pursued):
    first, second, third = (record.seconds for record in pursued({1, 2, 3}).records)
    assert 0 < first < second < third
