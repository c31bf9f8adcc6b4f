"""A fit on disk: what a long fit has found, written at each retraining, to go on from.

The file is NumPy's npz with arrays of numbers and one text, in JSON: nothing in it is executed
when it is read. A new file takes the place of the old one in one step, so that there is always a
whole one.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from pathlib import Path

import numpy as np
from scipy import sparse

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.feature_map import FeatureMap
from skauc.kernels import Kernel, Rows
from skauc.model import Model, PathRecord
from skauc.sparse.basis import Basis

FORMAT = 1
# Parameters that do not change the model.
_INDIFFERENT = ("checkpoint", "engine", "n_jobs")
_RECORDED = [field.name for field in fields(PathRecord) if field.name != "model"]


def check_checkpoint(checkpoint, random_state) -> None:
    """Raise an error unless a file of that name could be written."""
    if checkpoint is None:
        return
    if not isinstance(checkpoint, str | os.PathLike):
        raise InvalidParameterError(
            f"`checkpoint` must be None or the path of a file; got {checkpoint!r}. Use a path on "
            "a disk that outlives the fit."
        )
    if not isinstance(random_state, Integral):
        raise InvalidParameterError(
            f"`checkpoint` needs a `random_state` that is a whole number, or the fit that goes on "
            f"would draw other rows; got {random_state!r}. Use for instance 0."
        )
    path = Path(checkpoint)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidParameterError(
            f"`checkpoint` must be a file in a directory that exists; got {str(path)!r}. Make "
            "the directory, or name a file in it."
        )


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a fit has come: in which phase it is, its basis and weights, and what it keeps."""

    phase: int
    ended_phase: int
    generation: int
    seconds: float
    threshold: float
    basis: Basis
    weights: np.ndarray
    records: list[PathRecord]
    models: dict[int, Model]


class Checkpoint:
    """The file of one fit: of an estimator with its parameters, on some data."""

    def __init__(self, path, estimator, data, spread: np.ndarray, random_state):
        self.path, self._random_state = Path(path), random_state
        self._parameters = {
            name: _as_text(value)
            for name, value in estimator.get_params(deep=False).items()
            if name not in _INDIFFERENT
        }
        self._data = {
            "rows": data.n_rows,
            "features": data.n_features,
            "classes": _as_text(data.classes),
        }
        self._spread = spread

    def save(self, progress: Progress) -> None:
        """Write the file anew."""
        arrays = {**_pack(progress), "spread": self._spread}
        _, arrays["random_keys"], position, *gauss = self._random_state.get_state(legacy=True)
        header = {
            "format": FORMAT,
            "parameters": self._parameters,
            "data": self._data,
            "random": [position, *gauss],
            "records": [
                [getattr(record, name) for name in _RECORDED] for record in progress.records
            ],
            **{name: getattr(progress, name) for name in _SCALARS},
        }
        arrays["header"] = np.array(json.dumps(header))
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def load(self, basis: Basis, scaling: FeatureMap | None, is_sparse: bool) -> Progress | None:
        """Return what the file holds, None if there is none; the random numbers go on from it."""
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = dict(stored)
            header = json.loads(str(arrays["header"]))
            self._check(header, arrays)
            progress = _unpack(header, arrays, basis, scaling, is_sparse)
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            if isinstance(error, InvalidDataError | InvalidParameterError):
                raise
            raise InvalidDataError(
                f"`checkpoint` {str(self.path)!r} is no file of an unfinished fit of this version "
                f"({error}). Delete it, or name another."
            ) from error
        self._random_state.set_state(("MT19937", arrays["random_keys"], *header["random"]))
        return progress

    def remove(self) -> None:
        """Delete the file: the fit is finished."""
        self.path.unlink(missing_ok=True)

    def _check(self, header: dict, arrays: dict) -> None:
        if header["format"] != FORMAT:
            raise ValueError(f"format {header['format']}, not {FORMAT}")
        for name, value in self._parameters.items():
            if header["parameters"].get(name) != value:
                raise InvalidParameterError(
                    f"`checkpoint` {str(self.path)!r} is of a fit with {name}="
                    f"{header['parameters'].get(name)}; got {value}. Use the same parameters, or "
                    "delete the file to start afresh."
                )
        spread = arrays["spread"]
        is_same = header["data"] == self._data and spread.shape == self._spread.shape
        if not is_same or not np.allclose(spread, self._spread, rtol=1e-6, equal_nan=True):
            raise InvalidDataError(
                f"`checkpoint` {str(self.path)!r} is of a fit to other data, with "
                f"{header['data']['rows']} rows and {header['data']['features']} features; got "
                f"{self._data['rows']} and {self._data['features']}. Use the same data, or delete "
                "the file to start afresh."
            )


_SCALARS = ("phase", "ended_phase", "generation", "seconds", "threshold")


def _pack(progress: Progress) -> dict[str, np.ndarray]:
    """Return the basis and the models as arrays."""
    basis, models = progress.basis, list(progress.models.items())
    arrays = {
        "factor": basis.factor,
        "centres": _dense(basis.centres),
        "indices": np.asarray(basis.indices, dtype=np.int64),
        "widths": np.asarray(basis.widths, dtype=np.int64),
        "n_moved": np.array(basis.n_moved),
        "weights": progress.weights,
        "sizes": np.array([size for size, _ in models]),
        "generations": np.array([model.generation for _, model in models]),
        "intercepts": np.array([model.intercept for _, model in models]),
        "coefs": np.concatenate([model.coef for _, model in models]),
    }
    if getattr(basis.kernels[0], "scales", None) is not None:
        arrays["scales"] = basis.kernels[0].scales
    if models[0][1].linear_coef is not None:
        arrays["linear_coefs"] = np.stack([model.linear_coef for _, model in models])
    for generation, model in {model.generation: model for _, model in models}.items():
        arrays[f"centres_{generation}"] = _dense(model.centres)
        arrays[f"indices_{generation}"] = np.asarray(model.indices, dtype=np.int64)
        arrays[f"gammas_{generation}"] = np.asarray(getattr(model.kernel, "gamma", 0.0))
        if getattr(model.kernel, "scales", None) is not None:
            arrays[f"scales_{generation}"] = model.kernel.scales
    return arrays


def _unpack(header: dict, arrays: dict, basis: Basis, scaling, is_sparse: bool) -> Progress:
    """Rebuild the basis and the models; ``basis`` is that of a fit that begins."""
    kernels = basis.kernels
    if "scales" in arrays:
        kernels = [replace(kernel, scales=arrays["scales"]) for kernel in kernels]
    rows = sparse.csr_array if is_sparse else np.asarray
    grown = basis.refilled(
        kernels,
        rows(arrays["centres"]),
        arrays["factor"],
        arrays["indices"].tolist(),
        arrays["widths"].tolist(),
        int(arrays["n_moved"]),
    )
    models = {}
    ends = np.cumsum(arrays["sizes"])
    for number, size in enumerate(arrays["sizes"].tolist()):
        generation = int(arrays["generations"][number])
        kernel = _kernel(basis.kernels[0], arrays, generation, size)
        linear = arrays["linear_coefs"][number] if "linear_coefs" in arrays else None
        models[size] = Model(
            kernel=kernel,
            centres=rows(arrays[f"centres_{generation}"][:size]),
            indices=arrays[f"indices_{generation}"][:size],
            coef=arrays["coefs"][ends[number] - size : ends[number]],
            linear_coef=linear,
            intercept=float(arrays["intercepts"][number]),
            generation=generation,
            scaling=scaling,
        )
    records = [
        PathRecord(**dict(zip(_RECORDED, values, strict=True)), model=models[values[0]])
        for values in header["records"]
    ]
    scalars = {name: header[name] for name in _SCALARS}
    return Progress(
        **scalars, basis=grown, weights=arrays["weights"], records=records, models=models
    )


def _kernel(kernel: Kernel, arrays: dict, generation: int, size: int) -> Kernel:
    changes = {}
    gammas = arrays[f"gammas_{generation}"]
    if gammas.ndim:
        changes["gamma"] = gammas[:size]
    if f"scales_{generation}" in arrays:
        changes["scales"] = arrays[f"scales_{generation}"]
    return replace(kernel, **changes) if changes else kernel


def _dense(centres: Rows) -> np.ndarray:
    return centres.toarray() if sparse.issparse(centres) else np.asarray(centres)


def _as_text(value) -> str:
    """Return a parameter in a form that is the same in another process."""
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str):
        return str(np.asarray(value).tolist())
    return str(value)
