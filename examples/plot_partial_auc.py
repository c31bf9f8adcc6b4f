"""
Rank for the top of the list
============================

If only the highest scores can be checked, false positive rates above a few per cent do not matter.
``max_fpr=0.05`` fits a model for the left part of the ROC curve. The picture compares it with a
model for the whole curve. Whether it helps depends on the data, so compare on test rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_curve
from sklearn.model_selection import train_test_split

from skauc import SparseKernelAUC
from skauc.metrics import auc, partial_auc

# Most positives overlap with the negatives. A few can be told apart.
random = np.random.default_rng(0)
n_negatives, n_positives = 5000, 600
negatives = random.normal(size=(n_negatives, 4))
blended = random.normal(size=(2 * n_positives // 3, 4)) + np.array([1.2, 0, 0, 0])
apart = 0.5 * random.normal(size=(n_positives // 3, 4)) + np.array([0, 2.2, 2.2, 0])
X = np.concatenate([negatives, blended, apart])
y = np.arange(len(X)) >= n_negatives
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)

# %%
figure, axes = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
for max_fpr in (None, 0.05):
    model = SparseKernelAUC(8, max_fpr=max_fpr, linear_term=False, random_state=0)
    scores = model.fit(X_train, y_train).decision_function(X_test)
    left = partial_auc(y_test, scores, max_fpr=0.05)
    print(f"max_fpr={max_fpr}: AUC {auc(y_test, scores):.4f}, partial AUC {left:.4f}")
    rate, recall, _ = roc_curve(y_test, scores)
    axes.plot(rate, recall, label=f"max_fpr={max_fpr}: partial AUC {left:.3f}")
axes.axvspan(0, 0.05, color="0.9")
axes.set(xlim=(0, 0.25), ylim=(0, 0.9), xlabel="False positive rate", ylabel="Recall")
axes.set_title("The grey part is what counts")
axes.legend(loc="lower right")
plt.show()
