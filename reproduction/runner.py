"""Run tasks and keep their results as JSON lines, so that what was interrupted goes on.

A task writes its lines in one piece when it ends, the last of them with ``"done": true`` and their
number. Lines of a task without that one, and a line that was cut off, count as not written.
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
    """Work that ends in lines; ``key`` tells it from all others in a folder."""

    key: Key
    work: Work


class Store:
    """A folder with ``settings.json`` and ``lines.jsonl``, for one experiment in one setting.

    Parameters
    ----------
    folder : path-like
        Made if it is not there.
    settings : dict
        What the results depend on. A folder that was made with others is refused.
    """

    def __init__(self, folder, settings: dict):
        self.folder = Path(folder)
        self.path = self.folder / "lines.jsonl"
        self.settings = json.loads(json.dumps(settings))
        if self.folder.exists() and not self.folder.is_dir():
            raise InvalidParameterError(f"{self.folder} is a file. Name a folder for the results.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_settings()

    def _check_settings(self) -> None:
        path = self.folder / "settings.json"
        if not path.exists():
            if self.path.exists():
                raise InvalidDataError(
                    f"{self.folder} has results and no settings.json that says how they were made. "
                    "Name another folder."
                )
            path.write_text(json.dumps(self.settings, indent=1) + "\n", encoding="utf-8")
            return
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InvalidDataError(f"{path} is not JSON: {error}. Name another folder.") from error
        if found != self.settings:
            names = sorted(set(found) | set(self.settings))
            different = [name for name in names if found.get(name) != self.settings.get(name)]
            raise InvalidParameterError(
                f"{self.folder} has results that were made with other settings "
                f"({', '.join(different)}), and results are never mixed. Name another folder, or "
                "delete this one."
            )

    def append(self, lines: Iterable[dict]) -> None:
        """Write lines in one piece."""
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        is_cut = self.path.exists() and not _ends_with_newline(self.path)
        # Without a buffer it is one call: what another process writes does not come in between.
        with self.path.open("ab", buffering=0) as file:
            file.write((("\n" if is_cut else "") + text).encode())

    def finished(self) -> dict[Key, list[dict]]:
        """Return the lines of the tasks that ended, by task."""
        finished, waiting = {}, {}
        for line in self._lines():
            key = tuple(line["task"])
            waiting.setdefault(key, []).append(line)
            if line.get("done"):
                finished[key] = waiting.pop(key)[-line["n_lines"] :]
        return finished

    def versions(self) -> list[dict]:
        """Return the versions with which the lines were made, each once."""
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
                    continue  # cut off by an interrupt
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
    """Run the tasks that the store does not have yet, in parallel, and keep each as it ends."""
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
    """Return the versions of what the numbers depend on."""
    found = {"skauc": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
