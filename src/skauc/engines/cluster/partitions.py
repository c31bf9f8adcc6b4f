"""Columns and partitions of dask collections: rows, labels and weights that match."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features

from skauc.exceptions import InvalidDataError

# Prefix of the names of the columns that hold labels and weights in a joined dataframe.
ATTACHED = "skauc: "


def check_columns(estimator, X) -> list:
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


def matching_partitions(X, y, sample_weight) -> list[list]:
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
        label = f"{ATTACHED}{name}"
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


def _attach(X, column, name: str, has_index: bool):
    """Return the dataframe with an additional column."""
    what = name.removeprefix(ATTACHED)
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
