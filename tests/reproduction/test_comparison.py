"""Choices: the best of the grid, and those of inner folds."""

from dataclasses import replace

import pytest

from reproduction.comparison import (
    best_point,
    choose,
    compact_lines,
    comparison_settings,
    comparison_tasks,
    methods_for,
    summarise,
)
from reproduction.methods import Outcome, Stage
from reproduction.protocol import FULL, QUICK


def outcome(C, *stages):
    return Outcome({"C": C}, tuple(Stage(size, score, size) for size, score in stages))


def test_the_best_mean_wins_and_of_equals_the_smaller():
    tables = [
        {("a", 4): 0.80, ("a", 8): 0.90, ("b", 4): 0.90, ("c", 4): 1.0},
        {("a", 4): 0.80, ("a", 8): 0.92, ("b", 4): 0.92001},
    ]
    assert best_point(tables) == ("b", 4)
    assert best_point(tables[:1]) == ("c", 4)


def test_inner_folds_choose_and_the_outer_fold_scores():
    outer = [outcome(1.0, (4, 0.6), (8, 0.7)), outcome(10.0, (4, 0.99), (8, 0.98))]
    inner = [[outcome(1.0, (4, 0.8), (8, 0.9)), outcome(10.0, (4, 0.7), (8, 0.7))]] * 2
    choice = choose(inner, outer)
    assert (choice.parameters, choice.stage, choice.auc, choice.n_basis) == ({"C": 1.0}, 8, 0.7, 8)


@pytest.mark.parametrize(("sizes", "taken"), [((4, 6), 6), ((16, 32), 16)])
def test_a_walk_that_ended_elsewhere_on_the_outer_fold(sizes, taken):
    inner = [[outcome(1.0, (4, 0.8), (8, 0.9))]]
    assert choose(inner, [outcome(1.0, *((size, 0.5) for size in sizes))]).stage == taken


def lines(aucs, n_inner):
    """Return the lines of a fold and of inner folds, by number."""
    outcomes = [{"parameters": {"C": C}, "stages": [[4, a, 4]]} for C, a in aucs.items()]
    inner = [{"outcomes": outcomes, "cpu_seconds": 2.0}]
    return [[*outcomes[:-1], {**outcomes[-1], "cpu_seconds": 1.0}], *[inner] * n_inner]


def finished_tasks(of_folds, n_slices):
    """Give every slice but the first a setting that is worse."""
    finished = {}
    for key, parts in of_folds.items():
        for part, found in enumerate(parts):
            finished[(*key, part, 0)] = found
            for number in range(1, n_slices):
                worse = {"parameters": {"C": -number}, "stages": [[4, 0.1, 4]], "cpu_seconds": 1.0}
                finished[(*key, part, number)] = [worse]
    return finished


N_SLICES = len(methods_for("sonar", FULL)["SVC"].slices())


def test_summaries_of_what_has_ended():
    finished = finished_tasks(
        {
            ("sonar", "SVC", 0, 0): lines({1.0: 0.7, 2.0: 0.9}, 3),
            ("sonar", "SVC", 0, 3): lines({1.0: 0.8, 2.0: 0.7}, 2),
            ("segment", "SVC", 0, 0): lines({1.0: 0.9}, 3),
        },
        N_SLICES,
    )
    # A fold of which one slice has not ended does not count.
    cut = finished_tasks({("sonar", "SVC", 1, 0): lines({1.0: 0.9}, 3)}, N_SLICES - 1)
    sonar, segment = summarise(
        finished | cut, ["sonar", "glass", "segment"], ["OILK", "SVC"], 4, FULL
    )
    assert sonar.folds == ((0, 0), (0, 3))
    assert [choice.auc for choice in sonar.best] == [0.9, 0.7]
    assert {choice.parameters["C"] for choice in sonar.best} == {2.0}
    assert sonar.nested[0].auc == 0.9
    assert sonar.nested[1] is None
    assert sonar.cpu_seconds[0] == 1.0 + 3 * 2.0 + 4 * (N_SLICES - 1)
    assert segment.folds == ((0, 0),)
    compact = compact_lines([sonar])
    assert [line["fold"] for line in compact] == [0, 3]
    assert compact[1]["best"] == {"parameters": {"C": 2.0}, "stage": 4, "auc": 0.7, "n_basis": 4}
    assert compact[1]["nested"] is None


def test_tasks_go_run_by_run_and_large_sets_come_first():
    tasks = comparison_tasks(["glass", "segment", "sonar"], ["SVC"], 2, FULL)
    keys = [task.key for task in tasks]
    assert len(set(keys)) == len(keys) == (2 * 5 * 2 + 1) * 4 * N_SLICES
    assert [key[2] for key in keys] == sorted(key[2] for key in keys)
    in_order = list(dict.fromkeys((key[2], key[0]) for key in keys))
    assert in_order == [(0, "glass"), (0, "segment"), (0, "sonar"), (1, "glass"), (1, "sonar")]


def test_nested_choices_in_the_first_runs_alone():
    asked = ["sonar"], ["SVC"], 2
    parts = {
        nested_runs: {task.key[2:5] for task in comparison_tasks(*asked, protocol)}
        for nested_runs in (0, 1, 2, None)
        for protocol in [replace(FULL, nested_runs=nested_runs)]
    }
    outer = {(run, fold, 0) for run in range(2) for fold in range(5)}
    inner = {(0, fold, part) for fold in range(5) for part in (1, 2, 3)}
    assert parts[0] == outer
    assert parts[1] == outer | inner
    assert parts[2] == parts[None] > parts[1]
    ends = lines({1.0: 0.7, 2.0: 0.9}, 3)
    finished = finished_tasks({("sonar", "SVC", run, 0): ends for run in range(2)}, N_SLICES)
    for nested_runs, n_nested in ((0, 0), (1, 1), (None, 2)):
        (found,) = summarise(finished, *asked, replace(FULL, nested_runs=nested_runs))
        assert found.folds == ((0, 0), (1, 0))
        assert sum(choice is not None for choice in found.nested) == n_nested


def test_sets_of_many_rows_have_coarser_grids():
    grids = comparison_settings("table2", FULL)["grids"]
    assert list(grids) == ["up to 1500 rows", "up to 10000 rows", "more rows"]
    n_sigmas = {
        method: [len(grid[method]["sigmas"]) for grid in grids.values()]
        for method in ("SparseKernelAUC", "KernelRankSVM", "SVC")
    }
    assert n_sigmas == {
        "SparseKernelAUC": [11, 11, 7],
        "KernelRankSVM": [11, 7, 7],
        "SVC": [11, 7, 3],
    }
    brief = comparison_settings("table2", QUICK)["grids"]
    assert brief["up to 1500 rows"] == brief["more rows"]
