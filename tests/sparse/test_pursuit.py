"""The pursuit over basis sizes: the iterates it reports, and how it ends."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from toys import KERNEL, make_toy

from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.basis import Basis
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.pursuit import Iterate, Pursuit, pursue
from skauc.sparse.selection import SELECTIONS, make_selector

optimise = partial(minimise, step=cholesky_step, tol=1e-8, max_iter=100)

# Iterates


@pytest.fixture
def toy():
    return make_toy()


@pytest.fixture
def make_pursuit(engine_case):
    def make(toy, selection="orthogonal", n_basis=12):
        engine = engine_case.build(toy, capacity=n_basis)
        selector = make_selector(
            selection,
            engine,
            n_basis=n_basis,
            n_candidates=20,
            minimise=optimise,
            random_state=np.random.RandomState(0),
        )
        objective = Objective(engine, pair_weight(10.0, engine))
        return Pursuit(objective, Basis([KERNEL], n_basis, engine.precision), selector, optimise)

    return make


@dataclass(frozen=True)
class Report:
    """A place, and the kernel expansion that the model was there."""

    iterate: Iterate
    coef: np.ndarray


def pursued(pursuit, sizes, stop=lambda size: False):
    """All that a pursuit reports."""
    reports = []

    def report(iterate):
        reports.append(Report(iterate, pursuit.basis.coef(iterate.point.weights)))
        return stop(len(pursuit.basis))

    last = pursue(pursuit, pursuit.retrain(np.empty(0)), frozenset(sizes), report)
    assert last is reports[-1].iterate
    return reports


def definition(pursuit, toy, coef):
    """The objective of a kernel expansion over the first centres, by definition."""
    centres = pursuit.basis.centres[: len(coef)]
    scores = rbf_kernel(toy.X, centres, gamma=KERNEL.gamma) @ coef
    squared_norm = coef @ rbf_kernel(centres, gamma=KERNEL.gamma) @ coef
    loss = oracles.loss(scores, toy.positive, toy.weights)
    return 0.5 * squared_norm + 0.5 * pursuit.objective.C_pair * loss


def test_every_centre_is_reported_and_some_sizes_are_retrained(make_pursuit, toy):
    reports = pursued(make_pursuit(toy, "greedy"), {1, 2, 4, 8, 12})
    assert [len(report.coef) for report in reports] == list(range(1, 13))
    retrained = [len(report.coef) for report in reports if report.iterate.is_retrained]
    assert retrained == [1, 2, 4, 8, 12]
    assert all((report.iterate.n_iter >= 1) == report.iterate.is_retrained for report in reports)


def test_several_centres_at_a_time_come_up_to_the_next_retraining(make_pursuit, toy):
    pursuit = make_pursuit(toy)
    reports = pursued(pursuit, {1, 2, 4, 8, 12})
    assert [len(report.coef) for report in reports] == [1, 2, 4, 8, 12]
    assert all(report.iterate.is_retrained for report in reports)
    assert pursuit.basis.batches == [1, 1, 2, 4, 4]


def test_iterates_know_the_objective_of_their_model(engine_case, make_pursuit, toy):
    pursuit = make_pursuit(toy)
    for report in pursued(pursuit, {1, 2, 4, 8}):
        value = definition(pursuit, toy, report.coef)
        assert_allclose(report.iterate.point.value, value, rtol=max(engine_case.tolerance, 1e-8))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_objective_never_rises(make_pursuit, toy, selection):
    pursuit = make_pursuit(toy, selection, n_basis=8)
    reports = pursued(pursuit, {1, 2, 5, 8})
    values = [definition(pursuit, toy, report.coef) for report in reports]
    assert np.all(np.diff(values) <= 1e-6 * values[0])


def test_a_retrained_model_is_at_its_optimum(make_pursuit, toy):
    pursuit = make_pursuit(toy)
    last = pursued(pursuit, {3, 12})[-1].iterate
    from_nothing = optimise(pursuit.objective, np.zeros(12)).point
    assert_allclose(last.point.value, from_nothing.value, rtol=1e-6)


@pytest.mark.parametrize("selection", ["orthogonal", "greedy"])
def test_longer_pursuits_begin_like_shorter_ones(make_pursuit, toy, selection):
    short, long = make_pursuit(toy, selection), make_pursuit(toy, selection)
    at_five = pursued(short, {1, 2, 5})[-1]
    coefs = {len(report.coef): report.coef for report in pursued(long, {1, 2, 5, 9})}
    assert long.basis.indices[:5] == short.basis.indices
    assert_array_equal(coefs[5], at_five.coef)


def test_a_pursuit_goes_on_where_another_ended(make_pursuit, toy):
    at_once, in_two = make_pursuit(toy), make_pursuit(toy)
    expected = pursued(at_once, {1, 2, 5, 9})[-1].iterate
    halfway = pursued(in_two, {1, 2, 5})[-1].iterate
    iterate = pursue(
        in_two, in_two.retrain(halfway.point.weights), frozenset({9}), lambda iterate: False
    )
    assert in_two.basis.indices == at_once.basis.indices
    assert_allclose(iterate.point.value, expected.point.value, rtol=1e-7)


def test_a_pursuit_to_where_it_stands_retrains_and_reports_nothing(make_pursuit, toy):
    pursuit = make_pursuit(toy)
    pursued(pursuit, {3})
    iterate = pursue(
        pursuit,
        pursuit.retrain(np.ones(3)),
        frozenset({3}),
        lambda iterate: pytest.fail("reported"),
    )
    assert iterate.is_retrained
    assert_allclose(iterate.point.value, optimise(pursuit.objective, np.zeros(3)).point.value)


# The end


def test_report_can_end_the_pursuit_at_a_retrained_size(make_pursuit, toy):
    reports = pursued(make_pursuit(toy), {1, 2, 4, 12}, lambda size: size == 4)
    assert len(reports[-1].coef) == 4
    assert reports[-1].iterate.is_retrained


def test_a_pursuit_ended_in_between_retrains_and_reports_once_more(make_pursuit, toy):
    pursuit = make_pursuit(toy, "greedy")
    reports = pursued(pursuit, {1, 2, 12}, lambda size: size == 5)
    assert [len(report.coef) for report in reports] == [1, 2, 3, 4, 5, 5]
    before, last = reports[-2:]
    assert not before.iterate.is_retrained
    assert last.iterate.is_retrained
    values = [definition(pursuit, toy, report.coef) for report in (before, last)]
    assert values[1] < values[0]


@pytest.mark.parametrize(
    ("selection", "sizes"), [("greedy", [1, 2, 3, 4, 5, 5]), ("orthogonal", [1, 2, 5, 5])]
)
def test_the_pursuit_ends_when_no_independent_row_is_left(make_pursuit, toy, selection, sizes):
    few = replace(toy, X=toy.X[np.arange(len(toy.X)) % 5])
    pursuit = make_pursuit(few, selection)
    reports = pursued(pursuit, {1, 2, 12})
    assert sorted(index % 5 for index in pursuit.basis.indices) == [0, 1, 2, 3, 4]
    assert [len(report.coef) for report in reports] == sizes
    assert reports[-1].iterate.is_retrained


@pytest.mark.parametrize("selection", ["orthogonal", "greedy"])
def test_rows_that_are_all_alike_give_one_centre(make_pursuit, toy, selection):
    pursuit = make_pursuit(replace(toy, X=np.ones_like(toy.X)), selection)
    (report,) = pursued(pursuit, {1, 2, 12})
    assert pursuit.objective.engine.quality(report.iterate.point.state).train_auc == 0.5
    assert_allclose(report.coef, 0, atol=1e-12)
