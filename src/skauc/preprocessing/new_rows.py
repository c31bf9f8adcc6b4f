"""Compare new rows with the training table, and say in plain words what looks wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from skauc.exceptions import UnknownLevelsWarning, warn_user
from skauc.preprocessing.column_statistics import codes_of
from skauc.preprocessing.frames import as_frame
from skauc.preprocessing.kinds import UNLIKELY, ColumnValues
from skauc.preprocessing.number_forms import MISSING_WORDS
from skauc.preprocessing.parts import (
    DatePart,
    LevelsPart,
    NumericPart,
    TargetPart,
    build_parts,
)
from skauc.preprocessing.table_part import TablePart

# From this number of values on, shares mean something.
_ENOUGH = 20
# Number of rows that show whether a column has levels that are known.
_FIRST = 1_000
_WORDS = {"numeric": "numbers", "date": "dates"}


class NewRows:
    """What is remarkable about new rows, given a fitted `TablePreprocessor`.

    Rows can be added in several pieces. The notes are about all of them.

    Parameters
    ----------
    preprocessor : TablePreprocessor
        The fitted preprocessor.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauc.preprocessing import NewRows, TablePreprocessor
    >>> table = pd.DataFrame({"height": range(150, 200), "town": ["Oslo", "Bern"] * 25})
    >>> step = TablePreprocessor(numeric=["height"]).fit(table)
    >>> rows = NewRows(step)
    >>> rows.add(pd.DataFrame({"height": [1.81, 1.67], "town": ["Oslo", "Bern"]}))
    >>> rows.notes()
    ["Column 'height': 2 of 2 values are far outside of the training range, 150 to 199, such as \
1.67. Check its unit."]
    """

    def __init__(self, preprocessor):
        self.preprocessor = preprocessor
        self._columns: dict[str, _Column] = {}
        for part in build_parts(preprocessor.parts_):
            self._columns |= _columns_of(part)
        self._gaps = {
            entry["name"]: entry["n_missing"] + entry["n_unparsed"]
            for entry in preprocessor.column_report_
        }
        self._known_words = {
            entry["name"]: set(entry["unparsed"]) for entry in preprocessor.column_report_
        }
        self._n_unparsed: dict[str, int] = {}
        self._unparsed: dict[str, str] = {}

    def add(self, X) -> None:
        """Add rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Rows as `TablePreprocessor.transform` takes them.
        """
        columns = self.preprocessor.read_columns(X)
        for name, read in columns.items():
            if name in self._columns:
                self._columns[name].add(read.values, read.missing)
        if any(read.unparsed.any() for read in columns.values()):
            frame = as_frame(X)
            for name, read in columns.items():
                self._add_unparsed(name, frame[name][read.unparsed])

    def _add_unparsed(self, name: str, cells) -> None:
        known = self._known_words[name]
        new = [
            cell
            for cell in map(str, cells)
            if cell not in known and cell.strip().lower() not in MISSING_WORDS
        ]
        if new:
            self._n_unparsed[name] = self._n_unparsed.get(name, 0) + len(new)
            self._unparsed.setdefault(name, new[0])

    def notes(self) -> list[str]:
        """Return one sentence or two per finding; none if nothing is remarkable."""
        notes = []
        for name, kind in self.preprocessor.columns_.items():
            if name in self._n_unparsed:
                notes.append(
                    f"Column {name!r}: {self._n_unparsed[name]} values are not {_WORDS[kind]}, "
                    f"such as {self._unparsed[name]!r}. They count as missing."
                )
            if name in self._columns:
                share = self._gaps[name] / self.preprocessor.n_samples_seen_
                notes += [f"Column {name!r}: {text}" for text in self._columns[name].notes(share)]
        return notes


def warn_of_unknown_levels(parts: Iterable[TablePart], table: Mapping[str, ColumnValues]) -> None:
    """Warn of each column of categories in which no value is known from training."""
    for part in parts:
        for name, column in _levels_of(part).items():
            values, missing = table[name].values, table[name].missing
            column.add(values[:_FIRST], missing[:_FIRST])
            if column.n_known == 0:
                column.add(values[_FIRST:], missing[_FIRST:])
            if column.is_unknown and column.n_values >= _ENOUGH:
                warn_user(f"Column {name!r}: {column.unknown}", UnknownLevelsWarning)


@dataclass
class _Column:
    """Counts of the values of one column."""

    n_rows: int = field(default=0, init=False)
    n_values: int = field(default=0, init=False)

    def add(self, values: np.ndarray, missing: np.ndarray) -> None:
        """Count some values."""
        self.n_rows += len(values)
        self.n_values += len(values) - int(np.count_nonzero(missing))
        self._count(values[~missing])

    def _count(self, values: np.ndarray) -> None:
        raise NotImplementedError

    def notes(self, share_missing: float) -> list[str]:
        """Return what is remarkable, given the share of training values that were missing."""
        if self.n_values == 0:
            if self.n_rows == 0 or share_missing**self.n_rows >= UNLIKELY:
                return []
            what = "the value is" if self.n_rows == 1 else f"all {self.n_rows} values are"
            return [f"{what} missing, which was rare in training."]
        return self._notes()

    def _notes(self) -> list[str]:
        raise NotImplementedError


@dataclass
class _Numbers(_Column):
    """Counts of numbers outside of the training range.

    Whether a single value is far outside is decided after the robust scaling and arcsinh, so that
    heavy tails do not raise false alarms.
    """

    is_date: bool
    median: float
    spread: float
    low: float
    q01: float
    q25: float
    q75: float
    q99: float
    high: float
    n_outside: int = field(default=0, init=False)
    n_far: int = field(default=0, init=False)
    smallest: float = field(default=np.inf, init=False)
    largest: float = field(default=-np.inf, init=False)

    def _count(self, values: np.ndarray) -> None:
        if len(values) == 0:
            return
        self.smallest = min(self.smallest, float(values.min()))
        self.largest = max(self.largest, float(values.max()))
        self.n_outside += _n_outside(values, self.q01, self.q99)
        if self.smallest < self.low or self.largest > self.high:
            tamed = [self.low, self.q01, self.q99, self.high]
            low, q01, q99, high = self._tamed(np.array(tamed)).tolist()
            margin = max(q99 - q01, 1.0)
            self.n_far += _n_outside(self._tamed(values), low - margin, high + margin)

    def _tamed(self, values: np.ndarray) -> np.ndarray:
        return np.arcsinh((values - self.median) / self.spread)

    def _notes(self) -> list[str]:
        unit = "" if self.is_date else " Check its unit."
        if 2 * self.n_far >= self.n_values:
            return [self._far_note() + unit]
        if 2 * self.n_outside >= self.n_values >= _ENOUGH:
            return [
                f"{self.n_outside} of {self.n_values} values are outside of the range of 98% of "
                f"the training values, {self._written(self.q01)} to {self._written(self.q99)}, "
                f"such as {self._written(self._extreme())}.{unit}"
            ]
        if self.n_far:
            return [self._far_note()]
        if self.smallest == self.largest and self.n_values >= _ENOUGH and self.q25 < self.q75:
            return [f"all {self.n_values} values are {self._written(self.smallest)}."]
        return []

    def _far_note(self) -> str:
        return (
            f"{self.n_far} of {self.n_values} values are far outside of the training range, "
            f"{self._written(self.low)} to {self._written(self.high)}, such as "
            f"{self._written(self._extreme())}."
        )

    def _extreme(self) -> float:
        """Return the value that is farthest from the training range."""
        below, above = self.low - self.smallest, self.largest - self.high
        return self.smallest if below > above else self.largest

    def _written(self, value: float) -> str:
        if self.is_date:
            return str(np.datetime64(round(value), "s").astype("datetime64[D]"))
        return f"{value:.6g}"


@dataclass
class _Levels(_Column):
    """Counts of levels that the model knows."""

    levels: np.ndarray
    coverage: float
    n_known: int = field(default=0, init=False)
    unseen: str = field(default="", init=False)

    def _count(self, values: np.ndarray) -> None:
        known = codes_of(values, self.levels) >= 0
        self.n_known += int(np.count_nonzero(known))
        if not self.unseen and not known.all():
            self.unseen = str(values[~known][0])

    @property
    def is_unknown(self) -> bool:
        """Whether no level is known, and chance does not explain it."""
        return self.n_known == 0 and (1 - self.coverage) ** self.n_values < UNLIKELY

    @property
    def unknown(self) -> str:
        """What is said of such a column."""
        return f"no value is known from training, such as {self.unseen!r}."

    def _notes(self) -> list[str]:
        n_unseen = self.n_values - self.n_known
        if self.is_unknown:
            return [self.unknown]
        share = self.n_known / self.n_values
        if self.n_values >= _ENOUGH and 2 * share < self.coverage:
            return [
                f"{n_unseen} of {self.n_values} values are not known from training, such as "
                f"{self.unseen!r}."
            ]
        return []


def _columns_of(part: TablePart) -> dict[str, _Column]:
    if isinstance(part, NumericPart | DatePart):
        is_date = isinstance(part, DatePart)
        spread = np.maximum(part.ranges[3] - part.ranges[2], 0)
        spread[spread == 0] = 1.0
        figures = np.vstack([part.fill, spread, part.ranges]).T.tolist()
        named = zip(part.columns, figures, strict=True)
        return {name: _Numbers(is_date, *values) for name, values in named}
    return dict(_levels_of(part))


def _levels_of(part: TablePart) -> dict[str, _Levels]:
    if not isinstance(part, LevelsPart | TargetPart):
        return {}
    known = zip(part.columns, part.levels, part.coverage.tolist(), strict=True)
    return {name: _Levels(levels, coverage) for name, levels, coverage in known}


def _n_outside(values: np.ndarray, low: float, high: float) -> int:
    return int(np.count_nonzero((values < low) | (values > high)))
