"""Fits for a part of the ROC curve: `max_fpr` and `min_tpr`."""

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import RepeatedStratifiedKFold

from skauc import KernelRankSVM, SparseKernelAUC, SparseKernelAUCCV
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.losses.focus import make_focus
from skauc.metrics import partial_auc
from skauc.sparse.cv_results import rows_of_choice

REGIONS = ({"max_fpr": 0.05}, {"min_tpr": 0.8}, {"max_fpr": 0.2, "min_tpr": 0.5})


@pytest.fixture(scope="module")
def rows():
    """One row in eight is positive; a few of the negatives are far inside of the positives."""
    X, y = make_classification(
        640, 5, n_informative=4, n_redundant=0, weights=[0.875], class_sep=1.2, random_state=3
    )
    return X, y


@pytest.mark.parametrize("estimator", [SparseKernelAUC(6, random_state=0), KernelRankSVM()])
def test_the_whole_curve_is_the_default_to_the_last_bit(rows, estimator):
    scores = [
        estimator.set_params(max_fpr=b, min_tpr=a).fit(*rows).decision_function(rows[0])
        for b, a in ((None, None), (1.0, 0.0), (1, None))
    ]
    estimator.set_params(max_fpr=None, min_tpr=None)
    assert_array_equal(scores[0], scores[1])
    assert_array_equal(scores[0], scores[2])


@pytest.mark.parametrize("region", REGIONS)
def test_the_fit_minimises_the_weighted_loss(rows, region):
    """Coefficients against a general minimiser of the O(p * n) objective over the same centres."""
    X, y = rows
    X, positive = X[:240], y[:240] == 1
    model = SparseKernelAUC(
        5, gamma=0.2, refine=False, linear_term=False, tol=1e-8, random_state=0, **region
    ).fit(X, positive)
    kernel = rbf_kernel(X, model.basis_vectors_, gamma=0.2)
    factor = np.linalg.cholesky(rbf_kernel(model.basis_vectors_, gamma=0.2))
    columns = np.linalg.solve(factor, kernel.T).T
    counted = make_focus(region.get("max_fpr"), region.get("min_tpr")).counted(
        np.sum(~positive), np.sum(positive)
    )

    def objective(weights):
        scores = columns @ weights
        kept = oracles.focused_weights(scores, positive, np.ones(len(X)), **region)
        value, gradient = oracles.objective(weights, columns, 1 / sum(counted), positive, kept)
        return value, gradient

    found = factor.T @ model.dual_coef_
    assert_allclose(objective(found)[0], model.path_[-1].objective, rtol=1e-9)
    best = min(
        minimize(objective, start, jac=True, method="BFGS", options={"maxiter": 400}).fun
        for start in (found, np.zeros(5), 0.5 * found)
    )
    assert objective(found)[0] <= best * (1 + 1e-4)


def test_the_part_of_the_curve_gains(rows):
    X, y = rows
    region = REGIONS[0]
    whole, part = (SparseKernelAUC(8, random_state=0, **limits) for limits in ({}, region))
    values = [partial_auc(y, m.fit(X, y).decision_function(X), **region) for m in (whole, part)]
    assert values[1] > values[0]


def test_weights_count_as_repetitions(rows):
    X, y = rows[0][:200], rows[1][:200]
    weights = np.random.default_rng(0).integers(0, 3, 200)
    weights[:20] = 1
    settings = {"C": 1.0, "max_fpr": 0.1, "min_tpr": 0.5, "gamma": 0.2, "tol": 1e-6}
    weighted = KernelRankSVM(**settings).fit(X, y, sample_weight=weights)
    repeated = KernelRankSVM(**settings).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-5)


@pytest.mark.parametrize("n_copies", [1, 14])
@pytest.mark.parametrize("refine", [False, True])
def test_centres_are_those_for_the_whole_curve(rows, n_copies, refine):
    """Coefficients are fitted for the part, on few rows and after samples of many."""
    X, y = np.tile(rows[0], (n_copies, 1)), np.tile(rows[1], n_copies)
    X = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)
    settings = {"linear_term": False, "refine": refine, "random_state": 0}
    whole, part = (SparseKernelAUC(6, **settings, **each).fit(X, y) for each in ({}, REGIONS[0]))
    assert_array_equal(part.basis_vectors_, whole.basis_vectors_)
    assert_array_equal(part.length_scales_, whole.length_scales_)
    gram = whole._model.kernel.gram(whole.basis_vectors_, whole._model.kernel, whole.basis_vectors_)
    focus = make_focus(REGIONS[0]["max_fpr"], None)
    n_counted = sum(focus.counted(np.sum(y == 0), np.sum(y == 1)))

    def objective(model):
        scores = model.decision_function(X)
        kept = focus.of_rows(scores, y == 1, np.ones(len(y)))
        loss = oracles.loss(scores, y == 1, kept)
        return (model.dual_coef_ @ gram @ model.dual_coef_ + loss / n_counted) / 2

    assert objective(part) < 0.999 * objective(whole)


def test_the_search_is_for_the_part_of_the_curve(rows):
    """Scores of the folds are partial AUCs, of models for the part and for the whole curve."""
    X, y = rows
    settings = {"n_basis": 4, "gammas": [0.2], "Cs": [1.0], "scaling": None, "refine": False}
    search = SparseKernelAUCCV(
        max_fpr=0.1, cv=2, linear_term=False, rotate=False, random_state=0, n_jobs=1, **settings
    ).fit(X, y)
    found = search.cv_results_
    assert set(found["param_whole_curve"].tolist()) == {True, False}
    is_whole = "max_fpr" in search.best_params_
    shown = rows_of_choice(found, search.best_params_, ("n_basis",))
    assert set(found["param_whole_curve"][shown]) == {is_whole}
    best = {"max_fpr": 0.1, **search.best_params_, "n_basis": 4}
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=0)
    expected = [
        partial_auc(
            y[test],
            SparseKernelAUC(random_state=0, **best)
            .fit(X[train], y[train])
            .decision_function(X[test]),
            max_fpr=0.1,
        )
        for train, test in folds.split(X, y)
    ]
    last = (found["param_n_basis"] == 4) & (found["param_whole_curve"] == is_whole)
    assert_allclose(found["mean_test_score"][last], np.mean(expected), rtol=1e-10)
    assert search.best_estimator_.max_fpr == best["max_fpr"]


@pytest.mark.parametrize("estimator", [SparseKernelAUC(4), KernelRankSVM()])
@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (
            {"max_fpr": 0.0005},
            r"max_fpr=0\.0005 keeps less than one of the \d+ negative rows to fit\. It needs at "
            r"least 2000 negative rows\. Use a larger `max_fpr`, or None for the whole curve\.",
        ),
        (
            {"min_tpr": 0.999},
            r"min_tpr=0\.999 keeps less than one of the \d+ positive rows to fit\. It needs at "
            r"least 1000 positive rows\. Use a smaller `min_tpr`",
        ),
    ],
)
def test_a_part_of_less_than_one_row_is_refused(rows, estimator, limits, message):
    estimator = type(estimator)(**limits)
    with pytest.raises(InvalidDataError, match=message):
        estimator.fit(*rows)


def test_queries_have_no_roc_curve():
    X, qid = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    message = r"which queries do not have; got max_fpr=0\.5 and min_tpr=None with `qid`\."
    with pytest.raises(InvalidParameterError, match=message):
        KernelRankSVM(max_fpr=0.5).fit(X, np.arange(12) % 3, qid=qid)
    KernelRankSVM(max_fpr=1.0).fit(X, np.arange(12) % 3, qid=qid)
