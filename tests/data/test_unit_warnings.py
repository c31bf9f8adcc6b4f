"""Which features give a warning."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import skauc
from skauc.data.unit_warnings import warn_if_unscaled
from skauc.exceptions import UnscaledFeaturesWarning


def test_very_different_spreads_give_a_warning_with_names_and_a_remedy():
    message = (
        r"factor of 1,000: 2e\+03 for 'income' and 1 for 'age'\. The kernel hardly sees .*"
        r"StandardScaler .*scaling='normal'"
    )
    with pytest.warns(UnscaledFeaturesWarning, match=message):
        warn_if_unscaled(np.zeros(3), np.array([1.0, 0.0, 2000.0]), ["age", "one", "income"])


@pytest.mark.parametrize(
    ("mean", "spread"),
    [
        ([0, 0], [1.0, 1000.0]),
        ([0, 0], [0.0, 1000.0]),
        ([1e9, 0], [1e-3, 1000.0]),
        ([0], [1.0]),
        ([0, 0], [np.inf, 1.0]),
    ],
    ids=["a thousand", "constant", "constant up to rounding", "one feature", "overflow"],
)
def test_other_spreads_do_not(mean, spread):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_unscaled(np.array(mean), np.array(spread))


@pytest.mark.parametrize("name", ["SparseKernelAUC", "SparseKernelAUCCV"])
def test_estimators_warn_about_features_that_are_not_scaled(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1, 1, 10_000]
    y = (X[:, 0] > 0).astype(int)
    small = {"SparseKernelAUC": {}, "SparseKernelAUCCV": {"Cs": [1.0], "gammas": [1.0], "cv": 2}}
    model = getattr(skauc, name)(n_basis=2, refine=False, linear_term=False, **small[name])
    with pytest.warns(UnscaledFeaturesWarning, match="for 'x2' and .* for 'x[01]'"):
        model.set_params(scaling=None, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(scaling="rank").fit(X, y)
        model.set_params(scaling=None).fit(sparse.csr_array(X), y)
        if name == "SparseKernelAUCCV":
            model.set_params(scaling="auto").fit(X, y)
