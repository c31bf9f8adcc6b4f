"""Rows in a file, float32 and memory-mapped, are learnt and scored like rows in memory."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skauc import Selection, SparseKernelAUC

N_ROWS = 30_000


@pytest.fixture(name="mapped", scope="module")
def rows_in_a_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("mapped") / "rows.float32"
    rows = np.random.default_rng(0).standard_normal((N_ROWS, 8), dtype=np.float32)
    rows.tofile(path)
    return np.memmap(path, np.float32, mode="r", shape=rows.shape)


@pytest.fixture(name="y", scope="module")
def labels(mapped):
    return mapped[:, 0] * mapped[:, 1] + mapped[:, 2] > 1.5


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"selection": "greedy", "refine": False, "scaling": "rank"},
        {"rotate": True},
    ],
    ids=str,
)
def test_a_fit_of_mapped_rows_equals_that_of_an_array(mapped, y, settings):
    model = SparseKernelAUC(8, **settings, n_jobs=2, random_state=0)
    from_file = model.fit(mapped, y).decision_function(mapped)
    from_memory = model.fit(np.array(mapped), y).decision_function(np.array(mapped))
    assert_array_equal(from_file, from_memory)


@pytest.mark.parametrize("refine", [False, True])
def test_neither_fit_nor_scores_read_the_file_into_memory(mapped, y, refine):
    """Besides its columns, a fit takes samples of at most 8,000 rows."""
    wide = np.lib.stride_tricks.as_strided(mapped, (N_ROWS - 100, 800), (32, 4))
    model = SparseKernelAUC(
        4, refine=refine, selection=Selection(n_candidates=10), scaling=None, random_state=0
    )
    model.fit(mapped, y)
    tracemalloc.start()
    model.fit(wide, y[:-100])
    model.decision_function(wide)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 256 columns of the linear term and 4 centres.
    columns = 4 * N_ROWS * (256 + 4)
    assert peak - columns < 0.6 * wide.size * 4
