"""Run as a program: writes the model files that every later version must read.

``python write_examples.py FOLDER PREFIX NAME...`` writes ``PREFIX_NAME.skauc``, and the scores of
some rows to ``PREFIX_NAME.json``. Files of a format are written once and are never written again.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    OILK,
    KernelRankSVM,
    SparseKernelAUC,
    SparseKernelAUCCV,
    TablePreprocessor,
    save_model,
)

X, Y = make_classification(120, 4, n_informative=3, class_sep=0.8, n_redundant=0, random_state=0)
LABELS = np.array(["no", "yes"])[Y]


def make_table():
    """Return a small table with a column of each kind."""
    import pandas as pd

    rng = np.random.default_rng(0)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, len(Y)), "D")
    return pd.DataFrame(
        {
            "size": np.where(rng.random(len(Y)) < 0.1, np.nan, X[:, 0]),
            "town": np.array(["Oslo", "Bern", "Rome"])[rng.integers(0, 3, len(Y)) * Y],
            "day": days.strftime("%Y-%m-%d"),
            "is_new": rng.random(len(Y)) < 0.5,
        }
    )


def small(**parameters):
    return SparseKernelAUC(6, random_state=0, **parameters)


MODELS = {
    "widths": small(gamma=[0.05, 0.5], linear_term=True),
    "ranks": small(scaling="rank", rotate=True, refine=3),
    "search": SparseKernelAUCCV(n_basis=4, Cs=[1.0], gammas=["scale"], cv=2, random_state=0),
    "svm": KernelRankSVM(),
    "online": OILK(buffer_size=8, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), small()),
    "calibrated": CalibratedClassifierCV(
        make_pipeline(StandardScaler(), small()), ensemble=False, method="isotonic"
    ),
    "table": make_pipeline(TablePreprocessor(), small()),
    # As `skauc fit` makes models; stored without skops.
    "flagged": FixedThresholdClassifier(
        make_pipeline(
            TablePreprocessor(), SparseKernelAUCCV(n_basis=4, cv=2, refine=False, random_state=0)
        ),
        threshold=0.4,
        response_method="predict_proba",
    ),
}
TABLES = ("table", "flagged")


def scores_of(model, rows):
    method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    return getattr(model, method)(rows)


def rows_for(name):
    return make_table() if name in TABLES else X


def main(folder, prefix, *names):
    for name in names:
        model, rows = MODELS[name].fit(rows_for(name), LABELS), rows_for(name)
        path = Path(folder) / f"{prefix}_{name}.skauc"
        save_model(model, path, summary={"note": prefix}, history=name in ("widths", "search"))
        path.with_suffix(".json").write_text(json.dumps(scores_of(model, rows[:20]).tolist()))


if __name__ == "__main__":
    main(*sys.argv[1:])
