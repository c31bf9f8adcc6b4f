"""A child process that runs cases: numbers come in on standard input, verdicts go out as JSON."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.attacks.judging import FailedCaseError, describe
from tests.attacks.registry import Attack, find


def limit_memory(extra: int) -> None:
    """Let this process allocate ``extra`` bytes more than it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + extra
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def judge(attack: Attack, case: int) -> dict:
    """Run one case; an error that escapes is a failure."""
    attack.kind = ""
    failure = None
    try:
        outcome = attack.run(case)
    except FailedCaseError as error:
        outcome, failure = "broken promise", str(error)
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        outcome, failure = "raw error", describe(error)
    return {"kind": attack.kind, "outcome": outcome, "failure": failure}


def main(name: str, seed: int) -> None:
    """Answer every case number with one line of JSON."""
    # What the library prints must not mix with the verdicts.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    entry = find(name)
    with tempfile.TemporaryDirectory(prefix="skauc-attack-") as folder:
        attack = entry.load(Path(folder), seed)
        if entry.memory is not None and Path("/proc/self/statm").exists():
            limit_memory(entry.memory)
        answers.write('{"ready": true}\n')
        for line in sys.stdin:
            started = time.perf_counter()
            verdict = judge(attack, int(line))
            seconds = round(time.perf_counter() - started, 3)
            answers.write(json.dumps({**verdict, "seconds": seconds}) + "\n")


def reproduce(name: str, seed: int, case: int) -> bool:
    """Run one case in this process, print what came of it, and tell whether it passed."""
    with tempfile.TemporaryDirectory(prefix="skauc-attack-") as folder:
        attack = find(name).load(Path(folder), seed)
        try:
            print(f"passed: {attack.run(case)} [{attack.kind}]")
            return True
        except (Exception, KeyboardInterrupt, SystemExit):
            traceback.print_exc()
            print(f"FAILED [{attack.kind}]")
            return False


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
