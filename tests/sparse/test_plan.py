"""Plans: schedules of sizes, stages, and what the parameters mean for some rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from skauc import Selection, SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidParameterError
from skauc.sparse.plan import Parameters, make_plan, refined_sizes, retraining_sizes
from skauc.sparse.stages import Finish, MoveTo, Pursue, Refine

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
    message = r"`retrain` must be one of 'geometric', 'doubling', 'always'; got 'never'"
    with pytest.raises(InvalidParameterError, match=message):
        retraining_sizes("never", 8)


def test_refined_sizes_are_halves_from_four_on():
    assert refined_sizes(64) == [4, 8, 16, 32, 64]
    assert refined_sizes(33) == [5, 9, 17, 33]
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
    assert stages_of(n_basis=5) == (Pursue(frozenset({1, 2, 3, 4, 5})),)
    (stage,) = stages_of(n_basis=5, early_stopping=True)
    assert max(stage.sizes) == 5


def test_pursuit_and_refinement_alternate():
    kinds = [type(stage) for stage in stages_of(n_basis=16, refine=True)]
    assert kinds == [Pursue, Refine, Pursue, Refine, Pursue, Refine, Finish]


def test_a_number_of_steps_is_halved_between_pursuits():
    steps = [
        stage.n_steps for stage in stages_of(n_basis=16, refine=7) if isinstance(stage, Refine)
    ]
    assert steps == [4, 4, 7]


@pytest.mark.parametrize("refine", [True, 5])
def test_refinement_on_a_sample_ends_on_hard_rows_and_on_all(refine):
    *growth, first, hard, second, everything, finish = stages_of(20_000, n_basis=8, refine=refine)
    assert all(stage.grows for stage in growth)
    assert (hard, everything, finish) == (MoveTo("hard"), MoveTo("all"), Finish())
    assert isinstance(first, Refine)
    assert isinstance(second, Refine)


# Parameters


def test_widths_are_resolved_after_scaling_and_before_rotation():
    rows = make_rows()
    plan, mapped = make_plan(Parameters(scaling="rank", rotate=True), rows)
    assert_allclose(plan.kernels[0].gamma, 1 / 3, rtol=1e-6)
    assert_allclose(plan.spread, 1.0)
    assert_allclose(mapped.X, plan.feature_map.transform(rows.X))


def test_there_is_room_for_the_linear_term_and_no_more_centres_than_rows():
    plan, rows = make_plan(Parameters(n_basis=500, linear_term=True, gamma=[0.1, 1.0]), make_rows())
    assert plan.capacity(rows.n_rows) == 3 + 500
    assert plan.capacity(20) == 3 + 40


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
