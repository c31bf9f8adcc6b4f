"""Time and memory of ``skauc fit --report`` on a table, workers included.

    python -m benchmarks.speed.million_rows TABLE --target COL [--cores 2] [OPTIONS OF SKAUC FIT]

Without TABLE the script generates a million rows with twenty columns. Memory is summed over the
program and its workers ten times per second, as resident pages (an upper bound, because shared
pages count once per process) and as proportional pages. On a busy machine, compare CPU times.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

SECONDS_BETWEEN = 0.1
GB = 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("table", nargs="?")
    parser.add_argument("--target", default="late")
    parser.add_argument("--cores", type=int, default=2)
    arguments, further = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        table = arguments.table or _made_up(Path(folder) / "made_up.parquet")
        words = [sys.executable, "-m", "skauc.app.cli", "fit", table, "--target", arguments.target]
        words += ["-o", f"{folder}/m.skauc", "--report", f"{folder}/r.html", "--json", *further]
        print(json.dumps(_measured(words, arguments.cores)))


def _measured(words: list[str], n_cores: int) -> dict:
    """Run the program on some cores and return its figures and peak memory."""
    started = time.perf_counter()
    cores = list(range(n_cores))
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: psutil.Process().cpu_affinity(cores),
    )
    peaks, cpu = np.zeros(3), {}
    while process.poll() is None:
        peaks = np.maximum(peaks, _memory(psutil.Process(process.pid), cpu))
        time.sleep(SECONDS_BETWEEN)
    seconds = time.perf_counter() - started
    resident, by_share, n_processes = peaks
    answer = json.loads(process.stdout.read())
    summary = answer["summary"]
    return {
        "rows": summary["train_rows"] + summary["test_rows"],
        "test_auc": round(summary["test_auc"], 4),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(sum(cpu.values()), 1),
        "cores": n_cores,
        "processes": int(n_processes),
        "peak_resident_gb": round(resident / GB, 2),
        "peak_by_share_gb": round(by_share / GB, 2),
    }


def _memory(process: psutil.Process, cpu: dict[int, float]) -> tuple[int, int, int]:
    """Return resident and proportional bytes and the number of processes; record CPU times."""
    resident = by_share = n_processes = 0
    try:
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0, 0, 0
    for member in family:
        try:
            found = member.memory_full_info()
            cpu[member.pid] = sum(member.cpu_times()[:2])
        except psutil.Error:  # the process has ended
            continue
        resident, by_share = resident + found.rss, by_share + found.pss
        n_processes += 1
    return resident, by_share, n_processes


def _made_up(path: Path) -> str:
    """Write a table with numbers, a category, dates and gaps; 5 % of the target is true."""
    import pandas as pd

    rng = np.random.default_rng(0)
    n_rows = 1_000_000
    numbers = rng.normal(size=(n_rows, 16)).astype(np.float32)
    towns = rng.integers(0, 200, n_rows)
    signal = numbers[:, 0] * numbers[:, 1] + numbers[:, 2] ** 2 + (towns % 7 == 0)
    frame = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(16)])
    frame["town"] = np.array([f"town {i}" for i in range(200)], dtype=object)[towns]
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(towns, unit="D")
    frame.loc[rng.random(n_rows) < 0.1, "x3"] = np.nan
    noisy = signal + rng.normal(size=n_rows)
    frame["late"] = noisy > np.quantile(noisy, 0.95)
    frame.to_parquet(path, index=False)
    return str(path)


if __name__ == "__main__":
    main()
