"""
Probabilities
=============

Scores rank rows. They are not probabilities. ``CalibratedClassifierCV`` of scikit-learn turns them
into probabilities and does not change the order of the rows. The left picture compares predicted
probabilities with observed shares. The right one shows how scores become probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.metrics import calibration_bins

X, y = make_classification(
    8000, 12, n_informative=6, n_clusters_per_class=3, weights=[0.9], flip_y=0.06, random_state=1
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

# %%
# ``ensemble=False`` keeps one model: scores of cross-validation give the map, and the model is then
# fitted to all rows.

ranker = make_pipeline(StandardScaler(), SparseKernelAUC(16, random_state=0))
model = CalibratedClassifierCV(ranker, ensemble=False, cv=3).fit(X_train, y_train)
probabilities = model.predict_proba(X_test)[:, 1]
scores = model.calibrated_classifiers_[0].estimator.decision_function(X_test)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
bins = calibration_bins(probabilities, y_test == 1, np.ones(len(y_test)))
errors = [bins.observed - bins.low, bins.high - bins.observed]
left.plot([0, 1], [0, 1], "--", color="0.6")
left.errorbar(bins.predicted, bins.observed, errors, fmt="o", capsize=3)
left.set(xlabel="Predicted probability", ylabel="Observed share, with 95 % limits")
left.set_title("Ten groups of 400 test rows")
order = np.argsort(scores)
right.plot(scores[order], probabilities[order])
right.hist(
    scores, bins=60, weights=np.full(len(scores), 4 / len(scores)), color="0.8", label="rows"
)
right.set(xlabel="Score", ylabel="Probability", title="The order stays the same")
right.legend(loc="upper left")
plt.show()
