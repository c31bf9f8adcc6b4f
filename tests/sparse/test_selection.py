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
from skauc.sparse.gains import Exhaustive, Gains, LineMinimum, NewtonLine, OrthogonalNewton
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.selection import SELECTIONS, Selector, make_selector

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


def choose(selector, engine, basis):
    """The choice that follows the optimum over the basis."""
    objective = Objective(engine, pair_weight(1.0, engine))
    point = optimise(objective, np.zeros(len(basis))).point
    return selector.next(objective, basis, point, selector.rule.model(objective, point))


# Drawn rows


def test_all_rows_are_drawn_when_they_are_few(engine):
    basis = grow(engine, KERNEL, CENTRES)
    indices, rows = select("greedy", engine, n_candidates=engine.n_rows).draw(basis, 0)
    expected = np.setdiff1d(np.arange(engine.n_rows), CENTRES)
    assert_array_equal(indices, expected)
    assert_array_equal(rows, engine.rows(expected))


@pytest.mark.parametrize("n_candidates", [1, 10, 110])
def test_as_many_rows_are_drawn_as_were_asked_for_and_none_of_the_basis(engine, n_candidates):
    basis = grow(engine, KERNEL, CENTRES)
    draw = select("greedy", engine, n_candidates=n_candidates).draw
    for _ in range(20):
        indices, rows = draw(basis, 0)
        assert len(indices) == n_candidates
        assert np.all(np.diff(indices) > 0)
        assert not np.isin(indices, CENTRES).any()
        assert_array_equal(rows, engine.rows(indices))


@pytest.mark.parametrize("n_centres", [0, 60])
def test_every_row_outside_the_basis_is_drawn_as_often_as_any_other(engine_case, toy, n_centres):
    engine = engine_case.build(toy, capacity=60)
    basis = grow(engine, KERNEL, range(n_centres))
    n_free = engine.n_rows - n_centres
    draw = select("greedy", engine, n_candidates=n_free // 4).draw
    counts = np.bincount(np.concatenate([draw(basis, 0)[0] for _ in range(2000)]))
    # 2000 draws of a quarter of the free rows: 500 each, with a standard deviation of 19.
    assert np.all(np.abs(counts[n_centres:] - 500) < 100)
    assert not counts[:n_centres].any()


def test_draws_follow_the_random_state(engine):
    basis = grow(engine, KERNEL, CENTRES)
    first, again, other = (select("greedy", engine, seed=seed).draw for seed in (0, 0, 1))
    one = [first(basis, 0)[1] for _ in range(3)]
    assert_array_equal(one, [again(basis, 0)[1] for _ in range(3)])
    assert not np.array_equal(one, [other(basis, 0)[1] for _ in range(3)])
    assert not np.array_equal(one[0], one[1])


def test_random_selection_draws_one_row(engine):
    basis = grow(engine, KERNEL, CENTRES)
    indices, _ = select("random", engine).draw(basis, 0)
    assert indices.shape == (1,)


# Several widths

WIDTHS = [RBF(2.0), RBF(0.4)]


@pytest.mark.parametrize(("n_candidates", "n_drawn"), [(10, 5), (11, 5), (1, 1), (120, 120)])
def test_widths_share_the_candidates_unless_every_row_is_one(engine, n_candidates, n_drawn):
    basis = Basis(WIDTHS, 4, engine.precision)
    draw = select("greedy", engine, n_candidates=n_candidates).draw
    assert [len(draw(basis, width)[0]) for width in (0, 1)] == [n_drawn, n_drawn]


def test_widths_need_not_share_when_every_row_that_counts_is_a_candidate(engine):
    engine.hold_out(those(np.arange(engine.n_rows) >= 90))
    basis = Basis(WIDTHS, 4, engine.precision)
    indices, _ = select("greedy", engine, n_candidates=100).draw(basis, 0)
    assert_array_equal(indices, np.arange(90))


def test_a_row_may_be_a_centre_of_each_width(engine):
    basis = Basis(WIDTHS, 4, engine.precision)
    grow_by(engine, basis, 3, 0)
    draw = select("greedy", engine, n_candidates=engine.n_rows).draw
    assert 3 not in draw(basis, 0)[0]
    assert 3 in draw(basis, 1)[0]


@pytest.mark.parametrize("selection", ["orthogonal", "greedy", "exact", "exhaustive"])
def test_the_best_of_all_widths_is_chosen(engine, selection):
    basis = Basis(WIDTHS, 4, engine.precision)
    grow_by(engine, basis, 3, 0)
    grow_by(engine, basis, 17, 1)
    both = choose(select(selection, engine, n_candidates=200), engine, basis)
    gains = []
    for width in (0, 1):
        selector = select(selection, engine, n_candidates=200)
        indices = np.arange(engine.n_rows)
        nothing = engine.rows(indices[:0]), indices[:0]
        selector = Selector(
            lambda basis, other, width=width, draw=selector.draw, nothing=nothing: (
                draw(basis, other) if other == width else nothing
            ),
            selector.rule,
        )
        choice = choose(selector, engine, basis)
        assert choice.width == width
        assert choice.kernel is WIDTHS[width]
        gains.append(choice.gain)
    assert both.gain == max(gains)
    assert both.width == int(np.argmax(gains))


# Landmarks


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
def test_landmarks_are_the_means_of_their_clusters(engine_case, toy, as_format):
    centres = np.array([[0.0, 0.0, 0.0], [20.0, 0.0, 0.0], [0.0, 20.0, 0.0]])
    nearest = np.arange(len(toy.X)) % 3
    X = centres[nearest] + 0.1 * toy.X
    engine = engine_case.build(replace(toy, X=as_format(X)))
    basis = grow(engine, KERNEL, [], capacity=3)
    origins, means = select("kmeans", engine, n_basis=3).draw(basis, 0)
    assert sparse.issparse(means) == (as_format is sparse.csr_array)
    means = means.toarray() if sparse.issparse(means) else means
    expected = np.array([X[nearest == cluster].mean(axis=0) for cluster in range(3)])
    assert_allclose(means[np.argsort(nearest[origins])], expected, atol=1e-6)
    for mean, origin in zip(means, origins, strict=True):
        distances = np.linalg.norm(X - mean, axis=1)
        assert distances[origin] == distances.min()


def test_landmarks_keep_the_precision_of_the_rows(engine_case):
    engine = engine_case.build(make_toy(dtype=np.float32))
    _, means = select("kmeans", engine).draw(grow(engine, KERNEL, [], capacity=1), 0)
    assert means.dtype == np.float32
    assert means.shape == (8, 3)


def test_each_landmark_is_chosen_once(engine):
    basis = grow(engine, KERNEL, [], capacity=4)
    selector = select("kmeans", engine, n_basis=4)
    for _ in range(4):
        choice = choose(selector, engine, basis)
        basis.append(engine, choice.centre, choice.index, choice.coordinates, choice.norm)
    assert len(np.unique(basis.centres, axis=0)) == 4
    assert choose(selector, engine, basis) is None


# The choice


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_choice_is_the_candidate_of_the_largest_gain(engine, selection):
    basis = grow(engine, KERNEL, CENTRES)
    selector = select(selection, engine)
    seen = []

    class Spy:
        def model(self, objective, point):
            return selector.rule.model(objective, point)

        def evaluate(self, objective, point, model, candidates):
            found = selector.rule.evaluate(objective, point, model, candidates)
            seen.append((candidates, found))
            return found

    choice = choose(Selector(selector.draw, Spy()), engine, basis)
    ((candidates, found),) = seen
    best = int(np.argmax(found.gains))
    assert choice.index == candidates.indices[best]
    assert_array_equal(choice.centre, candidates.centres[[best]])
    assert_array_equal(choice.coordinates, candidates.projection.coordinates[:, best])
    assert choice.norm == candidates.projection.norms[best]
    assert_array_equal(choice.move, found.moves[:, best])


@pytest.mark.parametrize("selection", ["orthogonal", "greedy", "exact", "exhaustive"])
def test_the_order_of_the_rows_does_not_matter(engine_case, toy, selection):
    order = np.random.default_rng(1).permutation(len(toy.X))
    permuted = replace(
        toy, X=toy.X[order], positive=toy.positive[order], weights=toy.weights[order]
    )
    here, there = engine_case.build(toy), engine_case.build(permuted)
    chosen = choose(select(selection, here, 200), here, grow(here, KERNEL, CENTRES))
    places = [int(np.flatnonzero(order == centre)[0]) for centre in CENTRES]
    again = choose(select(selection, there, 200), there, grow(there, KERNEL, places))
    assert order[again.index] == chosen.index


def test_the_model_grows_with_the_choice(engine):
    basis = grow(engine, KERNEL, CENTRES)
    choice = choose(select("orthogonal", engine), engine, basis)
    assert choice.model.factor.shape == (4, 4)
    assert choose(select("greedy", engine), engine, basis).model is None


class Fixed:
    """A rule that returns fixed gains."""

    def __init__(self, gains):
        self.gains = np.array(gains)

    def model(self, objective, point):
        return None

    def evaluate(self, objective, point, model, candidates):
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
def test_ties_go_to_the_first_candidate(engine, gains, best):
    basis = grow(engine, KERNEL, CENTRES)
    indices = np.array([5, 6, 7])
    selector = Selector(lambda basis, width: (indices, engine.rows(indices)), Fixed(gains))
    assert choose(selector, engine, basis).index == indices[best]


# The end


def test_copies_of_centres_are_passed_over(engine_case, toy):
    toy.X[50:] = toy.X[CENTRES[0]]
    engine = engine_case.build(toy)
    basis = grow(engine, KERNEL, CENTRES)
    selector = select("greedy", engine, n_candidates=5)
    for _ in range(10):
        assert choose(selector, engine, basis).index < 50


@pytest.mark.parametrize("selection", SELECTIONS)
def test_nothing_is_chosen_when_no_independent_row_is_left(engine_case, toy, selection):
    engine = engine_case.build(toy)
    basis = grow(engine, Linear(), CENTRES)  # as many as there are features
    assert choose(select(selection, engine), engine, basis) is None


def test_nothing_is_chosen_when_every_row_is_a_centre(engine_case):
    engine = engine_case.build(make_toy(n_rows=6))
    basis = grow(engine, KERNEL, range(6))
    assert choose(select("greedy", engine), engine, basis) is None


# Names


@pytest.mark.parametrize(
    ("selection", "rule"),
    [
        ("orthogonal", OrthogonalNewton),
        ("greedy", NewtonLine),
        ("exact", LineMinimum),
        ("exhaustive", Exhaustive),
        ("random", NewtonLine),
        ("kmeans", NewtonLine),
    ],
)
def test_selection_names_a_gain_rule(engine, selection, rule):
    assert isinstance(select(selection, engine).rule, rule)


def test_an_unknown_selection_is_refused(engine):
    message = r"`selection` must be one of 'orthogonal', 'greedy', .*; got 'best'\."
    with pytest.raises(InvalidParameterError, match=message):
        select("best", engine)
