"""Engines: where the rows live and everything as long as the data is computed."""

from __future__ import annotations

from skauc.engines.base import KERNEL_OVERFLOW, CandidateSlopes, Engine, KernelMoments, Line, State
from skauc.validation import TrainingData, check_choice

ENGINES = ("auto", "cpu")

__all__ = [
    "ENGINES",
    "KERNEL_OVERFLOW",
    "CandidateSlopes",
    "Engine",
    "KernelMoments",
    "Line",
    "State",
    "make_engine",
]


def make_engine(
    engine: str, data: TrainingData, *, capacity: int, n_jobs, n_whole: int | None = None
) -> Engine:
    """Put the rows into the engine of that name, with room for ``capacity`` basis functions.

    Few rows get the exact and slower arithmetic; a sample that of the ``n_whole`` rows it is of.

    The module of an engine is imported here and not before, so that a package that only one
    engine needs is not loaded with the library.
    """
    check_choice("engine", engine, ENGINES)
    from skauc.engines.cpu import CPUEngine

    return CPUEngine(data, capacity=capacity, n_jobs=n_jobs, n_whole=n_whole)
