"""Explanations in the report: rows, effects, slices, rows far from the centres, prototypes."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.exceptions import InvalidDataError
from skauc.explain import partial_dependence, shapley_values
from skauc.metrics import auc
from skauc.metrics.intervals import unpaired_difference
from skauc.report import make_report_content, render_report
from skauc.report.explained_rows import describe
from skauc.report.missing import Missing


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    n = 1200
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "group": rng.choice(["north", "south"], n),
            "noise": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        }
    )
    # Sizes mean nothing in the south.
    y = frame["size"] * (frame["group"] == "north") + 0.5 * rng.normal(size=n) > 0.4
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(8, scaling=None, random_state=0))
    model.fit(frame[:600], y[:600])
    test = frame[600:].reset_index(drop=True)
    test.loc[7, "size"] = 30.0  # far from every training row
    y = y[600:].to_numpy()
    content = make_report_content(
        model, test, y, X_train=frame[:600], y_train=model.predict(frame[:600])
    )
    return model, test, y, content


def test_leading_rows_are_explained_in_the_words_of_the_table(made):
    model, test, y, content = made
    scores = model.decision_function(test)
    shown = content.explained
    first = shown.rows[0]
    assert first.number == np.argmax(scores) + 1
    assert first.score == pytest.approx(scores.max())
    total = sum(part.step for part in first.contributions) + first.others + shown.base_value
    assert total == pytest.approx(scores.max())
    misses = [row for row in shown.rows if row.why == "worst miss"]
    assert misses[0].number - 1 == np.flatnonzero(y)[np.argmin(scores[y])]
    assert {part.cell for part in first.contributions} & {"north", "south"}
    expected = shapley_values(model, test[:5]).values
    np.testing.assert_allclose(content.lookup.steps[:5], expected, rtol=1e-3, atol=1e-6)


def test_effects_are_partial_dependences(made):
    model, test, _, content = made
    for shape in content.shapes.shapes:
        effect = partial_dependence(model, test, shape.name, n_points=40).effect
        np.testing.assert_allclose(shape.effects, effect)
        assert 0 <= min(shape.positions) <= max(shape.positions) <= 1


def test_the_slice_that_is_ranked_badly_is_found(made):
    model, test, y, content = made
    south = next(each for each in content.slices.slices if each.part == "south")
    mask = (test["group"] == "south").to_numpy()
    assert south.auc == pytest.approx(auc(y[mask], model.decision_function(test[mask])))
    assert south.is_worse
    assert south.n_rows == mask.sum()
    assert [each.auc for each in content.slices.slices] == sorted(
        each.auc for each in content.slices.slices
    )
    assert any(each.part == "missing" for each in content.slices.slices)


def test_parts_are_compared_by_students_t(made):
    model, test, y, content = made
    scores, south = model.decision_function(test), (test["group"] == "south").to_numpy()
    variances, freedoms = [], []
    for part in (south, ~south):
        above = scores[part & y][:, None] > scores[part & ~y]
        for axis in (0, 1):
            placements = above.mean(axis=axis)
            variances.append(placements.var(ddof=1) / len(placements))
            freedoms.append(len(placements) - 1)
    variances = np.array(variances)
    freedom = variances.sum() ** 2 / np.sum(variances**2 / freedoms)
    apart = auc(y[south], scores[south]) - auc(y[~south], scores[~south])
    p_value = 2 * student.sf(abs(apart) / np.sqrt(variances.sum()), freedom)
    shown = next(each for each in content.slices.slices if each.part == "south")
    assert shown.p_value == pytest.approx(p_value * content.slices.n_tested, rel=1e-6)
    perfect = np.array([1.0, 0.0]), np.array([True, False]), np.ones(2)
    assert unpaired_difference(perfect, perfect) == (0.0, 1.0)


def test_far_rows_and_prototypes(made):
    _, _, _, content = made
    assert content.far.rows[0][0] == 8
    assert content.far.n_far < 30
    assert len(content.prototypes.centres) == 8
    assert content.prototypes.columns[0] in ("size", "group")
    groups = {
        row.values[content.prototypes.columns.index("group")] for row in content.prototypes.centres
    }
    assert groups <= {"north", "south"}


def test_rows_have_the_numbers_of_their_table(made):
    model, test, y, content = made
    numbers = 3 * np.arange(len(test)) + 5
    train = {"X_train": test.drop(index=7), "y_train": np.delete(y, 7)}
    named = make_report_content(model, test, y, **train, row_numbers=numbers)
    for row, plain in zip(named.explained.rows, content.explained.rows, strict=True):
        assert row.number == numbers[plain.number - 1]
    assert named.lookup.numbers == tuple(numbers)
    assert content.lookup.numbers == tuple(range(1, len(test) + 1))
    assert named.far.rows[0][0] == numbers[7]
    with pytest.raises(InvalidDataError, match=r"one number per test row, shape \(600,\)"):
        make_report_content(model, test, y, row_numbers=[1, 2])
    for wrong in ("r0", 1.5, None):
        with pytest.raises(
            InvalidDataError, match=rf"`row_numbers` must be integers; got .*{wrong}"
        ):
            make_report_content(model, test, y, row_numbers=[wrong, *numbers[1:]])
    with pytest.raises(
        InvalidDataError, match="`train_row_numbers` must have one number per train"
    ):
        make_report_content(model, test, y, **train, train_row_numbers=[1])
    with pytest.raises(InvalidDataError, match="`train_row_numbers` was given without `X_train`"):
        make_report_content(model, test, y, train_row_numbers=numbers)


def test_other_models_have_no_explanations_and_pages_are_rendered(made):
    _, test, y, content = made
    assert "Explain row" in render_report(content)
    X = test[["size"]].to_numpy()
    other = make_report_content(LogisticRegression().fit(X, y), X, y)
    for part in (other.explained, other.shapes, other.lookup, other.far, other.prototypes):
        assert isinstance(part, Missing)
    assert "Explain row" not in render_report(other)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_explained_rows_have_the_probability_of_the_model(made, method):
    model, test, y, content = made
    assert {row.probability for row in content.explained.rows} == {None}
    calibrated = CalibratedClassifierCV(FrozenEstimator(model), method=method).fit(test, y)
    numbers = [3, 8]
    shown = describe(calibrated, shapley_values(model, test.iloc[numbers]), numbers, "ab", "ab")
    expected = calibrated.predict_proba(test.iloc[numbers])[:, 1]
    np.testing.assert_allclose([row.probability for row in shown.rows], expected, atol=1e-9)
