"""
Score rows inside a database
============================

``to_source`` writes a fitted model, with its preprocessing, as a view in SQL. Here SQLite, which
comes with Python, scores a table. The picture compares its scores with those of Python.
"""

import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor, to_source

random = np.random.default_rng(0)
table = pd.DataFrame(
    {
        "age": random.integers(18, 80, 800).astype(float),
        "income": random.lognormal(10, 0.5, 800).round(),
        "town": random.choice(["Oslo", "Bern", "Porto"], 800),
    }
)
risk = np.abs(table["age"] - 45) / 15 + (table["town"] == "Porto") + random.normal(size=800)
table.loc[::17, "age"] = np.nan
model = make_pipeline(TablePreprocessor(), SparseKernelAUC(12, random_state=0))
model.fit(table, risk > 2.5)

# %%
script = to_source(model, "sql", dialect="sqlite", table="customers", name="churn")
print(f"{len(script):,} characters, beginning with")
print("\n".join(script.splitlines()[:4]))

database = sqlite3.connect(":memory:")
table.to_sql("customers", database, index_label="id")
database.executescript(script)
print("self-test, wrong rows:", database.execute("SELECT failed FROM churn_self_test").fetchall())
scored = pd.read_sql("SELECT id, churn_score FROM churn ORDER BY id", database)

# %%
ours = model.decision_function(table)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
left.plot(ours, scored["churn_score"], ".", markersize=4)
left.set(xlabel="decision_function", ylabel="churn_score in SQLite", title="800 rows")
right.hist(scored["churn_score"] - ours, bins=40)
right.set(xlabel="Difference", ylabel="Rows", title="Rounding errors")
plt.show()
