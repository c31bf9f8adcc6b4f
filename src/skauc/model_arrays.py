"""Fitted models as a JSON header and arrays, and back: one form for model files and checkpoints.

The models of one generation share their centres, so the arrays hold the centres of each
generation once. Everything that comes out of a file is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from skauc.archive import (
    DOUBLES,
    FLOATS,
    INTEGERS,
    ArchiveError,
    checked_array,
    checked_csr,
    is_integer,
    require,
)
from skauc.feature_map import FeatureMap
from skauc.kernel_parameters import KERNEL_TYPES
from skauc.kernels import Kernel, Rows, is_sparse
from skauc.model import Model, PathRecord
from skauc.scalings import ClipScaling, LogScaling, RankScaling, Scaling
from skauc.shaped_rbf import ShapedRBF
from skauc.validation import is_finite, is_number

_RECORD_FIELDS = [field.name for field in fields(PathRecord) if field.name != "model"]
_STORED_KERNELS: dict[str, type] = {**KERNEL_TYPES, "shaped_rbf": ShapedRBF}
_LARGEST_DEGREE = 1000
_MOST_MODELS = 1_000_000

Arrays = dict[str, np.ndarray]


def add_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays with a prefix before their names."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def select_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays whose names have a prefix, without it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def models_to_arrays(models: list[Model]) -> tuple[dict[str, Any], Arrays]:
    """Take apart the models of one fit.

    Parameters
    ----------
    models : list of Model
        At least one, in the order of their sizes.

    Returns
    -------
    header : dict
        Values for JSON.
    arrays : dict of str to ndarray
        The arrays.
    """
    generations = sorted({model.generation for model in models})
    arrays = {
        "intercepts": np.array([model.intercept for model in models], dtype=np.float64),
        "coef": np.concatenate([model.coef for model in models]),
    }
    if models[0].linear_coef is not None:
        arrays["linear_coef"] = np.array([model.linear_coef for model in models])
    header = {
        "sizes": [len(model.coef) for model in models],
        "generations": [generations.index(model.generation) for model in models],
        "scaling": _map_to_arrays(models[-1].scaling, arrays),
        "bases": [
            _basis_to_arrays(_widest(models, generation), f"_{number}", arrays)
            for number, generation in enumerate(generations)
        ],
    }
    return header, arrays


def _widest(models: list[Model], generation: int) -> Model:
    members = [model for model in models if model.generation == generation]
    return max(members, key=lambda model: len(model.coef))


def _basis_to_arrays(model: Model, suffix: str, arrays: Arrays) -> dict[str, Any]:
    """Add the kernel and the centres of a model to the arrays."""
    arrays[f"indices{suffix}"] = np.asarray(model.indices)
    kernel = _kernel_to_arrays(model.kernel, suffix, arrays)
    return {"kernel": kernel, **centres_to_arrays(model.centres, suffix, arrays)}


def centres_to_arrays(centres: Rows, suffix: str, arrays: Arrays) -> dict[str, Any]:
    """Add centres to the arrays, under names that end in the suffix, and return their header."""
    header = {"dtype": centres.dtype.name, "is_sparse": is_sparse(centres)}
    if not is_sparse(centres):
        arrays[f"centres{suffix}"] = _in_half(centres)
        return header
    for part in ("data", "indices", "indptr"):
        arrays[f"centres_{part}{suffix}"] = getattr(centres, part)
    return header


def _kernel_to_arrays(kernel: Kernel, suffix: str, arrays: Arrays) -> dict[str, Any]:
    names = [name for name, kind in _STORED_KERNELS.items() if type(kernel) is kind]
    if not names:
        raise ArchiveError(
            "A model whose `kernel` is a function cannot be stored, because files never hold "
            f"code. Use one of the kernels {', '.join(KERNEL_TYPES)}."
        )
    header: dict[str, Any] = {"name": names[0]}
    for name, value in vars(kernel).items():
        if isinstance(value, np.ndarray):
            arrays[f"{name}{suffix}"] = _in_half(value) if name == "metric" else value
        elif value is not None:
            header[name] = value if isinstance(value, int) else float(value)
    return header


def _in_half(numbers: np.ndarray) -> np.ndarray:
    """Return numbers in single precision if that loses nothing."""
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32)
    return single if np.array_equal(single, numbers) else numbers


def _map_to_arrays(scaling: FeatureMap | None, arrays: Arrays) -> dict[str, Any] | None:
    if scaling is None:
        return None
    if scaling.axes is not None:
        arrays["axes"] = np.ascontiguousarray(_in_half(scaling.axes))
    by_feature = scaling.by_feature
    if by_feature is None:
        return {}
    if not isinstance(by_feature, RankScaling):
        arrays |= by_feature.parts
        return {"by_feature": by_feature.word}
    for name in ("knots", "half_steps"):  # one row per feature compresses better
        arrays[name] = np.ascontiguousarray(getattr(by_feature, name).T)
    arrays |= {"mean": by_feature.mean, "deviation": by_feature.deviation}
    return {"ranks": by_feature.word}


def models_from_arrays(header: Any, arrays: Arrays, n_features: int) -> list[Model]:
    """Build the models that `models_to_arrays` took apart.

    Parameters
    ----------
    header : dict
        The header.
    arrays : dict of str to ndarray
        The arrays; those with other names are ignored.
    n_features : int
        The number of features that the models must have.

    Returns
    -------
    models : list of Model
        The models. Those of one generation share the memory of their centres.
    """
    try:
        return _models(header, arrays, n_features)
    except ArchiveError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise ArchiveError(
            f"its model lacks a part, or a part has another type: {error}"
        ) from error


def _models(header: dict, arrays: Arrays, n_features: int) -> list[Model]:
    sizes, generations = header["sizes"], header["generations"]
    require(0 < len(sizes) == len(generations) <= _MOST_MODELS, "its sizes are")
    require(all(is_integer(size, 0, len(arrays["coef"])) for size in sizes), "its sizes are")
    require(sizes == sorted(set(sizes)), "its sizes are")
    scaling = _map_from_arrays(header["scaling"], arrays, n_features)
    bases = [
        _basis_from_arrays(basis, f"_{number}", arrays, n_features)
        for number, basis in enumerate(header["bases"])
    ]
    coef = checked_array(arrays["coef"], DOUBLES, (sum(sizes),), "its coefficients are")
    intercepts = checked_array(arrays["intercepts"], DOUBLES, (len(sizes),), "its intercepts are")
    linear = arrays.get("linear_coef")
    if linear is not None:
        checked_array(linear, FLOATS, (len(sizes), n_features), "its linear coefficients are")
    models = []
    starts = np.cumsum([0, *sizes])
    for number, (size, generation) in enumerate(zip(sizes, generations, strict=True)):
        require(is_integer(generation, 0, len(bases) - 1), "its generations are")
        require(size <= len(bases[generation].indices), "its sizes are")
        model = replace(
            _first(bases[generation], size),
            coef=coef[starts[number] : starts[number + 1]],
            linear_coef=None if linear is None else linear[number],
            intercept=float(intercepts[number]),
            generation=generation,
            scaling=scaling,
        )
        models.append(model)
    return models


def _basis_from_arrays(header: dict, suffix: str, arrays: Arrays, n_features: int) -> Model:
    """Return a model without coefficients."""
    indices = arrays[f"indices{suffix}"]
    checked_array(indices, INTEGERS, (indices.size,), "the indices of its centres are")
    shape = (len(indices), n_features)
    centres = centres_from_arrays(header, suffix, arrays, shape)
    kernel = _kernel_from_arrays(header["kernel"], suffix, arrays, shape)
    return Model(kernel, centres, indices, np.zeros(0), None, 0.0, 0)


def centres_from_arrays(header: dict, suffix: str, arrays: Arrays, shape: tuple[int, int]) -> Rows:
    """Return the centres that `centres_to_arrays` took apart."""
    read = _sparse_centres if header["is_sparse"] else _dense_centres
    return read(header, suffix, arrays, shape)


def _dense_centres(header: dict, suffix: str, arrays: Arrays, shape: tuple[int, int]) -> np.ndarray:
    stored = checked_array(arrays[f"centres{suffix}"], FLOATS, shape, "its centres are")
    return stored.astype(_float_type(header), copy=False)


def _sparse_centres(header: dict, suffix: str, arrays: Arrays, shape: tuple[int, int]) -> Rows:
    data, indices, indptr = (
        arrays[f"centres_{part}{suffix}"] for part in ("data", "indices", "indptr")
    )
    centres = checked_csr(data, indices, indptr, shape, "its centres are")
    require(centres.dtype == _float_type(header), "its centres are")
    return centres


def _float_type(header: dict) -> np.dtype:
    names = {dtype.name: dtype for dtype in FLOATS}
    require(isinstance(header["dtype"], str) and header["dtype"] in names, "its centres are")
    return names[header["dtype"]]


def _kernel_from_arrays(
    header: dict, suffix: str, arrays: Arrays, shape: tuple[int, int]
) -> Kernel:
    parameters = dict(header)
    kind = _STORED_KERNELS[parameters.pop("name")]
    n_centres, n_features = shape
    if f"gamma{suffix}" in arrays:
        gamma = checked_array(arrays[f"gamma{suffix}"], DOUBLES, (n_centres,), "its gamma is")
        parameters["gamma"] = gamma
    if f"scales{suffix}" in arrays:
        scales = checked_array(arrays[f"scales{suffix}"], DOUBLES, (n_features,), "its scales are")
        require(bool((scales > 0).all()), "its scales are")
        parameters["scales"] = scales
    require(all(parameters[name] is not None for name in parameters), "its kernel is")
    _check_kernel(parameters)
    if kind is ShapedRBF:
        return ShapedRBF(**parameters, **_shapes_from_arrays(suffix, arrays, shape))
    return kind(**parameters)


def _shapes_from_arrays(suffix: str, arrays: Arrays, shape: tuple[int, int]) -> Arrays:
    """Return the metric and which centres are ridges."""
    what = "the shapes of its centres are"
    metric, is_ridge = arrays[f"metric{suffix}"], arrays[f"is_ridge{suffix}"]
    checked_array(metric, FLOATS, shape, what)
    checked_array(is_ridge, (np.dtype(bool),), shape[:1], what)
    require(bool((metric[~is_ridge] > 0).all() and metric[is_ridge].any(axis=1).all()), what)
    return {"metric": metric.astype(np.float64), "is_ridge": is_ridge}


def _check_kernel(parameters: dict) -> None:
    gamma = parameters.get("gamma", 1.0)
    if not isinstance(gamma, np.ndarray):
        require(is_finite(gamma), "its gamma is")
    require(bool(np.all(gamma > 0)), "its gamma is")
    coef0 = parameters.get("coef0", 0.0)
    require(is_finite(coef0), "its kernel is")
    require(is_integer(parameters.get("degree", 1), 1, _LARGEST_DEGREE), "its kernel is")


def _map_from_arrays(header: dict | None, arrays: Arrays, n_features: int) -> FeatureMap | None:
    if header is None:
        return None
    axes = arrays.get("axes")
    if axes is not None:
        checked_array(axes, FLOATS, (n_features, n_features), "its axes are")
        axes = axes.astype(np.float64)
    return FeatureMap(_scaling(header, arrays, n_features), axes)


def _scaling(header: dict, arrays: Arrays, n_features: int) -> Scaling | None:
    if "ranks" in header:
        return _ranks(header["ranks"], arrays, n_features)
    if "by_feature" not in header:
        return None
    return _FORMULAS[header["by_feature"]](arrays, n_features)


def _clip(arrays: Arrays, n_features: int) -> ClipScaling:
    scaling = ClipScaling(*(_numbers(name, arrays, n_features) for name in ("middle", "width")))
    require(bool((scaling.width > 0).all()), "its scaling is")
    return scaling


def _log(arrays: Arrays, n_features: int) -> LogScaling:
    what = "its scaling is"
    is_log = checked_array(arrays["is_log"], (np.dtype(bool),), (n_features,), what)
    names = ("least", "offset", "mean", "deviation")
    scaling = LogScaling(is_log, *(_numbers(name, arrays, n_features) for name in names))
    require(bool((scaling.deviation > 0).all()), what)
    require(bool((scaling.least + scaling.offset > 0)[is_log].all()), what)
    return scaling


def _numbers(name: str, arrays: Arrays, n_features: int) -> np.ndarray:
    """Return an array with a number per feature."""
    return checked_array(arrays[name], DOUBLES, (n_features,), "its scaling is")


_FORMULAS: dict[str, Callable[[Arrays, int], Scaling]] = {"clip": _clip, "log": _log}


def _ranks(word: Any, arrays: Arrays, n_features: int) -> RankScaling:
    what = "its ranks are"
    require(isinstance(word, str) and word in ("rank", "normal"), what)
    knots, half_steps = arrays["knots"], arrays["half_steps"]
    require(knots.ndim == 2 and knots.shape[1] > 1, what)
    checked_array(knots, DOUBLES, (n_features, knots.shape[1]), what)
    checked_array(half_steps, (np.dtype(np.uint8),), knots.shape, what)
    mean = checked_array(arrays["mean"], DOUBLES, (n_features,), what)
    deviation = checked_array(arrays["deviation"], DOUBLES, (n_features,), what)
    with np.errstate(over="ignore", divide="ignore"):
        require(bool((deviation > 0).all() and np.isfinite(1.0 / deviation).all()), what)
    require(int(half_steps.max()) <= 2 * (knots.shape[1] - 1), what)
    _check_rising(knots, half_steps.astype(np.int64))
    return RankScaling(knots.T, half_steps.T, mean, deviation, word)


def _check_rising(knots: np.ndarray, half_steps: np.ndarray) -> None:
    """Refuse ranks unless knots and half steps rise together, up to repetitions of the last."""
    rises = knots[:, 1:] > knots[:, :-1]
    require(bool((rises | (knots[:, 1:] == knots[:, -1:])).all()), "its ranks are")
    require(np.array_equal(rises, np.diff(half_steps) > 0), "its ranks are")
    require(bool((np.diff(half_steps) >= 0).all()), "its ranks are")


def _first(model: Model, size: int) -> Model:
    """Return the part of a model with its first centres. Their memory is shared."""
    kernel = model.kernel.part(slice(size))
    centres = first_rows(model.centres, size)
    return replace(model, kernel=kernel, centres=centres, indices=model.indices[:size])


def first_rows(rows: Rows, size: int) -> Rows:
    """Return the first rows without a copy. SciPy copies when it slices a sparse array."""
    if not is_sparse(rows):
        return rows[:size]
    part = sparse.csr_array((size, rows.shape[1]), dtype=rows.dtype)
    end = rows.indptr[size]
    part.data, part.indices = rows.data[:end], rows.indices[:end]
    part.indptr = rows.indptr[: size + 1]
    return part


def records_to_json(records: list[PathRecord]) -> list[list]:
    """Return the records without their models."""
    return [[_plain(getattr(record, name)) for name in _RECORD_FIELDS] for record in records]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def records_from_json(values: Any, models: dict[int, Model]) -> list[PathRecord]:
    """Build the records that `records_to_json` took apart; ``models`` has a model per size."""
    require(isinstance(values, list), "its path is")
    return [_record(each, models) for each in values]


def _record(values: Any, models: dict[int, Model]) -> PathRecord:
    require(isinstance(values, list), "its path is")
    # Earlier versions had no C.
    values = [*values, None] if len(values) == len(_RECORD_FIELDS) - 1 else values
    require(len(values) == len(_RECORD_FIELDS), "its path is")
    is_plain = all(value is None or type(value) in (bool, int, float) for value in values)
    record = dict(zip(_RECORD_FIELDS, values, strict=True))
    require(is_plain and record["n_basis"] in models, "its path is")
    require(all(is_number(record[name]) for name in ("train_auc", "n_iter")), "its path is")
    return PathRecord(**record, model=models[record["n_basis"]])
