"""Models of tables: exported code gives the scores, probabilities and labels of the model."""

import numpy as np
import pytest
from exported import needs_gcc, needs_node, one_select, run_c, run_duckdb, run_js, run_sqlite
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

from skauc import to_source
from skauc.explain import shapley_values
from skauc.metrics import auc


def check(case, scores, probabilities, labels, failed, atol=1e-9):
    """Scores agree, rows that differ in score have the same order, and the self-test passes."""
    expected = case.scores
    assert_allclose(scores, expected, rtol=0, atol=atol)
    # An isotonic calibration can rise by 0.1 where the score rises by 1e-4.
    low, high = (case.probabilities_of(expected + step) for step in (-atol, atol))
    error = np.abs(probabilities - case.probabilities)
    assert np.all(error <= (atol if atol == 1e-9 else np.maximum(atol, high - low)))
    digits = int(-np.log10(atol)) - 1
    order = np.argsort(scores)
    assert np.all(np.diff(expected[order]) > -2 * atol)
    if atol == 1e-9:
        assert_array_equal(rankdata(np.round(scores, digits)), rankdata(np.round(expected, digits)))
    near = (low - atol <= threshold_of(case)) & (threshold_of(case) <= high + atol)
    assert_array_equal(np.asarray(labels)[~near], case.labels[~near])
    assert failed == 0


def threshold_of(case):
    default = 0.5 if hasattr(case.model, "predict_proba") else 0.0
    return getattr(case.model, "threshold", default)


@needs_gcc
def test_c(case, tmp_path):
    precisions = {"exact": "double", "small": "float", "tiny": "int8"}
    headers = {
        name: to_source(case.model, "c", name=name, precision=precision)
        for name, precision in precisions.items()
    }
    found = run_c(tmp_path, headers, case.columns, case.values)
    check(case, *found["exact"])
    check(case, *found["small"], atol=1e-5)
    scores, _, _, failed = found["tiny"]
    assert failed == 0
    assert auc(case.scores > np.median(case.scores), scores) > 0.999


@needs_node
def test_js(case, tmp_path):
    answers, failed = run_js(tmp_path, to_source(case.model, "js"), case.values)
    scores, probabilities, labels = zip(*answers, strict=True)
    if probabilities[0] is None:
        probabilities = scores
    check(case, scores, probabilities, labels, failed)


@pytest.mark.parametrize(("dialect", "run"), [("duckdb", run_duckdb), ("sqlite", run_sqlite)])
def test_sql(case, dialect, run):
    script = to_source(case.model, "sql", dialect=dialect)
    assert one_select(script).startswith("WITH model_centres AS")
    check(case, *run(script, case.values, case.columns))


@needs_node
def test_contributions_are_shapley_values(case, tmp_path):
    """Against one background row; a rotated model is not a product, so its values are estimates."""
    rows = {name: values[:20] for name, values in case.values.items()}
    module = to_source(case.model, "js")
    answers, _ = run_js(tmp_path, module, rows, "[m.contributions(row), m.score(row)]")
    for found, score in answers:
        assert sum(found["values"].values()) + found["base"] == pytest.approx(score, abs=1e-9)
    ask = "m.contributions(row, Object.fromEntries(names.map((n, j) => [n, rows[0][j]])))"
    answers, _ = run_js(tmp_path, module, rows, ask)
    values = [[each["values"][name] for name in rows] for each in answers]
    expected = shapley_values(case.model, case.frame[:20], case.frame[:1])
    is_exact = expected.is_exact
    assert {answer["exact"] for answer in answers} == {is_exact}
    used = [list(expected.feature_names).index(name) for name in rows]
    assert_allclose(values, expected.values[:, used], atol=1e-9 if is_exact else 0.2)
