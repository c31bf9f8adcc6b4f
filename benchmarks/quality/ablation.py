"""Compare settings of `SparseKernelAUC` on the development tables or the paper's sets.

    python -m benchmarks.quality.ablation SETTINGS.json --out results.jsonl --jobs 16
    python -m benchmarks.quality.ablation --table results.jsonl

SETTINGS.json maps a name to the parameters of `SparseKernelAUC`; the key "constants" may hold
module constants to replace, by their full names; with the key "search" they are those of
`SparseKernelAUCCV`. A setting that is a string names a peer: "logistic", "boosting" (both of
scikit-learn), "lightgbm" or "xgboost". Each table is cut into stratified folds. `TablePreprocessor`
prepares the features of the development tables, and `StandardScaler` those of the paper's sets;
with ``--raw``, numbers stay as they are, with medians for missing values and a column per level.
Every fit uses one thread. Finished lines are not computed again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("SKAUC_DATA", "../shared/data"))
DEV = Path(os.environ.get("SKAUC_DEV", DATA.parent / "dev"))


def names(which: str) -> list[str]:
    """Return the names of the tables: "dev", "paper", or a comma-separated list."""
    if which == "dev":
        return sorted(path.stem for path in DEV.glob("*.parquet"))
    if which == "paper":
        return sorted(path.stem for path in DATA.glob("*.npz"))
    return which.split(",")


def read(name: str):
    """Return features and labels; training and test rows of the paper's sets are joined."""
    if (DEV / f"{name}.parquet").exists():
        import pandas as pd

        frame = pd.read_parquet(DEV / f"{name}.parquet")
        return frame.drop(columns="target"), frame["target"].to_numpy() == 1
    stored = np.load(DATA / f"{name}.npz")
    X, y = stored["X_train"], stored["y_train"] == 1
    if "X_test" in stored:
        X = np.vstack((X, stored["X_test"]))
        y = np.concatenate((y, stored["y_test"] == 1))
    return X, y


def prepare(X, y, train, test):
    """Return numeric features of training and test rows, arrays standardised."""
    from sklearn.preprocessing import StandardScaler

    from skauc.preprocessing import TablePreprocessor

    if isinstance(X, np.ndarray):
        scaler = StandardScaler().fit(X[train])
        return [scaler.transform(X[rows]) for rows in (train, test)]
    steps = TablePreprocessor(random_state=0)
    parts = steps.fit_transform(X.iloc[train], y[train]), steps.transform(X.iloc[test])
    return [part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in parts]


def prepare_raw(X, y, train, test):
    """Return numbers as they are, medians in place of missing values, and a column per level."""
    import pandas as pd

    frame = pd.get_dummies(pd.DataFrame(X), dtype=float).astype(float)
    parts = frame.iloc[train], frame.iloc[test]
    medians = parts[0].median().fillna(0.0)
    return [part.fillna(medians).to_numpy() for part in parts]


def make_peer(name: str, seed: int):
    """Return another classifier with its defaults, on one thread."""
    if name == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1000)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=seed)
    if name == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1)
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=seed)


def make(setting, seed: int):
    """Return the classifier of a setting."""
    from skauc import Selection, SparseKernelAUC, SparseKernelAUCCV

    if isinstance(setting, str):
        return make_peer(setting, seed)
    setting = dict(setting)
    for full_name, value in setting.pop("constants", {}).items():
        module, constant = full_name.rsplit(".", 1)
        setattr(importlib.import_module(module), constant, value)
    if setting.pop("search", False):
        return SparseKernelAUCCV(random_state=seed, n_jobs=1, **setting)
    if "selection" in setting:
        setting["selection"] = Selection(**setting["selection"])
    return SparseKernelAUC(random_state=seed, **setting)


def run(
    table: str, fold: int, n_folds: int, settings: dict, done: set, prepared=prepare
) -> list[dict]:
    """Fit all settings to one fold of a table."""
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    warnings.simplefilter("ignore")
    X, y = read(table)
    splits = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
    train, test = list(splits)[fold]
    A, B = prepared(X, y, train, test)
    lines = []
    for name, setting in settings.items():
        if (table, fold, name) in done:
            continue
        originals = {
            full: getattr(importlib.import_module(full.rsplit(".", 1)[0]), full.rsplit(".", 1)[1])
            for full in (setting.get("constants", {}) if isinstance(setting, dict) else {})
        }
        started = time.process_time()
        model = make(setting, fold).fit(A, y[train])
        seconds = time.process_time() - started
        score = getattr(model, "decision_function", None)
        scores = score(B) if score else model.predict_proba(B)[:, 1]
        path = getattr(model, "path_", None)
        lines.append(
            {
                "table": table,
                "fold": fold,
                "setting": name,
                "auc": roc_auc_score(y[test], scores),
                "seconds": seconds,
                "objective": path[-1].objective if path else None,
                "n_basis": getattr(model, "n_basis_", None),
                "rows": len(train),
                "positives": int(y[train].sum()),
                "features": A.shape[1],
            }
        )
        for full, value in originals.items():
            module, constant = full.rsplit(".", 1)
            setattr(importlib.import_module(module), constant, value)
    return lines


def summarise(path: Path, reference: str | None) -> str:
    """Return a Markdown table: means over tables, differences to a reference, share of wins."""
    import pandas as pd

    frame = pd.DataFrame(map(json.loads, path.read_text().splitlines()))
    auc = frame.pivot_table(index="table", columns="setting", values="auc").dropna()
    seconds = frame.pivot_table(index="table", columns="setting", values="seconds").loc[auc.index]
    objective = frame.pivot_table(index="table", columns="setting", values="objective")
    reference = reference or auc.columns[0]
    best = auc.max(axis=1)
    lines = [
        f"{len(auc)} tables; differences to {reference}",
        "",
        "| setting | mean AUC | difference | standard error | median | within .005 of best | "
        "log objective ratio | mean seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in auc.mean().sort_values(ascending=False).index:
        gap = auc[name] - auc[reference]
        ratio = (
            float(np.log(objective[name] / objective[reference]).mean())
            if name in objective and reference in objective
            else float("nan")
        )
        lines.append(
            f"| {name} | {auc[name].mean():.4f} | {gap.mean():+.4f} | "
            f"{gap.std() / np.sqrt(len(gap)):.4f} | {gap.median():+.4f} | "
            f"{(auc[name] > best - 0.005).mean():.2f} | {ratio:+.3f} | {seconds[name].mean():.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("settings", nargs="?", help="a JSON file of settings by name")
    parser.add_argument("--tables", default="dev", help='"dev", "paper", or names with commas')
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("ablation.jsonl"))
    parser.add_argument("--raw", action="store_true", help="leave numbers as they are")
    parser.add_argument("--table", type=Path, help="print the table of a file of results")
    parser.add_argument("--reference", help="the setting that others are compared with")
    arguments = parser.parse_args()
    if arguments.table:
        print(summarise(arguments.table, arguments.reference))
        return
    settings = json.loads(Path(arguments.settings).read_text())
    done = set()
    if arguments.out.exists():
        lines = map(json.loads, arguments.out.read_text().splitlines())
        done = {(line["table"], line["fold"], line["setting"]) for line in lines}
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    tables, prepared = names(arguments.tables), prepare_raw if arguments.raw else prepare
    with ProcessPoolExecutor(arguments.jobs) as pool, arguments.out.open("a") as out:
        futures = {
            pool.submit(run, table, fold, arguments.folds, settings, done, prepared): (table, fold)
            for table in tables
            for fold in range(arguments.folds)
        }
        for future in as_completed(futures):
            try:
                lines = future.result()
            except Exception as error:
                print(futures[future], repr(error), file=sys.stderr)
                continue
            out.writelines(json.dumps(line) + "\n" for line in lines)
            out.flush()


if __name__ == "__main__":
    main()
