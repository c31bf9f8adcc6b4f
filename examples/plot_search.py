"""
Let the search choose
=====================

``SparseKernelAUCCV`` chooses C, the width, the size, the scaling and the shape of the centres by
cross-validation. The picture shows the cross-validated AUC by C and by the number of centres, over
the folds on which all of them were tried, and marks the choice.
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
# The values of C are given here, so that all of them are tried. Leave them out, and each fit
# estimates C; larger values are then tried while they get better.

search = SparseKernelAUCCV(Cs=[0.1, 0.5, 2.5, 12.5], shapes="round", ensemble=False, random_state=0)
model = make_pipeline(StandardScaler(), search)
model.fit(X_train, y_train)
print("chosen:", search.best_params_)
print(f"cross-validated AUC {search.best_score_:.4f}, test AUC {model.score(X_test, y_test):.4f}")

# %%
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
TuningDisplay.from_estimator(model, ax=axes)
plt.show()
