"""Choices: the best of the grid, and those of inner folds."""

import pytest

from skauc.experiments.comparison import best_point, choose, compact_lines, summarise
from skauc.experiments.methods import Outcome, Stage


def outcome(C, *stages):
    return Outcome({"C": C}, tuple(Stage(size, score, size) for size, score in stages))


def test_the_best_mean_wins_and_of_equals_the_smaller():
    tables = [
        {("a", 4): 0.80, ("a", 8): 0.90, ("b", 4): 0.90, ("c", 4): 1.0},
        {("a", 4): 0.80, ("a", 8): 0.92, ("b", 4): 0.92001},
    ]
    assert best_point(tables) == ("b", 4)
    assert best_point(tables[:1]) == ("c", 4)


def test_inner_folds_choose_and_the_outer_fold_judges():
    outer = [outcome(1.0, (4, 0.6), (8, 0.7)), outcome(10.0, (4, 0.99), (8, 0.98))]
    inner = [[outcome(1.0, (4, 0.8), (8, 0.9)), outcome(10.0, (4, 0.7), (8, 0.7))]] * 2
    choice = choose(inner, outer)
    assert (choice.parameters, choice.stage, choice.auc, choice.n_basis) == ({"C": 1.0}, 8, 0.7, 8)


@pytest.mark.parametrize(("sizes", "taken"), [((4, 6), 6), ((16, 32), 16)])
def test_a_walk_that_ended_elsewhere_on_the_outer_fold(sizes, taken):
    inner = [[outcome(1.0, (4, 0.8), (8, 0.9))]]
    assert choose(inner, [outcome(1.0, *((size, 0.5) for size in sizes))]).stage == taken


def lines(aucs, nested):
    first = [{"parameters": {"C": C}, "stages": [[4, a, 4]]} for C, a in aucs.items()]
    chosen = {"parameters": {"C": 1.0}, "stage": 4, "auc": nested, "n_basis": 4}
    return [*first, {"nested": chosen, "cpu_seconds": 1.0}]


def test_summaries_of_what_has_ended():
    finished = {
        ("sonar", "SVC", 0, 0): lines({1.0: 0.7, 2.0: 0.9}, 0.7),
        ("sonar", "SVC", 0, 3): lines({1.0: 0.8, 2.0: 0.7}, 0.8),
        ("segment", "SVC", 0, 0): lines({1.0: 0.9}, 0.9),
    }
    sonar, segment = summarise(finished, ["sonar", "glass", "segment"], ["OILK", "SVC"], 4)
    assert sonar.folds == ((0, 0), (0, 3))
    assert [choice.auc for choice in sonar.best] == [0.9, 0.7]
    assert {choice.parameters["C"] for choice in sonar.best} == {2.0}
    assert [choice.auc for choice in sonar.nested] == [0.7, 0.8]
    assert segment.folds == ((0, 0),)
    compact = compact_lines([sonar])
    assert [line["fold"] for line in compact] == [0, 3]
    assert compact[1]["best"] == {"parameters": {"C": 2.0}, "stage": 4, "auc": 0.7, "n_basis": 4}
