"""``skauc evaluate``, ``report``, ``export``, ``inspect`` and ``demo``."""

import re
from datetime import date, time

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from program import run
from sklearn.datasets import make_moons
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from skauc import SparseKernelAUC, SparseKernelAUCCV, load_model, save_model
from skauc.app.tables import read_table
from skauc.metrics import partial_auc


def scored(customers):
    frame = read_table(customers.test)
    model = load_model(customers.model)
    X = frame.drop(columns="churned")
    return frame["churned"] == "yes", model.predict_proba(X)[:, 1], model.predict(X)


def test_evaluate_agrees_with_scikit_learn(customers):
    positive, probabilities, predicted = scored(customers)
    figures = run("evaluate", customers.model, customers.test, "--json").json
    assert figures["auc"]["auc"] == pytest.approx(roc_auc_score(positive, probabilities))
    assert figures["partial_auc"]["value"] == pytest.approx(
        roc_auc_score(positive, probabilities, max_fpr=0.1)
    )
    assert figures["average_precision"] == pytest.approx(
        average_precision_score(positive, probabilities)
    )
    own = figures["own_threshold"]
    counts = confusion_matrix(positive, predicted).ravel().tolist()
    names = ("true_negatives", "false_positives", "false_negatives", "true_positives")
    assert [own[name] for name in names] == counts


def test_thresholds_do_what_was_wanted(customers):
    positive, probabilities, _ = scored(customers)
    wishes = ("--recall", 0.9, "--precision", 0.4, "--cost-miss", 20, "--min-tpr", 0.8)
    figures = run("evaluate", customers.model, customers.test, *wishes, "--json").json
    part = figures["partial_auc"]
    assert (part["max_fpr"], part["min_tpr"]) == (None, 0.8)
    assert part["value"] == pytest.approx(partial_auc(positive, probabilities, min_tpr=0.8))
    recall, precision, cost = figures["wanted"]
    flagged = probabilities >= recall["threshold"]
    assert np.mean(flagged[positive]) == pytest.approx(recall["recall"])
    assert recall["recall"] >= 0.9
    flagged = probabilities >= precision["threshold"]
    assert np.mean(positive[flagged]) == pytest.approx(precision["precision"])
    assert precision["precision"] >= 0.4

    def cost_at(threshold):
        flagged = probabilities >= threshold
        return np.sum(flagged & ~positive) + 20 * np.sum(~flagged & positive)

    assert cost_at(cost["threshold"]) == min(cost_at(t) for t in [*probabilities, 2.0])


def test_thresholds_are_printed_in_full(tmp_path):
    """The scores of many rows differ in the eighth digit."""
    X = pd.DataFrame({"x": [*np.linspace(-3, 0, 150), *(1 + 1e-7 * np.arange(150))]})
    y = np.arange(300) >= 150
    plain = {"refine": False, "linear_term": False, "scaling": None}
    save_model(SparseKernelAUC(2, gamma=0.2, **plain).fit(X, y), tmp_path / "m.skauc")
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    words = ("evaluate", tmp_path / "m.skauc", tmp_path / "t.csv", "--target", "y")
    wishes = [word for recall in (0.2, 0.5, 0.7) for word in ("--recall", recall)]
    exact = run(*words, *wishes, "--json").json["wanted"]
    lines = run(*words, *wishes).out.splitlines()
    printed = [line.split() for line in lines if line.startswith("recall of")]
    assert [float(cells[3]) for cells in printed] == [each["threshold"] for each in exact]


def test_a_precision_that_no_threshold_has(customers):
    answer = run("evaluate", customers.model, customers.test, "--precision", 1.0, "--recall", 0.5)
    assert answer.code == 0
    assert "recall of 0.5" in answer.out
    assert "AUC" in answer.out


def test_a_threshold_beside_that_of_the_model(customers):
    positive, probabilities, predicted = scored(customers)
    figures = run("evaluate", customers.model, customers.test, "--threshold", 0.3, "--json").json
    own, (other,) = figures["own_threshold"], figures["wanted"]
    assert own["wanted"] == "the model's own threshold"
    assert own["true_positives"] == np.sum(predicted[positive])
    assert (other["wanted"], other["threshold"]) == ("threshold of 0.3", 0.3)
    assert other["true_positives"] == np.sum(probabilities[positive] >= 0.3)
    figures = run("evaluate", customers.model, customers.test, "--threshold", 1, "--json").json
    assert figures["wanted"][0]["true_positives"] == 0
    assert figures["wanted"][0]["precision"] is None


def test_a_random_ranking_of_weighted_rows(customers, tmp_path):
    table = tmp_path / "t.csv"
    frame = customers.frame[500:].assign(w=1.0)
    frame.loc[frame.churned == "yes", "w"] = 9.0
    frame.to_csv(table, index=False)
    share = frame.w[frame.churned == "yes"].sum() / frame.w.sum()
    answer = run("evaluate", customers.model, table, "--weights", "w")
    assert f"a random ranking has {share:.4f}" in answer.out


def test_one_limit_keeps_the_other_of_the_model(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.arange(200) % 3 == 0
    X[y] += 1
    path, table = tmp_path / "own.skauc", tmp_path / "t.csv"
    model = SparseKernelAUC(3, max_fpr=0.8, min_tpr=0.4).fit(X, y)
    save_model(model, path)
    rows = "\n".join(f"{a},{b},{label}" for (a, b), label in zip(X, y, strict=True))
    table.write_text(f"x0,x1,y\n{rows}\n")
    answer = run("evaluate", path, table, "--target", "y", "--max-fpr", 0.7, "--json")
    part = answer.json["partial_auc"]
    assert (part["max_fpr"], part["min_tpr"]) == (0.7, 0.4)
    expected = partial_auc(y, model.decision_function(X), max_fpr=0.7, min_tpr=0.4)
    assert part["value"] == pytest.approx(expected)


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_a_cost_of_false_alarms_needs_that_of_misses(command, customers):
    answer = run(command, customers.model, customers.test, "--cost-false-alarm", 3)
    assert answer.code == 2
    assert answer.err.startswith("skauc: --cost-false-alarm needs --cost-miss")


def test_report(customers, tmp_path):
    path = tmp_path / "report.html"
    options = ("--train", customers.train, "--cost-miss", 20, "-o", path, "--title", "Churn")
    answer = run("report", customers.model, customers.test, *options)
    assert answer.code == 0, answer.err
    assert answer.out == f"Wrote {path}\n"
    page = path.read_text()
    assert "<title>Churn" in page
    assert "“yes”" in page


def test_a_report_on_a_model_of_a_script(tmp_path):
    """Its labels are text, and the file has no summary. Rows have the numbers of their tables."""
    X, y = make_moons(300, noise=0.3, random_state=0)
    labels = np.array(["no", "yes"])[y]
    path, table, page = tmp_path / "m.skauc", tmp_path / "t.csv", tmp_path / "report.html"
    save_model(SparseKernelAUC(8, refine=False, scaling=None, random_state=0).fit(X, labels), path)
    pd.DataFrame(X, columns=["x0", "x1"]).assign(t=labels).to_csv(table, index=False)
    answer = run("report", path, table, "--target", "t", "--train", table, "-o", page)
    assert answer.code == 0, answer.err
    assert "“yes” is ranked" in page.read_text()


def test_the_report_of_a_fit_names_training_rows_by_their_place_in_the_table(tmp_path):
    X, y = make_moons(300, noise=0.3, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(place=np.arange(1.0, 301.0) * 1000, y=y)
    table, page = tmp_path / "t.csv", tmp_path / "report.html"
    frame.to_csv(table, index=False)
    options = ("--effort", "quick", "--n-basis", 4, "--jobs", 1, "-o", tmp_path / "m.skauc")
    answer = run("fit", table, "--target", "y", *options, "--report", page)
    assert answer.code == 0, answer.err
    numbers = re.findall(r"nearest training row is row ([0-9]+)\.", page.read_text())
    places = re.search(
        r"place</th><td[^>]*>([0-9,]+)</td><td[^>]*>([0-9,]+)</td>", page.read_text()
    )
    assert [each.replace(",", "") for each in places.groups()] == [f"{n}000" for n in numbers]


def test_export_gives_what_the_model_gives(customers, tmp_path):
    path = tmp_path / "model.onnx"
    answer = run("export", customers.model, "-o", path, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["outputs"] == ["label", "probabilities"]
    session = onnxruntime.InferenceSession(path.read_bytes())
    _, probabilities, predicted = scored(customers)
    step = load_model(customers.model).estimator_[0]
    frame = read_table(customers.test, kinds=step.columns_)
    inputs = {name: as_input(frame[name], kind) for name, kind in step.columns_.items()}
    labels, found = session.run(None, inputs)
    assert np.allclose(found[:, 1], probabilities, atol=1e-8)
    assert np.array_equal(labels.astype(bool), predicted)


def as_input(column, kind):
    """The column as the notes of to_onnx say: strings, or numbers with NaN, dates in seconds."""
    if kind in ("category", "text"):
        return column.fillna("").to_numpy(object)[:, None]
    if kind == "date":
        seconds = read_dates(column)
        return seconds[:, None]
    return column.to_numpy(np.float64, na_value=np.nan)[:, None]


def read_dates(column):
    dates = column.astype("datetime64[s]")
    return np.where(dates.isna(), np.nan, dates.astype("int64"))


def test_inspect(customers):
    answer = run("inspect", customers.model, "--centres", 3)
    n_basis = load_model(customers.model).estimator_[-1].n_basis_
    assert answer.code == 0, answer.err
    assert "churned = yes, " in answer.out
    assert f"{n_basis} centres" in answer.out
    assert f"3 of {n_basis} centres, in the units of the table:" in answer.out
    assert "town_Oslo" not in answer.out
    found = run("inspect", customers.model, "--json").json
    columns = {column["name"]: column["relevance"] for column in found["model"]["columns"]}
    assert columns["town"] > 0
    assert len(columns) < len(found["model"]["features"])
    assert found["summary"]["target"] == "churned"
    assert len(found["model"]["centres"]) == n_basis
    values = found["model"]["centres"][0]["values"]
    assert values["town"] in ("Oslo", "Bern", "Århus", "")
    assert 1979 < int(values["born"][:4]) < 1984


def test_inspect_says_that_a_model_is_an_average(tmp_path):
    X, y = make_moons(120, noise=0.5, random_state=0)
    model = SparseKernelAUCCV(n_basis=16, cv=2, random_state=0).fit(X, y)
    path = save_model(model, tmp_path / "average.skauc")
    words = f"the average of {len(model.ensemble_)} models"
    assert len(model.ensemble_) > 1
    assert words in run("inspect", path).out
    assert run("inspect", path, "--json").json["model"]["average"] == words


def test_a_model_that_was_saved_from_python(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 3 == 0
    path, table = tmp_path / "own.skauc", tmp_path / "t.csv"
    save_model(SparseKernelAUC(3).fit(X, y), path)
    rows = "\n".join(f"{a},{b},{label}" for (a, b), label in zip(X, y, strict=True))
    table.write_text(f"x0,x1,y\n{rows}\n")
    assert "3 of 3 centres, in the units of the table:" in run("inspect", path).out
    answer = run("evaluate", path, table)
    assert answer.code == 2
    assert "Name it with --target" in answer.err
    assert run("evaluate", path, table, "--target", "y").code == 0


SPELLINGS = {
    "codes": (["00", "01"], ["00", "01"]),
    "numbers": ([0, 1], ["0", "1"]),
    "dates": (["2024-05-01", "2024-06-01"], [date(2024, 5, 1), date(2024, 6, 1)]),
    "times": (["08:00", "20:00"], [time(8), time(20)]),
    "truths": (["false", "true"], [False, True]),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_labels_of_one_table_in_two_formats(name, tmp_path):
    """Fitted to either file, a model is evaluated and compared on both."""
    frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=60)})
    places = np.arange(60) % 3 == 0
    tables, models = [tmp_path / "t.csv", tmp_path / "t.parquet"], []
    for table, labels in zip(tables, SPELLINGS[name], strict=True):
        labelled = frame.assign(y=pd.Series(labels).iloc[places.astype(int)].to_numpy())
        labelled.to_csv(table, index=False) if table == tables[0] else labelled.to_parquet(table)
        models.append(table.with_suffix(f"{table.suffix}.skauc"))
        words = ("--effort", "quick", "--n-basis", 2, "--jobs", 1, "-o", models[-1])
        answer = run("fit", table, "--target", "y", *words)
        assert answer.code == 0, answer.err
    for model in models:
        figures = [run("evaluate", model, table, "--json").json for table in tables]
        assert figures[0]["auc"] == figures[1]["auc"]
        assert figures[0]["positives"] == 20
    answer = run("compare", *models, tables[0])
    assert answer.code == 0, answer.err


@pytest.mark.parametrize("command", ["evaluate", "report", "compare"])
def test_a_feature_can_be_the_weights_as_well(command, customers, tmp_path):
    models = [customers.model] * (2 if command == "compare" else 1)
    options = () if command == "evaluate" else ("-o", tmp_path / "page.html")
    answer = run(command, *models, customers.test, "--weights", "visits", *options)
    assert answer.code == 0, answer.err


def test_demo():
    """Both models, all ten digits, and what was measured."""
    found = run("demo", "--n-basis", 4, "--n-positive", 20, "--json").json
    assert (found["rows"]["positive"], found["rows"]["test"]) == (20, 899)
    assert 20 / found["rows"]["train"] < 0.03
    ours, theirs = found["models"].values()
    assert list(found["models"]) == ["SparseKernelAUC", "HistGradientBoostingClassifier"]
    assert len(ours["fits"]) == len(theirs["fits"]) == 10
    for fit in ours["fits"] + theirs["fits"]:
        assert 0.5 < fit["auc"]["low"] <= fit["auc"]["auc"] <= fit["auc"]["high"] <= 1
        assert fit["n_bytes"] > fit["n_numbers"] > fit["n_parts"]
    assert ours["fits"][0]["n_parts"] == 4
    assert ours["mean_auc"] == pytest.approx(np.mean([fit["auc"]["auc"] for fit in ours["fits"]]))


@pytest.mark.filterwarnings("default:The target")
def test_rows_without_a_label_are_left_out_and_told_of(customers, tmp_path):
    path = tmp_path / "gaps.csv"
    frame = customers.frame[500:].copy()
    frame.loc[frame.index[3:10], "churned"] = None
    frame.to_csv(path, index=False)
    answer = run("evaluate", customers.model, path, "--json")
    assert answer.json["rows"] == 193
    assert answer.err == (
        "skauc: warning: The target 'churned' is missing in 7 of 200 rows, first in row 4, "
        "counted from 1. These rows are left out.\n"
    )
    frame.drop(columns="age").to_csv(path, index=False)
    answer = run("evaluate", customers.model, path)
    assert answer.code == 2
    assert answer.err.startswith("skauc: The table lacks the column 'age'")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    "command", ["predict", "explain", "evaluate", "drift", "report", "compare"]
)
def test_every_command_says_what_is_wrong_with_the_rows(command, customers, tmp_path):
    """A town that is not known, ages in months, and a column that is new."""
    change = {"town": "Rome", "age": 12 * customers.frame["age"], "new": 1}
    customers.frame.assign(**change)[500:].to_csv(tmp_path / "t.csv", index=False)
    models = (customers.model,) * (2 if command == "compare" else 1)
    output = ("-o", tmp_path / "r.html") if command == "report" else ()
    answer = run(command, *models, tmp_path / "t.csv", *output)
    _check_messages(answer)


def test_fit_says_what_is_wrong_with_the_rows_of_a_test_table(customers, tmp_path):
    change = {"town": "Rome", "age": 12 * customers.frame["age"], "new": 1}
    customers.frame.assign(**change)[500:].to_csv(tmp_path / "t.csv", index=False)
    quick = ("--effort", "quick", "--n-basis", 2, "--jobs", 1, "-o", tmp_path / "m.skauc")
    words = ("fit", customers.train, "--target", "churned", "--test", tmp_path / "t.csv", *quick)
    _check_messages(run(*words, "--report", tmp_path / "r.html"))


def _check_messages(answer):
    assert answer.code == 0, answer.err
    assert "Note: The model was fitted without the column 'new'; it is ignored.\n" in answer.err
    assert answer.err.count("warning: Column 'town': no value is known from training") == 1
    assert answer.err.count("warning: Column 'age': ") == 1
