"""What a search leaves out because it would take too much memory or time."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from skauc import SparseKernelAUCCV
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidDataError, SkippedSettingsWarning
from skauc.sparse.budget import MOST_BYTES, affordable, cost_of
from skauc.sparse.plan import Parameters
from skauc.sparse.scoring import Setting
from skauc.sparse.search import SearchGrid

PLAIN = Setting(None, 0.1, False, False, 1.0, 64)
LINEAR = Setting(None, 0.1, True, False, 1.0, 64)


def make_rows(n_rows, n_features):
    """Rows without entries: only their shape matters here."""
    X = sparse.csr_array((n_rows, n_features))
    return TrainingData(X, np.arange(n_rows) % 2 == 0, np.ones(n_rows), np.array([0, 1]))


def afford(n_rows, n_features, settings=(PLAIN, LINEAR), refine=(False, True)):
    grid = SearchGrid(settings, (1.0,), refine, (False,))
    return affordable(grid, Parameters(), make_rows(n_rows, n_features))


@pytest.mark.parametrize("shape", [(400, 60), (100_000, 50), (5000, 1000), (10**6, 28)])
def test_usual_tables_are_searched_in_full(shape):
    grid = afford(*shape)
    assert grid.settings == (PLAIN, LINEAR)
    assert grid.refine == (False, True)


def test_wide_rows_are_searched_without_the_linear_term_and_refinement():
    """15,700 rows of 19,290 features took 15 GB and did not end."""
    message = (
        r"leaves out linear_term=True \(about .* GiB and .* operations per fit\) and refine "
        r"\(about .* per fit\), for 15,700 rows with 19,290 features. The budget of one fit is"
    )
    with pytest.warns(SkippedSettingsWarning, match=message):
        grid = afford(15_700, 19_290)
    assert grid.settings == (PLAIN,)
    assert grid.refine == (False,)


def test_what_has_no_alternative_is_refused_if_it_takes_too_much_memory():
    message = "Every setting exceeds the memory budget .* 15,700 rows with 19,290 features takes"
    with pytest.raises(InvalidDataError, match=message):
        afford(15_700, 19_290, settings=(LINEAR,), refine=(False,))
    with pytest.raises(InvalidDataError, match=message.replace("19,290", "800,000")):
        afford(15_700, 800_000, settings=(PLAIN,), refine=(True,))


def test_what_has_no_alternative_is_not_left_out_for_its_time():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grid = afford(6000, 6000, settings=(LINEAR,), refine=(False,))
    assert grid.settings == (LINEAR,)


def test_the_linear_term_costs_a_column_per_feature():
    plain, linear = (cost_of(s, Parameters(), 20_000, 3000) for s in (PLAIN, LINEAR))
    assert linear.n_bytes - plain.n_bytes > 4 * 20_000 * 3000
    assert not plain.is_too_much
    assert plain.n_bytes < MOST_BYTES


def test_a_search_warns_and_ends():
    rng = np.random.default_rng(0)
    X = sparse.random(300, 30_000, density=1e-3, format="csr", random_state=0)
    y = (rng.random(300) < 0.5).astype(int)
    model = SparseKernelAUCCV(
        n_basis=4, Cs=[1.0], gammas=["scale"], cv=2, refine=False, random_state=0
    )
    with pytest.warns(SkippedSettingsWarning, match="leaves out linear_term=True"):
        model.fit(X, y)
    assert not model.best_params_["linear_term"]
