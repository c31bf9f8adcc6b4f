"""Goals of Tables II and III: the paper's batch AUC with a quarter of its centres.

The goal of a row is the better of the paper's two batch columns. Our value is the best of the
sparse methods and their grids, sizes included, on the reported folds: the paper's protocol.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from reproduction import printed
from reproduction.comparison import FoldResult, gather
from reproduction.protocol import Protocol
from reproduction.tables import ROUNDING, Table, fold_count, has_whole_runs

SPARSE_METHODS = (
    "SparseKernelAUC",
    "SparseKernelAUC-orthogonal",
    "SparseKernelAUC-refined",
    "SparseKernelAUC-steps",
)
SHARE = 4
# Results of a method, by run and fold.
Folds = dict[tuple[int, int], FoldResult]


@dataclass(frozen=True)
class Model:
    """A setting of a sparse method: mean AUC and largest number of centres over all folds."""

    method: str
    parameters: dict
    auc: float
    n_basis: int
    folds: tuple[tuple[int, int], ...]

    @property
    def size(self) -> str:
        """The number of centres, marked if there is a linear term."""
        return f"{self.n_basis}{' *' * bool(self.parameters.get('linear_term'))}"


@dataclass(frozen=True)
class Goal:
    """A row: the printed values, our best small model, and our smallest model that meets the goal.

    A small model has at most a quarter of the paper's centres. ``best`` is None if there is none.
    ``smallest`` is None if no small model reaches the AUC.
    """

    data: str
    sparse: printed.Cell
    full: printed.Cell
    best: Model | None
    smallest: Model | None

    @property
    def auc(self) -> float:
        """The better of the paper's two batch columns."""
        return max(float(self.sparse.auc), float(self.full.auc))

    @property
    def most_basis(self) -> int:
        """A quarter of the centres of the paper's sparse model."""
        return int(self.sparse.n_basis) // SHARE

    @property
    def is_met(self) -> bool:
        """Whether a model within a quarter reaches the AUC, to the printed digits."""
        return self.smallest is not None

    @property
    def share(self) -> float | None:
        """Our size over the paper's: of the smallest sufficient model, or else of the best."""
        model = self.smallest or self.best
        return None if model is None else model.n_basis / int(self.sparse.n_basis)


def find_goals(
    finished: dict, cells: dict, datasets: Sequence[str], n_runs: int, protocol: Protocol
) -> list[Goal]:
    """Return the rows of data sets with a finished fold of a sparse method."""
    goals = []
    for name in datasets:
        ended = {
            method: folds
            for method in SPARSE_METHODS
            if (folds := gather(finished, name, method, n_runs, protocol))
        }
        models = [m for found in on_shared_runs(name, ended).items() for m in models_of(*found)]
        if models:
            goals.append(make_goal(name, cells[name], models))
    return goals


def on_shared_runs(name: str, ended: dict[str, Folds]) -> dict[str, Folds]:
    """Return the folds of complete runs shared by all methods, or all folds if there are none."""
    if not ended:
        return {}
    shared = sorted(set.intersection(*map(set, ended.values())))
    runs = [[number for number in shared if number[0] == run] for run in {run for run, _ in shared}]
    whole = {number for run in runs if has_whole_runs(name, run) for number in run}
    if not whole:
        return ended
    return {
        method: {number: folds[number] for number in sorted(whole)}
        for method, folds in ended.items()
    }


def models_of(method: str, folds: Folds) -> Iterable[Model]:
    """Yield the settings present in all folds."""
    tables = [fold.table() for fold in folds.values()]
    for point in sorted(set(tables[0]).intersection(*tables[1:])):
        stages = [table[point] for table in tables]
        mean = float(np.mean([stage.auc for stage in stages]))
        n_basis = max(stage.n_basis for stage in stages)
        yield Model(method, json.loads(point[0]), round(mean, 5), n_basis, tuple(folds))


def make_goal(name: str, cells: dict[str, printed.Cell], models: Iterable[Model]) -> Goal:
    """Choose among the models of a data set that have the most folds."""
    models = list(models)
    n_folds = max(len(model.folds) for model in models)
    goal = Goal(name, cells[printed.SPARSE], cells[printed.RANK_SVM], None, None)
    small = [m for m in models if len(m.folds) == n_folds and m.n_basis <= goal.most_basis]
    enough = [model for model in small if model.auc >= goal.auc - ROUNDING]
    best = min(small, key=lambda m: (-m.auc, m.n_basis), default=None)
    smallest = min(enough, key=lambda m: (m.n_basis, -m.auc), default=None)
    return Goal(name, goal.sparse, goal.full, best, smallest)


GOAL_HEADER = (
    *("data", "printed, sparse", "printed, full", "goal AUC", "with at most", "our best"),
    *("centres", "method", "met", "smallest that meets it"),
    *("share of the paper's centres", "folds"),
)


def goal_table(title: str, goals: Sequence[Goal], notes: Sequence[str] = ()) -> Table:
    """Return the table of goals, with the number met and the median share below."""
    shares = [goal.share for goal in goals if goal.share is not None]
    n_met = sum(goal.is_met for goal in goals)
    summary = [f"{n_met} of {len(goals)} rows are met."]
    if shares:
        summary.append(
            f"Median over {len(shares)} rows of our size over the paper's: {np.median(shares):.3f} "
            "(the smallest model that meets the goal, or else the best one)."
        )
    rows = tuple(_row(goal) for goal in goals)
    return Table(title, GOAL_HEADER, rows, (*summary, *GOAL_NOTES, *notes))


GOAL_NOTES = (
    "goal AUC: the better of the paper's two batch columns; with at most: a quarter of the paper's "
    "sparse basis.",
    "our best: of " + ", ".join(SPARSE_METHODS) + " and their grids, sizes included, on the "
    "reported folds, which is the paper's protocol and optimistic; folds: the runs that all of "
    "these methods have.",
    "met: to the three printed digits.",
    "* with a linear term: one weight per feature, not counted as centres.",
)


def _row(goal: Goal) -> tuple[str, ...]:
    best, smallest = goal.best, goal.smallest
    return (
        goal.data,
        str(goal.sparse),
        str(goal.full),
        f"{goal.auc:.3f}",
        str(goal.most_basis),
        "-" if best is None else f"{best.auc:.4f}",
        "-" if best is None else best.size,
        "-" if best is None else best.method,
        "yes" if goal.is_met else "no",
        "-" if smallest is None else f"{smallest.size} ({smallest.auc:.4f})",
        "-" if goal.share is None else f"{goal.share:.3f}",
        "-" if best is None else fold_count(goal.data, best.folds),
    )


def goal_lines(goals: Iterable[Goal]) -> list[dict]:
    """Return one line per row."""
    return [
        {
            "data": goal.data,
            "goal": {"auc": goal.auc, "most_basis": goal.most_basis, "is_met": goal.is_met},
            "best": None if goal.best is None else asdict(goal.best),
            "smallest": None if goal.smallest is None else asdict(goal.smallest),
        }
        for goal in goals
    ]
