"""Scorers in scikit-learn's model selection."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from skauc.exceptions import InvalidParameterError
from skauc.metrics import partial_auc, partial_auc_scorer

X, y = make_classification(200, 4, random_state=0)
LABELS = np.array(["no", "yes"])[y]


@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(max_depth=3)])
def test_scorers_use_scores_or_probabilities(model):
    model.fit(X, LABELS)
    scores = model.predict_proba(X)[:, 1]
    weights = np.arange(200) % 3
    for limits in ({"max_fpr": 0.1}, {"min_tpr": 0.8}, {"max_fpr": 0.3, "standardize": False}):
        scorer = pickle.loads(pickle.dumps(partial_auc_scorer(**limits)))
        expected = partial_auc(y, scores, sample_weight=weights, **limits)
        assert_allclose(scorer(model, X, LABELS, sample_weight=weights), expected)


def test_searches_take_scorers():
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, scoring=partial_auc_scorer(max_fpr=0.2), cv=3
    ).fit(X, y)
    assert 0.5 < search.best_score_ <= 1


def test_scorers_check_their_limits():
    with pytest.raises(InvalidParameterError, match=r"`max_fpr` must be a number in \(0, 1\]"):
        partial_auc_scorer(max_fpr=0)
