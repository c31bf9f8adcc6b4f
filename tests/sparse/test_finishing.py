"""The model that early stopping keeps has coefficients from all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from skauc import Selection, SparseKernelAUC


@pytest.mark.parametrize("C", [1.0, "auto"])
@pytest.mark.parametrize("refine", [False, 2])
def test_a_smaller_model_that_is_kept_is_fitted_to_all_rows(refine, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] + rng.normal(size=600) > 0
    model = SparseKernelAUC(
        32,
        C=C,
        refine=refine,
        early_stopping=True,
        tol=1e-3,
        selection=Selection(n_rows=200),
        random_state=0,
    ).fit(X, y)
    kept = model.path_[-1]
    assert kept.n_basis == model.n_basis_ < 32
    assert_allclose(kept.train_auc, roc_auc_score(y, model.decision_function(X)))
    # The threshold belongs to these coefficients, and the path is that of one fit.
    assert 0.35 < model.predict(X).mean() < 0.6
    assert model.C_ == kept.C
    assert [record.n_basis for record in model.path_] == sorted(model._models)
    smaller = [record for record in model.path_[:-1] if record.n_basis > 2]
    assert all(record.validation_auc is not None for record in smaller)
