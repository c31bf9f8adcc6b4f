"""Labelled rows of any kind of table, and samples of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from skauc.exceptions import InvalidDataError
from skauc.preprocessing import TablePreprocessor
from skauc.preprocessing.optional import import_pandas


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """A table of any kind, with a mask of its positive rows and a weight per row.

    ``numbers`` are the numbers of the rows on the page. None counts them from 1.
    """

    X: Any
    positive: np.ndarray
    weights: np.ndarray
    numbers: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.positive)

    def number(self, row: int) -> int:
        """Return the number of a row on the page."""
        return int(row) + 1 if self.numbers is None else int(self.numbers[row])

    def take(self, indices: np.ndarray) -> LabelledRows:
        """Return the rows with these indices."""
        return LabelledRows(
            _safe_indexing(self.X, indices),
            self.positive[indices],
            self.weights[indices],
            np.array([self.number(row) for row in indices]),
        )

    def balanced_sample(self, most: int) -> LabelledRows:
        """Return at most ``most`` rows in their order, with up to half from the rarer class.

        The share of each class changes. Use it for quantities that do not depend on the shares:
        ranks between the classes and means within a class.
        """
        if len(self) <= most:
            return self
        return self.take(_balanced_indices(self.positive, most))

    def random_sample(self, most: int) -> LabelledRows:
        """Return at most ``most`` rows in their order. Each row has the same chance."""
        if len(self) <= most:
            return self
        indices = np.random.default_rng(0).choice(len(self), most, replace=False)
        return self.take(np.sort(indices))


def _balanced_indices(positive: np.ndarray, most: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    sides = sorted((np.flatnonzero(positive), np.flatnonzero(~positive)), key=len)
    n_rare = min(len(sides[0]), most // 2)
    chosen = [
        rng.choice(side, size, replace=False)
        for side, size in zip(sides, (n_rare, most - n_rare), strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def as_read(first_step, rows: LabelledRows) -> LabelledRows:
    """Return the rows with the columns that a `TablePreprocessor` uses, as it reads them.

    Amounts and dates that are text in the table are numbers and dates, in any spelling. Before
    another first step, the rows are returned as they are.
    """
    if not isinstance(first_step, TablePreprocessor):
        return rows
    values = first_step.column_values(rows.X)
    columns = {name: _as_table(values[name], kind) for name, kind in first_step.columns_.items()}
    return replace(rows, X=import_pandas().DataFrame(columns))


def _as_table(values: np.ndarray, kind: str) -> np.ndarray:
    """Return a column as it would stand in a table: dates and truth values, and None for gaps."""
    if kind == "numeric":
        return values
    if kind == "date":
        dates = np.round(1e6 * np.nan_to_num(values)).astype("datetime64[us]")
        dates[np.isnan(values)] = np.datetime64("NaT")
        return dates
    if kind == "boolean":
        truths = (values == 1).astype(object)
        truths[np.isnan(values)] = None
        return truths
    return np.where(values == "", np.array(None), values)


def check_labelled_rows(model, X, y, which: str, sample_weight=None, numbers=None) -> LabelledRows:
    """Check labels against a model and return the rows. ``which`` is "test" or "train"."""
    if y is None:
        raise InvalidDataError(
            f"`X_{which}` was given without `y_{which}`. Pass the labels of these rows as well."
        )
    labels = np.asarray(y).ravel()
    n_rows = np.shape(X)[0]
    if len(labels) != n_rows:
        raise InvalidDataError(
            f"`X_{which}` and `y_{which}` must have the same length; got {n_rows} rows and "
            f"{len(labels)} labels."
        )
    unknown = np.setdiff1d(labels, model.classes_)
    if len(unknown):
        raise InvalidDataError(
            f"`y_{which}` has labels that the model does not know: {unknown.tolist()[:5]}. It was "
            f"fitted to {model.classes_.tolist()}. Remove these rows, or map their labels."
        )
    weights = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight).ravel()
    if numbers is not None:
        numbers = _check_numbers(numbers, n_rows, which)
    X = X.tocsr() if sparse.issparse(X) else X
    return LabelledRows(X, labels == model.classes_[1], weights, numbers)


def _check_numbers(numbers, n_rows: int, which: str) -> np.ndarray:
    """Return the numbers of rows, or raise an error if they are no integers."""
    name = "row_numbers" if which == "test" else "train_row_numbers"
    found = np.asarray(numbers)
    if found.shape != (n_rows,):
        raise InvalidDataError(
            f"`{name}` must have one number per {which} row, shape ({n_rows},); got shape "
            f"{found.shape}."
        )
    wrong = [each for each in found.tolist() if not isinstance(each, int)]
    if wrong:
        raise InvalidDataError(
            f"`{name}` must be integers; got {wrong[0]!r}. Pass the places of the rows in their "
            "table, such as 1, 2 and 3."
        )
    return found
