"""Methods: what settings share gives the same numbers as a fit of each setting by itself."""

from dataclasses import replace

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from reproduction.goals import SPARSE_METHODS
from reproduction.methods import METHOD_NAMES, Outcome, Pursuit, make_methods, missing_package
from reproduction.protocol import QUICK, Part, gamma_of, to_scale_free
from reproduction.rank_svm import rank_svm_results
from reproduction.synthetic import make_waves
from skauc import KernelRankSVM, Selection, SparseKernelAUC
from skauc.kernels import RBF
from skauc.metrics import auc

BRIEF = replace(QUICK, C_pairs=(0.01, 0.1, 1.0), sigmas=(1.0, 4.0), most_basis=12)


@pytest.fixture(scope="module")
def part():
    X, y = make_waves(240, 4, positive_fraction=0.3)
    return Part(X[:160], y[:160].astype(int), X[160:], y[160:].astype(int))


def test_names():
    assert METHOD_NAMES[:4] == SPARSE_METHODS
    assert METHOD_NAMES[4:7] == ("KernelRankSVM", "OILK", "AdaOAM")
    assert set(METHOD_NAMES[7:]) == {"Nystroem-kmeans", "SVC", "LightGBM"}


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_every_setting_has_stages_and_ranks_and_slices_are_the_whole_grid(name, part):
    method = make_methods(BRIEF)[name]
    if missing_package(method):
        pytest.skip(f"{missing_package(method)} is not installed")
    outcomes = list(method.outcomes(part, 0))
    in_slices = [outcome for each in method.slices() for outcome in each.outcomes(part, 0)]
    assert sorted(map(str, in_slices)) == sorted(map(str, outcomes))
    assert all(isinstance(outcome, Outcome) for outcome in outcomes)
    names = [str(outcome.parameters) for outcome in outcomes]
    assert len(set(names)) == len(names)
    for outcome in outcomes:
        numbers = [stage.number for stage in outcome.stages]
        assert numbers == sorted(set(numbers))
        assert all(0 <= stage.auc <= 1 for stage in outcome.stages)
    assert max(stage.auc for outcome in outcomes for stage in outcome.stages) > 0.7


def test_a_number_of_steps_is_that_of_the_estimator(part):
    method = make_methods(BRIEF)["SparseKernelAUC-steps"]
    outcome = next(iter(method.outcomes(part, 0)))
    C = outcome.parameters["C"]
    fitted = SparseKernelAUC(16, C=C, refine=40, linear_term=False, random_state=0)
    model = make_pipeline(StandardScaler(), fitted).fit(part.X_train, part.y_train)
    assert outcome.stages[-1].auc == auc(part.y_test, model.decision_function(part.X_test))


def test_pursuits_for_neighbouring_weights(part):
    once = Pursuit((0.001, 0.01, 0.1, 1.0), (4.0,), "greedy", 12)
    twice = replace(once, n_pursuits=2)
    lower = replace(once, C_pairs=(0.001, 0.01))
    found, expected = (by_parameters(method.outcomes(part, 0)) for method in (twice, lower))
    assert found[0.001, 4.0] == expected[0.001, 4.0]
    assert list(found) == list(by_parameters(once.outcomes(part, 0)))


def test_kernel_matrices_of_torch(part):
    pytest.importorskip("torch")
    kernel = RBF(gamma_of(4.0))
    here, there = (rank_svm_results(part, kernel, (0.01, 1.0), d) for d in ("cpu", "cpu:0"))
    assert list(here) == list(there)
    for C_pair, result in here.items():
        assert there[C_pair].auc == pytest.approx(result.auc, abs=1e-9)
        assert there[C_pair].n_support == result.n_support


def by_parameters(outcomes):
    return {tuple(o.parameters.values()): o.stages for o in outcomes}


def test_the_pursuit_is_that_of_the_estimator_at_the_middle_weight(part):
    found = by_parameters(Pursuit(BRIEF.C_pairs, BRIEF.sigmas, "greedy", 12).outcomes(part, 3))
    C = to_scale_free(0.1, part.y_train)
    paper = {
        "refine": False,
        "linear_term": False,
        "selection": Selection("greedy", retrain="geometric"),
    }
    model = SparseKernelAUC(12, C=C, gamma=gamma_of(4.0), random_state=3, **paper)
    pipeline = make_pipeline(StandardScaler(), model).fit(part.X_train, part.y_train)
    rows = pipeline[:-1].transform(part.X_test)
    expected = {
        record.n_basis: auc(part.y_test, scores)
        for record, scores in zip(
            pipeline[-1].path_, pipeline[-1].staged_decision_function(rows), strict=True
        )
    }
    stages = found[0.1, 4.0]
    assert len(stages) >= 2
    for stage in stages:
        assert stage.auc == pytest.approx(expected[stage.number], abs=2e-3)
        assert stage.n_basis == stage.number


def test_all_weights_of_a_pair_share_their_sizes(part):
    found = by_parameters(Pursuit(BRIEF.C_pairs, BRIEF.sigmas, "greedy", 12).outcomes(part, 0))
    assert len(found) == 6
    sizes = {C: [stage.number for stage in found[C, 4.0]] for C in BRIEF.C_pairs}
    assert sizes[0.01] == sizes[0.1] == sizes[1.0]
    assert len({found[C, 4.0][-1].auc for C in BRIEF.C_pairs}) > 1


def test_rank_svm_shares_a_kernel_matrix(part):
    found = by_parameters(make_methods(BRIEF)["KernelRankSVM"].outcomes(part, 0))
    for C_pair, sigma in found:
        n_positive, n_rows = part.y_train.sum(), len(part.y_train)
        C = C_pair * n_positive * (n_rows - n_positive) / n_rows
        model = make_pipeline(StandardScaler(), KernelRankSVM(C=C, gamma=gamma_of(sigma)))
        model.fit(part.X_train, part.y_train)
        (stage,) = found[C_pair, sigma]
        assert stage.auc == pytest.approx(model.score(part.X_test, part.y_test), abs=1e-9)
        assert stage.n_basis == model[-1].n_support_


def test_svc_shares_a_kernel_matrix(part):
    found = by_parameters(make_methods(BRIEF)["SVC"].outcomes(part, 0))
    for (C, sigma), (stage,) in found.items():
        model = make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma_of(sigma)))
        scores = model.fit(part.X_train, part.y_train).decision_function(part.X_test)
        assert stage.auc == pytest.approx(auc(part.y_test, scores), abs=5e-3)
        assert stage.n_basis == pytest.approx(model[-1].n_support_.sum(), abs=2)


def test_trees_of_one_fit(part):
    lightgbm = pytest.importorskip("lightgbm")
    (outcome,) = make_methods(BRIEF)["LightGBM"].outcomes(part, 0)
    fewer = lightgbm.LGBMClassifier(
        n_estimators=50, num_leaves=7, random_state=0, n_jobs=1, verbose=-1
    ).fit(part.X_train, part.y_train)
    expected = auc(part.y_test, fewer.booster_.predict(part.X_test, raw_score=True))
    assert {s.number: s.auc for s in outcome.stages}[50] == pytest.approx(expected)


def test_the_same_seed_gives_the_same_numbers(part):
    for name in ("SparseKernelAUC", "OILK", "Nystroem-kmeans"):
        method = make_methods(BRIEF)[name]
        assert list(method.outcomes(part, 5)) == list(method.outcomes(part, 5))
