"""Attack: load and inspect model files that are damaged or forged.

A damaged file gives a model with the same scores, or a ModelFileError. A forged file, whose
checksum is right, may hold another model, but no code, no NaN and no harmful setting, and may not
take much memory.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from skauc import inspect_model, load_model, save_model
from skauc.exceptions import ModelFileError
from tests.attacks.byte_damage import DAMAGE, REARRANGEMENTS
from tests.attacks.forging import bomb, forge_array, forge_json
from tests.attacks.judging import (
    demand,
    demand_finite,
    describe,
    is_clear,
    quiet_or_clear,
    random_for,
)
from tests.attacks.model_zoo import models
from tests.attacks.sealing import read_members, resealed, sealed

NAME = "model_files"
MOST_MEMORY = 400 << 20
FORBIDDEN = {
    "os.exec",
    "os.fork",
    "os.mkdir",
    "os.posix_spawn",
    "os.remove",
    "os.rename",
    "os.system",
    "pickle.find_class",
    "socket.bind",
    "socket.connect",
    "subprocess.Popen",
}


class Watch:
    """Takes note of what a model file must never bring about."""

    def __init__(self):
        self.is_on, self.seen = False, []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple) -> None:
        if not self.is_on:
            return
        # Compiled code unpickles the class of an exception of its own that it raises.
        is_own_error = event == "pickle.find_class" and arguments[1].endswith("Error")
        if event in FORBIDDEN and not is_own_error:
            self.seen.append(f"{event}{arguments!r}"[:200])
        is_written = event == "open" and set("wax+") & set(str(arguments[1]))
        if is_written and "__pycache__" not in str(arguments[0]):
            self.seen.append(f"open{arguments!r}"[:200])

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Raise an error at the end if something was seen."""
        self.seen, self.is_on = [], True
        try:
            yield
        finally:
            self.is_on = False
        demand(not self.seen, f"the file had effects: {self.seen}")


class Source:
    """One sound model file."""

    def __init__(self, name: str, model, rows, history: bool, path: Path):
        self.name, self.rows = name, rows
        path.unlink(missing_ok=True)
        save_model(model, path, history=history)
        self.content = path.read_bytes()
        self.members = read_members(self.content)
        exercise(load_model(path), rows)  # compile
        self.scores = _scores(model, rows)
        inspect_model(path)


class Attack:
    """One file per case."""

    def __init__(self, folder: Path, seed: int):
        self.kind, self._seed, self._path = "", seed, folder / "model.skauc"
        self._sources = [self._source(*entry) for entry in models()]
        self._watch = Watch()

    def _source(self, name: str, *material) -> Source | str:
        """Return a sound file, or why there is none."""
        try:
            return Source(name, *material, self._path)
        except Exception as error:
            return f"the model {name!r} cannot be saved, loaded and used: {describe(error)}"

    def run(self, case: int) -> str:
        """Write a hostile file, load it, and use what was loaded."""
        rng = random_for(NAME, self._seed, case)
        source = self._sources[case % len(self._sources)]
        demand(not isinstance(source, str), source)
        is_forged = rng.random() < 0.6
        name, content = (self._forged if is_forged else _damaged)(source, rng)
        self.kind = f"{source.name}, {name}"
        self._path.write_bytes(content)
        _reset_peak()
        before = _peak()
        try:
            with self._watch():
                return self._used(source, is_forged)
        finally:
            taken = _peak() - before
            if sys.exc_info()[0] is None:
                demand(taken <= MOST_MEMORY, f"it took {taken >> 20} MiB of memory")

    def _forged(self, source: Source, rng: np.random.Generator) -> tuple[str, bytes]:
        acts = (forge_json, forge_array, forge_json, forge_array, *REARRANGEMENTS[:6], "inside")
        act = acts[rng.integers(len(acts))]
        if rng.random() < 0.01:
            act = bomb
        if act == "inside":
            damage = DAMAGE[rng.integers(len(DAMAGE))]
            return f"resealed {damage.__name__}", resealed(source.content, damage, rng)
        return f"forged {act.__name__}", sealed(act(source.members, rng), source.content)

    def _used(self, source: Source, is_forged: bool) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._inspected()
            try:
                model = load_model(self._path)
            except ModelFileError as error:
                demand("\n" not in str(error), f"the error has several lines: {error}")
                demand("MemoryError" not in str(error), f"it ran out of memory: {error}")
                return "refused with ModelFileError"
        demand_harmless(model)
        if not is_forged:
            same = np.array_equal(_scores(model, source.rows), source.scores)
            demand(same, "a damaged file gives other scores")
            return "same scores"
        try:
            with quiet_or_clear():
                exercise(model, source.rows)
        except Exception as error:
            if not is_clear(error):
                raise
            return "loaded, use refused"
        return "loaded another model, finite scores"

    def _inspected(self) -> None:
        try:
            facts = inspect_model(self._path)
        except ModelFileError:
            return
        demand(isinstance(facts, dict), f"inspect_model returns a {type(facts).__name__}")
        json.dumps(facts)


def _damaged(source: Source, rng: np.random.Generator) -> tuple[str, bytes]:
    damage = DAMAGE[rng.integers(len(DAMAGE))]
    return damage.__name__, damage(source.content, rng)


def demand_harmless(model) -> None:
    """Raise an error if a loaded model keeps a setting that could do harm."""
    for name, value in model.get_params(deep=True).items():
        last = name.rpartition("__")[2]
        if last in ("n_jobs", "checkpoint", "memory", "callback"):
            is_harmless = value is None or (last == "n_jobs" and value == 1)
            demand(is_harmless, f"a loaded model keeps {name}={value!r}")
        is_function = callable(value) and not isinstance(value, type)
        demand(not is_function or hasattr(value, "fit"), f"{name} is a function: {value!r}")


def exercise(model, rows) -> None:
    """Do with a model what a user does."""
    repr(model)
    demand_finite("scores", _scores(model, rows))
    model.predict(rows)
    for name in ("staged_decision_function", "staged_predict"):
        if hasattr(model, name):
            for scores in getattr(model, name)(rows):
                if name == "staged_decision_function":
                    demand_finite("staged scores", scores)
    if hasattr(model, "partial_fit"):
        labels = np.asarray(model.classes_)[np.arange(rows.shape[0]) % 2]
        model.partial_fit(rows, labels)
        demand_finite("scores after partial_fit", model.decision_function(rows))


def _scores(model, rows) -> np.ndarray:
    if hasattr(model, "decision_function"):
        return model.decision_function(rows)
    return model.predict_proba(rows)[:, 1]


def _reset_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
