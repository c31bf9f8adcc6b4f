"""Scores are finite or refused, mistakes at prediction are named, and probabilities explained."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from skauc import OAM, OILK, OPAUC, AdaOAM, KernelRankSVM, SAdaOAM, SparseKernelAUC, StructuralAUC
from skauc.exceptions import ConstantScoresWarning, InvalidDataError, UnscaledFeaturesWarning

X, y = make_classification(100, 4, class_sep=0.8, random_state=0)

KERNELS = ("rbf", "laplacian", "polynomial", "linear")
MODELS = [
    *(SparseKernelAUC(4, kernel=kernel, scaling=None, random_state=0) for kernel in KERNELS),
    SparseKernelAUC(4, random_state=0),
    SparseKernelAUC(4, rotate=True, refine=2, random_state=0),
    SparseKernelAUC(4, scaling="rank", random_state=0),
    *(KernelRankSVM(kernel=kernel) for kernel in KERNELS),
    *(StructuralAUC(kernel=kernel) for kernel in KERNELS),
    *(OAM(), OPAUC(), OPAUC(rank=2), AdaOAM(), SAdaOAM(), OILK()),
]
OVERFLOW = (
    r"The score of row 2 of `X` overflows: the row has a value of magnitude 1e\+\d+\. Correct the "
    r"value, or scale the features"
)


def scores_or_refusal(score, rows):
    """See that scores are finite, or that the error names the row; return the scores or None."""
    try:
        scores = score(rows)
    except InvalidDataError:
        with pytest.raises(InvalidDataError, match=OVERFLOW):
            score(rows)
        return None
    assert np.isfinite(scores).all()
    return scores


@pytest.mark.parametrize("model", MODELS, ids=lambda model: " ".join(str(model).split()))
def test_scores_are_finite_or_refused(model):
    """Rows of up to 1e308; a polynomial of degree 3 overflows from 1e104 on."""
    model = clone(model).fit(X, y)
    expected = model.decision_function(X[:5])
    for magnitude in (1e104, 1e155, 1e200, 1e308):
        for signs in (np.ones(4), [1, -1, 1, -1]):
            rows = X[:5].copy()
            rows[2] = magnitude * np.array(signs)
            scores = scores_or_refusal(model.decision_function, rows)
            if scores is not None:
                assert_allclose(np.delete(scores, 2), np.delete(expected, 2), atol=1e-10)
            if model.__sklearn_tags__().input_tags.sparse:
                scores_or_refusal(model.decision_function, sparse.csr_array(rows))
            if hasattr(model, "staged_decision_function"):
                scores_or_refusal(lambda rows: list(model.staged_decision_function(rows))[-1], rows)


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_that_overflow_in_the_scaling_are_refused_by_name(kernel):
    """Their images are infinite, and not a number after the rotation."""
    options = {"scaling": "log", "rotate": True, "linear_term": False, "random_state": 0}
    model = SparseKernelAUC(4, kernel=kernel, **options).fit(1e-10 * X, y)
    rows = 1e-10 * X[:5]
    rows[2] = 1e308
    assert scores_or_refusal(model.decision_function, rows) is None


def test_one_cell_of_a_stream_does_not_spoil_all_scores():
    """OILK keeps the row as a centre, far from all others, whose scores stay as they were."""
    rows = X.copy()
    rows[5, 1] = 1e308
    model = OILK(gamma=0.2, shuffle=False, n_epochs=1).fit(rows, y)
    assert model.basis_vectors_.max() == 1e308
    without = OILK(gamma=0.2, shuffle=False, n_epochs=1).fit(np.where(rows == 1e308, 1e6, rows), y)
    assert_allclose(model.decision_function(X), without.decision_function(X), atol=1e-12)


# -- probabilities ----------------------------------------------------------------------------


@pytest.mark.parametrize("model", [SparseKernelAUC(4), KernelRankSVM(), StructuralAUC(), OAM()])
def test_predict_proba_says_how_to_get_probabilities(model):
    message = (
        rf"{type(model).__name__} has no `predict_proba`.*Wrap it in sklearn\.calibration\."
        r"CalibratedClassifierCV\(model, ensemble=False\)"
    )
    assert not hasattr(model, "predict_proba")
    assert not hasattr(make_pipeline(StandardScaler(), model), "predict_proba")
    with pytest.raises(AttributeError, match=message):
        model.predict_proba(X)
    calibrated = CalibratedClassifierCV(model, ensemble=False).fit(X, y)
    probabilities = calibrated.predict_proba(X)[:, 1]
    assert ((probabilities > 0) & (probabilities < 1)).all()


# -- features that are not scaled --------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [SparseKernelAUC(4, scaling=None), KernelRankSVM(), StructuralAUC(kernel="rbf")],
    ids=str,
)
def test_spreads_that_differ_by_orders_of_magnitude_are_reported(model):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X * [1, 1, 1e4, 1], columns=["a", "b", "c", "d"])
    with pytest.warns(UnscaledFeaturesWarning, match=r"for 'c' and .*StandardScaler"):
        clone(model).fit(frame, y)


def test_linear_models_and_functions_are_not_asked_for_spreads():
    for model in (StructuralAUC(), KernelRankSVM(kernel=lambda a, b: np.asarray(a) @ b.T)):
        model.fit(X * [1, 1, 1e-4, 1], y)


# -- the scaler forgotten ---------------------------------------------------------------------

CANCER, MALIGNANT = load_breast_cancer(return_X_y=True)
LOCAL = [
    SparseKernelAUC(8, scaling=None, random_state=0),
    SparseKernelAUC(8, scaling=None, rotate=True, refine=2, linear_term=False, random_state=0),
    SparseKernelAUC(8, kernel="laplacian", gamma=1.0, random_state=0),
    KernelRankSVM(),
    StructuralAUC(kernel="rbf"),
    OILK(),
]


@pytest.mark.parametrize("model", LOCAL, ids=lambda model: " ".join(str(model).split()))
def test_rows_far_from_every_centre_are_reported(model):
    model = clone(model).fit(scale(CANCER), MALIGNANT)
    is_linear = bool(np.any(getattr(model, "linear_coef_", 0)))
    finding = "Only the linear part .* ranks these 569" if is_linear else "All 569 rows have the"
    message = (
        finding + r" .*: each of them is far from every centre .*Column 23 is "
        r"between 185\.2 and 4254 in these rows, and between [-\d.]+ and [\d.]+ in the centres\. "
        r"Scale the rows like the training rows"
    )
    for method in (model.predict, model.decision_function):
        with pytest.warns(ConstantScoresWarning, match=message):
            method(CANCER)
    with pytest.warns(ConstantScoresWarning, match=message):
        model.score(CANCER, MALIGNANT)


def test_sparse_rows_and_names_are_reported_too():
    pandas = pytest.importorskip("pandas")
    model = KernelRankSVM().fit(scale(CANCER), MALIGNANT)
    with pytest.warns(ConstantScoresWarning, match="All 50 rows"):
        model.predict(sparse.csr_array(CANCER[:50]))
    frame = pandas.DataFrame(scale(CANCER[:, :2]), columns=["radius", "texture"])
    model = KernelRankSVM(gamma=5.0).fit(frame, MALIGNANT)
    with pytest.warns(ConstantScoresWarning, match="Column 'texture' is between"):
        model.predict(frame.assign(texture=1000.0 + frame.texture))


@pytest.mark.parametrize(
    ("rows", "model"),
    [
        (CANCER[:19], KernelRankSVM()),
        (np.tile(CANCER[:1], (30, 1)), KernelRankSVM()),
        (1e4 + CANCER, StructuralAUC()),
        (CANCER, SparseKernelAUC(8, random_state=0)),
    ],
    ids=["few rows", "equal rows", "linear", "ranks"],
)
def test_other_constant_scores_are_no_reason_to_warn(rows, model):
    model = clone(model).fit(scale(CANCER), MALIGNANT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(rows)


def test_scores_of_opposite_ends_of_the_range():
    """The range of the scores overflows."""
    model = SparseKernelAUC(4, kernel="linear", C=1e6, random_state=0).fit(1e-3 * X, y)
    best = X[np.argmax(model.decision_function(X))]
    rows = np.tile(best, (30, 1)) / np.abs(model.decision_function([best])) * 1e308
    rows[5] *= -1
    scores = model.decision_function(rows)
    assert scores.max() > 0.9e308 > -0.9e308 > scores.min()


def test_a_model_without_a_pattern_does_not_warn():
    model = StructuralAUC(kernel="rbf").fit(np.ones((50, 2)), np.arange(50) % 2)
    assert np.ptp(model.decision_function(X[:, :2])) < 1e-12
