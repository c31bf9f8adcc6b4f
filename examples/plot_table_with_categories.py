"""
A table with categories, dates and missing values
=================================================

``TablePreprocessor`` finds the kind of every column and turns the table into numbers. In a pipeline
with a classifier, explanations and plots still speak of the columns of the table.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.plotting import ImportanceDisplay, ShapeDisplay

random = np.random.default_rng(0)
n_rows = 3000
age = random.integers(18, 90, n_rows).astype(float)
town = random.choice(["Oslo", "Bern", "Porto", "Lyon"], n_rows)
signed = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 1500, n_rows), "D")
spent = random.lognormal(3, 1, n_rows).round(2)
risk = np.abs(age - 50) / 12 + 1.5 * (town == "Porto") - 0.4 * np.log(spent)
churned = risk + random.normal(size=n_rows) > 3.2
age[random.random(n_rows) < 0.1] = np.nan
table = pd.DataFrame(
    {
        "age": age,
        "town": town,
        "signed": signed,
        "spent": [f"${value:,.2f}" for value in spent],
        "customer": [f"c{number:05}" for number in range(n_rows)],
    }
)
print(table.head(3))

# %%
X_train, X_test, y_train, y_test = train_test_split(table, churned, random_state=0)
model = make_pipeline(TablePreprocessor(), SparseKernelAUC(24, random_state=0))
model.fit(X_train, y_train)
print("kinds:", model[0].columns_)
print("not used:", model[0].dropped_)
print(f"test AUC {model.score(X_test, y_test):.3f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
ImportanceDisplay.from_estimator(model, X_test[:200], ax=left)
ShapeDisplay.from_estimator(model, X_test, "age", ax=right)
left.set_title("Mean absolute contributions")
right.set_title("Effect of the age")
plt.show()
