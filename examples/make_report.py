"""Write a report on a fitted model: one HTML file for any browser.

The model finds malignant tumours among benign ones. The page has a threshold slider, curves with
confidence bands, the importance of the columns, the size of the model and warnings about the data.
It needs ``pip install 'skauc[report]'``.

    python examples/make_report.py [FILE.html]
"""

import sys

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from skauc import SparseKernelAUC
from skauc.report import make_report

data = load_breast_cancer(as_frame=True)
y = data.target.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(
    data.data, y, test_size=0.5, stratify=y, random_state=0
)
model = make_pipeline(
    QuantileTransformer(n_quantiles=100, output_distribution="normal"),
    SparseKernelAUC(16, random_state=0),
)
model.fit(X_train, y_train)
path = sys.argv[1] if len(sys.argv) > 1 else "tumours.html"
make_report(
    path,
    model,
    X_test,
    y_test,
    X_train=X_train,
    y_train=y_train,
    costs=(1, 20),
    title="Malignant tumours, found by their cells",
    force=True,
)
