"""SparseKernelAUC: what it minimises, what it predicts, and what must not change its model."""

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import (
    balanced_accuracy_score,
    pairwise_distances_argmin,
    roc_auc_score,
)
from sklearn.metrics.pairwise import cosine_similarity, pairwise_kernels, rbf_kernel
from sklearn.preprocessing import scale

from skauc import Selection, SparseKernelAUC

X, y = make_classification(
    240, 6, weights=[0.7], class_sep=0.6, flip_y=0.1, n_redundant=0, random_state=0
)
X_NEW = np.random.default_rng(1).normal(size=(50, 6))

BY_GAIN = ("orthogonal", "greedy", "exact", "exhaustive")
SELECTIONS = (*BY_GAIN, "random", "kmeans")
EVERY_ROW = 10**6
PLAIN = {"refine": False, "linear_term": False, "scaling": None}


def make(n_basis=8, **parameters):
    """An estimator without refinement, linear term and scaling, unless told."""
    return SparseKernelAUC(n_basis, random_state=0, **{**PLAIN, **parameters})


def assert_same_model(model, other, rtol=1e-9):
    """The same centres in the same order, and the same scores for rows that neither has seen."""
    assert_array_equal(model.basis_vectors_, other.basis_vectors_)
    assert_allclose(model.intercept_, other.intercept_, atol=rtol)
    expected = other.decision_function(X_NEW)
    assert_allclose(model.decision_function(X_NEW), expected, atol=rtol * np.ptp(expected))


@pytest.fixture(scope="module")
def plain():
    return make().fit(X, y)


# -- what it minimises ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial", "linear"])
def test_scores_are_the_kernel_expansion_plus_the_intercept(kernel):
    model = make(kernel=kernel, gamma=0.3, degree=2, coef0=0.5).fit(X, y)
    options = {"gamma": 0.3, "degree": 2, "coef0": 0.5}
    gram = pairwise_kernels(X_NEW, model.basis_vectors_, kernel, filter_params=True, **options)
    assert_allclose(model.decision_function(X_NEW), gram @ model.dual_coef_ + model.intercept_)


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
@pytest.mark.parametrize("weights", [np.ones(240), np.linspace(0.5, 3, 240)], ids=["1", "weights"])
def test_coefficients_minimise_the_paper_s_objective(weights, solver):
    C = 3.0
    model = make(C=C, gamma=0.2, selection=Selection(solver=solver), tol=1e-9).fit(X, y, weights)
    coef, positive = model.dual_coef_, y == 1
    gram = rbf_kernel(X, model.basis_vectors_, gamma=0.2)
    regulariser = gram[model.basis_indices_]
    C_pair = C / weights.sum()
    loss = C_pair * oracles.loss(gram @ coef, positive, weights)
    slope = C_pair * gram.T @ oracles.residual(gram @ coef, positive, weights)
    assert_allclose(model.path_[-1].objective, 0.5 * (coef @ regulariser @ coef + loss))
    assert_allclose(regulariser @ coef, -slope, rtol=1e-4)


def test_the_linear_term_is_penalised_like_the_rest():
    """Its features are scaled so that rows have length one on average."""
    model = make(C=3.0, gamma=0.2, linear_term=True, tol=1e-9).fit(X, y)
    gram, positive = rbf_kernel(X, model.basis_vectors_, gamma=0.2), y == 1
    kernel_part = model.dual_coef_ @ gram[model.basis_indices_] @ model.dual_coef_
    linear_part = model.linear_coef_ @ model.linear_coef_ * X.var(axis=0).sum()
    C_pair = 3.0 / len(y)
    scores = X @ model.linear_coef_ + gram @ model.dual_coef_
    loss = C_pair * oracles.loss(scores, positive, np.ones(len(y)))
    assert_allclose(model.path_[-1].objective, 0.5 * (kernel_part + linear_part + loss))


def test_gamma_words_are_those_of_scikit_learn():
    assert_allclose(make(2).fit(X, y).gamma_, 1 / (X.shape[1] * X.var()))
    assert make(2, gamma="auto").fit(X, y).gamma_ == 1 / X.shape[1]
    assert make(2, gamma=0.25).fit(X, y).gamma_ == 0.25


def test_it_ranks_real_data_well_with_few_centres():
    data, target = load_breast_cancer(return_X_y=True)
    data = scale(data)
    for model in (make(16), SparseKernelAUC(16, random_state=0)):
        model.fit(data[::2], target[::2])
        assert model.score(data[1::2], target[1::2]) > 0.985


def test_more_rows_of_the_common_class_leave_the_meaning_of_c():
    """Negatives that weigh ten times as much add no information about the positives."""
    model = make(gamma=0.2, selection=Selection(n_candidates=EVERY_ROW), tol=1e-9)
    many = clone(model).fit(X, y, np.where(y == 1, 1.0, 10.0))
    # The whole loss weighs C p n / (p + n): nearly C p, and less if negatives are not that many.
    p, n = y.sum(), (1 - y).sum()
    more = (10 * n / (p + 10 * n)) / (n / (p + n))
    assert 1.0 < more < 1.5
    assert_same_model(many, model.set_params(C=more).fit(X, y), rtol=1e-6)


# -- every option -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("retrain", "solver"), [("geometric", "cg"), ("doubling", "auto"), ("always", "cholesky")]
)
@pytest.mark.parametrize("selection", SELECTIONS)
def test_every_way_of_fitting_ranks_the_training_rows(selection, retrain, solver):
    model = make(
        C=10.0, selection=Selection(selection, n_candidates=20, retrain=retrain, solver=solver)
    ).fit(X, y)
    assert model.n_basis_ == 8
    assert model.score(X, y) > (0.8 if selection in BY_GAIN else 0.75)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_basis_indices_are_the_rows_of_the_centres(selection):
    model = make(selection=Selection(selection, n_candidates=20)).fit(X, y)
    if selection == "kmeans":
        nearest = pairwise_distances_argmin(model.basis_vectors_, X)
        assert_array_equal(model.basis_indices_, nearest)
    else:
        assert_array_equal(X[model.basis_indices_], model.basis_vectors_)


def test_a_callable_kernel_is_that_kernel():
    def wide(rows, centres):
        return rbf_kernel(rows, centres, gamma=0.05)

    assert_same_model(make(kernel=wide).fit(X, y), make(gamma=0.05).fit(X, y))
    assert make(kernel=cosine_similarity).fit(X, y).score(X, y) > 0.8


def test_max_iter_too_small_says_what_to_change():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 .* Raise `max_iter`, lower `C`"):
        make(C=1e4, selection=Selection(max_iter=1)).fit(X, y)


def test_n_iter_adds_up_the_path(plain):
    assert plain.n_iter_ == sum(record.n_iter for record in plain.path_) >= len(plain.path_)


# -- labels and threshold ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [(0, 1), (-1, 1), (3, 7), (False, True), ("ham", "spam"), (0.0, 1.0), ("Ja", "ja")],
    ids=str,
)
def test_the_larger_label_is_the_positive_one(plain, labels):
    named = [labels[code] for code in y]
    model = make().fit(X, named)
    assert model.classes_.tolist() == list(labels)
    assert_same_model(model, plain)
    assert_same_model(make().fit(X, np.array(named)), plain)
    predicted = model.predict(X)
    assert predicted.dtype == model.classes_.dtype
    assert_array_equal(predicted == labels[1], model.decision_function(X) > 0)
    assert_allclose(model.score(X, named), roc_auc_score(y, model.decision_function(X)))


def test_object_labels():
    model = make().fit(X, np.array(["no", "yes"], dtype=object)[y])
    assert set(model.predict(X)) == {"no", "yes"}


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 2, 240)], ids=["1", "weights"])
def test_no_other_threshold_has_a_better_balanced_accuracy(weights):
    model = make().fit(X, y, weights)
    scores = model.decision_function(X)

    def accuracy(predicted):
        return balanced_accuracy_score(y, predicted, sample_weight=weights)

    best = max(accuracy(scores >= threshold) for threshold in scores)
    assert_allclose(accuracy(model.predict(X)), best)


def test_score_is_the_weighted_auc(plain):
    weights = np.linspace(0, 1, 240)
    expected = roc_auc_score(y, plain.decision_function(X), sample_weight=weights)
    assert_allclose(plain.score(X, y, sample_weight=weights), expected)


# -- what must not change the model -----------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "kernel"), [*((rule, "rbf") for rule in BY_GAIN), ("orthogonal", "polynomial")]
)
def test_weights_equal_repetition_where_every_row_is_a_candidate(selection, kernel):
    rows, labels = X[:60], y[:60]
    weights = np.random.default_rng(0).integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), weights)
    model = make(5, selection=Selection(selection, n_candidates=EVERY_ROW), kernel=kernel)
    weighted = clone(model).fit(rows, labels, weights)
    assert_same_model(weighted, model.fit(rows[repeated], labels[repeated]))
    assert_allclose(
        [record.objective for record in weighted.path_],
        [record.objective for record in model.path_],
    )


@pytest.mark.parametrize(
    ("options", "rtol"),
    [
        ({"linear_term": True}, 1e-9),
        ({"gamma": [0.02, 0.1, 0.5]}, 1e-9),
        ({"refine": True, "linear_term": True}, 1e-6),  # a descent magnifies rounding
    ],
    ids=str,
)
def test_weights_equal_repetition_with_every_option(options, rtol):
    weights = np.random.default_rng(0).integers(0, 3, 240)
    repeated = np.repeat(np.arange(240), weights)
    model = make(selection=Selection(n_candidates=EVERY_ROW), **options)
    weighted, expected = clone(model).fit(X, y, weights), model.fit(X[repeated], y[repeated])
    assert_allclose(weighted.basis_vectors_, expected.basis_vectors_, atol=rtol)
    scores = expected.decision_function(X_NEW)
    assert_allclose(weighted.decision_function(X_NEW), scores, atol=rtol * np.ptp(scores))


@pytest.mark.parametrize(
    ("selection", "early_stopping"), [*((rule, False) for rule in SELECTIONS), ("greedy", True)]
)
def test_zero_weight_equals_leaving_out(selection, early_stopping):
    weights = np.random.default_rng(0).integers(0, 2, 240)
    model = make(5, selection=Selection(selection, n_candidates=20), early_stopping=early_stopping)
    weighted = clone(model).fit(X, y, weights)
    model.fit(X[weights > 0], y[weights > 0])
    assert_same_model(weighted, model)
    if selection != "kmeans":
        assert_array_equal(X[weighted.basis_indices_], weighted.basis_vectors_)


def test_equal_weights_act_as_a_larger_c():
    """As many times the rows have as many times the loss."""
    assert_same_model(make().fit(X, y, np.full(240, 2.5)), make(C=2.5).fit(X, y))


@pytest.mark.parametrize("selection", BY_GAIN)
def test_the_order_of_rows_does_not_matter_where_every_row_is_a_candidate(selection):
    rows, labels, order = X[:60], y[:60], np.random.default_rng(0).permutation(60)
    model = make(5, selection=Selection(selection, n_candidates=EVERY_ROW))
    permuted = clone(model).fit(rows[order], labels[order])
    assert_same_model(permuted, model.fit(rows, labels))
    assert_array_equal(order[permuted.basis_indices_], model.basis_indices_)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_same_random_state_gives_the_same_model(selection):
    model = make(5, selection=Selection(selection, n_candidates=5))
    assert_same_model(clone(model).fit(X, y), clone(model).fit(X, y), rtol=0)
    model.set_params(random_state=np.random.RandomState(0))
    assert_same_model(
        model.fit(X, y), make(5, selection=Selection(selection, n_candidates=5)).fit(X, y)
    )


def test_another_random_state_draws_other_candidates():
    model = make(5, selection=Selection(n_candidates=5)).fit(X, y)
    other = make(5, selection=Selection(n_candidates=5)).set_params(random_state=1).fit(X, y)
    assert set(model.basis_indices_) != set(other.basis_indices_)


@pytest.mark.parametrize(
    ("n_rows", "parameters"),
    [
        (240, PLAIN),
        (240, {}),
        (12_000, {"early_stopping": True}),
        (12_000, {**PLAIN, "selection": Selection("exact", n_candidates=5)}),
        (12_000, {**PLAIN, "selection": Selection(n_candidates=10, n_rows=None)}),
    ],
    ids=str,
)
def test_n_jobs_does_not_change_a_bit(n_rows, parameters):
    rows, labels = make_classification(n_rows, 6, class_sep=0.5, random_state=0)
    rows = rows.astype(np.float32)
    model = SparseKernelAUC(6, random_state=0, **parameters)
    one, two, four = (clone(model).set_params(n_jobs=n).fit(rows, labels) for n in (1, 2, 4))
    for other in (two, four):
        assert_array_equal(one.basis_vectors_, other.basis_vectors_)
        assert_array_equal(one.dual_coef_, other.dual_coef_)
        assert_array_equal(one.decision_function(rows), other.decision_function(rows))


@pytest.mark.parametrize("n_rows", ["auto", None])
def test_fitting_on_many_rows_agrees_with_fitting_exactly(use_sizes, n_rows):
    """Above 10,000 rows columns are float32 and pairs are binned."""
    rows, labels = make_classification(12_000, 6, class_sep=0.5, random_state=0)
    model = make(tol=1e-8, selection=Selection(n_rows=n_rows))
    large = clone(model).fit(rows, labels)
    use_sizes(exact_rows=20_000)
    exact = model.fit(rows, labels)
    assert_array_equal(large.basis_indices_, exact.basis_indices_)
    assert_allclose(large.decision_function(rows), exact.decision_function(rows), atol=1e-3)
    assert_allclose(large.path_[-1].objective, exact.path_[-1].objective, rtol=1e-5)


@pytest.mark.parametrize("parameters", [PLAIN, PLAIN | {"refine": 4}], ids=str)
def test_coefficients_of_a_sampled_fit_are_the_best_on_all_rows(parameters):
    rows, labels = make_classification(9000, 6, weights=[0.9], class_sep=0.5, random_state=0)
    weights = np.random.default_rng(0).integers(0, 3, 9000).astype(float)
    model = SparseKernelAUC(6, random_state=0, tol=1e-10, **parameters).fit(rows, labels, weights)
    scales = 1 / model.length_scales_
    gram = rbf_kernel(rows * scales, model.basis_vectors_ * scales, gamma=model.gamma_)
    inner = rbf_kernel(model.basis_vectors_ * scales, gamma=model.gamma_)
    positive = labels == 1
    residual = oracles.residual(gram @ model.dual_coef_, positive, weights)
    slope = model.C_ * gram.T @ residual / weights.sum()
    assert_allclose(inner @ model.dual_coef_, -slope, rtol=0, atol=1e-5 * np.abs(slope).max())
    if not model.refine:
        assert_array_equal(rows[model.basis_indices_], model.basis_vectors_)
        assert weights[model.basis_indices_].min() > 0


# -- fitting again ----------------------------------------------------------------------------


def test_refitting_forgets_the_old_fit():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X).add_prefix("x")
    model = make(early_stopping=True, refine=True).fit(frame, np.array(["a", "b"])[y])
    model.set_params(early_stopping=False, refine=False, n_basis=3).fit(X[:, :2], y)
    fresh = make(3).fit(X[:, :2], y)
    assert vars(model).keys() == vars(fresh).keys()
    assert model.n_features_in_ == 2
    assert model.classes_.tolist() == [0, 1]
    assert_array_equal(model.decision_function(X[:, :2]), fresh.decision_function(X[:, :2]))


def test_fit_leaves_its_arguments_and_parameters_alone():
    rows, labels, weights = X.copy(), y.copy(), np.linspace(0, 1, 240)
    model = make(early_stopping=True, refine=True)
    parameters = model.get_params()
    model.fit(rows, labels, weights)
    assert model.get_params() == parameters
    assert_array_equal(rows, X)
    assert_array_equal(labels, y)
    assert_array_equal(weights, np.linspace(0, 1, 240))
