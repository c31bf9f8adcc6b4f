"""KernelRankSVM and bad input: an error that names what was wrong, and nothing is fitted."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from skauc import KernelRankSVM

X, y = make_classification(120, 4, class_sep=0.8, random_state=0)
QID = np.repeat(np.arange(12), 10)
GRADES = np.arange(120) % 3


def case(name, message, X=X, y=y, qid=None, weights=None, error=ValueError, **parameters):
    """Something that `fit` refuses with this message."""
    model = KernelRankSVM(**parameters)
    return pytest.param(model, (X, y, qid, weights), error, message, id=name)


def with_entry(value, dtype=None):
    rows = X.astype(dtype or X.dtype)
    rows[3, 2] = value
    return rows


def graded(name, message, **arguments):
    """The same for grades in queries."""
    return case(name, message, **{"y": GRADES, "qid": QID, **arguments})


REFUSED = [
    *(
        case(
            f"{name}={value!r}",
            rf"`{name}` must be a finite number greater than 0; got {value!r}\. {advice}",
            **{name: value},
        )
        for name, advice in [
            ("C", "Larger values fit"),
            ("gamma", "Larger values make"),
            ("tol", "1e-3 is"),
            ("cache_size", "It is in megabytes; 4000 is a good choice"),
        ]
        for value in (0, -1.0, np.nan, np.inf, None)
    ),
    case("gamma", r"`gamma` must be one of 'scale', 'auto'; got 'nonsense'\. ", gamma="nonsense"),
    case(
        "widths",
        r"`gamma` must be one width, 'scale' or 'auto'; got \[0\.1, 1\.0\]\. SparseKernelAUC takes",
        gamma=[0.1, 1.0],
    ),
    case("kernel", r"`kernel` must be one of 'rbf', .*; got 'nonsense'\. ", kernel="nonsense"),
    *(
        case(name, rf"`{name}` must be an integer of at least 1; got 0\. ", **{name: 0})
        for name in ("max_iter", "degree")
    ),
    case("coef0", r"`coef0` must be a finite number of at least 0; got -1\. A neg", coef0=-1),
    case("n_jobs", r"`n_jobs` must be None or an integer other than 0; got 0\. ", n_jobs=0),
    case(
        "memory for less than two blocks",
        r"`cache_size` must hold two blocks of the kernel matrix, .* MB for these rows; got 0\.01",
        X=np.tile(X, (3, 1)),
        y=np.tile(y, 3),
        cache_size=0.01,
    ),
    case(
        "one class", r"`y` has one class only: 1\. Pass rows of both classes", y=np.ones(120, int)
    ),
    case(
        "grades without queries",
        r"Only binary classification is supported.* `y` has 3 classes\. .*If they are grades, "
        r"pass `qid`, zeros where there are no queries\.",
        y=GRADES,
    ),
    case("NaN", r"Input X contains NaN", X=with_entry(np.nan)),
    case("infinity", r"Input X contains infinity", X=with_entry(np.inf)),
    case("sparse NaN", r"Input X contains NaN", X=sparse.csr_array(with_entry(np.nan))),
    case("NaN in y", r"Input y contains NaN", y=np.where(y, 1.0, np.nan)),
    case("continuous y", r"Unknown label type: continuous", y=X[:, 0]),
    case("no y", r"requires y to be passed, but the target y is None", y=None),
    case("no rows", r"Found array with 0 sample\(s\)", X=X[:0], y=y[:0]),
    case("no columns", r"Found array with 0 feature\(s\)", X=X[:, :0]),
    case("one dimension", r"Expected 2D array, got 1D array instead", X=X[:, 0]),
    case("different lengths", r"inconsistent numbers of samples: \[120, 119\]", y=y[:-1]),
    case("complex", r"Complex data not supported", X=X + 1j),
    case("strings", r"could not convert string to float: '?.*ten", X=with_entry("ten", object)),
    case("negative weight", r"must not be negative; got -1\.0 in row 0", weights=np.full(120, -1)),
    case("zero weights", r"`sample_weight` is zero in every row", weights=np.zeros(120)),
    case("zero weights of a class", r"is 0 in every row of class 1\. Give", weights=1.0 - y),
    case("NaN weight", r"Input sample_weight contains NaN", weights=np.full(120, np.nan)),
    case("too few weights", r"sample_weight\.shape == \(7,\)", weights=np.ones(7)),
    case(
        "a kernel of the wrong shape",
        r"`kernel` function must return a matrix of shape \(.*\), rows by centres; got \(7,\)\. ",
        kernel=lambda rows, centres: np.ones(7),
    ),
    case(
        "a kernel of NaN",
        r"`kernel` function returned NaN or infinity",
        kernel=lambda rows, centres: np.full((len(rows), len(centres)), np.nan),
    ),
    case("overflow", r"overflow\. Scale the features", X=1e200 * X, kernel="linear", gamma=1),
    graded("unsorted qid", r"`qid` must be sorted; got 10 in row 10, after 11\.", qid=QID[::-1]),
    graded("negative qid", r"`qid` must not be negative; got -1 in row 0\. Number", qid=QID - 1),
    graded("short qid", r"`qid` must have one number per row, .*got shape \(7,\)", qid=QID[:7]),
    graded("words", r"`qid` must hold integers; got values of type <U2", qid=QID.astype(str)),
    graded("queries of one row", r"No query has rows of different grades, of 120", qid=range(120)),
    graded(
        "three labels",
        r"Grades must be numbers; `y` has 3 different values of type <U4\. Code them as numbers",
        y=np.array(["bad", "fair", "good"])[GRADES],
    ),
    graded("NaN grade", r"Input y contains NaN", y=np.where(y, 1.0, np.nan)),
    graded("negative weight", r"must not be negative; got -1\.0", weights=np.full(120, -1)),
    graded("zero weights", r"`sample_weight` is zero in every row", weights=np.zeros(120)),
]

refused = pytest.mark.parametrize(("model", "arguments", "error", "message"), REFUSED)


def fitted_attributes(model):
    return {name for name in vars(model) if name.endswith("_")}


@refused
def test_the_message_says_what_is_wrong_and_nothing_is_fitted(model, arguments, error, message):
    model = clone(model)
    with pytest.raises(error, match=message):
        model.fit(*arguments)
    assert not fitted_attributes(model)
    with pytest.raises(NotFittedError):
        model.predict(X)


@refused
def test_after_an_error_the_last_fit_stands(model, arguments, error, message):
    rows, parameters = np.c_[X, X], model.get_params()
    model = KernelRankSVM().fit(rows, np.array(["no", "yes"])[y])
    before, attributes = model.decision_function(rows), fitted_attributes(model)
    with pytest.raises(error):
        model.set_params(**parameters).fit(*arguments)
    assert fitted_attributes(model) == attributes
    assert model.classes_.tolist() == ["no", "yes"]
    assert_array_equal(model.set_params(n_jobs=None).decision_function(rows), before)


@pytest.fixture(scope="module")
def ranker():
    return KernelRankSVM().fit(X, GRADES, QID)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, GRADES, QID[::-1]), r"`qid` must be sorted"),
        ((X, GRADES[:-1], QID), r"`y` must be as long as `X`; got 119 and 120"),
        ((X, np.zeros(120), QID), r"No query has rows of different grades, of 12"),
        ((X, np.array(["a", "b", "c"])[GRADES], QID), r"Grades must be numbers; `y` has 3"),
        ((X, np.where(GRADES, 1.0, np.nan), QID), r"`y` has missing labels"),
        ((X, GRADES, QID, np.full(120, -1.0)), r"`sample_weight` must not be negative"),
        ((X, GRADES, QID, np.ones(7)), r"`sample_weight` must be as long as .*; got 7 and 120"),
        ((X[:, :3], GRADES, QID), r"X has 3 features, but KernelRankSVM is expecting 4"),
    ],
)
def test_what_cannot_be_scored(ranker, arguments, message):
    with pytest.raises(ValueError, match=message):
        ranker.score(*arguments)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_predicting_needs_a_fit(method):
    with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
        getattr(KernelRankSVM(), method)(X)


def test_scoring_needs_a_fit():
    with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
        KernelRankSVM().score(X, y)
