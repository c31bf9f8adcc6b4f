"""Engines: where the rows live and everything as long as the data is computed."""

from __future__ import annotations

import sys

from skauc.data.training import TrainingData, check_training
from skauc.engines.base import CandidateSlopes, Engine, KernelMoments, Line, Quality, State
from skauc.exceptions import InvalidParameterError, MissingPackageError
from skauc.validation import check_choice, is_tensor

ENGINES = ("auto", "cpu", "gpu", "cluster")
# The environment variable that names the device of the GPU engine, here or on a worker.
GPU_VARIABLE = "SKAUC_GPU_DEVICE"

__all__ = [
    "ENGINES",
    "GPU_VARIABLE",
    "CandidateSlopes",
    "Engine",
    "KernelMoments",
    "Line",
    "Quality",
    "State",
    "cluster_engine",
    "gpu_engine",
    "is_on_cluster",
    "is_on_gpu",
    "make_engine",
    "read_training",
]


def read_training(engine: str, estimator, X, y, sample_weight=None):
    """Validate what was passed to ``fit``; rows come out where the engine of that name wants them.

    "auto" leaves them where they are. The modules of an engine are imported here and not before,
    so that a package that only one engine needs is not loaded with the library.
    """
    check_choice("engine", engine, ENGINES)
    if engine == "cluster" or (engine == "auto" and is_on_cluster(X)):
        return cluster_engine().read_training(estimator, X, y, sample_weight)
    is_for_gpu = engine == "gpu" or (engine == "auto" and is_on_gpu(X))
    if is_on_cluster(X):
        raise InvalidParameterError(
            f"engine={engine!r} needs rows in memory; got a dask collection. Use engine='cluster' "
            "or 'auto', or X.compute() if it fits."
        )
    read = gpu_engine().read_training if is_for_gpu else check_training
    return read(estimator, X, y, sample_weight)


def is_on_gpu(X) -> bool:
    """Tell whether this is a tensor on a GPU that torch calls cuda."""
    return is_tensor(X) and X.is_cuda


def is_on_cluster(X) -> bool:
    """Tell whether this is a dask collection, without importing dask for it."""
    dask = sys.modules.get("dask")
    return dask is not None and dask.is_dask_collection(X)


def cluster_engine():
    """Return the package of the cluster engine, or say how to install what it needs."""
    try:
        from skauc.engines import cluster
    except ImportError as error:
        raise MissingPackageError(
            f"engine='cluster' needs dask and distributed, which cannot be imported ({error}). "
            'Install them with pip install "skauc[cluster]", or use engine="cpu".'
        ) from error
    return cluster


def gpu_engine():
    """Return the package of the GPU engine, or say how to install what it needs."""
    try:
        from skauc.engines import gpu
    except ImportError as error:
        raise MissingPackageError(
            f"Work on a GPU needs torch, which cannot be imported ({error}). Install it with "
            'pip install "skauc[gpu]", or work on the CPU.'
        ) from error
    return gpu


def make_engine(data, *, capacity: int, n_jobs, n_whole: int | None = None) -> Engine:
    """Return the engine for rows where they are, with room for ``capacity`` basis functions.

    Few rows get the exact and slower arithmetic; a sample that of the ``n_whole`` rows it is of.
    """
    if not isinstance(data, TrainingData):
        return cluster_engine().ClusterEngine(data, capacity=capacity)
    if data.device is not None:
        return gpu_engine().GPUEngine(data, capacity=capacity, n_whole=n_whole)
    from skauc.engines.cpu import CPUEngine

    return CPUEngine(data, capacity=capacity, n_jobs=n_jobs, n_whole=n_whole)
