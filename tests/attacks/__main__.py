"""``python -m tests.attacks``: run attacks, or repeat one case."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from tests.attacks.registry import ATTACKS
from tests.attacks.supervisor import command, run_cases
from tests.attacks.worker import reproduce


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("--all", action="store_true", help="Run every attack at full size.")
    parser.add_argument("--attack", choices=ATTACKS, action="append", help="May be repeated.")
    parser.add_argument("--count", type=int, help="Cases per attack; by default the full size.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="Time per attack; by default no limit.")
    parser.add_argument("--jobs", type=int, default=1, help="Processes per attack.")
    parser.add_argument("--out", type=Path, help="JSON lines; cases found there are not repeated.")
    parser.add_argument("--case", type=int, help="Repeat one case, with the traceback.")
    options = parser.parse_args(words)
    if not options.all and not options.attack:
        parser.error("name an attack with --attack, or run them all with --all")
    if options.case is not None and len(options.attack or []) != 1:
        parser.error("--case needs one --attack")
    return options


def finished(path: Path | None) -> list[dict]:
    """Return the records of an earlier run."""
    if path is None or not path.exists():
        return []
    records = []
    for line in path.read_text().splitlines():
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:  # the last line of a run that was killed
            continue
    return records


def run(name: str, options: argparse.Namespace) -> list[dict]:
    """Run one attack; return its records, those of an earlier run included."""
    earlier = [
        record
        for record in finished(options.out)
        if (record["attack"], record["seed"]) == (name, options.seed)
    ]
    done = {record["case"] for record in earlier}
    count = ATTACKS[name].count if options.count is None else options.count
    cases = [case for case in range(count) if case not in done]

    def report(record: dict) -> None:
        if options.out is not None:
            with options.out.open("a") as file:
                file.write(json.dumps(record) + "\n")
        if record["failure"] is not None:
            print_failure(record)

    records = run_cases(
        name, cases, options.seed, seconds=options.seconds, jobs=options.jobs, report=report
    )
    return [record for record in earlier if record["case"] < count] + records


def print_failure(record: dict) -> None:
    """Print what went wrong and how to see it again."""
    print(f"FAILED {record['attack']} {record['case']} [{record['kind']}]: {record['failure']}")
    print(f"  {command(record)}", flush=True)


def print_summary(name: str, records: list[dict]) -> None:
    """Print how often what happened."""
    failures = [record for record in records if record["failure"] is not None]
    slowest = max(records, key=lambda record: record["seconds"], default=None)
    print(f"{name}: {len(records)} cases, {len(failures)} failures")
    for outcome, number in Counter(record["outcome"] for record in records).most_common():
        print(f"  {number:6} {outcome}")
    if slowest is not None:
        print(f"  slowest: case {slowest['case']}, {slowest['seconds']:.1f} s", flush=True)


def main(words: list[str] | None = None) -> int:
    """Run what was asked for; return 1 if a case failed."""
    options = parse(words)
    if options.case is not None:
        return int(not reproduce(options.attack[0], options.seed, options.case))
    n_failures = 0
    for name in ATTACKS if options.all else options.attack:
        records = run(name, options)
        print_summary(name, records)
        n_failures += sum(record["failure"] is not None for record in records)
    return int(n_failures > 0)


if __name__ == "__main__":
    sys.exit(main())
