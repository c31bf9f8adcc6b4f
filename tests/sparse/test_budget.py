"""What a search leaves out because it would take too much memory or time."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from skauc import SparseKernelAUCCV
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidDataError, SkippedSettingsWarning
from skauc.sparse.budget import MOST_BYTES, affordable, cost_of
from skauc.sparse.parameters import Parameters
from skauc.sparse.settings import SearchGrid, Setting

PLAIN = Setting(None, 0.1, False, 0, 1.0, 64)
LINEAR = replace(PLAIN, linear_term=True)
REFINED = replace(LINEAR, refine=10)
DEFAULTS = REFINED, replace(REFINED, linear_term=False)


def make_rows(n_rows, n_features):
    """Rows without entries: only their shape matters here."""
    X = sparse.csr_array((n_rows, n_features))
    return TrainingData(X, np.arange(n_rows) % 2 == 0, np.ones(n_rows), np.array([0, 1]))


def afford(n_rows, n_features, settings=DEFAULTS):
    grid = SearchGrid(settings, (1.0,), (1.0,))
    return affordable(grid, Parameters(), make_rows(n_rows, n_features)).settings


@pytest.mark.parametrize("shape", [(400, 60), (100_000, 50), (5000, 1000), (10**6, 28)])
def test_usual_tables_are_searched_in_full(shape):
    settings = (REFINED, LINEAR, PLAIN)
    assert afford(*shape, settings) == settings


def test_wide_rows_are_searched_without_refinement():
    """15,700 rows of 19,290 features took 15 GB and did not end."""
    message = (
        r"leaves out refinement \(about .* GiB and .* operations per fit\), for 15,700 rows with "
        "19,290 features. The budget of one fit is"
    )
    with pytest.warns(SkippedSettingsWarning, match=message):
        assert afford(15_700, 19_290) == (LINEAR, PLAIN)


def test_very_many_rows_are_searched_without_the_linear_term():
    with pytest.warns(SkippedSettingsWarning, match=r"leaves out the linear term \(about"):
        assert afford(10**7, 256, (LINEAR, PLAIN)) == (PLAIN,)
    with pytest.warns(SkippedSettingsWarning, match=r"out refinement and the linear term \(about"):
        assert afford(10**7, 20_000) == (PLAIN,)


def test_the_linear_term_is_left_out_before_refinement_unless_it_was_asked_for():
    rows, grid = make_rows(4_000_000, 300), SearchGrid((REFINED,), (1.0,))
    with pytest.warns(SkippedSettingsWarning, match=r"leaves out the linear term \(about"):
        found = affordable(grid, Parameters(), rows).settings
    assert found == (replace(REFINED, linear_term=False),)
    with pytest.warns(SkippedSettingsWarning, match="leaves out refinement"):
        found = affordable(grid, Parameters(), rows, keeps_linear=True).settings
    assert not found[0].refine


def test_what_takes_too_much_memory_without_both_is_refused():
    message = "Every setting exceeds the memory budget .* 5,000,000 rows with 10 features takes"
    with pytest.raises(InvalidDataError, match=message):
        afford(5 * 10**6, 10, [replace(s, n_basis=400) for s in DEFAULTS])


def test_settings_that_cannot_be_simplified_are_not_left_out_for_their_time():
    big = replace(PLAIN, n_basis=20_000)
    assert cost_of(big, Parameters(), 20_000, 10).n_bytes > MOST_BYTES
    slow = replace(PLAIN, n_basis=6000)
    cost = cost_of(slow, Parameters(), 20_000, 10)
    assert cost.is_too_much
    assert cost.n_bytes < MOST_BYTES
    with pytest.warns(SkippedSettingsWarning, match="leaves out"):
        assert afford(20_000, 10, (replace(slow, refine=10),)) == (slow,)


def test_the_linear_term_costs_a_column_per_feature_up_to_256():
    for n_features, n_columns in ((100, 100), (300, 256)):
        plain, linear = (cost_of(s, Parameters(), 20_000, n_features) for s in (PLAIN, LINEAR))
        added = linear.n_bytes - plain.n_bytes
        assert 4 * 20_000 * n_columns < added < 5 * 20_000 * n_columns


def test_a_search_warns_and_ends():
    rng = np.random.default_rng(0)
    X = sparse.random(300, 100_000, density=1e-3, format="csr", random_state=0)
    y = (rng.random(300) < 0.5).astype(int)
    model = SparseKernelAUCCV(n_basis=4, Cs=[1.0], gammas=["scale"], linear_term=False, cv=2)
    with pytest.warns(SkippedSettingsWarning, match="leaves out refinement"):
        model.fit(X, y)
    assert model.best_params_["refine"] is False
