"""Which label is positive, and rows in any byte order."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

from skauc import OAM, OILK, OPAUC, AdaOAM, KernelRankSVM, SAdaOAM, SparseKernelAUC, StructuralAUC
from skauc.exceptions import PositiveLabelWarning

X, y = make_classification(120, 4, weights=[0.8], class_sep=0.8, random_state=0)
BATCH = [SparseKernelAUC(4, random_state=0), KernelRankSVM(), StructuralAUC()]
ONLINE = [learner(random_state=0) for learner in (OAM, OPAUC, AdaOAM, SAdaOAM, OILK)]

every_estimator = pytest.mark.parametrize("estimator", BATCH + ONLINE, ids=str)


# -- the positive label -----------------------------------------------------------------------


@every_estimator
def test_a_rare_label_that_sorts_first_is_reported(estimator):
    labels = np.where(y, "fraud", "legit")
    message = (
        rf"'legit' is the positive class, .* because it sorts after 'fraud'\. But 'fraud' is much "
        rf"rarer: {y.sum()} of 120 rows\. Pass y == 'fraud' as labels to rank 'fraud' high"
    )
    with pytest.warns(PositiveLabelWarning, match=message):
        wrong = clone(estimator).fit(X, labels)
    assert wrong.classes_.tolist() == ["fraud", "legit"]
    right = clone(estimator).fit(X, labels == "fraud")
    assert right.score(X, labels == "fraud") > 0.8


@pytest.mark.parametrize(
    "labels",
    [
        np.where(y, "spam", "ham"),
        np.where(y, "spam", "ham").astype(object),
        np.where(np.arange(120) % 5 < 2, "a", "b"),
        y,
        1 - y,
        y == 0,
        np.where(y, -1.0, 1.0),
    ],
    ids=["last", "objects", "two fifths", "numbers", "rare zeros", "booleans", "signs"],
)
def test_other_labels_are_not_reported(labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelRankSVM().fit(X, labels)
    assert model.classes_.tolist() == sorted(set(labels.tolist()))


# -- byte order -------------------------------------------------------------------------------


def swapped(values):
    return values.astype(values.dtype.newbyteorder(">"))


@every_estimator
def test_frames_in_foreign_byte_order(estimator):
    """numba has no code for them."""
    pandas = pytest.importorskip("pandas")
    frame, foreign = pandas.DataFrame(X), pandas.DataFrame(X).astype(">f8")
    expected = clone(estimator).fit(frame, y).decision_function(frame)
    model = clone(estimator).fit(foreign, pandas.Series(swapped(y)))
    assert model.classes_.dtype.isnative
    assert_array_equal(model.decision_function(foreign), expected)
    if hasattr(model, "partial_fit"):
        model.partial_fit(foreign, swapped(y))


@pytest.mark.parametrize("estimator", BATCH, ids=str)
def test_arrays_and_weights_in_foreign_byte_order(estimator):
    weights = np.linspace(0.5, 2, 120)
    rows = sparse.csr_array(X)
    foreign = sparse.csr_array((swapped(rows.data), rows.indices, rows.indptr), rows.shape)
    for one, other in ((X, swapped(X)), (rows, foreign)):
        expected = clone(estimator).fit(one, y, sample_weight=weights)
        model = clone(estimator).fit(other, swapped(y), sample_weight=swapped(weights))
        assert_array_equal(model.decision_function(other), expected.decision_function(one))
        assert model.score(other, swapped(y), sample_weight=swapped(weights)) == expected.score(
            one, y, sample_weight=weights
        )
