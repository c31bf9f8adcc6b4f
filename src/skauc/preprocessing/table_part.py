"""What the parts of a `TablePreprocessor` have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from skauc.preprocessing.column_statistics import ColumnTable


@dataclass(frozen=True, eq=False)
class TablePart:
    """Columns that are turned into numbers in the same way."""

    name: ClassVar[str]
    columns: list[str]

    def state(self) -> dict:
        """Return the fields as a dictionary of lists, strings, numbers and arrays."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def names_out(self) -> list[str]:
        """Return the names of the numbers."""
        return list(self.columns)

    def widths(self) -> list[int]:
        """Return how many numbers each column becomes."""
        return [1] * len(self.columns)

    def transform(self, table: ColumnTable) -> np.ndarray:
        """Return the numbers, of shape (n_samples, n_names)."""
        raise NotImplementedError

    def inverse(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns that stand for such numbers."""
        raise NotImplementedError


def stacked(columns: list[str], table: ColumnTable) -> np.ndarray:
    """Return the columns side by side, each contiguous: statistics run along columns."""
    return np.vstack([table[name] for name in columns]).T
