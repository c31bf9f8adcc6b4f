"""
A report for other people
=========================

``make_report`` writes one HTML page that needs no network: how good the model is, where to set its
threshold, what each column does, and warnings about the data. It needs
``pip install 'skauc[report]'``. The picture shows the columns that the model looks at most closely.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from skauc import SparseKernelAUC, make_report
from skauc.plotting import FeatureRelevanceDisplay

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

# %%
path = Path(tempfile.mkdtemp()) / "tumours.html"
make_report(
    path,
    model,
    X_test,
    y_test,
    X_train=X_train,
    y_train=y_train,
    costs=(1, 20),
    title="Malignant tumours, found by their cells",
)
print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, one file")

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
FeatureRelevanceDisplay.from_estimator(model, max_features=10, ax=axes)
axes.set_title("The ten most relevant measurements")
plt.show()
