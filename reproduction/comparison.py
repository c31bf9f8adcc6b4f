"""Tables II and III: methods on folds, with parameters chosen in two ways.

"Best of the grid" is the paper's protocol: the setting with the best mean AUC on the reported
folds. It is optimistic. "Nested" chooses the setting of each fold by inner folds of its training
part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import islice, product

import numpy as np

from reproduction.catalogue import CATALOGUE
from reproduction.data_sets import load_dataset
from reproduction.methods import Method, Outcome, Stage, make_methods
from reproduction.protocol import (
    MANY_ROWS,
    SOME_ROWS,
    Protocol,
    inner_parts,
    part_of,
    split_numbers,
)
from reproduction.runner import Key, Task

_DIGITS = 5
# Means closer than this are ties. The smaller model wins.
_TIE_DIGITS = 4

# A setting: parameters as JSON and the number of a stage.
Point = tuple[str, int]
_load = cache(load_dataset)


@dataclass(frozen=True)
class Choice:
    """A setting and its result on one fold."""

    parameters: dict
    stage: int
    auc: float
    n_basis: int | None


@dataclass(frozen=True)
class Summary:
    """Results of one method on one data set, by fold.

    A nested choice is None if its inner folds are not finished or not requested.
    """

    data: str
    method: str
    folds: tuple[tuple[int, int], ...]
    best: tuple[Choice, ...]
    nested: tuple[Choice | None, ...]
    cpu_seconds: tuple[float, ...]


def comparison_settings(experiment: str, protocol: Protocol) -> dict:
    """Return everything that the results depend on."""
    tiers = {
        f"up to {SOME_ROWS} rows": 0,
        f"up to {MANY_ROWS} rows": SOME_ROWS + 1,
        "more rows": MANY_ROWS + 1,
    }
    return {
        "experiment": experiment,
        "protocol": protocol.as_dict(),
        "grids": {
            tier: {name: m.grid() for name, m in make_methods(protocol, n_rows).items()}
            for tier, n_rows in tiers.items()
        },
        "data": {name: info.checksum for name, info in CATALOGUE.items()},
    }


def methods_for(name: str, protocol: Protocol) -> dict[str, Method]:
    """Return the methods with their grids for a data set."""
    return make_methods(protocol, CATALOGUE[name].n_train)


def comparison_tasks(
    datasets: Sequence[str], methods: Sequence[str], n_runs: int, protocol: Protocol
) -> list[Task]:
    """Return one task per slice of a grid, fold and inner fold, ordered by run.

    The largest data sets come first in each run, so that no long task remains at the end.
    """
    tasks = []
    for name in datasets:
        known = methods_for(name, protocol)
        for run, fold in split_numbers(CATALOGUE[name].n_test > 0, n_runs):
            for key in _keys(name, methods, known, run, fold, protocol):
                work = partial(evaluate_slice, *key, protocol)
                tasks.append((run, -CATALOGUE[name].n_train, Task(key, work)))
    tasks.sort(key=lambda entry: entry[:2])
    return [task for *_, task in tasks]


def _keys(name, methods, known: dict[str, Method], run, fold, protocol: Protocol) -> Iterator[Key]:
    parts = range(1 + protocol.n_inner(CATALOGUE[name].n_train, run))
    for method in methods:
        for part, number in product(parts, range(len(known[method].slices()))):
            yield name, method, run, fold, part, number


def evaluate_slice(
    name: str, method: str, run: int, fold: int, inner: int, number: int, protocol: Protocol
) -> list[dict]:
    """Return the results of a slice of the grid on a fold (0) or on one of its inner folds.

    A fold gives one line per setting. An inner fold gives one line in all.
    """
    learner = methods_for(name, protocol)[method].slices()[number]
    part = part_of(_load(name), run, fold, protocol)
    if inner > 0:
        part = next(islice(inner_parts(part, protocol), inner - 1, None))
    seed = protocol.seed + 1000 * run + fold
    outcomes = [
        {
            "parameters": outcome.parameters,
            "stages": [[s.number, round(s.auc, _DIGITS), s.n_basis] for s in outcome.stages],
        }
        for outcome in learner.outcomes(part, seed)
    ]
    if inner > 0:
        return [{"seed": seed, "outcomes": outcomes}]
    return [{"seed": seed, **outcome} for outcome in outcomes]


def _outcomes(lines: Iterable[dict]) -> list[Outcome]:
    """Return the fields of the lines of a task."""
    found = (outcome for line in lines for outcome in line.get("outcomes", [line]))
    return [
        Outcome(each["parameters"], tuple(Stage(*stage) for stage in each["stages"]))
        for each in found
    ]


def choose(inner: Sequence[Iterable[Outcome]], outer: Iterable[Outcome]) -> Choice:
    """Return the result of the inner folds' best setting on the outer fold.

    A path may be shorter on the outer fold than on the inner folds. Its last stage up to the
    chosen one is then used.
    """
    tables = [
        {(_named(o.parameters), s.number): s.auc for o in outcomes for s in o.stages}
        for outcomes in inner
    ]
    name, number = best_point(tables)
    outcome = next(o for o in outer if _named(o.parameters) == name)
    earlier = [s for s in outcome.stages if s.number <= number]
    stage = earlier[-1] if earlier else outcome.stages[0]
    return Choice(outcome.parameters, stage.number, stage.auc, stage.n_basis)


def best_point(tables: Sequence[dict[Point, float]]) -> Point:
    """Return the setting with the best mean among those present in all tables."""
    common = set(tables[0]).intersection(*tables[1:])

    def merit(point: Point):
        mean = float(np.mean([table[point] for table in tables]))
        # Ties go to the earlier stage, then to the first name.
        return -round(mean, _TIE_DIGITS), point[1], -mean, point[0]

    return min(common, key=merit)


def summarise(
    finished: dict[Key, list[dict]], datasets, methods, n_runs: int, protocol: Protocol
) -> list[Summary]:
    """Return the summaries of finished tasks in the requested order."""
    summaries = []
    for name, method in product(datasets, methods):
        if folds := gather(finished, name, method, n_runs, protocol):
            summaries.append(_summary(name, method, folds))
    return summaries


def gather(
    finished: dict[Key, list[dict]], name: str, method: str, n_runs: int, protocol: Protocol
) -> dict[tuple[int, int], FoldResult]:
    """Return the finished folds by run and number."""
    n_slices = len(methods_for(name, protocol)[method].slices())
    n_rows = CATALOGUE[name].n_train
    folds = {
        (run, fold): FoldResult.of(
            finished, (name, method, run, fold), protocol.n_inner(n_rows, run), n_slices
        )
        for run, fold in split_numbers(CATALOGUE[name].n_test > 0, n_runs)
    }
    return {number: result for number, result in folds.items() if result.outer}


@dataclass(frozen=True)
class FoldResult:
    """Results on a fold and its inner folds; empty until all are finished."""

    outer: list[Outcome]
    inner: list[list[Outcome]]
    cpu_seconds: float

    def table(self) -> dict[Point, Stage]:
        """Return the result of every setting on the fold."""
        return {(_named(o.parameters), s.number): s for o in self.outer for s in o.stages}

    @classmethod
    def of(cls, finished: dict, key: Key, n_inner: int, n_slices: int) -> FoldResult:
        """Collect the slices."""
        seconds = 0.0
        parts = []
        for part in range(1 + n_inner):
            slices = [finished.get((*key, part, number)) for number in range(n_slices)]
            ended = [lines for lines in slices if lines is not None]
            seconds += sum(lines[-1]["cpu_seconds"] for lines in ended)
            parts.append([o for lines in ended for o in _outcomes(lines)] * (None not in slices))
        outer, *inner = parts
        return cls(outer, inner if all(inner) else [], round(seconds, 3))


def _summary(name: str, method: str, folds: dict[tuple[int, int], FoldResult]) -> Summary:
    tables = [fold.table() for fold in folds.values()]
    point = best_point([{p: stage.auc for p, stage in table.items()} for table in tables])
    parameters = json.loads(point[0])
    stages = [table[point] for table in tables]
    return Summary(
        name,
        method,
        tuple(folds),
        tuple(Choice(parameters, point[1], stage.auc, stage.n_basis) for stage in stages),
        tuple(choose(f.inner, f.outer) if f.inner else None for f in folds.values()),
        tuple(f.cpu_seconds for f in folds.values()),
    )


def compact_lines(summaries: Iterable[Summary]) -> list[dict]:
    """Return one line per fold with the two chosen settings."""
    return [
        {
            "data": summary.data,
            "method": summary.method,
            "run": run,
            "fold": fold,
            "best": asdict(best),
            "nested": None if nested is None else asdict(nested),
            "cpu_seconds": seconds,
        }
        for summary in summaries
        for (run, fold), best, nested, seconds in zip(
            summary.folds, summary.best, summary.nested, summary.cpu_seconds, strict=True
        )
    ]


def _named(parameters: dict) -> str:
    return json.dumps(parameters, sort_keys=True)
