"""What a fit has found so far: `FitState` while it runs, `Path` for those who asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from skauc.model import Model, PathRecord
from skauc.sparse.basis import Basis


@dataclass(frozen=True, eq=False)
class FitState:
    """The basis, its weights, and every model on the way. A checkpoint stores all of it.

    ``n_done`` is the number of finished stages; ``is_inside`` says that the next one has begun.
    ``is_grown`` says that the basis grows no more, because the pursuit was stopped or found no
    independent row. ``generation`` counts how often the centres have moved. ``C`` is that of the
    next coefficients. ``moved`` holds the rows and the size of the last `MoveTo`, None before it.
    """

    basis: Basis
    weights: np.ndarray
    C: float
    n_done: int = 0
    moved: tuple[str, int] | None = None
    is_inside: bool = False
    is_grown: bool = False
    generation: int = 0
    threshold: float = 0.0
    seconds: float = 0.0
    records: tuple[PathRecord, ...] = ()
    models: dict[int, Model] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Path:
    """The models of one fit by size, a record per retraining, and the size to keep.

    ``is_exhausted`` says that all other rows depend on the centres. ``by_c`` holds models with the
    centres of the last one and other Cs, see `skauc.sparse.stages.TryCs`.
    """

    models: dict[int, Model]
    records: tuple[PathRecord, ...]
    size: int
    is_exhausted: bool = False
    by_c: dict[float, Model] = field(default_factory=dict)

    def with_models(self, models: dict[int, Model]) -> Path:
        """Return the path with other models of the same sizes."""
        records = (replace(record, model=models[record.n_basis]) for record in self.records)
        return replace(self, models=models, records=tuple(records))

    def lowered(self, by: float) -> Path:
        """Return the path with lower scores."""
        models = {n: replace(m, intercept=m.intercept - by) for n, m in self.models.items()}
        return self.with_models(models)

    def attributes(self) -> dict:
        """Return the fitted attributes of the model of the size to keep."""
        return path_attributes(self.models, list(self.records), self.size)


@dataclass(frozen=True, eq=False)
class DescentStep:
    """One step of a refinement: step ``n_done`` of at most ``n_steps``.

    ``path`` holds the models that were found before this refinement.
    """

    path: Path
    n_done: int
    n_steps: int


def path_attributes(models: dict[int, Model], records: list[PathRecord], size: int) -> dict:
    """Return the fitted attributes of the model of that size."""
    model = models[size]
    path = [record for record in records if record.n_basis <= size]
    n_features = model.centres.shape[1]
    scales = getattr(model.kernel, "scales", None)
    linear_coef = model.linear_coef
    return {
        "n_basis_": size,
        "C_": path[-1].C if path else None,
        "basis_vectors_": model.centres,
        "basis_indices_": model.indices,
        "dual_coef_": model.coef,
        "linear_coef_": np.zeros(n_features) if linear_coef is None else linear_coef,
        "intercept_": model.intercept,
        "scaling_": model.scaling,
        "gamma_": getattr(model.kernel, "gamma", None),
        "length_scales_": np.ones(n_features) if scales is None else 1.0 / scales,
        "metric_": getattr(model.kernel, "metric", None),
        "is_ridge_": getattr(model.kernel, "is_ridge", np.zeros(size, bool)),
        "_truncated_from": None,
        "n_iter_": sum(record.n_iter for record in path),
        "path_": path,
        "_models": {n: models[n] for n in sorted(models) if n <= size},
    }
