"""Command lines that people and attackers type: one function per kind."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field

import numpy as np

from tests.attacks.broken_tables import as_csv, broken_content, hostile_frame
from tests.attacks.byte_damage import DAMAGE

QUICK = ("--effort", "quick", "--n-basis", "3", "--jobs", "1")
FIT = ("fit", "train.csv", "--target", "y", *QUICK)


@dataclass(frozen=True)
class Command:
    """One command line with the files that it needs besides the usual ones."""

    kind: str
    words: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    then: tuple[str, ...] | None = None
    signal: int | None = None
    delay: float = 0.0
    terminal: bool = False
    closed_output: bool = False
    shown: tuple[str, ...] = ()


def _one_of(rng: np.random.Generator, *values):
    return values[rng.integers(len(values))]


def bad_options(rng: np.random.Generator) -> Command:
    """Options that do not exist, or have values that they cannot have."""
    value = _one_of(rng, "nan", "inf", "-inf", "-1", "", "x", "1e999", "0", "\x1b[2J", "[/x]", "-")
    option = _one_of(
        rng,
        "--n-basis",
        "--test-share",
        "--jobs",
        "--seed",
        "--format",
        "--engine",
        "--positive",
        "--drop",
        "--weights",
        "--test",
        "--tune",
        "--no-such-option",
    )
    words = (
        (*FIT, option, value),
        ("fit", "train.csv", *QUICK),
        ("fit", "--target", "y", *QUICK),
        ("fit", "train.csv", "train.csv", "--target", "y"),
        ("fit", "train.csv", "--target", value, *QUICK),
        (value or "nothing",),
        ("inspect", "model.skauc", "--centres", value),
        ("predict", "model.skauc"),
        ("report", "model.skauc", "test.csv", "--cost-miss", value),
        ("export", "model.skauc", "--precision", value),
        ("demo", "--digit", value),
    )
    return Command("bad options", _one_of(rng, *words[:1], *words))


def bad_numbers(rng: np.random.Generator) -> Command:
    """Thresholds, costs and rates that are no such thing."""
    value = _one_of(rng, "nan", "inf", "-inf", "-1", "-0.0", "1e308", "1e-320", "50", "1e999")
    option = _one_of(
        rng,
        "--threshold",
        "--recall",
        "--precision",
        "--cost-miss",
        "--cost-false-alarm",
        "--max-fpr",
    )
    command = _one_of(rng, "evaluate", "evaluate", "predict", "report")
    option = "--threshold" if command == "predict" else option
    extra = _one_of(rng, (), ("--json",), ("--cost-miss", "5"))
    extra = () if command == "predict" and "--cost-miss" in extra else extra
    words = (command, "model.skauc", "test.csv", option, value, *extra)
    return Command(f"bad numbers: {command} {option} {value}", words)


def wrong_columns(rng: np.random.Generator) -> Command:
    """Columns that are not there, or cannot be what they are asked to be."""
    column = _one_of(rng, "nothing", "town", "id", "y", "", "weight ", "[/x]", "\x1b[2J")
    words = (
        ("fit", "train.csv", "--target", column, *QUICK),
        (*FIT, "--weights", column),
        (*FIT, "--drop", column),
        (*FIT, "--drop", "age", "--drop", "town", "--drop", "weight", "--drop", "id"),
        ("predict", "model.skauc", "test.csv", "--keep", column),
        ("predict", "model.skauc", "test.csv", "--keep", "score"),
        ("evaluate", "model.skauc", "test.csv", "--target", column),
        ("evaluate", "model.skauc", "test.csv", "--weights", column),
        ("predict", "model.skauc", "other.csv"),
    )
    files = {"other.csv": b"a,b\n1,2\n3,4\n"}
    return Command("wrong columns", _one_of(rng, *words), files)


def hostile_words(rng: np.random.Generator) -> Command:
    """Names and labels with markup, escape sequences and formulas."""
    frame, target, positive = hostile_frame(rng)
    words = ("fit", "hostile.csv", "--target", target, *QUICK, "-o", "h.skauc")
    words += ("--positive", positive) if rng.random() < 0.9 else ()
    words += ("--report", "h.html") if rng.random() < 0.3 else ()
    then = _one_of(
        rng,
        ("inspect", "h.skauc"),
        ("inspect", "h.skauc", "--json"),
        ("evaluate", "h.skauc", "hostile.csv"),
        ("predict", "h.skauc", "hostile.csv", "-o", "h.csv"),
        ("report", "h.skauc", "hostile.csv", "-o", "again.html"),
        ("export", "h.skauc", "-o", "h.onnx"),
        None,
    )
    # Both labels are printed; markup in them must be printed as it stands.
    shown = tuple(label for label in frame[target].unique() if "[" in label and label.isprintable())
    files = {"hostile.csv": as_csv(frame)}
    is_terminal = bool(rng.random() < 0.5)
    return Command("hostile words", words, files, then, terminal=is_terminal, shown=shown)


def bad_outputs(rng: np.random.Generator) -> Command:
    """Outputs that cannot or must not be written."""
    target = _one_of(
        rng,
        "-",
        ".",
        "no/such/folder/out",
        "train.csv",
        "precious",
        "/proc/out",
        "/dev/full",
        "/dev/null",
        "train.csv/out",
        "x" * 300,
        "",
        "model.skauc",
        "a\x1b[2Jb",
        "[bold]out",
    )
    words = _one_of(
        rng,
        (*FIT, "-o", target),
        (*FIT, "-o", "new.skauc", "--report", target),
        ("predict", "model.skauc", "test.csv", "-o", target),
        ("report", "model.skauc", "test.csv", "-o", target),
        ("export", "model.skauc", "-o", target),
    )
    words += ("--json",) if rng.random() < 0.2 else ()
    return Command(f"bad output {target[:20]!r}", words)


def signals(rng: np.random.Generator) -> Command:
    """Ctrl-C and termination at any moment."""
    number = signal.SIGINT if rng.random() < 0.5 else signal.SIGTERM
    tuned = ("--n-basis", "16", "--jobs", _one_of(rng, "1", "2"), "-o", "s.skauc")
    words = _one_of(
        rng,
        ("fit", "train.csv", "--target", "y", *tuned),
        ("fit", "train.csv", "--target", "y", *tuned, "--report", "s.html"),
        (*FIT, "-o", "s.skauc"),
        ("predict", "model.skauc", "test.csv", "-o", "s.csv"),
        ("report", "model.skauc", "test.csv", "-o", "s.html"),
    )
    delay = float(rng.uniform(0.5, 12.0 if "16" in words else 4.0))
    name = signal.Signals(number).name
    return Command(f"{name} after {delay:.2f} s", words, signal=number, delay=delay)


def broken_files(rng: np.random.Generator) -> Command:
    """Tables that are truncated, garbled or something else."""
    what, name, content = broken_content(rng)
    words = _one_of(
        rng,
        ("fit", name, "--target", "y", *QUICK, "-o", "b.skauc"),
        ("fit", name, "--target", "y", *QUICK, "-o", "b.skauc"),
        ("predict", "model.skauc", name),
        ("evaluate", "model.skauc", name),
        ("report", "model.skauc", name, "-o", "b.html"),
        (*FIT, "--test", name, "-o", "b.skauc"),
    )
    return Command(f"broken table: {what}", words, {name: content})


def broken_models(rng: np.random.Generator, model: bytes) -> Command:
    """Model files that are damaged."""
    damage = DAMAGE[rng.integers(len(DAMAGE))]
    words = _one_of(
        rng,
        ("inspect", "broken.skauc"),
        ("predict", "broken.skauc", "test.csv"),
        ("evaluate", "broken.skauc", "test.csv"),
        ("export", "broken.skauc", "-o", "b.onnx"),
        ("predict", "test.csv", "broken.skauc"),
    )
    return Command(f"broken model: {damage.__name__}", words, {"broken.skauc": damage(model, rng)})


def closed_outputs(rng: np.random.Generator) -> Command:
    """A reader that stops listening, as in ``skauc predict ... | head -1``."""
    words = _one_of(
        rng,
        ("predict", "model.skauc", "test.csv"),
        ("evaluate", "model.skauc", "test.csv"),
        ("inspect", "model.skauc"),
        ("--help",),
    )
    return Command("closed output", words, closed_output=True)


KINDS = (
    bad_options,
    bad_options,
    bad_numbers,
    wrong_columns,
    hostile_words,
    hostile_words,
    bad_outputs,
    bad_outputs,
    signals,
    signals,
    broken_files,
    broken_files,
    broken_files,
    broken_models,
    closed_outputs,
)
