"""Toy problems on a cluster: blocks of rows with ends of one's own choice."""

from itertools import pairwise

import numpy as np
from scipy import sparse

from skauc.data.training import TrainingData
from skauc.engines import Line

CLASSES = np.array([0, 1])


def put_on(client, toy, ends, device=None):
    """Blocks with these ends, without the detour over dask collections."""
    from skauc.engines.cluster import ClusterData
    from skauc.engines.cluster.pool import Pool

    pool = Pool(client, device)
    n_counting = np.concatenate(([0], np.cumsum(toy.weights > 0)))
    parts = [
        TrainingData(toy.X[a:b], toy.positive[a:b], toy.weights[a:b], CLASSES, (a, n_counting[a]))
        for a, b in pairwise(ends)
    ]
    blocks = pool.start([pool.value("rows", part) for part in parts])
    is_sparse = sparse.issparse(toy.X)
    return ClusterData(pool, blocks, tuple(np.diff(ends)), toy.X.shape[1], CLASSES, is_sparse)


def fetch_states(state):
    """The state of each block, brought here from the workers."""
    values = state.engine.pool.values
    (shared,) = values([state.shared])
    blocks = zip(values(state.scores), values(state.engine.blocks), strict=True)
    return [scores.state(rows, shared) for scores, rows in blocks]


def line_of(toy, values):
    """A line with one number per row, for workers, who know a row by its features."""
    known = {row.tobytes(): value for row, value in zip(toy.X, values, strict=True)}

    class KnownLine(Line):
        def values(self, block):
            return np.array([known[row.tobytes()] for row in block.X])

    return KnownLine()
