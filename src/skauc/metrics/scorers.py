"""Scorers for the model selection of scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import make_scorer

from skauc.metrics.partial_area import check_corner, partial_auc


def partial_auc_scorer(
    *, max_fpr: float | None = None, min_tpr: float | None = None, standardize: bool = True
) -> Any:
    """Return a scorer that computes the partial AUC, for ``scoring=`` in scikit-learn.

    It uses `decision_function` or, if there is none, `predict_proba`. So it also tunes classifiers
    of other packages for a part of the ROC curve.

    Parameters
    ----------
    max_fpr, min_tpr : float, default=None
        As in `partial_auc`.
    standardize : bool, default=True
        As in `partial_auc`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y_true, sample_weight=None)`` returns a number, the larger the
        better.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc.metrics import partial_auc_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> scores = cross_val_score(model, X, y, scoring=partial_auc_scorer(max_fpr=0.05))
    >>> bool(scores.mean() > 0.9)
    True
    """
    check_corner(max_fpr, min_tpr)
    return make_scorer(
        partial_auc,
        response_method=("decision_function", "predict_proba"),
        max_fpr=max_fpr,
        min_tpr=min_tpr,
        standardize=standardize,
    )
