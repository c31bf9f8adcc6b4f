"""
Has the table changed?
======================

``skauc fit`` keeps a histogram of every column and of the scores in the model file. ``skauc drift``
compares them with a new table. The picture shows the population stability index (PSI) of each
column. In the new table the income is higher and some towns are new.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd


def make_customers(n_rows, towns, raise_by, seed):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": random.integers(18, 80, n_rows),
            "income": (random.lognormal(10, 0.5, n_rows) * raise_by).round(),
            "town": random.choice(towns, n_rows),
            "visits": random.poisson(4, n_rows),
        }
    )
    risk = table["age"] / 30 - table["visits"] / 2 + random.normal(size=n_rows)
    return table.assign(churned=np.where(risk > 0.9, 1, 0))


def skauc(*words):
    """Run the command line and return what it prints."""
    command = [sys.executable, "-m", "skauc.app.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout


# %%
folder = Path(tempfile.mkdtemp())
make_customers(1500, ["Oslo", "Bern"], 1.0, seed=0).to_csv(folder / "old.csv", index=False)
make_customers(900, ["Oslo", "Bern", "Rome"], 1.3, seed=1).to_csv(folder / "new.csv", index=False)
skauc("fit", "old.csv", "--target", "churned", "--effort", "quick", "--n-basis", "8")
columns = json.loads(skauc("drift", "old.skauc", "new.csv", "--json"))["columns"]

# %%
columns.sort(key=lambda column: column["psi"])
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.barh(
    [column["name"] for column in columns],
    [column["psi"] for column in columns],
    color=["firebrick" if column["has_shifted"] else "steelblue" for column in columns],
)
axes.axvline(0.1, color="0.4", linestyle="--", label="0.1: a shift is marked")
axes.set(xlabel="Population stability index", title="Red columns have shifted")
axes.legend(loc="lower right")
plt.show()
