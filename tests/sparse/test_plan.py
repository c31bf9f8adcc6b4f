"""Plans: schedules of sizes, stages, and what the parameters mean for some rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from skauc import Selection, SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidParameterError
from skauc.feature_map import FeatureMap
from skauc.sparse.linear_term import MOST_LINEAR
from skauc.sparse.parameters import Parameters
from skauc.sparse.plan import make_plan
from skauc.sparse.sizes import refined_sizes, retraining_sizes
from skauc.sparse.stages import Finish, MoveTo, Pursue, Refine, SetC

# Schedules


def test_geometric_sizes_are_the_rounded_down_powers_of_the_fourth_root_of_two():
    n_basis = 5000
    # size = floor(2^(j/4)) says size^4 <= 2^j < (size + 1)^4: integers all through.
    expected = {
        size
        for size in range(1, n_basis + 1)
        if any(size**4 <= 2**j < (size + 1) ** 4 for j in range(60))
    }
    assert retraining_sizes("geometric", n_basis) == expected | {n_basis}
    assert retraining_sizes("geometric", 20) == {1, 2, 3, 4, 5, 6, 8, 9, 11, 13, 16, 19, 20}


def test_doubling_sizes_are_powers_of_two_from_four_on_and_the_last():
    assert retraining_sizes("doubling", 20) == {4, 8, 16, 20}
    assert retraining_sizes("doubling", 3) == {3}


def test_a_basis_grows_in_parts_of_a_quarter_of_a_pool_at_most():
    plan, _ = make_plan(Parameters(64, refine=0), make_rows(300))
    assert plan.grown_sizes() == [4, 8, 16, 32, 48, 64]
    few = Parameters(20, refine=0, selection=Selection(n_candidates=12))
    assert make_plan(few, make_rows(300))[0].grown_sizes() == [2, 4, 6, 8, 11, 14, 16, 18, 20]


@pytest.mark.parametrize(
    ("shapes", "retrain", "expected"),
    [
        ("round", "auto", "doubling"),
        ("local", "auto", "doubling"),
        ("ridge", "auto", "geometric"),
        ("ridge", "doubling", "doubling"),
    ],
)
def test_ridges_come_from_many_pools_unless_told(shapes, retrain, expected):
    parameters = Parameters(8, shapes=shapes, selection=Selection(retrain=retrain))
    assert parameters.schedule == expected
    plan, _ = make_plan(parameters, make_rows(300))
    assert set(plan.grown_sizes()) == retraining_sizes(expected, 8)


def test_always_is_every_size():
    assert retraining_sizes("always", 5) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("retrain", ["doubling", "geometric", "always"])
@pytest.mark.parametrize("n_basis", [1, 2, 7, 64, 100])
def test_the_last_size_is_in_every_schedule(retrain, n_basis):
    assert max(retraining_sizes(retrain, n_basis)) == n_basis


def test_an_unknown_schedule_is_refused():
    message = r"`retrain` must be one of 'doubling', 'geometric', 'always'; got 'never'"
    with pytest.raises(InvalidParameterError, match=message):
        retraining_sizes("never", 8)


def test_refined_sizes_are_halves_from_eight_on():
    assert refined_sizes(64) == [8, 16, 32, 64]
    assert refined_sizes(33) == [9, 17, 33]
    assert refined_sizes(7) == [7]


# Stages


def make_rows(n_rows=300, n_features=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    return TrainingData(X, X[:, 0] > 0, np.ones(n_rows), np.array([0, 1]))


def stages_of(n_rows=300, **parameters):
    plan, rows = make_plan(Parameters(**parameters), make_rows(n_rows))
    return plan.stages(plan.hold_out(rows, np.random.RandomState(0)))


def test_without_refinement_there_is_one_pursuit():
    assert stages_of(n_basis=5) == (Pursue(frozenset({4, 5})),)
    (stage,) = stages_of(n_basis=5, early_stopping=True)
    assert max(stage.sizes) == 5


@pytest.mark.parametrize(
    ("n_rows", "n_basis", "selection", "is_sampled"),
    [
        (9000, 5, Selection(), True),
        (9000, 200, Selection(), False),  # a hundred rows per centre
        (9000, 5, Selection(n_rows=None), False),
        (9000, 5, Selection(n_rows=9000), False),
        (300, 5, Selection(n_rows=299), True),
    ],
)
def test_centres_chosen_on_a_sample_get_coefficients_from_all_rows(
    n_rows, n_basis, selection, is_sampled
):
    first, *rest = stages_of(n_rows, n_basis=n_basis, selection=selection)
    assert isinstance(first, Pursue)
    assert rest == ([MoveTo("all", n_basis), Finish()] if is_sampled else [])


def test_pursuit_and_refinement_alternate():
    stages = stages_of(n_basis=32, refine=7)
    kinds = [type(stage) for stage in stages]
    assert kinds == [Pursue, Refine, Pursue, Refine, Pursue, Refine, Finish]
    # Half of the steps between pursuits.
    steps = [stage.n_steps for stage in stages if isinstance(stage, Refine)]
    assert steps == [4, 4, 7]


def test_refinement_of_many_rows_has_new_hard_rows_for_each_size():
    stages = stages_of(9000, n_basis=32, refine=10)
    kinds = [type(stage) for stage in stages]
    growth = [Pursue, Refine, MoveTo] * 2
    assert kinds == [*growth, Pursue, Refine, MoveTo, Finish]
    moves = [stage for stage in stages if isinstance(stage, MoveTo)]
    assert [(move.rows, move.size) for move in moves] == [("hard", 8), ("hard", 16), ("all", 32)]
    assert [move.grows for move in moves] == [True, True, False]


GROWN = [Pursue, Refine]
END_OF_PART = [MoveTo, Finish]


@pytest.mark.parametrize(
    ("n_rows", "n_basis", "parameters", "expected"),
    [
        (300, 32, {}, [*GROWN, SetC, *GROWN * 2, Finish]),
        (300, 4, {}, [*GROWN, SetC, Finish]),
        (300, 4, {"max_fpr": 0.5}, [*GROWN, SetC, *END_OF_PART]),
        (300, 32, {"max_fpr": 0.5}, [*GROWN, SetC, *GROWN * 2, *END_OF_PART]),
        (9000, 4, {}, [*GROWN, MoveTo, SetC, Finish]),
        (9000, 16, {}, [*GROWN, SetC, MoveTo, *GROWN, MoveTo, SetC, Finish]),
        (9000, 16, {"max_fpr": 0.5}, [*GROWN, SetC, MoveTo, *GROWN, *END_OF_PART]),
        (300, 4, {"refine": 0}, [Pursue]),
        (9000, 4, {"refine": 0}, [Pursue, MoveTo, Finish]),
    ],
)
def test_c_is_estimated_at_a_quarter_of_the_size_and_on_all_rows(
    n_rows, n_basis, parameters, expected
):
    stages = stages_of(n_rows, n_basis=n_basis, C="auto", **{"refine": 10, **parameters})
    assert [type(stage) for stage in stages] == expected


@pytest.mark.parametrize(("n_rows", "size"), [("auto", 4000), (5000, 5000), (None, None)])
def test_refinement_works_on_as_many_rows_as_are_asked_for(n_rows, size):
    parameters = Parameters(n_basis=4, refine=10, selection=Selection(n_rows=n_rows))
    plan, rows = make_plan(parameters, make_rows(9000))
    assert plan.sample_rows(plan.hold_out(rows, np.random.RandomState(0))) == size


# Parameters


def test_widths_are_resolved_after_scaling_and_before_rotation():
    rows = make_rows()
    plan, mapped = make_plan(Parameters(scaling="rank", rotate=True), rows)
    scaled = FeatureMap(plan.feature_map.by_feature).transform(rows.X)
    assert_allclose(plan.kernels[0].gamma, 1 / (3 * scaled.var()), rtol=1e-6)
    assert_allclose(plan.spread, scaled.std(axis=0))
    assert_allclose(mapped.X, plan.feature_map.transform(rows.X))


def test_there_is_room_for_the_linear_term_and_no_more_centres_than_rows():
    plan, rows = make_plan(Parameters(n_basis=500, linear_term=True, gamma=[0.1, 1.0]), make_rows())
    assert plan.capacity(rows.n_rows) == 3 + 500
    assert plan.capacity(20) == 3 + 40


def test_many_features_have_a_linear_term_along_their_principal_axes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, MOST_LINEAR + 10))
    X += 1e-3 * rng.normal(size=X.shape)
    rows = TrainingData(X, np.arange(400) % 2 == 0, np.ones(400), np.array([0, 1]))
    plan, _ = make_plan(Parameters(n_basis=4, linear_term=True), rows)
    linear = plan.linear
    assert linear.n_columns == MOST_LINEAR
    assert plan.capacity(400) == MOST_LINEAR + 4
    assert_allclose(linear.axes.T @ linear.axes, np.eye(MOST_LINEAR), atol=1e-6)
    # The three directions of the signal lie in the span of the axes.
    leading = np.linalg.svd(X)[2][:3].T
    assert_allclose(np.linalg.norm(linear.axes.T @ leading, axis=0), 1.0, rtol=1e-4)
    # Other parameters share the axes.
    known = {}
    plans = [make_plan(Parameters(C=C, linear_term=True), rows, None, known)[0] for C in (1.0, 2.0)]
    assert list(known) == [(None, False)]
    for other in plans:
        assert_allclose(other.linear.axes, linear.axes, rtol=0)
    # Coefficients of the features give the same function as those of the axes.
    weights = rng.normal(size=MOST_LINEAR)
    columns = linear.scale * (X - linear.origin) @ linear.axes
    assert_allclose((X - linear.origin) @ linear.coef(weights), columns @ weights)


@pytest.mark.parametrize(("given", "n_steps"), [("auto", 10), (True, 10), (False, 0), (3, 3)])
def test_refine_is_a_number_of_steps(given, n_steps):
    assert Parameters.of(SparseKernelAUC(refine=given)).refine == n_steps


def test_auto_refines_rbf_kernels_only_and_gives_them_a_linear_term():
    for kernel, is_rbf in (("rbf", True), ("laplacian", False), (rbf_kernel, False)):
        parameters = Parameters.of(SparseKernelAUC(kernel=kernel))
        assert (parameters.refine > 0, parameters.linear_term) == (is_rbf, is_rbf)
    with pytest.raises(InvalidParameterError, match=r"implemented for kernel='rbf' only; got"):
        Parameters.of(SparseKernelAUC(kernel="laplacian", refine=True))


def test_parameters_are_those_of_the_estimator():
    model = SparseKernelAUC(8, C=2.0, gamma=[1.0, 0.1], refine=3, tol=1e-3)
    parameters = Parameters.of(model)
    assert (parameters.n_basis, parameters.C, parameters.refine) == (8, 2.0, 3)
    assert parameters.selection == Selection()


def test_a_selection_is_a_value():
    selection = Selection("greedy", n_candidates=7)
    assert selection == clone(selection, safe=False)
    assert repr(selection).startswith("Selection(rule='greedy', n_candidates=7, retrain=")
    with pytest.raises(InvalidParameterError, match="`n_candidates` must be"):
        Selection(n_candidates=0).check()
    for n_rows in (1, "all", 10.0):
        with pytest.raises(InvalidParameterError, match=r"`n_rows` must be .* None for all rows"):
            Selection(n_rows=n_rows).check()


@pytest.mark.parametrize(
    ("given", "n_rarer", "scaling"),
    [
        ({}, 999, "normal"),
        ({}, 1_000, None),
        ({"gamma": "auto"}, 999, "normal"),
        ({"gamma": 0.5}, 999, None),
        ({"kernel": "laplacian"}, 999, None),
        ({"scaling": None}, 999, None),
        ({"scaling": "rank"}, 1_000, "rank"),
    ],
    ids=str,
)
def test_auto_scales_features_if_the_rarer_class_has_few_rows(given, n_rarer, scaling):
    """Rows without weight do not count, and those of weight two count twice."""
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    positive, weights = np.arange(3_000) <= n_rarer, np.ones(3_000)
    weights[0] = 0.0
    parameters = Parameters.of(SparseKernelAUC(**given))
    labels = np.array([0, 1])
    rows = TrainingData(X, positive, weights, labels)
    assert parameters.for_rows(rows).scaling == scaling
    half = np.flatnonzero(~positive | (np.arange(3_000) <= n_rarer // 2))
    weighted = rows.part(half)
    weighted.weights[weighted.positive & (weighted.weights > 0)] = n_rarer / (n_rarer // 2)
    assert parameters.for_rows(weighted).scaling == scaling
    sparse_rows = TrainingData(sparse.csr_array(X), positive, weights, labels)
    assert parameters.for_rows(sparse_rows).scaling == given.get("scaling")


@pytest.mark.parametrize(
    ("n_rows", "gamma", "n_basis"), [(300, "scale", 300), (300, [0.1, 1.0], 600), (20, 0.5, 100)]
)
def test_a_basis_has_at_most_one_centre_per_row_and_width(n_rows, gamma, n_basis):
    rows = make_rows(n_rows)
    assert Parameters(10**6, gamma=gamma).for_rows(rows).n_basis == n_basis
    assert Parameters(16, gamma=gamma).for_rows(rows).n_basis == 16
