"""Every kernel, scaling, calibration and step, as C, JavaScript and SQL."""

import numpy as np
import pytest
from exported import columns_of, needs_gcc, needs_node, run_c, run_duckdb, run_js, run_sqlite
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from skauc import (
    OPAUC,
    KernelRankSVM,
    SparseKernelAUC,
    SparseKernelAUCCV,
    StructuralAUC,
    TablePreprocessor,
    to_source,
)
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.explain import shapley_values
from skauc.preprocessing import ArcSinh
from skauc.unwrapping import unwrap

X, Y = make_classification(120, 5, class_sep=0.7, random_state=0)
X[:, 4] = np.maximum(np.exp(X[:, 4]) - 0.5, 0.0)  # skewed, with zeros
GAPS = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
SHAPES_AND_SCALINGS = ["local", "ridges", "clip", "log", "averaged"]
WORDS = np.array(["no", 'it\'s "yes"'])[Y]


def small(n_basis=6, **parameters):
    return SparseKernelAUC(n_basis, random_state=0, **{"scaling": None, **parameters})


MODELS = {
    "rbf": small(),
    "laplacian": small(kernel="laplacian"),
    "polynomial": small(kernel="polynomial"),
    "linear": small(kernel="linear"),
    "widths": small(gamma=[0.05, 0.5], linear_term=True),
    "refined": small(refine=5),
    "local": small(shapes="local", refine=5),
    "ridges": small(12, shapes="ridge", refine=2),
    "ranks": small(scaling="rank", linear_term=True),
    "axes": small(scaling="normal", rotate=True),
    "screened": small(scaling="screened"),
    "clip": small(scaling="clip", rotate=True),
    "log": small(scaling="log", linear_term=True),
    "averaged": SparseKernelAUCCV(n_basis=32, scaling="normal", cv=3, random_state=0),
    "scaled": make_pipeline(RobustScaler(), ArcSinh(), StandardScaler(with_mean=False), small()),
    "ranges": make_pipeline(MinMaxScaler(), MaxAbsScaler(), small()),
    "imputed": make_pipeline(StandardScaler(), SimpleImputer(), small()),
    "sigmoid": CalibratedClassifierCV(small(), ensemble=False),
    "isotonic": CalibratedClassifierCV(small(refine=False), method="isotonic", ensemble=False),
    "fixed": FixedThresholdClassifier(small(), threshold=0.25),
    "structural": StructuralAUC(C=0.1),
    "online": OPAUC(rank=2),
    "grades": KernelRankSVM(kernel="linear"),
}


@pytest.fixture(scope="module")
def fitted():
    found = {}
    for name, model in MODELS.items():
        labels = {"grades": np.arange(len(X)) % 3}.get(name, WORDS)
        more = {"qid": np.zeros(len(X), dtype=int)} if name == "grades" else {}
        found[name] = model.fit(GAPS if name == "imputed" else X, labels, **more)
    return found


def test_the_averaged_model_is_one(fitted):
    assert len(fitted["averaged"].ensemble_) > 1


def rows_of(name):
    rows = GAPS if name == "imputed" else np.vstack((X, 20 * X))
    return rows, {f"x{j}": column for j, column in enumerate(rows.T)}


def check(model, rows, scores, probabilities, labels, failed):
    opened = unwrap(model)
    expected = opened.classifier.decision_function(opened.transform(rows))
    assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    if opened.calibrator is not None:
        assert_allclose(probabilities, model.predict_proba(rows)[:, 1], atol=1e-9)
    if len(model.classes_) == 2:
        assert_array_equal(labels, model.predict(rows))
    assert failed == 0


@needs_gcc
def test_c(fitted, tmp_path):
    """All headers in one program: their names do not clash."""
    columns = columns_of(fitted["rbf"])
    for names in (list(set(MODELS) - {"imputed"}), ["imputed"]):
        headers = {name: to_source(fitted[name], "c", name=name) for name in sorted(names)}
        rows, values = rows_of(names[0])
        for name, found in run_c(tmp_path, headers, columns, values).items():
            scores, probabilities, codes, failed = found
            labels = np.asarray(fitted[name].classes_)[codes.astype(int)]
            check(fitted[name], rows, scores, probabilities, labels, failed)


@needs_gcc
def test_single_precision_of_values_that_crowd(tmp_path):
    """Scaled knots of normal scores are closer than single precision sees; the rows are exact."""
    rng = np.random.default_rng(0)
    crowded = np.where(rng.random(400) < 0.7, 20 + rng.random(400) / 10, 8000 * rng.random(400))
    rows = np.column_stack((np.round(crowded * 512) / 512, np.round(rng.normal(size=400), 1)))
    y = rows[:, 0] + 3000 * rows[:, 1] + 2000 * rng.normal(size=400) > 2000
    model = make_pipeline(StandardScaler(), small(scaling="normal", refine=5)).fit(rows, y)
    header = to_source(model, "c", precision="float")
    assert "typedef double model_wide;" in header
    values = {f"x{j}": column for j, column in enumerate(rows.T)}
    found = run_c(tmp_path, {"model": header}, columns_of(model), values)["model"]
    assert_allclose(found[0], model.decision_function(rows), rtol=0, atol=1e-5)
    plain = small(scaling="normal").fit(np.round(X[:, :4], 1), Y)
    plain = to_source(plain, "c", precision="float")
    assert "typedef float model_wide;" in plain


@needs_node
@pytest.mark.parametrize(
    "name",
    ["laplacian", "polynomial", "linear", *SHAPES_AND_SCALINGS, "imputed", "fixed", "grades"],
)
def test_js(fitted, name, tmp_path):
    rows, values = rows_of(name)
    answers, failed = run_js(tmp_path, to_source(fitted[name], "js"), values)
    scores, probabilities, labels = zip(*answers, strict=True)
    check(fitted[name], rows, scores, probabilities, labels, failed)


@needs_node
def test_contributions_of_ridges_are_exact(fitted, tmp_path):
    model = fitted["ridges"]
    assert model._model.kernel.is_ridge.any()
    values = {f"x{j}": column for j, column in enumerate(X[:20].T)}
    ask = "m.contributions(row, Object.fromEntries(names.map((n, j) => [n, rows[0][j]])))"
    answers, _ = run_js(tmp_path, to_source(model, "js"), values, ask)
    expected = shapley_values(model, X[:20], X[:1])
    assert expected.is_exact
    assert all(answer["exact"] for answer in answers)
    found = [list(answer["values"].values()) for answer in answers]
    assert_allclose(found, expected.values, atol=1e-9)


@pytest.mark.parametrize(
    "name", ["laplacian", "polynomial", "linear", "axes", *SHAPES_AND_SCALINGS, "imputed", "grades"]
)
def test_sql(fitted, name):
    rows, values = rows_of(name)
    script = to_source(fitted[name], "sql")
    check(fitted[name], rows, *run_duckdb(script, values, columns_of(fitted[name])))


@needs_gcc
@needs_node
@pytest.mark.parametrize("n_values", [None, 4], ids=["long curves", "short curves"])
def test_a_screened_model_whose_features_have_different_weights(n_values, tmp_path):
    """The deviations are weights, and they divide a whole curve."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 8))
    y = np.hypot(rows[:, 0], rows[:, 1]) + 0.3 * rng.normal(size=2000) > 1.2
    if n_values is not None:
        rows = np.clip(np.round(rows), -1, n_values - 2)
    model = small(scaling="screened").fit(rows, y)
    assert len(np.unique(model._model.scaling.by_feature.deviation)) > 1
    rows = rows[:200]
    values = {f"x{j}": column for j, column in enumerate(rows.T)}
    columns = columns_of(model)
    for dialect, run in (("duckdb", run_duckdb), ("sqlite", run_sqlite)):
        check(model, rows, *run(to_source(model, "sql", dialect=dialect), values, columns))
    headers = {"model": to_source(model, "c")}
    scores, probabilities, codes, failed = run_c(tmp_path, headers, columns, values)["model"]
    check(model, rows, scores, probabilities, model.classes_[codes.astype(int)], failed)
    answers, failed = run_js(tmp_path, to_source(model, "js"), values)
    check(model, rows, *zip(*answers, strict=True), failed)


@needs_node
def test_a_row_that_javascript_refuses(fitted, tmp_path):
    ask = """(() => { try { m.score(FOUND); } catch (error) { return error.message; } })()"""
    given = {
        "{}": 'The row has no column "x0". Use null for a missing value.',
        "{ ...row, x1: null }": 'Column "x1" must have a value; got null.',
        '{ ...row, x2: "3" }': 'Column "x2" takes a number or null; got "3".',
    }
    values = {name: column[:1] for name, column in rows_of("rbf")[1].items()}
    asks = ", ".join(ask.replace("FOUND", row) for row in given)
    ((messages,), _) = run_js(tmp_path, to_source(fitted["rbf"], "js"), values, f"[{asks}]")
    assert messages == list(given.values())


def test_what_cannot_be_exported():
    def fitted(*steps):
        return make_pipeline(*steps).fit(X, Y)

    nul = TablePreprocessor(category=["x"])
    table = {"x": ["a\0b", "c"] * 20}
    cases = [
        (small(kernel=rbf_kernel).fit(X, Y), "`kernel` is a function .* Use one of the kernels"),
        (fitted(PCA(2), small()), "The step PCA cannot be .* Use a TablePreprocessor .* to ONNX"),
        (
            fitted(SimpleImputer(add_indicator=True), small()),
            "SimpleImputer cannot .*add_indicator",
        ),
        (fitted(MinMaxScaler(clip=True), small()), "MinMaxScaler cannot .* Set clip=False"),
        (CalibratedClassifierCV(small(), cv=2).fit(X, Y), "mean of 2 calibrated .*ensemble=False"),
        (LogisticRegression().fit(X, Y), "LogisticRegression does not hold an estimator of skauc"),
    ]
    for model, message in cases:
        with pytest.raises(InvalidParameterError, match=message):
            to_source(model, "js")
    import pandas as pd

    model = make_pipeline(nul, small(2)).fit(pd.DataFrame(table), [0, 1] * 20)
    for language, message in (("c", "column 'x' has a string .*C cannot"), ("sql", "SQL cannot")):
        with pytest.raises(InvalidDataError, match=message):
            to_source(model, language)


@needs_gcc
@needs_node
def test_levels_that_have_one_spelling_are_named_at_the_top(tmp_path):
    """Times of the day, and chosen categories of numbers."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "*/ open": ["08:00", "12:30:00", "17:15"] * 20,
            "zip": [7, 12, 410] * 20,
            "town": ["Oslo", "Bern"] * 30,
        }
    )
    step = TablePreprocessor(category=["zip"])
    model = make_pipeline(step, small(3)).fit(frame, np.arange(60) % 3 == 0)
    times = "open: times of the day are written as HH:MM:SS. Other spellings are unknown levels."
    zips = "zip: numbers are written without zeros at either end, 7 instead of 007 and 7.0."
    for language in ("c", "sql", "js"):
        top = to_source(model, language).split("self_test" if language != "js" else "selfTest")[0]
        assert times in top
        assert zips in top
        assert "town:" not in top
    values, columns = step.column_values(frame), columns_of(model)
    assert values["*/ open"][:2].tolist() == ["08:00:00", "12:30:00"]
    found = run_c(tmp_path, {"model": to_source(model, "c")}, columns, values)["model"]
    assert_allclose(found[0], model.decision_function(frame), atol=1e-9)
    answers, _ = run_js(tmp_path, to_source(model, "js"), values)
    assert_allclose([each[0] for each in answers], found[0], atol=1e-9)
    assert_allclose(run_duckdb(to_source(model, "sql"), values, columns)[0], found[0], atol=1e-9)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "bigquery"])
def test_columns_that_a_database_cannot_tell_apart(dialect):
    import pandas as pd

    frame = pd.DataFrame(X[:, :3], columns=["age", "Age", "Model_Score"])
    model = make_pipeline(TablePreprocessor(), small(2)).fit(frame, Y)
    with pytest.raises(InvalidDataError, match="'age' and 'Age' differ in letter case only"):
        to_source(model, "sql", dialect=dialect)
    script = to_source(model, "sql", dialect="postgresql")
    assert 't."age"' in script
    assert 't."Age"' in script
    model = make_pipeline(TablePreprocessor(), small(2)).fit(frame.drop(columns="age"), Y)
    with pytest.raises(InvalidDataError, match="has a column 'Model_Score', and the view would"):
        to_source(model, "sql", dialect=dialect)
    assert "Model_Score" in to_source(model, "sql", dialect=dialect, name="other")


@pytest.mark.parametrize(
    ("language", "options", "message"),
    [
        ("pdf", {}, "`language` must be one of 'c', 'sql', 'js', 'd.ts', 'html'; got 'pdf'"),
        ("c", {"precision": "half"}, "`precision` must be one of 'double', 'float', 'int8'; got"),
        ("sql", {"dialect": "oracle"}, "`dialect` must be one of 'duckdb', 'sqlite', .*; got"),
        ("js", {"precision": "float"}, "`precision` is for language='c'; got 'float' and .*'js'"),
        ("c", {"table": "rows"}, "`table` is for language='sql'; got 'rows' and language='c'"),
        ("sql", {"table": "Model"}, "`name` and `table` must differ; got 'model' twice"),
        ("c", {"name": "my model"}, "`name` must begin with a letter .*; got 'my model'"),
        ("c", {"labels": ["yes"]}, "`labels` must be two names; got"),
    ],
)
def test_wrong_parameters(fitted, language, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        to_source(fitted["rbf"], language, **options)


def test_a_model_must_be_fitted():
    with pytest.raises(NotFittedError):
        to_source(small(), "c")


def test_the_hash_is_that_of_the_model():
    """The same in all languages and runs, another for another model."""

    def digest(model, language):
        found = to_source(model, language).partition("SHA-256")[2].lstrip('": ')
        return found[:64]

    first, again, other = small().fit(X, Y), small().fit(X, Y), small(5).fit(X, Y)
    hashes = {digest(first, language) for language in ("c", "sql", "js", "html")}
    assert hashes == {digest(again, "c")}
    assert digest(other, "c") not in hashes


def test_64_refined_centres_of_22_features_are_small():
    rows, labels = make_classification(300, 22, random_state=0)
    model = make_pipeline(StandardScaler(), small(64, scaling=None, refine=3)).fit(rows, labels)
    assert len(model[-1].dual_coef_) == 64
    assert len(to_source(model, "c")) < 20_000
    assert len(to_source(model, "html")) < 40_000
