"""Attack: broken command lines, hostile words, unwritable outputs and signals.

A command ends with a documented status and one line that says what is wrong. It prints no
traceback and no escape sequence from the data, and leaves no half-written file and no process.
"""

from __future__ import annotations

import functools
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from skauc import inspect_model
from tests.attacks.broken_commands import KINDS, QUICK, Command, broken_models
from tests.attacks.broken_tables import as_csv, good_table
from tests.attacks.judging import demand, random_for
from tests.attacks.supervisor import ROOT

NAME = "command_lines"
PROGRAM = (sys.executable, "-m", "skauc.app.cli")
STATUS = {-signal.SIGINT: 130, -signal.SIGTERM: 143}
# Control characters that a terminal obeys. What rich writes to a terminal is something else.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f]")
PAYLOAD = re.compile(r"\x1b\]|\x1b\[2J|\x1b\[31mred|\x9b|\x07")
SECONDS = 150


@dataclass(frozen=True)
class Answer:
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str
    left_processes: bool


class Attack:
    """One command line per case."""

    def __init__(self, folder: Path, seed: int):
        self.kind, self._seed, self._folder = "", seed, folder / "base"
        # A shell lets its background jobs ignore SIGINT, and they let the program ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._folder.mkdir()
        (self._folder / "train.csv").write_bytes(as_csv(good_table(80)))
        (self._folder / "test.csv").write_bytes(as_csv(good_table(60, seed=1)))
        (self._folder / "precious").write_text("precious")
        words = ("fit", "train.csv", "--target", "y", *QUICK, "--drop", "id", "-o", "model.skauc")
        answer = run(Command("prepare", words), words, self._folder)
        if answer.status != 0:
            raise RuntimeError(f"the usual model cannot be fitted: {answer.err}")
        self._model = (self._folder / "model.skauc").read_bytes()

    def run(self, case: int) -> str:
        """Run one command line in a folder of its own."""
        rng = random_for(NAME, self._seed, case)
        maker = KINDS[7 * case % len(KINDS)]  # a few cases see many kinds
        is_model = maker is broken_models
        command = maker(rng, self._model) if is_model else maker(rng)
        self.kind = f"{command.kind}: skauc {' '.join(command.words)}"[:300]
        folder = self._folder.with_name("case")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._folder, folder)
        for name, content in command.files.items():
            (folder / name).write_bytes(content)
        outcome = self._judged(command, command.words, folder)
        if command.then is not None and outcome == "status 0":
            self.kind = f"{command.kind}: skauc {' '.join(command.then)}"[:300]
            outcome = self._judged(command, command.then, folder)
        return outcome

    def _judged(self, command: Command, words: tuple[str, ...], folder: Path) -> str:
        before = snapshot(folder)
        answer = run(command, words, folder)
        if command.signal is not None and "Could not import runpy module" in answer.err:
            return "a signal before Python had started"
        status = STATUS.get(answer.status, answer.status)
        allowed = {0, 2} | ({1} if command.closed_output else set())
        if command.signal is not None:
            allowed = {0, 130 if command.signal == signal.SIGINT else 143}
        self._judge_words(command, words, answer, status)
        shown = f"{answer.err or answer.out}"[-2000:]
        demand(status in allowed, f"exit status {answer.status}, not one of {allowed}: {shown!r}")
        demand(not answer.left_processes, "a process was left behind")
        judge_files(folder, before, words, status, answer.err)
        return f"status {status}"

    def _judge_words(self, command: Command, words, answer: Answer, status: int) -> None:
        everything = answer.out + answer.err
        if "Traceback" in everything and "/skauc/" in everything:
            demand(False, f"a traceback: {everything[-400:]!r}")
        # A table, a model or a page on standard output is data and not for a terminal.
        is_data = (words[0] == "predict" or "-" in words) and not command.terminal
        for text in (answer.err, "" if is_data else answer.out):
            bad = (PAYLOAD if command.terminal else CONTROL).search(text)
            demand(bad is None, f"a control character is printed: {bad and bad[0]!r} in {text!r}")
        if status == 0 and words == command.words and not command.terminal:
            for label in command.shown:
                demand(label in everything, f"the label {label!r} is not shown: {everything!r}")
        if command.terminal or command.closed_output or command.signal is not None:
            return
        if status == 2:
            last = answer.err.rstrip("\n").rpartition("\n")[2]
            is_usage = answer.err.startswith("Usage:") and "Error:" in answer.err
            is_told = last.startswith("skauc: ") or is_usage
            demand(is_told, f"no line says what is wrong: {answer.err!r}")
            demand(len(last) > 20, f"the error says too little: {last!r}")
        if status == 0 and "--json" in words:
            json.loads(answer.out, parse_constant=_refuse)


def _refuse(constant: str):
    demand(False, f"{constant} in the JSON output")


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return the files in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def judge_files(folder: Path, before: dict[str, bytes], words, status: int, err: str) -> None:
    """Raise an error unless the files are as they were, or new, whole and asked for."""
    after = snapshot(folder)
    for name, content in before.items():
        is_replaced = "--force" in words and name in words
        demand(name in after, f"{name!r} is gone")
        demand(is_replaced or after[name] == content, f"{name!r} was changed without --force")
    stem = f"{Path(words[1]).name.partition('.')[0]}" if len(words) > 1 else ""
    usual = {f"{stem}.skauc", f"{stem}.onnx", "report.html", "model.skauc"}
    for name in after.keys() - before.keys():
        demand(name != "-", "a file named '-' was written")
        demand(name in words or name in usual, f"a file {name!r} that nobody asked for")
        is_expected = status == 0 or name in err  # an interrupted fit says where its model is
        demand(is_expected, f"{name!r} was written though the command failed: {err!r}")
        judge_whole(folder / name, after[name])


def judge_whole(path: Path, content: bytes) -> None:
    """Raise an error unless a file is complete."""
    if path.suffix == ".skauc":
        inspect_model(path)
    elif path.suffix == ".html":
        demand(content.rstrip().endswith(b"</html>"), f"{path.name} is cut off")
    else:
        demand(len(content) > 0, f"{path.name} is empty")


def run(command: Command, words: tuple[str, ...], folder: Path) -> Answer:
    """Run the program in a session of its own."""
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": path, "COLUMNS": "100", "TERM": "xterm-256color"}
    start = functools.partial(
        subprocess.Popen,
        [*PROGRAM, *words],
        cwd=folder,
        env=environment,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )
    if command.terminal:
        return _in_terminal(start)
    process = start(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if command.closed_output:
        process.stdout.close()
        process.stdout = None
    if command.signal is not None:
        try:
            process.wait(command.delay)
        except subprocess.TimeoutExpired:
            process.send_signal(command.signal)
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        demand(False, f"no end within {SECONDS} s")
    return Answer(process.returncode, _text(out), _text(err), _is_left(process.pid))


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace")


def _in_terminal(start) -> Answer:
    """Run with a terminal for output, and return all that it was sent."""
    ours, theirs = pty.openpty()
    process = start(stdout=theirs, stderr=theirs)
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    status = process.wait(SECONDS)
    return Answer(status, _text(b"".join(pieces)), "", _is_left(process.pid))


def _is_left(group: int) -> bool:
    """Tell whether processes of the session are there after five seconds; end them if so."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return False
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    return True
