"""A model file as commands need it: the model, and what is known about its table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skauc.exceptions import InvalidDataError, InvalidParameterError

if TYPE_CHECKING:
    from skauc.app.tables import LabelledTable
    from skauc.app.workflow import ModelFacts


@dataclass(frozen=True)
class OpenedFile:
    """A model and what its file says."""

    model: object
    manifest: dict
    facts: ModelFacts

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of the columns, for the readers of tables."""
        return {
            column["name"]: column["kind"] if column.get("form") is None else "text"
            for column in self.manifest["columns"]
        }

    def rows(self, frame):
        """Return the features of a table as the model takes them: by name, if it knows names."""
        features = self.facts.features(frame)
        if hasattr(self.model, "feature_names_in_"):
            return features
        return features.to_numpy()

    def read_labelled(self, table: str, format, target, weights) -> LabelledTable:
        """Read a table with known labels."""
        from skauc.app.tables import read_table

        if target is None and self.facts.target is None:
            raise InvalidParameterError(
                "The model does not say which column it predicts. Name it with --target."
            )
        frame = read_table(table, format=format, kinds=self.kinds)
        labelled = self.facts.split(frame, target, weights)
        return replace(labelled, X=self.rows(labelled.X))


def open_file(path: Path) -> OpenedFile:
    """Read a model file."""
    if not path.exists():
        raise InvalidDataError(f"There is no file {path}. Check the name.")
    from skauc.app.workflow import ModelFacts
    from skauc.persistence import inspect_model, load_model

    manifest = inspect_model(path)
    model = load_model(path)
    return OpenedFile(model, manifest, ModelFacts.of(model, manifest["summary"]))
