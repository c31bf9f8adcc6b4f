"""What a fit holds besides the rows and the columns of the basis."""

import tracemalloc

import numpy as np
import pytest

from skauc import Selection, SparseKernelAUC
from skauc.sparse.sampling import POOL_ROWS

N_ROWS, N_BASIS, N_FEATURES = 300_000, 8, 4
# Weights, labels, two states of scores with their pairs, and what passes make on their way. The
# columns of 64 centres and 20 features are 336: half of that is what may be added to them.
MOST_BYTES_A_ROW = 110
# Hard rows are drawn from this many rows: features, weights, labels, numbers and their hashes.
POOL = POOL_ROWS * (4 * N_FEATURES + 25)


@pytest.mark.parametrize("selection", ["orthogonal", "greedy"])
def test_a_fit_of_many_rows_holds_little_besides_its_columns(selection):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_FEATURES), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + rng.standard_normal(N_ROWS) > 1
    model = SparseKernelAUC(
        N_BASIS, selection=Selection(selection, n_candidates=30), random_state=0, n_jobs=2
    )
    model.fit(X[:20_000], y[:20_000])
    tracemalloc.start()
    try:
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    columns = 4 * N_ROWS * (N_BASIS + N_FEATURES)
    assert peak - columns - POOL < MOST_BYTES_A_ROW * N_ROWS
