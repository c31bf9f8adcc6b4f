"""The comparison of classifiers on tables."""

import importlib.util
import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.quality import ablation, table_peers


@pytest.fixture
def development(tmp_path, monkeypatch):
    """Two small tables, the second with a category."""
    rng = np.random.default_rng(0)
    x, target = rng.normal(size=90), np.arange(90) % 3 == 0
    frame = pd.DataFrame({"x": x + 2 * target, "target": target.astype(int)})
    frame.to_parquet(tmp_path / "a.parquet")
    town = pd.Categorical(rng.choice(["Oslo", "Bern"], 90))
    frame.assign(town=town)[["x", "town", "target"]].to_parquet(tmp_path / "b.parquet")
    monkeypatch.setattr(ablation, "DEV", tmp_path)


def line(table, fold, name, auc, seconds=1.0):
    return {
        "table": table,
        "fold": fold,
        "name": name,
        "auc": auc,
        "seconds": seconds,
        "bytes": 2000,
    }


LINES = [
    line("a", 0, "skauc", 0.9),
    line("a", 0, "other", 0.8),
    line("b", 0, "skauc", 0.7),
    line("b", 0, "other", 0.702),
]


@pytest.mark.parametrize("name", ["xRFM", "CatBoost", "logistic regression"])
def test_a_classifier_on_the_first_fold(development, name):
    package = table_peers.PACKAGES.get(name, "numpy")
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    for table in ("a", "b"):
        (found,) = table_peers.run(table, 0, [name], {})
        assert (found["table"], found["fold"], found["name"]) == (table, 0, name)
        assert found["auc"] > 0.6


def test_tables_with_more_rows_are_left_out(development, tmp_path):
    out = tmp_path / "lines.jsonl"
    table_peers.main(["run", "--rows", "80", "--only", "logistic regression", "--out", str(out)])
    assert out.read_text() == ""


def test_groups_of_tables(development):
    groups = table_peers.groups_of(LINES)
    tables = {group: {each["table"] for each in lines} for group, lines in groups.items()}
    assert tables == {
        "all tables": {"a", "b"},
        "odd places": {"a"},
        "even places": {"b"},
        "with categories": {"b"},
        "without categories": {"a"},
    }


def test_figures_of_a_classifier():
    first, second = table_peers.summarise([*LINES, line("c", 0, "skauc", 0.1)])
    assert (first["name"], first["tables"], first["near"]) == ("skauc", 2, 1.0)
    assert first["auc"] == pytest.approx(0.8)
    assert second["difference"] == pytest.approx(-0.049)
    assert second["near"] == 0.5
    assert table_peers.summarise([LINES[0], LINES[3]]) == []


def test_written_results(development, tmp_path, capsys):
    results, record = tmp_path / "lines.jsonl", tmp_path / "record.json"
    results.write_text("".join(json.dumps(each) + "\n" for each in LINES))
    table_peers.main(["show", str(results), "--json", str(record)])
    printed = capsys.readouterr().out
    assert "| skauc | 0.8000 |" in printed
    assert "| skauc | 0.8000, 1.5, 100% | 0.9000, 1.0, 100% | 0.7000, 2.0, 100% |" in printed
    found = json.loads(record.read_text())
    assert found["folds"] == 1
    assert found["auc"] == {"a": {"other": 0.8, "skauc": 0.9}, "b": {"other": 0.702, "skauc": 0.7}}
    first = found["groups"]["with categories"][0]
    assert (first["name"], first["auc"], first["seconds"]) == ("other", 0.702, 1.0)
