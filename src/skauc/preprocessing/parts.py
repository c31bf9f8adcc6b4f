"""The fitted parts of a `TablePreprocessor`, one for each way of turning columns into numbers.

A part is a few arrays. `TablePreprocessor.parts_` holds their fields as plain dictionaries, so that
a fitted preprocessor is small, can be stored as arrays and JSON, and does not depend on the version
of scikit-learn. scikit-learn computes the statistics when fitting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from skauc.preprocessing.column_statistics import (
    ColumnTable,
    codes_of,
    coverage_of,
    fit_scaling,
    medians_of,
    ranges_of,
    scaled,
    unscaled,
)
from skauc.preprocessing.steps import DateFeatures, features_of_dates, names_of_dates, seconds_of
from skauc.preprocessing.table_part import TablePart, stacked
from skauc.preprocessing.target_parts import StepsPart, TargetPart

# Read back from a row of numbers, a level, a word or a gap is there if its share is above this.
PRESENT = 0.5


@dataclass(frozen=True, eq=False)
class NumericPart(TablePart):
    """Imputed by the median and scaled.

    Attributes
    ----------
    fill : ndarray of shape (n_columns,)
        The medians.
    scaling : ndarray of shape (4, n_columns)
        As `fit_scaling` returns it.
    ranges : ndarray of shape (6, n_columns)
        As `ranges_of` returns it.
    """

    name: ClassVar[str] = "numeric"
    fill: np.ndarray
    scaling: np.ndarray
    ranges: np.ndarray

    @classmethod
    def fit(cls, columns: list[str], table: ColumnTable) -> tuple[NumericPart, np.ndarray]:
        """Return the part, and the numbers for the training rows."""
        fill = medians_of(columns, table)
        values = _filled(stacked(columns, table), fill)
        scaling, numbers = fit_scaling(values)
        return cls(columns, fill, scaling, ranges_of(columns, table)), numbers

    def transform(self, table: ColumnTable) -> np.ndarray:
        return scaled(_filled(stacked(self.columns, table), self.fill), self.scaling)

    def inverse(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(self.columns, unscaled(rows, self.scaling).T, strict=True))


@dataclass(frozen=True, eq=False)
class BooleanPart(TablePart):
    """0 and 1, imputed by the more frequent value.

    Attributes
    ----------
    fill : ndarray of shape (n_columns,)
        The more frequent values; 0 if both are equally frequent.
    """

    name: ClassVar[str] = "boolean"
    fill: np.ndarray

    @classmethod
    def fit(cls, columns: list[str], table: ColumnTable) -> tuple[BooleanPart, np.ndarray]:
        """Return the part, and the numbers for the training rows."""
        values = stacked(columns, table)
        part = cls(columns, (np.nanmean(values, axis=0) > 0.5).astype(np.float64))
        return part, _filled(values, part.fill)

    def transform(self, table: ColumnTable) -> np.ndarray:
        return _filled(stacked(self.columns, table), self.fill)

    def inverse(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return _flags(self.columns, rows)


@dataclass(frozen=True, eq=False)
class DatePart(TablePart):
    """Imputed by the median; days and phases, scaled.

    Attributes
    ----------
    fill : ndarray of shape (n_columns,)
        The medians, in seconds since 1970.
    phases : list of list of str
        As in `DateFeatures`.
    scaling : ndarray of shape (4, n_names)
        As `fit_scaling` returns it.
    ranges : ndarray of shape (6, n_columns)
        As `ranges_of` returns it.
    """

    name: ClassVar[str] = "date"
    fill: np.ndarray
    phases: list[list[str]]
    scaling: np.ndarray
    ranges: np.ndarray

    @classmethod
    def fit(cls, columns: list[str], table: ColumnTable) -> tuple[DatePart, np.ndarray]:
        """Return the part, and the numbers for the training rows."""
        fill = medians_of(columns, table)
        values = _filled(stacked(columns, table), fill)
        phases = DateFeatures().fit(values).phases_
        scaling, numbers = fit_scaling(features_of_dates(values, phases))
        return cls(columns, fill, phases, scaling, ranges_of(columns, table)), numbers

    def names_out(self) -> list[str]:
        return names_of_dates(self.columns, self.phases)

    def widths(self) -> list[int]:
        return [1 + 2 * len(phases) for phases in self.phases]

    def transform(self, table: ColumnTable) -> np.ndarray:
        values = _filled(stacked(self.columns, table), self.fill)
        return scaled(features_of_dates(values, self.phases), self.scaling)

    def inverse(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        seconds = seconds_of(unscaled(rows, self.scaling), self.phases)
        dates = np.round(seconds.T).astype("datetime64[s]")
        return dict(zip(self.columns, dates, strict=True))


@dataclass(frozen=True, eq=False)
class MissingPart(TablePart):
    """1 where a value is missing, for columns with gaps among the training rows."""

    name: ClassVar[str] = "missing"

    @classmethod
    def fit(cls, columns: list[str], table: ColumnTable) -> tuple[MissingPart, np.ndarray]:
        """Return the part, and the numbers for the training rows."""
        part = cls(columns)
        return part, part.transform(table)

    def names_out(self) -> list[str]:
        return [f"missingindicator_{name}" for name in self.columns]

    def transform(self, table: ColumnTable) -> np.ndarray:
        return np.isnan(stacked(self.columns, table)).astype(np.float64)

    def inverse(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return _flags(self.columns, rows)


@dataclass(frozen=True, eq=False)
class LevelsPart(TablePart):
    """One number per level: 1 if the value is that level.

    Attributes
    ----------
    levels : list of ndarray of str
        The levels of each column, in sorted order.
    coverage : ndarray of shape (n_columns,)
        As `coverage_of` returns it.
    """

    name: ClassVar[str] = "levels"
    levels: list[np.ndarray]
    coverage: np.ndarray

    @classmethod
    def fit(
        cls, columns: list[str], levels: list[np.ndarray], table: ColumnTable
    ) -> tuple[LevelsPart, np.ndarray]:
        """Return the part, and the numbers for the training rows."""
        part = cls(columns, levels, coverage_of(columns, levels, table))
        return part, part.transform(table)

    def names_out(self) -> list[str]:
        named = zip(self.columns, self.levels, strict=True)
        return [f"{name}_{level}" for name, levels in named for level in levels]

    def widths(self) -> list[int]:
        return [len(levels) for levels in self.levels]

    def transform(self, table: ColumnTable) -> np.ndarray:
        widths = self.widths()
        starts = np.cumsum([0, *widths[:-1]])
        n_rows = len(table[self.columns[0]])
        numbers = np.zeros((n_rows, sum(widths)))
        for name, levels, start in zip(self.columns, self.levels, starts, strict=True):
            codes = codes_of(table[name], levels)
            known = np.flatnonzero(codes >= 0)
            numbers[known, start + codes[known]] = 1.0
        return numbers

    def inverse(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        shares = _split_by_column(rows, self.levels)
        return {
            name: np.where(share.max(axis=1) > PRESENT, levels[share.argmax(axis=1)], "")
            for name, share, levels in zip(self.columns, shares, self.levels, strict=True)
        }


@dataclass(frozen=True, eq=False)
class WordsPart(TablePart):
    """One number per word: 1 if the text has it.

    Attributes
    ----------
    words : list of ndarray of str
        The words of each column, in sorted order.
    """

    name: ClassVar[str] = "words"
    words: list[np.ndarray]

    @classmethod
    def fit(
        cls, columns: list[str], words: list[np.ndarray], table: ColumnTable
    ) -> tuple[WordsPart, np.ndarray]:
        """Return the part, and the numbers for the training rows."""
        part = cls(columns, words)
        return part, part.transform(table)

    def names_out(self) -> list[str]:
        return [str(word) for words in self.words for word in words]

    def widths(self) -> list[int]:
        return [len(words) for words in self.words]

    def transform(self, table: ColumnTable) -> np.ndarray:
        named = zip(self.columns, self.words, strict=True)
        counts = [
            CountVectorizer(binary=True, vocabulary=list(words)).transform(table[name]).toarray()
            for name, words in named
        ]
        return np.hstack(counts).astype(np.float64)

    def inverse(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        shares = _split_by_column(rows, self.words)
        return {
            name: np.array([" ".join(words[row > PRESENT]) for row in share], dtype=object)
            for name, share, words in zip(self.columns, shares, self.words, strict=True)
        }


# In the order of their numbers in a row.
PARTS = {
    part.name: part
    for part in (
        *(NumericPart, BooleanPart, DatePart, MissingPart, StepsPart, LevelsPart, TargetPart),
        WordsPart,
    )
}


def build_parts(states: Mapping[str, dict]) -> list[TablePart]:
    """Return the parts whose fields `TablePreprocessor.parts_` holds."""
    return [PARTS[name](**states[name]) for name in PARTS if name in states]


def names_out(parts: Sequence[TablePart]) -> list[str]:
    """Return the names of all numbers; a name that occurs twice gets the name of its part."""
    named = [(part, name) for part in parts for name in part.names_out()]
    counts: dict[str, int] = {}
    for _, name in named:
        counts[name] = counts.get(name, 0) + 1
    names, used = [], set()
    for part, name in named:
        unique = name if counts[name] == 1 else f"{part.name}_{name}"
        while unique in used:
            unique += "_"
        used.add(unique)
        names.append(unique)
    return names


def _flags(columns: list[str], rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns of truth values that stand for numbers between 0 and 1."""
    return dict(zip(columns, (rows > PRESENT).T, strict=True))


def _split_by_column(rows: np.ndarray, entries: list[np.ndarray]) -> list[np.ndarray]:
    """Return the numbers of each column, which has a number per entry: a level or a word."""
    ends = np.cumsum([len(each) for each in entries])
    return np.split(rows, ends[:-1], axis=1)


def _filled(values: np.ndarray, fill: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), fill, values)
