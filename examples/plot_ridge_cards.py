"""
Ridge centres see equal cards
=============================

Does a hand of five cards hold a pair? The answer depends on *equal* ranks. A round centre is close
to single hands and does not see equality. A ridge ``exp(-(a.x - b)^2)`` along the difference of
two ranks is high where they are equal. ``shapes="ridge"`` lets the selection choose from both
kinds. The picture shows the test AUC by the number of centres.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skauc import SparseKernelAUC
from skauc.plotting import BasisSizeDisplay

# Three cards, to keep the example quick: a pair among them has a probability of 17 %.
random = np.random.default_rng(0)
deck = np.repeat(np.arange(1, 14), 4)
hands = np.array([random.permutation(deck)[:3] for _ in range(6000)], dtype=float)
pair = np.array([len(set(hand)) < 3 for hand in hands])
X = (hands - 7) / 3.7
X_train, X_test, y_train, y_test = train_test_split(X, pair, test_size=0.5, random_state=0)
print(f"{pair.mean():.1%} of the hands hold a pair")

# %%
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for shapes in ("round", "ridge"):
    model = SparseKernelAUC(32, C=10, shapes=shapes, random_state=0).fit(X_train, y_train)
    BasisSizeDisplay.from_estimator(model, X_test, y_test, ax=axes, name=f'shapes="{shapes}"')
axes.set_title("Find the hands with a pair")
axes.axhline(0.5, color="0.6", linestyle="--")
plt.show()
