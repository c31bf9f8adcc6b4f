"""What a fit remembers, over every engine: records, models, and what an interrupt keeps."""

from functools import partial

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from toys import KERNEL, make_toy, those

from skauc.engines import make_engine
from skauc.exceptions import FitInterruptedError
from skauc.sparse.parameters import Parameters, Selection
from skauc.sparse.path import fit_path
from skauc.sparse.plan import make_plan

C = 10.0


@pytest.fixture
def toy():
    return make_toy()


@pytest.fixture
def pursued(engine_case, toy):
    """Pursue to a size, with some rows held out."""

    def pursue(n_basis, retrain="always", held_out=None, rule="greedy", **watched):
        selection = Selection(rule, n_candidates=20, retrain=retrain)
        parameters = Parameters(n_basis, C=C, gamma=KERNEL.gamma, tol=1e-8, selection=selection)
        plan, rows = make_plan(parameters, engine_case.place(toy))
        return fit_path(
            rows,
            plan,
            open_engine=partial(make_engine, n_jobs=1),
            random_state=0,
            validation=those(held_out),
            **watched,
        )

    return pursue


def kernel_scores(toy, model):
    return rbf_kernel(toy.X, model.centres, gamma=KERNEL.gamma) @ model.coef


def test_every_size_has_a_model_and_retrained_sizes_have_records(pursued, toy):
    path = pursued(8, "doubling")
    assert list(path.models) == list(range(1, 9))
    assert [record.n_basis for record in path.records] == [1, 4, 8]
    forward = pursued(8, "doubling", rule="orthogonal")
    assert list(forward.models) == [record.n_basis for record in forward.records] == [4, 8]
    for size, model in (*path.models.items(), *forward.models.items()):
        assert_allclose(model.centres, toy.X[model.indices])
        assert model.coef.shape == model.indices.shape == (size,)


def test_records_say_what_the_model_is_worth(engine_case, pursued, toy):
    path = pursued(4)
    C_pair = C / toy.weights.sum()
    for record in path.records:
        model = record.model
        scores = kernel_scores(toy, model)
        squared_norm = model.coef @ rbf_kernel(model.centres, gamma=KERNEL.gamma) @ model.coef
        loss = oracles.loss(scores, toy.positive, toy.weights)
        value = 0.5 * squared_norm + 0.5 * C_pair * loss
        assert_allclose(record.objective, value, rtol=max(engine_case.tolerance, 1e-8))
        auc = roc_auc_score(toy.positive, scores, sample_weight=toy.weights)
        assert_allclose(record.train_auc, auc, atol=1e-6)
        assert record.validation_auc is None
        assert record.n_iter >= 1


def test_rows_held_out_are_scored_by_the_same_expansion(pursued, toy):
    held_out = np.arange(len(toy.X)) % 4 == 0
    path = pursued(4, held_out=held_out)
    for record in path.records:
        scores = kernel_scores(toy, record.model)
        for rows, auc in ((~held_out, record.train_auc), (held_out, record.validation_auc)):
            expected = roc_auc_score(
                toy.positive[rows], scores[rows], sample_weight=toy.weights[rows]
            )
            assert_allclose(auc, expected, atol=1e-6)
        assert not held_out[record.model.indices].any()


def test_no_intercept_has_a_better_balanced_accuracy(pursued, toy):
    model = pursued(4).records[-1].model
    scores = kernel_scores(toy, model)

    def accuracy(intercept):
        predicted = scores + intercept > 0
        return balanced_accuracy_score(toy.positive, predicted, sample_weight=toy.weights)

    assert accuracy(model.intercept) >= max(map(accuracy, -scores)) - 1e-12


def test_seconds_grow_along_the_path(pursued):
    first, second, third = (record.seconds for record in pursued(3).records)
    assert 0 < first < second < third


def test_watching_can_end_the_pursuit(pursued):
    path = pursued(8, "doubling", watch=lambda path: len(path.models) == 5)
    assert path.size == len(path.models) == path.records[-1].n_basis == 5


def test_an_interrupt_carries_the_path_so_far(pursued):
    def interrupt(path):
        if len(path.models) == 3:
            raise KeyboardInterrupt

    with pytest.raises(FitInterruptedError, match="keeps the model it had reached") as caught:
        pursued(8, watch=interrupt)
    expected = pursued(3)
    assert caught.value.path.size == 3
    coef = caught.value.path.models[3].coef
    assert_allclose(coef, expected.models[3].coef, rtol=1e-12)


def test_an_interrupt_before_the_first_model_is_a_plain_one(pursued, monkeypatch):
    def interrupt(*arguments, **parameters):
        raise KeyboardInterrupt

    monkeypatch.setattr("skauc.sparse.stages.pursue", interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        pursued(3)
    assert not isinstance(caught.value, FitInterruptedError)
