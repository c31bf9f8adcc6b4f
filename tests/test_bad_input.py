"""One contract for all estimators: what was wrong, the value, the remedy, and no change.

A refused fit leaves a fresh estimator unfitted and a fitted one as it was.
"""

import re
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import has_fit_parameter

from skauc import (
    OAM,
    OILK,
    OPAUC,
    AdaOAM,
    KernelRankSVM,
    SAdaOAM,
    Selection,
    SparseKernelAUC,
    SparseKernelAUCCV,
    StructuralAUC,
)
from skauc.exceptions import InvalidDataError, InvalidParameterError

X, y = make_classification(120, 4, class_sep=0.8, random_state=0)
QID, GRADES = np.repeat(np.arange(12), 10), np.arange(120) % 3

BATCH = [
    SparseKernelAUC(4, random_state=0),
    SparseKernelAUCCV(n_basis=4, gammas=["scale"], Cs=[1.0], cv=2, refine=False, random_state=0),
    KernelRankSVM(),
    StructuralAUC(),
]
ONLINE = [OAM(), OPAUC(), AdaOAM(), SAdaOAM(), OILK()]


def name_of(value):
    return value.__name__ if isinstance(value, type) else str(value).partition("(")[0]


every_estimator = pytest.mark.parametrize("estimator", BATCH + ONLINE, ids=name_of)
every_learner = pytest.mark.parametrize("learner", ONLINE, ids=name_of)


def with_entry(value, dtype=None):
    """The rows with one entry replaced."""
    rows = X.astype(dtype or X.dtype)
    rows[3, 2] = value
    return rows


def state_of(model):
    """Everything that a fit sets."""
    names = ("_model", "_models", "_state")
    return {name: v for name, v in vars(model).items() if name.endswith("_") or name in names}


@contextmanager
def note_on_failure(*case):
    """Say in which case of a loop a test failed."""
    try:
        yield
    except BaseException as error:
        error.add_note("in the case of " + ", ".join(map(str, case)))
        raise


def assert_refused(estimator, fit, message, error=ValueError):
    """See that a fit is refused, by a fresh estimator and by a fitted one, without a trace."""
    fresh = clone(estimator)
    with pytest.raises(error, match=message):
        fit(fresh)
    assert not state_of(fresh)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    fitted = fitted_before(estimator)
    before = state_of(fitted)
    with pytest.raises(error, match=message):
        fit(fitted.set_params(**estimator.get_params()))
    after = state_of(fitted)
    assert before.keys() == after.keys()
    assert all(after[name] is before[name] for name in before)


_FITTED = {}


def fitted_before(estimator):
    """An estimator of the same type, fitted to other rows and other labels."""
    kind = type(estimator)
    if kind not in _FITTED:
        default = next(other for other in BATCH + ONLINE if type(other) is kind)
        _FITTED[kind] = clone(default).fit(np.c_[X, X], np.array(["no", "yes"])[y])
    model = clone(_FITTED[kind])
    vars(model).update(state_of(_FITTED[kind]))
    return model


# -- data that no estimator takes -------------------------------------------------------------

BAD_DATA = {
    "one class": (X, np.ones(120, int), r"`y` has one class only: 1\. Pass rows of both classes"),
    "one label": (X, ["a"] * 120, r"`y` has one class only: 'a'\. Pass rows of both classes"),
    "three classes": (
        X,
        np.arange(120) % 3,
        r"Only binary classification is supported.* `y` has 3 classes\. Wrap the estimator in "
        r"sklearn\.multiclass\.OneVsRestClassifier",
    ),
    "NaN": (
        with_entry(np.nan),
        y,
        r"Input X contains NaN in row 3, column 2\. \w+ does not accept missing values\. Fill them "
        r"in with sklearn\.impute\.SimpleImputer, or use skauc\.TablePreprocessor",
    ),
    "infinity": (
        with_entry(-np.inf, np.float32),
        y,
        r"Input X contains infinity in row 3, column 2\. Correct the value or leave the row out",
    ),
    "sparse NaN": (
        sparse.csr_array(with_entry(np.nan)),
        y,
        r"Input X contains NaN in row 3, column 2",
    ),
    "NaN in y": (X, np.where(y, 1.0, np.nan), r"Input y contains NaN"),
    "no label": (X, ["a", None, *["b"] * 118], r"`y` has no label in row 1; got None\. Leave rows"),
    "labels of two types": (X, np.array(["a", *y[1:]], object), r"of several types, such as 'a'"),
    "continuous y": (X, X[:, 0], r"Unknown label type: continuous"),
    "huge y": (X, np.where(y, 1.7e308, -1.7e308), r"Unknown label type: continuous"),
    "no y": (X, None, r"requires y to be passed, but the target y is None"),
    "two columns of y": (X, np.c_[y, y], r"y should be a 1d array, got .* \(120, 2\)"),
    "no rows": (X[:0], y[:0], r"Found array with 0 sample\(s\) \(shape=\(0, 4\)\)"),
    "no columns": (X[:, :0], y, r"Found array with 0 feature\(s\) \(shape=\(120, 0\)\)"),
    "one dimension": (X[:, 0], y, r"Expected 2D array, got 1D array instead"),
    "three dimensions": (X[None], y, r"Found array with dim 3"),
    "different lengths": (X, y[:-1], r"inconsistent numbers of samples: \[120, 119\]"),
    "complex": (X + 1j, y, r"Complex data not supported"),
    "text": (
        with_entry("ten", object),
        y,
        r"\w+ needs numbers; got 'ten' in row 3, column 2 of `X`\. Put skauc\.TablePreprocessor "
        r"before it in a pipeline",
    ),
}


@pytest.mark.parametrize(("rows", "labels", "message"), BAD_DATA.values(), ids=BAD_DATA)
def test_data(rows, labels, message):
    for estimator in BATCH + ONLINE:
        with note_on_failure(estimator):
            assert_refused(estimator, lambda model: model.fit(rows, labels), message)


@every_learner
def test_chunks_of_a_stream(learner):
    """The same, where one class is allowed and the labels are known."""
    allowed = ("one class", "one label", "three classes")
    for name in BAD_DATA.keys() - allowed:
        rows, labels, message = BAD_DATA[name]
        fresh, fitted = clone(learner), clone(learner).partial_fit(X, y, [0, 1])
        before = state_of(fitted)
        for model in (fresh, fitted):
            with note_on_failure(name), pytest.raises(ValueError, match=message):
                model.partial_fit(rows, labels, [0, 1])
        assert not state_of(fresh)
        assert all(state_of(fitted)[name] is before[name] for name in before)


@pytest.mark.parametrize("estimator", [BATCH[0], BATCH[2], ONLINE[0]], ids=name_of)
def test_columns_of_a_table_are_named(estimator):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["age", "income", "town", "seen"])
    for value, message in (
        (np.nan, r"contains NaN in row 3, column 'town'"),
        ("Oslo", r"got 'Oslo' in row 3, column 'town'"),
        (pandas.NA, r"contains NaN in row 3, column 'town'"),
        (pandas.Timestamp("2024-05-01"), r"got Timestamp\(.* in row 3, column 'town'"),
    ):
        table = frame.astype({"town": object})
        table.loc[3, "town"] = value
        with pytest.raises(InvalidDataError, match=message):
            clone(estimator).fit(table, y)
        model = clone(estimator).fit(frame, y)
        with pytest.raises(InvalidDataError, match=message):
            model.predict(table)


def test_objects_are_a_type_error():
    with pytest.raises(TypeError, match="a string or a real number, not 'dict'"):
        SparseKernelAUC(4).fit(with_entry({}, object), y)


# -- weights ----------------------------------------------------------------------------------

BAD_WEIGHTS = {
    "negative": (
        np.where(np.arange(120) == 5, -2.0, 1.0),
        r"`sample_weight` must not be negative; got -2\.0 in row 5\. Leave a row out by",
    ),
    "zero": (
        np.zeros(120),
        r"`sample_weight` is zero in every row\. Give the rows that count a positive weight",
    ),
    "zero in a class": (
        1.0 - y,
        r"`sample_weight` is 0 in every row of class 1\. Give at least one row of each class",
    ),
    "tiny": (
        np.full(120, 1e-160),
        r"`sample_weight` sums up to 1\.2e-158, which is too large or too small to compute with\. "
        r"Divide the weights by their mean",
    ),
    "tiny in a class": (np.where(y, 1e-200, 1e-150), r"`sample_weight` sums up to .*too small"),
    "huge": (np.full(120, 1e160), r"`sample_weight` sums up to 1\.2e\+162, which is too large"),
    "too large a sum": (np.full(120, 1e307), r"`sample_weight` sums up to inf, which is too large"),
    "cancelling": (
        np.where(np.arange(120) % 2, 1.7e308, -1.7e308),
        r"`sample_weight` must not be negative; got -1\.7e\+308 in row 0",
    ),
    "NaN": (np.full(120, np.nan), r"Input sample_weight contains NaN"),
    "infinity": (np.full(120, np.inf), r"Input sample_weight contains infinity"),
    "too few": (np.ones(7), r"sample_weight\.shape == \(7,\), expected \(120,\)"),
    "two columns": (np.ones((120, 2)), r"Sample weights must be 1D"),
}


@pytest.mark.parametrize(("weights", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_weights(weights, message):
    for estimator in BATCH:
        with note_on_failure(estimator):
            assert_refused(estimator, lambda model: model.fit(X, y, sample_weight=weights), message)


def test_online_learners_take_no_weights():
    assert not any(has_fit_parameter(learner, "sample_weight") for learner in ONLINE)


# -- parameters -------------------------------------------------------------------------------


def positive(advice=""):
    values = (0, -1.0, np.nan, np.inf, "1", None, True)
    return values, "must be a finite number greater than 0; got {!r}. " + advice


def integer(advice, values=(0, -3, 2.5, "8", None, True), minimum=1):
    return values, f"must be an integer of at least {minimum}; got {{!r}}. " + advice


def boolean():
    return ("no", None, 1), "must be True or False; got {!r}."


def boolean_or_auto():
    return ("no", None, 1), "must be 'auto', True or False; got {!r}."


def fraction(advice):
    values = (0, 1.0, -0.1, "0.1", None)
    return values, "must be a number between 0 and 1, both excluded; got {!r}. " + advice


def choice(*words):
    return ("nonsense", None, 0), f"must be one of {', '.join(map(repr, words))}; got {{!r}}."


PART = {
    "max_fpr": ((0, 1.5, -0.1, np.nan, "0.1", True), "must be a number in (0, 1]; got {!r}. Use"),
    "min_tpr": ((1, -0.1, 2, np.nan, "0.1", True), "must be a number in [0, 1); got {!r}. Use"),
}
KERNEL = {
    "C": positive("Larger values fit"),
    "kernel": choice("rbf", "laplacian", "polynomial", "linear"),
    "gamma": ((0, -1.0, np.nan, np.inf, None, True), positive("Larger values make narrower")[1]),
    "degree": integer("It is the power of"),
    "coef0": ((-1.0, np.nan, "1", None), "must be a finite number of at least 0; got {!r}. A neg"),
    "n_jobs": (
        (0, 1.5, "2", True),
        "must be None or an integer other than 0; got {!r}. Use -1 for all cores",
    ),
}
EXACT = {
    **KERNEL,
    "max_iter": integer("100"),
    "tol": positive("1e-3 is a good choice"),
    "cache_size": positive("It is in megabytes; 4000 is a good choice"),
}
STREAM = {"n_epochs": integer("It is the number of passes", (0, 2.5, None)), "shuffle": boolean()}
LINEAR_STREAM = {**STREAM, "average": boolean()}
ADAPTIVE = {
    **LINEAR_STREAM,
    "eta": positive("It is the step size"),
    "lam": positive("Larger values keep the weights smaller"),
    "delta": positive("0.5 is a good choice"),
}
BUFFER = {
    "C": positive("Larger values make larger steps"),
    "buffer_size": integer("100 is", (0, -1, 2.5, "9")),
    "buffer": choice("reservoir", "fifo", "rsx"),
}

PARAMETERS = {
    SparseKernelAUC: {
        **KERNEL,
        "n_basis": integer("Set `n_basis` to the size of model you want"),
        "linear_term": boolean_or_auto(),
        "early_stopping": boolean(),
        "refine": (("no", 0, -3, 2.5, None), "must be 'auto', True, False or a number of steps of"),
        "selection": ((None, 3), "must be"),
        "engine": choice("auto", "cpu", "gpu", "cluster"),
        "tol": positive("1e-4 is"),
        "validation_fraction": fraction("0.1 holds out"),
        **PART,
    },
    KernelRankSVM: {**EXACT, **PART},
    StructuralAUC: EXACT,
    OAM: {**LINEAR_STREAM, **BUFFER, "update": choice("sequential", "gradient")},
    OPAUC: {
        **LINEAR_STREAM,
        "eta": ADAPTIVE["eta"],
        "lam": ADAPTIVE["lam"],
        "rank": integer("None keeps the full covariances", (0, 1.5, "2")),
    },
    AdaOAM: ADAPTIVE,
    SAdaOAM: {**ADAPTIVE, "theta": positive("Larger values leave fewer weights")},
    OILK: {
        **STREAM,
        **BUFFER,
        "gamma": KERNEL["gamma"],
        "eta": fraction("0.001 is"),
        "n_violators": integer("None keeps all", (0, 2.5, "9")),
        "compensate": boolean(),
    },
}


HUGE = 10**400  # Python does not convert it to a float


def bad_values(kind):
    """Yield the name of a parameter, a bad value for it, and the message."""
    for name, (values, message) in PARAMETERS[kind].items():
        for value in values:
            yield name, value, re.escape(f"`{name}` {message.format(value)}")
        if "number" in message or "integer" in message:
            expected = rf"`{name}` must be .*; got 1000000000\.\.\. \(401 characters\)\. "
            yield name, HUGE, expected


@pytest.mark.parametrize("kind", PARAMETERS, ids=name_of)
def test_parameters(kind):
    for name, value, message in bad_values(kind):
        model = kind(**{name: value})
        with note_on_failure(name, repr(value)[:20]):
            assert_refused(model, lambda model: model.fit(X, y), message, InvalidParameterError)
            if hasattr(model, "partial_fit"):
                with pytest.raises(InvalidParameterError, match=message):
                    model.partial_fit(X, y, [0, 1])


@pytest.mark.parametrize("estimator", BATCH[:2], ids=name_of)
def test_verbose(estimator):
    for value in (None, "x", {}, 0.5):
        model = clone(estimator).set_params(verbose=value)
        expected = re.escape(f"`verbose` must be an integer or a bool; got {value!r}. Use 0 to")
        with note_on_failure(value):
            assert_refused(model, lambda model: model.fit(X, y), expected, InvalidParameterError)


SELECTION = {
    "rule": choice("orthogonal", "greedy", "exact", "exhaustive", "random", "kmeans"),
    "retrain": choice("auto", "doubling", "geometric", "always"),
    "solver": choice("auto", "cholesky", "cg"),
    "n_candidates": integer("100 is a good choice"),
    "max_iter": integer("100 is a good choice"),
}


@pytest.mark.parametrize("name", SELECTION)
def test_fields_of_a_selection(name):
    values, message = SELECTION[name]
    for value in values:
        model = SparseKernelAUC(selection=Selection(**{name: value}))
        shown = "selection" if name == "rule" else name
        expected = re.escape(f"`{shown}` {message.format(value)}")
        assert_refused(model, lambda model: model.fit(X, y), expected, InvalidParameterError)


def test_random_states():
    seeded = [estimator for estimator in BATCH + ONLINE if hasattr(estimator, "random_state")]
    for estimator in seeded:
        model = clone(estimator).set_params(random_state="x")
        with note_on_failure(estimator):
            assert_refused(model, lambda model: model.fit(X, y), "'x' cannot be used to seed")


def fails_at(size):
    """A kernel that breaks for that many centres."""

    def kernel(rows, centres):
        value = np.nan if centres.shape[0] == size else 1.0
        return np.exp(-np.abs(rows[:, :1] - centres[:, 0])) * value

    return kernel


WRONG_SHAPE = r"`kernel` function must return a matrix of shape \(.*\), rows by centres; got \(7,\)"
OVERFLOW = r"overflow\. Scale the features, .* or lower `C`, `gamma`, `degree` or the weights"

# What only some estimators can be asked for: parameters, data, message.
SPECIAL = {
    SparseKernelAUC: {
        "gamma word": (
            {"gamma": "wide"},
            {},
            r"`gamma` must be one of 'scale', 'auto'; got 'wide'",
        ),
        "gamma=[1, 0]": (
            {"gamma": [1, 0]},
            {},
            r"`gamma` must be a finite .* than 0; got 0\. Larg",
        ),
        "gamma=['scale', 1]": (
            {"gamma": ["scale", 1]},
            {},
            r"`gamma` must be a finite number greater than 0; got 'scale'",
        ),
        "gamma=[]": ({"gamma": []}, {}, r"`gamma` must hold at least one width; got an empty seq"),
        "widths of another kernel": (
            {"gamma": [0.1, 1.0], "kernel": "laplacian"},
            {},
            r"`gamma` can be a sequence of widths for kernel='rbf' only; got kernel='laplacian'",
        ),
        "refined laplacian": (
            {"refine": True, "kernel": "laplacian"},
            {},
            r"`refine` .* kernel='rbf' .*; got kernel='laplacian'\. Use 'rbf' or refine=False",
        ),
        "refined function": (
            {"refine": True, "kernel": lambda rows, centres: rows @ centres.T},
            {},
            r"`refine` moves centres along the gradient .* kernel='rbf' only; got .*Use 'rbf' or",
        ),
        "one positive, early_stopping": (
            {"early_stopping": True},
            {"y": np.arange(120) == 0},
            r"holds out rows of both classes; the smaller class has 1 of 120 rows .*Change "
            r"`validation_fraction`",
        ),
        "validation_fraction=0.95": (
            {"early_stopping": True, "validation_fraction": 0.95},
            {"X": X[:12], "y": y[:12]},
            r"12 rows and validation_fraction=0\.95 takes 12 rows\. Change",
        ),
        "kernel of a wrong shape": ({"kernel": lambda x, z: np.ones(7)}, {}, WRONG_SHAPE),
        "kernel of NaN": ({"kernel": fails_at(1)}, {}, r"`kernel` function returned NaN or infin"),
        "kernel of NaN later": ({"kernel": fails_at(4)}, {}, r"`kernel` function returned NaN"),
    },
    KernelRankSVM: {
        "widths": (
            {"gamma": [0.1, 1.0]},
            {},
            r"`gamma` must be one width, 'scale' or 'auto'; got \[0\.1, 1\.0\]\. Choose one",
        ),
        "memory for less than two blocks": (
            {"cache_size": 0.01},
            {"X": np.tile(X, (3, 1)), "y": np.tile(y, 3)},
            r"`cache_size` must hold two blocks of the kernel matrix, 0\.\d+ MB for these rows; "
            r"got 0\.01\. .* and 0\.\d+ MB hold all",
        ),
        "grades without queries": (
            {},
            {"y": GRADES},
            r"Only binary classification is supported.* `y` has 3 classes\. .*If they are grades, "
            r"pass `qid`",
        ),
        "kernel of a wrong shape": ({"kernel": lambda x, z: np.ones(7)}, {}, WRONG_SHAPE),
        "overflow": ({"kernel": "linear"}, {"X": 1e200 * X}, OVERFLOW),
        "tiny C": (
            {"C": 1e-160},
            {},
            r"The squared gradient is .*, too small to compute with\. Raise `C` or the weights",
        ),
        "unsorted qid": (
            {},
            {"y": GRADES, "qid": QID[::-1]},
            r"`qid` must be sorted; got 10 in row 10, after 11\. Sort the rows first",
        ),
        "negative qid": (
            {},
            {"y": GRADES, "qid": QID - 1},
            r"`qid` must not be negative; got -1 in row 0\. Number the queries",
        ),
        "short qid": (
            {},
            {"y": GRADES, "qid": QID[:7]},
            r"`qid` must have one number per row, .*got shape \(7,\)",
        ),
        "words": (
            {},
            {"y": GRADES, "qid": QID.astype(str)},
            r"`qid` must hold integers; got values of type <U2",
        ),
        "queries of one row": (
            {},
            {"y": GRADES, "qid": range(120)},
            r"None of the 120 queries has rows of different grades",
        ),
        "three labels": (
            {},
            {"y": np.array(["bad", "fair", "good"])[GRADES], "qid": QID},
            r"Grades must be numbers; `y` has 3 different values of type <U4\. Code them as numb",
        ),
        "NaN grade": ({}, {"y": np.where(y, 1.0, np.nan), "qid": QID}, r"Input y contains NaN"),
        "negative weight of a grade": (
            {},
            {"y": GRADES, "qid": QID, "sample_weight": np.full(120, -1)},
            r"must not be negative; got -1\.0 in row 0",
        ),
    },
    StructuralAUC: {
        "widths": (
            {"gamma": [0.1, 1.0], "kernel": "rbf"},
            {},
            r"`gamma` must be one width, 'scale' or 'auto'; got \[0\.1, 1\.0\]\. Choose one by "
            "cross-validation, or use SparseKernelAUC",
        ),
        "overflow": ({}, {"X": 1e200 * X}, OVERFLOW),
        "overflow of a polynomial": (
            {"kernel": "polynomial", "gamma": 1.0},
            {"X": 1e100 * X},
            OVERFLOW,
        ),
        "memory for less than two blocks": (
            {"cache_size": 1e-6, "kernel": "rbf"},
            {},
            r"`cache_size` must hold two blocks of the kernel matrix",
        ),
        "kernel of a wrong shape": ({"kernel": lambda x, z: np.ones(7)}, {}, WRONG_SHAPE),
    },
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, names in SPECIAL.items() for name in names],
    ids=name_of,
)
def test_special_cases(kind, name):
    parameters, arguments, message = SPECIAL[kind][name]
    arguments = {"X": X, "y": y, **arguments}
    assert_refused(kind(**parameters), lambda model: model.fit(**arguments), message)


def test_errors_are_value_errors_of_their_own():
    with pytest.raises(InvalidParameterError):
        SparseKernelAUC(C=0).fit(X, y)
    with pytest.raises(InvalidDataError):
        SparseKernelAUC().fit(X, np.zeros(120))
    assert issubclass(InvalidParameterError, ValueError)
    assert issubclass(InvalidDataError, ValueError)


# -- streams ----------------------------------------------------------------------------------


def test_the_first_call_needs_classes():
    message = r"`classes` must be given in the first call .*; got None\. Pass both labels"
    for learner in ONLINE:
        with note_on_failure(learner), pytest.raises(InvalidParameterError, match=message):
            clone(learner).partial_fit(X, y)


def test_there_are_two_classes():
    message = r"`classes` must hold two different labels; got \[.*\]\. Pass both labels"
    for classes in ([0], [0, 0], [0, 1, 2], []):
        with note_on_failure(classes), pytest.raises(InvalidParameterError, match=message):
            OPAUC().partial_fit(X, y, classes=classes)


def test_classes_have_one_dimension():
    message = r"`classes` must have one dimension; got .* \(2, 2\)"
    with pytest.raises(InvalidDataError, match=message):
        OPAUC().partial_fit(X, y, classes=[[0, 1], [1, 0]])


@every_learner
def test_classes_must_not_change(learner):
    model = clone(learner).partial_fit(X, y, [0, 1])
    before = state_of(model)
    for classes in ([0, 2], ["0", "1"], [-1, 1]):
        message = r"`classes` must stay \[0, 1\], .*; got \[.*\]\. Leave it out"
        with pytest.raises(InvalidParameterError, match=message):
            model.partial_fit(X, y, classes=classes)
    for labels, found in ((y + 1, "2"), (np.array(["no", "yes"])[y], "'no'")):
        message = rf"the label {found}, which is not one of the classes \[0, 1\]\. Leave"
        with pytest.raises(InvalidDataError, match=message):
            model.partial_fit(X, labels)
    assert all(state_of(model)[name] is before[name] for name in before)
    assert model.partial_fit(X, y, classes=[1, 0]).n_samples_seen_ == 240


OVERFLOWING = [
    (OAM("gradient", C=1e300), 1e200 * X),
    (OILK(C=1e307, eta=0.9), 1e200 * X),
    (OPAUC(), with_entry(1e155)),
    (OPAUC(rank=1), with_entry(1e155)),
    (AdaOAM(), with_entry(1e155)),
    (SAdaOAM(), with_entry(1e155)),
]


@pytest.mark.parametrize(("learner", "rows"), OVERFLOWING, ids=lambda value: str(value)[:20])
def test_learners_that_overflow(learner, rows):
    """The weights of SAdaOAM stay finite, but not its state."""
    model = clone(learner).partial_fit(X[:1], y[:1], [0, 1])
    before = state_of(model)
    message = r"The coefficients of \w+ overflowed\. Scale the features, .* or use smaller steps"
    with pytest.raises(InvalidDataError, match=message):
        model.partial_fit(rows, y)
    assert all(state_of(model)[name] is before[name] for name in before)
    with pytest.raises(InvalidDataError, match=message):
        clone(learner).fit(rows, y)


# -- predicting -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    return {type(estimator): clone(estimator).fit(X, y) for estimator in BATCH + ONLINE}


@pytest.fixture(scope="module")
def ranker():
    return KernelRankSVM(max_iter=100, tol=0.1).fit(X, GRADES, qid=QID)


BAD_ROWS = {
    "fewer": (X[:, :3], r"X has 3 features, but \w+ is expecting 4 features"),
    "more": (np.c_[X, y], r"X has 5 features, but \w+ is expecting 4 features"),
    "sparse": (sparse.csr_array(X[:, :3]), r"X has 3 features, but \w+ is expecting 4"),
    "NaN": (with_entry(np.nan), r"Input X contains NaN in row 3, column 2.*TablePreprocessor"),
    "infinity": (with_entry(np.inf), r"Input X contains infinity in row 3, column 2"),
    "complex": (X + 1j, r"Complex data not supported"),
    "text": (with_entry("ten", object), r"got 'ten' in row 3, column 2.*TablePreprocessor"),
    "no rows": (X[:0], r"Found array with 0 sample\(s\)"),
    "one dimension": (X[0], r"Expected 2D array, got 1D array instead"),
}


@every_estimator
def test_rows_that_cannot_be_scored(fitted, estimator):
    model = fitted[type(estimator)]
    methods = ["predict", "decision_function"]
    if hasattr(model, "staged_decision_function"):
        methods.append("staged_decision_function")
    for rows, message in BAD_ROWS.values():
        for method in methods:
            with note_on_failure(method), pytest.raises(ValueError, match=message):
                list(getattr(model, method)(rows))
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match=r"X has 3 features, but \w+ is expecting 4"):
            model.partial_fit(X[:, :3], y)


@every_estimator
def test_labels_that_cannot_be_scored(fitted, estimator):
    for labels, message in (
        (np.zeros(120, int), r"must have two classes; got \[0\]\. Pass rows of both classes"),
        (np.arange(120) % 3, r"must have two classes; got 3"),
        (y[:-1], r"got 120 and 119"),
        (np.array(["a", "b"])[y], r"the labels 'a' and 'b'; got .*1"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted[type(estimator)].score(X, labels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, GRADES, None, QID[::-1]), r"`qid` must be sorted"),
        ((X, GRADES[:-1], None, QID), r"`y` must be as long as `X`; got 119 and 120"),
        ((X, np.zeros(120), None, QID), r"None of the 12 queries has rows of different grades"),
        ((X, np.array(["a", "b", "c"])[GRADES], None, QID), r"Grades must be numbers; `y` has 3"),
        ((X, np.where(GRADES, 1.0, np.nan), None, QID), r"`y` has missing labels"),
        ((X, GRADES, np.full(120, -1.0), QID), r"`sample_weight` must not be negative"),
        ((X, GRADES, np.ones(7), QID), r"`sample_weight` must be as long as .*; got 7 and 120"),
    ],
)
def test_grades_that_cannot_be_scored(ranker, arguments, message):
    *data, queries = arguments
    with pytest.raises(ValueError, match=message):
        ranker.score(*data, qid=queries)


@every_estimator
def test_predicting_needs_a_fit(estimator):
    for method in ("predict", "decision_function", "make_decision_function", "score"):
        arguments = {"make_decision_function": (), "score": (X, y)}.get(method, (X,))
        with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
            getattr(clone(estimator), method)(*arguments)


def test_a_refused_fit_keeps_the_scores_of_the_last_one():
    """All other tests compare the attributes; this one compares scores."""
    rows = np.c_[X, X]
    model = SparseKernelAUC(4, random_state=0).fit(rows, np.array(["no", "yes"])[y])
    before = model.decision_function(rows)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.ones(120))
    assert model.classes_.tolist() == ["no", "yes"]
    assert_array_equal(model.decision_function(rows), before)
