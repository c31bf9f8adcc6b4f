"""Measure how well rare events are ranked.

    python -m benchmarks.quality.rare_events run --parts positives --out rare.jsonl --jobs 16
    python -m benchmarks.quality.rare_events run --parts C,zeros,wide,size,rows --out rare.jsonl
    python -m benchmarks.quality.rare_events show rare.jsonl --markdown rare.md --json rare.json

| part      | question                                                                         |
| --------- | -------------------------------------------------------------------------------- |
| positives | how do the defaults compare with other classifiers on 10 to 300 positives?       |
| C         | how far is the default C from the best C at different imbalances?                |
| zeros     | does "rank" see the small values of a feature that is nearly always zero?        |
| wide      | what do sparse and wide rows cost?                                               |
| size      | how large is the pickle of many centres of many features?                        |
| rows      | does one more row than 10,000 change the model?                                  |

The data sets are found through `SKAUC_DATA` and `SKAUC_DEV`. Finished lines are not computed again.
No fit starts after ``--seconds``. All parts but "wide" use one thread per fit.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.quality import rare_cases
from benchmarks.quality.ablation import read
from benchmarks.quality.table_peers import CLASSIFIERS, auc_of, load, rows_of

TABLES = (
    "magic04",
    "ijcnn1",
    "satimage",
    "adult",
    "credit_risk",
    "mozilla4",
    "telco_churn",
    "weather_aus",
)
POSITIVES = (10, 20, 50, 100, 300)
MOST_NEGATIVES = 10_000
# Test rows of each class.
MOST_TESTED = 10_000
N_SEEDS = 5
SEARCH, SINGLE = "skauc", "skauc single fit"
PEERS = ("logistic regression", "SVC", "random forest", "LightGBM", "XGBoost")
# An AUC this close to the best counts as level with it.
NEAR = 0.005
# How far a line may be behind logistic regression.
BEHIND = 0.02


class Job(NamedTuple):
    """One fit: a line of the results has these four values first."""

    part: str
    case: str
    seed: int
    name: str


# -- positives --------------------------------------------------------------------------------


def positives_jobs() -> list[Job]:
    """Return the fits, so ordered that a run that is cut off has whole seeds."""
    names = (SEARCH, SINGLE, *PEERS)
    cases = [f"{table} {n}" for n in POSITIVES for table in TABLES]
    seeds = range(N_SEEDS)
    return [
        Job("positives", case, seed, name) for seed in seeds for case in cases for name in names
    ]


@lru_cache(maxsize=1)
def _table(name: str):
    return read(name)


def draw(y: np.ndarray, n_positive: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test rows.

    The test rows of a seed are the same for all numbers of positives, and a training set contains
    the smaller ones. At least a third of the negatives are left for the test.
    """
    rng = np.random.default_rng(seed)
    positive, negative = rng.permutation(np.flatnonzero(y)), rng.permutation(np.flatnonzero(~y))
    n_negative = min(MOST_NEGATIVES, 2 * len(negative) // 3)
    train = np.concatenate((positive[:n_positive], negative[:n_negative]))
    positive, negative = positive[max(POSITIVES) :], negative[n_negative:]
    test = np.concatenate((positive[:MOST_TESTED], negative[:MOST_TESTED]))
    return rng.permutation(train), test


def positives(case: str, seed: int, name: str) -> dict:
    """Fit a classifier with its defaults to a few positives of a table."""
    table, n_positive = case.rsplit(" ", 1)
    X, y = _table(table)
    train, test = draw(y, int(n_positive), seed)
    X_train = rows_of(X, train)
    started = time.process_time()
    model = CLASSIFIERS[name](seed).fit(X_train, y[train])
    seconds = time.process_time() - started
    return {"auc": auc_of(model, rows_of(X, test), y[test]), "seconds": seconds}


def positives_table(lines: list[dict]) -> tuple[str, dict]:
    """Return the AUC per line and classifier, and how often our estimators are near the best."""
    names = (SEARCH, SINGLE, *PEERS)
    by = {(line["case"], line["seed"], line["name"]): line["auc"] for line in lines}
    rows, gaps = [], []
    for case in dict.fromkeys(job.case for job in positives_jobs()):
        seeds = [s for s in range(N_SEEDS) if all((case, s, name) in by for name in names)]
        if not seeds:
            continue
        auc = np.array([[by[case, seed, name] for name in names] for seed in seeds])
        mean, best = auc.mean(axis=0), auc.mean(axis=0).argmax()
        behind = auc[:, best, None] - auc[:, :2]
        error = behind.std(axis=0, ddof=1) / np.sqrt(len(seeds)) if len(seeds) > 1 else [0.0, 0.0]
        table, n_positive = case.rsplit(" ", 1)
        cells = [f"**{x:.4f}**" if i == best else f"{x:.4f}" for i, x in enumerate(mean)]
        behind_best = [
            f"{x:.4f} ± {e:.4f}" for x, e in zip(behind.mean(axis=0), error, strict=True)
        ]
        rows.append([table, n_positive, str(len(seeds)), *cells, *behind_best])
        gaps.append([*behind.mean(axis=0), *(mean[2] - mean[:2]), *(mean[2:].max() - mean[:2])])
    head = ["table", "positives", "seeds", *names, f"best - {SEARCH}", f"best - {SINGLE}"]
    behind_all = np.array(gaps)
    summary = {
        name: {
            "lines": len(rows),
            "share within .005 of the best": float(np.mean(behind_all[:, i] <= NEAR)),
            "share within .005 of the best peer": float(np.mean(behind_all[:, 4 + i] <= NEAR)),
            "mean behind the best": float(behind_all[:, i].mean()),
            "most behind logistic regression": float(behind_all[:, 2 + i].max()),
            "lines .02 behind logistic regression": int((behind_all[:, 2 + i] > BEHIND).sum()),
        }
        for i, name in enumerate((SEARCH, SINGLE))
    }
    return rare_cases.markdown(head, rows), summary


# -- running ----------------------------------------------------------------------------------

PARTS = {
    "positives": (positives_jobs, positives, positives_table),
    "C": (
        lambda: _jobs("C", rare_cases.C_CASES),
        rare_cases.of_regularisation,
        rare_cases.regularisation_table,
    ),
    "zeros": (
        lambda: _jobs("zeros", rare_cases.ZERO_CASES),
        rare_cases.of_zeros,
        rare_cases.zeros_table,
    ),
    "wide": (
        lambda: _jobs("wide", rare_cases.WIDE_CASES),
        rare_cases.of_wide,
        rare_cases.wide_table,
    ),
    "size": (
        lambda: _jobs("size", rare_cases.SIZE_CASES),
        rare_cases.of_size,
        rare_cases.size_table,
    ),
    "rows": (
        lambda: _jobs("rows", rare_cases.ROWS_CASES),
        rare_cases.of_rows,
        rare_cases.rows_table,
    ),
}


def _jobs(part: str, cases: dict[str, tuple[list[str], int]]) -> list[Job]:
    """Return the fits of a part; a case has names of fits and a number of seeds."""
    return [
        Job(part, case, seed, name)
        for case, (names, n_seeds) in cases.items()
        for seed in range(n_seeds)
        for name in names
    ]


def run(job: Job, deadline: float) -> dict | None:
    """Return the line of a fit, or None after the deadline."""
    from threadpoolctl import threadpool_limits

    if time.time() > deadline:
        return None
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        found = PARTS[job.part][1](job.case, job.seed, job.name)
    rounded = {
        key: round(value, 5) if isinstance(value, float) else value for key, value in found.items()
    }
    return {**job._asdict(), **rounded}


def run_all(jobs: list[Job], out: Path, n_jobs: int, seconds: float) -> None:
    """Run the fits that are not in the file, in processes, and append their lines."""
    lines = load(out) if out.exists() else []
    done = {tuple(line[key] for key in Job._fields) for line in lines}
    jobs = [job for job in jobs if tuple(job) not in done]
    deadline = time.time() + seconds
    with ProcessPoolExecutor(n_jobs) as pool, out.open("a") as file:
        futures = {pool.submit(run, job, deadline): job for job in jobs}
        for n_done, future in enumerate(as_completed(futures), 1):
            try:
                line = future.result()
            except Exception as error:  # the other fits go on
                print(f"{futures[future]}: {error!r}", file=sys.stderr)
                continue
            if line is not None:
                file.write(json.dumps(line) + "\n")
                file.flush()
                print(f"{n_done} of {len(jobs)}: {line}", file=sys.stderr)


def show(lines: list[dict]) -> tuple[str, dict]:
    """Return the tables of all parts that have lines, and their summaries."""
    texts, summaries = [], {}
    for part, (_, _, table) in PARTS.items():
        own = [line for line in lines if line["part"] == part]
        if own:
            text, summaries[part] = table(own)
            texts.append(f"## {part}\n\n{text}\n{json.dumps(summaries[part], indent=1)}\n")
    return "\n".join(texts), summaries


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="fit the classifiers")
    runs.add_argument("--parts", default=",".join(PARTS), help="names of parts with commas")
    runs.add_argument("--cases", default=None, help="only cases that contain one of these words")
    runs.add_argument("--only", default=None, help="names of fits with semicolons")
    runs.add_argument("--seeds", type=int, default=N_SEEDS, help="number of seeds")
    runs.add_argument("--out", type=Path, required=True)
    runs.add_argument("--jobs", type=int, default=1)
    runs.add_argument("--seconds", type=float, default=float("inf"))
    shows = commands.add_parser("show", help="print the tables")
    shows.add_argument("results", type=Path)
    shows.add_argument("--markdown", type=Path)
    shows.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    if given.command == "run":
        words = None if given.cases is None else given.cases.split(",")
        only = None if given.only is None else given.only.split(";")
        jobs = [job for part in given.parts.split(",") for job in PARTS[part][0]()]
        jobs = [job for job in jobs if words is None or any(word in job.case for word in words)]
        jobs = [job for job in jobs if only is None or job.name in only]
        jobs = [job for job in jobs if job.seed < given.seeds]
        run_all(jobs, given.out, given.jobs, given.seconds)
        return
    text, summaries = show(load(given.results))
    print(text)
    if given.markdown:
        given.markdown.write_text(text)
    if given.json:
        given.json.write_text(json.dumps(summaries, indent=1) + "\n")


if __name__ == "__main__":
    main()
