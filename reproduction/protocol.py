"""The paper's protocol: grid, folds, and conversion of parameters.

The paper's C is the weight of one pair. Ours is that of a pair times the number of rows,
C = C_pair l. The paper's sigma is gamma = 1 / (2 sigma^2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import Bunch

N_FOLDS = 5
PAPER_RUNS = 4
# Data sets with more rows use a coarser grid for some methods, and for all methods.
SOME_ROWS = 1_500
MANY_ROWS = 10_000


class Grid(NamedTuple):
    """Pair weights and widths, in the paper's units."""

    C_pairs: tuple[float, ...]
    sigmas: tuple[float, ...]


COARSE = Grid(tuple(10.0**k for k in range(-5, 1)), tuple(2.0**k for k in range(-1, 6)))


@dataclass(frozen=True)
class Protocol:
    """Everything a run depends on besides the data and the method.

    ``C_pairs`` and ``sigmas`` are the grid, in the paper's units. ``most_basis`` limits the paper's
    d_max, which is half of the rows. ``inner_folds`` choose the parameters within a training part;
    large data sets use ``inner_folds_of_many`` of them. ``most_rows`` limits the training rows
    (None for no limit). ``is_brief`` thins the grids of methods with their own grid. ``device``
    holds large kernel matrices ("cpu" or a torch device). ``nested_runs`` is the number of runs
    with inner folds (None for all). Results do not depend on the last two.
    """

    C_pairs: tuple[float, ...] = tuple(10.0**k for k in range(-5, 6))
    sigmas: tuple[float, ...] = tuple(2.0**k for k in range(-5, 6))
    most_basis: int = 182
    inner_folds: int = 3
    inner_folds_of_many: int = 1
    most_rows: int | None = None
    is_brief: bool = False
    seed: int = 0
    device: str = "cpu"
    nested_runs: int | None = None

    def as_dict(self) -> dict:
        """Return everything that results depend on, in JSON form."""
        values = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return {k: v for k, v in values.items() if k not in ("device", "nested_runs")}

    def n_inner(self, n_rows: int, run: int) -> int:
        """Return the number of inner folds used in a run for this number of rows."""
        if self.nested_runs is not None and run >= self.nested_runs:
            return 0
        is_many = n_rows > MANY_ROWS and not self.is_brief
        return self.inner_folds_of_many if is_many else self.inner_folds

    def grid(self, n_rows: int, most_rows: int) -> Grid:
        """Return the grid of a method that uses the full grid up to a number of rows."""
        if self.is_brief or n_rows <= most_rows:
            return Grid(self.C_pairs, self.sigmas)
        return COARSE


FULL = Protocol()
QUICK = Protocol(
    C_pairs=tuple(10.0**k for k in (-3, -2, -1, 0, 1)),
    sigmas=tuple(2.0**k for k in (-1, 1, 2, 3, 4)),
    most_basis=32,
    inner_folds=2,
    most_rows=1000,
    is_brief=True,
)


@dataclass(frozen=True, eq=False)
class Part:
    """Training and test rows; labels are 1 and 0."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def scaled(self, scaler) -> Part:
        """Return the part with features scaled on the training rows."""
        scaler.fit(self.X_train)
        X_train, X_test = scaler.transform(self.X_train), scaler.transform(self.X_test)
        return Part(X_train, self.y_train, X_test, self.y_test)


def to_scale_free(C_pair: float, y_train: np.ndarray) -> float:
    """Return C = C_pair l, the parameter of `SparseKernelAUC`."""
    return C_pair * len(y_train)


def gamma_of(sigma: float) -> float:
    """Return gamma = 1 / (2 sigma^2)."""
    return 0.5 / sigma**2


def split_numbers(dataset_has_test: bool, n_runs: int) -> list[tuple[int, int]]:
    """Return the (run, fold) pairs of a data set; one if there is an official test part."""
    if dataset_has_test:
        return [(0, 0)]
    return [(run, fold) for run in range(n_runs) for fold in range(N_FOLDS)]


def part_of(data: Bunch, run: int, fold: int, protocol: Protocol) -> Part:
    """Return one fold of one run, or the official parts.

    The folds of a run depend only on the seed and the run, so runs can be added later.
    """
    X, y = data.X_train, (data.y_train > 0).astype(int)
    seed = protocol.seed + run
    if data.X_test is not None:
        X, y = _fewer_rows(X, y, protocol.most_rows, seed)
        return Part(X, y, data.X_test, (data.y_test > 0).astype(int))
    X, y = _fewer_rows(X, y, protocol.most_rows, protocol.seed)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y)
    train, test = list(folds)[fold]
    return Part(X[train], y[train], X[test], y[test])


def inner_parts(part: Part, protocol: Protocol) -> Iterator[Part]:
    """Yield the inner folds of a training part."""
    X, y = part.X_train, part.y_train
    folds = StratifiedKFold(protocol.inner_folds, shuffle=True, random_state=protocol.seed)
    for train, test in folds.split(X, y):
        yield Part(X[train], y[train], X[test], y[test])


def _fewer_rows(X, y, most_rows: int | None, seed: int):
    if most_rows is None or len(y) <= most_rows:
        return X, y
    rows, _ = train_test_split(
        np.arange(len(y)), train_size=most_rows, stratify=y, random_state=seed
    )
    return X[rows], y[rows]
