"""
Effects and interactions of columns
===================================

The partial dependence of a kernel model has a closed form, so it is exact and quick. For two
columns, the interaction is the part that no sum of two curves can describe.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skauc import SparseKernelAUC
from skauc.plotting import InteractionDisplay, ShapeDisplay

random = np.random.default_rng(2)
X = pd.DataFrame(random.normal(size=(2500, 4)), columns=["load", "heat", "speed", "noise"])
wear = X["load"] * X["heat"] + np.abs(X["speed"]) + 0.5 * random.normal(size=2500)
model = SparseKernelAUC(24, C=3, random_state=0).fit(X, wear > 2)

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
ShapeDisplay.from_estimator(model, X, "speed", ax=left)
ShapeDisplay.from_estimator(model, X, "noise", ax=middle)
middle.set_ylim(left.get_ylim())
InteractionDisplay.from_estimator(model, X, ["load", "heat"], ax=right)
left.set_title("Fast and slow are bad")
middle.set_title("A column that does not matter")
right.set_title("Load and heat act together")
plt.show()
