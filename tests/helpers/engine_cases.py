"""Engines in their modes, behind one set of questions about what is as long as the data."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
from clusters import fetch_states, line_of, put_on

from skauc.data.training import TrainingData
from skauc.engines import Engine, make_engine
from skauc.engines.passes.state import BlockState
from skauc.losses.focus import WHOLE


@dataclass(frozen=True)
class EngineCase:
    """An engine in one mode, and how closely it is to agree with the definitions."""

    exact: bool
    tolerance: float
    stack: ExitStack

    def build(self, toy, *, capacity=12, n_jobs=1, focus=WHOLE) -> Engine:
        """Put a toy problem into an engine that is closed when the test ends."""
        engine = make_engine(self.place(toy), capacity=capacity, n_jobs=n_jobs, focus=focus)
        return self.stack.enter_context(engine)

    def place(self, toy):
        """Put a toy problem where the engine wants its rows."""
        return TrainingData(toy.X, toy.positive, toy.weights, np.array([0, 1]))

    def line(self, toy, values):
        """Return a line with one number a row."""
        return values

    def states(self, state) -> list[BlockState]:
        """Return the state of each block of rows."""
        return [state]

    def scores(self, state) -> np.ndarray:
        """Return the scores of all rows."""
        return np.concatenate([part.scores for part in self.states(state)])

    def values(self, engine, line) -> np.ndarray:
        """Return what a line is in every row."""
        return self.scores(engine.step(None, line, 1.0))


@dataclass(frozen=True)
class GPUCase(EngineCase):
    """The GPU engine, on a device of torch's."""

    device: str

    def place(self, toy):
        return replace(super().place(toy), device=self.device)

    def line(self, toy, values):
        import torch

        return torch.tensor(values, device=self.device)

    def states(self, state) -> list[HostState]:
        return [HostState(state)]


class HostState:
    """What tests ask of a `BlockState`, as NumPy arrays."""

    def __init__(self, state):
        self._state, self.scores = state, state.scores.cpu().numpy()
        self.coarse = replace(state.coarse, cell=state.coarse.cell.cpu().numpy())

    def curvature(self, start, stop):
        return self._state.curvature(start, stop).cpu().numpy()


@dataclass(frozen=True)
class ClusterCase(EngineCase):
    """The cluster engine, with uneven blocks."""

    client: object

    def place(self, toy):
        n_rows = len(toy.positive)
        return put_on(self.client, toy, [0, 1, n_rows // 3, n_rows // 2, n_rows])

    def line(self, toy, values):
        return line_of(toy, values)

    def states(self, state) -> list[BlockState]:
        return fetch_states(state)
