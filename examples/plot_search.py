"""
Let the search choose
=====================

``SparseKernelAUCCV`` chooses C, the width, the size and the scaling by cross-validation. The
picture shows the cross-validated AUC by C and by the number of centres, and marks the choice.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUCCV
from skauc.plotting import TuningDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y == 0, test_size=0.5, stratify=y, random_state=0
)

# %%
# ``effort="quick"`` tries a few values of C on three folds. Leave it out for the full search.

model = make_pipeline(StandardScaler(), SparseKernelAUCCV(effort="quick", random_state=0))
model.fit(X_train, y_train)
search = model[-1]
print("chosen:", search.best_params_)
print(f"cross-validated AUC {search.best_score_:.4f}, test AUC {model.score(X_test, y_test):.4f}")

# %%
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
TuningDisplay.from_estimator(model, ax=axes)
plt.show()
