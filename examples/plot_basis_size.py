"""Draw the test AUC by the number of centres.

One fit gives a model of every size. The task is to find the digit 8 among images of all digits.
The plot shows the test AUC with its 95 % interval at every size, for two ways to select centres:
Method 2 of the paper, and the default of the library.

    python examples/plot_basis_size.py [FILE.png]
"""

import sys

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

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for selection, name in (
    ("greedy", "Method 2 of the paper"),
    ("orthogonal", "orthogonal (default)"),
):
    model = make_pipeline(
        StandardScaler(), SparseKernelAUC(64, C=10, selection=selection, random_state=0)
    )
    model.fit(X_train, y_train)
    BasisSizeDisplay.from_estimator(model, X_test, y_test, ax=axes, name=name)
axes.set_title("Digit 8 against the rest: 898 training images, 87 of them positive")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "basis_size.png", dpi=110)
