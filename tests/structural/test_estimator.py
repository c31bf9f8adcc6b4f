"""StructuralAUC against generic solvers over explicit pairs, and its invariances."""

import pickle
import tracemalloc

import numpy as np
import oracles
import pytest
from listeners import Listener
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import LinearSVC

from skauc import StructuralAUC

X, y = make_classification(200, 5, class_sep=0.6, flip_y=0.1, n_redundant=0, random_state=0)
few, few_y = X[:24], y[:24]
KERNELS = ("linear", "rbf", "laplacian", "polynomial")


def hinge_objective(norm, scores, labels, C, weights=None):
    """The paper's equation with the plain hinge, pair by pair."""
    weights = np.ones(len(labels)) if weights is None else weights
    positive = labels == 1
    C_pair = C * weights.sum() / (weights[positive].sum() * weights[~positive].sum())
    pairs = oracles.pair_weights(positive, weights)
    return 0.5 * norm + C_pair * np.sum(pairs * oracles.hinges(scores, positive))


def generic_minimum(gram, labels, C, weights=None):
    """The least objective, by L-BFGS-B on the dual with one multiplier per explicit pair.

    max sum a - 1/2 |sum a_ij (x_i - x_j)|^2 over 0 <= a_ij <= C_pair s_i s_j.
    """
    weights = np.ones(len(labels)) if weights is None else weights
    i, j = (m.ravel() for m in np.meshgrid(*map(np.flatnonzero, (labels == 1, labels == 0))))
    differences = gram[np.ix_(i, i)] - gram[np.ix_(i, j)] - gram[np.ix_(j, i)] + gram[np.ix_(j, j)]
    C_pair = C * weights.sum() / (weights[labels == 1].sum() * weights[labels == 0].sum())
    upper = C_pair * weights[i] * weights[j]
    found = minimize(
        lambda a: 0.5 * a @ differences @ a - a.sum(),
        0.5 * upper,
        jac=lambda a: differences @ a - 1,
        method="L-BFGS-B",
        bounds=list(zip(np.zeros(len(i)), upper, strict=True)),
        options={"ftol": 1e-15, "gtol": 1e-11, "maxiter": 50_000, "maxfun": 10**6},
    )
    return -found.fun


# -- the minimum ------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_linear_minimum_is_that_of_a_generic_solver(C, weighted):
    weights = np.random.default_rng(0).uniform(0.5, 2, 24) if weighted else None
    model = StructuralAUC(C, tol=1e-8).fit(few, few_y, weights)
    scores = few @ model.coef_
    value = hinge_objective(model.coef_ @ model.coef_, scores, few_y, C, weights)
    assert_allclose(model.objective_, value, rtol=1e-10)
    total = 24 if weights is None else weights.sum()
    least = generic_minimum(few @ few.T, few_y, C, weights)
    assert_allclose(model.objective_, least, atol=2e-8 * C * total, rtol=1e-6)
    assert model.dual_gap_ <= 1e-8 * C * total


def test_the_linear_minimum_is_that_of_slsqp_over_explicit_slacks():
    """Variables w and one slack a pair; the problem as the paper prints it."""
    C, (i, j) = 0.2, np.meshgrid(np.flatnonzero(few_y == 1), np.flatnonzero(few_y == 0))
    differences = (few[i] - few[j]).reshape(-1, 5)[::3]
    rows = differences, len(differences)
    C_pair = C * 24 / rows[1]
    constraints = np.hstack((differences, np.eye(rows[1])))
    found = minimize(
        lambda v: 0.5 * v[:5] @ v[:5] + C_pair * v[5:].sum(),
        np.r_[np.zeros(5), np.ones(rows[1])],
        jac=lambda v: np.r_[v[:5], np.full(rows[1], C_pair)],
        method="SLSQP",
        bounds=[(None, None)] * 5 + [(0, None)] * rows[1],
        constraints=LinearConstraint(constraints, lb=1.0),
        options={"ftol": 1e-13, "maxiter": 300},
    )
    # The same pairs through the estimator: each difference is a positive against one zero row.
    X_pairs = np.vstack((differences, np.zeros((1, 5))))
    y_pairs = np.r_[np.ones(rows[1], int), 0]
    total = rows[1] + 1
    model = StructuralAUC(C * 24 / total, tol=1e-9).fit(X_pairs, y_pairs)
    assert_allclose(model.objective_, found.fun, rtol=1e-6)
    assert_allclose(model.coef_, found.x[:5], atol=1e-4)


def test_the_coefficients_are_those_of_a_linear_svm_on_differences():
    i, j = np.meshgrid(np.flatnonzero(few_y == 1), np.flatnonzero(few_y == 0))
    differences = (few[i] - few[j]).reshape(-1, 5)
    signs = np.where(np.arange(len(differences)) % 2, 1, -1)
    C = 0.5
    svm = LinearSVC(
        C=C * 24 / len(differences),
        loss="hinge",
        fit_intercept=False,
        tol=1e-10,
        max_iter=10**7,
        random_state=0,
    ).fit(differences * signs[:, None], signs)
    model = StructuralAUC(C, tol=1e-9).fit(few, few_y)
    assert_allclose(model.coef_, svm.coef_[0], atol=1e-4)


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_the_kernel_minimum_is_that_of_a_generic_solver(C):
    gram = rbf_kernel(few, gamma=0.2)
    model = StructuralAUC(C, kernel="rbf", gamma=0.2, tol=1e-7)
    model.fit(few, few_y)
    beta = np.zeros(24)
    beta[model.support_] = model.dual_coef_
    value = hinge_objective(beta @ gram @ beta, gram @ beta, few_y, C)
    assert_allclose(model.objective_, value, rtol=1e-10)
    least = generic_minimum(gram, few_y, C)
    assert_allclose(model.objective_, least, atol=2e-7 * C * 24, rtol=1e-6)
    assert_array_equal(model.support_vectors_, few[model.support_])
    assert (model.dual_coef_ != 0).all()
    assert abs(beta.sum()) < 1e-10


def test_a_linear_kernel_by_another_name_gives_the_same_scores():
    linear = StructuralAUC(tol=1e-6).fit(X, y)
    by_name = StructuralAUC(kernel=lambda a, b: a @ b.T, tol=1e-6).fit(X, y)
    assert_allclose(by_name.objective_, linear.objective_, rtol=1e-5)
    assert_allclose(by_name.dual_coef_ @ by_name.support_vectors_, linear.coef_, atol=0.02)


def test_rows_in_no_violating_pair_are_no_support_vectors():
    rows = np.r_[X[y == 1] + 3, X[y == 0] - 3]
    labels = np.r_[y[y == 1], y[y == 0]]
    model = StructuralAUC(100, kernel="polynomial", degree=2, tol=1e-6).fit(rows, labels)
    assert model.score(rows, labels) == 1.0
    assert len(model.support_) < 40


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_the_gap_holds_for_a_minimum_found_more_exactly(kernel, tol):
    rough = StructuralAUC(kernel=kernel, tol=tol).fit(X, y)
    fine = StructuralAUC(kernel=kernel, tol=1e-6).fit(X, y)
    assert rough.dual_gap_ <= tol * 200
    assert rough.objective_ - rough.dual_gap_ <= fine.objective_ + 1e-9
    assert fine.objective_ - fine.dual_gap_ <= rough.objective_ + 1e-9


def test_it_ranks_well():
    assert StructuralAUC().fit(X, y).score(X, y) > 0.85
    assert StructuralAUC(10, kernel="rbf").fit(X, y).score(X, y) > 0.97


# -- scores, threshold, attributes ------------------------------------------------------------


def test_the_score_is_the_auc_and_the_threshold_balances():
    model = StructuralAUC().fit(X, y)
    scores = model.decision_function(X)
    assert_allclose(scores, X @ model.coef_ + model.intercept_, atol=1e-12)
    assert model.score(X, y) == pytest.approx(roc_auc_score(y, scores))
    best = balanced_accuracy_score(y, model.predict(X))
    for threshold in scores:
        assert balanced_accuracy_score(y, scores > threshold) <= best + 1e-12


@pytest.mark.parametrize(
    ("kernel", "matrix"),
    [
        ("rbf", rbf_kernel),
        ("polynomial", lambda a, b, gamma: polynomial_kernel(a, b, 3, gamma, 1)),
    ],
)
def test_kernel_scores_are_the_expansion(kernel, matrix):
    model = StructuralAUC(kernel=kernel).fit(X, y)
    expected = matrix(X, model.support_vectors_, gamma=model.gamma_) @ model.dual_coef_
    assert_allclose(model.decision_function(X), expected + model.intercept_, atol=1e-9)


def test_a_refit_leaves_nothing_of_the_other_kernel():
    model = StructuralAUC().fit(X, y)
    assert hasattr(model, "coef_")
    assert not hasattr(model, "dual_coef_")
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")
    assert model.dual_coef_.shape == model.support_.shape
    assert model.gamma_ == pytest.approx(1 / (5 * X.var()))
    assert not hasattr(model.set_params(kernel="linear").fit(X, y), "support_")
    assert model.gamma_ is None


@pytest.mark.parametrize("kernel", KERNELS)
def test_pickles_score_alike(kernel):
    model = StructuralAUC(kernel=kernel).fit(X, y)
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.decision_function(X), model.decision_function(X))


# -- invariances ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_equal_repetition(kernel):
    repeats = np.random.default_rng(0).integers(0, 3, 200)
    weighted = StructuralAUC(kernel=kernel, gamma=0.2).fit(X, y, repeats)
    repeated = StructuralAUC(kernel=kernel, gamma=0.2)
    repeated.fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-8)
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_of_weight_zero_are_left_out(kernel):
    weights = (np.arange(200) % 4 > 0).astype(float)
    kept = np.flatnonzero(weights)
    model = StructuralAUC(kernel=kernel).fit(X, y, weights)
    without = StructuralAUC(kernel=kernel).fit(X[kept], y[kept])
    assert_array_equal(model.decision_function(X), without.decision_function(X))
    if kernel != "linear":
        assert_array_equal(model.support_, kept[without.support_])
        assert_array_equal(model.support_vectors_, X[model.support_])


def test_duplicated_rows_give_the_model_of_a_larger_c():
    twice = StructuralAUC().fit(np.tile(X, (2, 1)), np.tile(y, 2))
    assert_allclose(twice.coef_, StructuralAUC(2.0).fit(X, y).coef_, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_order_of_the_rows_does_not_matter(kernel):
    order = np.random.default_rng(0).permutation(200)
    one = StructuralAUC(kernel=kernel).fit(X, y).decision_function(X)
    other = StructuralAUC(kernel=kernel).fit(X[order], y[order]).decision_function(X)
    assert_allclose(one, other, atol=1e-6)


def test_swapped_labels_reverse_the_ranking():
    one, other = StructuralAUC().fit(X, y), StructuralAUC().fit(X, 1 - y)
    assert_allclose(one.coef_, -other.coef_, atol=1e-6)


def test_a_shift_of_the_features_does_not_matter():
    one, other = StructuralAUC().fit(X, y), StructuralAUC().fit(X + 100, y)
    assert_allclose(one.coef_, other.coef_, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_threads_and_memory_do_not_matter(kernel):
    """The smaller cache holds two of the five blocks of the kernel matrix."""
    rows, labels = np.tile(X, (3, 1)), np.tile(y, 3)
    one, two = (
        StructuralAUC(0.1, kernel=kernel, tol=0.01, cache_size=cache_size, n_jobs=n_jobs)
        for n_jobs, cache_size in ((1, 1.2), (2, 100))
    )
    one.fit(rows, labels)
    two.fit(rows, labels)
    assert_array_equal(one.decision_function(rows), two.decision_function(rows))


# -- formats ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_sparse_rows_give_the_model_of_dense_ones(kernel):
    container = {"linear": sparse.csr_matrix, "rbf": sparse.csc_array}.get(kernel, sparse.csr_array)
    rows = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = StructuralAUC(kernel=kernel, gamma=0.2).fit(rows, y)
    model = StructuralAUC(kernel=kernel, gamma=0.2).fit(container(rows), y)
    assert_allclose(model.decision_function(rows), dense.decision_function(rows), atol=1e-6)
    if kernel != "linear":
        assert sparse.issparse(model.support_vectors_)


@pytest.mark.parametrize("kernel", KERNELS)
def test_float32_agrees_with_float64(kernel):
    single = X.astype(np.float32)
    models = [
        StructuralAUC(kernel=kernel, gamma=0.2).fit(rows, y)
        for rows in (single, single.astype(np.float64))
    ]
    one, two = (model.objective_ for model in models)
    assert_allclose(one, two, rtol=2e-3)
    assert_allclose(*(model.decision_function(X) for model in models), atol=0.05)


def test_float32_rows_are_not_copied():
    rows = np.random.default_rng(0).standard_normal((20_000, 200), dtype=np.float32)
    labels = rows[:, 0] > 1
    StructuralAUC().fit(X, y)
    tracemalloc.start()
    StructuralAUC(1e-6).fit(rows, labels)
    assert tracemalloc.get_traced_memory()[1] < rows.nbytes / 2
    tracemalloc.stop()


# -- progress ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_callbacks_hear_of_every_round_and_may_end_the_fit(kernel):
    listener = Listener(lambda model: model.n_iter_ == 4)
    model = StructuralAUC(kernel=kernel, tol=1e-9).set_callbacks(listener).fit(X, y)
    assert model.n_iter_ == 4
    assert [seen.n_iter_ for seen in listener.models] == [1, 2, 3, 4]
    objectives = [seen.objective_ for seen in listener.models]
    assert objectives == sorted(objectives, reverse=True)
    assert_array_equal(listener.models[-1].decision_function(X), model.decision_function(X))


def test_a_fit_that_does_not_converge_says_what_to_change():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 rounds.*Raise `max_iter` or `tol`"):
        model = StructuralAUC(max_iter=3).fit(X, y)
    assert model.n_iter_ == 3
    assert model.score(X, y) > 0.7


# -- hard data --------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_that_are_all_equal_cannot_be_ranked(kernel):
    model = StructuralAUC(kernel=kernel).fit(np.ones((20, 3)), np.arange(20) % 2)
    assert np.ptp(model.decision_function(np.ones((20, 3)))) < 1e-12
    assert np.isfinite(model.decision_function(X[:, :3])).all()
    assert model.objective_ == pytest.approx(20)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("lonely", [0, 1])
def test_one_single_row_of_a_class(kernel, lonely):
    labels = np.full(200, 1 - lonely)
    labels[np.argmax(X[:, 0])] = lonely
    assert StructuralAUC(10, kernel=kernel).fit(X, labels).score(X, labels) > 0.95


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_rows(kernel):
    model = StructuralAUC(kernel=kernel).fit(X[:2], [0, 1])
    assert model.score(X[:2], [0, 1]) == 1.0
    assert_array_equal(model.predict(X[:2]), [0, 1])


@pytest.mark.parametrize("unit", [1e-150, 1e-8, 1e-3])
def test_small_units_still_rank(unit):
    """Where zero is within the tolerance of the minimum, a step towards it is what is kept."""
    model = StructuralAUC().fit(unit * X, y)
    assert model.score(unit * X, y) > 0.8


@pytest.mark.parametrize("unit", [1e200, 1e308])
def test_units_that_overflow_are_an_error_with_advice(unit):
    with pytest.raises(ValueError, match="Scale the features"):
        StructuralAUC().fit(unit * np.clip(X, -1, 1), y)
