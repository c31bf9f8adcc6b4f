"""Shapley values of ridge centres, by enumeration of the few columns that a ridge uses.

A ridge is exp(-(sum over columns g of u_g)^2) with u_g = sum over features j of column g of
m_j (x_j - z_j). Columns that it does not use have the value zero. With k columns in use, the value
of a set S of them for one background row is exp(-(sum over S of u_g(x) + sum over the others of
u_g(b))^2), and the Shapley values follow from all 2^k sets. Ridges are chosen with at most four
features, so there are at most sixteen sets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

# Ridges of more columns than this are explained by sampling.
MOST_JOINT_COLUMNS = 6


@dataclass(frozen=True, eq=False)
class RidgeForm:
    """sum_m coef_m exp(-(metric_m.(x - centre_m))^2); ``columns[j]`` is the column of feature j."""

    centres: np.ndarray
    metric: np.ndarray
    coef: np.ndarray
    columns: np.ndarray

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Return the scores of rows."""
        along = rows @ self.metric.T - np.einsum("kj,kj->k", self.metric, self.centres)
        return np.exp(-np.square(along)) @ self.coef

    def add_values(
        self, rows: np.ndarray, others: np.ndarray, shares: np.ndarray, values: np.ndarray
    ) -> None:
        """Add the Shapley values of rows against background rows with these shares."""
        for centre, scales, coef in zip(self.centres, self.metric, self.coef, strict=True):
            used = np.unique(self.columns[scales != 0])
            own, their = (self._along(each - centre, scales, used) for each in (rows, others))
            values[:, used] += coef * _enumerated(own, their, shares)

    def _along(self, moved: np.ndarray, scales: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Return u_g for each row and each column in use."""
        return np.column_stack(
            [moved[:, self.columns == g] @ scales[self.columns == g] for g in used]
        )

    def most_columns(self) -> int:
        """Return the largest number of columns that a ridge uses."""
        used = (np.unique(self.columns[scales != 0]) for scales in self.metric)
        return max((len(each) for each in used), default=0)


def _enumerated(own: np.ndarray, their: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the Shapley values of one ridge, from the mean value of every set of its columns."""
    n_rows, n_columns = own.shape
    means = {}
    for size in range(n_columns + 1):
        for members in combinations(range(n_columns), size):
            rest = [g for g in range(n_columns) if g not in members]
            along = own[:, list(members)].sum(axis=1)[:, None] + their[:, rest].sum(axis=1)
            means[frozenset(members)] = np.exp(-np.square(along)) @ shares
    values = np.zeros((n_rows, n_columns))
    for chosen, mean in means.items():
        size = len(chosen)
        for g in range(n_columns):
            if g not in chosen:
                weight = math.factorial(size) * math.factorial(n_columns - size - 1)
                step = means[chosen | {g}] - mean
                values[:, g] += weight / math.factorial(n_columns) * step
    return values
