"""Training data that is distributed over a cluster, with the methods of `TrainingData`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from distributed import Future
from scipy import sparse

from skauc.data.training import TrainingData
from skauc.engines.cluster import tasks
from skauc.engines.cluster.pool import Pool, add_arrays


@dataclass(frozen=True, eq=False)
class ClusterData:
    """Blocks of rows in the order of the rows. Each block is a future of a `TrainingData`."""

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
        """Return the sum of ``sums(rows, *arguments)`` over the blocks."""
        parts = self.pool.each("data", tasks.apply, self.blocks, function=sums, arguments=arguments)
        return self.pool.fetch(self.pool.total("data", parts, add_arrays))

    def take(self, chosen: Callable) -> TrainingData:
        """Return the rows for which ``chosen`` returns True, in the memory of the client."""
        parts = self.pool.fetch_all(self.pool.each("take", tasks.take, self.blocks, chosen=chosen))
        stack = sparse.vstack if self.is_sparse else np.concatenate
        return TrainingData(
            stack([part.X for part in parts]),
            np.concatenate([part.positive for part in parts]),
            np.concatenate([part.weights for part in parts]),
            self.classes,
            numbering=np.concatenate([part.numbers for part in parts], axis=1),
        )

    def counted(self) -> ClusterData:
        """Return all rows. Folds give rows the weight zero to leave them out."""
        return self

    def transformed(self, transform: Callable) -> ClusterData:
        """Return the same rows with transformed features."""
        parts = self.pool.each("scale", tasks.transform, self.blocks, function=transform)
        return replace(self, blocks=self.pool.start(parts))

    def without(self, chosen: Callable) -> ClusterData:
        """Return the same rows, with weight zero for the rows for which ``chosen`` returns True."""
        parts = self.pool.each("without", tasks.without, self.blocks, chosen=chosen)
        return replace(self, blocks=self.pool.start(parts))
