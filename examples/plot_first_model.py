"""
A first model
=============

Find one digit among ten, with 25 positive training images. The picture shows the ROC curve on test
images with its 95 % band, beside that of logistic regression.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.metrics import auc_interval
from skauc.plotting import RocBandDisplay

X, digit = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, digit == 8, test_size=0.5, stratify=digit, random_state=0
)
# Keep 25 of the positive training images: a rare class of 3 %.
kept = np.concatenate([np.flatnonzero(~y_train), np.flatnonzero(y_train)[:25]])
X_train, y_train = X_train[kept], y_train[kept]

# %%
# Kernels measure distances, so the features are scaled first. ``score`` is the AUC.

model = make_pipeline(StandardScaler(), SparseKernelAUC(n_basis=32, random_state=0))
model.fit(X_train, y_train)
print(f"test AUC: {model.score(X_test, y_test):.4f}")
print(auc_interval(y_test, model.decision_function(X_test)))

# %%
linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)

figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
RocBandDisplay.from_estimator(model, X_test, y_test, ax=axes, name="SparseKernelAUC")
RocBandDisplay.from_estimator(
    linear, X_test, y_test, ax=axes, name="LogisticRegression", chance=False
)
axes.set_title("Digit 8, learnt from 25 positive images")
plt.show()
