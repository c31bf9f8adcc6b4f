"""Tables II and III: methods on folds, their parameters chosen in two ways.

"Best of the grid" is the paper's way: the setting with the best mean AUC on the very folds that
are reported, which is optimistic. "Nested" chooses a setting for each fold by inner folds of its
training part alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial

import numpy as np

from skauc.datasets import CATALOGUE, load_dataset
from skauc.experiments.methods import Outcome, make_methods
from skauc.experiments.protocol import Protocol, inner_parts, part_of, split_numbers
from skauc.experiments.runner import Key, Task

_DIGITS = 5
# Means closer than this are ties, and go to the earlier stage: the smaller model.
_TIE_DIGITS = 4

# A setting: its parameters as JSON, and the number of a stage.
Point = tuple[str, int]
_load = cache(load_dataset)


@dataclass(frozen=True)
class Choice:
    """A setting, and what it came to on one fold."""

    parameters: dict
    stage: int
    auc: float
    n_basis: int | None


@dataclass(frozen=True)
class Summary:
    """One method on one data set: the best setting of the grid, and nested choices, by fold."""

    data: str
    method: str
    folds: tuple[tuple[int, int], ...]
    best: tuple[Choice, ...]
    nested: tuple[Choice, ...]
    cpu_seconds: tuple[float, ...]


def comparison_settings(experiment: str, protocol: Protocol) -> dict:
    """Return what the results depend on."""
    grids = {name: method.grid() for name, method in make_methods(protocol).items()}
    return {
        "experiment": experiment,
        "protocol": protocol.as_dict(),
        "grids": grids,
        "data": {name: info.checksum for name, info in CATALOGUE.items()},
    }


def comparison_tasks(
    datasets: Sequence[str], methods: Sequence[str], n_runs: int, protocol: Protocol
) -> list[Task]:
    """Return a task for every fold: all data sets with the first fold, then the next."""
    tasks = []
    for order, name in enumerate(datasets):
        numbers = split_numbers(CATALOGUE[name].n_test > 0, n_runs)
        for (run, fold), method in ((n, m) for n in numbers for m in methods):
            work = partial(evaluate_fold, name, method, run, fold, protocol)
            tasks.append((run, fold, order, Task((name, method, run, fold), work)))
    tasks.sort(key=lambda entry: entry[:3])
    return [task for *_, task in tasks]


def evaluate_fold(name: str, method: str, run: int, fold: int, protocol: Protocol) -> list[dict]:
    """Return a line for every setting on one fold, and the choice of the inner folds last."""
    learner = make_methods(protocol)[method]
    part = part_of(_load(name), run, fold, protocol)
    seed = protocol.seed + 1000 * run + fold
    outcomes = list(learner.outcomes(part, seed))
    inner = [list(learner.outcomes(p, seed)) for p in inner_parts(part, protocol)]
    choice = choose(inner, outcomes)
    lines = [
        {
            "seed": seed,
            "parameters": outcome.parameters,
            "stages": [[s.number, round(s.auc, _DIGITS), s.n_basis] for s in outcome.stages],
        }
        for outcome in outcomes
    ]
    return [*lines, {"seed": seed, "nested": asdict(choice)}]


def choose(inner: Sequence[Iterable[Outcome]], outer: Iterable[Outcome]) -> Choice:
    """Return what the inner folds' best setting came to on the outer fold.

    A walk may have ended earlier on the outer fold than on the inner ones: its last stage up to
    the chosen one is then taken.
    """
    tables = [
        {(_named(o.parameters), s.number): s.auc for o in outcomes for s in o.stages}
        for outcomes in inner
    ]
    name, number = best_point(tables)
    outcome = next(o for o in outer if _named(o.parameters) == name)
    earlier = [s for s in outcome.stages if s.number <= number]
    stage = earlier[-1] if earlier else outcome.stages[0]
    return Choice(outcome.parameters, stage.number, round(stage.auc, _DIGITS), stage.n_basis)


def best_point(tables: Sequence[dict[Point, float]]) -> Point:
    """Return the setting with the best mean of those that all tables have."""
    common = set(tables[0]).intersection(*tables[1:])

    def merit(point: Point):
        mean = float(np.mean([table[point] for table in tables]))
        # Of equals the earlier stage; the name makes the order a total one.
        return -round(mean, _TIE_DIGITS), point[1], -mean, point[0]

    return min(common, key=merit)


def summarise(finished: dict[Key, list[dict]], datasets, methods, n_runs: int) -> list[Summary]:
    """Return the summaries of what has ended so far, in the order asked for."""
    summaries = []
    for name in datasets:
        numbers = split_numbers(CATALOGUE[name].n_test > 0, n_runs)
        for method in methods:
            done = [n for n in numbers if (name, method, *n) in finished]
            if done:
                lines = [finished[name, method, *numbers] for numbers in done]
                summaries.append(_summary(name, method, done, lines))
    return summaries


def _summary(name: str, method: str, folds: list, lines: list[list[dict]]) -> Summary:
    tables = [
        {
            (_named(line["parameters"]), number): (score, n_basis)
            for line in of_fold[:-1]
            for number, score, n_basis in line["stages"]
        }
        for of_fold in lines
    ]
    point = best_point([{p: value[0] for p, value in table.items()} for table in tables])
    parameters = json.loads(point[0])
    return Summary(
        name,
        method,
        tuple(folds),
        tuple(Choice(parameters, point[1], *table[point]) for table in tables),
        tuple(Choice(**of_fold[-1]["nested"]) for of_fold in lines),
        tuple(of_fold[-1]["cpu_seconds"] for of_fold in lines),
    )


def compact_lines(summaries: Iterable[Summary]) -> list[dict]:
    """Return a line for every fold, with the two choices alone."""
    return [
        {
            "data": summary.data,
            "method": summary.method,
            "run": run,
            "fold": fold,
            "best": asdict(best),
            "nested": asdict(nested),
            "cpu_seconds": seconds,
        }
        for summary in summaries
        for (run, fold), best, nested, seconds in zip(
            summary.folds, summary.best, summary.nested, summary.cpu_seconds, strict=True
        )
    ]


def _named(parameters: dict) -> str:
    return json.dumps(parameters, sort_keys=True)
