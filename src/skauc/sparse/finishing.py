"""The last stage of early stopping: the model to keep is fitted to all rows.

`skauc.sparse.stages.Finish` fits the coefficients of the last model to all rows. If early stopping
keeps a smaller one, its coefficients were fitted to a sample, or without the validation rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skauc.engines import Engine
from skauc.model import Model, PathRecord
from skauc.solvers.triangular import solve_upper
from skauc.sparse.refinement import put_columns, raised_factor
from skauc.sparse.stages import Stage
from skauc.sparse.state import FitState
from skauc.sparse.workspace import Workspace


@dataclass(frozen=True)
class FinishKept(Stage):
    """Fit the coefficients of the model that early stopping keeps to all rows.

    If it is smaller than the last model, the columns of the last one are overwritten, so this is
    the last stage.
    """

    def run(self, state: FitState, work: Workspace) -> FitState:
        """Return the state with other coefficients of the model to keep."""
        size = work.plan.best_size(state.records, state.models)
        if size == len(state.basis):
            return state
        records = {record.n_basis: record for record in state.records}
        C = records[size].C
        assert C is not None  # records of a running fit have one
        work.hold_out(work.engine, work.tested, C)
        factor = _place(work.engine, records[size].model, work.plan.n_linear)
        records[size] = _refitted(records[size], factor, work)
        models = {**state.models, size: records[size].model}
        work.latest = replace(state, models=models, records=tuple(records.values()))
        return work.latest


def _refitted(record: PathRecord, factor: np.ndarray, work: Workspace) -> PathRecord:
    """Return the record of a size with the best coefficients on the rows of the engine."""
    model, linear, n_linear = record.model, work.plan.linear, work.plan.n_linear
    start = np.zeros(n_linear + len(factor))
    start[n_linear:] = factor.T @ model.coef
    if linear is not None and model.linear_coef is not None:
        start[:n_linear] = linear.weights(model.linear_coef)
    minimum = work.minimise(work.objective, start)
    weights, quality = minimum.point.weights, work.engine.quality(minimum.point.state)
    linear_coef, intercept = work.linear_part(weights[:n_linear], quality.threshold)
    coef = solve_upper(factor, weights[n_linear:])
    return replace(
        record,
        objective=minimum.point.value,
        train_auc=quality.train_auc,
        n_iter=record.n_iter + minimum.n_iter,
        model=replace(model, coef=coef, linear_coef=linear_coef, intercept=intercept),
    )


def _place(engine: Engine, model: Model, n_linear: int) -> np.ndarray:
    """Put the columns of a model into an engine; return the factor of its Gram matrix."""
    gram = model.kernel.gram(model.centres, model.kernel, model.centres)
    factor = raised_factor(gram, engine)
    put_columns(engine, model.kernel, model.centres, factor, n_linear)
    return factor
