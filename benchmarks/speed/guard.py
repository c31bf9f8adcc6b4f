"""Check whether the hot path got slower: ratios on one thread against a baseline.

    python -m benchmarks guard            # lists what got slower; exit status 1
    python -m benchmarks guard --update   # stores the current ratios as baseline

Each ratio is the CPU time of one of our layers divided by that of plain NumPy with the same shapes
in the same rounds. It depends little on the machine and its load. To reduce noise, the baseline is
the median of three runs, and a layer counts as slower only if it is slower three times.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median

from benchmarks.harness import Options
from benchmarks.speed import everyday, layers

BASELINE = Path(__file__).parent / "baseline.json"
WORKLOADS = (
    layers.kernel_block,
    layers.pair_statistics,
    layers.passes,
    everyday.few_rows_roof,
)
# Allowed increase of a ratio: about three times its variation.
TOLERANCE = 1.3
N_TRIES = 3
# Memory-bound passes, which other programs disturb.
MEMORY_BOUND, MEMORY_TOLERANCE = ("scores", "gradient"), 2.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--update", action="store_true", help="make today's ratios the baseline")
    parser.add_argument("--baseline", type=Path, default=BASELINE)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--scale", type=float, default=0.25, help="part of the rows to use")


def run(arguments: argparse.Namespace) -> None:
    """Measure, then compare or write."""
    options = Options((1,), arguments.repeats, arguments.scale)
    if arguments.update:
        tries = [measure(options) for _ in range(N_TRIES)]
        found = {name: median(one[name] for one in tries) for name in tries[0]}
        content = {"scale": arguments.scale, "tolerance": TOLERANCE, "ratios": found}
        arguments.baseline.write_text(json.dumps(content, indent=1) + "\n")
        print(f"{arguments.baseline} now holds {len(found)} ratios.")
        return
    baseline, found = json.loads(arguments.baseline.read_text()), {}
    for _ in range(N_TRIES):
        found = {name: min(now, found.get(name, now)) for name, now in measure(options).items()}
        slower, report = compare(baseline, found)
        if not slower:
            break
    print("\n".join(report))
    if slower:
        sys.exit(f"Slower than the baseline allows: {', '.join(slower)}.")


def measure(options: Options) -> dict[str, float]:
    """Return the ratios of all workloads by name."""
    return {
        f"{line.workload}, {line.what} / {line.against}": round(line.ratio, 3)
        for workload in WORKLOADS
        for line in workload(options)
    }


def compare(baseline: dict, found: dict[str, float]) -> tuple[list[str], list[str]]:
    """Return the names of slower layers and one line per ratio."""
    slower, report = [], ["| ratio | baseline | now | change |", "| --- | --- | --- | --- |"]
    for name, now in found.items():
        before = baseline["ratios"].get(name)
        if before is None:
            report.append(f"| {name} | | {now} | new |")
            continue
        change = now / before
        is_memory_bound = name.startswith(MEMORY_BOUND)
        if change > baseline["tolerance"] * (MEMORY_TOLERANCE if is_memory_bound else 1):
            slower.append(name)
        report.append(f"| {name} | {before} | {now} | {change:.2f} |")
    return slower, report
