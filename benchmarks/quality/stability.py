"""How much the seed of a search matters, and what its `best_score_` says where there is nothing.

    python -m benchmarks.quality.stability seeds --out seeds.jsonl --jobs 16
    python -m benchmarks.quality.stability labels --out labels.jsonl --jobs 16
    python -m benchmarks.quality.stability show seeds.jsonl labels.jsonl

"seeds" fits `SparseKernelAUCCV` and LightGBM with five seeds to the first of three folds of each
development table, and prints standard deviations of the test AUC. LightGBM draws 80% of the rows
and columns for each tree, because its defaults draw nothing. "labels" searches ten normal features
for labels that have nothing to do with them, where an honest `best_score_` is 0.5 on average.
Every fit uses one thread. Finished lines are not computed again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from benchmarks.quality.ablation import names, prepare, read

N_SEEDS = 5
# Rows, positives, and how often labels are drawn.
DRAWS = ((300, 15, 64), (300, 150, 32), (1000, 100, 32), (2000, 1000, 16), (6000, 2000, 16))
N_FEATURES = 10
# Too wide for five searches.
LEFT_OUT = ("grants",)


def search(seed: int):
    """Return the search with its defaults."""
    from skauc import SparseKernelAUCCV

    return SparseKernelAUCCV(random_state=seed, n_jobs=1)


def lightgbm(seed: int):
    """Return LightGBM with trees that see 80% of the rows and columns."""
    from lightgbm import LGBMClassifier

    drawn = {"subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.8}
    return LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1, **drawn)


CLASSIFIERS: dict[str, Callable] = {"search": search, "LightGBM": lightgbm}


def seed_jobs(tables: str) -> Iterator[tuple]:
    """Yield the key of each fit of "seeds"."""
    for table in names(tables):
        if table not in LEFT_OUT:
            yield from ((table, name, seed) for name in CLASSIFIERS for seed in range(N_SEEDS))


def seed_line(table: str, name: str, seed: int) -> dict:
    """Return the test AUC of a classifier on the first fold of a table."""
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    X, y = read(table)
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
    train, test = next(iter(folds))
    A, B = prepare(X, y, train, test)
    scores = CLASSIFIERS[name](seed).fit(A, y[train]).predict_proba(B)[:, 1]
    return {
        "key": [table, name, seed],
        "auc": roc_auc_score(y[test], scores),
        "rarer": int(min(y[train].sum(), (~y[train]).sum())),
    }


def label_jobs(tables: str) -> Iterator[tuple]:
    """Yield the key of each search of "labels"."""
    for n_rows, n_positive, n_draws in DRAWS:
        yield from ((n_rows, n_positive, draw) for draw in range(n_draws))


def label_line(n_rows: int, n_positive: int, draw: int) -> dict:
    """Return what a search says of labels that were drawn."""
    rng = np.random.default_rng(draw)
    X, y = rng.normal(size=(n_rows, N_FEATURES)), np.zeros(n_rows, dtype=bool)
    y[rng.permutation(n_rows)[:n_positive]] = True
    found = search(draw).fit(X, y)
    return {
        "key": [n_rows, n_positive, draw],
        "best_score": found.best_score_,
        "highest": float(np.nanmax(found.cv_results_["mean_test_score"])),
    }


PARTS = {"seeds": (seed_jobs, seed_line), "labels": (label_jobs, label_line)}


def show_seeds(lines: list[dict]) -> str:
    """Return standard deviations over the seeds, by rows of the rarer class."""
    import pandas as pd

    frame = pd.DataFrame([[*line["key"], line["auc"], line["rarer"]] for line in lines])
    frame.columns = ["table", "name", "seed", "auc", "rarer"]
    spread = frame.pivot_table(index="table", columns="name", values="auc", aggfunc="std").dropna()
    rarer = frame.groupby("table")["rarer"].first().loc[spread.index]
    rows = [
        "| rows of the rarer class | tables | search | LightGBM | search at most LightGBM + .002 |",
        "| --- | --- | --- | --- | --- |",
    ]
    for low, high in ((0, 100), (100, 300), (300, 1000), (1000, np.inf), (0, np.inf)):
        part = spread[(rarer >= low) & (rarer < high)]
        if len(part):
            within = (part["search"] <= part["LightGBM"] + 0.002).sum()
            means = f"{part['search'].mean():.4f} | {part['LightGBM'].mean():.4f}"
            rows.append(f"| {low:,} to {high:,} | {len(part)} | {means} | {within} |")
    worst = (spread["search"] - spread["LightGBM"]).nlargest(12)
    rows += ["", *(f"{table}: {gap:+.4f}" for table, gap in worst.items())]
    return "\n".join(rows)


def show_labels(lines: list[dict]) -> str:
    """Return means of `best_score_` over the draws."""
    rows = [
        "| rows | positives | draws | mean of `best_score_` | mean of the highest mean AUC |",
        "| --- | --- | --- | --- | --- |",
    ]
    for n_rows, n_positive, _ in DRAWS:
        own = [line for line in lines if line["key"][:2] == [n_rows, n_positive]]
        if own:
            scores = np.array([line["best_score"] for line in own])
            error = scores.std(ddof=1) / np.sqrt(len(own)) if len(own) > 1 else np.nan
            highest = np.mean([line["highest"] for line in own])
            rows.append(
                f"| {n_rows:,} | {n_positive:,} | {len(own)} | {scores.mean():.3f} ± {error:.3f} "
                f"| {highest:.3f} |"
            )
    return "\n".join(rows)


def run(part: str, tables: str, out: Path, n_jobs: int) -> None:
    """Run what is missing of a part."""
    jobs, line_of = PARTS[part]
    done = set()
    if out.exists():
        done = {tuple(json.loads(line)["key"]) for line in out.read_text().splitlines()}
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    warnings.simplefilter("ignore")
    with ProcessPoolExecutor(n_jobs) as pool, out.open("a") as file:
        missing = [job for job in jobs(tables) if job not in done]
        futures = {pool.submit(line_of, *job): job for job in missing}
        for future in as_completed(futures):
            try:
                file.write(json.dumps(future.result()) + "\n")
            except Exception as error:
                print(futures[future], repr(error), file=sys.stderr)
            file.flush()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=[*PARTS, "show"])
    parser.add_argument("files", nargs="*", type=Path, help="results to show")
    parser.add_argument("--tables", default="dev", help='"dev", or names with commas')
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("stability.jsonl"))
    given = parser.parse_args()
    if given.what != "show":
        run(given.what, given.tables, given.out, given.jobs)
        return
    for path in given.files:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        show = show_seeds if "auc" in lines[0] else show_labels
        print(show(lines), end="\n\n")


if __name__ == "__main__":
    main()
