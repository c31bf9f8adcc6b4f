"""Displays of curves, thresholds and scores, drawn without a screen."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.metrics import PrecisionRecallDisplay, RocCurveDisplay, average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.exceptions import InvalidParameterError
from skauc.metrics import auc_interval
from skauc.plotting import (
    PrecisionRecallBandDisplay,
    RocBandDisplay,
    ScoreDistributionDisplay,
    ThresholdDisplay,
)

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, y = load_breast_cancer(return_X_y=True)
Y = np.where(y == 0, "malignant", "benign")
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2, 269)
DISPLAYS = [RocBandDisplay, PrecisionRecallBandDisplay, ScoreDistributionDisplay, ThresholdDisplay]


@pytest.fixture(scope="module")
def model():
    model = make_pipeline(StandardScaler(), SparseKernelAUC(4, random_state=0))
    return model.fit(X[:300, :4], Y[:300])


@pytest.fixture(scope="module")
def rows(model):
    return X[300:, :4], Y[300:]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("display", DISPLAYS)
def test_an_estimator_gives_what_its_scores_give(display, model, rows):
    drawn = display.from_estimator(model, *rows, sample_weight=WEIGHTS)
    scores = model.decision_function(rows[0])
    again = display.from_predictions(
        rows[1], scores, sample_weight=WEIGHTS, pos_label="malignant", ax=plt.figure().gca()
    )
    for name, value in vars(drawn).items():
        if isinstance(value, np.ndarray):
            assert_allclose(value, getattr(again, name))
    drawn.figure_.canvas.draw()
    assert drawn.ax_.get_legend() is not None


@pytest.mark.parametrize("display", DISPLAYS)
def test_an_unfitted_estimator_is_told(display, rows):
    with pytest.raises(NotFittedError):
        display.from_estimator(SparseKernelAUC(), *rows)


def test_the_part_of_the_curve_is_shaded(model, rows):
    part = make_pipeline(StandardScaler(), SparseKernelAUC(2, max_fpr=0.2, random_state=0))
    part.fit(X[:300, :4], Y[:300])
    shaded = RocBandDisplay.from_estimator(part, *rows).part_.get_paths()[0].get_extents()
    assert_allclose([shaded.xmin, shaded.xmax, shaded.ymin, shaded.ymax], [0, 0.2, 0, 1])
    display = RocBandDisplay.from_estimator(model, *rows, max_fpr=0.3, min_tpr=0.6)
    shaded = display.part_.get_paths()[0].get_extents()
    assert_allclose([shaded.xmin, shaded.xmax, shaded.ymin, shaded.ymax], [0, 0.3, 0.6, 1])
    assert RocBandDisplay.from_estimator(model, *rows).part_ is None


def test_the_roc_curve_is_scikit_learns_within_its_band(model, rows):
    display = RocBandDisplay.from_estimator(model, *rows)
    theirs = RocCurveDisplay.from_estimator(model, *rows, drop_intermediate=False)
    assert_allclose(display.x, theirs.fpr)
    assert_allclose(display.y, theirs.tpr)
    interval = auc_interval(rows[1], model.decision_function(rows[0]), pos_label="malignant")
    assert display.area == (interval.auc, interval.low, interval.high)
    curve = np.interp(display.band_x, display.x, display.y)
    assert np.all((display.low <= curve + 1e-9) & (curve <= display.high + 1e-9))
    label = display.line_.get_label()
    assert label.startswith("SparseKernelAUC: AUC = 0.")


def test_the_precision_recall_curve_is_scikit_learns(model, rows):
    display = PrecisionRecallBandDisplay.from_estimator(model, *rows, name="mine")
    theirs = PrecisionRecallDisplay.from_estimator(model, *rows)
    assert_allclose(display.x, theirs.recall[-2::-1])
    assert_allclose(display.y, theirs.precision[-2::-1])
    scores = model.decision_function(rows[0])
    expected = average_precision_score(rows[1] == "malignant", scores)
    assert display.area[0] == pytest.approx(expected)
    assert display.area[1] <= display.area[0] <= display.area[2]
    assert display.chance == (np.mean(rows[1] == "malignant"),) * 2
    assert display.line_.get_label().startswith("mine: AP = ")


def test_parts_can_be_left_out(model, rows):
    display = RocBandDisplay.from_estimator(model, *rows, band=False, chance=False, color="red")
    assert display.band_ is None
    assert display.chance_ is None
    assert display.line_.get_color() == "red"
    assert len(display.ax_.lines) == 1


def test_both_classes_are_named_and_add_up(model, rows):
    display = ScoreDistributionDisplay.from_estimator(model, *rows, n_bins=10)
    assert display.labels == ("benign", "malignant")
    assert_allclose([display.positives.sum(), display.negatives.sum()], 1)
    assert len(display.edges) == 11
    turned = ScoreDistributionDisplay.from_predictions(
        rows[1], -model.decision_function(rows[0]), pos_label="benign"
    )
    assert turned.labels == ("malignant", "benign")


def test_the_best_threshold_is_marked(model, rows):
    scores, positive = model.decision_function(rows[0]), rows[1] == "malignant"
    display = ThresholdDisplay.from_estimator(model, *rows, costs=(1, 7))

    def cost(threshold):
        flagged = scores >= threshold
        return np.mean(flagged & ~positive) + 7 * np.mean(~flagged & positive)

    assert cost(display.best) == pytest.approx(min(map(cost, [*scores, np.inf])))
    assert_allclose(display.cost, [cost(threshold) for threshold in display.thresholds])
    assert set(display.lines_) == {"recall", "precision", "cost"}
    plain = ThresholdDisplay.from_estimator(model, *rows)
    assert plain.cost_ax_ is None
    texts = [text.get_text() for text in plain.ax_.get_legend().get_texts()]
    assert texts == ["recall", "precision", f"best balanced accuracy at {plain.best:g}"]


def test_costs_are_numbers(model, rows):
    with pytest.raises(InvalidParameterError, match="`costs` must be a finite number"):
        ThresholdDisplay.from_estimator(model, *rows, costs=(1, -2))
