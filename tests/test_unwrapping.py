import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skauc.exceptions import InvalidParameterError
from skauc.unwrapping import positive_probabilities, ranking_scores

X = np.arange(12.0).reshape(6, 2)
y = np.array([0, 1, 0, 1, 1, 1])


def test_scores_before_probabilities():
    model = LogisticRegression().fit(X, y)
    assert_array_equal(ranking_scores(model, X), model.decision_function(X))
    assert_array_equal(positive_probabilities(model, X), model.predict_proba(X)[:, 1])


def test_probabilities_where_there_are_no_scores():
    model = GaussianNB().fit(X, y)
    assert_array_equal(ranking_scores(model, X), model.predict_proba(X)[:, 1])


@pytest.mark.parametrize(
    "model", [KMeans(2), LogisticRegression()], ids=["no classifier", "three classes"]
)
def test_only_binary_classifiers(model):
    model.fit(X, [0, 1, 2, 0, 1, 2])
    with pytest.raises(InvalidParameterError, match="must be a binary classifier with `decision_f"):
        ranking_scores(model, X)
