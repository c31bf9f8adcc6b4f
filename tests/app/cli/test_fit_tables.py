"""The two tables of ``skauc fit``."""

import pandas as pd
import pytest
from program import run

from skauc import inspect_model
from skauc.app.tables import read_table

QUICK = ("--target", "churned", "--effort", "quick", "--n-basis", 2, "--jobs", 1)


def test_training_rows_in_the_test_table_are_counted(customers, tmp_path):
    model = tmp_path / "m.skauc"
    words = ("fit", customers.train, *QUICK, "-o", model, "--force", "--test")
    answer = run(*words, customers.train)
    note = "500 of 500 test rows (100.0%) have the same values as a training row."
    assert f"Note: {note} If the same case was recorded twice" in answer.err
    assert any(note in each for each in inspect_model(model)["summary"]["notes"])
    assert "same values" not in run(*words, customers.test).err


def test_a_table_twice_in_one(customers, tmp_path):
    frame = read_table(customers.train)
    pd.concat([frame, frame]).to_csv(tmp_path / "t.csv", index=False)
    answer = run("fit", tmp_path / "t.csv", *QUICK, "-o", tmp_path / "m.skauc")
    assert "of 200 test rows" in answer.err
    assert "Without them the AUC is" in answer.err


def test_groups_in_both_tables_are_counted(customers, tmp_path):
    train, test = (read_table(path) for path in (customers.train, customers.test))
    train.assign(client=range(500)).to_csv(tmp_path / "t.csv", index=False)
    test.assign(client=range(450, 650)).to_csv(tmp_path / "later.csv", index=False)
    words = ("--group", "client", "--test", tmp_path / "later.csv", "-o", tmp_path / "m.skauc")
    answer = run("fit", tmp_path / "t.csv", *QUICK, *words)
    assert "Note: 50 of 200 groups of the test rows are also groups" in answer.err
    assert "by the column 'client'" in answer.err


@pytest.mark.parametrize(
    "words",
    [
        ("--numeric", "churned"),
        ("--category", "town", "--drop", "town"),
        ("--numeric", "age", "--weights", "age"),
        ("--category", "shop", "--group", "shop"),
    ],
    ids=" ".join,
)
def test_the_kind_of_a_column_that_is_no_feature(words, customers, tmp_path):
    answer = run("fit", customers.train, *QUICK, *words, "-o", tmp_path / "m.skauc")
    assert answer.code == 2
    assert answer.err == (
        f"skauc: {words[0]} names the column {words[1]!r}, which another option makes the target, "
        f"the weights or the groups, or drops. Remove it from {words[0]}.\n"
    )
