"""``-`` is standard output in every command."""

import io
import os

import numpy as np
import onnxruntime
import pytest
from program import run, run_binary

from skauc import load_model

QUICK = ("--effort", "quick", "--n-basis", 2, "--jobs", 1)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Run in an empty folder, and find it empty again."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not os.path.exists("-")


def test_a_model(customers, tmp_path):
    words = ("fit", customers.train, "--target", "churned", *QUICK, "-o", "-")
    code, content, err = run_binary(*words)
    assert code == 0, err
    assert "AUC" in err
    (tmp_path / "m.skauc").write_bytes(content)
    assert load_model(tmp_path / "m.skauc").predict_proba(
        customers.frame[:3].drop(columns="churned")
    ).shape == (3, 2)


def test_a_report_of_a_fit(customers, tmp_path):
    words = ("fit", customers.train, "--target", "churned", *QUICK, "-o", tmp_path / "m.skauc")
    answer = run(*words, "--report", "-")
    assert answer.code == 0, answer.err
    assert answer.out.lstrip().lower().startswith("<!doctype html>")
    assert answer.out.rstrip().endswith("</html>")
    assert "m.skauc" in answer.err


def test_a_report(customers):
    answer = run("report", customers.model, customers.test, "-o", "-")
    assert answer.code == 0, answer.err
    assert answer.out.rstrip().endswith("</html>")


def test_a_graph(customers):
    code, content, err = run_binary("export", customers.model, "-o", "-")
    assert code == 0, err
    assert onnxruntime.InferenceSession(content).get_outputs()[0].name == "label"
    assert "out: label" in err


def test_scores(customers):
    expected = run("predict", customers.model, customers.test).out
    assert run("predict", customers.model, customers.test, "-o", "-").out == expected


def test_two_outputs_cannot_both_go_there(customers):
    words = ("fit", customers.train, "--target", "churned", "-o", "-")
    answer = run(*words, "--report", "-")
    assert answer.code == 2
    assert "Only one output can go to standard output" in answer.err
    answer = run(*words, "--json")
    assert answer.code == 2
    assert "--json prints to standard output" in answer.err


def test_binary_content_does_not_go_to_a_terminal(customers, monkeypatch):
    from skauc.app.cli import files
    from skauc.exceptions import InvalidParameterError

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(files.sys, "stdout", Terminal())
    with pytest.raises(InvalidParameterError, match="standard output is a terminal"):
        files.check_outputs(files.STANDARD_OUTPUT, inputs=(), force=False)


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
@pytest.mark.parametrize("command", ["predict", "export", "report"])
def test_force_keeps_the_permissions_of_a_file(command, customers, tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(0o600)
    tables = [] if command == "export" else [customers.test]
    assert run(command, customers.model, *tables, "-o", path, "--force").code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert np.size(path.read_bytes()) > 0
