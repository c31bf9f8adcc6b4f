"""Attack: search on tables of few distinct rows, where folds, ties and sizes degenerate.

A search must end with finite scores and a setting that it was offered, or with a clear error.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

import skauc
from tests.attacks.judging import demand, demand_finite, is_clear, quiet_or_clear, random_for

NAME = "discrete_searches"
ALL_DEFAULTS_EVERY = 50


class Attack:
    """One search per case."""

    def __init__(self, folder: Path, seed: int):
        self.kind, self._seed = "", seed

    def run(self, case: int) -> str:
        """Search, and look at what was found."""
        rng = random_for(NAME, self._seed, case)
        X, y = discrete_table(rng)
        is_default = case % ALL_DEFAULTS_EVERY == ALL_DEFAULTS_EVERY - 1
        parameters = {"n_basis": 4} if is_default else drawn_parameters(rng)
        rows = sparse.csr_array(X) if rng.random() < 0.1 else X
        weights = rng.integers(0, 3, len(y)).astype(float) if rng.random() < 0.2 else None
        distinct = len(np.unique(X, axis=0))
        self.kind = f"{X.shape[0]}x{X.shape[1]}, {distinct} distinct, {parameters}"
        model = skauc.SparseKernelAUCCV(**parameters, random_state=int(rng.integers(1000)))
        try:
            with quiet_or_clear():
                model.fit(rows, y, sample_weight=weights)
        except Exception as error:
            if not is_clear(error):
                raise
            must_fit = weights is None and rows is X and _is_ample(y, parameters)
            demand(not must_fit, f"a table that can be searched is refused: {error}")
            return f"refused with {type(error).__name__}"
        return self._checked(model, rows, y)

    def _checked(self, model, X, y) -> str:
        with quiet_or_clear():
            scores = model.decision_function(X)
        demand_finite("scores", scores)
        demand(0 <= model.best_score_ <= 1, f"best_score_ is {model.best_score_}")
        demand(1 <= model.n_basis_ <= model.n_basis, f"n_basis_ is {model.n_basis_}")
        demand(set(np.unique(model.predict(X))) <= set(y.tolist()), "a label is not one of y's")
        again = {str(row): score for row, score in zip(_lines(X), scores, strict=True)}
        worst = max(abs(again[str(row)] - s) for row, s in zip(_lines(X), scores, strict=True))
        demand(worst <= 1e-9 * (1 + np.ptp(scores)), f"equal rows score {worst} apart")
        return "searched, finite scores"


def _lines(X) -> list:
    return (X.toarray() if sparse.issparse(X) else X).tolist()


def _is_ample(y: np.ndarray, parameters: dict) -> bool:
    return min(np.unique(y, return_counts=True)[1]) >= 2 * (parameters.get("cv") or 5)


def discrete_table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of few distinct values and labels that may or may not depend on them."""
    n_rows, n_columns = int(rng.integers(10, 90)), int(rng.integers(1, 5))
    kind = rng.integers(5)
    if kind == 0:  # binary columns, some of them rare
        X = (rng.random((n_rows, n_columns)) < rng.choice([0.02, 0.2, 0.5], n_columns)) * 1.0
    elif kind == 1:  # two distinct rows
        X = rng.normal(size=(2, n_columns))[rng.integers(0, 2, n_rows)]
    elif kind == 2:  # a few distinct rows
        X = rng.normal(size=(int(rng.integers(1, 6)), n_columns))
        X = X[rng.integers(0, len(X), n_rows)]
    elif kind == 3:  # small integers
        X = rng.integers(0, 4, (n_rows, n_columns)).astype(float)
    else:  # one row in a class of its own
        X = np.zeros((n_rows, n_columns))
        X[rng.integers(n_rows)] = 1.0
    signal = X @ rng.normal(size=n_columns)
    noise = rng.choice([0.0, 0.5, 100.0]) * rng.normal(size=n_rows)
    share = rng.choice([0.2, 0.5])
    y = (signal + noise >= np.quantile(signal + noise, 1 - share)).astype(int)
    if rng.random() < 0.3 or y.min() == y.max():
        y = np.arange(n_rows) % 2
    return X, y


def drawn_parameters(rng: np.random.Generator) -> dict:
    """Return a small search."""

    def one_of(*values):
        return values[rng.integers(len(values))]

    # What the defaults are: both ways are tried.
    both = skauc.SparseKernelAUCCV().get_params()
    return {
        "n_basis": int(rng.integers(1, 7)),
        "Cs": one_of([1.0], [0.1, 10.0], [1e-6, 1e6], None),
        "gammas": one_of(["scale"], [1.0], [0.01, 100.0], [[0.1, 1.0]], ["scale", "auto"]),
        "linear_term": one_of(False, True, both["linear_term"]),
        "scaling": one_of(None, "rank", "normal", "clip", "log", both["scaling"]),
        "refine": one_of(False, False, False, True, both["refine"]),
        "rotate": one_of(False, False, True, both["rotate"]),
        "cv": one_of(2, 2, 3, 5),
        "selection": skauc.Selection(n_candidates=int(rng.integers(1, 30))),
    }
