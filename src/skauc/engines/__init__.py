"""Engines hold the rows and compute everything of the length of the data.

| module     | what it holds                                                      |
| ---------- | ------------------------------------------------------------------ |
| `base`     | `Engine`, the contract                                             |
| `single`   | the engine of one block, on the CPU or a GPU                       |
| `cluster/` | the engine of many blocks, on the workers of a dask cluster        |
| `blocks/`  | a block of rows with its columns, on the CPU or a GPU              |
| `passes/`  | sums over rows: one file per formula, a version per kind of block  |
| `policy`   | sizes at which the arithmetic changes                              |
"""

from __future__ import annotations

import sys

from skauc.data.training import TrainingData, check_training
from skauc.engines.base import Chosen, Engine, State
from skauc.engines.blocks.base import KernelColumn, Line, LinearColumns, OrthonormalColumns, Product
from skauc.engines.few_rows import FewRows
from skauc.engines.passes import Quality
from skauc.engines.policy import SizePolicy, current_policy, size_policy
from skauc.engines.single import open_cpu, open_gpu
from skauc.exceptions import InvalidParameterError, MissingPackageError
from skauc.losses.focus import WHOLE, Focus
from skauc.validation import check_choice, is_tensor

ENGINES = ("auto", "cpu", "gpu", "cluster")
# The environment variable that names the device of the GPU engine, also on a worker.
GPU_VARIABLE = "SKAUC_GPU_DEVICE"

__all__ = [
    "ENGINES",
    "GPU_VARIABLE",
    "Chosen",
    "Engine",
    "FewRows",
    "KernelColumn",
    "Line",
    "LinearColumns",
    "OrthonormalColumns",
    "Product",
    "Quality",
    "SizePolicy",
    "State",
    "cluster_engine",
    "current_policy",
    "gpu_engine",
    "is_on_cluster",
    "is_on_gpu",
    "make_engine",
    "read_training",
    "size_policy",
]


def read_training(engine: str, estimator, X, y, sample_weight=None):
    """Validate what was passed to ``fit`` and put the rows where the named engine needs them.

    "auto" leaves them where they are. The modules of an engine are imported when they are used, so
    that a package that only one engine needs is not loaded with the library.
    """
    check_choice("engine", engine, ENGINES)
    if engine == "cluster" or (engine == "auto" and is_on_cluster(X)):
        return cluster_engine().read_for_cluster(estimator, X, y, sample_weight)
    is_for_gpu = engine == "gpu" or (engine == "auto" and is_on_gpu(X))
    if is_on_cluster(X):
        raise InvalidParameterError(
            f"engine={engine!r} needs rows in memory; got a dask collection. Use engine='cluster' "
            "or 'auto', or X.compute() if it fits."
        )
    read = gpu_engine().read_for_gpu if is_for_gpu else check_training
    return read(estimator, X, y, sample_weight)


def is_on_gpu(X) -> bool:
    """Return whether X is a tensor on a CUDA device."""
    return is_tensor(X) and X.is_cuda


def is_on_cluster(X) -> bool:
    """Return whether X is a dask collection, without importing dask."""
    dask = sys.modules.get("dask")
    return dask is not None and dask.is_dask_collection(X)


def cluster_engine():
    """Return the package of the cluster engine; raise an error if dask is not installed."""
    try:
        from skauc.engines import cluster
    except ImportError as error:
        raise MissingPackageError(
            f"engine='cluster' needs dask and distributed, which cannot be imported ({error}). "
            'Install them with pip install "skauc[cluster]", or use engine="cpu".'
        ) from error
    return cluster


def gpu_engine():
    """Return the package of the GPU engine; raise an error if torch is not installed."""
    try:
        from skauc.engines import gpu
    except ImportError as error:
        raise MissingPackageError(
            f"Work on a GPU needs torch, which cannot be imported ({error}). Install it with "
            'pip install "skauc[gpu]", or work on the CPU.'
        ) from error
    return gpu


def make_engine(
    data, *, capacity: int, n_jobs, policy: SizePolicy | None = None, focus: Focus = WHOLE
) -> Engine:
    """Return the engine for rows where they are, with room for ``capacity`` columns.

    Parameters
    ----------
    data : TrainingData or ClusterData
        The rows.
    capacity : int
        The largest number of columns.
    n_jobs : int or None
        Threads of an engine on the CPU.
    policy : SizePolicy, default=None
        Sizes at which the arithmetic changes. None for the current policy.
    focus : Focus, default=WHOLE
        The part of the pairs that counts.
    """
    policy = current_policy() if policy is None else policy
    if not isinstance(data, TrainingData):
        return cluster_engine().ClusterEngine(data, capacity=capacity, policy=policy, focus=focus)
    if data.device is not None:
        gpu_engine()
        return open_gpu(data, capacity=capacity, policy=policy, focus=focus)
    return open_cpu(data, capacity=capacity, n_jobs=n_jobs, policy=policy, focus=focus)
