"""Bad input: one line on standard error, exit code 2, nothing half-written."""

import os
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from program import run
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC
from skauc.persistence import save_model
from skauc.preprocessing import TablePreprocessor

QUICK = ("--effort", "quick", "--n-basis", 2, "--jobs", 1)


def good(n_rows=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.normal(size=n_rows), "Bought": np.arange(n_rows) % 3 == 0})


def refused(answer, *messages):
    """Check that it ended with one line that says these."""
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("skauc: ")
    assert answer.err.count("\n") == 1
    for message in messages:
        assert message in answer.err


BAD_FILES = {
    "empty": (b"", "t.csv is empty. Pass a table with a header and rows."),
    "header only": (b"age,Bought\n", "has a header and no rows"),
    "ragged": (b"age,Bought\n1,0\n2,1,5\n", "Line 3 of", "has 3 values where the header has 2"),
    "latin1": ("age,Bought\nJosé,0\n".encode("latin1"), "Line 2 of", "is not UTF-8 text"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_files_that_are_no_tables(name, tmp_path):
    content, *messages = BAD_FILES[name]
    (tmp_path / "t.csv").write_bytes(content)
    refused(run("fit", tmp_path / "t.csv", "--target", "Bought"), *messages)
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_missing_file(tmp_path):
    refused(run("fit", tmp_path / "no.csv", "--target", "y"), "There is no file", "no.csv")
    refused(run("predict", tmp_path / "no.skauc", tmp_path / "no.csv"), "There is no file")


def test_a_wrong_target_with_the_nearest_name(tmp_path):
    good().to_csv(tmp_path / "t.csv", index=False)
    answer = run("fit", tmp_path / "t.csv", "--target", "bougt")
    refused(answer, "The table has no column 'bougt'. Did you mean 'Bought'?")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["no"], "must have two values; it has one value: 'no'."),
        (["no", "yes", "maybe"], "it has 3 values: 'no', 'yes', 'maybe'."),
    ],
)
def test_a_target_of_one_or_three_values(values, message, tmp_path):
    good().assign(Bought=np.resize(values, 60)).to_csv(tmp_path / "t.csv", index=False)
    refused(run("fit", tmp_path / "t.csv", "--target", "Bought"), message)


def test_a_positive_label_that_is_not_there(tmp_path):
    good().to_csv(tmp_path / "t.csv", index=False)
    answer = run("fit", tmp_path / "t.csv", "--target", "Bought", "--positive", "perhaps")
    refused(answer, "--positive must be a value of the target 'Bought'")


def test_a_class_of_one_row(tmp_path):
    good().assign(Bought=np.arange(60) == 3).to_csv(tmp_path / "t.csv", index=False)
    answer = run("fit", tmp_path / "t.csv", "--target", "Bought", *QUICK, "-o", tmp_path / "m")
    refused(answer, "Training needs at least 2 rows of each class; the smaller class has 1.")
    assert os.listdir(tmp_path) == ["t.csv"]


def labelled(labels, tmp_path):
    """Write a table whose rows have these labels in turn; return its path."""
    path = tmp_path / "t.csv"
    good().assign(Bought=np.resize(labels, 60)).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "labels",
    [["fraud", "legit", "legit"], ["no", "no", "Yes"], ["True ", "false", "false"]],
)
def test_labels_whose_order_is_doubtful(labels, tmp_path):
    """The label that sorts first is rare, or the other way round than its words say."""
    first, second = sorted(set(labels))
    answer = run("fit", labelled(labels, tmp_path), "--target", "Bought")
    refused(answer, f"Pass --positive {shlex.quote(first)} or --positive {shlex.quote(second)}")


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["no", "yes", "yes"], "yes"),
        ([1, 2, 2], 2),
        (["ok", "ok", "scam"], "scam"),
    ],
)
def test_the_label_that_sorts_last_is_positive(labels, positive, tmp_path):
    answer = run(
        "fit", labelled(labels, tmp_path), "--target", "Bought", *QUICK, "-o", tmp_path / "m"
    )
    assert answer.code == 0, answer.err
    n_rows = 48 * labels.count(positive) // 3
    assert f"Bought = {positive}, {n_rows} of 48 rows" in answer.out


@pytest.mark.parametrize("positive", ["fraud", "legit"])
def test_a_doubtful_order_is_settled_by_an_option(positive, tmp_path):
    path = labelled(["fraud", "legit", "legit"], tmp_path)
    words = ("fit", path, "--target", "Bought", "--positive", positive, *QUICK)
    answer = run(*words, "-o", tmp_path / "m")
    assert f"Bought = {positive}, " in answer.out


@pytest.mark.parametrize(
    "options",
    [
        ("--threshold", "nan"),
        ("--threshold", "inf"),
        ("--cost-miss", "nan"),
        ("--cost-miss", "-1"),
        ("--cost-miss", "0"),
        ("--cost-miss", "1", "--cost-false-alarm", "-2"),
        ("--cost-miss", "1", "--cost-false-alarm", "0"),
        ("--recall", "nan"),
        ("--max-fpr", "nan"),
    ],
)
def test_numbers_that_are_none(options, customers):
    answer = run("evaluate", customers.model, customers.test, *options)
    assert answer.code == 2
    assert f"Invalid value for '{options[-2]}'" in answer.err
    assert answer.out == ""


@pytest.mark.parametrize("option", ["--cost-miss", "--cost-false-alarm"])
def test_the_costs_of_a_report_are_those_of_an_evaluation(option, customers):
    options = ("--cost-miss", 1, option, 0, "-o", customers.folder / "costs.html")
    answer = run("report", customers.model, customers.test, *options)
    assert answer.code == 2
    assert f"Invalid value for '{option}'" in answer.err


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("effort", "much", "--effort must be"),
        ("engine", "cpi", "--engine must be"),
        ("max-fpr", 3, "--max-fpr must be"),
        ("min-tpr", 1, "--min-tpr must be"),
    ],
)
def test_options_of_a_fit_are_checked_before_the_table_is_read(option, value, message, tmp_path):
    missing = tmp_path / "not there.csv"
    refused(run("fit", missing, "--target", "y", f"--{option}", value), message)


def test_messages_of_the_library_name_the_options(tmp_path):
    table = labelled(["no", "yes", "no"], tmp_path)
    words = ("fit", table, "--target", "Bought", *QUICK, "-o", tmp_path / "m.skauc")
    answer = run(*words, "--jobs", 0)
    assert answer.code == 2
    assert "Invalid value for '--jobs': 0 is not a number of cores" in answer.err
    answer = run(*words, "--engine", "cluster")
    assert answer.code == 2
    assert "skauc: --engine cluster needs " in answer.err
    answer = run(*words, "--max-fpr", "0.0001")
    assert "--max-fpr 0.0001 keeps less than one of the " in answer.err
    assert "Use a larger --max-fpr, or leave it out for the whole curve.\n" in answer.err


TEST_TABLES = {
    "no column": (lambda f: f.rename(columns={"age": "ages"}), "The table lacks the column 'age'"),
    "infinite": (lambda f: f.assign(age=np.inf), "Column 'age' holds inf in row 0"),
    "text": (lambda f: f.assign(age="old"), "Column 'age' held numbers"),
    "no weight": (
        lambda f: f.assign(w=np.where(f.Bought, 0, 1)),
        "The weights 'w' are 0 in every row of label True.",
    ),
    "huge weights": (lambda f: f.assign(w=1e308), "--weights sums up to inf"),
    "other labels": (
        lambda f: f.assign(Bought=np.where(f.Bought, "yes", "no")),
        "The target 'Bought' has the values 'no' and 'yes'",
    ),
    "no target": (lambda f: f.drop(columns="Bought"), "The table has no column 'Bought'"),
}


@pytest.mark.parametrize("name", TEST_TABLES)
def test_the_test_table_is_checked_before_the_training(name, tmp_path):
    """Only this check names the table, and says nothing on the kinds of the columns."""
    change, message = TEST_TABLES[name]
    table, later = tmp_path / "t.csv", tmp_path / "later.csv"
    frame = good().assign(w=1.0)
    frame.to_csv(table, index=False)
    change(frame).to_csv(later, index=False)
    options = ("--weights", "w", "--test", later, *QUICK, "-o", tmp_path / "m.skauc")
    refused(run("fit", table, "--target", "Bought", *options), f"skauc: {later}: {message}")
    assert sorted(os.listdir(tmp_path)) == ["later.csv", "t.csv"]


def test_infinite_numbers_in_rows_that_are_set_aside(tmp_path):
    """The other rows have none, and would be trained on."""
    frame = good().assign(day=range(60))
    frame.loc[55, "age"] = np.inf
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ("--time", "day", *QUICK, "-o", tmp_path / "m.skauc")
    answer = run("fit", tmp_path / "t.csv", "--target", "Bought", *options)
    refused(answer, "skauc: Column 'age' holds inf in row 55")


def test_weights_of_zero_name_the_label_of_the_user(tmp_path):
    good().assign(Bought=np.resize([1, 0, 0], 60), w=np.resize([0, 1, 1], 60)).to_csv(
        tmp_path / "t.csv", index=False
    )
    answer = run("fit", tmp_path / "t.csv", "--target", "Bought", "--weights", "w", *QUICK)
    refused(answer, "The weights 'w' are 0 in every row of label 1. Give")


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (0.001, "--test-share 0.001 leaves less than one test row of the smaller class, which has"),
        (0.04, "which has 20 rows. Use at least 0.05, or"),
    ],
)
def test_a_share_of_too_few_test_rows(share, message, tmp_path):
    good().to_csv(tmp_path / "t.csv", index=False)
    options = ("--test-share", share, *QUICK, "-o", tmp_path / "m.skauc")
    refused(run("fit", tmp_path / "t.csv", "--target", "Bought", *options), message)


def test_a_share_of_too_few_training_rows(tmp_path):
    good(30).to_csv(tmp_path / "t.csv", index=False)
    options = ("--test-share", 0.9, *QUICK, "-o", tmp_path / "m.skauc")
    answer = run("fit", tmp_path / "t.csv", "--target", "Bought", *options)
    refused(answer, "fewer than two training rows", "which has 10 rows. Use at most 0.8, or")


@pytest.mark.parametrize(
    ("column", "options"),
    [("target", ()), ("group", ("--group", "listed")), ("weights", ("--weights", "listed"))],
)
def test_a_column_of_lists(column, options, tmp_path):
    target = "listed" if column == "target" else "Bought"
    good().assign(listed=[[1, 2]] * 60).to_parquet(tmp_path / "t.parquet")
    answer = run("fit", tmp_path / "t.parquet", "--target", target, *options, *QUICK)
    refused(answer, f"The {column} column 'listed' holds lists, such as [1, 2]. Choose a column")


def test_a_fit_is_split_by_time_or_by_groups(tmp_path):
    table = tmp_path / "t.csv"
    good().assign(day=range(60), clinic=[row % 12 for row in range(60)]).to_csv(table, index=False)
    options = ("--time", "day", "--group", "clinic", "-o", tmp_path / "m.skauc")
    answer = run("fit", table, "--target", "Bought", *QUICK, *options)
    refused(answer, "--time and --group exclude each other")


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_threshold_that_is_no_probability(command, customers):
    answer = run(command, customers.model, customers.test, "--threshold", 50)
    refused(answer, "--threshold must be from 0 to 1", "got 50. Did you mean 0.5?")


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_threshold_for_scores_that_looks_like_a_probability(command, tmp_path):
    frame = good()
    frame.to_csv(tmp_path / "t.csv", index=False)
    table, path = tmp_path / "t.csv", tmp_path / "m.skauc"
    ranker = make_pipeline(TablePreprocessor(), SparseKernelAUC(2))
    features, bought = frame.drop(columns="Bought"), frame.Bought
    save_model(ranker.fit(features, bought), path, summary={"target": "Bought"})
    answer = run(command, path, table, "--threshold", 0.5)
    assert answer.code == 0
    assert "--threshold 0.5 is a score here and not a probability" in answer.err
    assert "The model's own threshold is 0." in answer.err
    for threshold in (0, -0.5, 2):
        assert "--threshold" not in run(command, path, table, "--threshold", threshold).err


def test_an_output_that_exists_is_replaced_by_force_alone(tmp_path):
    good().to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "--target", "Bought", *QUICK, "-o", tmp_path / "m.skauc")
    (tmp_path / "m.skauc").write_text("precious")
    refused(run(*words), "m.skauc exists already", "--force")
    assert (tmp_path / "m.skauc").read_text() == "precious"
    assert run(*words, "--force").code == 0
    (tmp_path / "r.html").write_text("precious")
    refused(run(*words, "--force", "--report", tmp_path / "no" / "r.html"), "There is no folder")


@pytest.mark.parametrize("command", ["report", "export", "predict"])
def test_other_outputs_that_exist(command, customers, tmp_path):
    path = tmp_path / "out"
    path.write_text("precious")
    tables = [] if command == "export" else [customers.test]
    refused(run(command, customers.model, *tables, "-o", path), "exists already", "--force")
    refused(run(command, customers.model, *tables, "-o", tmp_path), "is a folder")
    assert path.read_text() == "precious"


def test_an_output_that_cannot_be_written(tmp_path):
    good().to_csv(tmp_path / "t.csv", index=False)
    locked = Path("/proc")  # where not even root may write
    if os.geteuid() != 0 or not locked.is_dir():
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
    for place, message in ((locked, "cannot be written"), (tmp_path / "t.csv", "is not a folder")):
        for option in ("-o", "--report"):
            answer = run("fit", tmp_path / "t.csv", "--target", "Bought", option, place / "m.skauc")
            refused(answer, message)


def test_a_model_that_is_none(customers, tmp_path):
    (tmp_path / "m.skauc").write_text("no model")
    refused(run("inspect", tmp_path / "m.skauc"), "m.skauc")
    refused(run("predict", customers.test, customers.test), "later.csv")


def test_labels_that_the_model_does_not_know(customers):
    path = customers.folder / "other.csv"
    labels = customers.frame.churned[500:].replace("no", "never")
    customers.frame[500:].assign(churned=labels).to_csv(path, index=False)
    answer = run("evaluate", customers.model, path)
    refused(answer, "the model was fitted to 'no' and 'yes'")
    labels = labels.replace("yes", "maybe")
    customers.frame[500:].assign(churned=labels).to_csv(path, index=False)
    answer = run("evaluate", customers.model, path)
    refused(answer, "has the values 'maybe' and 'never'; the model was fitted to 'no' and 'yes'")


def test_bad_usage(tmp_path):
    good().to_csv(tmp_path / "t.csv", index=False)
    assert run("fit", tmp_path / "t.csv").code == 2
    assert run("fit", tmp_path / "t.csv", "--target", "Bought", "--n-basis", 0).code == 2
    assert run("unknown").code == 2
    answer = run("fit", tmp_path / "t.csv", "--target", "Bought", "--engine", "steam")
    assert answer.code == 2
    assert answer.err.splitlines()[-1].startswith("skauc: --engine")


def test_a_failure_that_is_nobodys_input(customers, monkeypatch):
    """Exit code 1, one line and a hint; the traceback with --debug."""

    def fail(*args, **kwargs):
        raise RuntimeError("the\nunforeseen")

    monkeypatch.setattr("skauc.report.make_report", fail)
    words = ("report", customers.model, customers.test, "-o", customers.folder / "failed.html")
    answer = run(*words)
    assert answer.code == 1
    assert answer.err == (
        "skauc: The command failed with RuntimeError: the unforeseen. Run it with --debug to see "
        "the traceback.\n"
    )
    with pytest.raises(RuntimeError, match="unforeseen"):
        run(*words, "--debug")
