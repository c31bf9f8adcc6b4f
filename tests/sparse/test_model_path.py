"""The path of models: its records, its stages, smaller copies, and where it ends."""

import numpy as np
import pytest
from listeners import Listener, interrupt_at
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from skauc import Selection, SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.engines import SizePolicy, size_policy
from skauc.exceptions import InvalidParameterError
from skauc.sparse.plan import GROWTH_NO_CHANGE, LEAST_STOPPED
from skauc.sparse.sampling import hold_out

X, y = make_classification(
    300, 6, weights=[0.6], class_sep=0.5, flip_y=0.2, n_redundant=0, random_state=0
)
SIZES = [4, 8, 16, 20]
PLAIN = {"refine": False, "linear_term": False, "scaling": None}


def make(n_basis=20, **parameters):
    return SparseKernelAUC(n_basis, random_state=0, **{**PLAIN, **parameters})


@pytest.fixture(scope="module")
def model():
    return make().fit(X, y)


def assert_consistent(model):
    """Every fitted attribute speaks of the same basis."""
    assert model.n_basis_ == len(model.dual_coef_) == len(model.basis_indices_)
    assert_array_equal(model.basis_vectors_, X[model.basis_indices_])
    assert model.path_[-1].n_basis <= model.n_basis_
    assert model.n_iter_ == sum(record.n_iter for record in model.path_)
    assert len(list(model.staged_decision_function(X))) == len(model.path_)
    assert model.score(X, y) > 0.6


# -- records and stages -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("retrain", "sizes"),
    [
        ("doubling", SIZES),
        ("geometric", [1, 2, 3, 4, 5, 6, 8, 9, 11, 13, 16, 19, 20]),
        ("always", list(range(1, 21))),
    ],
)
def test_there_is_one_record_a_retraining(retrain, sizes):
    path = make(selection=Selection(retrain=retrain)).fit(X, y).path_
    assert [record.n_basis for record in path] == sizes


def test_records_tell_the_size_the_objective_the_auc_and_the_time(model):
    stages = list(model.staged_decision_function(X))
    assert len(stages) == len(model.path_)
    for record, scores in zip(model.path_, stages, strict=True):
        assert_allclose(record.train_auc, roc_auc_score(y, scores))
        assert record.validation_auc is None
        assert record.n_iter >= 1
        assert len(record.model.coef) == record.n_basis
    assert np.all(np.diff([record.objective for record in model.path_]) < 0)
    assert np.all(np.diff([record.seconds for record in model.path_]) >= 0)


def test_the_last_stage_is_the_model(model):
    *_, last = model.staged_decision_function(X)
    assert_allclose(last, model.decision_function(X), atol=1e-12)
    assert_array_equal(model.path_[-1].model.coef, model.dual_coef_)
    assert model.path_[-1].model.intercept == model.intercept_


# -- smaller copies ---------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["orthogonal", "greedy", "exact", "random"])
@pytest.mark.parametrize(("retrain", "sizes"), [("doubling", (4, 8)), ("geometric", (1, 4, 8))])
def test_truncated_it_is_the_fit_of_that_size(rule, retrain, sizes):
    selection = Selection(rule, n_candidates=20, retrain=retrain)
    large = make(9, selection=selection).fit(X, y)
    for size in sizes:
        small = make(size, selection=selection).fit(X, y)
        truncated = large.truncate(size)
        assert truncated.get_params() == small.get_params()
        assert truncated.n_iter_ == small.n_iter_
        assert_allclose(truncated.decision_function(X), small.decision_function(X), atol=1e-12)


def test_truncated_it_is_the_stage_of_that_size(model):
    stages = model.staged_decision_function(X)
    for record, scores in zip(model.path_, stages, strict=True):
        truncated, size = model.truncate(record.n_basis), record.n_basis
        assert_allclose(truncated.decision_function(X), scores, atol=1e-12)
        assert_consistent(truncated)
        assert truncated.n_basis == truncated.n_basis_ == size
        assert_array_equal(truncated.basis_indices_, model.basis_indices_[:size])
        assert_array_equal(truncated.classes_, model.classes_)


def test_rules_that_add_one_centre_at_a_time_have_models_of_all_sizes():
    listener = Listener()
    model = make(selection="greedy").set_callbacks(listener).fit(X, y)
    assert [pursued.n_basis_ for pursued in listener.models] == list(range(1, 21))
    for pursued in listener.models:
        truncated = model.truncate(pursued.n_basis_)
        assert_consistent(truncated)
        assert_array_equal(truncated.dual_coef_, pursued.dual_coef_)


def test_other_sizes_than_those_of_the_path_are_refused(model):
    message = r"one of the sizes of the path, \[4, 8, 16, 20\]; got 3\. Fit with"
    with pytest.raises(InvalidParameterError, match=message):
        model.truncate(3)


def test_truncating_leaves_the_model_alone(model):
    before = model.decision_function(X)
    model.truncate(4)
    assert model.n_basis == model.n_basis_ == 20
    assert_array_equal(model.decision_function(X), before)


def test_a_truncated_model_can_be_truncated_and_fitted_again(model):
    twice = model.truncate(8).truncate(4)
    assert_array_equal(twice.decision_function(X), model.truncate(4).decision_function(X))
    assert_array_equal(twice.fit(X, y).dual_coef_, make(4).fit(X, y).dual_coef_)


def test_a_truncated_model_says_so_until_it_is_fitted(model):
    smaller = model.truncate(4)
    assert repr(smaller).endswith("  # truncated from 20 centres")
    assert "truncated" not in repr(model.truncate(20)) + repr(smaller.fit(X, y))


def test_truncate_takes_an_integer(model):
    for size in (0, -1, 2.0, "2", None, True):
        message = rf"`n_basis` must be an integer .* got {size!r}"
        with pytest.raises(InvalidParameterError, match=message):
            model.truncate(size)


def test_truncate_cannot_enlarge(model):
    with pytest.raises(InvalidParameterError, match=r"at most the model's 20; got 21\. Fit with"):
        model.truncate(21)


def test_only_a_fitted_model_has_a_path():
    with pytest.raises(NotFittedError):
        make().truncate(2)
    with pytest.raises(NotFittedError):
        next(make().staged_decision_function(X))


# -- early stopping ---------------------------------------------------------------------------


def followed(**parameters):
    """An early-stopped fit and the records of all its retrainings, the rejected ones included."""
    listener = Listener()
    selection = Selection(retrain="geometric")
    model = make(64, early_stopping=True, selection=selection, **parameters)
    model.set_callbacks(listener).fit(X, y)
    return model, listener.models[-1].path_


@pytest.mark.parametrize(("growth", "tol"), [(2, 0.01), (2, 0.02), (GROWTH_NO_CHANGE, 0.05)])
def test_it_ends_when_it_has_grown_without_progress(growth, tol, monkeypatch):
    monkeypatch.setattr("skauc.sparse.plan.GROWTH_NO_CHANGE", growth)
    _, path = followed(tol=tol)

    def is_over(size):
        scores = {r.n_basis: r.validation_auc for r in path if r.n_basis <= size}
        before = max(auc for n_basis, auc in scores.items() if n_basis <= size / growth)
        return max(scores.values()) <= before + tol

    *sizes, last = [record.n_basis for record in path if record.n_basis >= LEAST_STOPPED]
    assert last < 64
    assert is_over(last)
    assert not any(is_over(size) for size in sizes)


@pytest.mark.parametrize("tol", [1e-4, 0.02, 0.1])
def test_it_keeps_the_smallest_model_within_tol_of_the_best(tol):
    model, path = followed(tol=tol)
    best = max(record.validation_auc for record in path)
    smallest = min(record.n_basis for record in path if record.validation_auc >= best - tol)
    assert model.n_basis_ == smallest == model.path_[-1].n_basis
    assert_consistent(model)
    *_, last = model.staged_decision_function(X)
    assert_allclose(model.decision_function(X), last, atol=1e-12)


def test_a_larger_tol_keeps_a_smaller_model():
    sizes = [followed(tol=tol)[0].n_basis_ for tol in (1e-4, 0.02, 0.1)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_without_a_reason_to_stop_it_goes_to_the_end(monkeypatch):
    monkeypatch.setattr("skauc.sparse.plan.GROWTH_NO_CHANGE", 100)
    _, path = followed()
    assert path[-1].n_basis == 64


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 2, 300)], ids=["1", "weights"])
def test_the_validation_auc_is_that_of_a_stratified_part_never_trained_on(weights):
    model = make(early_stopping=True, validation_fraction=0.3).fit(X, y, weights)
    data = TrainingData(X, y == 1, np.ones(300), model.classes_)
    is_held_out = hold_out(data, 0.3, np.random.RandomState(0)).rows(data)
    train, held_out = np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
    assert len(held_out) == 90
    assert_allclose(y[held_out].mean(), y.mean(), atol=1 / 90)
    assert set(model.basis_indices_) <= set(train)
    for record, scores in zip(model.path_, model.staged_decision_function(X), strict=True):
        for part, auc in ((train, record.train_auc), (held_out, record.validation_auc)):
            weight = None if weights is None else weights[part]
            expected = roc_auc_score(y[part], scores[part], sample_weight=weight)
            assert_allclose(auc, expected)


# -- interrupted fits -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "selection", "early_stopping"),
    [
        (4, "orthogonal", False),
        (16, "orthogonal", False),
        (7, "greedy", False),
        (20, "greedy", True),
    ],
)
def test_an_interrupted_fit_keeps_the_model_it_had_reached(
    size, selection, early_stopping, monkeypatch
):
    monkeypatch.setattr("skauc.sparse.plan.GROWTH_NO_CHANGE", 99)
    listener = Listener(interrupt_at(size))
    model = make(early_stopping=early_stopping, selection=selection).set_callbacks(listener)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert_consistent(model)
    assert listener.models[-1].n_basis_ == size
    assert model.n_basis_ == size or early_stopping


@pytest.mark.parametrize("n_calls", [*range(8, 17), 24])
def test_an_interrupt_can_come_at_any_time(n_calls, monkeypatch):
    """Not only between two retrainings, where callbacks are called."""
    from skauc.engines.single import SingleEngine

    line_of, calls = SingleEngine.line, []

    def interrupted(engine, line):
        calls.append(line)
        if len(calls) > n_calls:
            raise KeyboardInterrupt
        return line_of(engine, line)

    monkeypatch.setattr(SingleEngine, "line", interrupted)
    model = make(selection=Selection(retrain="geometric"))
    # On few rows there are no lines inside of an optimisation, which is one call.
    with size_policy(SizePolicy(few_rows=0)), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert_consistent(model)


def test_interrupted_before_the_first_centre_it_is_not_a_mixture_of_two_fits():
    def interrupt(rows, centres):
        raise KeyboardInterrupt

    model = make().fit(X, y).set_params(kernel=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], np.array(["a", "b"])[y])
    try:
        scores = model.decision_function(X)
    except NotFittedError:
        return
    assert_array_equal(scores, make().fit(X, y).decision_function(X))
    assert model.classes_.tolist() == [0, 1]
