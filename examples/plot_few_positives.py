"""
How much do twelve positives tell?
==================================

300 rows, twelve of them positive. The intervals of the AUC are wide, and a difference between two
models is hard to prove. Intervals and the paired test of DeLong say how hard.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.metrics import auc_interval, delong_test

data = load_breast_cancer()
malignant, benign = (np.flatnonzero(data.target == label) for label in (0, 1))
rows = np.concatenate([malignant[:12], benign[:288]])
X, y = data.data[rows, :10], data.target[rows] == 0

# %%
# Each row is scored by a model that was not fitted to it. All three models rank well, and none is
# better than the others beyond chance: with twelve positives, prefer the simplest.

folds = StratifiedKFold(6, shuffle=True, random_state=0)
models = {
    "SparseKernelAUC(8)": SparseKernelAUC(8, random_state=0),
    "SparseKernelAUC(64)": SparseKernelAUC(64, random_state=0),
    "LogisticRegression": LogisticRegression(),
}
scores = {
    name: cross_val_predict(
        make_pipeline(StandardScaler(), model), X, y, cv=folds, method="decision_function"
    )
    for name, model in models.items()
}
print(delong_test(y, scores["SparseKernelAUC(8)"], scores["LogisticRegression"]))

# %%
figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
for place, values in enumerate(scores.values()):
    found = auc_interval(y, values)
    axes.errorbar(
        found.auc, place, xerr=[[found.auc - found.low], [found.high - found.auc]],
        fmt="o", capsize=4,
    )  # fmt: skip
axes.set_yticks(range(3), list(scores))
axes.set_ylim(-0.6, 2.6)
axes.set(xlabel="Cross-validated AUC with its 95 % interval", title="12 positives, 288 negatives")
plt.show()
