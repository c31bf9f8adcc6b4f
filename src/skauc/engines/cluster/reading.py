"""Validate training data for the cluster engine, and divide it into blocks of rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.sizeof import sizeof
from dask.utils import format_bytes
from distributed import Future
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names, _check_n_features

from skauc.data.training import TrainingData, check_training, warn_of_rare_negatives
from skauc.engines.cluster.data import ClusterData
from skauc.engines.cluster.pool import Pool, find_pool
from skauc.exceptions import InvalidDataError
from skauc.validation import (
    FLOAT_DTYPES,
    check_number_of_classes,
    check_pair_weight,
    native,
    tidy,
    unique_labels,
)

# Blocks per thread of the cluster. With more than one, the blocks of a worker that dies are spread
# over several others.
BLOCKS_PER_THREAD = 2
# Prefix of the names of the columns that hold labels and weights in a joined dataframe.
_PREFIX = "skauc: "


@dataclass(frozen=True, eq=False)
class Partition:
    """The validated rows, labels and weights of one partition."""

    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    weights: np.ndarray


@sizeof.register(Partition)
def _size_of_part(part: Partition) -> int:
    return sizeof(part.X) + sizeof(part.y) + sizeof(part.weights)


@dataclass(frozen=True)
class Summary:
    """What the client knows about a partition."""

    n_rows: int
    n_counting: int
    dtype: np.dtype
    is_sparse: bool
    labels: np.ndarray
    label_counts: np.ndarray
    label_weights: np.ndarray
    lowest_weight: float


def read_for_cluster(estimator, X, y, sample_weight=None) -> ClusterData:
    """Validate the arguments of ``fit`` and distribute the rows over the cluster in blocks."""
    pool = find_pool()
    if not dask.is_dask_collection(X):
        return _spread(pool, estimator, X, y, sample_weight)
    columns = _check_columns(estimator, X)
    partitions = _partitions(X, y, sample_weight)
    numbers = range(len(partitions[0]))
    parts = pool.start(pool.each("read", _read, numbers, *partitions, columns=columns))
    summaries = pool.fetch_all(pool.each("summary", _summarise, parts))
    classes = _check_summaries(summaries)
    return _join(pool, parts, summaries, classes, len(columns))


# -- columns and partitions ------------------------------------------------------------------


def _check_columns(estimator, X) -> list:
    """Run the checks that need no rows. Return the names or numbers of the columns."""
    if X.ndim != 2:
        raise InvalidDataError(
            f"`X` must have two dimensions; got a dask collection with {X.ndim}. Use "
            "X.reshape(-1, 1) for a single feature."
        )
    if hasattr(X, "columns"):
        words = [
            f"{name!r} ({dtype})"
            for name, dtype in X.dtypes.items()
            if not (hasattr(dtype, "kind") and dtype.kind in "biuf")
        ]
        if words:
            raise InvalidDataError(
                f"`X` must have numeric columns; got {', '.join(words)}. Convert them to numbers, "
                "for example with one-hot encoding, or drop them."
            )
        _check_n_features(estimator, X._meta, reset=True)
        _check_feature_names(estimator, X._meta, reset=True)
        return list(X.columns)
    if X.dtype.kind not in "biuf":
        raise InvalidDataError(
            f"`X` must be numeric; got a dask array of type {X.dtype}. Use X.astype(float) if the "
            "values are numbers."
        )
    if not isinstance(X.shape[1], int):
        raise InvalidDataError(
            "`X` must have a known number of columns; got a dask array of shape "
            f"{X.shape}. Call X.compute_chunk_sizes() first."
        )
    empty = np.empty((0, X.shape[1]))
    _check_n_features(estimator, empty, reset=True)
    _check_feature_names(estimator, empty, reset=True)
    return list(range(X.shape[1]))


def _partitions(X, y, sample_weight) -> list[list]:
    """Return the partitions of rows, labels and weights. They match row by row."""
    if hasattr(X, "columns"):
        joined, names = _join_frames(X, y, sample_weight)
        rows = joined.to_delayed()
        return [rows, *([name] * len(rows) for name in names)]
    rows = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    partitions = [np.ravel(rows.to_delayed()).tolist()]
    for name, column in (("y", y), ("sample_weight", sample_weight)):
        if column is None and name == "sample_weight":
            partitions.append([None] * len(partitions[0]))
            continue
        found = _as_column(name, column, X).to_delayed()
        found = np.ravel(found).tolist()
        if len(found) != len(partitions[0]):
            raise InvalidDataError(
                f"`{name}` must have the same partitions as `X`; got {len(found)} and "
                f"{len(partitions[0])}. Repartition one to match the other."
            )
        partitions.append(found)
    return partitions


def _join_frames(X, y, sample_weight):
    """Return one dataframe with rows, labels and weights, and the names of the last two columns.

    If dask read them separately from the same files, it might divide the files differently.
    """
    names: list[str | None] = []
    for name, column in (("y", y), ("sample_weight", sample_weight)):
        if column is None and name == "sample_weight":
            names.append(None)
            continue
        if isinstance(column, dd.DataFrame) and len(column.columns) == 1:
            column = column[column.columns[0]]
        # An array has no index to compare with the index of the rows.
        has_index = isinstance(column, dd.Series)
        if isinstance(column, da.Array) and column.ndim == 1:
            column = dd.from_dask_array(column)
        if not isinstance(column, dd.Series):
            raise InvalidDataError(
                f"`{name}` must be a dask series or array with the same partitions as `X`; got "
                f"{type(column).__name__}. Read both from the same dask dataframe."
            )
        if column.npartitions != X.npartitions:
            raise InvalidDataError(
                f"`{name}` must have the same partitions as `X`; got {column.npartitions} and "
                f"{X.npartitions}. Repartition one to match the other."
            )
        label = f"{_PREFIX}{name}"
        names.append(label)
        X = dd.map_partitions(
            _attach,
            X,
            column,
            label,
            has_index,
            meta=X._meta.assign(**{label: column._meta.to_numpy()}),
            align_dataframes=False,
            enforce_metadata=False,
        )
    return X, names


def _as_column(name: str, column, X):
    """Return a one-dimensional dask collection, with the chunks of ``X`` if they are known."""
    if not dask.is_dask_collection(column):
        column = np.asarray(column)
        if column.ndim != 1 or np.isnan(X.shape[0]):
            raise InvalidDataError(
                f"`{name}` must be a dask array or series with the same partitions as `X`; got "
                f"{type(column).__name__} of shape {column.shape}. Read both from the same dask "
                "collection."
            )
        if len(column) != X.shape[0]:
            raise InvalidDataError(
                f"`{name}` must be as long as `X`; got {len(column)} and {X.shape[0]}."
            )
        column = da.from_array(column, chunks=(X.chunks[0],))
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[column.columns[0]] if hasattr(column, "columns") else column[:, 0]
    if column.ndim != 1:
        raise InvalidDataError(
            f"`{name}` must have one dimension; got a dask collection with {column.ndim}. Pass "
            "a single column."
        )
    is_known = all(hasattr(part, "chunks") and not np.isnan(part.shape[0]) for part in (X, column))
    if is_known and column.shape[0] != X.shape[0]:
        raise InvalidDataError(
            f"`{name}` must be as long as `X`; got {column.shape[0]} and {X.shape[0]}."
        )
    return column.rechunk((X.chunks[0],)) if is_known else column


# -- on the workers --------------------------------------------------------------------------


def _attach(X, column, name: str, has_index: bool):
    """Return the dataframe with an additional column."""
    what = name.removeprefix(_PREFIX)
    if len(X) != len(column):
        raise InvalidDataError(
            f"`{what}` has {len(column)} rows and `X` has {len(X)} in one partition. Pass one "
            "value per row."
        )
    if has_index and not X.index.equals(column.index):
        raise InvalidDataError(
            f"`{what}` must have the same index as `X`. Take both from the same dask dataframe."
        )
    return X.assign(**{name: column.to_numpy()})


def _read(number: int, X, y, weights, *, columns: list) -> Partition:
    """Validate one partition. Errors name the partition."""
    try:
        return _read_part(X, y, weights, columns)
    except ValueError as error:
        raise InvalidDataError(f"Partition {number}: {error}") from error


def _read_part(X, y, weights, columns: list) -> Partition:
    if hasattr(X, "columns"):
        y, weights = X[y], None if weights is None else X[weights]
        X = X[[name for name in X.columns if not str(name).startswith(_PREFIX)]]
    if hasattr(X, "columns") and list(X.columns) != columns:
        raise ValueError(
            f"`X` has the columns {list(X.columns)}; expected {columns}. Give all "
            "partitions the same columns."
        )
    if X.shape[1] != len(columns):
        raise ValueError(
            f"`X` has {X.shape[1]} columns; expected {len(columns)}. Give all partitions the same "
            "columns."
        )
    rows = check_array(
        X,
        accept_sparse="csr",
        dtype=list(FLOAT_DTYPES),
        order="C",
        ensure_min_samples=0,
        input_name="X",
    )
    labels = np.asarray(y)
    labels = labels.ravel() if labels.shape[1:] == (1,) else labels
    counts = np.ones(len(labels)) if weights is None else np.asarray(weights, dtype=np.float64)
    for name, column in (("y", labels), ("sample_weight", counts)):
        if len(column) != rows.shape[0]:
            raise ValueError(
                f"`{name}` has {len(column)} rows and `X` has {rows.shape[0]}. Pass one value per "
                "row."
            )
    if len(labels):
        unique_labels("y", labels)
        check_classification_targets(labels)
    if not np.isfinite(counts).all():
        raise ValueError(
            "`sample_weight` must be finite. Remove the rows with NaN or infinite weights."
        )
    return Partition(tidy(rows), native(labels), counts)


def _summarise(part: Partition) -> Summary:
    labels, codes = np.unique(part.y, return_inverse=True)
    return Summary(
        part.X.shape[0],
        int(np.count_nonzero(part.weights)),
        part.X.dtype,
        sparse.issparse(part.X),
        labels,
        np.bincount(codes, minlength=len(labels)),
        np.bincount(codes, part.weights, minlength=len(labels)),
        float(part.weights.min(initial=0.0)),
    )


def _join_parts(
    parts: list[Partition], *, classes: np.ndarray, first: tuple, dtype
) -> TrainingData:
    stack = sparse.vstack if sparse.issparse(parts[0].X) else np.concatenate
    X = parts[0].X if len(parts) == 1 else stack([part.X for part in parts])
    labels = np.concatenate([part.y for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    return TrainingData(
        X.astype(dtype, copy=False), labels == classes[1], weights, classes, first=first
    )


# -- on the client ---------------------------------------------------------------------------


def _check_summaries(summaries: list[Summary]) -> np.ndarray:
    """Run the checks that need all partitions. Return the two classes."""
    full = [summary for summary in summaries if summary.n_rows]
    if not full:
        raise InvalidDataError(
            f"`X` has no rows in any of its {len(summaries)} partitions. Pass some rows."
        )
    classes, codes = unique_labels("y", np.concatenate([summary.labels for summary in full]))
    check_number_of_classes(classes, classes)
    for number, summary in enumerate(summaries):
        if summary.lowest_weight < 0:
            raise InvalidDataError(
                f"`sample_weight` must not be negative; got {summary.lowest_weight} in partition "
                f"{number}. Use weight 0 to ignore a row."
            )
    weights = np.concatenate([summary.label_weights for summary in full])
    negative, positive = (weights[codes == code] for code in (0, 1))
    for label, of_class in zip(classes.tolist(), (negative, positive), strict=True):
        if not of_class.any():
            raise InvalidDataError(
                f"`sample_weight` is 0 in every row of class {label!r}. "
                "Give at least one row of each class a positive weight."
            )
    check_pair_weight(float(negative.sum()), float(positive.sum()))
    counts = np.concatenate([summary.label_counts for summary in full])
    warn_of_rare_negatives(classes, np.array([counts[codes == code].sum() for code in (0, 1)]))
    return classes


def _join(
    pool: Pool, parts: list[Future], summaries: list[Summary], classes, n_features: int
) -> ClusterData:
    """Join consecutive partitions into blocks. Empty partitions are ignored."""
    full = [number for number, summary in enumerate(summaries) if summary.n_rows]
    n_blocks = min(len(full), BLOCKS_PER_THREAD * sum(pool.client.nthreads().values()))
    groups = [group.tolist() for group in np.array_split(full, n_blocks)]
    counts = np.array([(summaries[i].n_rows, summaries[i].n_counting) for i in full])
    ends = np.cumsum(counts, axis=0)
    starts = dict(zip(full, (ends - counts).tolist(), strict=True))
    dtype = np.result_type(*(summaries[i].dtype for i in full))
    tasks = [
        pool.one(
            "join",
            _join_parts,
            [parts[i] for i in group],
            classes=classes,
            first=tuple(starts[group[0]]),
            dtype=dtype,
        )
        for group in groups
    ]
    return ClusterData(
        pool,
        pool.start(tasks),
        tuple(sum(summaries[i].n_rows for i in group) for group in groups),
        n_features,
        classes,
        any(summaries[i].is_sparse for i in full),
    )


def _spread(pool: Pool, estimator, X, y, sample_weight) -> ClusterData:
    """Send data in the memory of the client to the workers, and warn about it."""
    data = check_training(estimator, X, y, sample_weight)
    warnings.warn(
        f"engine='cluster' got {format_bytes(sizeof(data.X))} in the client's memory and sends "
        "them to the workers. Let the workers read the data, for example with "
        "dask.dataframe.read_parquet, or use engine='cpu'.",
        stacklevel=5,
    )
    n_blocks = min(data.n_rows, BLOCKS_PER_THREAD * sum(pool.client.nthreads().values()))
    ends = np.linspace(0, data.n_rows, n_blocks + 1).astype(int).tolist()
    n_counting = np.concatenate(([0], np.cumsum(data.weights > 0)))
    parts = [
        TrainingData(
            data.X[start:stop],
            data.positive[start:stop],
            data.weights[start:stop],
            data.classes,
            first=(start, int(n_counting[start])),
        )
        for start, stop in pairwise(ends)
    ]
    with warnings.catch_warnings():
        # The warning above replaces dask's warning about the size.
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        blocks = pool.start([pool.value("rows", part) for part in parts])
    sizes = tuple(part.n_rows for part in parts)
    return ClusterData(pool, blocks, sizes, data.n_features, data.classes, data.is_sparse)
