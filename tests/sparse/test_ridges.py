"""Which ridges are drawn, and which of them are kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from toys import make_toy

from skauc.engines.passes import CandidateGains, Centres
from skauc.kernels import RBF
from skauc.sparse.basis import RIDGE, Basis
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.ridges import RIDGES, RidgeDraw


def draw_of(engine, n_candidates, random_state, shapes="ridge"):
    return RidgeDraw.of(RIDGES[shapes], engine, n_candidates, random_state)


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
def test_ridges_go_through_rows_along_few_features(engine_case, as_format):
    toy = make_toy()
    toy.X[:, 1] = np.round(2 * toy.X[:, 1])
    wide = np.hstack((toy.X, toy.X[:, ::-1] ** 2, np.full((120, 1), 3.0)))
    engine = engine_case.build(type(toy)(as_format(wide), toy.positive, toy.weights))
    ridges = draw_of(engine, 100, np.random.RandomState(0))
    indices, centres, kernel = ridges.draw(engine)
    centres = centres.toarray() if sparse.issparse(centres) else centres
    used = kernel.metric != 0
    assert kernel.is_ridge.all()
    assert 200 < len(indices) <= 300
    assert_array_equal(np.unique(used.sum(axis=1)), [1, 2, 3, 4])
    # The constant feature is not used, and the others are wherever their ridge needs them.
    assert not used[:, -1].any()
    assert_array_equal(centres, np.where(used, wide[indices], 0))
    along = wide @ kernel.metric.T
    sharpness = np.unique(np.round(np.sqrt(2) * along.std(axis=0), 1))
    assert_allclose(sharpness, [1, 3, 9], rtol=0.2)
    # No two are the same function.
    gram = kernel.gram(centres, kernel, centres)
    assert_array_equal(gram, np.eye(len(gram)))


def test_those_with_the_largest_gain_are_kept(engine_case):
    toy = make_toy()
    engine = engine_case.build(toy)
    objective = Objective(engine, pair_weight(1.0, engine))
    basis = Basis([RBF(0.5)], 4, engine.precision, n_scales=3)
    point = objective.at(np.zeros(0))
    drawn = draw_of(engine, 20, np.random.RandomState(0)).draw(engine)
    kept = draw_of(engine, 20, np.random.RandomState(0)).best(objective, basis, point)
    assert len(kept) == 10
    assert_array_equal(kept.widths, RIDGE)
    along = engine.ask(CandidateGains(Centres(drawn[2], drawn[1])), point.state)
    gains = objective.C_pair * along.slopes**2 / (1 + objective.C_pair * along.curvatures)
    best = np.sort(np.argsort(-gains)[:10])
    assert_array_equal(kept.kernel.metric, drawn[2].metric[best])
    assert_array_equal(kept.indices, drawn[0][best])


def test_rows_that_do_not_vary_have_no_ridges(engine_case):
    toy = make_toy()
    engine = engine_case.build(type(toy)(np.ones((120, 2)), toy.positive, toy.weights))
    indices, centres, _ = draw_of(engine, 20, np.random.RandomState(0)).draw(engine)
    assert len(indices) == 0
    assert centres.shape == (0, 2)


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_differences_of_equal_features_are_no_ridges(engine_case, as_format, dtype):
    """They would be rounding noise, which depends on the rows that are scored together."""
    toy = make_toy()
    first = toy.X[:, :1]
    equal = np.hstack((first, 3 * first + 100, -0.1 * first)).astype(dtype)
    engine = engine_case.build(type(toy)(as_format(equal), toy.positive, toy.weights))
    _, _, kernel = draw_of(engine, 100, np.random.RandomState(0)).draw(engine)
    assert len(kernel.metric) > 20
    assert np.abs(kernel.metric * equal.std(axis=0)).max() < 20


def test_additive_ridges_use_one_feature_and_are_wide(engine_case):
    toy = make_toy()
    engine = engine_case.build(toy)
    ridges = draw_of(engine, 100, np.random.RandomState(0), "additive")
    _, centres, kernel = ridges.draw(engine)
    assert_array_equal((kernel.metric != 0).sum(axis=1), 1)
    sharpness = np.unique(np.round(np.sqrt(2) * (toy.X @ kernel.metric.T).std(axis=0), 2))
    assert_allclose(sharpness, [0.3, 0.6, 1.25], rtol=0.05)
    assert centres.shape == kernel.metric.shape
