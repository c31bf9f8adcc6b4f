"""Signs that rows differ from the training rows: units, categories, identical scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skauc.app.tables import LabelledTable
from skauc.preprocessing import TablePreprocessor
from skauc.unwrapping import first_step

# Smaller samples may lie outside of the training range, or close together, by chance.
FEWEST_VALUES = 20
# The share of values outside of the training range that calls for a warning.
MOST_OUTSIDE = 0.5
# Values that spread over a smaller part of the training quartiles than this are in other units.
LEAST_SPREAD = 0.05


def training_ranges(table: LabelledTable) -> dict[str, list[float]]:
    """Return the minimum, the quartiles and the maximum of each column of numbers.

    Parameters
    ----------
    table : LabelledTable
        The training rows.

    Returns
    -------
    ranges : dict of str to list of float
        Five numbers per column, for the summary in a model file.
    """
    ranges = {}
    for name in table.X.columns:
        values = _numbers(table.X[name])
        if values is not None and len(values):
            ranges[str(name)] = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return ranges


@dataclass
class _Spread:
    """The values of one column of numbers, seen so far."""

    low: float = np.inf
    high: float = -np.inf
    n_values: int = 0
    n_outside: int = 0


class InputCheck:
    """Compares rows with what is known of the training rows.

    Parameters
    ----------
    model : estimator
        The fitted model.
    summary : mapping
        The summary in its file. ``ranges`` holds what `training_ranges` returned.
    """

    def __init__(self, model, summary: Mapping):
        self.ranges = _checked_ranges(summary.get("ranges"))
        self.levels = _known_levels(first_step(model))
        self.spreads = {name: _Spread() for name in self.ranges}
        self.known = dict.fromkeys(self.levels, 0)
        self.present = dict.fromkeys(self.levels, 0)
        self.examples: dict[str, object] = {}
        self.n_rows, self.lowest, self.highest = 0, np.inf, -np.inf

    def add(self, X, scores: np.ndarray) -> None:
        """Look at more rows and their scores."""
        if len(scores):
            self.n_rows += len(scores)
            self.lowest = min(self.lowest, float(scores.min()))
            self.highest = max(self.highest, float(scores.max()))
        if not hasattr(X, "columns"):
            return
        for name in self.ranges:
            if name in X.columns:
                self._add_numbers(name, X[name])
        for name in self.levels:
            if name in X.columns:
                self._add_levels(name, X[name])

    def _add_numbers(self, name: str, column) -> None:
        values = _numbers(column)
        if values is None or len(values) == 0:
            return
        low, *_, high = self.ranges[name]
        spread = self.spreads[name]
        spread.n_values += len(values)
        spread.n_outside += int(np.count_nonzero((values < low) | (values > high)))
        spread.low = min(spread.low, float(values.min()))
        spread.high = max(spread.high, float(values.max()))

    def _add_levels(self, name: str, column) -> None:
        values = column.dropna()
        if len(values) == 0:
            return
        self.present[name] += len(values)
        self.known[name] += int(values.astype(str).isin(self.levels[name]).sum())
        self.examples.setdefault(name, values.iloc[0])

    def messages(self) -> list[str]:
        """Return one warning per sign."""
        found = [self._about_range(name) for name in self.ranges]
        found += [self._about_levels(name) for name in self.levels]
        if self.n_rows > 1 and self.lowest == self.highest:
            found.append(
                f"All {self.n_rows:,} rows have the same score, {self.lowest:.6g}. Check that the "
                "columns are prepared in the same way as for the training."
            )
        return [message for message in found if message is not None]

    def _about_range(self, name: str) -> str | None:
        low, lower, _, upper, high = self.ranges[name]
        seen = self.spreads[name]
        if seen.n_values < FEWEST_VALUES:
            return None
        is_narrow = 0 < seen.high - seen.low < LEAST_SPREAD * (upper - lower)
        if seen.n_outside > MOST_OUTSIDE * seen.n_values:
            what = f"{seen.n_outside:,} of {seen.n_values:,} values are outside of"
        elif is_narrow:
            what = f"the {seen.n_values:,} values cover a very small part of"
        else:
            return None
        return (
            f"Column {name!r}: {what} the range of the training rows, {low:.6g} to {high:.6g}. "
            f"Here they range from {seen.low:.6g} to {seen.high:.6g}. Check the unit."
        )

    def _about_levels(self, name: str) -> str | None:
        if self.present[name] == 0 or self.known[name]:
            return None
        known = ", ".join(map(repr, sorted(self.levels[name])[:3]))
        return (
            f"Column {name!r}: the model knows none of the {self.present[name]:,} values, such as "
            f"{str(self.examples[name])!r}. It knows values such as {known}."
        )


def _numbers(column) -> np.ndarray | None:
    """Return the finite values of a column of numbers, None for another kind of column."""
    if column.dtype.kind not in "iuf" and not hasattr(column.dtype, "numpy_dtype"):
        return None
    try:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        return None
    return values[np.isfinite(values)]


def _checked_ranges(ranges) -> dict[str, list[float]]:
    """Return the ranges of a summary, which may hold anything."""
    if not isinstance(ranges, Mapping):
        return {}
    return {
        str(name): [float(value) for value in values]
        for name, values in ranges.items()
        if isinstance(values, list)
        and len(values) == 5
        and all(isinstance(value, int | float) for value in values)
    }


def _known_levels(step) -> dict[str, set[str]]:
    """Return the levels of each column of categories that the preprocessing keeps."""
    if not isinstance(step, TablePreprocessor):
        return {}
    levels: dict[str, set[str]] = {}
    for name, fitted, columns in step.transformer_.transformers_:
        if name in ("levels", "target"):
            encoder = fitted if name == "levels" else fitted[0]
            for column, known in zip(columns, encoder.categories_, strict=True):
                levels[str(column)] = set(map(str, known))
    return levels
