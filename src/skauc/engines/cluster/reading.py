"""Validate training data for the cluster engine, and divide it into blocks of rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise

import dask
import numpy as np
from dask.sizeof import sizeof
from dask.utils import format_bytes
from distributed import Future
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from skauc.data.training import TrainingData, check_training, warn_of_rare_negatives
from skauc.engines.cluster.data import ClusterData
from skauc.engines.cluster.partitions import ATTACHED, check_columns, matching_partitions
from skauc.engines.cluster.pool import Pool, find_pool
from skauc.exceptions import InvalidDataError, warn_user
from skauc.validation import (
    FLOAT_DTYPES,
    check_each_class_counts,
    check_number_of_classes,
    check_pair_weight,
    native,
    tidy,
    unique_labels,
)

# Blocks per thread of the cluster. With more than one, the blocks of a worker that dies are spread
# over several others.
BLOCKS_PER_THREAD = 2


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


def read_for_cluster(estimator, X, y, sample_weight) -> ClusterData:
    """Validate the arguments of ``fit`` and distribute the rows over the cluster in blocks."""
    pool = find_pool()
    if not dask.is_dask_collection(X):
        return _spread(pool, estimator, X, y, sample_weight)
    columns = check_columns(estimator, X)
    partitions = matching_partitions(X, y, sample_weight)
    numbers = range(len(partitions[0]))
    parts = pool.start(pool.each("read", _read, numbers, *partitions, columns=columns))
    summaries = pool.fetch_all(pool.each("summary", _summarise, parts))
    classes = _check_summaries(summaries)
    return _join(pool, parts, summaries, classes, len(columns))


# -- on the workers --------------------------------------------------------------------------


def _read(number: int, X, y, weights, *, columns: list) -> Partition:
    """Validate one partition. Errors name the partition."""
    try:
        return _read_part(X, y, weights, columns)
    except ValueError as error:
        raise InvalidDataError(f"Partition {number}: {error}") from error


def _read_part(X, y, weights, columns: list) -> Partition:
    if hasattr(X, "columns"):
        y, weights = X[y], None if weights is None else X[weights]
        X = X[[name for name in X.columns if not str(name).startswith(ATTACHED)]]
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
    check_each_class_counts(weights, classes, codes)
    check_pair_weight(*(float(weights[codes == code].sum()) for code in (0, 1)))
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
    warn_user(
        f"engine='cluster' got {format_bytes(sizeof(data.X))} in the client's memory and sends "
        "them to the workers. Let the workers read the data, for example with "
        "dask.dataframe.read_parquet, or use engine='cpu'.",
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
