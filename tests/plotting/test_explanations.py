"""Displays of explanations: what is drawn, and what they refuse."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.explain import partial_dependence, shapley_values
from skauc.plotting import ImportanceDisplay, InteractionDisplay, ShapeDisplay, WaterfallDisplay

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"colour": rng.choice(["red", "green"], 150), "size": rng.normal(size=150)}
    )
    frame[[f"noise{i}" for i in range(12)]] = rng.normal(size=(150, 12))
    y = (frame["colour"] == "red") + frame["size"] + rng.normal(size=150) > 1
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(8, random_state=0))
    return model.fit(frame, y), frame


def test_shapes(fitted):
    model, frame = fitted
    display = ShapeDisplay.from_estimator(model, frame, "size", n_points=9, n_rows=30)
    line = next(line for line in display.ax_.lines if len(line.get_xdata()) == 9)
    np.testing.assert_array_equal(line.get_ydata(), display.dependence.effect)
    assert len(display.points) == 30
    display = ShapeDisplay.from_estimator(model, frame, "colour")
    assert {label.get_text() for label in display.ax_.get_xticklabels()} == {"red", "green"}


def test_interactions(fitted):
    model, frame = fitted
    display = InteractionDisplay.from_estimator(model, frame, ["size", "colour"], n_points=5)
    expected = partial_dependence(model, frame, ["size", "colour"], n_points=5).interaction
    np.testing.assert_array_equal(
        display.ax_.collections[0].get_array().ravel(), expected.T.ravel()
    )
    with pytest.raises(ValueError, match="`kind` must be"):
        display.plot(kind="all")


def test_a_waterfall_ends_at_the_score(fitted):
    model, frame = fitted
    display = WaterfallDisplay.from_estimator(model, frame[:1], max_features=5)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0] == "10 other columns"
    assert any(label.startswith("size = ") for label in labels)
    top = display.ax_.patches[-1]
    assert top.get_x() + top.get_width() == pytest.approx(model.decision_function(frame[:1])[0])
    with pytest.raises(ValueError, match="one row; got 2 rows"):
        WaterfallDisplay(explanation=shapley_values(model, frame[:2])).plot()


def test_importances(fitted):
    model, frame = fitted
    display = ImportanceDisplay.from_estimator(model, frame, max_features=3)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [each.name for each in display.importances[:3]]
