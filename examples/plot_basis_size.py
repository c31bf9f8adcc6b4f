"""
AUC against the number of centres
=================================

One fit gives a model of every size. The task is to find the digit 8 among images of all digits. The
picture shows the test AUC with its 95 % band at each size: for the selection rule of the paper, for
the default rule of the library, and for the default model, whose centres move.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.plotting import BasisSizeDisplay

X, digit = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, digit == 8, test_size=0.5, stratify=digit, random_state=0
)

# %%
plain = {"refine": False, "linear_term": False, "scaling": None, "C": 10}
settings = {
    "Method 2 of the paper": {"selection": "greedy", **plain},
    "orthogonal selection": plain,
    "default: refined, linear term": {},
}
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, setting in settings.items():
    model = make_pipeline(StandardScaler(), SparseKernelAUC(64, random_state=0, **setting))
    model.fit(X_train, y_train)
    BasisSizeDisplay.from_estimator(
        model, X_test, y_test, ax=axes, name=name, band=name.startswith("default")
    )
axes.set_title("Digit 8 against the rest: 898 training images, 87 positive")
plt.show()

# %%
# ``truncate`` cuts a fitted model down to one of these sizes without another fit.

small = model[-1].truncate(8)
scaled = model[0].transform(X_test)
print(f"8 of 64 centres: test AUC {small.score(scaled, y_test):.4f}")
