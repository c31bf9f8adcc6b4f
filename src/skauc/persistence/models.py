"""Fitted models, one or those of a path, as a few arrays, and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from skauc.exceptions import ModelFileError
from skauc.feature_map import SCALINGS, FeatureMap, RankScaling
from skauc.kernels import RBF, Kernel, Laplacian, Linear, Polynomial
from skauc.model import Model, PathRecord
from skauc.persistence.checks import check, check_array, check_numbers
from skauc.validation import is_number

KERNELS = {"rbf": RBF, "laplacian": Laplacian, "polynomial": Polynomial, "linear": Linear}
_RECORD_FIELDS = (
    *("n_basis", "objective", "train_auc", "validation_auc", "seconds", "n_iter", "is_refined"),
)


def pack_models(models: list[Model]) -> dict:
    """Return models of one fit, in the order of their sizes, as a few arrays.

    Those of one generation share their centres, and all of them the scaling.
    """
    generations = sorted({model.generation for model in models})
    linear = [model.linear_coef for model in models]
    return {
        "sizes": [len(model.coef) for model in models],
        "generations": [generations.index(model.generation) for model in models],
        "intercepts": np.array([model.intercept for model in models]),
        "coef": np.concatenate([model.coef for model in models]),
        "linear_coef": None if linear[0] is None else np.array(linear),
        **_packed_map(models[-1].scaling),
        "bases": [_packed_basis(models, generation) for generation in generations],
    }


def _packed_basis(models: list[Model], generation: int) -> dict:
    """Return the kernel and the centres of the largest model of a generation."""
    members = [model for model in models if model.generation == generation]
    widest = max(members, key=lambda model: len(model.coef))
    return {
        "kernel": _packed_kernel(widest.kernel),
        "centres": _packed_rows(widest.centres),
        "indices": widest.indices,
    }


def _packed_kernel(kernel: Kernel) -> dict:
    for name, kind in KERNELS.items():
        if type(kernel) is kind:
            return {"name": name, **vars(kernel)}
    raise ModelFileError(
        "A model with a kernel of your own cannot be stored: its function is code, which a model "
        f"file never holds. Use one of the kernels {', '.join(KERNELS)}."
    )


def _packed_rows(rows) -> dict:
    if not sparse.issparse(rows):
        single = _in_single(rows)
        return {"dense": rows} if single is rows else {"single": single}
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    return {**parts, "n_features": rows.shape[1]}


def _in_single(numbers: np.ndarray) -> np.ndarray:
    """Return them in half the bytes where not a bit is lost."""
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32)
    return single if numbers.dtype == np.float64 and np.array_equal(single, numbers) else numbers


def _packed_map(scaling: FeatureMap | None) -> dict:
    ranks, axes = (None, None) if scaling is None else (scaling.ranks, scaling.axes)
    packed = {"scaling": None if ranks is None else _packed_ranks(ranks)}
    return packed if axes is None else {**packed, "axes": np.ascontiguousarray(_in_single(axes))}


def _packed_ranks(ranks: RankScaling) -> dict:
    """Return the maps, feature by feature: places of knots that repeat take next to nothing."""
    return {
        "knots": bytes_by_place(ranks.knots.T),
        "half_steps": np.ascontiguousarray(ranks.half_steps.T),
        "mean": ranks.mean,
        "deviation": ranks.deviation,
        "word": ranks.word,
    }


def bytes_by_place(numbers: np.ndarray) -> np.ndarray:
    """Return all first bytes of the numbers, all second ones and so on: these compress better."""
    contiguous = np.ascontiguousarray(numbers, dtype="<f8")
    parts = contiguous.view(np.uint8).reshape(*numbers.shape, 8)
    return np.ascontiguousarray(np.moveaxis(parts, -1, 0))


def from_bytes_by_place(parts: np.ndarray) -> np.ndarray:
    """Return the numbers, in the machine's order of bytes."""
    together = np.ascontiguousarray(np.moveaxis(parts, 0, -1))
    return together.view("<f8")[..., 0].astype(np.float64)


def pack_records(records: list[PathRecord]) -> list[list]:
    """Return the records without their models."""
    return [[getattr(record, name) for name in _RECORD_FIELDS] for record in records]


def unpack_models(packed: dict, n_features: int) -> list[Model]:
    """Build the models, checking all that they are made of."""
    sizes = packed["sizes"]
    check(sizes == sorted(set(sizes)) and all(type(n) is int and n >= 0 for n in sizes), "sizes")
    scaling = _unpacked_map(packed, n_features)
    bases = [_unpacked_basis(basis, n_features) for basis in packed["bases"]]
    check_array(packed["coef"], (np.float64,), (sum(sizes),), "coefficients")
    coefs = np.split(packed["coef"], np.cumsum(sizes)[:-1])
    linear = packed["linear_coef"]
    if linear is None:
        linear = [None] * len(sizes)
    else:
        check_numbers(linear, (len(sizes), n_features))
    check_numbers(packed["intercepts"], (len(sizes),))
    parts = zip(packed["generations"], coefs, linear, packed["intercepts"], strict=True)
    models = []
    for generation, coef, linear_coef, intercept in parts:
        check(type(generation) is int and 0 <= generation < len(bases), "generations")
        check(len(coef) <= len(bases[generation].indices), "coefficients")
        model = replace(
            _first(bases[generation], len(coef)),
            coef=coef,
            linear_coef=linear_coef,
            intercept=float(intercept),
            generation=generation,
            scaling=scaling,
        )
        models.append(model)
    return models


def _unpacked_basis(packed: dict, n_features: int) -> Model:
    """Return a model without coefficients."""
    indices = packed["indices"]
    check(isinstance(indices, np.ndarray) and indices.ndim == 1, "indices")
    check_array(indices, (np.int64, np.int32), indices.shape, "indices")
    centres = _unpacked_rows(packed["centres"], (len(indices), n_features))
    kernel = _unpacked_kernel(packed["kernel"], len(indices), n_features)
    return Model(kernel, centres, indices, None, None, 0.0, 0)


def _unpacked_kernel(packed: dict, n_centres: int, n_features: int) -> Kernel:
    packed = dict(packed)
    kind = KERNELS[packed.pop("name")]
    for name, value in packed.items():
        if isinstance(value, np.ndarray):
            check_numbers(value, (n_features,) if name == "scales" else (n_centres,))
        else:
            check(value is None or is_number(value), "kernel")
    return kind(**packed)


def _unpacked_rows(packed: dict, shape: tuple[int, int]):
    if "single" in packed:
        check_array(packed["single"], (np.float32,), shape, "centres")
        packed = {"dense": packed["single"].astype(np.float64)}
    if "dense" in packed:
        check_numbers(packed["dense"], shape, "centres")
        return packed["dense"]
    check(packed["n_features"] == shape[1], "centres")
    parts = tuple(packed[name] for name in ("data", "indices", "indptr"))
    check(all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts), "centres")
    check_numbers(parts[0], parts[0].shape, "centres")
    rows = sparse.csr_array(parts, shape=shape)
    rows.check_format(full_check=True)
    return rows


def _unpacked_map(packed: dict, n_features: int) -> FeatureMap | None:
    # Files of the first versions know ranks alone.
    ranks, axes = packed["scaling"], packed.get("axes")
    if ranks is not None:
        ranks = _unpacked_ranks(ranks, n_features)
    if axes is not None:
        check_array(axes, (np.float32, np.float64), (n_features, n_features), "axes")
        axes = axes.astype(np.float64)
    return None if ranks is None and axes is None else FeatureMap(ranks, axes)


def _unpacked_ranks(packed: dict, n_features: int) -> RankScaling:
    knots, half_steps = packed["knots"], packed["half_steps"]
    if isinstance(knots, np.ndarray) and knots.dtype == np.uint8:
        check(knots.ndim == 3 and len(knots) == 8, "ranks")
        knots = from_bytes_by_place(knots)
    check(isinstance(knots, np.ndarray) and knots.ndim == 2 and knots.shape[1] > 1, "ranks")
    check_array(knots, (np.float64,), (n_features, knots.shape[1]), "ranks")
    check_array(half_steps, (np.uint8,), knots.shape, "ranks")
    for name in ("mean", "deviation"):
        check_array(packed[name], (np.float64,), (n_features,), "ranks")
    check(bool((packed["deviation"] > 0).all()), "ranks")
    check(int(half_steps.max()) <= 2 * (knots.shape[1] - 1), "ranks")
    _check_rising(knots, half_steps.astype(np.int64))
    word = packed.get("word", "rank")
    check(word is not None and word in SCALINGS, "ranks")
    ranks = RankScaling(knots.T, half_steps.T, packed["mean"], packed["deviation"], word)
    with np.errstate(over="ignore"):
        check(bool(np.isfinite(ranks.levels).all()), "ranks")
    return ranks


def _check_rising(knots: np.ndarray, half_steps: np.ndarray) -> None:
    """Raise an error unless knots and their places rise together and then stay where they are."""
    rises = knots[:, 1:] > knots[:, :-1]
    check(bool((rises | (knots[:, 1:] == knots[:, -1:])).all()), "ranks")
    check(np.array_equal(rises, np.diff(half_steps) > 0), "ranks")
    check(bool((np.diff(half_steps) >= 0).all()), "ranks")


def unpack_records(packed: list, models: dict[int, Model]) -> list[PathRecord]:
    """Return the records with their models."""
    return [_unpacked_record(values, models) for values in packed]


def _unpacked_record(values: list, models: dict[int, Model]) -> PathRecord:
    check(
        all(value is None or is_number(value) or isinstance(value, bool) for value in values),
        "path",
    )
    fields = dict(zip(_RECORD_FIELDS, values, strict=True))
    return PathRecord(**fields, model=models[fields["n_basis"]])


def _first(model: Model, size: int) -> Model:
    """Return the part of a model with its first centres."""
    kernel = model.kernel
    gamma = getattr(kernel, "gamma", None)
    if isinstance(gamma, np.ndarray):
        kernel = replace(kernel, gamma=gamma[:size])
    return replace(model, kernel=kernel, centres=model.centres[:size], indices=model.indices[:size])
