"""The fourteen data sets of the paper's experiments, read from a folder and checked."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from skauc.exceptions import InvalidDataError
from skauc.validation import check_choice

FOLDER_VARIABLE = "SKAUC_DATA"

# The SHA-256 of each archive: results are only comparable on the same numbers.
_CHECKSUMS = {
    "sonar": "dc2b14fde4c171410325a651853c2e201ea329bd9582f2651ebf9d71b9b70be4",
    "glass": "e115a4d5fddbdd23291a99ba0101de0916b884346a54fe884aa76ea340a67a0f",
    "ionosphere": "13ba4686e9613d9a1be22976346b8e0ddf2a0e0162103c8bc889bb3293cd480e",
    "balance": "786d1f3406289423d22e0ff1033524beeaec300bd34151163756082fe46adf31",
    "australian": "e365dbd66c8890df663852e66cbcc02d8d79f74e6f87b2ab97848bbe59b9bb94",
    "vehicle": "ebed7039dd569da360f670e0d944f2ebd1419066b224f1e89146e9b342802db1",
    "fourclass": "4d063f8121c03b2bb053936ad4d8ab7befe8489a2c4f00e83ad4235447d5a9ac",
    "svmguide3": "b2386474b10853ce2db96067b91e95afe8c0c5659639c7a2a4c7fee241f82ce4",
    "a2a": "390b5897e98432d5bb6e08fdd3cc2d5cabbd8846f029210879c7c3fddc644710",
    "magic04": "1c98af88d29aec965ce90490d5b486d4517d2d27c7f3b0910f6313570a9932e8",
    "segment": "5fcabb45e0679e8f37ec17bfea3d090a356139a1ebabd535ddb776770dcda570",
    "satimage": "0e5de18fb10f2adff8aeaae8502d9ebfa9efde0fe229543c0a1b31eeccd3b29a",
    "ijcnn1": "8a5eed24b4dec2439e95282996424d0f4a1f5f0105c3787b2dae5987dc8d9156",
    "poker": "dd446a98ac955a8dd2b9d139e23c6e897effce26a8cbd60cc635a36ad19e139f",
}

DATASET_NAMES = tuple(_CHECKSUMS)


def load_dataset(name: str) -> Bunch:
    """Load one of the paper's data sets from the folder named by `SKAUC_DATA`.

    Rows are in the order of the source, features are the source's numbers: nothing is scaled,
    shuffled or imputed. The archive's SHA-256 is checked.

    Parameters
    ----------
    name : str
        One of :data:`DATASET_NAMES`.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With attributes

        name : str
            The name asked for.
        X_train, X_test : ndarray of shape (n_samples, n_features), float64
            The features; `X_test` is None for a data set without an official test file.
        y_train, y_test : ndarray of shape (n_samples,), int
            +1 for the minority class and -1 for the rest; `y_test` is None where `X_test` is.

    Notes
    -----
    The test part of poker is the first 99,999 of the official 1,000,000 rows. The paper does not
    say which class of segment is the positive one; it is CEMENT here.

    References
    ----------
    The UCI Machine Learning Repository and the LIBSVM data collection.

    Examples
    --------
    >>> from skauc.datasets import DATASET_NAMES, load_dataset
    >>> "sonar" in DATASET_NAMES
    True
    >>> sonar = load_dataset("sonar")  # doctest: +SKIP
    >>> sonar.X_train.shape  # doctest: +SKIP
    (208, 60)
    """
    check_choice("name", name, DATASET_NAMES)
    content = _read_checked(_folder() / f"{name}.npz", _CHECKSUMS[name])
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Bunch(
            name=name,
            X_train=arrays["X_train"].astype(np.float64),
            y_train=arrays["y_train"].astype(int),
            X_test=arrays["X_test"].astype(np.float64) if "X_test" in arrays else None,
            y_test=arrays["y_test"].astype(int) if "y_test" in arrays else None,
        )


def _folder() -> Path:
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        raise FileNotFoundError(
            f"The environment variable {FOLDER_VARIABLE} is not set. "
            "Set it to the folder that holds the data sets, one .npz file each."
        )
    return Path(folder).expanduser()


def _read_checked(path: Path, checksum: str) -> bytes:
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {path}. Copy {path.name} there, or set {FOLDER_VARIABLE} to the "
            "folder that holds it."
        )
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != checksum:
        raise InvalidDataError(
            f"The SHA-256 of {path} must be {checksum}; got {found}. "
            "The file is damaged or another version: replace it with the published one."
        )
    return content
