"""Frequent directions: a few rows B such that B'B approximates the sum of a a' over a stream."""

from __future__ import annotations

import math

import numpy as np

from skauc.compiling import compiled_fast as compiled
from skauc.online.statistics import dot


@compiled
def sketch_row(rows, n_rows, own, vector):
    """Add a vector to the sketch of a class. A full sketch is halved first.

    ``rows`` has room for twice the rank. ``n_rows`` counts the rows in use.
    """
    if n_rows[own] == rows.shape[1]:
        _halve(rows[own])
        n_rows[own] = rows.shape[1] // 2
    for j in range(len(vector)):
        rows[own, n_rows[own], j] = vector[j]
    n_rows[own] += 1


@compiled
def _halve(rows):
    """Keep half of the singular directions, with the largest dropped square subtracted from each.

    The eigenvectors are computed from B B'. Its rounding errors are relative to the largest square,
    and so are those of B'B, which is all that matters.
    """
    rank = len(rows) // 2
    squares, directions = np.linalg.eigh(rows @ rows.T)
    dropped = max(squares[len(rows) - rank - 1], 0.0)
    turned = directions.T @ rows
    for kept in range(rank):
        last = len(rows) - 1 - kept
        share = 1.0 - dropped / squares[last] if squares[last] > dropped else 0.0
        for j in range(rows.shape[1]):
            rows[kept, j] = math.sqrt(share) * turned[last, j]


@compiled
def sketch_product(rows, vector):
    """Return B'B v."""
    result = np.zeros(len(vector))
    for i in range(len(rows)):
        inner = dot(rows[i], vector)
        for j in range(len(vector)):
            result[j] += inner * rows[i, j]
    return result
