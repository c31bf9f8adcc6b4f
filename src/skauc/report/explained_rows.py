"""Single rows explained: the columns that contribute most to their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from skauc.exceptions import InvalidParameterError
from skauc.explain import Explanation, shapley_values
from skauc.report.missing import Missing
from skauc.report.rows import LabelledRows
from skauc.support import cut_short, is_missing
from skauc.unwrapping import unwrap

# Rows of each kind that the report explains, and columns of each row.
N_EACH = 3
N_COLUMNS = 8
_LONGEST_CELL = 40


@dataclass(frozen=True)
class Contribution:
    """The contribution of one column, with its standard error if it was sampled."""

    name: str
    cell: str
    step: float
    error: float | None


@dataclass(frozen=True)
class ExplainedRow:
    """A row: its number, why it is shown, and its contributions.

    ``others`` is the sum of the contributions of the ``n_others`` columns that are not listed.
    ``probability`` is None for a model without probabilities.
    """

    number: int
    why: str
    score: float
    probability: float | None
    label: str | None
    contributions: tuple[Contribution, ...]
    n_others: int
    others: float


@dataclass(frozen=True)
class ExplainedRows:
    """Explained rows and what they have in common."""

    base_value: float
    is_exact: bool
    largest: float
    rows: tuple[ExplainedRow, ...]

    @property
    def decimals(self) -> int:
        """Decimals with which the largest contribution has three digits."""
        return max(2 - int(np.floor(np.log10(self.largest))), 0)


def explain_leading_rows(
    model, test: LabelledRows, scores: np.ndarray, labels: tuple[str, str]
) -> ExplainedRows | Missing:
    """Explain the rows with the highest scores, the worst misses and the worst false alarms."""
    order = np.argsort(-scores, kind="stable")
    is_positive = test.positive[order]
    chosen = [
        *((row, "highest score") for row in order[:N_EACH]),
        *((row, "worst miss") for row in order[is_positive][::-1][:N_EACH]),
        *((row, "worst false alarm") for row in order[~is_positive][:N_EACH]),
    ]
    reasons = {int(row): why for row, why in reversed(chosen)}  # the first reason counts
    rows = list(dict.fromkeys(int(row) for row, _ in chosen))
    try:
        explanation = shapley_values(model, _safe_indexing(test.X, rows))
    except InvalidParameterError as error:
        return Missing(f"Rows are not explained: {error}")
    true = [labels[int(test.positive[row])] for row in rows]
    numbers = [test.number(row) for row in rows]
    return describe(model, explanation, numbers, [reasons[row] for row in rows], true)


def describe(
    model: Any,
    explanation: Explanation,
    numbers: Sequence[int],
    whys: Sequence[str],
    labels: Sequence[str | None],
    most: int = N_COLUMNS,
) -> ExplainedRows:
    """Return an explanation as text and numbers."""
    scores = explanation.values.sum(axis=1) + explanation.base_values
    calibrator = unwrap(model).calibrator
    chances = None if calibrator is None else np.asarray(calibrator.predict(scores))
    if chances is None or chances.ndim != 1:
        chances = np.full(len(scores), None)
    rows = tuple(
        _describe_row(explanation[i], float(scores[i]), chances[i], number, why, label, most)
        for i, (number, why, label) in enumerate(zip(numbers, whys, labels, strict=True))
    )
    steps = [abs(part.step) for row in rows for part in row.contributions]
    return ExplainedRows(
        base_value=float(explanation.base_values[0]) if rows else 0.0,
        is_exact=explanation.is_exact,
        largest=max(steps, default=0.0) or 1.0,
        rows=rows,
    )


def _describe_row(
    explained: Explanation,
    score: float,
    chance: float | None,
    number: int,
    why: str,
    label: str | None,
    most: int,
) -> ExplainedRow:
    order = np.argsort(-np.abs(explained.values), kind="stable")
    shown, rest = order[:most], order[most:]
    errors = explained.standard_errors
    return ExplainedRow(
        number=number,
        why=why,
        score=score,
        probability=None if chance is None else float(chance),
        label=label,
        contributions=tuple(
            Contribution(
                explained.feature_names[i],
                cell_text(explained.data[i]),
                float(explained.values[i]),
                None if errors is None else float(errors[i]),
            )
            for i in shown
        ),
        n_others=len(rest),
        others=float(explained.values[rest].sum()),
    )


def cell_text(value) -> str:
    """Return a cell of a table as short text."""
    if isinstance(value, np.generic):
        value = value.item()
    if is_missing(value):
        return "missing"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value).removesuffix(" 00:00:00")
    return cut_short(text, _LONGEST_CELL)
