"""``skauc fit``, from tables in files to models and reports."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
from program import run
from sklearn.datasets import dump_svmlight_file, load_breast_cancer
from sklearn.metrics import roc_auc_score

from skauc import inspect_model, load_model
from skauc.app.tables import read_table
from skauc.exceptions import ModelFileError

QUICK = ("--effort", "quick", "--n-basis", 4, "--jobs", 1)


def tumours(n_rows=200):
    frame = load_breast_cancer(as_frame=True).frame.iloc[:n_rows, [0, 1, 2, 3, 4, -1]]
    return frame.assign(target=np.where(frame.target == 0, "yes", "no"))


def test_a_clean_table_from_the_search_to_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tumours().to_csv("tumours.csv", index=False)
    options = ("--n-basis", 4, "--jobs", 1, "--report", "report.html")
    answer = run("fit", "tumours.csv", "--target", "target", *options)
    assert answer.code == 0, answer.err
    assert "numeric:  mean radius, mean texture" in answer.err
    assert "Wrote model tumours.skauc, report report.html" in answer.out
    summary = inspect_model("tumours.skauc")["summary"]
    assert summary["chosen"]["n_basis"] <= 4
    assert summary["cv_auc"] > 0.9
    assert f"{summary['test_auc']:.4f}" in answer.out
    page = (tmp_path / "report.html").read_text()
    assert "How well target = yes is ranked" in page


@pytest.mark.filterwarnings("ignore:The target")
def test_the_rows_of_a_report_have_the_numbers_of_the_table(tmp_path):
    """Also where a label is missing, and where the file has an index of its own."""
    table, model, page = (tmp_path / name for name in ("t.parquet", "m.skauc", "r.html"))
    frame = tumours()
    frame.loc[[0, 50, 120], "target"] = None
    frame.index = [f"tumour {number}" for number in range(len(frame))]
    frame.to_parquet(table)
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", table, "--target", "target", *QUICK, "-o", model, "--report", page)
    for command in (fit, ("report", model, table, "-o", page, "--force")):
        answer = run(*command)
        assert answer.code == 0, answer.err
        content = re.search(r'id="content"[^>]*>(.*?)</script>', page.read_text(), re.DOTALL)[1]
        lookup = json.loads(content)["lookup"]
        assert len(lookup["numbers"]) == (40 if command is fit else 197)
        number, steps = lookup["numbers"][30], lookup["steps"][30]
        expected = run("explain", model, tmp_path / "t.csv", "--rows", number, "--json")
        explained = expected.json["rows"][0]["contributions"]
        assert steps == pytest.approx(list(explained.values()), rel=1e-3, abs=1e-6)


def test_a_small_model_is_offered_and_chosen(customers):
    words = ("fit", customers.train, "--target", "churned", "--effort", "quick", "--jobs", 1)
    words += ("--n-basis", 64, "-o", customers.folder / "size.skauc", "--force")
    found = run(*words, "--json").json["summary"]["size_choices"]
    small = found["small"]["params"]["n_basis"]
    n_basis = load_model(customers.folder / "size.skauc").estimator_[-1].n_basis_
    assert small < n_basis
    assert f"{small} centres instead of {n_basis}, cross-validated" in run(*words).out
    assert f"{small} centres, fitted in" in run(*words, "--size", "small").out
    assert "--size must be one of 'best', 'small'; got 'tiny'" in run(*words, "--size", "tiny").err


def test_the_rows_set_aside_are_not_learnt_from(customers):
    """The AUC that is printed is that of the model in the file, on the other fifth."""
    answer = run("fit", customers.train, "--target", "churned", *QUICK, "--json", "--force", "-o",
                 customers.folder / "again.skauc")  # fmt: skip
    summary, test = answer.json["summary"], answer.json["test"]
    assert (summary["train_rows"], summary["test_rows"]) == (400, 100)
    assert test["rows"] == 100
    assert test["auc"]["low"] < test["auc"]["auc"] < test["auc"]["high"]
    assert answer.err == ""


def test_a_table_of_its_own_to_test_on(customers):
    path = customers.folder / "own.skauc"
    words = ("fit", customers.train, "--target", "churned", "--test", customers.test)
    answer = run(*words, *QUICK, "-o", path, "--json")
    frame = read_table(customers.test)
    probabilities = load_model(path).predict_proba(frame.drop(columns="churned"))[:, 1]
    assert answer.json["summary"]["test_rows"] == 200
    expected = roc_auc_score(frame["churned"] == "yes", probabilities)
    assert answer.json["test"]["auc"]["auc"] == pytest.approx(expected)


def test_text_that_looks_like_numbers_in_the_table_to_test_on(tmp_path):
    frame = tumours(120).assign(code=np.resize(["7", "8", "x"], 120))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame[frame.code != "x"].to_csv(tmp_path / "later.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "--target", "target", "--test", tmp_path / "later.csv")
    answer = run(*words, *QUICK, "-o", tmp_path / "m.skauc")
    assert answer.code == 0, answer.err


def test_columns_that_are_not_used_are_named(customers):
    path = customers.folder / "named.skauc"
    answer = run("fit", customers.train, "--target", "churned", *QUICK, "-o", path)
    assert "Column 'id' is not used: it is text in which no word recurs." in answer.err
    assert "Column 'constant' is not used: it has one value only." in answer.err
    assert "400 rows" in answer.out


def test_the_positive_label_the_weights_and_columns_to_drop(tmp_path):
    table, path = tmp_path / "t.csv", tmp_path / "m.skauc"
    tumours().assign(w=1.0, spoiler=range(200)).to_csv(table, index=False)
    options = ("--positive", "no", "--weights", "w", "--drop", "spoiler")
    answer = run("fit", table, "--target", "target", *options, *QUICK, "-o", path)
    assert "target = no, " in answer.out
    assert "(the other label is yes)" in answer.out
    manifest = inspect_model(path)
    assert manifest["summary"]["labels"] == ["yes", "no"]
    assert manifest["summary"]["left_out"] == ["target", "w", "spoiler"]
    assert "spoiler" not in {column["name"] for column in manifest["columns"]}


def test_weights_count_as_repetition_in_the_figures(tmp_path):
    frame = tumours().assign(w=1.0)
    frame.loc[::3, "w"] = 3.0
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ("--weights", "w", *QUICK, "--json")
    answer = run("fit", tmp_path / "t.csv", "--target", "target", *options, "-o", tmp_path / "m")
    own = answer.json["test"]["own_threshold"]
    assert own["true_positives"] + own["false_negatives"] > answer.json["test"]["positives"]


def test_the_last_rows_and_whole_groups_are_tested_on(tmp_path):
    frame = tumours(200).assign(day=np.arange(200) // 2, clinic=np.arange(200) % 17)
    table = tmp_path / "t.csv"
    frame.to_csv(table, index=False)
    options = ("--target", "target", *QUICK, "--json", "--force", "-o", tmp_path / "m.skauc")
    by_time = run("fit", table, *options, "--time", "day").json
    assert by_time["summary"]["test_rows"] == 40
    assert by_time["test"]["positives"] == (frame.target[160:] == "yes").sum()
    assert "day" in {column["name"] for column in by_time["columns"]}
    by_group = run("fit", table, *options, "--group", "clinic").json
    assert "clinic" in by_group["summary"]["left_out"]
    assert by_group["test"]["positives"] != by_time["test"]["positives"]
    answer = run("fit", table, "--target", "target", "--time", "target")
    assert answer.code == 2
    assert "must be a column of dates or numbers; it has values like" in answer.err
    assert "no column 'dya'" in run("fit", table, "--target", "target", "--time", "dya").err


def test_a_part_of_the_roc_curve_is_ranked_for(tmp_path):
    tumours(200).to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "m.skauc"
    options = ("--target", "target", *QUICK, "--max-fpr", 0.2, "-o", path)
    assert run("fit", tmp_path / "t.csv", *options).code == 0
    assert load_model(path).estimator_[-1].max_fpr == 0.2
    answer = run("fit", tmp_path / "t.csv", *options, "--min-tpr", 2, "--force")
    assert answer.code == 2
    assert "--min-tpr" in answer.err


def write_libsvm(frame, path):
    X = frame.drop(columns="target").to_numpy()
    dump_svmlight_file(X, frame.target == "yes", str(path), zero_based=False)


def write_arff(frame, path):
    lines = ["@RELATION t", *(f"@ATTRIBUTE '{name}' REAL" for name in frame.columns[:-1])]
    lines += ["@ATTRIBUTE target {no,yes}", "@DATA"]
    lines += [",".join(map(str, row)) for row in frame.itertuples(index=False)]
    path.write_text("\n".join(lines))


WRITERS = {
    "t.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "t.parquet": lambda frame, path: frame.to_parquet(path),
    "t.arff": write_arff,
    "t.libsvm": write_libsvm,
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables_of_other_formats_are_fitted_and_predicted(name, tmp_path):
    """All formats are compared in tests/app/tables."""
    WRITERS[name](tumours(120), tmp_path / name)
    path = tmp_path / "m.skauc"
    answer = run("fit", tmp_path / name, "--target", "target", *QUICK, "-o", path)
    assert answer.code == 0, answer.err
    answer = run("predict", path, tmp_path / name)
    assert answer.code == 0, answer.err
    assert len(answer.out.splitlines()) == 121


def test_standard_input(tmp_path):
    content = tumours(120).to_csv(index=False)
    path = tmp_path / "m.skauc"
    answer = run("fit", "-", "--target", "target", *QUICK, "-o", path, input=content)
    assert answer.code == 0, answer.err
    packed = gzip.compress(content.encode())
    answer = run("predict", path, "-", input=packed)
    assert len(answer.out.splitlines()) == 121


def test_the_file_is_named_after_the_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tumours(120).to_csv("a.table.csv.gz", index=False)
    assert run("fit", "a.table.csv.gz", "--target", "target", *QUICK).code == 0
    assert (tmp_path / "a.table.skauc").exists()


def test_few_rows_of_a_class_are_fitted_and_not_tested(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "y": np.arange(40) < 4})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "--target", "y", "--n-basis", 2, "--jobs", 1)
    answer = run(*words, "-o", tmp_path / "m.skauc")
    assert answer.code == 0
    assert "The smaller class has 4 rows. The settings and the probabilities rest on" in answer.err
    assert "so there is no test AUC" in answer.err
    answer = run(*words, "-o", tmp_path / "n.skauc", "--report", tmp_path / "r.html")
    assert answer.code == 2
    assert "A report needs test rows" in answer.err
    assert not (tmp_path / "n.skauc").exists()


def test_a_seed_gives_the_same_file_again(customers):
    """But for the time it was made."""
    paths = [customers.folder / f"seed{i}.skauc" for i in (1, 2)]
    for path in paths:
        run("fit", customers.train, "--target", "churned", *QUICK, "--seed", 3, "-o", path)
    frame = read_table(customers.test).drop(columns="churned")
    first, second = (load_model(path).predict_proba(frame) for path in paths)
    assert np.array_equal(first, second)


def test_a_column_that_gives_the_answer_away_is_named(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "paid back": rng.normal(size=200)})
    frame["default"] = frame["paid back"] < -0.5
    # As a spreadsheet shows amounts: no two are the same text.
    frame["paid back"] = [f"${value:,.4f}" for value in frame["paid back"]]
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "--target", "default", *QUICK, "-o")
    answer = run(*words, tmp_path / "a.skauc")
    assert answer.code == 0
    assert "Warning: 'paid back' alone separates the classes" in answer.err
    assert "fit again with --drop 'paid back'\n" in answer.err
    assert not any(line.endswith(" ") for line in answer.out.splitlines())
    answer = run(*words, tmp_path / "b.skauc", "--json")
    assert answer.err == ""
    assert answer.json["summary"]["leak_suspects"] == ["paid back"]


def written_as_text(n_rows=120):
    """Numbers and dates as people write them, and a code with leading zeros."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3 == 0
    paid = [f"${value:,.2f}" for value in rng.normal(2000 + 900 * y, 400)]
    paid[5] = "unknown"
    return pd.DataFrame(
        {
            "paid": paid,
            "code": rng.choice(["007", "042", "100"], n_rows),
            "seen": [f"{day:02d}/03/2024" for day in rng.integers(1, 29, n_rows)],
            "y": y,
        }
    )


def test_the_kind_of_each_column_is_printed(tmp_path):
    written_as_text().to_csv(tmp_path / "t.csv", index=False)
    answer = run("fit", tmp_path / "t.csv", "--target", "y", *QUICK, "-o", tmp_path / "m")
    assert answer.code == 0, answer.err
    lines = answer.err.splitlines()
    assert "numeric:  paid ($1,234.5), code" in lines
    assert "date:     seen (%d/%m/%Y)" in lines
    message = "Column 'paid': 1 values are not numbers and count as missing: 'unknown'."
    assert message in lines


def test_the_kind_of_a_column_can_be_chosen(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.skauc"
    written_as_text().to_csv(path, index=False)
    options = ("--category", "code", "--category", "seen", "--numeric", "paid", "--json")
    answer = run("fit", path, "--target", "y", *options, *QUICK, "-o", model)
    assert answer.code == 0, answer.err
    kinds = {column["name"]: column["kind"] for column in answer.json["columns"]}
    assert kinds == {"paid": "numeric", "code": "category", "seen": "category"}
    centres = run("inspect", model, "--json").json["model"]["centres"]
    assert {centre["values"]["code"] for centre in centres} <= {"007", "042", "100", ""}
    assert run("predict", model, path).code == 0
    answer = run("fit", path, "--target", "y", "--date", "sen", *QUICK, "-o", tmp_path / "n")
    assert answer.code == 2
    assert "'sen'" in answer.err


def test_a_long_fit_says_how_long_it_takes(tmp_path, monkeypatch):
    """And how to make it quicker, before it begins."""
    monkeypatch.setattr("skauc.app.workflow.train_model", interrupt)
    tumours(400).to_csv(tmp_path / "t.csv", index=False)
    answer = run(
        "fit", tmp_path / "t.csv", "--target", "target", "--effort", "thorough", "--jobs", 1
    )
    assert answer.code == 130
    first, second, *_ = answer.err.splitlines()
    assert first.startswith("Positive label: target = yes, ")
    assert re.match(r"Choosing the settings by cross-validation takes about \d+ s\.", second)
    assert "--effort quick takes a quarter of the time" in second
    answer = run("fit", tmp_path / "t.csv", "--target", "target", "--effort", "quick")
    assert answer.err == "skauc: Interrupted. Nothing was written.\n"


def interrupt(*args):
    raise KeyboardInterrupt


def test_what_cannot_be_saved_is_not_trained(tmp_path, monkeypatch):
    def refuse(estimator):
        raise ModelFileError("The model cannot be stored: it is too odd.")

    monkeypatch.setattr("skauc.persistence.check_savable", refuse)
    monkeypatch.setattr("skauc.sparse.SparseKernelAUC.fit", interrupt)
    tumours(120).to_csv(tmp_path / "t.csv", index=False)
    answer = run("fit", tmp_path / "t.csv", "--target", "target", *QUICK)
    assert answer.code == 2
    assert answer.err.endswith("it is too odd.\n")
