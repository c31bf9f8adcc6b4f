"""The program in processes of its own: start, round trip, exit codes, Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from program import run

from skauc import load_model, read_table

PROGRAM = [sys.executable, "-m", "skauc.app.cli"]


def program(*words, **options):
    words = [*PROGRAM, *map(str, words)]
    return without_progress(subprocess.run(words, capture_output=True, text=True, **options))


def without_progress(answer):
    """Remove the lines on progress: how many there are depends on the speed of the machine."""
    answer.stderr = re.sub(r"(?m)^[A-Z][a-z ]+: .*\d+ (s|min|left)\n", "", answer.stderr)
    return answer


def test_help_and_version_load_nothing_that_computes():
    code = (
        "import sys\nfrom skauc.app.cli import main\nsys.argv = ['skauc', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('numpy', 'sklearn', 'pandas', 'numba') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.rstrip().endswith("[]"), answer.stderr
    assert "evaluate" in answer.stdout
    assert program("--version").stdout.startswith("skauc ")


def test_a_model_goes_from_one_process_to_another(customers, tmp_path):
    answer = program("predict", customers.model, customers.test, cwd=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert len(answer.stdout.splitlines()) == 201
    assert list(tmp_path.iterdir()) == []


def test_text_that_the_system_has_no_characters_for(customers, tmp_path):
    """As in a pipe on Windows: the output is that of -o, in UTF-8."""
    frame = read_table(customers.test).assign(name="Łódź → “x”")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for words in (["drift"], ["predict", "--keep", "name"]):
        paths = [str(customers.model), str(tmp_path / "t.csv")]
        answer = subprocess.run(
            [*PROGRAM, *words, *paths],
            capture_output=True,
            env=os.environ | {"PYTHONIOENCODING": "cp1252"},
        )
        assert answer.returncode == 0, answer.stderr
        assert " → " in answer.stdout.decode()


def test_exit_codes(customers, tmp_path):
    answer = program("fit", "no.csv", "--target", "y", cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == "skauc: There is no file no.csv. Check the name.\n"


def test_a_reader_that_stops_listening(customers):
    """As with ``skauc predict ... | head -1``."""
    words = [*PROGRAM, "predict", str(customers.model), str(customers.test)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        error = process.stderr.read().decode()
    assert "Traceback" not in error


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_interrupted_before_there_is_a_model(tmp_path):
    """While it waits for its table: nothing is kept, and nothing is written."""
    os.mkfifo(tmp_path / "t.csv")
    words = [*PROGRAM, "fit", "t.csv", "--target", "y"]
    with (
        subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process,
        open(tmp_path / "t.csv", "wb"),  # opens when the program does
    ):
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error == "skauc: Interrupted. Nothing was written.\n"
    assert os.listdir(tmp_path) == ["t.csv"]


def interrupt(*args, **kwargs):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("skauc.app.workflow.evaluate_rows", "The best model so far is in"),
        ("skauc.report.make_report", "The model is in"),
    ],
)
def test_interrupted_after_the_fit(where, kept, customers, tmp_path, monkeypatch):
    monkeypatch.setattr(where, interrupt)
    path = tmp_path / "m.skauc"
    options = ("--effort", "quick", "--n-basis", 2, "--jobs", 1, "-o", path)
    report = ("--report", tmp_path / "r.html")
    answer = run("fit", customers.train, "--target", "churned", *options, *report)
    assert answer.code == 130
    assert kept in answer.err
    assert os.listdir(tmp_path) == ["m.skauc"]
    assert load_model(path).estimator_[-1].n_basis_ == 2


TUNING = """
import os, signal, sys
from skauc.sparse.search import Search
from skauc.app.cli import main

run = Search.run
def run_and_interrupt(self, *arguments, **options):
    scores = run(self, *arguments, **options)
    Search.run = run
    os.killpg(0, signal.SIGINT)  # as a terminal does, to workers too
    return scores

Search.run = run_and_interrupt
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_interrupted_while_tuning(tmp_path):
    """Ctrl-C after the first comparison: its best settings are fitted and in the file."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    X.assign(y=X.a + X.b**2 > 1.5).to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", "t.csv", "--target", "y", "--n-basis", "4", "--jobs", "2")
    answer = subprocess.run(
        [sys.executable, "-c", TUNING, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert answer.returncode == 130, answer.stderr
    assert answer.stderr.endswith(
        "skauc: Interrupted. The best model so far is in t.skauc. It has the best settings "
        "found before the interrupt.\n"
    )
    shown = run("inspect", tmp_path / "t.skauc", "--json").json
    assert shown["summary"]["interrupted"]
    assert shown["summary"]["test_auc"] > 0.8


def test_sigterm_ends_the_program_and_its_threads(tmp_path):
    """Exit code 143 as after a kill, and a sentence on what was kept."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(8000, 3)), columns=["a", "b", "c"])
    X.assign(y=X.a + X.b**2 > 1.5).to_csv(tmp_path / "t.csv", index=False)
    words = [*PROGRAM, "fit", "t.csv", "--target", "y", "--jobs", "2"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        is_tuning = any("by cross-validation takes about" in line for line in process.stderr)
        assert is_tuning
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=120)
    assert process.returncode == 143
    assert error.splitlines()[-1].startswith("skauc: Interrupted.")
