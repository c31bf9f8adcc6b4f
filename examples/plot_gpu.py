"""
Time by the number of rows, with and without a GPU
==================================================

``engine="gpu"`` runs the passes over all rows on a GPU that torch can use. This program measures
the CPU here, and the GPU too if there is one. Otherwise it draws figures that were measured on an
NVIDIA H200; :doc:`/guide/gpu` has the command.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from skauc import SparseKernelAUC, warm_up

# Rows: seconds of an unrefined fit with 64 centres and 28 features on an H200.
MEASURED_ON_H200 = {1_000_000: 0.70, 10_000_000: 8.20}


def has_gpu():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def measure(engine, sizes):
    """Return the seconds of a fit by the number of rows."""
    random = np.random.default_rng(0)
    seconds = {}
    for n_rows in sizes:
        X = random.normal(size=(n_rows, 28)).astype(np.float32)
        y = X[:, 0] * X[:, 1] + X[:, 2] + random.normal(size=n_rows) > 2.5
        model = SparseKernelAUC(
            64, scaling=None, refine=False, linear_term=False, engine=engine, random_state=0
        )
        started = time.perf_counter()
        model.fit(X, y)
        seconds[n_rows] = time.perf_counter() - started
    return seconds


# %%
# ``warm_up`` compiles the code before the clock starts.

warm_up()
cpu = measure("cpu", [10_000, 30_000, 100_000])
if has_gpu():
    gpu, label = measure("gpu", [10_000, 100_000, 1_000_000]), "GPU of this machine"
else:
    gpu, label = MEASURED_ON_H200, "NVIDIA H200, measured before"

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.loglog(list(cpu), list(cpu.values()), "o-", label="one core of this machine")
axes.loglog(list(gpu), list(gpu.values()), "s-", label=label)
axes.set(xlabel="Rows", ylabel="Seconds of fit", title="64 unrefined centres, 28 features")
axes.grid(which="both", alpha=0.3)
axes.legend()
plt.show()
