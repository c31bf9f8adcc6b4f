"""What a model file says about the table it was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np

from skauc.app.tables import LabelledTable, split_target
from skauc.exceptions import InvalidDataError, InvalidParameterError


@dataclass(frozen=True)
class ModelFacts:
    """The table that a model was trained on.

    Attributes
    ----------
    labels : tuple
        The values of the target that stand for False and for True.
    target : str or None
        The column that the model predicts.
    left_out : tuple of str
        Columns that are not features: the target, the weights and the dropped columns.
    """

    labels: tuple
    target: str | None = None
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, model, summary: Mapping) -> ModelFacts:
        """Return what the summary in the file says, or what follows from the model."""
        labels = summary.get("labels")
        if not isinstance(labels, list) or len(labels) != 2:
            labels = [_plain(label) for label in model.classes_]
        left_out = summary.get("left_out", ())
        return cls(tuple(labels), summary.get("target"), tuple(map(str, left_out)))

    @classmethod
    def from_table(cls, table: LabelledTable, target: str, left_out) -> ModelFacts:
        """Return what is known at training time."""
        labels = tuple(_plain(label) for label in table.labels)
        return cls(labels, target, tuple(dict.fromkeys((target, *left_out))))

    def as_summary(self) -> dict:
        """Return the entries of the summary in the file."""
        return asdict(self) | {"labels": list(self.labels), "left_out": list(self.left_out)}

    def features(self, frame):
        """Return a table without the columns that are not features."""
        return frame.drop(columns=[name for name in self.left_out if name in frame.columns])

    def split(self, frame, target: str | None, weights: str | None) -> LabelledTable:
        """Split a table with known labels into features, labels and weights."""
        target = target or self.target
        if target is None:
            raise InvalidParameterError(
                "The model file does not say which column it predicts. Name it with --target."
            )
        table = split_target(
            frame, target, positive=_matching(self.labels[1], frame, target), weights=weights
        )
        if _text(table.labels[0]) != _text(self.labels[0]):
            raise InvalidDataError(
                f"The target {target!r} has the values {table.labels[0]!r} and "
                f"{table.labels[1]!r}; the model was fitted to {self.labels[0]!r} and "
                f"{self.labels[1]!r}. Remove other rows, or name another column."
            )
        return replace(table, X=self.features(table.X), labels=self.labels)


def _matching(label, frame, target: str):
    """Return the value in the table that equals the label as text: 1, 1.0, "1" and "1.0" do."""
    if target not in frame.columns:
        return label
    values = frame[target].dropna().unique().tolist()
    return next((value for value in values if _text(value) == _text(label)), label)


def _text(value) -> str:
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, int | float | np.number) and float(value).is_integer():
        return str(int(value))
    text = str(value)
    return text.lower() if text.lower() in ("true", "false") else text


def _plain(label):
    """Return a label as JSON can hold it."""
    label = label.item() if isinstance(label, np.generic) else label
    return label if isinstance(label, bool | int | float | str) else str(label)
