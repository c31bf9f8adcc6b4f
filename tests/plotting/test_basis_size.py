"""The display of AUC against size, drawn without a screen."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import NotFittedError

from skauc.exceptions import InvalidParameterError, MissingPackageError
from skauc.metrics import auc_interval
from skauc.plotting import BasisSizeDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

SIZES = [1, 2, 4, 8, 16]


class StagedTrees(ClassifierMixin, BaseEstimator):
    """Boosted trees that show the sizes 1, 2, 4, 8 and 16 as a path."""

    def fit(self, X, y):
        self.trees_ = GradientBoostingClassifier(n_estimators=16, random_state=0).fit(X, y)
        self.classes_ = self.trees_.classes_
        self.path_ = [SimpleNamespace(n_basis=size) for size in SIZES]
        self.n_basis_ = SIZES[-1]
        return self

    def staged_decision_function(self, X):
        for size, scores in enumerate(self.trees_.staged_decision_function(X), start=1):
            if size in SIZES:
                yield scores


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(300, n_informative=6, flip_y=0.2, random_state=0)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def model(rows):
    X, y = rows
    return StagedTrees().fit(X[:150], y[:150])


@pytest.fixture
def display():
    return BasisSizeDisplay(
        n_basis=np.array(SIZES),
        auc=np.array([0.6, 0.7, 0.8, 0.85, 0.86]),
        low=np.array([0.5, 0.6, 0.7, 0.75, 0.76]),
        high=np.array([0.7, 0.8, 0.9, 0.95, 0.96]),
        chosen=8,
        estimator_name="Model",
    )


def legend_texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def size_labels(display):
    """The tick labels of the x axis that are in view."""
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    return [
        label.get_text()
        for label in display.ax_.get_xticklabels()
        if low <= label.get_position()[0] <= high
    ]


def test_from_estimator_scores_every_size_of_the_path(model, rows):
    X, y = rows[0][150:], rows[1][150:]
    display = BasisSizeDisplay.from_estimator(model, X, y)
    intervals = [auc_interval(y, scores) for scores in model.staged_decision_function(X)]
    assert_array_equal(display.n_basis, SIZES)
    assert_array_equal(display.auc, [interval.auc for interval in intervals])
    assert_array_equal(display.low, [interval.low for interval in intervals])
    assert_array_equal(display.high, [interval.high for interval in intervals])
    assert (display.chosen, display.estimator_name) == (16, "StagedTrees")
    assert_array_equal(display.line_.get_xydata(), np.column_stack([SIZES, display.auc]))


def test_from_estimator_takes_weights_axes_and_a_name(model, rows):
    X, y = rows[0][150:], rows[1][150:]
    weights = np.random.default_rng(0).exponential(size=len(y))
    _, ax = plt.subplots()
    display = BasisSizeDisplay.from_estimator(
        model, X, y, sample_weight=weights, ax=ax, name="trees", band=False, color="red"
    )
    *_, last = model.staged_decision_function(X)
    assert display.auc[-1] == auc_interval(y, last, sample_weight=weights).auc
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.band_ is None
    assert display.line_.get_color() == "red"
    assert legend_texts(display)[0] == "trees"


def test_from_predictions_gives_the_same_as_from_estimator(model, rows):
    X, y = rows[0][150:], rows[1][150:]
    expected = BasisSizeDisplay.from_estimator(model, X, y)
    display = BasisSizeDisplay.from_predictions(
        y, model.staged_decision_function(X), SIZES, chosen=16, name="StagedTrees"
    )
    assert_array_equal(display.auc, expected.auc)
    assert legend_texts(display) == legend_texts(expected)
    flipped = BasisSizeDisplay.from_predictions(
        y, model.staged_decision_function(X), SIZES, pos_label="no"
    )
    np.testing.assert_allclose(flipped.auc, 1 - expected.auc)


def test_plot_returns_itself_and_says_what_it_shows(display):
    assert display.plot() is display
    assert display.ax_.get_xlabel() == "Number of centres"
    assert display.ax_.get_ylabel() == "AUC"
    assert legend_texts(display) == [
        "Model",
        "95 % confidence band",
        "chosen size: 8 (AUC = 0.850)",
    ]
    assert_array_equal(display.chosen_.get_xydata(), [[8, 0.85]])
    assert display.band_.get_datalim(display.ax_.transData).bounds == pytest.approx(
        (1, 0.5, 15, 0.46)
    )


def test_curve_band_and_mark_share_a_colour_and_the_style_is_the_callers(display):
    display.plot(name="other", c="green", ms=2, ls="--")
    assert display.line_.get_color() == "green"
    assert display.line_.get_markersize() == 2
    assert display.line_.get_linestyle() == "--"
    assert display.chosen_.get_markeredgecolor() == "green"
    assert matplotlib.colors.same_color(
        display.band_.get_facecolor()[0][:3], matplotlib.colors.to_rgb("green")
    )
    assert legend_texts(display)[0] == "other"


def test_two_displays_share_axes(display):
    display.plot()
    other = BasisSizeDisplay(n_basis=[1, 64], auc=[0.5, 0.7], low=[0.4, 0.6], high=[0.6, 0.8])
    other.plot(ax=display.ax_, name="Other")
    assert legend_texts(display) == [
        "Model",
        "95 % confidence band",
        "chosen size: 8 (AUC = 0.850)",
        "Other",
    ]
    assert matplotlib.colors.same_color(other.line_.get_color(), "C1")
    assert size_labels(display) == ["1", "2", "4", "8", "16", "32", "64"]


@pytest.mark.parametrize("chosen", [None, 7])
def test_a_size_off_the_path_is_not_marked(display, chosen):
    display.chosen = chosen
    assert display.plot().chosen_ is None


def test_bare_curve_has_no_band_and_no_legend():
    display = BasisSizeDisplay(n_basis=[1, 2, 4], auc=[0.5, 0.6, 0.7]).plot()
    assert display.band_ is None
    assert display.ax_.get_legend() is None


@pytest.mark.parametrize(
    ("sizes", "labels"),
    [
        ([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"]),
        pytest.param(
            [1, 4096],
            ["1", "4", "16", "64", "256", "1024", "4096"],
            marks=pytest.mark.skipif(
                matplotlib.__version__ < "3.11", reason="other ticks in older versions"
            ),
        ),
        ([100, 101, 109], ["102", "104", "106", "108"]),
        ([1], ["1", "2"]),
    ],
)
def test_sizes_are_labelled_with_whole_numbers(sizes, labels):
    display = BasisSizeDisplay(n_basis=sizes, auc=np.full(len(sizes), 0.8)).plot()
    assert display.ax_.get_xscale() == "log"
    assert size_labels(display)[-len(labels) :] == labels


def test_drawing_reaches_a_file(display, tmp_path):
    display.plot().figure_.savefig(tmp_path / "sizes.png")
    assert (tmp_path / "sizes.png").stat().st_size > 1000


@pytest.mark.parametrize("sizes", [[1, 2, 3], [[1, 2]]])
def test_one_size_for_each_stage(sizes):
    with pytest.raises(
        InvalidParameterError,
        match=r"`n_basis` must have one size per array .*; got \d sizes and 1 arrays",
    ):
        BasisSizeDisplay.from_predictions([0, 1], [[0, 1]], sizes)


def test_size_zero_has_no_place_on_the_axis():
    with pytest.raises(
        InvalidParameterError, match=r"`n_basis` must be at least 1 .*; got 0. Remove this stage"
    ):
        BasisSizeDisplay.from_predictions([0, 1], [[0, 1], [0, 1]], [0, 1])


def test_estimator_must_be_fitted(rows):
    with pytest.raises(NotFittedError, match="StagedTrees"):
        BasisSizeDisplay.from_estimator(StagedTrees(), *rows)


def test_missing_matplotlib_gives_the_install_line(monkeypatch, display, model, rows):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    message = r"matplotlib, which is not installed. .* pip install 'skauc\[plot\]'"
    with pytest.raises(MissingPackageError, match=message):
        display.plot()
    with pytest.raises(MissingPackageError, match=message):
        BasisSizeDisplay.from_estimator(model, *rows)
    with pytest.raises(MissingPackageError, match=message):
        BasisSizeDisplay.from_predictions([0, 1], [[0, 1]], [1])


def test_importing_the_displays_does_not_load_matplotlib():
    code = "import sys, skauc.plotting; sys.exit('matplotlib' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
