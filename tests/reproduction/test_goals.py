"""The goal: the paper's batch AUC with a quarter of its basis functions."""

import json
import math

import pytest

from reproduction import printed, reproduce
from reproduction.comparison import FoldResult
from reproduction.goals import Model, goal_lines, goal_table, make_goal, models_of, on_shared_runs
from reproduction.methods import Outcome, Stage

FIVE = tuple((0, fold) for fold in range(5))
SONAR, BALANCE = printed.TABLE_2["sonar"], printed.TABLE_2["balance"]


def model(n_basis, auc, method="SparseKernelAUC", folds=FIVE):
    return Model(method, {"C": 1.0}, auc, n_basis, folds)


def test_the_best_within_a_quarter_and_the_smallest_that_is_enough():
    models = [model(8, 0.94), model(16, 0.952), model(26, 0.96), model(27, 0.99)]
    goal = make_goal("sonar", SONAR, models)
    assert (goal.auc, goal.most_basis) == (0.951, 26)
    assert (goal.best, goal.smallest) == (models[2], models[1])
    assert goal.is_met
    assert math.isclose(goal.share, 16 / 105)


@pytest.mark.parametrize(("auc", "is_met"), [(0.9506, True), (0.9504, False)])
def test_a_goal_is_met_to_the_printed_digits(auc, is_met):
    goal = make_goal("sonar", SONAR, [model(20, auc)])
    assert goal.is_met is is_met
    assert math.isclose(goal.share, 20 / 105)


def test_models_on_fewer_folds_are_not_held_against_others():
    models = [model(16, 0.99, "SparseKernelAUC-refined", FIVE[:4]), model(20, 0.92)]
    assert make_goal("sonar", SONAR, models).best == models[1]


def test_a_linear_term_is_marked():
    assert model(4, 0.9).size == "4"
    assert Model("", {"linear_term": True}, 0.9, 4, FIVE).size == "4 *"


def test_no_model_is_small_enough():
    goal = make_goal("balance", BALANCE, [model(4, 0.9)])
    assert (goal.most_basis, goal.best, goal.is_met, goal.share) == (1, None, False, None)


def fold(*aucs):
    stages = tuple(Stage(size, auc, size) for size, auc in aucs)
    return FoldResult([Outcome({"C": 1.0}, stages)], [], 1.0)


def folds_of(*numbers):
    return dict.fromkeys(numbers, fold((4, 0.8)))


def test_methods_are_compared_on_the_runs_that_all_have():
    second = tuple((1, number) for number in range(5))
    ended = {"greedy": folds_of(*FIVE, *second), "refined": folds_of(*FIVE, *second[:3])}
    assert [tuple(folds) for folds in on_shared_runs("sonar", ended).values()] == [FIVE, FIVE]
    both = dict.fromkeys(ended, folds_of(*FIVE, *second))
    assert on_shared_runs("sonar", both) == both
    # Where they share no whole run, nothing is left out here.
    begun = {"greedy": folds_of(*FIVE), "refined": folds_of(*FIVE[:2])}
    assert on_shared_runs("sonar", begun) == begun
    assert on_shared_runs("segment", {"greedy": folds_of((0, 0))}) == {"greedy": folds_of((0, 0))}
    assert on_shared_runs("sonar", {}) == {}


def test_means_are_over_all_folds():
    folds = {(0, 0): fold((4, 0.8), (8, 0.9)), (0, 1): fold((4, 0.6), (9, 0.9))}
    [found] = models_of("SparseKernelAUC", folds)
    assert (found.auc, found.n_basis, found.folds) == (0.7, 4, ((0, 0), (0, 1)))


def test_the_table_counts_rows_and_has_the_median():
    goals = [
        make_goal("sonar", SONAR, [model(21, 0.96)]),
        make_goal("balance", BALANCE, [model(4, 0.9)]),
    ]
    table = goal_table("Goals", goals, ["a note"])
    sonar, balance = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert (sonar["goal AUC"], sonar["with at most"], sonar["met"]) == ("0.951", "26", "yes")
    assert sonar["smallest that meets it"] == "21 (0.9600)"
    assert sonar["share of the paper's centres"] == "0.200"
    assert sonar["folds"] == "1 × 5"
    assert (balance["our best"], balance["met"], balance["folds"]) == ("-", "no", "-")
    assert table.notes[0] == "1 of 2 rows are met."
    assert table.notes[1].startswith("Median over 1 rows of our size over the paper's: 0.200")
    assert table.notes[-1] == "a note"
    assert [line["goal"]["is_met"] for line in goal_lines(goals)] == [True, False]


@pytest.mark.usefixtures("data_folder")
def test_goals_come_with_the_table(tmp_path):
    methods = ["SparseKernelAUC", "AdaOAM"]
    reproduce("table3", datasets=["segment"], methods=methods, quick=True, out=tmp_path)
    text = (tmp_path / "table3-goal.md").read_text()
    assert "| segment | 0.996 (91) | 0.998 (210) | 0.998 | 22 |" in text
    assert "Quick: at most 1000 training rows" in text
    *_, line = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    assert line["goal"] == {"auc": 0.998, "most_basis": 22, "is_met": False}
    assert line["best"]["n_basis"] <= 22


@pytest.mark.usefixtures("data_folder")
def test_what_was_not_run_is_named(tmp_path):
    def stop_after_one(n_done, n_tasks, last):
        if last.startswith("glass"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(
            "table2",
            datasets=["sonar", "glass"],
            methods=["AdaOAM"],
            quick=True,
            out=tmp_path,
            progress=stop_after_one,
        )
    text = (tmp_path / "table2.md").read_text()
    assert "- Not run: AdaOAM on " in text
