"""Where candidates come from, and which one is chosen."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from toys import KERNEL, grow, grow_by, make_toy, those

from skauc.exceptions import InvalidParameterError
from skauc.kernels import RBF, Linear
from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.basis import Basis
from skauc.sparse.gains import Exhaustive, Gains, LineMinimum, NewtonLine
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.selection import SELECTIONS, Forward, OneByOne, make_selector

CENTRES = [3, 17, 40]
optimise = partial(minimise, step=cholesky_step, tol=1e-10, max_iter=100)


@pytest.fixture
def toy():
    return make_toy()


@pytest.fixture
def engine(engine_case, toy):
    return engine_case.build(toy)


def select(selection, engine, n_candidates=10, seed=0, n_basis=8):
    return make_selector(
        selection,
        engine,
        n_basis=n_basis,
        n_candidates=n_candidates,
        minimise=optimise,
        random_state=np.random.RandomState(seed),
    )


def choose(selector, engine, basis, n_most=1):
    """The choice that follows the optimum over the basis."""
    objective = Objective(engine, pair_weight(1.0, engine))
    point = optimise(objective, np.zeros(len(basis))).point
    return selector.choose(objective, basis, point, n_most)


def chosen_index(selector, engine, basis):
    (index,) = choose(selector, engine, basis).added.indices
    return index


# Drawn rows


@pytest.mark.parametrize("n_candidates", [1, 10, 110, 120])
def test_as_many_rows_are_drawn_as_were_asked_for_and_none_of_the_basis(engine, toy, n_candidates):
    basis = grow(engine, toy.X, KERNEL, CENTRES)
    draw = select("greedy", engine, n_candidates=n_candidates).draw
    for _ in range(5):
        indices, widths, rows = draw(engine, basis)
        assert len(np.unique(indices)) == len(indices) == min(n_candidates, 117)
        assert not np.isin(indices, CENTRES).any()
        assert_array_equal(rows, toy.X[indices])
        assert not widths.any()


def test_every_row_of_a_class_is_drawn_as_often_as_any_other(engine_case, toy):
    engine = engine_case.build(toy, capacity=30)
    basis = grow(engine, toy.X, KERNEL, range(30))
    draw = select("greedy", engine, n_candidates=20).draw
    counts = np.bincount(np.concatenate([draw(engine, basis)[0] for _ in range(2000)]))
    assert not counts[:30].any()
    for side in (toy.positive, ~toy.positive):
        free = counts[30:][side[30:]]
        # Ten of a class in each draw; the standard deviation is less than the root of the mean.
        assert_allclose(free, 2000 * 10 / len(free), rtol=0, atol=5 * np.sqrt(free.mean()))


def test_draws_follow_the_random_state(engine, toy):
    basis = grow(engine, toy.X, KERNEL, CENTRES)
    first, again, other = (select("greedy", engine, seed=seed).draw for seed in (0, 0, 1))
    one = [first(engine, basis)[0] for _ in range(3)]
    assert_array_equal(one, [again(engine, basis)[0] for _ in range(3)])
    assert not np.array_equal(one, [other(engine, basis)[0] for _ in range(3)])
    assert not np.array_equal(one[0], one[1])


def test_random_selection_draws_one_row(engine, toy):
    basis = grow(engine, toy.X, KERNEL, CENTRES)
    indices, _, _ = select("random", engine).draw(engine, basis)
    assert indices.shape == (1,)


# Several widths

WIDTHS = [RBF(2.0), RBF(0.4)]


@pytest.mark.parametrize(("n_candidates", "n_drawn"), [(10, 5), (11, 5), (1, 1), (120, 120)])
def test_widths_share_the_candidates_unless_every_row_is_one(engine, n_candidates, n_drawn):
    basis = Basis(WIDTHS, 4, engine.precision)
    indices, widths, rows = select("greedy", engine, n_candidates).draw(engine, basis)
    assert_array_equal(np.bincount(widths), [n_drawn, n_drawn])
    assert len(indices) == len(rows) == 2 * n_drawn


def test_widths_need_not_share_when_every_row_that_counts_is_a_candidate(engine):
    engine.hold_out(those(np.arange(engine.n_rows) >= 90))
    basis = Basis(WIDTHS, 4, engine.precision)
    indices, widths, _ = select("greedy", engine, n_candidates=100).draw(engine, basis)
    for width in (0, 1):
        assert_array_equal(np.sort(indices[widths == width]), np.arange(90))


def test_a_row_may_be_a_centre_of_each_width(engine, toy):
    basis = Basis(WIDTHS, 4, engine.precision)
    grow_by(engine, basis, toy.X, [3])
    draw = select("greedy", engine, n_candidates=engine.n_rows).draw
    indices, widths, _ = draw(engine, basis)
    assert widths[indices == 3].tolist() == [1]


# Landmarks


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
def test_landmarks_are_the_means_of_their_clusters(engine_case, toy, as_format):
    centres = np.array([[0.0, 0.0, 0.0], [20.0, 0.0, 0.0], [0.0, 20.0, 0.0]])
    nearest = np.arange(len(toy.X)) % 3
    X = centres[nearest] + 0.1 * toy.X
    engine = engine_case.build(replace(toy, X=as_format(X)))
    basis = Basis([KERNEL], 3, engine.precision)
    origins, _, means = select("kmeans", engine, n_basis=3).draw(engine, basis)
    assert sparse.issparse(means) == (as_format is sparse.csr_array)
    means = means.toarray() if sparse.issparse(means) else means
    expected = np.array([X[nearest == cluster].mean(axis=0) for cluster in range(3)])
    assert_allclose(means[np.argsort(nearest[origins])], expected, atol=1e-6)
    for mean, origin in zip(means, origins, strict=True):
        distances = np.linalg.norm(X - mean, axis=1)
        assert distances[origin] == distances.min()


def test_landmarks_keep_the_precision_of_the_rows(engine_case):
    engine = engine_case.build(make_toy(dtype=np.float32))
    basis = Basis(WIDTHS, 1, engine.precision)
    origins, widths, means = select("kmeans", engine).draw(engine, basis)
    assert means.dtype == np.float32
    # The same landmarks for each width.
    assert means.shape == (16, 3)
    assert_array_equal(means[:8], means[8:])
    assert_array_equal(origins[:8], origins[8:])
    assert_array_equal(widths, np.repeat([0, 1], 8))


def test_each_landmark_is_chosen_once(engine):
    basis = Basis([KERNEL], 4, engine.precision)
    selector = select("kmeans", engine, n_basis=4)
    for _ in range(4):
        basis.append(engine, choose(selector, engine, basis).added)
    assert len(np.unique(basis.centres, axis=0)) == 4
    assert choose(selector, engine, basis) is None


# The choice


@pytest.mark.parametrize("selection", ["greedy", "exact", "exhaustive", "random", "kmeans"])
def test_the_choice_is_the_candidate_of_the_largest_gain(engine, toy, selection):
    basis = Basis(WIDTHS, 8, engine.precision)
    grow_by(engine, basis, toy.X, CENTRES)
    selector = select(selection, engine)
    seen = []

    class Spy:
        def evaluate(self, objective, point, candidates):
            found = selector.rule.evaluate(objective, point, candidates)
            seen.append((candidates, found))
            return found

    choice = choose(OneByOne(selector.draw, Spy()), engine, basis, n_most=5)
    ((candidates, found),) = seen
    best = int(np.argmax(found.gains))
    assert choice.added.indices.tolist() == [candidates.indices[best]]
    assert choice.added.widths.tolist() == [candidates.widths[best]]
    assert_array_equal(choice.added.centres, candidates.centres[[best]])
    assert_array_equal(choice.added.coordinates, candidates.projection.coordinates[:, [best]])
    assert_array_equal(choice.added.factor, [[candidates.norms[best]]])
    assert_array_equal(choice.move, found.moves[:, best])


@pytest.mark.parametrize("selection", SELECTIONS)
def test_only_forward_selection_chooses_several_centres_at_a_time(engine, toy, selection):
    basis = grow(engine, toy.X, KERNEL, CENTRES)
    selector = select(selection, engine, n_candidates=20)
    choice = choose(selector, engine, basis, n_most=4)
    assert len(choice.added.indices) == (4 if selection == "orthogonal" else 1)
    assert choice.move.shape == (len(CENTRES) + len(choice.added.indices),)


@pytest.mark.parametrize(("n_candidates", "n_chosen"), [(3, 1), (10, 2), (100, 9)])
def test_forward_selection_chooses_a_quarter_of_the_pool_at_most(
    engine, toy, n_candidates, n_chosen
):
    basis = grow(engine, toy.X, KERNEL, CENTRES)
    selector = select("orthogonal", engine, n_candidates=n_candidates)
    assert len(choose(selector, engine, basis, n_most=9).added.indices) == n_chosen


@pytest.mark.parametrize("selection", ["orthogonal", "greedy", "exact", "exhaustive"])
def test_the_order_of_the_rows_does_not_matter(engine_case, toy, selection):
    order = np.random.default_rng(1).permutation(len(toy.X))
    permuted = replace(
        toy, X=toy.X[order], positive=toy.positive[order], weights=toy.weights[order]
    )
    here, there = engine_case.build(toy), engine_case.build(permuted)
    basis = grow(here, toy.X, KERNEL, CENTRES)
    chosen = choose(select(selection, here, 200), here, basis, n_most=3)
    places = [int(np.flatnonzero(order == centre)[0]) for centre in CENTRES]
    basis = grow(there, permuted.X, KERNEL, places)
    again = choose(select(selection, there, 200), there, basis, n_most=3)
    assert_array_equal(order[again.added.indices], chosen.added.indices)


class Fixed:
    """A rule that returns fixed gains."""

    def __init__(self, gains):
        self.gains = np.array(gains)

    def evaluate(self, objective, point, candidates):
        return Gains(self.gains, candidates.columns)


@pytest.mark.parametrize(
    ("gains", "best"),
    [
        ([1.0, 3.0, 2.0], 1),
        ([1.0, 3.0 * (1 - 1e-12), 3.0], 1),  # a tie: the first of them
        ([0.0, 0.0, 0.0], 0),
        ([-2e-16, -1e-16, -3e-16], 1),
    ],
)
def test_ties_go_to_the_first_candidate(engine, toy, gains, best):
    basis = grow(engine, toy.X, KERNEL, CENTRES)
    indices = np.array([5, 6, 7])
    drawn = indices, np.zeros(3, dtype=int), toy.X[indices]
    selector = OneByOne(lambda engine, basis: drawn, Fixed(gains))
    assert chosen_index(selector, engine, basis) == indices[best]


# The end


def test_copies_of_centres_are_passed_over(engine_case, toy):
    toy.X[50:] = toy.X[CENTRES[0]]
    engine = engine_case.build(toy)
    basis = grow(engine, toy.X, KERNEL, CENTRES)
    selector = select("greedy", engine, n_candidates=5)
    for _ in range(10):
        assert chosen_index(selector, engine, basis) < 50


@pytest.mark.parametrize("selection", SELECTIONS)
def test_nothing_is_chosen_when_no_independent_row_is_left(engine_case, toy, selection):
    engine = engine_case.build(toy)
    basis = grow(engine, toy.X, Linear(), CENTRES)  # as many as there are features
    assert choose(select(selection, engine), engine, basis) is None


def test_nothing_is_chosen_when_every_row_is_a_centre(engine_case):
    toy = make_toy(n_rows=6)
    engine = engine_case.build(toy)
    basis = grow(engine, toy.X, KERNEL, range(6))
    for selection in ("orthogonal", "greedy"):
        assert choose(select(selection, engine), engine, basis) is None


# Names


@pytest.mark.parametrize(
    ("selection", "rule"),
    [
        ("greedy", NewtonLine),
        ("exact", LineMinimum),
        ("exhaustive", Exhaustive),
        ("random", NewtonLine),
        ("kmeans", NewtonLine),
    ],
)
def test_selection_names_a_gain_rule(engine, selection, rule):
    assert isinstance(select(selection, engine).rule, rule)
    assert isinstance(select("orthogonal", engine), Forward)


def test_an_unknown_selection_is_refused(engine):
    message = r"`selection` must be one of 'orthogonal', 'greedy', .*; got 'best'\."
    with pytest.raises(InvalidParameterError, match=message):
        select("best", engine)
