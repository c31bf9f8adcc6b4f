"""
Few positives: kernels and boosted trees
========================================

How does the test AUC depend on the number of positive training rows? One digit at a time is the
rare class. The lines are means over three digits. Images suit kernels.
:doc:`/guide/something_else` compares on tables.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.metrics import auc

X, digit = load_digits(return_X_y=True)
X_train, X_test, digit_train, digit_test = train_test_split(
    StandardScaler().fit_transform(X), digit, test_size=0.5, stratify=digit, random_state=0
)


def test_auc(model, rare, n_positives):
    """Fit to a few images of the rare digit and 400 of the others."""
    positives = np.flatnonzero(digit_train == rare)[:n_positives]
    rows = np.concatenate([positives, np.flatnonzero(digit_train != rare)[:400]])
    model.fit(X_train[rows], digit_train[rows] == rare)
    return auc(digit_test == rare, model.decision_function(X_test))


# %%
COUNTS, DIGITS = (5, 20, 80), (3, 6, 8)
models = {
    "SparseKernelAUC(32)": SparseKernelAUC(32, random_state=0),
    "boosted trees": HistGradientBoostingClassifier(),
}
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, model in models.items():
    means = [np.mean([test_auc(model, rare, count) for rare in DIGITS]) for count in COUNTS]
    axes.plot(COUNTS, means, "o-", label=name)
axes.set_xscale("log")
axes.set_xticks(COUNTS, [str(count) for count in COUNTS])
axes.minorticks_off()
axes.set(
    xlabel="Positive training images, beside 400 others", ylabel="Mean test AUC of three digits"
)
axes.legend(loc="lower right")
axes.grid(alpha=0.3)
plt.show()
