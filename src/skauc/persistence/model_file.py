"""Model files: one file, written atomically, that holds a fitted model and no code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sklearn.utils.validation import check_is_fitted

import skauc
from skauc.archive import (
    ArchiveError,
    ArchiveSizeError,
    Limits,
    brief_error,
    is_integer,
    read_archive,
    read_header,
    require,
    write_archive,
    write_atomically,
)
from skauc.exceptions import ModelFileError
from skauc.model_arrays import Arrays
from skauc.persistence.estimators import (
    decode_estimator,
    decode_step,
    encode_estimator,
    encode_step,
    is_own,
    is_own_step,
)
from skauc.persistence.pipelines import own_steps, pipeline_from_json, pipeline_to_json
from skauc.persistence.summary import (
    FORMAT,
    FORMAT_VERSION,
    check_manifest,
    final_estimator,
    make_manifest,
)
from skauc.persistence.values import Encoder, decode

_SHELL = "shell"
_PIPELINE = "pipeline"
_ADVICE = (
    "Use steps and wrappers of scikit-learn or skauc, without functions of your own. "
    "Of a search, save `best_estimator_` instead."
)


def save_model(
    model: Any,
    path: str | os.PathLike,
    *,
    summary: dict[str, Any] | None = None,
    history: bool = False,
    overwrite: bool = False,
) -> Path:
    """Write a fitted model to a file that is safe to load.

    The file holds names, parameters and arrays, never code. It is complete or not there: the
    content goes to a temporary file, is read back as a check, and then replaces ``path``.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skauc, or a scikit-learn pipeline or wrapper (such as
        `CalibratedClassifierCV` or `TunedThresholdClassifierCV`) around one.
    path : str or path-like
        The file to write. Its name usually ends in ``.skauc``.
    summary : dict, default=None
        Other facts about the training, as values for JSON. `inspect_model` returns it.
    history : bool, default=False
        Whether to store the smaller models of the path, for ``staged_decision_function`` and
        ``truncate``, and the scores of a cross-validation. They do not change the predictions.
        ``cv_results_`` of scikit-learn's searches is never stored.
    overwrite : bool, default=False
        Whether to replace a file that exists.

    Returns
    -------
    path : pathlib.Path
        The file.

    See Also
    --------
    load_model : Read the model.
    inspect_model : Read what the file says about the model.
    check_savable : Check an estimator before it is fitted.

    Notes
    -----
    Parameters of our estimators that JSON cannot hold, such as a ``RandomState``, are stored as
    their defaults. An online learner is stored with its buffers, counters and random numbers, so
    that ``partial_fit`` of the loaded learner continues where the original stopped.

    Files with steps or wrappers of scikit-learn need the package skops. A pipeline of a
    `TablePreprocessor` and an estimator of skauc does not.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from skauc import SparseKernelAUC, load_model, save_model
    >>> model = SparseKernelAUC(1).fit([[0.0], [1.0]], [0, 1])
    >>> path = save_model(model, Path(mkdtemp()) / "tiny.skauc")
    >>> bool(load_model(path).predict([[0.9]])[0] == 1)
    True
    """
    check_is_fitted(model)
    path = Path(path)
    if path.exists() and not overwrite:
        raise ModelFileError(
            f"{path} exists already. Choose another name, or replace it with overwrite=True."
        )
    try:
        header, arrays = _encode(model, summary, history=history)
        with write_atomically(path) as file:
            write_archive(file, header, arrays)
            _decode(file, Limits())
    except ArchiveError as error:
        raise ModelFileError(f"The model cannot be stored: {error}. {_ADVICE}") from error
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be written: {error.strerror}. Choose another place."
        ) from error
    return path


def load_model(path: str | os.PathLike, *, max_bytes: int | None = None) -> Any:
    """Read a model that `save_model` has written, in this version or an earlier one.

    The file is checked before the model is built. Nothing in it is executed. A file that is
    damaged, foreign or hostile raises a `ModelFileError`.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, default=None
        The largest number of bytes that the content may take in memory. None allows 20 times the
        size of the file, and at least 16 MiB.

    Returns
    -------
    model : estimator
        The fitted model. Its scores are those of the saved model, to the last bit. Parameters
        that start processes or write files (``n_jobs``, ``checkpoint`` and ``memory``) are None.

    Warns
    -----
    sklearn.exceptions.InconsistentVersionWarning
        If steps of scikit-learn were saved with another version of it.

    See Also
    --------
    save_model : Write a model.
    """
    path = Path(path)
    with _opened(path) as file:
        try:
            _checked_header(path, file, max_bytes)
            return _decode(file, Limits(max_bytes))
        except ArchiveError as error:
            raise _refused(path, error) from error


def inspect_model(path: str | os.PathLike, *, max_bytes: int | None = None) -> dict[str, Any]:
    """Return what a model file says about itself, without building the model.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, default=None
        The largest number of bytes that the content may take in memory. None allows 20 times the
        size of the file, and at least 16 MiB.

    Returns
    -------
    manifest : dict
        ``format_version``, ``versions`` of the libraries, ``estimator``, ``columns`` (names and
        kinds; none for more than 10,000 columns without names), ``training`` (what the estimator
        knows) and ``summary`` (what was passed to `save_model`).
    """
    path = Path(path)
    with _opened(path) as file:
        try:
            return check_manifest(_checked_header(path, file, max_bytes))
        except ArchiveError as error:
            raise _refused(path, error) from error


def _refused(path: Path, error: ArchiveError) -> ModelFileError:
    if isinstance(error, ArchiveSizeError):
        advice = "If you trust the file, pass a larger `max_bytes`."
    else:
        advice = "Get the file from its author again, or save the model again."
    return ModelFileError(f"{path} cannot be loaded: {error}. {advice}")


def _opened(path: Path) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {path}. Check the name.") from error
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be read: {error.strerror}. Check the name and the permissions."
        ) from error


def _checked_header(path: Path, file: BinaryIO, max_bytes: int | None) -> dict[str, Any]:
    """Return the header of a file whose format this version reads."""
    header = read_header(file, Limits(max_bytes))
    if header.get("format") != FORMAT:
        raise ModelFileError(
            f"{path} is not a skauc model file. Pass a file written by skauc.save_model."
        )
    version = header.get("format_version", 0)
    require(is_integer(version, 1, 10**6), "its format version is")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format {version}; skauc {skauc.__version__} reads up to "
            f"{FORMAT_VERSION}. Install the version of skauc that wrote it, or a later one."
        )
    return header


def _encode(
    model: Any, summary: dict[str, Any] | None, *, history: bool
) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a model."""
    final_estimator(model)
    arrays: Arrays = {}
    header: dict[str, Any] = {}
    steps = own_steps(model)
    if is_own(model):
        parts = [model]
    elif steps is not None:
        parts, header[_PIPELINE] = steps, pipeline_to_json(model)
    else:
        from skauc.persistence.foreign import take_apart

        shell, parts = take_apart(model)
        arrays[_SHELL] = np.frombuffer(shell, np.uint8)
    manifest = make_manifest(model, summary, has_shell=_SHELL in arrays)
    header["parts"] = [
        _encode_part(part, f"{number}.", arrays, history) for number, part in enumerate(parts)
    ]
    return {**manifest, **header}, arrays


def _encode_part(part: Any, prefix: str, arrays: Arrays, history: bool) -> dict[str, Any]:
    if is_own(part):
        return {"estimator": encode_estimator(part, prefix, arrays, history=history)}
    if is_own_step(part):
        return {"step": encode_step(part, prefix, arrays)}
    return {"value": Encoder(arrays).encode(part, f"{prefix}value")}


def _decode(file: BinaryIO, limits: Limits) -> Any:
    """Build the model of a file whose format is known."""
    header, arrays = read_archive(file, limits)
    manifest = check_manifest(header)
    parts: Any = header.get("parts")
    require(isinstance(parts, list), "its parts are")
    built = [_decode_part(part, f"{number}.", arrays) for number, part in enumerate(parts)]
    if _PIPELINE in header:
        model = pipeline_from_json(header[_PIPELINE], built)
    elif _SHELL in arrays:
        from skauc.persistence.foreign import put_together

        version = manifest["versions"].get("scikit-learn")
        model = put_together(arrays[_SHELL], built, version)
    else:
        require(len(built) == 1 and is_own(built[0]), "its parts are")
        model = built[0]
    final_estimator(model)
    return model


def _decode_part(part: Any, prefix: str, arrays: Arrays) -> Any:
    require(isinstance(part, dict) and len(part) == 1, "its parts are")
    try:
        if "estimator" in part:
            return decode_estimator(part["estimator"], prefix, arrays)
        if "step" in part:
            return decode_step(part["step"], arrays)
        return decode(part["value"], arrays)
    except ArchiveError:
        raise
    except Exception as error:  # values of unexpected types fail in many ways
        raise ArchiveError(f"a part of it cannot be built ({brief_error(error)})") from error


def check_savable(estimator: Any) -> None:
    """Raise a `ModelFileError` if a model cannot be saved once it is fitted.

    Call it before a long training. It finds what `save_model` would refuse: kernels and
    transformations that are functions of your own, and steps of other libraries.

    Parameters
    ----------
    estimator : estimator
        An estimator of skauc, or a scikit-learn pipeline or wrapper around one. It need not be
        fitted.
    """
    from skauc.persistence.savable import check_unfitted

    try:
        check_unfitted(estimator)
    except ArchiveError as error:
        raise ModelFileError(f"The model cannot be stored: {error}. {_ADVICE}") from error
