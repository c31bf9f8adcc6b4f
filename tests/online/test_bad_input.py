"""Bad input: an error that names what was wrong, the value and the remedy, and nothing else."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from skauc import OAM, OILK, OPAUC, AdaOAM, SAdaOAM
from skauc.exceptions import InvalidDataError, InvalidParameterError

X, y = make_classification(80, 4, class_sep=0.8, random_state=0)

LEARNERS = [OAM(), OPAUC(), OPAUC(rank=2), AdaOAM(), SAdaOAM(), OILK()]
all_learners = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def bad(message, learner, values, name):
    return [
        pytest.param(
            clone(learner).set_params(**{name: value}),
            message.format(value),
            id=f"{learner}: {name}={value!r}",
        )
        for value in values
    ]


NOT_POSITIVE = (0, -1.0, np.nan, np.inf, "1", None, True)
POSITIVE = r"must be a finite number greater than 0; got {}\. "
WHOLE = r"must be an integer of at least 1; got {!r}\. "
FRACTION = r"must be a number between 0 and 1, both excluded; got {!r}\. "
TRUTH = r"must be True or False; got {!r}\. Use one of the two"
WORD = r"must be one of .*; got {!r}\. Use one of these words"

BAD_PARAMETERS = [
    *(
        entry
        for learner in (OAM(), OPAUC(), AdaOAM(), SAdaOAM(), OILK())
        for entry in (
            *bad(
                r"`n_epochs` " + WHOLE + "It is the number of passes",
                learner,
                (0, 2.5, None),
                "n_epochs",
            ),
            *bad(r"`shuffle` " + TRUTH, learner, ("no", 1), "shuffle"),
        )
    ),
    *(
        entry
        for learner in (OAM(), OPAUC(), AdaOAM(), SAdaOAM())
        for entry in bad(r"`average` " + TRUTH, learner, ("no", None), "average")
    ),
    *(
        entry
        for learner, names in (
            (OAM(), ["C"]),
            (OPAUC(), ["eta", "lam"]),
            (AdaOAM(), ["eta", "lam", "delta"]),
            (SAdaOAM(), ["eta", "lam", "delta", "theta"]),
            (OILK(), ["C"]),
        )
        for name in names
        for entry in bad(
            f"`{name}` must be a finite number greater than 0; got ", learner, NOT_POSITIVE, name
        )
    ),
    *(
        entry
        for learner in (OAM(), OILK())
        for entry in (
            *bad(r"`buffer_size` " + WHOLE + "100 is", learner, (0, -1, 2.5, "9"), "buffer_size"),
            *bad(r"`buffer` " + WORD, learner, ("nonsense", None, 0), "buffer"),
        )
    ),
    *bad(r"`update` " + WORD, OAM(), ("nonsense", None), "update"),
    *bad(r"`rank` " + WHOLE + "None keeps the covariances in full", OPAUC(), (0, 1.5, "2"), "rank"),
    *bad(r"`gamma` must be one of 'auto'; got {!r}\. Use one", OILK(), ("scale",), "gamma"),
    *bad(
        r"`gamma` must be a finite number greater than 0; got ", OILK(), (0, np.nan, None), "gamma"
    ),
    *bad(r"`eta` " + FRACTION + "0.001 is", OILK(), (0, 1.0, -0.1, "x", None), "eta"),
    *bad(r"`n_violators` " + WHOLE + "None keeps all", OILK(), (0, 2.5, "9"), "n_violators"),
    *bad(r"`compensate` " + TRUTH, OILK(), ("no", None), "compensate"),
]


@pytest.mark.parametrize(("model", "message"), BAD_PARAMETERS)
def test_parameters(model, message):
    for call in (lambda m: m.fit(X, y), lambda m: m.partial_fit(X, y, [0, 1])):
        with pytest.raises(InvalidParameterError, match=message):
            call(clone(model))


@all_learners
def test_a_seed_that_is_none(learner):
    with pytest.raises(ValueError, match="'x' cannot be used to seed"):
        clone(learner).set_params(random_state="x").fit(X, y)


def with_entry(value, dtype=None):
    rows = X.astype(dtype or X.dtype)
    rows[3, 2] = value
    return rows


BAD_DATA = {
    "NaN": (with_entry(np.nan), y, r"Input X contains NaN"),
    "infinity": (with_entry(-np.inf), y, r"Input X contains infinity"),
    "sparse NaN": (sparse.csr_array(with_entry(np.nan)), y, r"Input X contains NaN"),
    "NaN in y": (X, np.where(y, 1.0, np.nan), r"Input y contains NaN"),
    "continuous y": (X, X[:, 0], r"Unknown label type: continuous"),
    "no y": (X, None, r"requires y to be passed, but the target y is None"),
    "two columns of y": (X, np.c_[y, y], r"y should be a 1d array, got .* \(80, 2\)"),
    "no rows": (X[:0], y[:0], r"Found array with 0 sample\(s\) \(shape=\(0, 4\)\)"),
    "no columns": (X[:, :0], y, r"Found array with 0 feature\(s\) \(shape=\(80, 0\)\)"),
    "one dimension": (X[:, 0], y, r"Expected 2D array, got 1D array instead"),
    "three dimensions": (X[None], y, r"Found array with dim 3"),
    "different lengths": (X, y[:-1], r"inconsistent numbers of samples: \[80, 79\]"),
    "complex": (X + 1j, y, r"Complex data not supported"),
    "strings": (with_entry("ten", object), y, r"could not convert string to float: '?.*ten"),
}
bad_data = pytest.mark.parametrize(("rows", "labels", "message"), BAD_DATA.values(), ids=BAD_DATA)


@all_learners
@bad_data
def test_data(learner, rows, labels, message):
    """A fresh learner stays unfitted, a fitted one as it was."""
    for call in (lambda m: m.fit(rows, labels), lambda m: m.partial_fit(rows, labels, [0, 1])):
        fresh, fitted = clone(learner), clone(learner).partial_fit(X, y, [0, 1])
        before = pickle.dumps(fitted)
        with pytest.raises(ValueError, match=message):
            call(fresh)
        with pytest.raises(NotFittedError):
            fresh.predict(X)
        assert vars(fresh) == vars(clone(learner))
        with pytest.raises(ValueError, match=r".*"):
            call(fitted)
        assert pickle.dumps(fitted) == before


@all_learners
def test_fit_needs_both_classes(learner):
    with pytest.raises(InvalidDataError, match=r"`y` has one class only: 1\. Pass rows of both"):
        clone(learner).fit(X, np.ones(80, int))
    with pytest.raises(InvalidDataError, match=r"Only binary classification.* `y` has 3 classes"):
        clone(learner).fit(X, np.arange(80) % 3)


@all_learners
def test_the_first_call_needs_classes(learner):
    with pytest.raises(
        InvalidParameterError,
        match=r"`classes` must be given in the first call .*; got None\. Pass both labels",
    ):
        clone(learner).partial_fit(X, y)


@pytest.mark.parametrize("classes", [[0], [0, 0], [0, 1, 2], []], ids=str)
def test_classes_are_two(classes):
    with pytest.raises(
        InvalidParameterError,
        match=r"`classes` must hold two different labels; got \[.*\]\. Pass both labels",
    ):
        OPAUC().partial_fit(X, y, classes=classes)


def test_classes_have_one_dimension():
    with pytest.raises(
        InvalidDataError, match=r"`classes` must have one dimension; got .* \(2, 2\)"
    ):
        OPAUC().partial_fit(X, y, classes=[[0, 1], [1, 0]])


@all_learners
@pytest.mark.parametrize("classes", [[0, 2], ["0", "1"], [-1, 1]], ids=str)
def test_classes_must_not_change(learner, classes):
    model = clone(learner).partial_fit(X, y, [0, 1])
    before = pickle.dumps(model)
    with pytest.raises(
        InvalidParameterError,
        match=r"`classes` must stay \[0, 1\], .*; got \[.*\]\. Leave it out",
    ):
        model.partial_fit(X, y, classes=classes)
    assert pickle.dumps(model) == before
    assert model.partial_fit(X, y, classes=[1, 0]).n_samples_seen_ == 160


@all_learners
def test_a_label_that_is_no_class(learner):
    model = clone(learner).partial_fit(X, y, [0, 1])
    for labels, found in ((y + 1, "2"), (np.array(["no", "yes"])[y], "'no'")):
        with pytest.raises(
            InvalidDataError,
            match=rf"the label {found}, which is not one of the classes \[0, 1\]\. Leave",
        ):
            model.partial_fit(X, labels)


@all_learners
def test_other_columns(learner):
    model = clone(learner).partial_fit(X, y, [0, 1])
    for call in (lambda: model.partial_fit(X[:, :3], y), lambda: model.predict(X[:, :3])):
        with pytest.raises(ValueError, match=r"X has 3 features, but \w+ is expecting 4 features"):
            call()


@pytest.mark.parametrize("learner", [OAM("gradient", C=1e300), OILK(C=1e307, eta=0.9)], ids=str)
def test_an_overflow_is_an_error_with_advice(learner):
    model = clone(learner).partial_fit(X[:1], y[:1], [0, 1])
    before = pickle.dumps(model)
    with pytest.raises(
        InvalidDataError,
        match=r"The coefficients of \w+ overflowed\. Scale the features, .* or make smaller steps",
    ):
        model.partial_fit(X * 1e200, y)
    assert pickle.dumps(model) == before


@all_learners
def test_predicting_needs_a_fit(learner):
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
            getattr(clone(learner), method)(X)
