"""Compare `SparseKernelAUCCV` with other classifiers on tables with categories and missing values.

    python -m benchmarks.quality.table_peers run --tables dev --out peers.jsonl --jobs 2
    python -m benchmarks.quality.table_peers run --folds 1 --rows 12000 --out small.jsonl
    python -m benchmarks.quality.table_peers show peers.jsonl --markdown peers.md --figure peers.png

Each table is cut into three stratified folds. A classifier gets the raw table (if it knows
categories and missing values) or the table behind `TablePreprocessor`. All fits use one thread and
the defaults. "tuned" draws settings at random and compares them by AUC on three inner folds, for as
long as the default search of skauc took on the same rows. Finished lines are not computed again. A
classifier whose package is not installed is left out.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator

from benchmarks.quality.ablation import names, read

N_FOLDS = 3
OURS = "skauc"
# Kernel machines over all rows are left out on larger tables.
KERNEL_MACHINES = ("SVC", "xRFM")
MOST_KERNEL_ROWS = 20_000
# An AUC this close to the best counts as level with it.
NEAR = 0.005

# -- classifiers ------------------------------------------------------------------------------


def prepared(classifier):
    """Put the preprocessor of skauc before a classifier."""
    from sklearn.pipeline import make_pipeline

    from skauc.preprocessing import TablePreprocessor

    return make_pipeline(TablePreprocessor(random_state=0), classifier)


def skauc_search(seed: int, **parameters):
    """Return the search of skauc behind its preprocessor."""
    from sklearn.pipeline import make_pipeline

    from skauc import SparseKernelAUCCV
    from skauc.preprocessing import TablePreprocessor

    search = SparseKernelAUCCV(random_state=seed, n_jobs=1, **parameters)
    return make_pipeline(TablePreprocessor(random_state=0), search)


def skauc_single(seed: int):
    """Return one fit of skauc with its defaults."""
    from skauc import SparseKernelAUC

    return prepared(SparseKernelAUC(random_state=seed))


def lightgbm(seed: int, **parameters):
    """Return LightGBM, which takes categories of pandas."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1, **parameters)


def xgboost(seed: int):
    """Return XGBoost, which takes categories of pandas."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=seed, enable_categorical=True)


def catboost(seed: int, **parameters):
    """Return CatBoost behind a step that names the categories."""
    from catboost import CatBoostClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    classifier = CatBoostClassifier(
        thread_count=1, random_seed=seed, verbose=0, allow_writing_files=False, **parameters
    )
    return make_pipeline(FunctionTransformer(_as_strings), _WithCategories(classifier))


def _as_strings(X):
    """Return categories as text, in which a missing value is a category."""
    if isinstance(X, np.ndarray):
        return X
    columns = X.select_dtypes("category").columns
    return X.assign(
        **{name: X[name].astype(object).fillna("missing").astype(str) for name in columns}
    )


class _WithCategories(BaseEstimator):
    """Tells CatBoost which columns are text."""

    def __init__(self, classifier):
        self.classifier = classifier

    def fit(self, X, y):
        """Fit to rows whose text columns are categories."""
        texts = [] if isinstance(X, np.ndarray) else list(X.select_dtypes(exclude="number"))
        self.classifier_ = self.classifier.set_params(cat_features=texts).fit(X, y)
        return self

    def predict_proba(self, X):
        """Return the probabilities of both classes."""
        return self.classifier_.predict_proba(X)


def boosting(seed: int):
    """Return the boosted trees of scikit-learn, which take categories of pandas."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def explainable_boosting(seed: int):
    """Return the explainable boosting machine of InterpretML."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=seed)


class _RecursiveFeatureMachine(BaseEstimator):
    """xRFM with its defaults; a stratified fifth of the rows chooses the iteration, by AUC."""

    def __init__(self, seed: int):
        self.seed = seed

    def fit(self, X, y):
        """Fit to rows of numbers."""
        from sklearn.model_selection import train_test_split
        from xrfm import xRFM

        parts = train_test_split(X, y, test_size=0.2, stratify=y, random_state=self.seed)
        rows, other_rows = (part.astype(np.float32) for part in parts[:2])
        labels, other_labels = (part.astype(np.int64) for part in parts[2:])
        self.model_ = xRFM(
            device="cpu", n_threads=1, tuning_metric="auc", random_state=self.seed, verbose=False
        )
        self.model_.fit(rows, labels, other_rows, other_labels)
        return self

    def predict_proba(self, X):
        """Return the probabilities of both classes."""
        return np.asarray(self.model_.predict_proba(X.astype(np.float32)))


def recursive_feature_machine(seed: int):
    """Return xRFM, a kernel machine that learns a metric."""
    return prepared(_RecursiveFeatureMachine(seed))


def forest(seed: int):
    """Return a random forest."""
    from sklearn.ensemble import RandomForestClassifier

    return prepared(RandomForestClassifier(n_jobs=1, random_state=seed))


def support_vectors(seed: int):
    """Return a support vector machine."""
    from sklearn.svm import SVC

    return prepared(SVC(class_weight="balanced", cache_size=1000))


def logistic(seed: int):
    """Return logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return prepared(LogisticRegression(max_iter=1000))


CLASSIFIERS: dict[str, Callable] = {
    OURS: skauc_search,
    "skauc quick": lambda seed: skauc_search(seed, effort="quick"),
    "skauc single fit": skauc_single,
    "LightGBM": lightgbm,
    "LightGBM, our preprocessor": lambda seed: prepared(lightgbm(seed)),
    "XGBoost": xgboost,
    "XGBoost, our preprocessor": lambda seed: prepared(xgboost(seed)),
    "CatBoost": catboost,
    "CatBoost, our preprocessor": lambda seed: prepared(catboost(seed)),
    "HistGradientBoosting": boosting,
    "HistGradientBoosting, our preprocessor": lambda seed: prepared(boosting(seed)),
    "EBM": explainable_boosting,
    "xRFM": recursive_feature_machine,
    "random forest": forest,
    "SVC": support_vectors,
    "logistic regression": logistic,
}
PACKAGES = {
    "LightGBM": "lightgbm",
    "XGBoost": "xgboost",
    "CatBoost": "catboost",
    "EBM": "interpret",
    "xRFM": "xrfm",
}

# -- tuning -----------------------------------------------------------------------------------


def lightgbm_setting(rng: np.random.Generator) -> dict:
    """Draw a setting of LightGBM from the usual ranges."""
    return {
        "learning_rate": 10 ** rng.uniform(-2, -0.5),
        "n_estimators": int(10 ** rng.uniform(1.5, 3)),
        "num_leaves": int(2 ** rng.uniform(2, 7)),
        "min_child_samples": int(10 ** rng.uniform(0.5, 2)),
        "reg_lambda": 10 ** rng.uniform(-3, 2),
        "subsample": rng.uniform(0.5, 1.0),
        "subsample_freq": 1,
        "colsample_bytree": rng.uniform(0.4, 1.0),
    }


def catboost_setting(rng: np.random.Generator) -> dict:
    """Draw a setting of CatBoost from the usual ranges."""
    return {
        "learning_rate": 10 ** rng.uniform(-2, -0.5),
        "iterations": int(10 ** rng.uniform(1.5, 3)),
        "depth": int(rng.integers(3, 9)),
        "l2_leaf_reg": 10 ** rng.uniform(-1, 1.5),
        "random_strength": 10 ** rng.uniform(-1, 1),
    }


TUNED = {
    "LightGBM tuned": (lightgbm, lightgbm_setting),
    "CatBoost tuned": (catboost, catboost_setting),
}


def tune(name: str, X, y, seed: int, seconds: float):
    """Return the best of random settings that could be tried in the time, fitted to all rows.

    The defaults are tried first. One setting is always tried.
    """
    from sklearn.model_selection import StratifiedKFold

    make, draw = TUNED[name]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
    rng, deadline = np.random.default_rng(seed), time.process_time() + seconds
    best, best_auc, parameters = {}, -1.0, {}
    while True:
        aucs = []
        for train, test in folds:
            model = make(seed, **parameters).fit(rows_of(X, train), y[train])
            aucs.append(auc_of(model, rows_of(X, test), y[test]))
        if np.mean(aucs) > best_auc:
            best, best_auc = parameters, float(np.mean(aucs))
        if time.process_time() > deadline:
            return make(seed, **best).fit(X, y)
        parameters = draw(rng)


# -- running ----------------------------------------------------------------------------------


def rows_of(X, rows):
    """Return rows of an array or a table."""
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


def auc_of(model, X, y) -> float:
    """Return the AUC of the scores, or of the probabilities."""
    from sklearn.metrics import roc_auc_score

    score = getattr(model, "decision_function", None)
    return float(roc_auc_score(y, score(X) if score else model.predict_proba(X)[:, 1]))


def fold_of(table: str, number: int):
    """Return training and test rows of a fold."""
    from sklearn.model_selection import StratifiedKFold

    X, y = read(table)
    if not isinstance(X, np.ndarray):  # LightGBM and XGBoost refuse some characters in names
        X.columns = [f"c{number}" for number in range(X.shape[1])]
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
    train, test = list(folds)[number]
    return rows_of(X, train), y[train], rows_of(X, test), y[test]


def run(table: str, number: int, wanted: list[str], known: dict[str, dict]) -> list[dict]:
    """Return a line per classifier on one fold of a table."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = fold_of(table, number)
    lines = dict(known)
    for name in wanted:
        if name in lines or (name in KERNEL_MACHINES and len(y) > MOST_KERNEL_ROWS):
            continue
        started = time.process_time()
        try:
            if name in TUNED:
                model = tune(name, X, y, number, lines[OURS]["seconds"])
            else:
                model = CLASSIFIERS[name](number).fit(X, y)
        except Exception as error:  # a peer that cannot fit a table is listed, and the others go on
            print(f"{table} {number} {name}: {error}", file=sys.stderr)
            continue
        seconds = time.process_time() - started
        auc = auc_of(model, X_test, y_test)
        line = {"table": table, "fold": number, "name": name, "auc": round(auc, 5)}
        line |= {"seconds": round(seconds, 2), "bytes": _size(model)}
        lines[name] = line
    return [line for name, line in lines.items() if name not in known]


def _size(model) -> int | None:
    try:
        return len(pickle.dumps(model))
    except Exception:
        return None


def available() -> list[str]:
    """Return the classifiers whose packages are installed."""
    every = [*CLASSIFIERS, *TUNED]
    missing = {word for word, package in PACKAGES.items() if find_spec(package) is None}
    return [name for name in every if not any(name.startswith(word) for word in missing)]


def run_all(tables: list[str], n_folds: int, wanted: list[str], out: Path, n_jobs: int) -> None:
    """Run the first folds of all tables, in processes, and append the lines to a file."""
    lines = load(out) if out.exists() else []
    known: dict[tuple[str, int], dict[str, dict]] = {}
    for line in lines:
        known.setdefault((line["table"], line["fold"]), {})[line["name"]] = line
    jobs = [(table, number) for table in tables for number in range(n_folds)]
    with ProcessPoolExecutor(n_jobs) as pool, out.open("a") as file:
        futures = {pool.submit(run, *job, wanted, known.get(job, {})): job for job in jobs}
        for n_done, future in enumerate(as_completed(futures), 1):
            for line in future.result():
                file.write(json.dumps(line) + "\n")
            file.flush()
            print(f"{n_done} of {len(jobs)}: {futures[future]}", file=sys.stderr)


def load(path: Path) -> list[dict]:
    """Return the lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


# -- showing ----------------------------------------------------------------------------------


def summarise(lines: list[dict]) -> list[dict]:
    """Return a row per classifier, over the tables of which all of them have fitted all folds."""
    names_ = list(dict.fromkeys(line["name"] for line in lines))
    by: dict[str, dict[str, list[dict]]] = {}
    for line in lines:
        by.setdefault(line["table"], {}).setdefault(line["name"], []).append(line)
    n_folds = number_of_folds(lines)
    common = [t for t in by if all(len(by[t].get(n, ())) == n_folds for n in names_)]
    if not common:
        return []
    auc = np.array([[np.mean([x["auc"] for x in by[t][n]]) for n in names_] for t in common])
    seconds = np.array(
        [[np.mean([x["seconds"] for x in by[t][n]]) for n in names_] for t in common]
    )
    sizes = np.array([[by[t][n][0]["bytes"] or np.nan for n in names_] for t in common])
    ranks = (-auc).argsort(axis=1).argsort(axis=1) + 1
    reference = auc[:, names_.index(OURS) if OURS in names_ else 0]
    rows = [
        {
            "name": name,
            "tables": len(common),
            "auc": auc[:, i].mean(),
            "rank": ranks[:, i].mean(),
            "near": np.mean(auc[:, i] >= auc.max(axis=1) - NEAR),
            "difference": (auc[:, i] - reference).mean(),
            "error": (auc[:, i] - reference).std() / np.sqrt(max(len(common) - 1, 1)),
            "seconds": np.median(seconds[:, i]),
            "bytes": np.nanmedian(sizes[:, i]),
        }
        for i, name in enumerate(names_)
    ]
    return sorted(rows, key=lambda row: -row["auc"])


def number_of_folds(lines: list[dict]) -> int:
    """Return how many folds of a table were run."""
    return 1 + max(line["fold"] for line in lines)


def groups_of(lines: list[dict]) -> dict[str, list[dict]]:
    """Return the lines of all tables, of each half, and of tables with and without categories.

    The halves are the tables at odd and at even places in the order of all names.
    """
    everything = names("dev")
    odd = set(everything[::2])
    with_categories = {
        table
        for table in {line["table"] for line in lines}
        if table in everything and "category" in map(str, read(table)[0].dtypes)
    }
    chosen: dict[str, Callable[[str], bool]] = {
        "all tables": lambda table: True,
        "odd places": lambda table: table in odd,
        "even places": lambda table: table not in odd,
        "with categories": lambda table: table in with_categories,
        "without categories": lambda table: table not in with_categories,
    }
    groups = {
        group: [line for line in lines if is_in(line["table"])] for group, is_in in chosen.items()
    }
    return {group: chosen_lines for group, chosen_lines in groups.items() if chosen_lines}


def as_markdown(rows: list[dict], n_folds: int) -> str:
    """Return the table of the results."""
    head = (
        f"{rows[0]['tables']} tables, {n_folds} folds. Time and size are medians over the tables; "
        "time is that of one thread, size that of the pickle.\n\n"
        "| classifier | mean AUC | difference from skauc | mean rank | within .005 of the best "
        "| seconds | kB |\n| --- | --- | --- | --- | --- | --- | --- |\n"
    )
    return head + "".join(
        f"| {r['name']} | {r['auc']:.4f} | {r['difference']:+.4f} ± {r['error']:.4f} "
        f"| {r['rank']:.1f} | {r['near']:.0%} | {r['seconds']:.2f} | {r['bytes'] / 1000:.0f} |\n"
        for r in rows
    )


def groups_as_markdown(groups: dict[str, list[dict]]) -> str:
    """Return a table of mean AUC, mean rank and share near the best in each group of tables."""
    found = {group: summarise(lines) for group, lines in groups.items()}
    found = {group: rows for group, rows in found.items() if rows}
    heads = [f"{group} ({rows[0]['tables']})" for group, rows in found.items()]
    by_name = {
        group: {
            row["name"]: f"{row['auc']:.4f}, {row['rank']:.1f}, {row['near']:.0%}" for row in rows
        }
        for group, rows in found.items()
    }
    order = [row["name"] for row in next(iter(found.values()))]
    lines = [f"| mean AUC, rank, near | {' | '.join(heads)} |", "| --- |" + " --- |" * len(heads)]
    for name in order:
        cells = [by_name[group].get(name, "") for group in found]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def as_record(lines: list[dict]) -> dict:
    """Return the AUC of each table, a mean over folds, and the figures of each group of tables."""
    tables: dict[str, dict[str, list[float]]] = {}
    for line in lines:
        tables.setdefault(line["table"], {}).setdefault(line["name"], []).append(line["auc"])
    return {
        "folds": number_of_folds(lines),
        "auc": {
            table: {name: round(float(np.mean(aucs)), 4) for name, aucs in sorted(by_name.items())}
            for table, by_name in sorted(tables.items())
        },
        "groups": {
            group: [{key: _short(value) for key, value in row.items()} for row in summarise(part)]
            for group, part in groups_of(lines).items()
        },
    }


def _short(value):
    """Return a number with four decimals, and a name as it is."""
    return value if isinstance(value, str) else round(float(value), 4)


def draw(rows: list[dict], path: Path) -> None:
    """Plot mean AUC against time."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for row in rows:
        colour = "C3" if row["name"].startswith(OURS) else "C0"
        ax.scatter(row["seconds"], row["auc"], color=colour)
        ax.annotate(
            row["name"],
            (row["seconds"], row["auc"]),
            fontsize=8,
            xytext=(4, 3),
            textcoords="offset points",
        )
    ax.set(xscale="log", xlabel="seconds per fit (median, one thread)", ylabel="mean AUC")
    figure.savefig(path, dpi=150)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="fit the classifiers")
    runs.add_argument("--tables", default="dev", help='"dev", "paper", or names with commas')
    runs.add_argument("--folds", type=int, default=N_FOLDS, help="only the first folds")
    runs.add_argument("--rows", type=int, default=None, help="leave out tables with more rows")
    runs.add_argument("--only", default=None, help="names of classifiers with semicolons")
    runs.add_argument("--out", type=Path, required=True)
    runs.add_argument("--jobs", type=int, default=1)
    shows = commands.add_parser("show", help="print a table of the results")
    shows.add_argument("results", type=Path)
    shows.add_argument("--markdown", type=Path)
    shows.add_argument("--json", type=Path, help="the AUC of each table")
    shows.add_argument("--figure", type=Path)
    given = parser.parse_args(arguments)
    if given.command == "run":
        wanted = available() if given.only is None else given.only.split(";")
        tables = names(given.tables)
        if given.rows is not None:
            tables = [name for name in tables if len(read(name)[1]) <= given.rows]
        run_all(tables, given.folds, wanted, given.out, given.jobs)
        return
    lines = load(given.results)
    rows = summarise(lines)
    text = as_markdown(rows, number_of_folds(lines)) + "\n" + groups_as_markdown(groups_of(lines))
    print(text)
    if given.markdown:
        given.markdown.write_text(text)
    if given.json:
        given.json.write_text(json.dumps(as_record(lines), indent=0) + "\n")
    if given.figure:
        draw(rows, given.figure)


if __name__ == "__main__":
    main()
