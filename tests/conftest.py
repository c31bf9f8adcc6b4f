"""Fixtures: every engine in each of its modes, and the paper's data."""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from skauc.engines import Engine, make_engine
from skauc.validation import TrainingData

BESIDE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def data_folder(monkeypatch):
    """Point SKAUC_DATA at the paper's data and return the folder, or skip."""
    if "SKAUC_DATA" not in os.environ:
        if not BESIDE_REPOSITORY.is_dir():
            pytest.skip(f"no data: SKAUC_DATA is not set and {BESIDE_REPOSITORY} does not exist")
        monkeypatch.setenv("SKAUC_DATA", str(BESIDE_REPOSITORY))
    return Path(os.environ["SKAUC_DATA"])


@dataclass(frozen=True)
class EngineCase:
    """An engine in one mode, and how closely it is to agree with the definitions."""

    name: str
    exact: bool
    tolerance: float
    stack: ExitStack

    def build(self, toy, *, capacity=12, n_jobs=1) -> Engine:
        """Put a toy problem into an engine that is closed when the test ends."""
        data = TrainingData(toy.X, toy.positive, toy.weights, np.array([0, 1]))
        engine = make_engine(data, capacity=capacity, n_jobs=n_jobs)
        return self.stack.enter_context(engine)


@pytest.fixture(params=["cpu-exact", "cpu-large"])
def engine_case(request, monkeypatch):
    """Force the mode that the number of rows would choose."""
    name, mode = request.param.split("-")
    exact = mode == "exact"
    monkeypatch.setattr("skauc.engines.block.EXACT_ROWS", 10**9 if exact else 0)
    with ExitStack() as stack:
        yield EngineCase(name, exact, 1e-10 if exact else 2e-5, stack)
