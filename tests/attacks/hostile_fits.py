"""Attack: fit every estimator to tables and parameters that break arithmetic.

A fit must end in time with finite scores and without a warning, or with a clear error. The form of
the rows (byte order, memory layout, container) must not change the model.
"""

from __future__ import annotations

import copy
import inspect
from pathlib import Path

import numpy as np
from scipy import sparse

from tests.attacks.hostile_parameters import ESTIMATORS, drawn, usual
from tests.attacks.hostile_tables import (
    LARGE,
    OTHER_NUMBERS,
    SAME_NUMBERS,
    SMALL,
    TWISTS,
    base_rows,
    labels_for,
    not_finite,
    weights_for,
)
from tests.attacks.judging import demand, demand_finite, is_clear, quiet_or_clear, random_for

NAME = "hostile_fits"
SEARCH_EVERY = 25
FORMS = SAME_NUMBERS | OTHER_NUMBERS


class Attack:
    """One hostile fit per case."""

    def __init__(self, folder: Path, seed: int):
        self.kind, self._seed = "", seed
        X = np.arange(20.0)[:, None]
        for name in (*ESTIMATORS, "SparseKernelAUCCV"):  # compile
            usual(name).fit(X, X[:, 0] > 10).decision_function(X)

    def run(self, case: int) -> str:
        """Fit and score."""
        rng = random_for(NAME, self._seed, case)
        name = ESTIMATORS[case % len(ESTIMATORS)]
        if case % SEARCH_EVERY == SEARCH_EVERY - 1:
            name = "SparseKernelAUCCV"
        if rng.random() < 0.15:
            return self._same_in_every_form(name, rng)
        return self._hostile(name, rng)

    def _same_in_every_form(self, name: str, rng: np.random.Generator) -> str:
        form = rng.choice(sorted(SAME_NUMBERS))
        self.kind = f"{name}, same numbers, {form}"
        X = rng.normal(size=(40, 3))
        y = (X[:, 0] + 0.5 * rng.normal(size=40) > 0.5).astype(int)
        y[:3] = 0, 1, 1
        expected = usual(name).fit(X, y).decision_function(X)
        rows = SAME_NUMBERS[form](X)
        with quiet_or_clear():
            scores = usual(name).fit(rows, y).decision_function(rows)
        worst = float(np.max(np.abs(scores - expected)))
        most = 1e-6 * float(np.ptp(expected)) + 1e-12
        demand(worst <= most, f"the scores differ by {worst} from those of a plain array")
        return "same scores in another form"

    def _hostile(self, name: str, rng: np.random.Generator) -> str:
        X = base_rows(rng)
        twists = [TWISTS[each] for each in rng.choice(len(TWISTS), size=rng.integers(1, 4))]
        if rng.random() < 0.03:
            twists.append(not_finite)
        for twist in twists:
            X = twist(X, rng)
        y = labels_for(X, rng)
        form = "array" if rng.random() < 0.5 else str(rng.choice(sorted(FORMS)))
        rows = X if form == "array" else FORMS[form](X)
        is_sparse = sparse.issparse(rows)
        estimator = usual(name) if rng.random() < 0.3 else drawn(name, rng, is_sparse=is_sparse)
        weight_form, weights = weights_for(len(X), rng)
        takes_weights = "sample_weight" in inspect.signature(estimator.fit).parameters
        weighted = takes_weights and weight_form != "none" and rng.random() < 0.4
        words = [twist.__name__ for twist in twists]
        self.kind = ", ".join([name, *words, form, weight_form if weighted else "unweighted"])
        arguments = {"sample_weight": weights} if weighted else {}
        before = copy.deepcopy(rows)
        try:
            with quiet_or_clear():
                estimator.fit(rows, y, **arguments)
        except Exception as error:
            if is_clear(error):
                return f"refused with {type(error).__name__}"
            raise
        demand(_is_same(rows, before), "the fit has changed its input")
        return self._scored(estimator, rows, X, rng)

    def _scored(self, estimator, rows, X: np.ndarray, rng: np.random.Generator) -> str:
        outcome = "fitted, finite scores"
        try:
            with quiet_or_clear():
                scores, labels = estimator.decision_function(rows), estimator.predict(rows)
        except Exception as error:
            if not is_clear(error):
                raise
            return "fitted, training rows refused"
        demand_finite("training scores", scores)
        known = set(estimator.classes_)
        demand(set(np.unique(labels)) <= known, "a predicted label is none of the classes")
        if type(rows) is not np.ndarray:
            return outcome
        for others in (rng.normal(size=X.shape), _extreme_rows(X.shape, rng)):
            try:
                with quiet_or_clear():
                    demand_finite("new scores", estimator.decision_function(others))
            except Exception as error:
                if not is_clear(error):
                    raise
                outcome = "fitted, new rows refused"
        return outcome


def _extreme_rows(shape, rng: np.random.Generator) -> np.ndarray:
    sizes = rng.choice(LARGE + SMALL + (1.0,), size=shape)
    return sizes * rng.choice([-1.0, 1.0], size=shape)


def _is_same(rows, before) -> bool:
    if sparse.issparse(rows):
        return bool((rows != before).nnz == 0) and rows.nnz == before.nnz
    if hasattr(rows, "equals"):
        return bool(rows.equals(before))
    if isinstance(rows, np.ndarray):
        return rows.dtype == before.dtype and rows.tobytes() == before.tobytes()
    return rows == before
