"""The parts of a `TablePreprocessor` that learn from the target.

Their numbers for the training rows are cross-fitted: the number of a row does not depend on its
own label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import ClassVar

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import TargetEncoder

from skauc.preprocessing.column_statistics import (
    ColumnTable,
    codes_of,
    coverage_of,
    fit_scaling,
    scaled,
    unscaled,
)
from skauc.preprocessing.intervals import FEWEST_OF_CLASS, StepFunction, fit_steps
from skauc.preprocessing.table_part import TablePart

_N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class TargetPart(TablePart):
    """The mean of the target among the rows of a level, scaled.

    Attributes
    ----------
    levels : list of ndarray of str
        The levels of each column, in sorted order.
    coverage : ndarray of shape (n_columns,)
        As `coverage_of` returns it.
    encodings : list of ndarray of float
        The shrunken mean of the target for each level.
    mean : float
        The mean of the target, for every other level.
    scaling : ndarray of shape (4, n_columns)
        As `fit_scaling` returns it.
    """

    name: ClassVar[str] = "target"
    levels: list[np.ndarray]
    coverage: np.ndarray
    encodings: list[np.ndarray]
    mean: float
    scaling: np.ndarray

    @classmethod
    def fit(
        cls, columns: list[str], levels: list[np.ndarray], table: ColumnTable, y, random_state
    ) -> tuple[TargetPart, np.ndarray]:
        """Return the part, and cross-fitted numbers for the training rows."""
        encoder = _target_encoder(levels, random_state)
        strings = np.column_stack([table[name] for name in columns])
        scaling, numbers = fit_scaling(encoder.fit_transform(strings, y))
        part = cls(
            columns,
            levels,
            coverage_of(columns, levels, table),
            list(encoder.encodings_),
            float(encoder.target_mean_),
            scaling,
        )
        return part, numbers

    def transform(self, table: ColumnTable) -> np.ndarray:
        means = np.empty((len(table[self.columns[0]]), len(self.columns)))
        for number, name in enumerate(self.columns):
            codes = codes_of(table[name], self.levels[number])
            # An unknown level has the code -1.
            means[:, number] = np.append(self.encodings[number], self.mean)[codes]
        return scaled(means, self.scaling)

    def inverse(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        means = unscaled(rows, self.scaling).T
        return {
            name: levels[np.abs(known[None, :] - mean[:, None]).argmin(axis=1)]
            for name, mean, known, levels in zip(
                self.columns, means, self.encodings, self.levels, strict=True
            )
        }


@dataclass(frozen=True, eq=False)
class StepsPart(TablePart):
    """The log odds in intervals, for columns of numbers where they jump.

    Such a column has a second number, see `skauc.preprocessing.intervals`.

    Attributes
    ----------
    edges : list of ndarray of float
        The edges between the intervals of each column, in ascending order.
    numbers : list of ndarray of float
        The number of each interval, one more than there are edges.
    missing : ndarray of shape (n_columns,)
        The numbers of a missing value.
    """

    name: ClassVar[str] = "steps"
    edges: list[np.ndarray]
    numbers: list[np.ndarray]
    missing: np.ndarray

    @classmethod
    def fit(
        cls, columns: list[str], table: ColumnTable, y, random_state
    ) -> tuple[StepsPart, np.ndarray] | None:
        """Return the part, and cross-fitted numbers for the training rows; None without steps."""
        labels, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(labels) != 2 or np.bincount(codes).min() < FEWEST_OF_CLASS:
            return None
        folds = np.empty(len(codes), dtype=np.int64)
        splitter = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=random_state)
        for number, (_, rows) in enumerate(splitter.split(codes, codes)):
            folds[rows] = number
        found = {name: fit_steps(table[name], codes, folds) for name in columns}
        kept = {name: steps for name, steps in found.items() if steps is not None}
        if not kept:
            return None
        functions = [function for function, _ in kept.values()]
        part = cls(
            list(kept),
            [function.edges for function in functions],
            [function.numbers for function in functions],
            np.array([function.missing for function in functions]),
        )
        return part, np.column_stack([numbers for _, numbers in kept.values()])

    def functions(self) -> Mapping[str, StepFunction]:
        """Return the step function of each column."""
        fields = zip(self.edges, self.numbers, self.missing.tolist(), strict=True)
        return {name: StepFunction(*each) for name, each in zip(self.columns, fields, strict=True)}

    def names_out(self) -> list[str]:
        return [f"{name}_steps" for name in self.columns]

    def transform(self, table: ColumnTable) -> np.ndarray:
        return np.column_stack(
            [function(table[name]) for name, function in self.functions().items()]
        )

    def inverse(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return nothing: the other number of a column says more."""
        return {}


def _target_encoder(levels: list[np.ndarray], random_state) -> TargetEncoder:
    """Return an encoder whose folds depend on the random state in any version of scikit-learn."""
    if "deprecated" in repr(signature(TargetEncoder).parameters["random_state"].default):
        folds = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=random_state)
        return TargetEncoder(categories=levels, target_type="binary", cv=folds)
    return TargetEncoder(categories=levels, target_type="binary", random_state=random_state)
