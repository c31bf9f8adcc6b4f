"""``skauc explain``, ``compare`` and ``drift`` on the table and the model of the other tests."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest
from program import run

from skauc import load_model
from skauc.app.tables import read_table
from skauc.app.workflow.explaining import parse_rows, rows_within
from skauc.explain import shapley_values


def test_contributions_are_those_of_the_model(customers):
    answer = run("explain", customers.model, customers.test, "--rows", "2,5-6")
    assert answer.code == 0, answer.err
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    model = load_model(customers.model)
    frame = read_table(customers.test).iloc[[1, 4, 5]]
    columns = [name for name in rows[0] if name not in ("row", "score", "mean_score")]
    expected = shapley_values(model, frame[columns])
    found = np.array([[float(row[name]) for name in columns] for row in rows])
    np.testing.assert_allclose(found, expected.values, rtol=1e-9, atol=1e-12)
    assert [row["row"] for row in rows] == ["2", "5", "6"]
    total = found.sum(axis=1) + float(rows[0]["mean_score"])
    np.testing.assert_allclose(total, [float(row["score"]) for row in rows])


def test_pieces_json_pages_and_the_highest_scores(customers, monkeypatch):
    whole = run("explain", customers.model, customers.test, "--json").json["rows"]
    monkeypatch.setattr("skauc.app.cli.explain.EXPLAINED_ROWS", 70)
    pieces = run("explain", customers.model, customers.test, "--json").json["rows"]
    np.testing.assert_allclose([r["score"] for r in pieces], [r["score"] for r in whole])
    assert len(whole) == 200
    top = run("explain", customers.model, customers.test, "--top", 3, "--json").json["rows"]
    assert [r["score"] for r in top] == pytest.approx(sorted(r["score"] for r in whole)[:-4:-1])
    page = customers.folder / "explained.html"
    answer = run(
        "explain", customers.model, customers.test, "-o", page, "--background", customers.train
    )
    assert "Wrote 20 rows" in answer.err
    assert "exact Shapley values" in page.read_text()
    assert f"Row {top[0]['row']}<" in page.read_text()


def test_a_file_is_written_whole_or_not_at_all(customers, tmp_path):
    path = tmp_path / "values.csv"
    answer = run("explain", customers.model, customers.test, "--rows", "1,500", "-o", path)
    assert "the table has 200 rows only" in answer.err
    assert not list(tmp_path.iterdir())
    path.write_text("precious")
    run("explain", customers.model, customers.test, "--rows", "1,500", "-o", path, "--force")
    assert path.read_text() == "precious"


def test_a_gzipped_file_holds_the_same(customers, tmp_path):
    path = tmp_path / "values.csv.gz"
    assert run("explain", customers.model, customers.test, "--rows", "1-3", "-o", path).code == 0
    printed = run("explain", customers.model, customers.test, "--rows", "1-3").out
    assert gzip.decompress(path.read_bytes()).decode() == printed


def test_json_beside_a_file(customers, tmp_path):
    path = tmp_path / "values.csv"
    options = ("--rows", "1-3", "-o", path, "--json")
    answer = run("explain", customers.model, customers.test, *options)
    assert answer.json == {"output": str(path), "rows": 3}
    assert len(path.read_text().splitlines()) == 4


def test_columns_named_like_those_of_the_output(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["row", "score", "age"])
    frame.assign(y=np.arange(60) % 3 == 0).to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.skauc"
    options = ("--effort", "quick", "--n-basis", 2, "--jobs", 1, "-o", model)
    assert run("fit", tmp_path / "t.csv", "--target", "y", *options).code == 0
    header = run("explain", model, tmp_path / "t.csv", "--rows", "1").out.split("\n")[0]
    assert header == "row,score,mean_score,contribution of row,contribution of score,age"


def test_bad_rows_say_what_to_write(customers):
    for text in ("0", "5-2", "a", "1,,2", "-3"):
        answer = run("explain", customers.model, customers.test, "--rows", text)
        assert answer.code == 2
        assert "--rows must be numbers and ranges such as 1,5,10-20" in answer.err
    answer = run("explain", customers.model, customers.test, "--rows", "500")
    assert "the table has 200 rows only" in answer.err
    answer = run("explain", customers.model, customers.test, "--rows", "1", "--top", 2)
    assert "exclude each other" in answer.err
    assert rows_within(parse_rows("3,9-12"), 5, 6).tolist() == [3, 4, 5]


@pytest.mark.parametrize("options", [(), ("--top", 3), ("--background",)], ids=str)
def test_a_missing_column_is_named_as_predict_does(customers, tmp_path, options):
    table = tmp_path / "t.csv"
    customers.frame[500:].drop(columns="age").to_csv(table, index=False)
    expected = run("predict", customers.model, table)
    assert expected.err.startswith("skauc: The table lacks the column 'age', which the model was")
    given = (*options, customers.train) if options == ("--background",) else options
    answer = run("explain", customers.model, table, *given)
    assert (answer.code, answer.err) == (expected.code, expected.err)


def test_a_model_compared_with_itself_and_with_a_smaller_one(customers):
    same = run("compare", customers.model, customers.model, customers.test, "--json").json
    assert same["test"]["p_value"] == 1
    assert same["same_label"] == same["shared_top"] == 1
    smaller, page = customers.folder / "smaller.skauc", customers.folder / "compared.html"
    options = ("--effort", "quick", "--n-basis", 1, "--jobs", 1, "-o", smaller)
    assert run("fit", customers.train, "--target", "churned", *options).code == 0
    answer = run("compare", customers.model, smaller, customers.test, "-o", page)
    assert answer.code == 0, answer.err
    assert "AUC of A minus AUC of B" in answer.out
    assert page.read_text().count("<polyline") == 4
    evaluated = run("evaluate", customers.model, customers.test, "--json").json["auc"]["auc"]
    assert same["auc"][0]["auc"] == pytest.approx(evaluated)


def test_models_of_different_targets_need_a_target(customers, tmp_path):
    table, other = tmp_path / "t.csv", tmp_path / "other.skauc"
    frame = customers.frame[:500].assign(left=customers.frame.churned.to_numpy()[499::-1])
    frame.drop(columns="churned").to_csv(table, index=False)
    options = ("--effort", "quick", "--n-basis", 1, "--jobs", 1, "-o", other)
    assert run("fit", table, "--target", "left", *options).code == 0
    customers.frame[500:].assign(left="no").to_csv(table, index=False)
    answer = run("compare", customers.model, other, table)
    assert answer.code == 2
    assert "predict different columns: 'churned' and 'left'" in answer.err
    answer = run("compare", customers.model, other, table, "--target", "churned")
    assert answer.code == 0, answer.err


def test_drift_finds_the_column_that_changed(customers):
    answer = run("drift", customers.model, customers.test, "--fail-if", 0.25, "--json")
    assert answer.code == 0, answer.err
    assert not any(column["has_shifted"] for column in answer.json["columns"])
    changed = customers.folder / "changed.csv"
    frame = customers.frame[500:].copy()
    numeric = next(name for name in frame if frame[name].dtype.kind == "f")
    frame[numeric] += 3 * frame[numeric].std()
    frame.to_csv(changed, index=False)
    assert "None of the 10 columns has shifted" in run("drift", customers.model, customers.test).out
    page = customers.folder / "drift.html"
    answer = run("drift", customers.model, changed, "--fail-if", 0.25, "-o", page)
    assert answer.code == 3
    assert f"above 0.25: score, {numeric}." in answer.err
    assert f"1 of 10 columns has shifted: “{numeric}”. The scores have shifted." in answer.out
    assert "shifted" in page.read_text()


def test_a_model_without_a_memory_says_so(customers, tmp_path):
    from skauc import save_model

    path = save_model(load_model(customers.model), tmp_path / "plain.skauc")
    answer = run("drift", path, customers.test)
    assert answer.code == 2
    assert "remembers no distributions" in answer.err
