"""KernelRankSVM: agreement with other solvers, grades and queries, invariances, zeros."""

import pickle

import numpy as np
import oracles
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import KernelRankSVM, Selection, SparseKernelAUC

X, y = make_classification(150, 4, class_sep=0.6, flip_y=0.1, n_redundant=0, random_state=0)
rng = np.random.default_rng(0)
QID = np.repeat(np.arange(10), 15)
GRADES = np.digitize(X[:, 0] + 0.5 * rng.normal(size=150), [-1.0, 0.0, 1.0])
WEIGHTS = rng.integers(1, 4, 150).astype(float)


def objective(model, rows, grades, qid, weights, gram):
    """The objective of a fitted model by its definition over all pairs."""
    beta = np.zeros(len(rows))
    beta[model.support_] = model.dual_coef_
    pairs = np.sum(np.outer(weights, weights) * oracles.preferred(grades, qid))
    loss = oracles.graded_loss(gram @ beta, grades, qid, weights)
    C_pair = model.C * weights.sum() / pairs
    return 0.5 * beta @ gram @ beta + 0.5 * C_pair * loss


PLAIN = {"linear_term": False, "refine": False, "tol": 1e-9}


def sparse_units(weights):
    """The C of `SparseKernelAUC`, where C_pair = C / (p + n), for C = 1 of `KernelRankSVM`."""
    positive, negative = weights[y == 1].sum(), weights[y == 0].sum()
    return (positive + negative) ** 2 / (positive * negative)


# -- the optimum ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("C", "kernel", "weights"),
    [(0.1, "rbf", None), (1.0, "laplacian", WEIGHTS), (100.0, "rbf", WEIGHTS)],
    ids=["plain", "laplacian", "weighted"],
)
def test_the_objective_is_that_of_the_sparse_model_with_every_row(C, kernel, weights):
    options = {"kernel": kernel, "gamma": 0.5}
    full = KernelRankSVM(C=C, **options).fit(X, y, sample_weight=weights)
    selection = Selection("random", retrain="doubling")
    C_sparse = C * sparse_units(np.ones(150) if weights is None else weights)
    every_row = SparseKernelAUC(150, C=C_sparse, selection=selection, **PLAIN, **options)
    every_row.fit(X, y, weights)
    assert every_row.n_basis_ == 150
    assert_allclose(full.objective_, every_row.path_[-1].objective, rtol=1e-4)


def test_the_ranking_is_that_of_the_sparse_model_with_every_row():
    full = KernelRankSVM(gamma=0.5, tol=1e-6).fit(X, y)
    C = sparse_units(np.ones(150))
    sparse_model = SparseKernelAUC(150, C=C, gamma=0.5, selection="random", **PLAIN).fit(X, y)
    difference = full.decision_function(X) - sparse_model.decision_function(X)
    assert_allclose(difference, difference[0], atol=1e-2)
    assert_allclose(full.score(X, y), sparse_model.score(X, y), atol=1e-3)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_objective_is_its_definition(C):
    for kernel, gram in (("rbf", rbf_kernel), ("laplacian", laplacian_kernel)):
        model = KernelRankSVM(C=C, kernel=kernel, gamma=0.5).fit(X, GRADES, WEIGHTS, qid=QID)
        expected = objective(model, X, GRADES, QID, WEIGHTS, gram(X, gamma=0.5))
        assert_allclose(model.objective_, expected, rtol=1e-8)


def test_rows_in_no_violating_pair_have_no_coefficient():
    model = KernelRankSVM(C=100, gamma=0.5).fit(X, y)
    scores = model.decision_function(X)
    margins = np.subtract.outer(scores[y == 1], scores[y == 0])
    in_pairs = np.zeros(150, bool)
    in_pairs[y == 1] = (margins < 1 - 1e-3).any(axis=1)
    in_pairs[y == 0] = (margins < 1 - 1e-3).any(axis=0)
    assert in_pairs.sum() < 150
    assert set(np.flatnonzero(in_pairs)) <= set(model.support_)
    assert model.n_support_ == len(model.support_) < model.n_support_unpolished_ == 150
    assert_array_equal(model.support_vectors_, X[model.support_])
    assert np.all(model.dual_coef_ != 0)
    assert np.all(np.sign(model.dual_coef_) == np.where(y[model.support_], 1, -1))


# -- grades and queries -----------------------------------------------------------------------


def test_grades_in_queries_are_ranked():
    model = KernelRankSVM(C=10).fit(X[:100], GRADES[:100], qid=QID[:100])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.intercept_ == 0.0
    rows = slice(100, 150)
    score = model.score(X[rows], GRADES[rows], qid=QID[rows])
    arguments = GRADES[rows], QID[rows], np.ones(50)
    scores = model.decision_function(X[rows])
    assert_allclose(score, oracles.pairwise_accuracy(scores, *arguments), atol=1e-12)
    assert score > 0.7


def test_the_score_of_grades_without_queries_compares_all_rows():
    model = KernelRankSVM().fit(X, GRADES, qid=np.zeros(150, int))
    scores = model.decision_function(X)
    expected = oracles.pairwise_accuracy(scores, GRADES, np.zeros(150), WEIGHTS)
    assert_allclose(model.score(X, GRADES, sample_weight=WEIGHTS), expected, atol=1e-12)


def test_labels_are_not_predicted_from_grades():
    model = KernelRankSVM().fit(X, GRADES, qid=QID)
    assert not hasattr(model, "predict")
    with pytest.raises(AttributeError, match=r"has no attribute 'predict'") as error:
        model.predict(X)
    message = "fitted to 4 grades. It ranks grades and does not predict them. Use `decision_func"
    assert message in str(error.value.__cause__)
    assert hasattr(model.fit(X, y), "predict")


def test_one_query_of_two_grades_is_two_classes():
    plain = KernelRankSVM().fit(X, y)
    query = KernelRankSVM().fit(X, y, qid=np.full(150, 7))
    assert_array_equal(query.decision_function(X), plain.decision_function(X))
    assert_array_equal(query.predict(X), plain.predict(X))
    assert_allclose(query.score(X, y, qid=np.zeros(150, int)), plain.score(X, y), atol=1e-12)


def test_the_score_of_two_classes_is_the_area_under_the_curve():
    model = KernelRankSVM().fit(X, y)
    expected = roc_auc_score(y, model.decision_function(X), sample_weight=WEIGHTS)
    assert_allclose(model.score(X, y, sample_weight=WEIGHTS), expected)


def test_only_the_order_of_grades_counts():
    model = KernelRankSVM().fit(X, GRADES, qid=QID)
    other = KernelRankSVM().fit(X, np.array([-3.5, 0.25, 10, 1e6])[GRADES], qid=QID)
    assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_two_labels_of_any_kind_can_have_queries():
    model = KernelRankSVM().fit(X, np.array(["bad", "good"])[y], qid=QID)
    assert set(model.predict(X)) == {"bad", "good"}
    assert model.score(X, np.array(["bad", "good"])[y], qid=QID) > 0.7


def test_queries_of_one_grade_are_skipped_with_a_warning():
    grades = GRADES.copy()
    grades[QID == 3] = 2
    grades[QID == 8] = 0
    with pytest.warns(UserWarning, match=r"^2 of 10 queries have one grade only and are skipped"):
        model = KernelRankSVM().fit(X, grades, qid=QID)
    kept = ~np.isin(QID, [3, 8])
    other = KernelRankSVM().fit(X[kept], grades[kept], qid=QID[kept])
    assert_array_equal(other.decision_function(X), model.decision_function(X))
    assert_array_equal(np.flatnonzero(kept)[other.support_], model.support_)
    assert model.score(X, grades, qid=QID) == other.score(X[kept], grades[kept], qid=QID[kept])


# -- invariances ------------------------------------------------------------------------------


@pytest.mark.parametrize(("target", "qid"), [(y, None), (GRADES, QID)], ids=["classes", "grades"])
def test_weights_are_repetitions(target, qid):
    counts = WEIGHTS.astype(int)
    counts[::7] = 0
    rows = np.repeat(np.arange(150), counts)
    weighted = KernelRankSVM(gamma=0.5, tol=1e-6).fit(X, target, counts, qid=qid)
    queries = None if qid is None else qid[rows]
    repeated = KernelRankSVM(gamma=0.5, tol=1e-6).fit(X[rows], target[rows], qid=queries)
    assert_allclose(repeated.objective_, weighted.objective_, rtol=1e-5)
    difference = repeated.decision_function(X) - weighted.decision_function(X)
    assert_allclose(difference, difference[0], atol=1e-4)
    assert not np.isin(weighted.support_, np.flatnonzero(counts == 0)).any()


@pytest.mark.parametrize("exponent", [-490, -100, 100])
def test_the_unit_of_the_weights_is_a_factor_of_c(exponent):
    """Products of two weights of 1e-150 and less would underflow."""
    unit = 2.0**exponent
    expected = KernelRankSVM(C=2).fit(X, y, sample_weight=WEIGHTS)
    model = KernelRankSVM(C=2 / unit).fit(X, y, sample_weight=unit * WEIGHTS)
    assert_array_equal(model.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize("C", [1.0, 1167.0])
def test_tiny_weights_rank_as_a_tiny_c_does(C):
    model = KernelRankSVM(C, gamma=5e-6).fit(X, y, sample_weight=np.full(150, 1e-150))
    tiny = KernelRankSVM(1e-20, gamma=5e-6).fit(X, y)
    assert_allclose(model.score(X, y), tiny.score(X, y), atol=1e-3)


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_an_offset_of_the_features_does_not_change_a_linear_ranking(offset):
    centred = KernelRankSVM(kernel="linear").fit(X, y)
    model = KernelRankSVM(kernel="linear").fit(X + offset, y)
    assert_array_equal(model.predict(X + offset), centred.predict(X))
    one, other = centred.decision_function(X), model.decision_function(X + offset)
    assert_allclose(other, one, atol=1e-4)
    assert_allclose(model.score(X + offset, y), centred.score(X, y), atol=1e-4)


def test_a_kernel_without_gamma_does_not_need_a_variance():
    """The variance of these rows overflows, which matters to gamma='scale' only."""
    model = KernelRankSVM(kernel=lambda rows, centres: rbf_kernel(rows / 1e200, centres / 1e200))
    assert model.fit(1e200 * X, y).score(1e200 * X, y) > 0.8


def test_the_third_argument_is_sample_weight_as_in_all_estimators():
    model = KernelRankSVM().fit(X, y, WEIGHTS)
    named = KernelRankSVM().fit(X, y, sample_weight=WEIGHTS)
    assert_array_equal(model.dual_coef_, named.dual_coef_)
    assert model.score(X, y, WEIGHTS) == named.score(X, y, sample_weight=WEIGHTS)
    with pytest.raises(TypeError, match="positional arguments"):
        model.fit(X, GRADES, WEIGHTS, QID)


@pytest.mark.parametrize(("target", "qid"), [(y, None), (GRADES, QID)], ids=["classes", "grades"])
def test_the_order_of_rows_does_not_matter(target, qid):
    queries = np.zeros(150, int) if qid is None else qid
    order = rng.permutation(150)
    order = order[np.argsort(queries[order], kind="stable")]
    model = KernelRankSVM(C=10, tol=1e-6).fit(X, target, qid=qid)
    other = KernelRankSVM(C=10, tol=1e-6).fit(X[order], target[order], qid=qid)
    assert_allclose(other.objective_, model.objective_, rtol=1e-5)
    assert_allclose(other.decision_function(X), model.decision_function(X), atol=1e-3)


def test_neither_threads_nor_memory_change_a_bit(use_sizes):
    rows, labels = make_classification(700, 4, class_sep=0.6, flip_y=0.1, random_state=1)
    for exact_rows in (0, 10_000):
        use_sizes(gram_exact_rows=exact_rows)
        reference = KernelRankSVM(C=10).fit(rows, labels)
        for options in ({"n_jobs": 2}, {"cache_size": 1.4}, {"cache_size": 1.4, "n_jobs": 3}):
            model = KernelRankSVM(C=10, **options).fit(rows, labels)
            assert_array_equal(model.dual_coef_, reference.dual_coef_)
            assert_array_equal(model.decision_function(rows), reference.decision_function(rows))


def test_float32_values_are_enough(use_sizes):
    precise = KernelRankSVM(C=10, gamma=0.5).fit(X, y)
    use_sizes(gram_exact_rows=0)
    rounded = KernelRankSVM(C=10, gamma=0.5).fit(X, y)
    assert_allclose(rounded.objective_, precise.objective_, rtol=1e-5)
    assert_allclose(rounded.decision_function(X), precise.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial", "linear"])
def test_sparse_rows_and_float32_rows_give_the_same_model(kernel):
    rows = np.round(X * (np.abs(X) > 0.5), 3)
    model = KernelRankSVM(kernel=kernel).fit(rows, y)
    for other_rows in (sparse.csr_array(rows), sparse.csr_matrix(rows), rows.astype(np.float32)):
        other = KernelRankSVM(kernel=kernel).fit(other_rows, y)
        assert_allclose(other.objective_, model.objective_, rtol=1e-4)
        scores = other.decision_function(other_rows)
        assert_allclose(scores, model.decision_function(rows), atol=2e-2)


def test_a_callable_is_the_kernel_it_computes():
    named = KernelRankSVM(gamma=0.5).fit(X, y)
    called = KernelRankSVM(kernel=lambda a, b: rbf_kernel(a, b, gamma=0.5)).fit(X, y)
    assert_allclose(called.decision_function(X), named.decision_function(X), atol=1e-6)
    assert (named.gamma_, called.gamma_) == (0.5, None)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_rows_that_are_all_alike_are_not_ranked(kernel):
    model = KernelRankSVM(kernel=kernel).fit(np.zeros((150, 4)), y)
    assert_allclose(np.ptp(model.decision_function(np.zeros((9, 4)))), 0.0)
    assert model.score(np.zeros((150, 4)), y) == 0.5


def test_a_fit_does_not_depend_on_the_one_before():
    model = KernelRankSVM().fit(X, GRADES, qid=QID)
    model.fit(X[:100], y[:100])
    fresh = KernelRankSVM().fit(X[:100], y[:100])
    assert_array_equal(model.decision_function(X), fresh.decision_function(X))
    assert pickle.loads(pickle.dumps(model)).score(X, y) == fresh.score(X, y)


# -- in scikit-learn's tools ------------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.skipif(
    sklearn.__version__ < "1.8", reason="searches of older versions do not pass qid to score"
)
def test_queries_are_routed_through_a_pipeline_and_a_search(routing):
    ranker = KernelRankSVM().set_fit_request(qid=True).set_score_request(qid=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ranker),
        {"kernelranksvm__C": [0.1, 10.0]},
        cv=GroupKFold(5),
    )
    search.fit(X, GRADES, qid=QID, groups=QID)
    by_hand = []
    for train, test in GroupKFold(5).split(X, GRADES, QID):
        scaler = StandardScaler().fit(X[train])
        model = KernelRankSVM(C=search.best_params_["kernelranksvm__C"])
        model.fit(scaler.transform(X[train]), GRADES[train], qid=QID[train])
        by_hand.append(model.score(scaler.transform(X[test]), GRADES[test], qid=QID[test]))
    assert_allclose(search.best_score_, np.mean(by_hand), rtol=1e-12)
    assert search.best_score_ > 0.6


def test_weights_and_queries_are_not_routed_unasked(routing):
    search = GridSearchCV(KernelRankSVM(), {"C": [1.0]}, cv=GroupKFold(5))
    with pytest.raises(ValueError, match=r"qid"):
        search.fit(X, GRADES, qid=QID, groups=QID)


def test_cross_validation_scores_are_areas_under_the_curve():
    scores = cross_val_score(KernelRankSVM(gamma=0.5), X, y, cv=5)
    expected = cross_val_score(clone(KernelRankSVM(gamma=0.5)), X, y, cv=5, scoring="roc_auc")
    assert_allclose(scores, expected)
