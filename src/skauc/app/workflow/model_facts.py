"""What a model file says about the table it was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np

from skauc.app.tables import LabelledTable, find_label, is_same_label, split_target
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
        both = " and ".join(map(repr, self.labels))
        advice = f"Pass rows of both labels of the model, {both}, or name another column."
        table = split_target(frame, target, weights=weights, advice=advice)
        negative, positive = table.labels
        is_reversed = find_label(table.labels, self.labels[1]) == negative
        if is_reversed:
            negative, positive = positive, negative
        found = zip((negative, positive), self.labels, strict=True)
        if not all(is_same_label(*pair) for pair in found):
            raise InvalidDataError(
                f"The target {target!r} has the values {negative!r} and {positive!r}; the model "
                f"was fitted to {self.labels[0]!r} and {self.labels[1]!r}. Remove other rows, or "
                "name another column."
            )
        X = self.features(table.X)
        return replace(table, X=X, y=table.y != is_reversed, labels=self.labels)


def _plain(label):
    """Return a label as JSON can hold it."""
    label = label.item() if isinstance(label, np.generic) else label
    return label if isinstance(label, bool | int | float | str) else str(label)
