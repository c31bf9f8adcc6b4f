"""Data at the edge: few rows, equal rows, one positive, extreme units, heavy tails."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from skauc import KernelRankSVM, Selection, SparseKernelAUC, SparseKernelAUCCV, StructuralAUC
from skauc.exceptions import InvalidDataError, UnscaledFeaturesWarning

# Few rows of these data are independent.
pytestmark = pytest.mark.filterwarnings("ignore:The basis has .* centres, and `n_basis`")

X, y = make_classification(200, 5, class_sep=0.8, flip_y=0.05, n_redundant=0, random_state=0)

KERNELS = ("rbf", "laplacian", "polynomial", "linear")
SELECTIONS = ("orthogonal", "greedy", "exact", "exhaustive", "random", "kmeans")


def make(n_basis=8, **parameters):
    return SparseKernelAUC(n_basis, random_state=0, **parameters)


def training_auc(model, rows, labels=y):
    """Fit, see that every number is finite, and return the AUC on the same rows."""
    model.fit(rows, labels)
    scores = model.decision_function(rows)
    assert np.isfinite(scores).all()
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.intercept_)
    assert np.isfinite(model.path_[-1].objective)
    assert set(model.predict(rows)) <= set(model.classes_)
    return model.score(rows, labels)


def training_auc_unless_refused(model, rows):
    """Return None where the fit is refused with the advice to scale the features."""
    try:
        return training_auc(model, rows)
    except InvalidDataError:
        with pytest.raises(InvalidDataError, match="Scale the features"):
            model.fit(rows, y)
        return None


@pytest.fixture
def many_rows(use_sizes):
    """Compute as above 10,000 rows: float32 columns and binned pairs."""
    use_sizes(exact_rows=0)


# -- few, equal and constant ------------------------------------------------------------------


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_basis_ends_when_no_independent_row_is_left(selection):
    rows, labels = np.tile(X[:10], (4, 1)), np.tile(y[:10], 4)
    model = make(100, selection=selection, gamma=0.5, refine=False)
    assert training_auc(model, rows, labels) == 1.0
    assert model.n_basis_ == len(np.unique(model.basis_vectors_, axis=0)) <= 10


@pytest.mark.parametrize("selection", SELECTIONS)
def test_rows_that_are_all_equal_cannot_be_ranked(selection):
    model = make(selection=selection)
    assert training_auc(model, np.ones((50, 3)), np.arange(50) % 2) == 0.5
    assert model.n_basis_ == 1


def test_duplicated_rows_give_the_model_of_a_larger_c():
    fixed = {"selection": Selection(n_candidates=1000), "refine": False}
    model = make(**fixed).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    expected = make(C=2, **fixed).fit(X, y).decision_function(X)
    assert_allclose(model.decision_function(X), expected)


@pytest.mark.parametrize("refine", [False, True])
def test_weights_are_repetitions(refine):
    """All rows are candidates, and nothing is sampled."""
    weights = np.random.default_rng(0).integers(0, 4, size=200)
    model = make(refine=refine, selection=Selection(n_candidates=1000))
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).decision_function(X)
    assert_allclose(model.fit(X, y, weights).decision_function(X), repeated, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        make(scaling=None),
        make(kernel="polynomial"),
        make(refine=False, gamma=[0.02, 0.1, 0.5]),
        SparseKernelAUCCV(n_basis=8, effort="quick", cv=3, scaling=None, random_state=0),
        StructuralAUC(),
    ],
)
@pytest.mark.parametrize("size", [1e12, 1e300])
def test_rows_of_weight_zero_may_be_anywhere(model, size):
    """They shifted the origin of the scores, so that those of the others lost their digits."""
    weights = np.ones(200)
    weights[::7] = 0.0
    rows, counted = X.copy(), weights > 0
    rows[::7] *= size
    scores = clone(model).fit(rows, y, weights).decision_function(X)
    assert_array_equal(scores, model.fit(X[counted], y[counted]).decision_function(X))


def test_the_same_row_in_both_classes():
    rows, labels = np.tile(X, (2, 1)), np.r_[y, 1 - y]
    assert training_auc(make(), rows, labels) == pytest.approx(0.5)


@pytest.mark.parametrize("constant", [0.0, 1e6])
def test_a_constant_column_changes_nothing(constant):
    rows = np.c_[X, np.full(200, constant)]
    scores = make(gamma=0.2).fit(rows, y).decision_function(rows)
    assert_allclose(scores, make(gamma=0.2).fit(X, y).decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_constant_columns_work_with_every_kernel(kernel):
    assert training_auc(make(kernel=kernel), np.c_[X, np.ones(200), np.zeros(200)]) > 0.85


@pytest.mark.parametrize("selection", SELECTIONS)
def test_one_single_row_of_a_class(selection):
    for lonely in (0, 1):
        labels = np.full(200, 1 - lonely)
        labels[np.argmax(X[:, 0])] = lonely
        assert training_auc(make(selection=Selection(selection, n_candidates=30)), X, labels) > 0.9


@pytest.mark.parametrize("selection", SELECTIONS)
def test_two_rows(selection):
    assert training_auc(make(selection=selection), X[:2], np.array([0, 1])) == 1.0


@pytest.mark.parametrize("selection", SELECTIONS)
def test_fewer_rows_than_basis_functions_and_candidates(selection):
    options = {"selection": Selection(selection, n_candidates=100), "gamma": 1.0}
    model = make(64, refine=False, **options)
    assert training_auc(model, X[:20], y[:20]) == 1.0
    assert model.n_basis_ <= 20
    # A row that a refined centre has left can be chosen again.
    assert training_auc(make(64, refine=1, **options), X[:20], y[:20]) == 1.0


def test_one_row_can_be_the_centre_of_two_widths():
    model = make(6, gamma=[0.01, 100.0])
    assert training_auc(model, X[:4], y[:4]) == 1.0
    assert model.n_basis_ > 4 == len(set(model.basis_indices_))


def test_one_column():
    assert training_auc(make(), X[:, :1]) > 0.5


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_of_zeros_beside_others(container):
    rows = X * (np.arange(200) % 4 > 0)[:, None]
    for kernel in KERNELS:
        assert training_auc(make(kernel=kernel), container(rows)) > 0.75


def test_a_kernel_that_is_zero_everywhere_is_refused():
    model = make(kernel="linear")
    with pytest.raises(InvalidDataError, match=r"(?s)No row can be a centre: the kernel"):
        model.fit(np.zeros((20, 3)), np.arange(20) % 2)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_far_from_zero_are_ranked_well_or_there_is_a_warning(kernel, container):
    near, far = make(kernel=kernel), make(kernel=kernel)
    expected = training_auc(near, X)
    assert training_auc(far, container(X + 1e4)) == pytest.approx(expected, abs=0.05)
    if kernel == "laplacian" or (kernel == "rbf" and container is np.asarray):
        assert training_auc(far, container(X + 1e8)) == pytest.approx(expected, abs=0.01)
        return
    with pytest.warns(UnscaledFeaturesWarning, match=r"(?s)far from zero.*StandardScaler"):
        far.fit(container(X + 1e8), y)
    with pytest.warns(UnscaledFeaturesWarning, match="far from zero"):
        KernelRankSVM(kernel="polynomial").fit(X + 1e8, y)


@pytest.mark.parametrize(
    "model",
    [
        SparseKernelAUC(8, scaling=None, random_state=0),
        SparseKernelAUCCV(
            n_basis=8, linear_term=True, scaling=None, refine=False, cv=2, random_state=0
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_scores_of_one_row_and_of_many_are_equal_or_there_is_a_warning(model):
    def differences(offset):
        far = model.fit(X + offset, y)
        one_by_one = [far.decision_function(row[None])[0] for row in X[:50] + offset]
        return np.abs(one_by_one - far.decision_function(X[:50] + offset)).max()

    assert differences(1e8) < 1e-6
    with pytest.warns(UnscaledFeaturesWarning, match=r"far from zero.* The linear term loses"):
        differences(1e12)


# -- extreme units and parameters -------------------------------------------------------------


UNITS = [
    (1e-30, np.float64, np.asarray),
    (1e30, np.float32, np.asarray),
    (1e-30, np.float32, sparse.csr_array),
    (1e30, np.float64, sparse.csr_array),
]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_unit_of_the_features_does_not_matter(kernel):
    """With gamma="scale"; for the linear kernel it acts as another C."""
    expected = training_auc(make(kernel=kernel), X)
    for unit, dtype, container in UNITS:
        auc = training_auc(make(kernel=kernel), container((X * unit).astype(dtype)))
        assert auc == pytest.approx(expected, abs=0.05 if kernel == "linear" else 0.005)


@pytest.mark.parametrize("kernel", KERNELS)
def test_on_many_rows_extreme_units_work_or_are_refused(kernel, many_rows):
    expected = training_auc(make(kernel=kernel), X)
    for unit in (1e-30, 1e30):
        if auc := training_auc_unless_refused(make(kernel=kernel), X * unit):
            assert auc == pytest.approx(expected, abs=0.05)


def test_units_beyond_all_computing_are_refused():
    with pytest.raises(InvalidDataError, match=r"gamma='scale' cannot be computed: .* Scale the"):
        make(scaling=None).fit(X * 1e200, y)


@pytest.mark.parametrize("largest", [1e200, np.finfo(float).max])
def test_a_search_leaves_out_distances_that_are_infinite(largest):
    """Missing values are sometimes written as the largest number."""
    rows = X.copy()
    rows[3, 1] = largest
    search = SparseKernelAUCCV(n_basis=8, cv=2, random_state=0).fit(rows, y)
    assert search.score(rows, y) > 0.8
    assert not any(search.cv_results_["param_rotate"])


@pytest.mark.parametrize("kernel", KERNELS)
def test_tiny_and_huge_c(kernel):
    for C in (1e-30, 1e-6, 1e6, 1e30):
        assert training_auc(make(kernel=kernel, C=C), X) > 0.8


GAMMAS = [1e-30, 1e-9, 1e-3, 1e3, 1e30]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_tiny_and_huge_gamma(kernel):
    for gamma in GAMMAS:
        assert training_auc(make(kernel=kernel, gamma=gamma), X) >= 0.5


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_on_many_rows_tiny_and_huge_gamma_work_or_are_refused(kernel, many_rows):
    for gamma in GAMMAS:
        if auc := training_auc_unless_refused(make(kernel=kernel, gamma=gamma), X):
            assert auc >= 0.5


@pytest.mark.parametrize("selection", SELECTIONS)
def test_kernels_so_narrow_that_every_row_is_alone(selection):
    assert training_auc(make(selection=Selection(selection, n_candidates=30), gamma=1e6), X) >= 0.5


@pytest.mark.parametrize("mode", ["few rows", "many rows"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_heavy_tails(kernel, mode, request):
    """Log-normal features of up to 1e4 beside a median of 1, not scaled."""
    if mode == "many rows":
        request.getfixturevalue("many_rows")
    for selection in ("orthogonal", "greedy"):
        assert training_auc(make(kernel=kernel, selection=selection), np.exp(3 * X)) > 0.6


def test_a_polynomial_of_high_degree():
    assert training_auc(make(kernel="polynomial", degree=50), X) > 0.6


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_landmarks_of_cells_whose_squares_overflow_are_refused(as_format):
    rows = X.copy()
    rows[3, 2] = 1.7e308
    with pytest.raises(InvalidDataError, match=r"overflow\. Scale the features"):
        make(selection="kmeans", gamma=0.1).fit(as_format(rows), y)


def test_a_step_whose_square_overflows():
    model = make(4, kernel="linear", selection="exact", C=1e200)
    assert training_auc_unless_refused(model, 1e-150 * X) in (None, 0.5)


def test_rows_that_k_means_cannot_tell_apart():
    """Squared distances underflow, so that scikit-learn finds a single cluster."""
    assert training_auc(make(selection="kmeans", kernel="laplacian"), 1e-200 * X) >= 0.5


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("of_classes", [(1e-100, 1e100), (1e100, 1e-100)])
def test_a_class_of_tiny_weight(of_classes, early_stopping):
    model = make(early_stopping=early_stopping)
    weights = np.where(y == 1, *of_classes)
    assert model.fit(X, y, weights).score(X, y) > 0.9


def test_training_rows_whose_weights_are_too_small_are_refused():
    """The two rows of weight 1 are held out."""
    weights = np.full(len(y), 1e-170)
    weights[[np.argmin(y), np.argmax(y)]] = 1.0
    model = SparseKernelAUC(4, early_stopping=True, validation_fraction=0.95, random_state=1)
    with pytest.raises(InvalidDataError, match=r"sums up to .*e-1\d\d, .* Divide the weights"):
        model.fit(X, y, weights)


# -- sense ------------------------------------------------------------------------------------


def test_labels_without_a_pattern_are_not_learnt():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(400, 5)), rng.integers(2, size=400)
    model = make(4).fit(rows[::2], labels[::2])
    assert abs(model.score(rows[1::2], labels[1::2]) - 0.5) < 0.12


def test_a_linear_truth_is_ranked_as_logistic_regression_ranks_it():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 5))
    labels = rows @ [1, -1, 2, 0, 0] + rng.normal(size=300) > 1
    model = make(kernel="linear").fit(rows, labels)
    logistic = LogisticRegression(solver="newton-cholesky").fit(rows, labels)
    assert model.n_basis_ == 5
    scores, logits = model.decision_function(rows), logistic.decision_function(rows)
    assert np.corrcoef(scores, logits)[0, 1] > 0.99


def test_relabelling_the_classes_reverses_the_ranking():
    model, mirrored = (
        make(selection=Selection(n_candidates=1000)).fit(X, y),
        make(selection=Selection(n_candidates=1000)).fit(X, 1 - y),
    )
    assert_array_equal(model.basis_indices_, mirrored.basis_indices_)
    assert_allclose(mirrored.dual_coef_, -model.dual_coef_, rtol=1e-6)
