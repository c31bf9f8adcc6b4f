"""Download the source files of a data set, convert and check them."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from reproduction.catalogue import DatasetInfo, Layout, checksum_of
from skauc.exceptions import InvalidDataError, MissingPackageError

TIMEOUT_SECONDS = 60.0


def fetch(info: DatasetInfo, folder: Path) -> Path:
    """Download the source files, write ``folder/<name>.npz`` and return its path.

    The file is written only if the converted arrays have the catalogue's checksum.
    """
    arrays = _convert(info)
    found = checksum_of(arrays)
    if found != info.checksum:
        raise InvalidDataError(
            f"What {', '.join(info.train_urls + info.test_urls)} gave is not the data set "
            f"{info.name!r}: the SHA-256 of its arrays must be {info.checksum}; got {found}. "
            "The source has changed or the download is damaged, so it was discarded. Try again, or "
            f"put the archive {info.name}.npz into the folder named by SKAUC_DATA."
        )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{info.name}.npz"
    _write_whole(path, arrays)
    return path


def _write_whole(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write an archive atomically: readers see the whole file or none."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _convert(info: DatasetInfo) -> dict[str, np.ndarray]:
    X, labels = _read_all(info, info.train_urls)
    positive = info.positive if info.positive is not None else _rarer(labels)
    arrays = {"X_train": X, "y_train": _signs(labels, positive)}
    if info.test_urls:
        X, labels = _read_all(info, info.test_urls)
        # Drop rows beyond those of the stored archives.
        X, labels = X[: info.n_test], labels[: info.n_test]
        arrays |= {"X_test": X, "y_test": _signs(labels, positive)}
    return arrays


def _read_all(info: DatasetInfo, urls: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    parts = [_parse(info, url, download(url)) for url in urls]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def download(url: str) -> bytes:
    """Return the content of a URL, decompressed if its name ends in ``.bz2``."""
    try:
        import pooch
    except ImportError as error:
        raise MissingPackageError(
            f"Downloading {url} needs pooch, which cannot be imported ({error}). Install it with "
            "pip install pooch, or set SKAUC_DATA to a folder that holds the data sets."
        ) from error
    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS)
    processor = pooch.Decompress(method="bzip2") if url.endswith(".bz2") else None
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = pooch.retrieve(
                url, known_hash=None, path=folder, downloader=downloader, processor=processor
            )
            return Path(path).read_bytes()
        except (OSError, EOFError, ValueError) as error:
            raise ConnectionError(f"{url} could not be downloaded: {error}") from error


def _parse(info: DatasetInfo, url: str, content: bytes) -> tuple[np.ndarray, np.ndarray]:
    read = _parse_libsvm if info.layout.is_libsvm else _parse_rows
    try:
        return read(content, info.layout, info.n_features)
    except ValueError as error:
        raise InvalidDataError(
            f"{url} does not look like the source of {info.name!r}: {error}. The download was "
            f"discarded. Try again, or put the archive {info.name}.npz into the folder named by "
            "SKAUC_DATA."
        ) from error


def _parse_libsvm(content: bytes, layout: Layout, n_features: int):
    X, labels = load_svmlight_file(io.BytesIO(content), n_features=n_features, zero_based=False)
    return X.toarray(), labels.astype(int).astype(str)


def _parse_rows(content: bytes, layout: Layout, n_features: int):
    lines = content.decode("utf-8").splitlines()[layout.header :]
    rows = [line.split(layout.delimiter) for line in lines if line.strip()]
    width = n_features + 1 + len(layout.dropped)
    if {len(row) for row in rows} != {width}:
        raise ValueError(f"it must have rows of {width} values")
    labels = np.array([row[layout.label].strip() for row in rows])
    outside = {layout.label % width, *layout.dropped}
    features = [
        [value for column, value in enumerate(row) if column not in outside] for row in rows
    ]
    return np.array(features, dtype=np.float64), labels


def _rarer(labels: np.ndarray) -> str:
    values, counts = np.unique(labels, return_counts=True)
    return values[np.argmin(counts)]


def _signs(labels: np.ndarray, positive: str) -> np.ndarray:
    return np.where(labels == positive, 1, -1).astype(np.int8)
