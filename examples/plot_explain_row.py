"""
Explain the score of one row
============================

The contributions of the columns are exact Shapley values. They add up to the difference between the
score of the row and the mean score. The picture shows them for the highest score among the test
rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.explain import shapley_values
from skauc.plotting import WaterfallDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y == 0, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), SparseKernelAUC(16, random_state=0)).fit(X_train, y_train)

scores = model.decision_function(X_test)
explanation = shapley_values(model, X_test)
total = explanation.base_values + explanation.values.sum(axis=1)
print("exact:", explanation.is_exact, "; largest error of the sum:", np.abs(total - scores).max())

# %%
row = X_test.iloc[[np.argmax(scores)]]
figure, axes = plt.subplots(figsize=(8, 4.6), layout="constrained")
WaterfallDisplay.from_estimator(model, row, ax=axes, max_features=9)
axes.set_title("Why this tumour has the highest score")
plt.show()
