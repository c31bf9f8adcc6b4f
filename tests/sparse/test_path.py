"""The walk over basis sizes: its schedule, the places it reports, and how it ends."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from toys import KERNEL, make_toy

from skauc.exceptions import InvalidParameterError
from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.basis import Basis
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.path import Place, Walker, retraining_sizes, walk
from skauc.sparse.selection import SELECTIONS, make_selector

optimise = partial(minimise, step=cholesky_step, tol=1e-8, max_iter=100)

# Schedules


def test_geometric_sizes_are_the_rounded_down_powers_of_the_fourth_root_of_two():
    n_basis = 5000
    sizes = retraining_sizes("geometric", n_basis)
    # size = floor(2^(j/4)) says size^4 <= 2^j < (size + 1)^4: whole numbers all through.
    expected = {
        size
        for size in range(1, n_basis + 1)
        if any(size**4 <= 2**j < (size + 1) ** 4 for j in range(60))
    }
    assert sizes == expected | {n_basis}


def test_sizes_in_the_papers_tables_are_geometric_up_to_rounding():
    sizes = retraining_sizes("geometric", 1000)
    assert all({size - 1, size} & sizes for size in (6, 64, 91, 108, 182, 216, 256, 363, 431))


def test_geometric_schedule_begins_with_every_size_and_then_leaves_some_out():
    sizes = {*range(1, 7), 8, 9, 11, 13, 16, 19, 22, 26}
    assert retraining_sizes("geometric", 26) == sizes


def test_doubling_sizes_are_the_powers_of_two_and_the_last():
    assert retraining_sizes("doubling", 20) == {1, 2, 4, 8, 16, 20}


def test_always_is_every_size():
    assert retraining_sizes("always", 5) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("retrain", ["geometric", "doubling", "always"])
@pytest.mark.parametrize("n_basis", [1, 2, 7, 64, 100])
def test_the_first_and_the_last_size_are_in_every_schedule(retrain, n_basis):
    sizes = retraining_sizes(retrain, n_basis)
    assert min(sizes) == 1
    assert max(sizes) == n_basis


def test_an_unknown_schedule_is_refused():
    message = r"`retrain` must be one of 'geometric', 'doubling', 'always'; got 'never'. Use one"
    with pytest.raises(InvalidParameterError, match=message):
        retraining_sizes("never", 8)


# The walk


@pytest.fixture
def toy():
    return make_toy()


@pytest.fixture
def make_walker(engine_case):
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
        return Walker(objective, Basis([KERNEL], n_basis, engine.precision), selector, optimise)

    return make


@dataclass(frozen=True)
class Report:
    """A place, and the kernel expansion that the model was there."""

    place: Place
    coef: np.ndarray


def walked(walker, sizes, stop=lambda size: False):
    """All that a walk reports."""
    reports = []

    def report(place):
        reports.append(Report(place, walker.basis.coef(place.point.weights)))
        return stop(len(walker.basis))

    last = walk(walker, walker.retrain(np.empty(0)), frozenset(sizes), report)
    assert last is reports[-1].place
    return reports


def definition(walker, toy, coef):
    """The objective of a kernel expansion over the first centres, by definition."""
    centres = walker.basis.centres[: len(coef)]
    scores = rbf_kernel(toy.X, centres, gamma=KERNEL.gamma) @ coef
    squared_norm = coef @ rbf_kernel(centres, gamma=KERNEL.gamma) @ coef
    loss = oracles.loss(scores, toy.positive, toy.weights)
    return 0.5 * squared_norm + 0.5 * walker.objective.C_pair * loss


def test_every_centre_is_reported_and_some_sizes_are_retrained(make_walker, toy):
    reports = walked(make_walker(toy), {1, 2, 4, 8, 12})
    assert [len(report.coef) for report in reports] == list(range(1, 13))
    retrained = [len(report.coef) for report in reports if report.place.is_retrained]
    assert retrained == [1, 2, 4, 8, 12]
    assert all((report.place.n_iter >= 1) == report.place.is_retrained for report in reports)


def test_places_know_the_objective_of_their_model(engine_case, make_walker, toy):
    walker = make_walker(toy)
    for report in walked(walker, {1, 2, 4, 8}):
        value = definition(walker, toy, report.coef)
        assert_allclose(report.place.point.value, value, rtol=max(engine_case.tolerance, 1e-8))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_objective_never_rises(make_walker, toy, selection):
    walker = make_walker(toy, selection, n_basis=8)
    reports = walked(walker, {1, 2, 5, 8})
    values = [definition(walker, toy, report.coef) for report in reports]
    assert np.all(np.diff(values) <= 1e-6 * values[0])


def test_a_retrained_model_is_at_its_optimum(make_walker, toy):
    walker = make_walker(toy)
    last = walked(walker, {3, 12})[-1].place
    from_nothing = optimise(walker.objective, np.zeros(12)).point
    assert_allclose(last.point.value, from_nothing.value, rtol=1e-6)


def test_longer_walks_begin_like_shorter_ones(make_walker, toy):
    short, long = make_walker(toy), make_walker(toy)
    at_five = walked(short, {1, 2, 5})[-1]
    reports = walked(long, {1, 2, 5, 9})
    assert long.basis.indices[:5] == short.basis.indices
    assert_array_equal(reports[4].coef, at_five.coef)


def test_a_walk_goes_on_where_another_ended(make_walker, toy):
    at_once, in_two = make_walker(toy), make_walker(toy)
    expected = walked(at_once, {1, 2, 5, 9})[-1].place
    halfway = walked(in_two, {1, 2, 5})[-1].place
    place = walk(in_two, in_two.retrain(halfway.point.weights), frozenset({9}), lambda place: False)
    assert in_two.basis.indices == at_once.basis.indices
    assert_allclose(place.point.value, expected.point.value, rtol=1e-7)


def test_a_walk_to_where_it_stands_retrains_and_reports_nothing(make_walker, toy):
    walker = make_walker(toy)
    walked(walker, {3})
    place = walk(
        walker, walker.retrain(np.ones(3)), frozenset({3}), lambda place: pytest.fail("reported")
    )
    assert place.is_retrained
    assert_allclose(place.point.value, optimise(walker.objective, np.zeros(3)).point.value)


# The end


def test_report_can_end_the_walk_at_a_retrained_size(make_walker, toy):
    reports = walked(make_walker(toy), {1, 2, 4, 12}, lambda size: size == 4)
    assert len(reports) == 4
    assert reports[-1].place.is_retrained


def test_a_walk_ended_in_between_retrains_and_reports_once_more(make_walker, toy):
    walker = make_walker(toy)
    reports = walked(walker, {1, 2, 12}, lambda size: size == 5)
    assert [len(report.coef) for report in reports] == [1, 2, 3, 4, 5, 5]
    before, last = reports[-2:]
    assert not before.place.is_retrained
    assert last.place.is_retrained
    values = [definition(walker, toy, report.coef) for report in (before, last)]
    assert values[1] < values[0]


def test_the_walk_ends_when_no_independent_row_is_left(make_walker, toy):
    few = replace(toy, X=toy.X[np.arange(len(toy.X)) % 5])
    walker = make_walker(few)
    reports = walked(walker, {1, 2, 12})
    assert sorted(index % 5 for index in walker.basis.indices) == [0, 1, 2, 3, 4]
    assert [len(report.coef) for report in reports] == [1, 2, 3, 4, 5, 5]
    assert reports[-1].place.is_retrained


def test_rows_that_are_all_alike_give_one_centre(make_walker, toy):
    walker = make_walker(replace(toy, X=np.ones_like(toy.X)))
    (report,) = walked(walker, {1, 2, 12})
    assert walker.objective.engine.quality(report.place.point.state).train_auc == 0.5
    assert_allclose(report.coef, 0, atol=1e-12)
