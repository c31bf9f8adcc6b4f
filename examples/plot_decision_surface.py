"""
A decision surface and its centres
==================================

The score of a point is a weighted sum of bumps, one around each centre. With two features the whole
model can be drawn: the colour is the score, and the circles are the centres. Blue centres raise
the score, red ones lower it. Their area shows the size of the coefficient.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from skauc import SparseKernelAUC

random = np.random.default_rng(3)
X, y = make_moons((1200, 60), noise=0.18, random_state=3)
X = (X - X.mean(axis=0)) / X.std(axis=0)

model = SparseKernelAUC(12, C=10, scaling=None, random_state=0).fit(X, y)
print(f"{model.n_basis_} centres, training AUC {model.score(X, y):.4f}")

# %%
grid = np.linspace(-2.6, 2.6, 160)
points = np.stack(np.meshgrid(grid, grid), axis=-1)
scores = model.decision_function(points.reshape(-1, 2)).reshape(160, 160)

figure, axes = plt.subplots(figsize=(7, 5.6), layout="constrained")
limit = np.quantile(np.abs(scores), 0.98)
surface = axes.pcolormesh(grid, grid, scores, cmap="RdBu", vmin=-limit, vmax=limit, alpha=0.75)
axes.contour(grid, grid, scores, levels=[0], colors="k", linewidths=1)
axes.scatter(*X[y == 0].T, s=6, color="0.25", label="1,200 negatives")
axes.scatter(*X[y == 1].T, s=22, color="gold", edgecolor="k", label="60 positives")
coefficients = model.dual_coef_
axes.scatter(
    *model.basis_vectors_.T,
    s=700 * np.abs(coefficients) / np.abs(coefficients).max() + 30,
    facecolor="none",
    edgecolor=np.where(coefficients > 0, "navy", "darkred"),
    linewidth=2.5,
    label="centres",
)
axes.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), xlabel="feature 1", ylabel="feature 2")
axes.set_title("Twelve centres rank 1,260 points")
figure.colorbar(surface, label="score")
axes.legend(loc="lower left")
plt.show()
