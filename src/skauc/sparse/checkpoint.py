"""A fit on disk: its state at the last retraining, from which the next fit continues.

The file is an archive of arrays with a JSON header and a checksum (see `skauc.archive`). Its models
have the same form as in a model file (see `skauc.model_arrays`). The file also holds the parameters
and a digest of the rows, labels and weights, so that it is never used for another fit.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from skauc.archive import ArchiveError, read_archive, write_archive
from skauc.data.sampling import digest_of
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.kernels import CallableKernel, Kernel, Linear, as_rbf
from skauc.model import Model
from skauc.model_arrays import (
    Arrays,
    add_prefix,
    centres_from_arrays,
    centres_to_arrays,
    models_from_arrays,
    models_to_arrays,
    records_from_json,
    records_to_json,
    select_prefix,
)
from skauc.shaped_rbf import ShapedRBF
from skauc.sparse.basis import Basis
from skauc.sparse.parameters import Parameters
from skauc.sparse.plan import Plan
from skauc.sparse.state import FitState

_FORMAT = 6
# The arrays of the models have names with this prefix.
_MODELS = "models."
_SCALARS = ("C", "n_done", "moved", "is_inside", "is_grown", "generation", "seconds", "threshold")


def check_checkpoint(checkpoint, random_state) -> None:
    """Raise an error unless a file of that name could be written."""
    if checkpoint is None:
        return
    if not isinstance(checkpoint, str | os.PathLike):
        raise InvalidParameterError(
            f"`checkpoint` must be None or the path of a file; got {checkpoint!r}."
        )
    if not isinstance(random_state, Integral):
        raise InvalidParameterError(
            "`checkpoint` needs an integer as `random_state`, so that the next fit draws the same "
            f"rows; got {random_state!r}. Use for instance random_state=0."
        )
    path = Path(checkpoint)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidParameterError(
            f"`checkpoint` must be a file in a directory that exists; got {str(path)!r}."
        )


class Checkpoint:
    """The file of one fit: of some parameters, to some rows."""

    def __init__(self, path, parameters: Parameters, random_state: int, rows: TrainingData):
        self.path = Path(path)
        self._random_state: Any = None
        texts = {field.name: getattr(parameters, field.name) for field in fields(parameters)}
        self._parameters = {
            name: _as_text(value) for name, value in {**texts, "random_state": random_state}.items()
        }
        self._data: dict[str, Any] = {
            "rows": rows.n_rows,
            "features": rows.n_features,
            "classes": _as_text(rows.classes),
            "digest": digest_of(rows),
        }

    def save(self, state: FitState) -> None:
        """Replace the file."""
        _, keys, position, *gauss = self._random_state.get_state(legacy=True)
        arrays = {"random_keys": keys, "weights": state.weights}
        header = {
            "format": _FORMAT,
            "parameters": self._parameters,
            "data": self._data,
            "random": [position, *gauss],
            "basis": _pack_basis(state.basis, arrays),
            "models": _pack_models(state.models, arrays),
            "generations": sorted({model.generation for model in state.models.values()}),
            "records": records_to_json(list(state.records)),
            **{name: getattr(state, name) for name in _SCALARS},
        }
        write_archive(self.path, header, arrays, compress=False)

    def restore(self, state: FitState, plan: Plan, random_state) -> FitState | None:
        """Return the state in the file, None if there is no file.

        ``state`` is the state of a new fit. ``random_state`` continues as in the fit that wrote
        the file.
        """
        self._random_state = random_state
        if not self.path.exists():
            return None
        try:
            header, arrays = read_archive(self.path)
            self._check(header)
            restored = _unpack(header, arrays, state, plan, self._data["features"])
            random_state.set_state(("MT19937", arrays["random_keys"], *header["random"]))
        except (InvalidDataError, InvalidParameterError):
            raise
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            reason = (
                error if isinstance(error, ArchiveError | OSError) else "its content is incomplete"
            )
            raise InvalidDataError(
                f"`checkpoint` {str(self.path)!r} is not a checkpoint of this version: {reason}. "
                "Delete the file to start again, or use another path."
            ) from error
        return restored

    def remove(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)

    def _check(self, header: dict) -> None:
        if header.get("format") != _FORMAT:
            raise ArchiveError(f"its format is {header.get('format')!r}, not {_FORMAT}")
        # Some parameters follow from the data, so the data come first.
        if header["data"] != self._data:
            raise InvalidDataError(
                f"`checkpoint` {str(self.path)!r} belongs to a fit to other rows, labels or "
                f"weights, with {header['data'].get('rows')} rows and "
                f"{header['data'].get('features')} features; got {self._data['rows']} rows and "
                f"{self._data['features']} features. Use the same data in the same order, or "
                "delete the file to start again."
            )
        for name, value in self._parameters.items():
            stored = header["parameters"].get(name)
            if stored != value:
                raise InvalidParameterError(
                    f"`checkpoint` {str(self.path)!r} belongs to a fit with {name}={stored}; got "
                    f"{value}. Use the same parameters, or delete the file to start again."
                )


def _pack_basis(basis: Basis, arrays: Arrays) -> dict[str, Any]:
    """Add the basis to the arrays, and return its header."""
    arrays["factor"] = basis.factor
    scales, kernel = getattr(basis.kernels[0], "scales", None), basis.kernel()
    if scales is not None:
        arrays["scales"] = scales
    if isinstance(kernel, ShapedRBF):
        arrays |= {"metric": kernel.metric, "is_ridge": kernel.is_ridge}
    return {
        "indices": basis.indices,
        "widths": basis.widths,
        "batches": basis.batches,
        "n_moved": basis.n_moved,
        **centres_to_arrays(basis.centres, "", arrays),
    }


def _unpack_basis(header: dict, arrays: Arrays, empty: Basis, plan: Plan, n_features: int) -> Basis:
    kernels = plan.kernels
    if "scales" in arrays:
        kernels = [replace(as_rbf(kernel), scales=arrays["scales"]) for kernel in kernels]
    if "metric" in arrays:
        kernel: Kernel = ShapedRBF(arrays["metric"], arrays["is_ridge"])
    else:
        kernel = Basis(kernels, 0, 0.0).kernel_of(np.asarray(header["widths"]))
    shape = (len(header["indices"]), n_features)
    return empty.refilled(
        kernels,
        kernel,
        centres_from_arrays(header, "", arrays, shape),
        arrays["factor"],
        header["indices"],
        header["widths"],
        header["batches"],
        header["n_moved"],
    )


def _pack_models(models: dict[int, Model], arrays: Arrays) -> dict[str, Any]:
    """Add the models to the arrays, and return their header.

    The plan of the next fit has the scaling, and the kernel if it is a function. Neither is stored.
    """
    stored = [replace(models[size], scaling=None) for size in sorted(models)]
    if isinstance(stored[0].kernel, CallableKernel):
        stored = [replace(model, kernel=Linear()) for model in stored]
    header, parts = models_to_arrays(stored)
    arrays |= add_prefix(_MODELS, parts)
    return header


def _unpack_models(header: dict, arrays: Arrays, plan: Plan, n_features: int) -> dict[int, Model]:
    parts, models = select_prefix(_MODELS, arrays), {}
    for model in models_from_arrays(header["models"], parts, n_features):
        generation = header["generations"][model.generation]
        model = replace(model, generation=generation, scaling=plan.feature_map)
        if isinstance(plan.kernels[0], CallableKernel):
            model = replace(model, kernel=plan.kernels[0])
        models[len(model.coef)] = model
    return models


def _unpack(header: dict, arrays: Arrays, state: FitState, plan: Plan, n_features: int) -> FitState:
    """Rebuild the state; ``state`` is the state of a new fit."""
    models = _unpack_models(header, arrays, plan, n_features)
    return FitState(
        _unpack_basis(header["basis"], arrays, state.basis, plan, n_features),
        arrays["weights"],
        **{name: header[name] for name in _SCALARS},
        records=tuple(records_from_json(header["records"], models)),
        models=models,
    )


def _as_text(value) -> str:
    """Return a parameter in a form that is the same in another process."""
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str):
        return str(np.asarray(value).tolist())
    return str(value)
