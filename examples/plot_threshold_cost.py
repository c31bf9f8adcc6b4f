"""
A threshold by cost
===================

A missed fault costs 50, a false alarm costs 1. The threshold of lowest cost is chosen by
cross-validation on the training rows, with ``TunedThresholdClassifierCV`` of scikit-learn. The
picture shows recall, precision and cost at every threshold on test rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.plotting import ThresholdDisplay

X, y = make_classification(
    6000, 10, n_informative=5, n_clusters_per_class=3, weights=[0.96], flip_y=0.02, random_state=5
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
FALSE_ALARM, MISS = 1, 50


def savings(y_true, flagged):
    """Minus the cost, because scorers are maximised."""
    return -(
        FALSE_ALARM * np.sum(flagged & (y_true == 0)) + MISS * np.sum(~flagged & (y_true == 1))
    )


# %%
ranker = make_pipeline(StandardScaler(), SparseKernelAUC(16, random_state=0))
model = TunedThresholdClassifierCV(
    ranker, scoring=make_scorer(lambda y, p: savings(y, p == 1)), cv=3
)
model.fit(X_train, y_train)
untuned = model.estimator_.predict(X_test)
print(f"cost with the threshold of best balanced accuracy: {-savings(y_test, untuned == 1)}")
print(f"cost with the tuned threshold: {-savings(y_test, model.predict(X_test) == 1)}")

# %%
figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
display = ThresholdDisplay.from_estimator(
    model.estimator_, X_test, y_test, costs=(FALSE_ALARM, MISS), ax=axes
)
axes.axvline(model.best_threshold_, color="k", linestyle="-.")
axes.annotate(
    "chosen on\ntraining rows", (model.best_threshold_, 0.5), (12, 0), textcoords="offset points"
)
plt.show()
