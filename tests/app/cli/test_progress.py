"""Progress: a bar on a terminal, lines elsewhere."""

import io
import time
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from skauc.app.cli import bars, progress
from skauc.app.cli.progress import StageProgress, Tick, count_rows, watch
from skauc.sparse import SparseKernelAUC


def half_done():
    """Four of eight tasks, the first after 14 seconds and two seconds for each of the others."""
    state = StageProgress("Tuning", 8, n_done=4, detail="gamma=[0.1, 1]", best_auc=0.87654)
    state.started = time.monotonic() - 20
    state._first = (1, time.monotonic() - 6)
    return state


def test_a_line_tells_all_that_is_known():
    line = "Tuning: 4 of 8 steps, gamma=[0.1, 1], best AUC 0.8765, 20 s, about 8 s left"
    assert half_done().line() == line
    assert StageProgress("Tuning").line() == "Tuning: 0 s"
    assert (
        StageProgress("Scoring rows", unit="rows", n_done=5000).line()
        == "Scoring rows: 5,000 rows, 0 s"
    )


def test_no_more_time_is_left_than_the_limit_allows():
    state = half_done()
    state.most_seconds = 25.0
    assert state.line().endswith("20 s, about 5 s left")
    state.most_seconds = 100.0
    assert state.line().endswith("20 s, about 8 s left")
    state.most_seconds = 15.0  # running tasks are finished
    assert state.line().endswith("best AUC 0.8765, 20 s")


def test_the_limit_of_a_stage_is_shown(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    with watch("Tuning", 1000, seconds=30.0) as (tick,):
        tick(None, 1, 1000)
        time.sleep(0.2)
        tick(None, 2, 1000)
        time.sleep(0.2)
    assert ", about 30 s left" in capsys.readouterr().err


def test_a_callback_reads_what_an_estimator_offers():
    state = StageProgress("Tuning")
    tick = Tick(state)
    tick(SimpleNamespace(), 1, None)
    assert (state.n_done, state.n_tasks, state.best_auc, state.detail) == (1, None, None, "")
    offered = SimpleNamespace(best_auc=0.9, trying="rank scaling", n_tasks=40)
    tick(SimpleNamespace(search_progress_=offered), 2, None)
    assert (state.n_done, state.n_tasks, state.best_auc) == (2, 40, 0.9)
    assert state.detail == "rank scaling"


def test_a_fit_counts_its_sizes_and_its_steps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    state = StageProgress("Fitting")
    model = SparseKernelAUC(5, refine=2, random_state=0)
    model.set_callbacks(Tick(state))
    model.fit(X, X[:, 0] > 0.5)
    # The sizes 4 and 5, and two steps.
    assert (state.n_done, state.n_tasks) == (4, 4)


def test_a_line_every_few_seconds_without_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    with watch("Tuning", 10) as (tick,):
        tick(None, 1, 10)
        tick(None, 3, 10)
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 6
    assert all(line.startswith("Tuning: 3 of 10 steps, 0 s, about") for line in lines)


def test_a_short_stage_prints_nothing(capsys):
    with watch("Tuning"), count_rows("Scoring rows") as add:
        add(100)
    assert capsys.readouterr().err == ""


@pytest.fixture
def terminal(monkeypatch):
    """A terminal that keeps what is shown."""
    shown = io.StringIO()

    def console(stderr):
        return Console(file=shown, force_terminal=True, width=150, color_system=None)

    monkeypatch.setattr(bars, "Console", console)
    return shown


def test_a_bar_with_a_total(terminal):
    with bars.shown_as_bar(half_done()) as show:
        show()
        time.sleep(0.2)
    text = terminal.getvalue()
    assert "4/8, gamma=[0.1, 1], best AUC 0.8765, about 8 s left" in text
    assert "Tuning" in text
