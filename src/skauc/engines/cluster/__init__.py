"""The cluster engine: blocks of rows on dask workers, and reductions of small arrays between them.

Every task is a function of futures and small descriptions. Rows, columns and scores are futures
whose values stay on the worker that made them; what a worker takes along when it dies, dask makes
again on another from the tasks it remembers. Nothing here but dask knows of workers.
"""

from skauc.engines.cluster.data import ClusterData
from skauc.engines.cluster.engine import ClusterEngine
from skauc.engines.cluster.prediction import lazily
from skauc.engines.cluster.reading import read_for_cluster

__all__ = ["ClusterData", "ClusterEngine", "lazily", "read_for_cluster"]
