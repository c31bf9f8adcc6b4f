"""Curves and figures: measured by real fits, drawn as PNG and SVG."""

import numpy as np
import pytest

from reproduction.curves import Cores, Curves, lines_by, missing_cores, typical_curve
from reproduction.figures import draw_cores, draw_curves, write_figure
from reproduction.protocol import FULL


def test_typical_curve_takes_the_sizes_that_all_folds_have():
    lines = [
        {"points": [[1, 0.1, 0.6], [2, 0.2, 0.7], [4, 0.4, 0.9]]},
        {"points": [[1, 0.3, 0.8], [4, 0.6, 0.6], [5, 1.0, 0.9]]},
        {"points": [[1, 9.0, 0.7], [4, 0.5, 0.6], [5, 1.0, 0.9]]},
    ]
    np.testing.assert_allclose(typical_curve(lines), [[0.3, 0.7], [0.5, 0.7]])


@pytest.mark.usefixtures("data_folder")
def test_schedules_on_sonar(tmp_path):
    curves = Curves("retrain", ("always", "doubling"), most_basis=8, n_folds=2)
    finished = {task.key: task.work() for task in curves.tasks(["sonar"], FULL)}
    assert len(finished) == 4
    always, doubling = (lines_by(finished, "sonar", value) for value in curves.values)
    assert [[point[0] for point in line["points"]] for line in always] == [[*range(1, 9)]] * 2
    assert [[point[0] for point in line["points"]] for line in doubling] == [[1, 4, 8]] * 2
    for line in always + doubling:
        seconds = [point[1] for point in line["points"]]
        assert seconds == sorted(seconds)
        assert all(0.4 < point[2] <= 1 for point in line["points"])
    figure = draw_curves(finished, ["sonar", "glass"], curves, "Retraining")
    labels = [line.get_label() for line in figure.axes[0].lines]
    assert labels == ["always", "doubling"]
    assert len(figure.axes[1].lines) == 0
    png, svg = write_figure(figure, tmp_path, "figure1")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in svg.read_bytes()


@pytest.mark.usefixtures("data_folder")
def test_cores_on_sonar():
    tasks = Cores(n_basis=4, n_repeats=2).tasks(["sonar"], FULL)
    assert {task.key[1] for task in tasks} | set(missing_cores()) == {1, 2, 4, 8, 16}
    finished = {task.key: task.work() for task in tasks if task.key[1] <= 2}
    scores = {lines[-1]["auc"] for lines in finished.values()}
    assert len(scores) == 1, "the result does not depend on the number of cores"
    figure = draw_cores(finished, ["sonar"])
    (line,) = figure.axes[0].lines
    fastest = min(ls[-1]["fit"] for key, ls in finished.items() if key[1] == 1)
    assert line.get_ydata()[0] == fastest
    import matplotlib.pyplot as plt

    plt.close(figure)
