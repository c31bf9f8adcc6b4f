"""``python -m reproduction``: output, exit status, Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reproduction.__main__ import main

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "reproduction"]


def run(*arguments):
    words = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, cwd=ROOT)


@pytest.mark.usefixtures("data_folder")
def test_only_the_names_of_files_are_printed(tmp_path, capsys):
    assert main(["table1", "--datasets", "sonar, glass", "--out", str(tmp_path)]) == 0
    written = capsys.readouterr()
    assert written.err == ""
    assert written.out.split() == [
        str(tmp_path / name) for name in ("results.jsonl", "table1.md", "table1.tex", "table1.html")
    ]
    assert "glass" in (tmp_path / "table1.md").read_text()


@pytest.mark.usefixtures("data_folder")
def test_progress_is_written_to_standard_error(tmp_path):
    arguments = ["table3", "--datasets", "segment", "--methods", "AdaOAM", "--quick"]
    answer = run(*arguments, "--out", tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "table3: 18/18 tasks" in answer.stderr
    assert Path(answer.stdout.split()[0]).name == "results.jsonl"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table9"], "`what` must be one of 'table1', "),
        (["table2", "--datasets", "sonar,iris"], "got 'iris'"),
        (["table2", "--methods", "SVM"], "`methods` must be one of 'SparseKernelAUC', "),
        (["table2", "--device", "no-such-device"], "torch"),
        (["table2", "--runs", "0"], "`n_runs` must be an integer of at least 1; got 0"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(tmp_path, capsys, arguments, message):
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.count("\n") == 1
    assert message in written.err


def test_a_damaged_data_set(tmp_path, capsys, monkeypatch):
    (tmp_path / "sonar.npz").write_bytes(b"not an archive")
    monkeypatch.setenv("SKAUC_DATA", str(tmp_path))
    assert main(["table1", "--datasets", "sonar", "--out", str(tmp_path / "out")]) == 2
    assert "sonar.npz is not a whole NumPy archive" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("data_folder")
def test_ctrl_c_leaves_what_the_same_command_goes_on_with(tmp_path):
    arguments = ["table2", "--datasets", "glass", "--methods", "AdaOAM,OILK", "--quick"]
    command = [*PROGRAM, *arguments, "--out", str(tmp_path), "--jobs", "2"]
    program = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
    lines = tmp_path / "lines.jsonl"
    # A few of them: a worker that is told while it starts says so on its own.
    while program.poll() is None and not (lines.exists() and lines.read_text().count("\n") > 5):
        time.sleep(0.01)
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does: workers are told too
    _, said = program.communicate(timeout=60)
    if program.returncode == 0:
        pytest.skip("it was done before the signal came")
    assert program.returncode == 130
    assert "Interrupted. Finished tasks are kept; run the same command to resume." in said
    kept = lines.read_text()
    answer = run(*arguments, "--out", tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert lines.read_text().startswith(kept)
    assert (tmp_path / "table2.md").read_text().count("| 1 × 5 |\n") == 2
