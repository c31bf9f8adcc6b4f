"""The paper's pursuits, scored for several C at once.

The columns of a pursuit depend little on C. So it runs once, at the middle one of several Cs, and
the coefficients of the other Cs are found on the same columns, from size to size.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from skauc.data.training import TrainingData
from skauc.engines import make_engine
from skauc.scalings import make_scaling
from skauc.sparse.folds import RowFold
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.parameters import Parameters
from skauc.sparse.path import fit_path
from skauc.sparse.plan import make_plan
from skauc.sparse.scoring import SMALLEST_BASIS
from skauc.sparse.sizes import retraining_sizes
from skauc.sparse.stages import Stage
from skauc.sparse.state import FitState
from skauc.sparse.workspace import Workspace

# AUC by size and C.
BySize = dict[tuple[int, float], float]


def scores_by_size(
    parameters: Parameters,
    rows: TrainingData,
    fold: RowFold,
    Cs: tuple[float, ...],
    scored_every: int,
    seed: int,
) -> BySize:
    """Pursue at the middle C, with the test rows held out; return the AUC of every size and C.

    Every ``scored_every``-th retrained size is scored, counted from the last.
    """
    n_train = len(fold.train)
    part = rows.part(np.concatenate((fold.train, fold.test)))
    if parameters.scaling is not None:
        scaling = make_scaling(parameters.scaling, fold.training(rows))
        part = part.transformed(scaling.transform)
    plan, part = make_plan(replace(parameters, C=Cs[len(Cs) // 2], scaling=None), part)
    sizes = sorted(retraining_sizes(parameters.selection.retrain, parameters.n_basis))
    solve = SolveForEachC(Cs, sizes[::-scored_every])
    fit_path(
        part,
        plan,
        open_engine=partial(make_engine, n_jobs=1),
        random_state=seed,
        validation=lambda rows: np.arange(rows.n_rows) >= n_train,
        then=(solve,),
    )
    return solve.found


@dataclass(frozen=True)
class SolveForEachC(Stage):
    """A stage that solves for other Cs on the columns of a pursuit, from size to size."""

    Cs: tuple[float, ...]
    scored_sizes: list[int]
    found: BySize = field(default_factory=dict)
    saves = False

    def run(self, state: FitState, work: Workspace) -> FitState:
        """Collect the validation AUC of every size and C in ``found``."""
        engine = work.engine
        solved = {C: np.zeros(0) for C in self.Cs}
        for size in self._sizes(state):
            n_columns = state.basis.n_linear + size
            for C in self.Cs:
                # The basis is orthonormal: the best weights of a smaller one are a good start.
                weights = np.append(solved[C], np.zeros(n_columns - len(solved[C])))
                objective = Objective(engine, pair_weight(C, engine))
                point = work.minimise(objective, weights).point
                solved[C] = point.weights
                auc = engine.quality(point.state).validation_auc
                assert auc is not None  # the test rows are held out
                self.found[size, C] = auc
        return state

    def _sizes(self, state: FitState) -> list[int]:
        """Return the last size, and the scored sizes that are not too small."""
        sizes = [record.n_basis for record in state.records]
        last = sizes[-1]
        smallest = min(SMALLEST_BASIS, last)
        return [n for n in sizes if n == last or (n in self.scored_sizes and n >= smallest)]
