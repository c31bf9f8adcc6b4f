"""SparseKernelAUC with refined centres, several widths and a linear term."""

import copy
import pickle

import numpy as np
import pytest
from listeners import Listener, interrupt_at, stop_at
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_circles, make_classification, make_moons
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from skauc import Selection, SparseKernelAUC
from skauc.exceptions import InvalidDataError
from skauc.sparse import stages

# Few rows of these data are independent.
pytestmark = pytest.mark.filterwarnings("ignore:The basis has .* centres, and `n_basis`")

WIDTHS = [2.0, 0.4, 0.08]
VARIANTS = {
    "refined": {"refine": True, "linear_term": False},
    "widths and linear": {"gamma": WIDTHS, "linear_term": True, "refine": False},
    "all": {"refine": True, "gamma": WIDTHS, "linear_term": True},
}


# One variant that is not refined, and one that is.
BOTH = ("widths and linear", "all")


def with_noise(make_data, n_rows, seed, noise_features=4, **parameters):
    X, y = make_data(n_rows, random_state=seed, **parameters)
    noise = np.random.default_rng(seed).normal(size=(n_rows, noise_features))
    return StandardScaler().fit_transform(np.hstack((X, noise))), y


def moons(n_rows=300, seed=0):
    return with_noise(make_moons, n_rows, seed, noise=0.2)


def circles(n_rows=300, seed=0):
    return with_noise(make_circles, n_rows, seed, noise=0.15, factor=0.4)


X, y = moons()
X_NEW, Y_NEW = moons(1000, seed=1)


def make(n_basis=8, **parameters):
    """An estimator without refinement, linear term and scaling, unless told."""
    plain = {"refine": False, "linear_term": False, "scaling": None, "C": 10.0}
    return SparseKernelAUC(n_basis, **{"random_state": 0, **plain, **parameters})


@pytest.fixture(scope="module", params=VARIANTS)
def model(request):
    return make(**VARIANTS[request.param]).fit(X, y)


def explicit_scores(model, rows):
    """f(x) = linear.x + sum_k coef_k exp(-gamma_k |(x - z_k) / length_scales|^2) + intercept."""
    distances = cdist(
        rows / model.length_scales_, model.basis_vectors_ / model.length_scales_, "sqeuclidean"
    )
    kernel_part = np.exp(-model.gamma_ * distances) @ model.dual_coef_
    return kernel_part + rows @ model.linear_coef_ + model.intercept_


# -- what is fitted ---------------------------------------------------------------------------


def test_decision_function_is_the_explicit_formula(model):
    assert_allclose(model.decision_function(X_NEW), explicit_scores(model, X_NEW), atol=1e-9)
    labels = model.classes_[(explicit_scores(model, X_NEW) > 0).astype(int)]
    assert np.mean(model.predict(X_NEW) == labels) > 0.999


def test_shapes_and_numbers(model):
    assert model.n_basis_ == 8
    assert model.basis_vectors_.shape == (8, 6)
    assert model.length_scales_.shape == model.linear_coef_.shape == (6,)
    assert np.all(model.length_scales_ > 0)
    for array in (model.basis_vectors_, model.dual_coef_, model.linear_coef_):
        assert np.isfinite(array).all()
    assert len(np.unique(model.basis_indices_)) >= 1
    assert np.all((model.basis_indices_ >= 0) & (model.basis_indices_ < len(X)))


def test_gamma_is_one_number_or_one_per_centre(model):
    if isinstance(model.gamma, list):
        assert model.gamma_.shape == (8,)
        assert np.isin(model.gamma_, WIDTHS).all()
    else:
        assert_allclose(model.gamma_, 1 / (6 * X.var()))


def test_only_refinement_learns_scales_and_only_the_linear_term_has_coefficients(model):
    assert np.any(model.length_scales_ != 1) == bool(model.refine)
    assert np.any(model.linear_coef_ != 0) == model.linear_term


def test_centres_are_rows_unless_they_were_refined(model):
    origins = X[model.basis_indices_]
    if not model.refine:
        assert_array_equal(model.basis_vectors_, origins)
    else:
        assert np.any(model.basis_vectors_ != origins)
        assert np.linalg.norm(model.basis_vectors_ - origins, axis=1).max() < 20


def test_the_narrowest_of_several_widths_can_win():
    # A fine chessboard: wide functions cannot follow it.
    rng = np.random.default_rng(0)
    rows = rng.uniform(-2, 2, size=(400, 2))
    labels = (np.floor(rows).sum(axis=1) % 2).astype(int)
    fitted = make(16, gamma=[0.01, 0.1, 4.0]).fit(rows, labels)
    assert np.count_nonzero(fitted.gamma_ == 4.0) > 8


def test_a_sequence_of_one_width_is_that_width():
    one, sequence = make(gamma=0.3).fit(X, y), make(gamma=[0.3]).fit(X, y)
    assert_array_equal(one.decision_function(X_NEW), sequence.decision_function(X_NEW))


@pytest.mark.parametrize("as_sequence", [tuple, np.array])
def test_any_sequence_holds_widths(as_sequence):
    expected = make(gamma=WIDTHS).fit(X, y).decision_function(X_NEW)
    actual = make(gamma=as_sequence(WIDTHS)).fit(X, y).decision_function(X_NEW)
    assert_array_equal(actual, expected)


def test_the_linear_term_ranks_what_is_linear():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 30))
    slope = rng.normal(size=30)
    labels = (rows @ slope + rng.normal(size=400) > 0).astype(int)
    train, test = slice(200), slice(200, None)
    without, with_it = (
        make(8, linear_term=linear_term, C=1.0).fit(rows[train], labels[train])
        for linear_term in (False, True)
    )
    assert with_it.score(rows[test], labels[test]) > without.score(rows[test], labels[test])
    cosine = with_it.linear_coef_ @ slope
    assert cosine > 0.8 * np.linalg.norm(with_it.linear_coef_) * np.linalg.norm(slope)


# -- refinement pays --------------------------------------------------------------------------


@pytest.mark.parametrize(("make_data", "seed"), [(moons, 0), (circles, 1)])
def test_refinement_does_not_lower_the_auc(make_data, seed):
    rows, labels = make_data(400, seed)
    rows_new, labels_new = make_data(2000, seed + 10)
    plain = make(random_state=seed).fit(rows, labels)
    refined = make(refine=True, random_state=seed).fit(rows, labels)
    # The standard error of either AUC is about 0.01.
    assert refined.score(rows_new, labels_new) > plain.score(rows_new, labels_new) - 0.01


@pytest.mark.parametrize("seed", range(2))
def test_noise_features_get_long_scales(seed):
    scales = make(refine=True, random_state=seed).fit(*circles(400, seed)).length_scales_
    assert scales[2:].min() > scales[:2].max()


def test_the_last_record_is_of_all_rows(model):
    auc = roc_auc_score(y, model.decision_function(X))
    assert_allclose(model.path_[-1].train_auc, auc, atol=1e-9)


# -- the path ---------------------------------------------------------------------------------


def test_path_and_stages_agree(model):
    sizes = [record.n_basis for record in model.path_]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == model.n_basis_
    stages = list(model.staged_decision_function(X_NEW))
    assert len(stages) == len(model.path_)
    for record, scores in zip(model.path_, stages, strict=True):
        assert_allclose(scores, record.model.scores(X_NEW), rtol=1e-9, atol=1e-9)
    assert_allclose(stages[-1], model.decision_function(X_NEW), rtol=1e-9, atol=1e-9)


def test_truncated_models_are_the_stages(model):
    for record, scores in zip(model.path_, model.staged_decision_function(X_NEW), strict=True):
        smaller = model.truncate(record.n_basis)
        assert smaller.n_basis_ == record.n_basis == len(smaller.dual_coef_)
        assert_allclose(smaller.decision_function(X_NEW), scores, rtol=1e-9, atol=1e-9)
        assert_allclose(explicit_scores(smaller, X_NEW), scores, rtol=1e-7, atol=1e-7)
        assert smaller.path_[-1] is record


def test_refinement_holds_no_rows_out():
    labels = np.zeros(len(X), dtype=int)
    labels[[3]] = 1
    model = make(refine=True).fit(X, labels)
    assert [record.validation_auc for record in model.path_] == [None] * len(model.path_)


@pytest.mark.parametrize("n_steps", [1, 4])
def test_a_number_of_steps_is_that_of_the_last_descent(n_steps, monkeypatch):
    lengths = []

    def count(objective, basis, start, most, *arguments, **keywords):
        found = refine(objective, basis, start, most, *arguments, **keywords)
        lengths.append((most, found.n_iter))
        return found

    refine = stages.refine
    monkeypatch.setattr(stages, "refine", count)
    make(32, refine=n_steps).fit(X, y)
    half = (n_steps + 1) // 2
    assert lengths == [(half, half), (half, half), (n_steps, n_steps)]


def test_true_and_auto_are_ten_steps():
    expected = make(refine=10, linear_term=True).fit(X, y).decision_function(X_NEW)
    for refine in (True, "auto"):
        model = make(refine=refine, linear_term="auto").fit(X, y)
        assert_array_equal(model.decision_function(X_NEW), expected)


def test_steps_lower_the_objective():
    values = [make(refine=steps).fit(X, y).path_[-1].objective for steps in (False, 1, 5, 25)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_more_rows_than_a_sample_has(early_stopping):
    rows, labels = circles(9000)
    rows_new, labels_new = circles(2000, seed=1)
    plain = make(16, selection=Selection(n_candidates=20)).fit(rows, labels)
    refined = clone(plain).set_params(refine=True, early_stopping=early_stopping).fit(rows, labels)
    assert refined.score(rows_new, labels_new) > plain.score(rows_new, labels_new)
    assert [record.n_basis for record in refined.path_ if record.is_refined] == [8, 16]
    auc = roc_auc_score(labels, refined.decision_function(rows))
    assert_allclose(refined.path_[-1].train_auc, auc, atol=1e-6)


def test_early_stopping_holds_rows_out_for_a_number_of_steps_too():
    model = make(16, refine=5, early_stopping=True).fit(*circles())
    assert all(record.validation_auc is not None for record in model.path_)


def test_a_basis_that_doubles_is_refined_more_than_once():
    selection = Selection(n_candidates=20, retrain="geometric")
    model = make(32, refine=True, selection=selection).fit(X, y)
    assert [r.n_basis for r in model.path_ if r.is_refined] == [8, 16, 32]
    stages = list(model.staged_decision_function(X_NEW))
    for record, scores in zip(model.path_, stages, strict=True):
        smaller = model.truncate(record.n_basis)
        assert_allclose(explicit_scores(smaller, X_NEW), scores, rtol=1e-7, atol=1e-7)
    # The centres chosen after a refinement are rows in the learnt metric.
    before, refined, after = (model.truncate(size) for size in (2, 16, 22))
    assert_array_equal(before.length_scales_, np.ones(6))
    assert np.any(refined.length_scales_ != 1)
    assert_array_equal(after.length_scales_, refined.length_scales_)
    assert_array_equal(after.basis_vectors_[:16], refined.basis_vectors_)
    assert_array_equal(after.basis_vectors_[16:], X[after.basis_indices_[16:]])


# -- input ------------------------------------------------------------------------------------


def half_empty():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 5)) * (rng.random((200, 5)) < 0.5)
    return rows, (rows[:, 0] ** 2 + rows[:, 1] > 0.3 * rng.normal(size=200)).astype(int)


@pytest.mark.parametrize(
    ("variant", "as_format"),
    [(BOTH[0], sparse.csr_array), (BOTH[1], sparse.csc_matrix)],
)
def test_sparse_rows_give_what_dense_rows_give(variant, as_format):
    rows, labels = half_empty()
    dense = make(6, tol=1e-8, **VARIANTS[variant]).fit(rows, labels)
    other = make(6, tol=1e-8, **VARIANTS[variant]).fit(as_format(rows), labels)
    assert_array_equal(other.basis_indices_, dense.basis_indices_)
    scores = dense.decision_function(rows)
    # Rounding is magnified along the descent.
    atol = (1e-3 if dense.refine else 1e-7) * np.abs(scores).max()
    assert_allclose(other.decision_function(as_format(rows)), scores, atol=atol)
    assert_allclose(other.decision_function(rows), scores, atol=atol)


def test_float32_rows_give_nearly_what_float64_rows_give(model):
    narrow = clone(model).fit(X.astype(np.float32), y)
    assert abs(narrow.score(X_NEW, Y_NEW) - model.score(X_NEW, Y_NEW)) < 0.01


@pytest.mark.parametrize(
    ("variant", "n_candidates"), [(BOTH[0], 100), (BOTH[1], 100), (BOTH[1], 1000)]
)
def test_rows_of_weight_zero_are_left_out(variant, n_candidates):
    weights = (np.arange(len(X)) % 3 != 0).astype(float)
    kept = weights > 0
    parameters = {
        "selection": Selection(n_candidates=n_candidates),
        "tol": 1e-8,
        **VARIANTS[variant],
    }
    weighted = make(6, **parameters).fit(X, y, sample_weight=weights)
    left_out = make(6, **parameters).fit(X[kept], y[kept])
    assert_array_equal(weighted.basis_indices_, np.flatnonzero(kept)[left_out.basis_indices_])
    expected = left_out.decision_function(X_NEW)
    atol = (1e-3 if left_out.refine else 1e-7) * np.abs(expected).max()
    assert_allclose(weighted.decision_function(X_NEW), expected, atol=atol)


def test_weights_of_one_change_nothing(model):
    weighted = clone(model).fit(X, y, sample_weight=np.ones(len(X)))
    assert_array_equal(weighted.decision_function(X_NEW), model.decision_function(X_NEW))


@pytest.mark.parametrize("variant", BOTH)
def test_threads_change_nothing(use_sizes, variant):
    use_sizes(matrix_block=1 << 16)
    rows, labels = make_moons(9000, noise=0.3, random_state=0)  # two tasks
    one, two = (
        make(
            3, C=0.1, n_jobs=n_jobs, selection=Selection(n_candidates=10), **VARIANTS[variant]
        ).fit(rows, labels)
        for n_jobs in (1, 2)
    )
    assert_array_equal(one.basis_vectors_, two.basis_vectors_)
    assert_array_equal(one.dual_coef_, two.dual_coef_)
    assert_array_equal(one.length_scales_, two.length_scales_)
    assert_array_equal(one.linear_coef_, two.linear_coef_)


# -- estimators among others ------------------------------------------------------------------


def test_a_copy_predicts_the_same(model):
    for twin in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert_array_equal(twin.decision_function(X_NEW), model.decision_function(X_NEW))
        assert_array_equal(twin.truncate(4).predict(X_NEW), model.truncate(4).predict(X_NEW))


def test_callbacks_follow_a_refined_fit():
    listener = Listener()
    make(16, refine=True).set_callbacks(listener).fit(X, y)
    assert list(dict.fromkeys(seen.n_basis_ for seen in listener.models)) == [4, 8, 16]
    for seen in listener.models:
        assert np.isfinite(seen.decision_function(X_NEW)).all()


@pytest.mark.parametrize("size", [12, 16])
def test_a_callback_can_end_a_refined_fit(size):
    listener = Listener(stop_at(size))
    model = (
        make(32, refine=True, selection=Selection(n_candidates=20))
        .set_callbacks(listener)
        .fit(X, y)
    )
    assert model.n_basis_ == size
    assert model.path_[-1].is_refined


def test_an_interrupted_refined_fit_keeps_its_model():
    model = make(16, refine=True, selection=Selection(retrain="geometric"))
    model.set_callbacks(Listener(interrupt_at(9)))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_basis_ == 9
    assert model.score(X_NEW, Y_NEW) > 0.8


def test_early_stopping_can_keep_a_refined_model(monkeypatch):
    monkeypatch.setattr("skauc.sparse.plan.GROWTH_NO_CHANGE", 100)
    model = make(16, refine=True, early_stopping=True).fit(*circles())
    assert any(record.is_refined for record in model.path_)


# -- hard data --------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("variant", BOTH)
def test_scores_are_finite_for_extreme_c(variant, C):
    model = make(4, C=C, selection=Selection(max_iter=1000), **VARIANTS[variant]).fit(
        X[:150], y[:150]
    )
    assert np.isfinite(model.decision_function(X_NEW)).all()


@pytest.mark.filterwarnings("ignore::skauc.exceptions.UnscaledFeaturesWarning")
@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda rows: np.ones_like(rows),
        lambda rows: np.hstack((rows[:, :1], np.full_like(rows[:, 1:], 3.0))),
        lambda rows: rows[np.arange(len(rows)) % 7],
        lambda rows: rows * 1e-150,
        lambda rows: rows * 1e100,
        lambda rows: rows * [1e8, 1, 1, 1, 1, 1e-8],
        lambda rows: rows + 1e9,
    ],
    ids=["one row", "constants", "copies", "tiny", "huge", "units", "offset"],
)
def test_extreme_data_give_finite_scores_or_a_clear_error(variant, spoil):
    rows, refused = spoil(X), ""
    model = make(4, **VARIANTS[variant])
    try:
        model.fit(rows, y)
    except InvalidDataError as error:
        refused = str(error)
    if refused:
        assert "Scale the features" in refused
    else:
        assert np.isfinite(model.decision_function(rows)).all()
        assert np.isfinite(model.length_scales_).all()


@pytest.mark.parametrize("variant", BOTH)
def test_few_positives_and_many_features_are_fitted(variant):
    rows, labels = make_classification(80, 60, weights=[0.95], random_state=0)
    model = make(**VARIANTS[variant]).fit(rows, labels)
    assert model.score(rows, labels) > 0.7
