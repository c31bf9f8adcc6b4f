"""The paper's fourteen data sets: found or downloaded, and checked."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
from sklearn.datasets import get_data_home
from sklearn.utils import Bunch

from reproduction.catalogue import CATALOGUE, DATASET_NAMES, DatasetInfo, checksum_of
from reproduction.fetch import fetch
from skauc.exceptions import InvalidDataError
from skauc.validation import check_choice

FOLDER_VARIABLE = "SKAUC_DATA"


def load_dataset(name: str, *, download: bool = True) -> Bunch:
    """Load one of the paper's data sets.

    The function looks in the folder named by the environment variable `SKAUC_DATA`, then in the
    folder ``skauc`` of scikit-learn's data home (`sklearn.datasets.get_data_home`). Otherwise it
    downloads the source into the latter. Rows and values are those of the source: nothing is
    scaled, shuffled or imputed. The SHA-256 of the arrays is always checked.

    Parameters
    ----------
    name : str
        One of :data:`DATASET_NAMES`; see `CATALOGUE` for descriptions.
    download : bool, default=True
        Whether to download a data set that is in neither folder.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With attributes

        name : str
            Name of the data set.
        X_train, X_test : ndarray of shape (n_samples, n_features), float64
            The features; `X_test` is None for a data set without an official test file.
        y_train, y_test : ndarray of shape (n_samples,), int
            +1 for the minority class and -1 for the rest; `y_test` is None where `X_test` is.

    Notes
    -----
    The test part of poker is the first 99,999 of the official 1,000,000 rows. The paper does not
    name the positive class of segment; it is CEMENT here.

    References
    ----------
    The UCI Machine Learning Repository and the LIBSVM data collection.

    Examples
    --------
    >>> from reproduction.catalogue import DATASET_NAMES
    >>> from reproduction.data_sets import load_dataset
    >>> "sonar" in DATASET_NAMES
    True
    >>> sonar = load_dataset("sonar")  # doctest: +SKIP
    >>> sonar.X_train.shape  # doctest: +SKIP
    (208, 60)
    """
    check_choice("name", name, DATASET_NAMES)
    return find_or_fetch(CATALOGUE[name], download=download)


def find_or_fetch(info: DatasetInfo, *, download: bool = True) -> Bunch:
    """Return the data set from the first folder that has it, or download it."""
    cache = Path(get_data_home()) / "skauc"
    folders = [*_named_folder(), cache]
    for folder in folders:
        path = folder / f"{info.name}.npz"
        if path.is_file():
            return _read_checked(path, info)
    if not download:
        raise FileNotFoundError(_not_found(info, folders, "Downloading is switched off."))
    try:
        return _read_checked(fetch(info, cache), info)
    except ConnectionError as error:
        raise FileNotFoundError(_not_found(info, folders, f"{error}.")) from error


def _named_folder() -> list[Path]:
    folder = os.environ.get(FOLDER_VARIABLE)
    return [Path(folder).expanduser()] if folder else []


def _not_found(info: DatasetInfo, folders: list[Path], why: str) -> str:
    return (
        f"There is no file {info.name}.npz in {' or '.join(map(str, folders))}. {why} Set "
        f"{FOLDER_VARIABLE} to a folder that holds {info.name}.npz, or run this where the network "
        f"reaches {info.train_urls[0]} and copy {folders[-1]} from there."
    )


def _read_checked(path: Path, info: DatasetInfo) -> Bunch:
    try:
        content = io.BytesIO(path.read_bytes())  # NumPy does not close a damaged file
        with np.load(content, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidDataError(
            f"{path} is not a whole NumPy archive: {error}. It is not used. Replace or delete it."
        ) from error
    found = checksum_of(arrays)
    if found != info.checksum:
        raise InvalidDataError(
            f"The SHA-256 of the arrays in {path} must be {info.checksum}; got {found}. The file "
            "is damaged or another version, and is not used. Replace or delete it."
        )
    X_test, y_test = arrays.get("X_test"), arrays.get("y_test")
    return Bunch(
        name=info.name,
        X_train=arrays["X_train"].astype(np.float64),
        y_train=arrays["y_train"].astype(int),
        X_test=None if X_test is None else X_test.astype(np.float64),
        y_test=None if y_test is None else y_test.astype(int),
    )
