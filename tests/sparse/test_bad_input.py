"""Bad input: an error that names what was wrong, the value and the remedy, and nothing else."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from skauc import Selection, SparseKernelAUC
from skauc.exceptions import InvalidDataError, InvalidParameterError

X, y = make_classification(120, 4, class_sep=0.8, random_state=0)


def make(n_basis=4, **parameters):
    return SparseKernelAUC(n_basis, **{"random_state": 0, **parameters})


def case(name, message, X=X, y=y, weights=None, error=ValueError, **parameters):
    """Something that `fit` refuses with this message."""
    return pytest.param(make(**parameters), (X, y, weights), error, message, id=name)


def with_entry(value, dtype=None):
    """The rows with one entry replaced."""
    rows = X.astype(dtype or X.dtype)
    rows[3, 2] = value
    return rows


def words(name, *choices):
    return rf"`{name}` must be one of {', '.join(map(repr, choices))}; got 'nonsense'\. Use one"


def fails_at(size):
    """A kernel that breaks when the basis has that many centres."""

    def kernel(rows, centres):
        value = np.nan if centres.shape[0] == size else 1.0
        return np.exp(-np.abs(rows[:, :1] - centres[:, 0])) * value

    return kernel


KERNELS = ("rbf", "laplacian", "polynomial", "linear")
SELECTIONS = ("orthogonal", "greedy", "exact", "exhaustive", "random", "kmeans")

BAD_PARAMETERS = [
    *(
        case(
            f"n_basis={value!r}",
            rf"`n_basis` must be a whole number of at least 1; got {value!r}\. "
            "Set `n_basis` to the size of model you want",
            n_basis=value,
        )
        for value in (0, -3, 2.5, "8", None, True)
    ),
    *(
        case(
            f"C={value!r}",
            rf"`C` must be a finite number greater than 0; got {value!r}\. Larger values",
            C=value,
        )
        for value in (0, -1.0, np.nan, np.inf, "1", None, True)
    ),
    *(
        case(
            f"gamma={value!r}",
            rf"`gamma` must be a finite number greater than 0; got {value!r}\. Larger values",
            gamma=value,
        )
        for value in (0, -0.5, np.nan, np.inf, None)
    ),
    case(
        "gamma=[1, 0]",
        r"`gamma` must be a finite number greater than 0; got 0\. Larger",
        gamma=[1, 0],
    ),
    case("gamma=[]", r"`gamma` must hold at least one width; got an empty sequence", gamma=[]),
    case(
        "two widths of another kernel",
        r"`gamma` can be a sequence of widths for kernel='rbf' alone; got kernel='laplacian'\. ",
        gamma=[0.1, 1.0],
        kernel="laplacian",
    ),
    case(
        "refined laplacian",
        r"`refine` .* for kernel='rbf' only; got kernel='laplacian'\. Use 'rbf' or refine=False",
        refine=True,
        kernel="laplacian",
    ),
    *(
        case(
            name,
            rf"`{name}` must be True or False; got 'no'\. ",
            **{name: "no"},
        )
        for name in ("linear_term", "early_stopping")
    ),
    *(
        case(
            f"refine={value!r}",
            rf"`refine` must be True, False or a number of steps .* 1; got {value!r}\. Use ",
            refine=value,
        )
        for value in ("no", 0, -3, 2.5, None)
    ),
    case("gamma", words("gamma", "scale", "auto"), gamma="nonsense"),
    case("kernel", words("kernel", *KERNELS), kernel="nonsense"),
    case("kernel=None", r"`kernel` must be one of .*; got None\. Use one", kernel=None),
    case("selection", words("selection", *SELECTIONS), selection="nonsense"),
    case(
        "retrain",
        words("retrain", "geometric", "doubling", "always"),
        selection=Selection(retrain="nonsense"),
    ),
    case(
        "solver", words("solver", "auto", "cholesky", "cg"), selection=Selection(solver="nonsense")
    ),
    case("engine", words("engine", "auto", "cpu", "gpu", "cluster"), engine="nonsense"),
    *(
        case(
            name,
            rf"`{name}` must be a whole number of at least 1; got 0\. ",
            selection=Selection(**{name: 0}),
        )
        for name in ("n_candidates", "max_iter")
    ),
    case("degree", r"`degree` must be a whole number of at least 1; got 0\. ", degree=0),
    *(
        case(f"selection={value!r}", rf"`selection` must be .*; got {value!r}", selection=value)
        for value in (None, 3)
    ),
    case("tol", r"`tol` must be a finite number greater than 0; got 0\. 1e-4 is", tol=0),
    *(
        case(
            f"coef0={value!r}",
            rf"`coef0` must be a finite number of at least 0; got {value!r}\. A negative one",
            coef0=value,
        )
        for value in (-1.0, np.nan, "1", None)
    ),
    *(
        case(
            f"validation_fraction={value!r}",
            r"`validation_fraction` must be a number between 0 and 1, both excluded; "
            rf"got {value!r}\. 0\.1 holds out",
            validation_fraction=value,
        )
        for value in (0, 1.0, -0.1, "0.1")
    ),
    case("random_state", "'x' cannot be used to seed", random_state="x"),
    case("n_jobs=0", r"`?n_jobs`? .*0", n_jobs=0),
]

BAD_DATA = [
    case(
        "one class", r"`y` has one class only: 1\. Pass rows of both classes", y=np.ones(120, int)
    ),
    case("one label", r"`y` has one class only: 'a'\. Pass rows of both classes", y=["a"] * 120),
    case(
        "three classes",
        r"Only binary classification is supported.* `y` has 3 classes\. Wrap the estimator in "
        r"sklearn\.multiclass\.OneVsRestClassifier",
        y=np.arange(120) % 3,
    ),
    case("NaN", r"Input X contains NaN", X=with_entry(np.nan)),
    case("infinity", r"Input X contains infinity", X=with_entry(-np.inf)),
    case("float32 NaN", r"Input X contains NaN", X=with_entry(np.nan, np.float32)),
    case("sparse NaN", r"Input X contains NaN", X=sparse.csr_array(with_entry(np.nan))),
    case("NaN in y", r"Input y contains NaN", y=np.where(y, 1.0, np.nan)),
    case("continuous y", r"Unknown label type: continuous", y=X[:, 0]),
    case("no y", r"requires y to be passed, but the target y is None", y=None),
    case("two columns of y", r"y should be a 1d array, got .* \(120, 2\)", y=np.c_[y, y]),
    case("no rows", r"Found array with 0 sample\(s\) \(shape=\(0, 4\)\)", X=X[:0], y=y[:0]),
    case("no columns", r"Found array with 0 feature\(s\) \(shape=\(120, 0\)\)", X=X[:, :0]),
    case("one dimension", r"Expected 2D array, got 1D array instead", X=X[:, 0]),
    case("three dimensions", r"Found array with dim 3", X=X[None]),
    case("different lengths", r"inconsistent numbers of samples: \[120, 119\]", y=y[:-1]),
    case("complex", r"Complex data not supported", X=X + 1j),
    case("strings", r"could not convert string to float: '?.*ten", X=with_entry("ten", object)),
    case(
        "objects",
        r"a string or a real number, not 'dict'",
        X=with_entry({}, object),
        error=TypeError,
    ),
    case(
        "negative weight",
        r"`sample_weight` must not be negative; got -2\.0 in row 5\. Leave a row out by",
        weights=np.where(np.arange(120) == 5, -2.0, 1.0),
    ),
    case(
        "zero weights",
        r"`sample_weight` is zero in every row\. Give the rows that count a positive weight",
        weights=np.zeros(120),
    ),
    case(
        "zero weights of a class",
        r"`sample_weight` is 0 in every row of class 1\. Give at least one row of each class",
        weights=1.0 - y,
    ),
    case("NaN weight", r"Input sample_weight contains NaN", weights=np.full(120, np.nan)),
    case("infinite weight", r"Input sample_weight contains infinity", weights=np.full(120, np.inf)),
    case(
        "too few weights", r"sample_weight\.shape == \(7,\), expected \(120,\)", weights=np.ones(7)
    ),
    case("weights by class", r"Sample weights must be 1D", weights=np.ones((120, 2))),
    *(
        case(
            f"one positive, {name}",
            r"`early_stopping` and `refine`=True hold out rows of both classes; the smaller class "
            r"has 1 of 120 rows .*Change `validation_fraction`, set `refine`",
            y=np.arange(120) == 0,
            **{name: True},
        )
        for name in ("early_stopping", "refine")
    ),
    case(
        "validation_fraction=0.95 of 12 rows",
        r"12 rows and validation_fraction=0\.95 takes 12 rows\. Change",
        X=X[:12],
        y=y[:12],
        early_stopping=True,
        validation_fraction=0.95,
    ),
    case(
        "a kernel of the wrong shape",
        r"`kernel` function must return a matrix of shape \(.*\), rows by centres; got \(7,\)\. ",
        kernel=lambda rows, centres: np.ones(7),
    ),
    case("a kernel of NaN", r"`kernel` function returned NaN or infinity", kernel=fails_at(1)),
    case("a kernel of NaN later", r"`kernel` function returned NaN", kernel=fails_at(3)),
]

refused = pytest.mark.parametrize(
    ("model", "arguments", "error", "message"), BAD_PARAMETERS + BAD_DATA
)


def fitted_attributes(model):
    return {name for name in vars(model) if name.endswith("_")}


@refused
def test_the_message_says_what_is_wrong_and_what_to_do(model, arguments, error, message):
    with pytest.raises(error, match=message):
        clone(model).fit(*arguments)


@refused
def test_after_an_error_nothing_is_fitted(model, arguments, error, message):
    model = clone(model)
    with pytest.raises(error):
        model.fit(*arguments)
    assert not fitted_attributes(model)
    with pytest.raises(NotFittedError):
        model.predict(X)


@refused
def test_after_an_error_the_last_fit_stands(model, arguments, error, message):
    rows, parameters = np.c_[X, X], model.get_params()
    model = make().fit(rows, np.array(["no", "yes"])[y])
    before, attributes = model.decision_function(rows), fitted_attributes(model)
    with pytest.raises(error):
        model.set_params(**parameters).fit(*arguments)
    assert fitted_attributes(model) == attributes
    assert model.classes_.tolist() == ["no", "yes"]
    assert_array_equal(model.set_params(n_jobs=None).decision_function(rows), before)


def test_errors_are_value_errors_of_their_own():
    with pytest.raises(InvalidParameterError):
        make(C=0).fit(X, y)
    with pytest.raises(InvalidDataError):
        make().fit(X, np.zeros(120))
    assert issubclass(InvalidParameterError, ValueError)
    assert issubclass(InvalidDataError, ValueError)


# -- predicting -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    return make().fit(X, y)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[:, :3], r"X has 3 features, but SparseKernelAUC is expecting 4 features"),
        (np.c_[X, y], r"X has 5 features, but SparseKernelAUC is expecting 4 features"),
        (sparse.csr_array(X[:, :3]), r"X has 3 features, but SparseKernelAUC is expecting 4"),
        (with_entry(np.nan), r"Input X contains NaN"),
        (with_entry(np.inf), r"Input X contains infinity"),
        (X + 1j, r"Complex data not supported"),
        (with_entry("ten", object), r"could not convert string to float"),
        (X[:0], r"Found array with 0 sample\(s\)"),
        (X[0], r"Expected 2D array, got 1D array instead"),
    ],
    ids=["fewer", "more", "sparse", "NaN", "infinity", "complex", "strings", "no rows", "1D"],
)
@pytest.mark.parametrize("method", ["predict", "decision_function", "staged_decision_function"])
def test_rows_that_cannot_be_scored(fitted, method, rows, message):
    with pytest.raises(ValueError, match=message):
        list(getattr(fitted, method)(rows))


@pytest.mark.parametrize("method", ["predict", "decision_function", "staged_decision_function"])
def test_predicting_needs_a_fit(method):
    with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
        list(getattr(make(), method)(X))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(120, int), r"must have two classes; got \[0\]\. Pass rows of both classes"),
        (np.arange(120) % 3, r"must have two classes; got 3"),
        (y[:-1], r"got 120 and 119"),
        (np.array(["a", "b"])[y], r"the labels 'a' and 'b'; got .*1"),
    ],
    ids=["one class", "three classes", "different lengths", "other labels"],
)
def test_labels_that_cannot_be_scored(fitted, labels, message):
    with pytest.raises(ValueError, match=message):
        fitted.score(X, labels)
