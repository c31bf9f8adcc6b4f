"""Runs an attack in child processes that may hang, crash or run out of memory."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.attacks.registry import find

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 300
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "2",
}


class Child:
    """A worker process; one that hangs or dies is replaced at the next case."""

    def __init__(self, name: str, seed: int):
        self._name, self._seed, self._process = name, seed, None

    def ask(self, case: int) -> dict:
        """Return the verdict on one case."""
        self.start()
        started = time.perf_counter()
        self._process.stdin.write(f"{case}\n")
        limit = find(self._name).seconds
        answer = self._answer(limit)
        if answer is None:
            seconds = time.perf_counter() - started
            code = self._process.poll()
            failure = (
                f"no answer within {limit} s" if code is None else f"the process died with {code}"
            )
            failure += f"; last words: {self._last_words()!r}"
            self.close()
            outcome = "hang" if code is None else "crash"
            answer = {"kind": "", "outcome": outcome, "failure": failure, "seconds": seconds}
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._errors.close()
            self._process = None

    def start(self) -> None:
        """Start the process and wait until it is ready."""
        if self._process is not None:
            return
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed with the process)
        words = [sys.executable, "-m", "tests.attacks.worker", self._name, str(self._seed)]
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            bufsize=1,
            cwd=ROOT,
            env=os.environ | ONE_THREAD,
        )
        if self._answer(START_SECONDS) is None:
            words = self._last_words()
            self.close()
            raise RuntimeError(f"The attack {self._name} cannot be prepared: {words}")

    def _answer(self, seconds: float) -> dict | None:
        """Return the next line, None if the process ends or the time is over."""
        readable, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if readable else ""
        if not line and readable:
            self._process.wait()
        return json.loads(line) if line else None

    def _last_words(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-1500:]


def run_cases(
    name: str,
    cases: Iterable[int],
    seed: int,
    *,
    seconds: float | None = None,
    jobs: int = 1,
    report: Callable[[dict], None] = lambda record: None,
) -> list[dict]:
    """Run cases until none is left or the time is over; return one record per finished case.

    ``seconds`` does not include the preparation.
    """
    waiting: queue.Queue[int] = queue.Queue()
    for case in cases:
        waiting.put(case)
    records: list[dict] = []
    errors: list[BaseException] = []
    lock = threading.Lock()

    def work() -> None:
        child = Child(name, seed)
        try:
            child.start()
            deadline = float("inf") if seconds is None else time.monotonic() + seconds
            while not errors and time.monotonic() < deadline:
                case = waiting.get_nowait()
                record = {"attack": name, "seed": seed, "case": case, **child.ask(case)}
                with lock:
                    records.append(record)
                    report(record)
        except queue.Empty:
            pass
        except BaseException as error:
            errors.append(error)
        finally:
            child.close()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt as interrupt:
        errors.append(interrupt)
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    return records


def command(record: dict) -> str:
    """Return the command line that repeats a case."""
    return (
        f"python -m tests.attacks --attack {record['attack']} --seed {record['seed']} "
        f"--case {record['case']}"
    )
