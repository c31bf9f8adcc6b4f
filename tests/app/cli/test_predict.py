"""``skauc predict``: scores in the order of the table, in pieces, in files."""

import csv
import gzip
import io

import numpy as np
import pytest
from program import run

from skauc import load_model
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


def test_a_column_to_keep_that_is_not_there(customers):
    answer = run("predict", customers.model, customers.test, "--keep", "nope")
    assert answer.code == 2
    assert answer.err == "skauc: --keep nope: the table has no such column.\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="age"), "The table lacks the column 'age', which the model"),
        (
            lambda f: f.assign(age="old"),
            "Column 'age' held numbers when the model was",
        ),
        (lambda f: f.assign(born="long ago"), "Column 'born' held dates when the model was fitted"),
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


def test_columns_that_the_model_does_not_know_are_ignored(customers, tmp_path):
    path = tmp_path / "more.csv"
    customers.frame[500:].assign(colour="red", size=1).to_csv(path, index=False)
    answer = run("predict", customers.model, path)
    assert answer.code == 0
    note = "Note: the model was fitted without the columns 'colour', 'size'; they are ignored.\n"
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
