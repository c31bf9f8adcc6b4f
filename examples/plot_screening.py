"""
Screening at a fixed recall
===========================

A screening test must find 95 % of the tumours. How many healthy people does it recall? The
threshold is chosen on training rows by cross-validation, and then applied to test rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.metrics import operating_points

X, y = load_breast_cancer(return_X_y=True)
# Ten columns only, to make the task harder. Class 0 is malignant.
X_train, X_test, y_train, y_test = train_test_split(
    X[:, :10], y == 0, test_size=0.5, stratify=y, random_state=0
)
TARGET = 0.95


def choose_threshold(model):
    """The threshold for the recall, from scores of rows that the model was not fitted to."""
    scores = cross_val_predict(model, X_train, y_train, cv=5, method="decision_function")
    points = operating_points(scores, y_train, np.ones(len(scores)))
    return points.thresholds[points.at_recall(TARGET)]


# %%
# The curve is that of the test rows. The dot is the threshold that was chosen before.

figure, axes = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
models = {
    "SparseKernelAUC": SparseKernelAUC(16, random_state=0),
    "LogisticRegression": LogisticRegression(),
}
for name, classifier in models.items():
    model = make_pipeline(StandardScaler(), classifier)
    threshold = choose_threshold(model)
    scores = model.fit(X_train, y_train).decision_function(X_test)
    points = operating_points(scores, y_test, np.ones(len(scores)))
    recall = np.mean(scores[y_test] >= threshold)
    false_alarms = np.mean(scores[~y_test] >= threshold)
    print(f"{name}: finds {recall:.1%}, recalls {false_alarms:.1%} of the healthy")
    (line,) = axes.plot(points.false_positive_rate, points.recall, label=name)
    axes.plot(false_alarms, recall, "o", color=line.get_color(), markersize=9)
axes.axhline(TARGET, color="0.6", linestyle="--", label="target recall")
axes.set(xlim=(0, 0.4), ylim=(0.8, 1.005))
axes.set(xlabel="Share of healthy people recalled", ylabel="Share of tumours found")
axes.set_title("Tumours from ten measurements")
axes.legend(loc="lower right")
plt.show()
