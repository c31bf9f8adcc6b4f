"""A fit on disk: its state at the last retraining, from which the next fit continues.

The file is an archive of arrays with a JSON header and a checksum (see `skauc.archive`). It also
holds the parameters and a digest of the rows, labels and weights, so that it is never used for
another fit.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skauc.archive import ArchiveError, read_archive, write_archive
from skauc.data.sampling import digest_of
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.kernels import Kernel, Rows, as_rbf, is_sparse
from skauc.model import Model, PathRecord
from skauc.sparse.plan import Parameters, Plan
from skauc.sparse.state import FitState

FORMAT = 2
_RECORDED = [field.name for field in fields(PathRecord) if field.name != "model"]
_SCALARS = ("n_done", "is_inside", "is_grown", "generation", "seconds", "threshold")


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
        self._data = {
            "rows": rows.n_rows,
            "features": rows.n_features,
            "classes": _as_text(rows.classes),
            "digest": digest_of(rows),
        }
        self._is_sparse = rows.is_sparse

    def save(self, state: FitState) -> None:
        """Replace the file."""
        _, keys, position, *gauss = self._random_state.get_state(legacy=True)
        header = {
            "format": FORMAT,
            "parameters": self._parameters,
            "data": self._data,
            "random": [position, *gauss],
            "records": [[getattr(record, name) for name in _RECORDED] for record in state.records],
            **{name: getattr(state, name) for name in _SCALARS},
        }
        write_archive(self.path, header, {**_pack(state), "random_keys": keys}, compress=False)

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
            restored = _unpack(header, arrays, state, plan, self._is_sparse)
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
        if header.get("format") != FORMAT:
            raise ArchiveError(f"its format is {header.get('format')!r}, not {FORMAT}")
        for name, value in self._parameters.items():
            stored = header["parameters"].get(name)
            if stored != value:
                raise InvalidParameterError(
                    f"`checkpoint` {str(self.path)!r} belongs to a fit with {name}={stored}; got "
                    f"{value}. Use the same parameters, or delete the file to start again."
                )
        if header["data"] != self._data:
            raise InvalidDataError(
                f"`checkpoint` {str(self.path)!r} belongs to a fit to other rows, labels or "
                f"weights, with {header['data'].get('rows')} rows and "
                f"{header['data'].get('features')} features; got {self._data['rows']} rows and "
                f"{self._data['features']} features. Use the same data in the same order, or "
                "delete the file to start again."
            )


def _pack(state: FitState) -> dict[str, np.ndarray]:
    """Return the basis and the models as arrays; models of a generation share their centres."""
    basis, models = state.basis, list(state.models.items())
    arrays = {
        "factor": basis.factor,
        "centres": _dense(basis.centres),
        "indices": np.asarray(basis.indices, dtype=np.int64),
        "widths": np.asarray(basis.widths, dtype=np.int64),
        "n_moved": np.array(basis.n_moved),
        "batches": np.asarray(basis.batches, dtype=np.int64),
        "weights": state.weights,
        "sizes": np.array([size for size, _ in models]),
        "generations": np.array([model.generation for _, model in models]),
        "intercepts": np.array([model.intercept for _, model in models]),
        "coefs": np.concatenate([model.coef for _, model in models]),
    }
    scales = getattr(basis.kernels[0], "scales", None)
    if scales is not None:
        arrays["scales"] = scales
    linear_coefs = [model.linear_coef for _, model in models if model.linear_coef is not None]
    if linear_coefs:
        arrays["linear_coefs"] = np.stack(linear_coefs)
    for generation, model in {model.generation: model for _, model in models}.items():
        arrays[f"centres_{generation}"] = _dense(model.centres)
        arrays[f"indices_{generation}"] = np.asarray(model.indices, dtype=np.int64)
        arrays[f"gammas_{generation}"] = np.asarray(getattr(model.kernel, "gamma", 0.0))
        scales = getattr(model.kernel, "scales", None)
        if scales is not None:
            arrays[f"scales_{generation}"] = scales
    return arrays


def _unpack(header: dict, arrays: dict, state: FitState, plan: Plan, is_sparse: bool) -> FitState:
    """Rebuild the basis and the models; ``state`` is the state of a new fit."""
    kernels = plan.kernels
    if "scales" in arrays:
        kernels = [replace(as_rbf(kernel), scales=arrays["scales"]) for kernel in kernels]
    as_rows = sparse.csr_array if is_sparse else np.asarray
    basis = state.basis.refilled(
        kernels,
        as_rows(arrays["centres"]),
        arrays["factor"],
        arrays["indices"].tolist(),
        arrays["widths"].tolist(),
        arrays["batches"].tolist(),
        int(arrays["n_moved"]),
    )
    models = {}
    ends = np.cumsum(arrays["sizes"])
    for number, size in enumerate(arrays["sizes"].tolist()):
        generation = int(arrays["generations"][number])
        models[size] = Model(
            kernel=_kernel(plan.kernels[0], arrays, generation, size),
            centres=as_rows(arrays[f"centres_{generation}"][:size]),
            indices=arrays[f"indices_{generation}"][:size],
            coef=arrays["coefs"][ends[number] - size : ends[number]],
            linear_coef=arrays["linear_coefs"][number] if "linear_coefs" in arrays else None,
            intercept=float(arrays["intercepts"][number]),
            generation=generation,
            scaling=plan.feature_map,
        )
    records = tuple(
        PathRecord(**dict(zip(_RECORDED, values, strict=True)), model=models[values[0]])
        for values in header["records"]
    )
    scalars = {name: header[name] for name in _SCALARS}
    return FitState(basis, arrays["weights"], **scalars, records=records, models=models)


def _kernel(kernel: Kernel, arrays: dict, generation: int, size: int) -> Kernel:
    changes = {}
    gammas = arrays[f"gammas_{generation}"]
    if gammas.ndim:
        changes["gamma"] = gammas[:size]
    if f"scales_{generation}" in arrays:
        changes["scales"] = arrays[f"scales_{generation}"]
    return replace(as_rbf(kernel), **changes) if changes else kernel


def _dense(centres: Rows) -> np.ndarray:
    return centres.toarray() if is_sparse(centres) else np.asarray(centres)


def _as_text(value) -> str:
    """Return a parameter in a form that is the same in another process."""
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str):
        return str(np.asarray(value).tolist())
    return str(value)
