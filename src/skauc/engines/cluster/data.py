"""Training data on a cluster: the same questions as of `TrainingData`, answered by blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from distributed import Future
from scipy import sparse

from skauc.data.training import TrainingData
from skauc.engines.cluster import passes
from skauc.engines.cluster.pool import Pool, add_arrays


@dataclass(frozen=True, eq=False)
class ClusterData:
    """Blocks of rows, each the future of a `TrainingData`, in the order of the rows."""

    pool: Pool
    blocks: Sequence[Future]
    block_rows: tuple[int, ...]
    n_features: int
    classes: np.ndarray
    is_sparse: bool = False

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.block_rows)

    def add_up(self, sums: Callable, *arguments):
        """Return ``sums(rows, *arguments)``, added up over the blocks."""
        parts = self.pool.each(
            "data", passes.apply, self.blocks, function=sums, arguments=arguments
        )
        return self.pool.fetch(self.pool.total("data", parts, add_arrays))

    def take(self, chosen: Callable) -> TrainingData:
        """Return the rows for which ``chosen`` returns True, here."""
        parts = self.pool.fetch_all(self.pool.each("take", passes.take, self.blocks, chosen=chosen))
        stack = sparse.vstack if self.is_sparse else np.concatenate
        return TrainingData(
            stack([part.X for part in parts]),
            np.concatenate([part.positive for part in parts]),
            np.concatenate([part.weights for part in parts]),
            self.classes,
            numbering=np.concatenate([part.numbers for part in parts], axis=1),
        )

    def transformed(self, transform: Callable) -> ClusterData:
        """Return the same rows with other features."""
        tasks = self.pool.each("scale", passes.transform, self.blocks, function=transform)
        return replace(self, blocks=self.pool.start(tasks))

    def without(self, chosen: Callable) -> ClusterData:
        """Return the same rows, of which those that are chosen count nothing."""
        tasks = self.pool.each("without", passes.without, self.blocks, chosen=chosen)
        return replace(self, blocks=self.pool.start(tasks))
