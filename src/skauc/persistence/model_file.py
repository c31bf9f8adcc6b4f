"""Model files: one file, written atomically, that holds a fitted model and no code."""

from __future__ import annotations

import copy
import json
import os
from importlib import metadata
from pathlib import Path
from uuid import uuid4

import sklearn
from sklearn.utils.validation import check_is_fitted

import skauc
from skauc.exceptions import InvalidParameterError, ModelFileError
from skauc.persistence.archive import MANIFEST, pack, read_body, unpack
from skauc.persistence.payload import dump_payload, load_payload
from skauc.persistence.state import to_plain
from skauc.persistence.summary import columns_of, final_estimator, summary_of

FORMAT_VERSION = 1
# Building a model takes several times its size; this keeps a hostile file below 200 MB.
MAX_BYTES = 1 << 24
_MANIFEST_KEYS = {"format_version", "versions", "estimator", "columns", "training", "summary"}
# How the members of each format version are read. A version that was released stays here.
READERS = {1: unpack}


def save_model(model, path, *, summary=None, history=False, overwrite=False) -> Path:
    """Write a fitted model to a file that is safe to load.

    The file holds names, parameters and arrays, never code. It is written to a temporary file
    beside it first, so that there is either a whole file in the end or none.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skauc, or a scikit-learn pipeline or wrapper (such as
        `CalibratedClassifierCV` or `TunedThresholdClassifierCV`) around one.
    path : str or path-like
        The file to write; ``.skauc`` is the usual ending.
    summary : dict, default=None
        What else to keep about the training, as JSON can hold it. `inspect_model` returns it.
    history : bool, default=False
        Also store the smaller models of the path, for ``staged_decision_function`` and
        ``truncate``, and the scores of a cross-validation. They do not change the predictions.
    overwrite : bool, default=False
        Replace a file that exists.

    Returns
    -------
    path : pathlib.Path
        The file.

    See Also
    --------
    load_model : Read it back.
    inspect_model : Read what it says about itself.

    Notes
    -----
    Parameters of ours that are objects, such as a ``RandomState``, are stored as their defaults.
    An online learner is stored with its buffers, counters and random numbers: once loaded, its
    ``partial_fit`` goes on as that of the original would.

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
            f"{path} exists already. Choose another name, or overwrite it with overwrite=True."
        )
    manifest = _manifest(model, summary)
    members = dump_payload(to_plain(model, history=history))
    size = sum(map(len, members.values()))
    try:
        _build(members, max(size, MAX_BYTES))
    except ModelFileError as error:
        raise ModelFileError(
            f"The model cannot be stored: {error}. Use steps from scikit-learn or skauc."
        ) from error
    _write(path, pack(FORMAT_VERSION, {MANIFEST: manifest, **members}))
    return path


def load_model(path, *, max_bytes=MAX_BYTES):
    """Read a model that `save_model` has written, in this version or an earlier one.

    The file is parsed, audited, and built only then. Nothing in it is run. A file that is damaged,
    foreign or hostile raises a `ModelFileError`.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int, default=16777216
        Largest model to load, in bytes before compression.

    Returns
    -------
    model : estimator
        The fitted model; its scores are those of the model that was saved, to the last bit.

    Warns
    -----
    sklearn.exceptions.InconsistentVersionWarning
        Where steps of scikit-learn's were saved with another version of it.

    See Also
    --------
    save_model : Write it.
    """
    path = Path(path)
    members = _members(path, max_bytes)
    _read_manifest(path, members.pop(MANIFEST, b""))
    try:
        return _build(members, max_bytes)
    except ModelFileError as error:
        raise ModelFileError(
            f"{path} is not a model that can be trusted: {error}. Get it from its author again."
        ) from error


def inspect_model(path, *, max_bytes=MAX_BYTES) -> dict:
    """Return what a model file says about itself, without building the model.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int, default=16777216
        Largest file to read, in bytes.

    Returns
    -------
    manifest : dict
        ``format_version``, ``versions`` of the libraries, ``estimator``, ``columns`` (names and
        kinds), ``training`` (what the estimator knows) and ``summary`` (what was passed to
        `save_model`).
    """
    path = Path(path)
    return _read_manifest(path, _members(path, max_bytes).get(MANIFEST, b""))


def _members(path: Path, max_bytes: int) -> dict[str, bytes]:
    version, body = read_body(path, max_bytes)
    if version not in READERS:
        raise ModelFileError(
            f"{path} is of format {version}; skauc {skauc.__version__} reads up to "
            f"{FORMAT_VERSION}. Install the version of skauc that wrote it, or a later one."
        )
    return READERS[version](path, body, max_bytes)


def _read_manifest(path: Path, content: bytes) -> dict:
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} has no sound manifest. Save the model again.") from error
    if not isinstance(manifest, dict) or not _MANIFEST_KEYS.issubset(manifest):
        raise ModelFileError(f"{path} has a manifest that lacks entries. Save the model again.")
    return manifest


def _build(members: dict[str, bytes], max_bytes: int):
    """Build the model; plain values become estimators as the tree is copied."""
    tree = load_payload(members, max_bytes)
    try:
        model = copy.deepcopy(tree)
        final_estimator(model)
    except ModelFileError:
        raise
    except Exception as error:  # plain values of the wrong kind fail in any way
        raise ModelFileError(f"{type(error).__name__}: {str(error)[:200]}") from error
    return model


def _manifest(model, summary) -> bytes:
    manifest = {
        "format": "skauc model",
        "format_version": FORMAT_VERSION,
        "versions": {
            "skauc": skauc.__version__,
            "scikit-learn": sklearn.__version__,
            "skops": _version("skops"),
        },
        "estimator": type(model).__name__,
        "columns": columns_of(model),
        "training": summary_of(model),
        "summary": {} if summary is None else summary,
    }
    try:
        return json.dumps(manifest, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"`summary` must be a dictionary that JSON can hold; {error}. Use words, finite "
            "numbers, lists and dictionaries."
        ) from error


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _write(path: Path, content: bytes) -> None:
    """Write all of the file or nothing."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        try:
            with open(temporary, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be written: {error.strerror}. Choose another place."
        ) from error
