"""
A stream whose rule changes
===========================

Online learners read one row at a time and keep a summary of the past. Here the rule changes after
half of the stream. Every row is scored before it is learnt. The picture shows the AUC of the latest
2,000 rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from skauc.online import OAM, OILK, OPAUC, array_chunks, prequential_auc

random = np.random.default_rng(0)
n_rows = 24_000
X = random.normal(size=(n_rows, 6))
early = np.arange(n_rows) < n_rows // 2
signal = np.where(early, X[:, 0] + X[:, 1], X[:, 0] - X[:, 1])
y = signal + 0.8 * random.normal(size=n_rows) > 2.2
print(f"{y.mean():.1%} of the rows are positive")

# %%
# The linear learners differ in what they remember: OPAUC keeps the means and covariances of all
# past rows, OAM a buffer of recent rows. OILK is a kernel expansion with a limited buffer.

learners = {
    "OPAUC (all past rows)": OPAUC(random_state=0),
    "OAM (buffer)": OAM(random_state=0),
    "OILK (kernel, buffer)": OILK(buffer_size=50, gamma=0.1, random_state=0),
}
figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
for name, learner in learners.items():
    chunks = array_chunks(X, y, 500)
    records = list(prequential_auc(learner, chunks, classes=[False, True], window=2000))[1:]
    axes.plot([record.n_rows for record in records], [record.auc for record in records], label=name)
axes.axvline(n_rows // 2, color="0.6", linestyle="--")
axes.annotate("the rule changes", (n_rows // 2, 0.62), (6, 0), textcoords="offset points")
axes.set(xlabel="Rows so far", ylabel="AUC of the latest 2,000 rows")
axes.legend(loc="lower left")
plt.show()
