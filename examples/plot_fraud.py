"""
Rare fraud among payments
=========================

One payment in a hundred is a fraud. There are two kinds of fraud: small amounts at night, and large
amounts far from home. A linear model cannot describe both. The picture shows how the scores of the
two classes are spread, and the precision at each recall.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.metrics import precision_at_k
from skauc.plotting import PrecisionRecallBandDisplay, ScoreDistributionDisplay

random = np.random.default_rng(0)
n_rows = 12_000
amount = random.lognormal(3, 1, n_rows)
hour = random.normal(14, 4, n_rows) % 24
distance = random.lognormal(1, 1, n_rows)
age_of_card = random.exponential(3, n_rows)
fraud = random.random(n_rows) < 0.01
night = fraud & (random.random(n_rows) < 0.5)
far = fraud & ~night
amount[night], hour[night] = (
    random.lognormal(1.6, 0.4, night.sum()),
    random.normal(3, 1, night.sum()),
)
amount[far] = random.lognormal(5, 0.5, far.sum())
distance[far] = random.lognormal(3.2, 0.5, far.sum())
X = np.column_stack([np.log(amount), hour, np.log(distance), age_of_card])
X_train, X_test, y_train, y_test = train_test_split(X, fraud, stratify=fraud, random_state=0)

# %%
# The class sizes need no correction: the AUC counts pairs of a fraud and a regular payment.

models = {
    "SparseKernelAUC": SparseKernelAUC(16, random_state=0),
    "LogisticRegression": LogisticRegression(),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for name, classifier in models.items():
    model = make_pipeline(StandardScaler(), classifier).fit(X_train, y_train)
    scores = model.decision_function(X_test)
    found = precision_at_k(y_test, scores, 30)
    print(f"{name}: {found:.0%} of the 30 highest scores are frauds")
    PrecisionRecallBandDisplay.from_estimator(
        model, X_test, y_test, ax=right, name=name, chance=name == "SparseKernelAUC"
    )
    if name == "SparseKernelAUC":
        ScoreDistributionDisplay.from_estimator(model, X_test, y_test, ax=left)
left.set_title("Scores of 3,000 test payments")
right.set_title("Precision by recall")
plt.show()
