"""ijcnn1 with the paper's size and setting, compared with SVC.

    SKAUC_DATA=... python -m benchmarks.quality.ijcnn1_paper

Official split, features as given, 182 centres, 100 candidates, C_pair = 1e-3 (C = 4.4), two
threads, three seeds. sigma = 1 is gamma = 1/2. SVC has C = 32 and gamma = 2. Prints a table.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.svm import SVC

from benchmarks.speed.marks import C_GREEDY
from reproduction.data_sets import load_dataset
from skauc import Selection, SparseKernelAUC

SEEDS = range(3)
SETTINGS = [
    {"gamma": 0.5, "selection": "greedy"},
    {"gamma": 0.5, "selection": "orthogonal"},
    {"gamma": 0.5, "selection": "greedy", "refine": 3},
    {"gamma": 0.5, "selection": "greedy", "refine": 6},
    {"gamma": 0.5, "selection": "orthogonal", "refine": True},
    {"gamma": 1.0, "selection": "greedy"},
    {"gamma": 1.0, "selection": "orthogonal"},
]


def seconds_of(fit) -> float:
    started = time.perf_counter()
    fit()
    return time.perf_counter() - started


def make(seed: int, setting: dict) -> SparseKernelAUC:
    selection = Selection(setting["selection"], n_candidates=100)
    parameters = {**setting, "selection": selection}
    return SparseKernelAUC(182, C=C_GREEDY, n_jobs=2, random_state=seed, **parameters)


def main() -> None:
    data = load_dataset("ijcnn1")
    train, test = (data.X_train, data.y_train), (data.X_test, data.y_test)
    few = slice(12_000)
    for setting in SETTINGS:  # Compile everything.
        SparseKernelAUC(8, **setting).fit(data.X_train[few], data.y_train[few])
    svc = seconds_of(lambda: SVC(C=32, gamma=2).fit(*train))
    print(f"SVC(C=32, gamma=2): {svc:.1f} s\n")
    print("| gamma | selection | refine | test AUC, seeds 0, 1, 2 | time of SVC's |")
    print("| --- | --- | --- | --- | --- |")
    for setting in SETTINGS:
        models = [make(seed, setting) for seed in SEEDS]
        taken = [seconds_of(lambda model=model: model.fit(*train)) for model in models]
        scores = ", ".join(f"{model.score(*test):.4f}" for model in models)
        words = setting["gamma"], setting["selection"], setting.get("refine", False)
        print(f"| {words[0]} | {words[1]} | {words[2]} | {scores} | {np.median(taken) / svc:.2f} |")


if __name__ == "__main__":
    main()
