"""Streams larger than memory: chunks of rows from a file or an array, and their running AUC."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from skauc.exceptions import InvalidDataError, InvalidParameterError, MissingPackageError
from skauc.metrics.area import weighted_auc
from skauc.validation import check_integer

# Number of leading bits of a float32 score that define its bin: the sign, the exponent and nine
# bits of the mantissa. Scores in one bin differ by less than one part in 512.
_BIN_BITS = 18


@dataclass(frozen=True)
class StreamRecord:
    """The state of a stream after one more chunk.

    Attributes
    ----------
    n_rows : int
        Number of rows so far, including this chunk.
    n_scored : int
        Number of rows that were scored before the model learnt them.
    chunk_auc : float or None
        AUC of the rows of this chunk, scored before the model learnt them. None if a class is
        missing, or if the model was not fitted yet.
    auc : float or None
        AUC of all rows scored so far, or of the latest ``window`` rows.
    auc_error : float
        The exact AUC is within ``auc_error`` of ``auc``. It is 0 with a window.
    seconds : float
        Time since the start, including reading.
    """

    n_rows: int
    n_scored: int
    chunk_auc: float | None
    auc: float | None
    auc_error: float
    seconds: float


def prequential_auc(
    model, chunks: Iterable, *, classes=None, window: int | None = None
) -> Iterator[StreamRecord]:
    """Score each chunk, then learn from it, and yield the running AUC.

    Every row is scored by a model that has not seen it. Memory does not grow with the stream. The
    AUC over all rows compares scores of early and late models. While the model and the scale of its
    scores still change, the AUC over a window is more informative.

    Parameters
    ----------
    model : estimator
        Any estimator with ``partial_fit`` and ``decision_function``, such as an online learner. It
        is changed in place. If it is already fitted, the first chunk is scored as well.
    chunks : iterable of (X, y)
        Rows and labels, for instance from `csv_chunks` or `array_chunks`.
    classes : array-like of shape (2,), default=None
        Both labels. The label that sorts last is positive. None takes the labels of the fitted
        model, or of the first chunk, which must then contain both.
    window : int or None, default=None
        If given, ``auc`` is the exact AUC of this many latest rows. Otherwise it is the AUC of all
        rows, computed from counts of scores in 262,144 bins (four megabytes). ``auc_error`` bounds
        the error of the bins, which is usually much less than 0.001.

    Yields
    ------
    record : StreamRecord
        One record per chunk.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from skauc.online import AdaOAM, array_chunks, prequential_auc
    >>> X, y = make_classification(1000, random_state=0)
    >>> for record in prequential_auc(AdaOAM(), array_chunks(X, y, 250)):
    ...     print(record.n_rows, record.n_scored, record.auc is not None and record.auc > 0.9)
    250 0 False
    500 250 True
    750 500 True
    1000 750 True
    """
    if window is not None:
        check_integer("window", window, 2, "None uses all rows.")
    running = BinnedAUC() if window is None else WindowAUC(window)
    classes = _known_classes(model, classes)
    started, n_rows, n_scored = time.perf_counter(), 0, 0
    for X, y in chunks:
        y = column_or_1d(y)
        classes = _classes_of(y) if classes is None else classes
        chunk_auc = None
        if _is_fitted(model):
            scores, positive = np.asarray(model.decision_function(X)), y == classes[1]
            running.add(scores, positive)
            chunk_auc = _auc_or_none(scores, positive)
            n_scored += len(y)
        model.partial_fit(X, y, classes=classes)
        n_rows += len(y)
        auc, error = running.value()
        seconds = time.perf_counter() - started
        yield StreamRecord(n_rows, n_scored, chunk_auc, auc, error, seconds)


def _known_classes(model, classes) -> np.ndarray | None:
    if classes is None:
        return getattr(model, "classes_", None)
    labels = np.unique(np.asarray(classes))
    if len(labels) != 2:
        raise InvalidParameterError(
            f"`classes` must hold two different labels; got {np.asarray(classes).tolist()}. "
            "Pass both labels, for instance classes=[0, 1]."
        )
    return labels


def _classes_of(y) -> np.ndarray:
    classes = np.unique(y)
    if len(classes) != 2:
        raise InvalidDataError(
            f"The first chunk must contain both classes; got the labels {classes.tolist()}. Pass "
            "both labels, for instance classes=[0, 1]."
        )
    return classes


def _is_fitted(model) -> bool:
    try:
        check_is_fitted(model)
    except ValueError:  # NotFittedError is one
        return False
    return True


def _auc_or_none(scores, positive) -> float | None:
    if positive.all() or not positive.any():
        return None
    return weighted_auc(scores, positive, np.ones(len(scores)))


class WindowAUC:
    """The exact AUC of the latest scores."""

    def __init__(self, size: int):
        self.size = size
        self.scores = np.empty(0)
        self.positive = np.empty(0, bool)

    def add(self, scores: np.ndarray, positive: np.ndarray) -> None:
        """Add scores and drop the oldest."""
        self.scores = np.append(self.scores, scores)[-self.size :]
        self.positive = np.append(self.positive, positive)[-self.size :]

    def value(self) -> tuple[float | None, float]:
        """Return the AUC, or None if a class is missing, and its error."""
        return _auc_or_none(self.scores, self.positive), 0.0


class BinnedAUC:
    """The AUC of any number of scores, from counts in bins of equal relative width.

    The bin of a score is given by the leading bits of its float32 value, which sort like the score.
    A pair within a bin counts one half, so its error is at most one half.
    """

    def __init__(self):
        self.counts = np.zeros((2, 1 << _BIN_BITS), np.int64)

    def add(self, scores: np.ndarray, positive: np.ndarray) -> None:
        """Add scores to the counts."""
        bins = _bins(scores)
        for k, is_class in enumerate((~positive, positive)):
            np.add.at(self.counts[k], bins[is_class], 1)

    def value(self) -> tuple[float | None, float]:
        """Return the AUC, or None if a class is missing, and a bound of its error."""
        negatives, positives = self.counts.astype(np.float64)
        n_pairs = negatives.sum() * positives.sum()
        if n_pairs == 0:
            return None, 0.0
        below = np.cumsum(negatives) - negatives
        tied = negatives @ positives
        return float((positives @ below + tied / 2) / n_pairs), float(tied / 2 / n_pairs)


def _bins(scores: np.ndarray) -> np.ndarray:
    """Return the bin of each score. Bins sort like scores."""
    largest = np.finfo(np.float32).max
    single = np.clip(scores, -largest, largest).astype(np.float32) + np.float32(0)  # no -0.0
    bits = single.view(np.uint32)
    sign = np.uint32(1 << 31)
    ordered = np.where(bits & sign, ~bits, bits | sign)
    return ordered >> np.uint32(32 - _BIN_BITS)


def array_chunks(X, y, chunk_rows: int = 10_000) -> Iterator[tuple]:
    """Split arrays, which may be memory-mapped, into chunks of rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows, for instance ``numpy.load(path, mmap_mode="r")``.
    y : array-like of shape (n_samples,)
        Labels.
    chunk_rows : int, default=10_000
        Number of rows per chunk. The last chunk may have fewer.

    Yields
    ------
    X, y : the next rows and their labels
    """
    check_integer("chunk_rows", chunk_rows, 1, "10,000 is a good choice.")
    X, y = (part if hasattr(part, "shape") else np.asarray(part) for part in (X, y))
    n_rows = X.shape[0]
    if len(y) != n_rows:
        raise InvalidDataError(f"`X` and `y` must have the same length; got {n_rows} and {len(y)}.")
    for start in range(0, n_rows, chunk_rows):
        yield X[start : start + chunk_rows], y[start : start + chunk_rows]


def csv_chunks(path, target: str, chunk_rows: int = 10_000, **options) -> Iterator[tuple]:
    """Read a CSV file of any size in chunks of rows.

    Parameters
    ----------
    path : str, path or file object
        The file, plain or compressed (.gz, .bz2, .xz, .zst, .zip), with a header line.
    target : str
        The column with the labels. All other columns are features.
    chunk_rows : int, default=10_000
        Number of rows per chunk. The last chunk may have fewer.
    **options
        Other parameters of ``pandas.read_csv``, such as ``sep`` or ``usecols``.

    Yields
    ------
    X, y : DataFrame and Series
        The next rows and their labels.
    """
    check_integer("chunk_rows", chunk_rows, 1, "10,000 is a good choice.")
    with _import_pandas().read_csv(path, chunksize=chunk_rows, **options) as reader:
        for frame in reader:
            if target not in frame:
                raise InvalidDataError(
                    f"`target` must be a column of the file; got {target!r}, and the columns are "
                    f"{', '.join(map(repr, frame.columns))}."
                )
            yield frame.drop(columns=target), frame[target]


def _import_pandas():
    try:
        import pandas
    except ImportError as error:
        raise MissingPackageError(
            "Reading CSV files in chunks needs pandas, which is not installed. "
            "Install it with: pip install 'skauc[stream]'"
        ) from error
    return pandas
