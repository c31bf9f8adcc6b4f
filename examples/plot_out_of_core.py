"""
Rows that do not fit into memory
================================

A fit reads a memory-mapped file block by block. It holds one column per centre, and never a copy of
the rows. The picture shows the time of a fit and the peak of its memory beside the size of the
file. The files here are small, so that the example is quick. Larger files continue the lines.
"""

import tempfile
import time
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skauc import SparseKernelAUC, warm_up

random = np.random.default_rng(0)
N_FEATURES, SIZES = 100, (20_000, 40_000, 80_000)


def write(path, n_rows):
    """Write rows in pieces, as a program would that never has all of them."""
    rows = np.memmap(path, np.float32, mode="w+", shape=(n_rows, N_FEATURES))
    for start in range(0, n_rows, 20_000):
        rows[start : start + 20_000] = random.normal(size=(20_000, N_FEATURES))
    y = rows[:, 0] * rows[:, 1] + rows[:, 2] + random.normal(size=n_rows) > 3
    rows.flush()
    return y


# %%
# Float32 rows are used as they are. A fit needs 4 bytes per row and centre, and about 100 bytes per
# row for scores and pairs. ``warm_up`` compiles the code before the clock starts.

warm_up()
file_size, memory, seconds = [], [], []
with tempfile.TemporaryDirectory() as folder:
    for n_rows in SIZES:
        path = Path(folder) / f"{n_rows}.float32"
        y = write(path, n_rows)
        X = np.memmap(path, np.float32, mode="r", shape=(n_rows, N_FEATURES))
        tracemalloc.start()
        started = time.perf_counter()
        model = SparseKernelAUC(8, linear_term=False, scaling=None, random_state=0).fit(X, y)
        seconds.append(time.perf_counter() - started)
        memory.append(tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
        file_size.append(path.stat().st_size / 1e6)
        del X

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
thousands = np.array(SIZES) / 1000
left.plot(thousands, file_size, "o--", color="0.5", label="file of rows")
left.plot(thousands, memory, "o-", label="peak memory of the fit")
left.set(xlabel="Thousand rows", ylabel="MB")
left.legend()
right.plot(thousands, seconds, "o-")
right.set(xlabel="Thousand rows", ylabel="Seconds of fit", ylim=(0, None))
plt.show()
