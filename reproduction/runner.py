"""Run tasks and store their results as JSON lines, so that interrupted runs resume.

A finished task writes its lines in one call. The last line has ``"done": true`` and the number of
lines. Truncated lines and lines of unfinished tasks are ignored.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from joblib import Parallel, delayed

from skauc import __version__
from skauc.exceptions import InvalidDataError, InvalidParameterError

Key = tuple
Work = Callable[[], list[dict]]
Progress = Callable[[int, int, str], None]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm")


@dataclass(frozen=True)
class Task:
    """A function that returns lines, with a ``key`` that is unique in its folder."""

    key: Key
    work: Work


class Store:
    """A folder with ``settings.json`` and ``lines.jsonl`` for one experiment.

    Parameters
    ----------
    folder : path-like
        Created if it does not exist.
    settings : dict
        Everything that the results depend on. A folder with other settings is refused.
    """

    def __init__(self, folder, settings: dict):
        self.folder = Path(folder)
        self.path = self.folder / "lines.jsonl"
        self.settings = json.loads(json.dumps(settings))
        if self.folder.exists() and not self.folder.is_dir():
            raise InvalidParameterError(f"{self.folder} is a file. Use the name of a folder.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_settings()

    def _check_settings(self) -> None:
        path = self.folder / "settings.json"
        if not path.exists():
            if self.path.exists():
                raise InvalidDataError(
                    f"{self.folder} has results but no settings.json. Use another folder."
                )
            path.write_text(json.dumps(self.settings, indent=1) + "\n", encoding="utf-8")
            return
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InvalidDataError(f"{path} is not JSON: {error}. Use another folder.") from error
        if found != self.settings:
            names = sorted(set(found) | set(self.settings))
            different = [name for name in names if found.get(name) != self.settings.get(name)]
            raise InvalidParameterError(
                f"{self.folder} holds results of other settings "
                f"({', '.join(different)}), and results are never mixed. Use another folder, or "
                "delete this one."
            )

    def append(self, lines: Iterable[dict]) -> None:
        """Append lines in one call."""
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        is_cut = self.path.exists() and not _ends_with_newline(self.path)
        # An unbuffered write is one system call, so other processes cannot interleave.
        with self.path.open("ab", buffering=0) as file:
            file.write((("\n" if is_cut else "") + text).encode())

    def finished(self) -> dict[Key, list[dict]]:
        """Return the lines of finished tasks, by task."""
        finished, waiting = {}, {}
        for line in self._lines():
            key = tuple(line["task"])
            waiting.setdefault(key, []).append(line)
            if line.get("done"):
                finished[key] = waiting.pop(key)[-line["n_lines"] :]
        return finished

    def versions(self) -> list[dict]:
        """Return the distinct versions with which the lines were made."""
        found = (line["versions"] for line in self._lines() if "versions" in line)
        return list({json.dumps(each): each for each in found}.values())

    def _lines(self) -> Iterator[dict]:
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8") as file:
            for text in file:
                try:
                    line = json.loads(text)
                except ValueError:
                    continue  # truncated by an interrupt
                if isinstance(line, dict) and "task" in line:
                    yield line


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(0, 2)
        if file.tell() == 0:
            return True
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def run_tasks(tasks: list[Task], store: Store, *, n_jobs: int, progress: Progress) -> None:
    """Run the unfinished tasks in parallel and store each result."""
    have = store.finished()
    left = [task for task in tasks if task.key not in have]
    n_before = len(tasks) - len(left)
    progress(n_before, len(tasks), "")
    found = Parallel(n_jobs, return_as="generator_unordered")(
        delayed(_lines_of)(task) for task in left
    )
    for n_done, lines in enumerate(found, n_before + 1):
        store.append(lines)
        progress(n_done, len(tasks), " ".join(map(str, lines[0]["task"])))


def _lines_of(task: Task) -> list[dict]:
    started, cpu_started = time.perf_counter(), time.process_time()
    lines = task.work()
    end = {
        "done": True,
        "n_lines": len(lines),
        "seconds": round(time.perf_counter() - started, 3),
        "cpu_seconds": round(time.process_time() - cpu_started, 3),
    }
    lines = [*lines[:-1], {**lines[-1], **end}]
    return [{"task": list(task.key), **line, "versions": versions()} for line in lines]


@cache
def versions() -> dict[str, str]:
    """Return the versions of the packages that the numbers depend on."""
    found = {"skauc": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
