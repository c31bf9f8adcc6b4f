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
from itertools import product

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
    n_columns: int

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
            members, weights = _sets(len(used))
            means = np.empty((len(rows), len(members)))
            for number, inside in enumerate(members):
                along = (own @ inside)[:, None] + their @ (1 - inside)
                means[:, number] = np.exp(-np.square(along)) @ shares
            values[:, used] += coef * (means @ weights)

    def enumerated(self, background: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return matrices A and V and a vector t for one background row b.

        The Shapley values of a row x are exp(-((x - b) A + t)^2) V. A and t have one column per
        ridge and set of its columns, V has one row.
        """
        slopes, offsets, shares = [], [], []
        for centre, scales, coef in zip(self.centres, self.metric, self.coef, strict=True):
            used = np.unique(self.columns[scales != 0])
            members, weights = _sets(len(used))
            inside = np.zeros((len(members), len(scales)))
            for g, column in enumerate(used):
                inside[:, self.columns == column] = members[:, [g]]
            slopes.append(inside * scales)
            offsets.append(np.full(len(members), (background - centre) @ scales))
            share = np.zeros((len(members), self.n_columns))
            share[:, used] = coef * weights
            shares.append(share)
        return np.vstack(slopes).T, np.concatenate(offsets), np.vstack(shares)

    def _along(self, moved: np.ndarray, scales: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Return u_g for each row and each column in use."""
        return np.column_stack(
            [moved[:, self.columns == g] @ scales[self.columns == g] for g in used]
        )

    def most_columns(self) -> int:
        """Return the largest number of columns that a ridge uses."""
        used = (np.unique(self.columns[scales != 0]) for scales in self.metric)
        return max((len(each) for each in used), default=0)


def _sets(n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all sets of columns, one per row, and the weights of their values.

    The Shapley values of a game are its values of the sets, times the weights.
    """
    members = np.array(list(product((0.0, 1.0), repeat=n_columns)))
    sizes = members.sum(axis=1)
    joins = np.array([_share(size - 1, n_columns) for size in sizes])
    leaves = np.array([_share(size, n_columns) for size in sizes])
    return members, np.where(members > 0, joins[:, None], -leaves[:, None])


def _share(size: float, n_columns: int) -> float:
    """Return the share of the orders in which a given set of this size precedes a given column."""
    if not 0 <= size < n_columns:
        return 0.0
    return 1 / (n_columns * math.comb(n_columns - 1, int(size)))
