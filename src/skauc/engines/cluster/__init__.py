"""The cluster engine: blocks of rows on dask workers, and reductions of small arrays between them.

Every task is a function of futures and small descriptions. Rows, columns and scores are futures
whose values stay on the worker that made them. If a worker dies, dask computes its values again on
other workers, from the tasks that it remembers. This package leaves the choice of workers to dask.
"""

from skauc.engines.cluster.data import ClusterData
from skauc.engines.cluster.engine import ClusterEngine
from skauc.engines.cluster.prediction import lazily
from skauc.engines.cluster.reading import read_for_cluster

__all__ = ["ClusterData", "ClusterEngine", "lazily", "read_for_cluster"]
