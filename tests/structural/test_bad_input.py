"""Bad input to StructuralAUC: an error that names what was wrong, the value and the remedy."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from skauc import StructuralAUC
from skauc.exceptions import InvalidDataError, InvalidParameterError

X, y = make_classification(120, 4, class_sep=0.8, random_state=0)


def case(name, message, X=X, y=y, weights=None, error=ValueError, **parameters):
    """Something that `fit` refuses with this message."""
    return pytest.param(StructuralAUC(**parameters), (X, y, weights), error, message, id=name)


def with_entry(value, dtype=None):
    """The rows with one entry replaced."""
    rows = X.astype(dtype or X.dtype)
    rows[3, 2] = value
    return rows


KERNELS = ", ".join(map(repr, ("rbf", "laplacian", "polynomial", "linear")))

BAD_PARAMETERS = [
    *(
        case(
            f"{name}={value!r}",
            rf"`{name}` must be a finite number greater than 0; got {value!r}\. {advice}",
            **{name: value},
        )
        for name, advice in [
            ("C", "Larger values fit the training pairs"),
            ("tol", "1e-3 is a good choice"),
            ("cache_size", "It is in megabytes; 4000 is a good choice"),
            ("gamma", "Larger values make narrower"),
        ]
        for value in (0, -1.0, np.nan, np.inf, None, True)
    ),
    *(
        case(
            f"{name}={value!r}",
            rf"`{name}` must be an integer of at least 1; got {value!r}\. {advice}",
            **{name: value},
        )
        for name, advice in [("max_iter", "1000 is"), ("degree", "It is the power of")]
        for value in (0, -3, 2.5, "8", None, True)
    ),
    case("gamma", r"`gamma` must be one of 'scale', 'auto'; got 'nonsense'\. ", gamma="nonsense"),
    case(
        "two widths",
        r"`gamma` must be one width; got \[0\.1, 1\.0\]\. Choose one by cross-validation, or use "
        "SparseKernelAUC",
        gamma=[0.1, 1.0],
        kernel="rbf",
    ),
    case(
        "two widths of the linear kernel",
        r"`gamma` can be a sequence of widths for kernel='rbf' alone; got kernel='linear'",
        gamma=[0.1, 1.0],
    ),
    case("kernel", rf"`kernel` must be one of {KERNELS}; got 'nonsense'\. ", kernel="nonsense"),
    case("kernel=None", r"`kernel` must be one of .*; got None\. Use one", kernel=None),
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
            f"n_jobs={value!r}",
            rf"`n_jobs` must be None or an integer other than 0; got {value!r}\. Use -1",
            n_jobs=value,
        )
        for value in (0, 1.5, "2", True)
    ),
]

BAD_DATA = [
    case(
        "one class", r"`y` has one class only: 1\. Pass rows of both classes", y=np.ones(120, int)
    ),
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
    case("no rows", r"Found array with 0 sample\(s\) \(shape=\(0, 4\)\)", X=X[:0], y=y[:0]),
    case("no columns", r"Found array with 0 feature\(s\) \(shape=\(120, 0\)\)", X=X[:, :0]),
    case("one dimension", r"Expected 2D array, got 1D array instead", X=X[:, 0]),
    case("different lengths", r"inconsistent numbers of samples: \[120, 119\]", y=y[:-1]),
    case("complex", r"Complex data not supported", X=X + 1j),
    case("strings", r"could not convert string to float: '?.*ten", X=with_entry("ten", object)),
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
    case(
        "too few weights", r"sample_weight\.shape == \(7,\), expected \(120,\)", weights=np.ones(7)
    ),
    case(
        "features that overflow",
        r"overflow\. Scale the features, for instance with sklearn\.preprocessing\.StandardScaler",
        X=1e200 * X,
    ),
    case(
        "a polynomial that overflows",
        r"overflow\. Scale the features, .* or lower `C`, `gamma`, `degree`",
        X=1e100 * X,
        kernel="polynomial",
        gamma=1.0,
    ),
    *(
        case(
            f"a kernel of the wrong shape, cache_size={cache_size}",
            r"`kernel` function must return a matrix of shape \(.*\), rows by centres; got \(7,\)",
            kernel=lambda rows, centres: np.ones(7),
            cache_size=cache_size,
        )
        for cache_size in (1e-9, 1000)
    ),
    case(
        "a kernel of NaN",
        r"`kernel` function returned NaN or infinity",
        kernel=lambda rows, centres: np.full((rows.shape[0], centres.shape[0]), np.nan),
    ),
]

refused = pytest.mark.parametrize(
    ("model", "arguments", "error", "message"), BAD_PARAMETERS + BAD_DATA
)


def fitted_attributes(model):
    return {name for name in vars(model) if name.endswith("_") or name == "_model"}


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
    model = StructuralAUC().fit(rows, np.array(["no", "yes"])[y])
    before, attributes = model.decision_function(rows), fitted_attributes(model)
    with pytest.raises(error):
        model.set_params(**parameters).fit(*arguments)
    assert fitted_attributes(model) == attributes
    assert model.classes_.tolist() == ["no", "yes"]
    assert_array_equal(model.set_params(n_jobs=None).decision_function(rows), before)


def test_errors_are_value_errors_of_their_own():
    with pytest.raises(InvalidParameterError):
        StructuralAUC(C=0).fit(X, y)
    with pytest.raises(InvalidDataError):
        StructuralAUC().fit(X, np.zeros(120))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[:, :3], r"X has 3 features, but StructuralAUC is expecting 4 features"),
        (sparse.csr_array(X[:, :3]), r"X has 3 features, but StructuralAUC is expecting 4"),
        (with_entry(np.nan), r"Input X contains NaN"),
        (with_entry(np.inf), r"Input X contains infinity"),
        (with_entry("ten", object), r"could not convert string to float"),
        (X[:0], r"Found array with 0 sample\(s\)"),
        (X[0], r"Expected 2D array, got 1D array instead"),
    ],
    ids=["fewer", "sparse", "NaN", "infinity", "strings", "no rows", "1D"],
)
def test_rows_that_cannot_be_scored(kernel, rows, message):
    model = StructuralAUC(kernel=kernel).fit(X, y)
    for method in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match=message):
            method(rows)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(120, int), r"must have two classes; got \[0\]\. Pass rows of both classes"),
        (y[:-1], r"got 120 and 119"),
    ],
    ids=["one class", "different lengths"],
)
def test_labels_that_cannot_be_scored(labels, message):
    with pytest.raises(ValueError, match=message):
        StructuralAUC().fit(X, y).score(X, labels)
