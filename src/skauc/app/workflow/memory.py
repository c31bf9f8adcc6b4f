"""What a model file remembers of its training table, and how another table differs from it.

The memory of a column is a histogram over the tenths of the training rows, or over the most
frequent levels of a category. It takes about a hundred bytes per column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import chi2

from skauc.exceptions import InvalidDataError
from skauc.metrics.corrections import holm
from skauc.preprocessing import TablePreprocessor
from skauc.support import date_text
from skauc.unwrapping import first_step

SCORES = "score"
N_BINS = 10
_MOST_LEVELS = 10
# A column has shifted if its index is above the first number and its p-value below the second.
SHIFTED_PSI, SHIFTED_P = 0.1, 0.01
_LONGEST = 60


@dataclass(frozen=True)
class ColumnDrift:
    """How one column differs from the training rows.

    Attributes
    ----------
    name : str
        The column, or "score" for the scores.
    psi : float
        Population stability index: sum over the bins of (q - p) log(q / p).
    p_value : float
        P-value of a chi-squared test of equal shares, corrected by Holm's method.
    missing_before, missing_now : float
        Shares of missing values.
    bins : tuple of str
        Names of the bins.
    before, now : tuple of float
        Shares of the rows in each bin.
    """

    name: str
    psi: float
    p_value: float
    missing_before: float
    missing_now: float
    bins: tuple[str, ...]
    before: tuple[float, ...]
    now: tuple[float, ...]

    @property
    def has_shifted(self) -> bool:
        """Whether the shift is neither small nor a chance result."""
        return self.psi > SHIFTED_PSI and self.p_value < SHIFTED_P

    @property
    def change(self) -> str:
        """The bin whose share has changed most."""
        changes = np.subtract(self.now, self.before)
        largest = int(np.argmax(np.abs(changes)))
        shares = f"{100 * self.before[largest]:.0f}% → {100 * self.now[largest]:.0f}%"
        return f"{self.bins[largest]}: {shares}"


def remember(model: Any, X: Any, scores: np.ndarray) -> dict[str, Any]:
    """Return the memory of a table and its scores, as values for JSON.

    Parameters
    ----------
    model : estimator
        A fitted pipeline that begins with a `TablePreprocessor`.
    X : DataFrame
        The training rows.
    scores : ndarray of shape (n_samples,)
        Scores of rows that the model was not fitted to, if there are any.

    Returns
    -------
    memory : dict
        Number of rows, and a histogram per column and for the scores.
    """
    columns, kinds = _columns(model, X), first_step(model).columns_
    return {
        "n_rows": len(X),
        "columns": {
            name: _remember_column(values, kinds[name]) for name, values in columns.items()
        },
        "n_scores": len(scores),
        SCORES: _remember_column(np.asarray(scores, dtype=np.float64)),
    }


def find_drift(model: Any, memory: Any, X: Any, scores: np.ndarray) -> list[ColumnDrift]:
    """Compare a table and its scores with the memory; the largest shift comes first.

    Parameters
    ----------
    model : estimator
        The fitted model.
    memory : dict
        The result of `remember`.
    X : DataFrame
        The rows to compare.
    scores : ndarray of shape (n_samples,)
        Their scores.

    Returns
    -------
    drifts : list of ColumnDrift
        The scores first, then the columns.
    """
    _check_memory(memory)
    columns = _columns(model, X)
    found = [_compare(SCORES, memory[SCORES], memory["n_scores"], scores)]
    found += [
        _compare(name, known, memory["n_rows"], columns[name])
        for name, known in memory["columns"].items()
        if name in columns
    ]
    corrected = holm([p for _, p in found])
    drifts = [
        ColumnDrift(**fields, p_value=p) for (fields, _), p in zip(found, corrected, strict=True)
    ]
    return [drifts[0], *sorted(drifts[1:], key=lambda drift: -drift.psi)]


def _columns(model: Any, X: Any) -> dict[str, np.ndarray]:
    step = first_step(model)
    if not isinstance(step, TablePreprocessor):
        raise InvalidDataError(
            "Drift needs a model that prepares its table with TablePreprocessor. Fit it with: "
            "skauc fit"
        )
    return step.column_values(X)


def _remember_column(values: np.ndarray, kind: str = "numeric") -> dict[str, Any]:
    part: dict[str, Any]
    if values.dtype.kind == "f":
        part = {"edges": _edges(values[np.isfinite(values)])}
        if kind == "date":
            part["is_date"] = True
    else:
        levels, n_rows = np.unique(values[values != ""].astype(str), return_counts=True)
        order = np.argsort(-n_rows, kind="stable")[:_MOST_LEVELS]
        part = {"levels": [level for level in levels[order].tolist() if len(level) <= _LONGEST]}
    counts = _count(part, values)
    shares = np.round(counts / max(counts.sum(), 1), 5)
    missing = round(_n_missing(values) / len(values), 5)
    return {**part, "shares": shares.tolist(), "missing": missing}


def _edges(known: np.ndarray) -> list[float]:
    """Return the upper ends of the bins but the last: tenths of the rows.

    A value that fills several tenths has a bin of its own.
    """
    if len(known) == 0:
        return []
    distinct = np.unique(known)
    tenths = np.quantile(known, np.linspace(0, 1, N_BINS + 1)[1:-1], method="lower")
    edges, n_tenths = np.unique(tenths, return_counts=True)
    full = np.searchsorted(distinct, edges[n_tenths > 1])
    before = distinct[full[full > 0] - 1]
    return sorted({float(f"{edge:.9g}") for edge in [*edges, *before]})


def _count(known: Mapping, values: np.ndarray) -> np.ndarray:
    """Return the number of rows per bin."""
    if "edges" in known:
        edges = np.array(known["edges"], dtype=np.float64)
        numbers = values.astype(np.float64)
        bins = np.searchsorted(edges, numbers[np.isfinite(numbers)], side="left")
        return np.bincount(bins, minlength=len(edges) + 1)
    place = {level: number for number, level in enumerate(known["levels"])}
    codes = [place.get(str(value), len(place)) for value in values if value != ""]
    return np.bincount(np.array(codes, dtype=np.int64), minlength=len(place) + 1)


def _n_missing(values: np.ndarray) -> int:
    is_number = values.dtype.kind == "f"
    return int(np.count_nonzero(np.isnan(values) if is_number else values == ""))


def _compare(name: str, known: Mapping, n_before: int, values: np.ndarray) -> tuple[dict, float]:
    """Return the fields of a `ColumnDrift` and the p-value before its correction."""
    counts = _count(known, values)
    missing_before, missing_now = float(known["missing"]), _n_missing(values) / len(values)
    before = np.array(known["shares"], dtype=np.float64)
    n_known = max(n_before * (1 - missing_before), 1.0)
    # Missing values are one more bin.
    old = np.append(before * n_known, missing_before * n_before)
    new = np.append(counts, missing_now * len(values)).astype(np.float64)
    used = old + new > 0
    psi, p_value = _psi(old[used], new[used]), _p_value(old[used], new[used])
    now = counts / max(counts.sum(), 1)
    fields = {
        "name": name,
        "psi": psi,
        "missing_before": missing_before,
        "missing_now": missing_now,
        "bins": tuple(_bin_names(known)),
        "before": tuple(before.tolist()),
        "now": tuple(now.tolist()),
    }
    return fields, p_value


def _psi(old: np.ndarray, new: np.ndarray) -> float:
    """Return the index; half a row is added to each bin, so that no bin is empty."""
    p, q = ((counts + 0.5) / (counts + 0.5).sum() for counts in (old, new))
    return float(np.sum((q - p) * np.log(q / p)))


def _p_value(old: np.ndarray, new: np.ndarray) -> float:
    """Return the p-value of the chi-squared test for equal shares in two samples."""
    if len(old) < 2:
        return 1.0
    total = old + new
    expected_old = total * old.sum() / total.sum()
    expected_new = total * new.sum() / total.sum()
    statistic = np.sum((old - expected_old) ** 2 / expected_old)
    statistic += np.sum((new - expected_new) ** 2 / expected_new)
    return float(chi2.sf(statistic, len(old) - 1))


def _bin_names(known: Mapping) -> list[str]:
    if "levels" in known:
        return [*known["levels"], "other values"]
    is_date = known.get("is_date", False)
    edges = [date_text(edge) if is_date else f"{edge:.6g}" for edge in known["edges"]]
    if not edges:
        return ["all values"]
    between = [f"above {low} up to {high}" for low, high in pairwise(edges)]
    return [f"up to {edges[0]}", *between, f"above {edges[-1]}"]


def _check_memory(memory: Any) -> None:
    if memory is None:
        raise InvalidDataError(
            "The model file remembers no distributions. Fit the model again with: skauc fit"
        )
    is_valid = isinstance(memory, dict) and isinstance(memory.get("columns"), dict)
    parts = [*memory["columns"].values(), memory.get(SCORES)] if is_valid else []
    counts = (memory.get("n_rows"), memory.get("n_scores")) if is_valid else ()
    are_counts = all(isinstance(count, int) and count > 0 for count in counts)
    if not is_valid or not are_counts or not all(map(_is_column_memory, parts)):
        raise InvalidDataError(
            "The distributions in the model file are damaged. Fit the model again with: skauc fit"
        )


def _is_column_memory(part: Any) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("shares"), list):
        return False
    bins: Any = part.get("edges", part.get("levels"))
    kind = (int, float) if "edges" in part else str
    are_bins = isinstance(bins, list) and all(isinstance(each, kind) for each in bins)
    numbers = [*part["shares"], part.get("missing")]
    are_shares = all(isinstance(each, int | float) and 0 <= each <= 1 for each in numbers)
    return are_bins and are_shares and len(part["shares"]) == len(bins) + 1
