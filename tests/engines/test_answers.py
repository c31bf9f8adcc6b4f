"""Every engine against the O(p * n) definitions, through explicit columns."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from toys import KERNEL, explicit_columns, grow, grow_by, make_toy, those

from skauc import SparseKernelAUC
from skauc.engines import (
    ENGINES,
    KernelColumn,
    LinearColumns,
    OrthonormalColumns,
    current_policy,
    make_engine,
    read_training,
    size_policy,
)
from skauc.engines.passes import (
    CandidateGains,
    Centres,
    Derivatives,
    Gradient,
    HessianProduct,
    LineSlopes,
    Moments,
    Ridges,
)
from skauc.exceptions import InvalidParameterError
from skauc.kernels import RBF
from skauc.losses.focus import make_focus
from skauc.shaped_rbf import ShapedRBF

CENTRES = [3, 17, 40, 71, 90]
WEIGHTS = np.array([0.9, -1.1, 0.4, 0.7, -0.3])
CANDIDATES = [5, 11, 80]


@pytest.fixture
def toy():
    return make_toy()


@pytest.fixture
def engine(engine_case, toy):
    engine = engine_case.build(toy)
    grow(engine, toy.X, KERNEL, CENTRES)
    return engine


@pytest.fixture
def columns(toy):
    return explicit_columns(toy.X, CENTRES)


@pytest.fixture
def close(engine_case):
    """Compare to the tolerance of the mode, relative to the largest number."""

    def assert_close(actual, expected):
        scale = np.abs(expected).max()
        assert_allclose(actual, expected, rtol=0, atol=engine_case.tolerance * scale)

    return assert_close


@pytest.fixture
def loss_hessian(engine_case):
    """Half the Hessian with respect to the scores, of the pairs that a state counts."""

    def find(state, toy):
        cell = np.concatenate([part.coarse.cell for part in engine_case.states(state)])
        counted = cell[toy.positive][:, None] < cell[~toy.positive]
        return oracles.hessian(counted, toy.positive, toy.weights)

    return find


@pytest.fixture
def unit_lines(engine_case):
    """The columns of an engine."""

    def find(engine, n_columns=5):
        units = np.eye(n_columns)
        lines = [engine_case.values(engine, engine.direction(unit)) for unit in units]
        return np.column_stack(lines)

    return find


# Columns


def test_columns_are_those_of_the_orthonormal_basis(engine, unit_lines, columns, close):
    close(unit_lines(engine), columns)


def test_columns_at_the_centres_are_the_cholesky_factor(engine, unit_lines, toy, close):
    gram = rbf_kernel(toy.X[CENTRES], gamma=KERNEL.gamma)
    close(unit_lines(engine)[CENTRES], np.linalg.cholesky(gram))


def test_a_kernel_column_is_a_line(engine_case, toy, close):
    engine = engine_case.build(toy)
    centre = toy.X[[7]]
    expected = rbf_kernel(toy.X, centre, gamma=KERNEL.gamma)[:, 0]
    close(engine_case.values(engine, engine.line(KernelColumn(KERNEL, centre))), expected)


def test_weights_of_the_first_columns_ignore_the_last(engine, toy):
    before = engine.at(WEIGHTS).loss
    engine.append(OrthonormalColumns(KERNEL, toy.X[[100]], np.zeros((5, 1)), np.eye(1)))
    assert_allclose(engine.at(WEIGHTS).loss, before, rtol=1e-12)
    assert engine.ask(Gradient(5), engine.at(WEIGHTS)).shape == WEIGHTS.shape
    assert engine.ask(Gradient(6), engine.at(WEIGHTS)).shape == (6,)


@pytest.mark.parametrize("ranks", [[0, 4, 7, 39], []])
def test_rows_are_found_by_their_rank_in_a_class(engine, toy, ranks):
    assert engine.class_counts == (80, 40)
    for of_class in (0, 1):
        numbers, rows = engine.find(of_class, np.array(ranks, dtype=int))
        assert_array_equal(numbers, np.flatnonzero(toy.positive == of_class)[ranks])
        assert_array_equal(rows, toy.X[numbers])


def test_classes_weigh_what_their_rows_weigh(engine, toy):
    assert_allclose(engine.positive_weight, toy.weights[toy.positive].sum())
    assert_allclose(engine.negative_weight, toy.weights[~toy.positive].sum())


def test_precision_is_that_of_the_columns(engine_case, engine):
    assert engine.precision == np.finfo(np.float64 if engine_case.exact else np.float32).eps


# Scores and pairs


def test_scores_and_loss_at_the_weights(engine_case, engine, toy, columns, close):
    state = engine.at(WEIGHTS)
    close(engine_case.scores(state), columns @ WEIGHTS)
    close(state.loss, oracles.loss(columns @ WEIGHTS, toy.positive, toy.weights))


def test_a_step_is_the_state_at_the_sum(engine_case, engine, close):
    move = np.array([0.2, 0.1, -0.5, 0.0, 1.0])
    stepped = engine.step(engine.at(WEIGHTS), engine.direction(move), 0.7)
    direct = engine.at(WEIGHTS + 0.7 * move)
    close(engine_case.scores(stepped), engine_case.scores(direct))
    close(stepped.loss, direct.loss)


def test_without_columns_all_scores_are_zero(engine_case, toy):
    engine = engine_case.build(toy)
    state = engine.at(np.empty(0))
    assert_allclose(state.loss, engine.positive_weight * engine.negative_weight)
    assert engine.ask(Gradient(0), state).shape == (0,)
    gradient, hessian = engine.ask(Derivatives(0), state)
    assert (gradient.shape, hessian.shape) == ((0,), (0, 0))


def test_gradient_is_the_residual_through_the_columns(engine, toy, columns, close):
    expected = columns.T @ oracles.residual(columns @ WEIGHTS, toy.positive, toy.weights)
    close(engine.ask(Gradient(5), engine.at(WEIGHTS)), expected)


def test_small_data_count_exactly_the_violating_pairs(engine_case, engine, toy, loss_hessian):
    state = engine.at(WEIGHTS)
    violates = oracles.violating(engine_case.scores(state), toy.positive)
    exact = oracles.hessian(violates, toy.positive, toy.weights)
    if engine_case.exact:
        assert_array_equal(loss_hessian(state, toy), exact)
    else:
        missing = 1 - np.trace(loss_hessian(state, toy)) / np.trace(exact)
        assert 0 <= missing < 0.01


def test_derivatives_are_those_of_the_counted_pairs(
    engine_case, engine, toy, columns, close, loss_hessian
):
    start = engine.at(WEIGHTS)
    # Half of the rows no longer violate.
    apart = np.where(toy.positive, 3.0, -3.0) * (np.arange(len(toy.X)) % 2)
    state = engine.step(start, engine_case.line(toy, apart), 1.0)
    kernel_columns = rbf_kernel(toy.X, toy.X[CANDIDATES], gamma=KERNEL.gamma)
    for n_columns, n_candidates in ((5, 0), (2, 0), (5, 3), (2, 3), (0, 3)):
        wide = np.hstack((columns[:, :n_columns], kernel_columns[:, :n_candidates]))
        centres = Centres(KERNEL, toy.X[CANDIDATES]) if n_candidates else None
        for moved, place in ((0.0, start), (apart, state)):
            gradient, hessian = engine.ask(Derivatives(n_columns, centres), place)
            scores = columns @ WEIGHTS + moved
            close(gradient, wide.T @ oracles.residual(scores, toy.positive, toy.weights))
            close(hessian, wide.T @ loss_hessian(place, toy) @ wide)


def test_nearly_constant_columns_keep_the_digits_in_which_they_differ(
    engine_case, toy, loss_hessian
):
    engine = engine_case.build(toy)
    grow(engine, toy.X, RBF(1e-4), [3])
    state = engine.at(np.ones(1))
    column = explicit_columns(toy.X, [3], gamma=1e-4)
    expected = column.T @ loss_hessian(state, toy) @ column
    rtol = 1e-8 if engine_case.exact else 1e-2
    assert_allclose(engine.ask(Derivatives(1), state)[1], expected, rtol=rtol)


def test_hessian_product_multiplies_by_the_hessian(engine, close):
    state, vector = engine.at(WEIGHTS), np.array([1.0, -2.0, 0.5, 3.0, 0.1])
    product = engine.ask(HessianProduct(engine.direction(vector), 5), state)
    close(product, engine.ask(Derivatives(5), state)[1] @ vector)


def test_line_slopes_are_those_of_the_loss_along_the_line(
    engine_case, engine, toy, close, loss_hessian
):
    state = engine.at(WEIGHTS)
    line = rbf_kernel(toy.X, toy.X[[7]], gamma=KERNEL.gamma)[:, 0]
    column = engine.line(KernelColumn(KERNEL, toy.X[[7]]))
    slope, curvature = engine.ask(LineSlopes(column), state)
    residual = oracles.residual(engine_case.scores(state), toy.positive, toy.weights)
    close(slope, line @ residual)
    close(curvature, line @ loss_hessian(state, toy) @ line)


def test_candidates_have_the_slopes_and_curvatures_of_their_columns(
    engine_case, engine, toy, columns, close, loss_hessian
):
    # Half of the rows do not violate.
    apart = np.where(toy.positive, 3.0, -3.0) * (np.arange(len(toy.X)) % 2)
    state = engine.step(engine.at(WEIGHTS), engine_case.line(toy, apart), 1.0)
    candidates = rbf_kernel(toy.X, toy.X[CANDIDATES], gamma=KERNEL.gamma)
    residual = oracles.residual(columns @ WEIGHTS + apart, toy.positive, toy.weights)
    along = engine.ask(CandidateGains(Centres(KERNEL, toy.X[CANDIDATES])), state)
    close(along.slopes, candidates.T @ residual)
    curved = loss_hessian(state, toy) @ candidates
    close(along.curvatures, np.einsum("iq,iq->q", candidates, curved))


def test_candidates_may_have_widths_of_their_own(engine, toy, close):
    state, gammas = engine.at(WEIGHTS), np.array([0.1, 0.5, 2.0])
    several = Centres(RBF(gammas), toy.X[CANDIDATES])
    gradient, hessian = engine.ask(Derivatives(0, several), state)
    along = engine.ask(CandidateGains(several), state)
    for number, (gamma, centre) in enumerate(zip(gammas, CANDIDATES, strict=True)):
        one = engine.ask(Derivatives(0, Centres(RBF(gamma), toy.X[[centre]])), state)
        for slope in (gradient[number], along.slopes[number]):
            close(slope, one[0][0])
        for curvature in (hessian[number, number], along.curvatures[number]):
            close(curvature, one[1][0, 0])


def test_derivatives_are_by_the_columns_of_the_time(engine, toy, columns, close, loss_hessian):
    state = engine.at(WEIGHTS)
    engine.ask(Derivatives(5), state)
    centre = toy.X[[100]]
    engine.append(OrthonormalColumns(KERNEL, centre, np.zeros((4, 1)), np.eye(1)))
    column = rbf_kernel(toy.X, centre, gamma=KERNEL.gamma)
    changed = np.hstack((columns[:, :4], column))
    hessian = engine.ask(Derivatives(5), state)[1]
    close(hessian, changed.T @ loss_hessian(state, toy) @ changed)


def test_rows_without_a_violating_partner_change_no_slope(engine_case, close):
    toy = make_toy()
    far = np.where(toy.positive, 30.0, -30.0)
    toy = replace(toy, X=np.column_stack((toy.X[:, :2], far)))
    engine = engine_case.build(toy)
    grow(engine, toy.X, KERNEL, [int(np.flatnonzero(toy.positive)[0])])
    apart = engine_case.line(toy, np.where(toy.positive, 2.0, -2.0))
    state = engine.step(engine.at(np.zeros(1)), apart, 1.0)
    assert state.loss == 0
    candidates = Centres(KERNEL, toy.X[:5])
    along = engine.ask(CandidateGains(candidates), state)
    derivatives = engine.ask(Derivatives(1, candidates), state)
    for zeros in (along.slopes, along.curvatures, *derivatives):
        assert_array_equal(zeros, np.zeros_like(zeros))


def test_kernel_moments_are_sums_over_the_rows(engine, toy, columns, close):
    gram = rbf_kernel(toy.X[CENTRES], gamma=KERNEL.gamma)
    origin, coef = np.array([0.3, -0.2, 0.1]), np.array([1.0, -0.5, 2.0, 0.3, -1.0])
    state = engine.at(WEIGHTS)
    moments = engine.ask(Moments(5, origin, np.linalg.cholesky(gram), coef), state)
    residual = oracles.residual(columns @ WEIGHTS, toy.positive, toy.weights)
    products = rbf_kernel(toy.X, toy.X[CENTRES], gamma=KERNEL.gamma) * coef * residual[:, None]
    moved = toy.X - origin
    close(moments.first, products.T @ moved)
    close(moments.total, products.sum(axis=0))
    close(moments.second, products.T @ moved**2)


def test_centres_of_several_shapes_have_columns_and_moments(engine_case, toy, close):
    metric = np.array([[0.5, 1.0, 0.7], [1.5, -1.0, 0.0], [0.8, 0.6, 1.1], [0.0, 2.0, 1.0]])
    is_ridge, centres = np.array([False, True, False, True]), toy.X[CENTRES[:4]]
    kernel = ShapedRBF(metric, is_ridge)
    along = ((toy.X[:, None] - centres) * metric).sum(axis=2)
    values = np.exp(-((((toy.X[:, None] - centres) * metric) ** 2).sum(axis=2)))
    values[:, is_ridge] = np.exp(-(along[:, is_ridge] ** 2))
    factor = np.linalg.cholesky(kernel.gram(centres, kernel, centres))
    engine, weights = engine_case.build(toy), WEIGHTS[:4]
    inverse = np.linalg.inv(factor)
    engine.append(OrthonormalColumns(kernel, centres, np.zeros((0, 4)), inverse.T))
    close(engine_case.scores(engine.at(weights)), values @ inverse.T @ weights)
    origin, coef = np.array([0.3, -0.2, 0.1]), np.array([1.0, -0.5, 2.0, 0.3])
    offsets = np.einsum("kj,kj->k", metric, centres - origin)[is_ridge]
    ridges = Ridges(np.flatnonzero(is_ridge), metric[is_ridge], offsets)
    moments = engine.ask(Moments(4, origin, factor, coef, ridges), engine.at(weights))
    residual = oracles.residual(values @ inverse.T @ weights, toy.positive, toy.weights)
    products = values * coef * residual[:, None] * np.where(is_ridge, along, 1.0)
    close(moments.first, products.T @ (toy.X - origin))
    close(moments.total, products.sum(axis=0))
    close(moments.second, products.T @ (toy.X - origin) ** 2)


# The part of the pairs that matters


@pytest.mark.parametrize("region", [{"max_fpr": 0.1}, {"max_fpr": 0.3, "min_tpr": 0.6}])
def test_with_a_focus_answers_are_those_of_the_weights_that_count(
    engine_case, toy, columns, close, loss_hessian, region
):
    engine = engine_case.build(toy, focus=make_focus(region["max_fpr"], region.get("min_tpr")))
    grow(engine, toy.X, KERNEL, CENTRES)
    # Scores in the middle of bins, many of them equal.
    scores = np.round(8 * columns @ WEIGHTS) / 8 + 1 / 2048
    state = engine.step(None, engine_case.line(toy, scores), 1.0)
    kept = oracles.focused_weights(scores, toy.positive, toy.weights, **region)
    close(state.loss, oracles.loss(scores, toy.positive, kept))
    kernel_columns = rbf_kernel(toy.X, toy.X[CANDIDATES], gamma=KERNEL.gamma)
    wide = np.hstack((columns, kernel_columns))
    slopes = wide.T @ oracles.residual(scores, toy.positive, kept)
    curved = wide.T @ loss_hessian(state, replace(toy, weights=kept)) @ wide
    candidates = Centres(KERNEL, toy.X[CANDIDATES])
    gradient, hessian = engine.ask(Derivatives(5, candidates), state)
    close(gradient, slopes)
    close(hessian, curved)
    close(engine.ask(Gradient(5), state), slopes[:5])
    close(engine.ask(HessianProduct(engine.direction(WEIGHTS), 5), state), curved[:5, :5] @ WEIGHTS)
    along = engine.ask(CandidateGains(candidates), state)
    close(along.slopes, slopes[5:])
    close(along.curvatures, curved.diagonal()[5:])


# Summaries


def test_auc_is_scikit_learns(engine_case, engine, toy):
    state = engine.at(WEIGHTS)
    scores = engine_case.scores(state)
    expected = roc_auc_score(toy.positive, scores, sample_weight=toy.weights)
    assert_allclose(engine.quality(state).train_auc, expected, rtol=1e-12)


def test_no_threshold_has_a_better_balanced_accuracy(engine_case, engine, toy):
    state = engine.at(WEIGHTS)
    scores = engine_case.scores(state)

    def accuracy(threshold):
        predicted = scores > threshold
        return balanced_accuracy_score(toy.positive, predicted, sample_weight=toy.weights)

    others = [accuracy(score) for score in scores]
    assert accuracy(engine.quality(state).threshold) >= max(others) - 1e-12


# Formats and threads


@pytest.mark.parametrize(
    ("dtype", "as_format"), [(np.float64, sparse.csr_array), (np.float32, sparse.csr_matrix)]
)
def test_sparse_rows_give_what_dense_rows_give(engine_case, dtype, as_format):
    toy = make_toy(dtype=dtype)
    dense = engine_case.build(toy)
    other = engine_case.build(replace(toy, X=as_format(toy.X)))
    for engine, X in ((dense, toy.X), (other, as_format(toy.X))):
        grow(engine, X, KERNEL, CENTRES)
    tolerance = 1e-10 if engine_case.exact and dtype == np.float64 else 1e-5
    states = dense.at(WEIGHTS), other.at(WEIGHTS)
    assert_allclose(states[1].loss, states[0].loss, rtol=tolerance)
    slopes = [
        engine.ask(Derivatives(5, Centres(KERNEL, X[CANDIDATES])), state)
        for engine, X, state in zip((dense, other), (toy.X, as_format(toy.X)), states, strict=True)
    ]
    for found, expected in zip(slopes[1], slopes[0], strict=True):
        assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def everything(engine, toy):
    """All that crosses the seam, as one list of arrays."""
    grow(engine, toy.X, KERNEL, CENTRES)
    state = engine.at(WEIGHTS)
    moved = engine.step(state, engine.line(KernelColumn(KERNEL, toy.X[[6]])), 0.5)
    candidates = Centres(KERNEL, toy.X[CANDIDATES])
    along = engine.ask(CandidateGains(candidates), moved)
    line = engine.direction(WEIGHTS)
    return [
        state.loss,
        moved.loss,
        engine.ask(Gradient(5), moved),
        *engine.ask(Derivatives(5), moved),
        *engine.ask(Derivatives(4, candidates), moved),
        engine.ask(HessianProduct(line, 5), moved),
        engine.ask(LineSlopes(line), moved),
        along.slopes,
        along.curvatures,
        engine.quality(moved).train_auc,
        engine.quality(moved).threshold,
    ]


@pytest.mark.parametrize("engine_case", ["cpu-exact", "cpu-large"], indirect=True)
def test_threads_change_nothing_to_the_last_bit(engine_case):
    toy = make_toy(n_rows=20_000)  # three tasks of a pass over matrices
    with size_policy(replace(current_policy(), vector_block=1000, matrix_block=1 << 12)):
        one, *others = [
            everything(engine_case.build(toy, n_jobs=n_jobs), toy) for n_jobs in (1, 2, 4)
        ]
    for other in others:
        for expected, actual in zip(one, other, strict=True):
            assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    "engine_case", ["cpu-exact", "cpu-large", "gpu-exact", "gpu-large"], indirect=True
)
def test_blocks_of_rows_change_next_to_nothing(engine_case, close):
    toy = make_toy(n_rows=9000)
    expected = everything(engine_case.build(toy), toy)
    small = {"vector_block": 100, "matrix_block": 1 << 10}
    small |= {"gpu_part_numbers": 1 << 12, "gpu_segment_rows": 64}
    with size_policy(replace(current_policy(), **small)):
        found = everything(engine_case.build(toy), toy)
    for actual, one in zip(found, expected, strict=True):
        close(actual, one)


# The linear term, and columns in general

FORMATS = pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
AXES = np.array([[1.0, 0.5], [0.0, -2.0], [0.3, 0.0]])


@FORMATS
@pytest.mark.parametrize("axes", [None, AXES], ids=["features", "axes"])
def test_linear_columns_are_features_along_axes(
    engine_case, toy, unit_lines, close, as_format, axes
):
    engine = engine_case.build(replace(toy, X=as_format(toy.X)))
    origin, scale = np.array([1.0, -2.0, 0.5]), 0.3
    engine.append(LinearColumns(origin, scale, axes))
    directions = np.eye(3) if axes is None else axes
    expected = scale * (toy.X - origin) @ directions
    close(unit_lines(engine, expected.shape[1]), expected)


@FORMATS
def test_new_columns_are_what_the_others_leave_times_the_transform(
    engine_case, toy, unit_lines, close, as_format
):
    """They take the place of those that came after the same columns before."""
    engine = engine_case.build(replace(toy, X=as_format(toy.X)))
    engine.append(LinearColumns(np.zeros(3), 1.0))
    before = as_format(toy.X[CENTRES])
    engine.append(OrthonormalColumns(KERNEL, before, np.zeros((3, 5)), np.eye(5)))
    centres = toy.X[[1, 2]] + 0.3
    projection = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]])
    transform = np.array([[1.0, 0.2], [0.5, -1.0]])
    engine.append(OrthonormalColumns(RBF(0.1), as_format(centres), projection, transform))
    expected = (rbf_kernel(toy.X, centres, gamma=0.1) - toy.X @ projection) @ transform
    close(unit_lines(engine, 5), np.hstack((toy.X, expected)))


def test_columns_added_at_once_are_those_added_one_by_one(
    engine_case, toy, unit_lines, columns, close
):
    engine = engine_case.build(toy)
    basis = grow(engine, toy.X, KERNEL, CENTRES[:1], capacity=5)
    grow_by(engine, basis, toy.X, CENTRES[1:4])
    grow_by(engine, basis, toy.X, CENTRES[4:])
    close(unit_lines(engine), columns)
    assert basis.batches == [1, 3, 1]
    other = engine_case.build(toy)
    basis.merged().fill(other)
    close(unit_lines(other), columns)


def test_some_of_the_columns_can_be_used_alone(engine_case, engine, toy, close, columns):
    residual = oracles.residual(columns[:, :2] @ WEIGHTS[:2], toy.positive, toy.weights)
    close(engine.ask(Gradient(2), engine.at(WEIGHTS[:2])), columns[:, :2].T @ residual)
    assert engine.ask(Derivatives(2), engine.at(WEIGHTS[:2]))[1].shape == (2, 2)
    close(engine_case.scores(engine.at(WEIGHTS)), columns @ WEIGHTS)


# Rows held out


@pytest.fixture
def held_out(toy):
    return np.arange(len(toy.X)) % 4 == 1


def test_rows_held_out_count_like_rows_of_weight_zero(
    engine_case, engine, toy, columns, close, loss_hessian, held_out
):
    engine.hold_out(those(held_out))
    weights = toy.weights * ~held_out
    assert_allclose(engine.positive_weight, weights[toy.positive].sum())
    assert_allclose(engine.negative_weight, weights[~toy.positive].sum())
    state = engine.at(WEIGHTS)
    scores = columns @ WEIGHTS
    close(engine_case.scores(state), scores)
    close(state.loss, oracles.loss(scores, toy.positive, weights))
    residual = oracles.residual(scores, toy.positive, weights)
    close(engine.ask(Gradient(5), state), columns.T @ residual)
    candidates = Centres(KERNEL, toy.X[CANDIDATES])
    wide = np.hstack((columns, rbf_kernel(toy.X, toy.X[CANDIDATES], gamma=KERNEL.gamma)))
    hessian = wide.T @ loss_hessian(state, replace(toy, weights=weights)) @ wide
    found = engine.ask(Derivatives(5, candidates), state)
    close(found[0], wide.T @ residual)
    close(found[1], hessian)
    along = engine.ask(CandidateGains(candidates), state)
    close(along.slopes, wide[:, 5:].T @ residual)
    close(along.curvatures, hessian.diagonal()[5:])


def test_auc_is_of_the_rows_that_count_and_validation_auc_of_the_others(
    engine_case, engine, toy, held_out
):
    engine.hold_out(those(held_out))
    state = engine.at(WEIGHTS)
    scores = engine_case.scores(state)
    quality = engine.quality(state)
    for rows, auc in ((~held_out, quality.train_auc), (held_out, quality.validation_auc)):
        expected = roc_auc_score(toy.positive[rows], scores[rows], sample_weight=toy.weights[rows])
        assert_allclose(auc, expected, rtol=1e-12)


def test_the_threshold_is_chosen_on_the_rows_that_count(engine_case, engine, toy, held_out):
    engine.hold_out(those(held_out))
    state, rows = engine.at(WEIGHTS), ~held_out
    scores = engine_case.scores(state)

    def accuracy(threshold):
        predicted = scores[rows] > threshold
        return balanced_accuracy_score(
            toy.positive[rows], predicted, sample_weight=toy.weights[rows]
        )

    others = [accuracy(score) for score in scores]
    assert accuracy(engine.quality(state).threshold) >= max(others) - 1e-12


def test_rows_held_out_can_be_taken_back(engine, toy, held_out):
    before = engine.at(WEIGHTS)
    engine.hold_out(those(held_out))
    engine.hold_out(None)
    after = engine.at(WEIGHTS)
    assert_allclose(after.loss, before.loss, rtol=1e-12)
    assert_allclose(engine.ask(Gradient(5), after), engine.ask(Gradient(5), before), rtol=1e-12)
    assert engine.quality(after).validation_auc is None
    assert_allclose(engine.positive_weight, toy.weights[toy.positive].sum())
    assert engine.class_counts == (80, 40)


def test_rows_can_be_held_out_in_turn(engine, held_out):
    engine.hold_out(those(held_out))
    once = engine.quality(engine.at(WEIGHTS)).validation_auc
    engine.hold_out(those(~held_out))
    engine.hold_out(those(held_out))
    assert engine.quality(engine.at(WEIGHTS)).validation_auc == once


# Draws


def test_draws_are_rows_that_count_half_of_each_class(engine_case, toy, held_out):
    weights = np.where(np.arange(len(toy.X)) % 4 == 2, 0.0, toy.weights)
    engine = engine_case.build(replace(toy, weights=weights))
    engine.hold_out(those(held_out))
    # Nearly all positive rows are taken, and few negative ones.
    free = np.flatnonzero((weights > 0) & ~held_out)
    taken = [*free[toy.positive[free]][4:], *free[~toy.positive[free]][:2]]
    free = np.setdiff1d(free, taken)
    n_negative, n_positive = np.bincount(toy.positive[free])
    random_state = np.random.RandomState(0)
    for n_rows in (1, 6, 20, 1000) * 3:
        drawn, rows = engine.draw(n_rows, taken, random_state)
        assert len(drawn) == min(n_rows, len(free))
        assert np.isin(drawn, free).all()
        assert_array_equal(rows, toy.X[drawn])
        of_class = toy.positive[drawn]
        assert of_class.sum() == min(n_positive, max(n_rows // 2, n_rows - n_negative))
        # Negative rows first, each class in the order of the rows.
        assert_array_equal(drawn, [*np.sort(drawn[~of_class]), *np.sort(drawn[of_class])])
        assert len(np.unique(drawn)) == len(drawn)


def test_rows_of_weight_zero_leave_the_draws_of_the_others_as_they_are(engine_case, toy):
    counting = np.flatnonzero(np.arange(len(toy.X)) % 3)
    weights = np.zeros(len(toy.X))
    weights[counting] = 1.0
    alone = replace(
        toy, X=toy.X[counting], positive=toy.positive[counting], weights=weights[counting]
    )
    with_zeros, without = engine_case.build(replace(toy, weights=weights)), engine_case.build(alone)
    drawn, _ = with_zeros.draw(10, [], np.random.RandomState(5))
    assert_array_equal(drawn, counting[without.draw(10, [], np.random.RandomState(5))[0]])


# Making one


def test_an_unknown_engine_is_refused(toy):
    with pytest.raises(
        InvalidParameterError, match=r"`engine` must be one of 'auto', 'cpu'.*; got 'abacus'"
    ):
        read_training("abacus", SparseKernelAUC(), toy.X, toy.positive)


def test_auto_is_an_engine(toy):
    assert ENGINES[0] == "auto"
    data = read_training("auto", SparseKernelAUC(), toy.X, toy.positive)
    with make_engine(data, capacity=1, n_jobs=None) as engine:
        assert engine.n_rows == len(toy.X)
