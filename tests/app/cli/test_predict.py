"""``skauc predict``: scores in the order of the table, in pieces, in files."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest
from program import run

from skauc import SparseKernelAUC, load_model, save_model
from skauc.app.tables import read_table


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_scores_probabilities_and_labels_are_the_models(customers):
    answer = run("predict", customers.model, customers.test)
    assert answer.err == ""
    rows = rows_of(answer.out)
    frame = read_table(customers.test).drop(columns="churned")
    model = load_model(customers.model)
    probabilities = np.array([float(row["probability"]) for row in rows])
    assert np.allclose(probabilities, model.predict_proba(frame)[:, 1], rtol=1e-12)
    assert [row["label"] == "yes" for row in rows] == model.predict(frame).tolist()
    order = np.argsort([float(row["score"]) for row in rows])
    assert np.all(np.diff(probabilities[order]) >= 0)


def test_a_dash_is_standard_output_and_no_file(customers, monkeypatch):
    monkeypatch.chdir(customers.folder)
    expected = run("predict", customers.model, customers.test).out
    assert run("predict", customers.model, customers.test, "-o", "-").out == expected
    assert not (customers.folder / "-").exists()


def test_pieces_give_what_the_whole_gives(customers, monkeypatch):
    whole = run("predict", customers.model, customers.test, "--json").json
    monkeypatch.setattr("skauc.app.cli.predict.CHUNK_ROWS", 30)
    pieces = run("predict", customers.model, customers.test, "--json").json
    assert np.allclose(pieces["score"], whole["score"], rtol=1e-10)
    assert pieces["label"] == whole["label"]


def test_a_file_a_kept_column_and_a_threshold(customers):
    path = customers.folder / "scores.csv"
    options = ("--keep", "id", "--threshold", 0.9, "-o", path)
    answer = run("predict", customers.model, customers.test, *options, "--json")
    rows = rows_of(path.read_text())
    assert list(rows[0]) == ["id", "score", "probability", "label"]
    assert rows[0]["id"] == "u500"
    flagged = sum(float(row["probability"]) >= 0.9 for row in rows)
    assert sum(row["label"] == "yes" for row in rows) == flagged
    written = {"output": str(path), "rows": 200, "flagged": flagged, "positive": "yes"}
    assert answer.json == written


def test_a_gzipped_file_holds_the_same(customers):
    path = customers.folder / "scores.csv.gz"
    answer = run("predict", customers.model, customers.test, "-o", path)
    assert "Wrote 200 rows to" in answer.err
    assert (
        gzip.decompress(path.read_bytes()).decode()
        == run("predict", customers.model, customers.test).out
    )


def test_json_without_a_file_is_one_object_of_columns(customers):
    answer = run("predict", customers.model, customers.test, "--json")
    assert list(answer.json) == ["score", "probability", "label"]
    assert len(answer.json["label"]) == 200


def test_a_table_without_the_target_and_in_another_order(customers):
    path = customers.folder / "shuffled.csv"
    frame = customers.frame[500:].drop(columns="churned")
    frame[frame.columns[::-1]].to_csv(path, index=False)
    expected = run("predict", customers.model, customers.test).out
    assert run("predict", customers.model, path).out == expected


def test_one_row_is_no_rows(customers, tmp_path):
    table = tmp_path / "t.csv"
    customers.frame[500:501].to_csv(table, index=False)
    for command in ("predict", "explain"):
        answer = run(command, customers.model, table, "-o", tmp_path / f"{command}.csv")
        assert "Wrote 1 row to" in answer.err


@pytest.mark.parametrize("command", ["predict", "explain", "evaluate", "drift"])
def test_truth_values_are_no_numbers_in_every_command(customers, tmp_path, command):
    table = tmp_path / "t.csv"
    frame = customers.frame[500:]
    frame.assign(age=np.where(frame.age > 40, "true", "false")).to_csv(table, index=False)
    answer = run(command, customers.model, table)
    assert answer.code == 2
    assert "Column 'age' held numbers" in answer.err
    assert " when the model was fitted; got " in answer.err


def test_a_column_to_keep_that_is_not_there(customers):
    answer = run("predict", customers.model, customers.test, "--keep", "nope")
    assert answer.code == 2
    assert answer.err == "skauc: The table has no column 'nope'. Did you mean 'income'?\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="age"), "The table lacks the column 'age', which the model"),
        (
            lambda f: f.assign(age="old"),
            "Column 'age' held numbers in the form 1234.5 when the model was",
        ),
        (
            lambda f: f.assign(born="long ago"),
            "Column 'born' held dates in the form ISO 8601 when the",
        ),
    ],
)
def test_columns_that_are_missing_or_of_another_type(customers, change, message):
    path, scores = customers.folder / "changed.csv", customers.folder / "none.csv"
    change(customers.frame[500:]).to_csv(path, index=False)
    answer = run("predict", customers.model, path, "-o", scores)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert not scores.exists()
    assert not list(customers.folder.glob(".*"))


def test_columns_that_a_model_without_a_preprocessor_lacks(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    save_model(SparseKernelAUC(2).fit(X, X.a > 0.5), tmp_path / "m.skauc")
    X[["c"]].assign(d=1).to_csv(tmp_path / "t.csv", index=False)
    answer = run("predict", tmp_path / "m.skauc", tmp_path / "t.csv")
    assert answer.code == 2
    message = "skauc: The table lacks the columns 'a', 'b', which the model was fitted with. Add"
    assert message in answer.err


def test_a_table_of_more_columns_than_the_array_of_the_training(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    save_model(SparseKernelAUC(2).fit(X, X[:, 0] > 0.5), tmp_path / "m.skauc")
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.assign(bought="yes").to_csv(tmp_path / "t.csv", index=False)
    answer = run("predict", tmp_path / "m.skauc", tmp_path / "t.csv")
    assert answer.code == 2
    assert answer.err.startswith(
        "skauc: The model was fitted to an array of 2 columns without names; the table has 3: "
        "'a', 'b', 'bought'."
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert run("predict", tmp_path / "m.skauc", tmp_path / "t.csv").code == 0


def test_an_array_of_so_many_columns_that_the_file_does_not_name_them(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 10_001))
    save_model(SparseKernelAUC(2, scaling=None).fit(X, X[:, 0] > 0), tmp_path / "m.skauc")
    pd.DataFrame(X).rename(columns=str).to_parquet(tmp_path / "t.parquet")
    answer = run("predict", tmp_path / "m.skauc", tmp_path / "t.parquet")
    assert answer.code == 0, answer.err
    assert len(answer.out.splitlines()) == 21


def test_columns_that_the_model_does_not_know_are_ignored(customers, tmp_path):
    path = tmp_path / "more.csv"
    customers.frame[500:].assign(colour="red", size=1).to_csv(path, index=False)
    answer = run("predict", customers.model, path)
    assert answer.code == 0
    note = "Note: The model was fitted without the columns 'colour', 'size'; they are ignored.\n"
    assert answer.err == note
    assert answer.out == run("predict", customers.model, customers.test).out
    assert run("evaluate", customers.model, path).err == note


@pytest.mark.parametrize("name", ["score", "probability", "label"])
def test_a_kept_column_named_like_an_output_column(name, customers, tmp_path):
    path = tmp_path / "t.csv"
    customers.frame[500:].assign(**{name: 1}).to_csv(path, index=False)
    answer = run("predict", customers.model, path, "--keep", name)
    assert answer.code == 2
    assert f"--keep {name}: the output has a column of this name already." in answer.err


def kept(customers, tmp_path, values, *options):
    """Return a column of these values as predict copies it."""
    path = tmp_path / "t.csv"
    customers.frame[500 : 500 + len(values)].assign(kept=values).to_csv(path, index=False)
    answer = run("predict", customers.model, path, "--keep", "kept", *options)
    assert answer.code == 0, answer.err
    return [row["kept"] for row in rows_of(answer.out)]


def test_formulas_are_not_passed_on(customers, tmp_path):
    values = ["=1+1", "+49 30", "-x", "@sum", "\tx", "-1.5", "plain"]
    guarded = ["'=1+1", "'+49 30", "'-x", "'@sum", "'\tx", "-1.5", "plain"]
    assert kept(customers, tmp_path, values) == guarded
    assert kept(customers, tmp_path, values, "--raw") == values


def test_kept_columns_stand_as_in_the_file(customers, tmp_path):
    """Leading zeros, long ids, and words that elsewhere mean a missing value."""
    ids = ["001", "9007199254740993", "9007199254740992", "1e5", "NA", " x", "1.50"]
    assert kept(customers, tmp_path, ids) == ids
    found = run("predict", customers.model, tmp_path / "t.csv", "--keep", "kept", "--json")
    assert found.json["kept"] == ids


def test_integers_of_parquet_are_kept_as_they_are(customers, tmp_path):
    ids = [9007199254740993, None, 9007199254740992]
    frame = customers.frame[500:503].assign(kept=pd.array(ids, dtype="Int64"))
    frame.to_parquet(tmp_path / "t.parquet")
    answer = run("predict", customers.model, tmp_path / "t.parquet", "--keep", "kept")
    rows = rows_of(answer.out)
    assert [row["kept"] for row in rows] == ["9007199254740993", "", "9007199254740992"]


def test_a_feature_can_be_kept_as_well(customers):
    rows = rows_of(run("predict", customers.model, customers.test, "--keep", "age").out)
    written = rows_of(customers.test.read_text())
    assert [row["age"] for row in rows] == [row["age"] for row in written]


CHANGES = {
    "units": (
        lambda frame: frame.assign(age=1000 * frame.age),
        "Column 'age': ",
        "far outside of the training range",
    ),
    "levels": (
        lambda frame: frame.assign(town="Atlantis"),
        "Column 'town': no value is known from training, such as 'Atlantis'.",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_rows_that_differ_from_the_training_rows_are_warned_about(
    command, change, customers, tmp_path
):
    alter, *messages = CHANGES[change]
    path = tmp_path / "changed.csv"
    alter(customers.frame[500:]).to_csv(path, index=False)
    answer = run(command, customers.model, path)
    assert answer.code == 0
    assert answer.err.startswith("skauc: warning: ")
    for message in messages:
        assert message in answer.err


def test_rows_far_from_every_centre_are_warned_about(tmp_path):
    """As when a step that scales was forgotten."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    save_model(SparseKernelAUC(3, scaling=None).fit(X, X[:, 0] > 0.5), tmp_path / "m.skauc")
    path = tmp_path / "t.csv"
    pd.DataFrame(1e6 * X, columns=["x0", "x1"]).to_csv(path, index=False)
    answer = run("predict", tmp_path / "m.skauc", path)
    assert "Only the linear part of the model ranks these 60 rows" in answer.err
