"""Searches that a time limit ends."""

from types import SimpleNamespace

import pytest
from messy import make_messy

from skauc.app.tables import LabelledTable
from skauc.app.workflow import Recipe, train_model
from skauc.app.workflow.time_limit import StepsInTime


def test_a_search_that_ends_early_says_so():
    X, y = make_messy(300, 0)
    table = LabelledTable(X, y, None, ("no", "yes"))
    notes = train_model(table, Recipe(n_basis=4, n_jobs=1, time_limit=1e-3)).notes
    assert notes[-1].startswith("The search was ended by --time-limit after 1 of ")
    assert notes[-1].endswith(" steps. A longer time may find a better model.")
    for time_limit in (None, 1e6):
        recipe = Recipe(n_basis=4, effort="quick", n_jobs=1, time_limit=time_limit)
        assert not any("time-limit" in note for note in train_model(table, recipe).notes)


@pytest.mark.parametrize(("n_done", "n_tasks"), [(9, 10), (10, 10)])
def test_a_search_with_nothing_left_but_the_last_fit_is_complete(n_done, n_tasks):
    steps = StepsInTime(-1.0)
    steps(SimpleNamespace(search_progress_=SimpleNamespace(n_done=7, n_tasks=10)), 7, 10)
    assert "after 7 of 10 steps" in steps.notes[0]
    steps(SimpleNamespace(search_progress_=SimpleNamespace(n_done=9, n_tasks=10)), 9, 10)
    steps(SimpleNamespace(search_progress_=SimpleNamespace(n_done=n_done, n_tasks=n_tasks)), 9, 10)
    steps(SimpleNamespace(), 10, 10)
    assert steps.notes == ()
