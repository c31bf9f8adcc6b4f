"""
Refinement in motion
====================

A centre starts on a training row. Refinement then moves it, and learns one length scale per
feature, so that the ranking improves. The arrows lead from the row to where the centre is after 0,
2, 10 and 40 steps. The length scale of the useless second feature becomes long, and that of the
first becomes short. 10 steps are the default.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skauc import SparseKernelAUC

# The positives lie in two stripes. The second feature is noise.
random = np.random.default_rng(1)
X = random.normal(size=(1600, 2))
y = (np.abs(np.abs(X[:, 0]) - 1) < 0.18) & (random.random(1600) < 0.8)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
grid = np.linspace(-3, 3, 120)
points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
figure, panels = plt.subplots(1, 4, figsize=(13, 3.8), sharey=True, layout="constrained")
for steps, axes in zip((0, 2, 10, 40), panels, strict=True):
    options = {"scaling": None, "refine": steps or False, "linear_term": False}
    model = SparseKernelAUC(8, C=10, **options, random_state=0).fit(X_train, y_train)
    scores = model.decision_function(points).reshape(120, 120)
    axes.contourf(grid, grid, scores, levels=20, cmap="Blues")
    axes.scatter(*X_train[y_train].T, s=5, color="darkorange")
    starts, ends = X_train[model.basis_indices_], model.basis_vectors_
    axes.quiver(*starts.T, *(ends - starts).T, angles="xy", scale_units="xy", scale=1, width=0.008)
    axes.plot(*ends.T, "ko", markersize=6)
    scales = ", ".join(f"{scale:.2g}" for scale in model.length_scales_)
    axes.set(xlim=(-3, 3), ylim=(-3, 3), xlabel=f"length scales: {scales}")
    axes.set_title(f"{steps} steps, test AUC {model.score(X_test, y_test):.3f}")
plt.show()
