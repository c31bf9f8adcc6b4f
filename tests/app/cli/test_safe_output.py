"""Text from files is printed as text, whatever it holds."""

import json

import numpy as np
import pandas as pd
import pytest
from program import run

from skauc.app.cli.output import print_json, print_table, say, tell
from skauc.app.cli.text import printable, without_formula

HOSTILE = "\x1b[31mred\x1b]0;title\x07[/bold] [link=x]income[usd] \u202eleft\x9b2J"
QUICK = ("--effort", "quick", "--n-basis", 2, "--jobs", 1)


def test_control_characters_become_escapes():
    assert printable("a\x1b[0m\nb\u202e") == "a\\x1b[0m\\nb\\u202e"
    assert printable("Århus 東京 [x]") == "Århus 東京 [x]"
    assert all(char.isprintable() for char in printable("".join(map(chr, range(0x3000)))))


@pytest.mark.parametrize("output", [say, tell, lambda text: print_table((text, ""), [(text, "x")])])
def test_every_function_that_prints_escapes(output, capsys):
    output(HOSTILE)
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert "income[usd]" in text
    assert "[/bold] [link=x]" in text
    assert text.replace("\n", "").isprintable()


def test_json_has_no_control_characters_and_no_infinity(capsys):
    content = {"a": HOSTILE, "b": [np.inf, {"c": float("nan")}, np.float32("-inf")], "d": (1.5,)}
    print_json(content)
    text = capsys.readouterr().out.rstrip("\n")
    assert text.isprintable()
    assert json.loads(text) == {"a": HOSTILE, "b": [None, {"c": None}, None], "d": [1.5]}


@pytest.mark.parametrize("cell", ["-1.5", "+1e5", "", "a=b", "'=x", 1.5, None, -2])
def test_cells_that_are_no_formulas(cell):
    assert without_formula(cell) == cell


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A table with such columns, categories and labels, and a model of it."""
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    column = rng.normal(size=60)
    town = rng.choice([f"{HOSTILE} 1", "[/x]"], 60)
    y = np.where(column > 0.3, HOSTILE, "\x1b[2J[/x]")
    frame = pd.DataFrame({f"income[usd]{HOSTILE}": column, "[/red]": town, "y[/]": y})
    frame.to_csv(folder / "t.csv", index=False)
    words = ("--target", "y[/]", "--positive", HOSTILE, "--report", folder / "r.html")
    answer = run("fit", folder / "t.csv", *words, *QUICK, "-o", folder / "m.skauc")
    assert answer.code == 0, answer.err
    return folder, answer


def is_safe(answer):
    return (answer.out + answer.err).replace("\n", "").isprintable()


def test_fit_prints_names_and_labels_as_they_are(hostile):
    _, answer = hostile
    assert is_safe(answer)
    assert "income[usd]" in answer.err
    assert "[/red]" in answer.err
    assert "y[/] = \\x1b[31mred" in answer.out


@pytest.mark.parametrize("command", ["inspect", "evaluate", "export"])
def test_other_commands_print_them_too(command, hostile):
    folder, _ = hostile
    tables = [folder / "t.csv"] if command == "evaluate" else []
    options = ["-o", folder / "m.onnx", "--force"] if command == "export" else []
    answer = run(command, folder / "m.skauc", *tables, *options)
    assert answer.code == 0, answer.err
    assert is_safe(answer)
    assert "income[usd]" in answer.out or command == "evaluate"


def test_errors_print_them_too(hostile):
    folder, _ = hostile
    answer = run("fit", folder / "t.csv", "--target", f"[/x]{HOSTILE}")
    assert answer.code == 2
    assert is_safe(answer)
    assert "[/x]" in answer.err
