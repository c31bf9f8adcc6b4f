"""A model file as commands need it: the model, and what is known about its table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skauc.app.cli.output import say
from skauc.exceptions import InvalidDataError

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
        features, names = self.facts.features(frame), list(self.kinds)
        missing = [name for name in names if name not in features.columns]
        if hasattr(self.model, "feature_names_in_"):
            self._check_names(missing)
            return features if missing else features[names]
        if names and not missing:
            return features[names].to_numpy()
        self._check_number(list(features.columns))
        return features.to_numpy()

    def _check_names(self, missing: list[str]) -> None:
        """Raise an error if columns are missing; a preprocessor does so itself."""
        from skauc.preprocessing import TablePreprocessor
        from skauc.preprocessing.names import listed_columns
        from skauc.unwrapping import first_step

        if missing and not isinstance(first_step(self.model), TablePreprocessor):
            raise InvalidDataError(
                f"The table lacks {listed_columns(missing)}, which the model was fitted with. Add "
                "what is missing."
            )

    def _check_number(self, columns: list) -> None:
        """Raise an error unless the table has as many columns as the array of the training."""
        from skauc.preprocessing.names import listed

        n_taken = getattr(self.model, "n_features_in_", len(columns))
        if len(columns) != n_taken:
            raise InvalidDataError(
                f"The model was fitted to an array of {n_taken} columns without names; the table "
                f"has {len(columns)}: {listed(columns)}. Leave out what is no feature, such as the "
                "labels."
            )

    def note_unused(self, frame, kept: Collection[str] = ()) -> None:
        """Print which columns the model has never seen."""
        from skauc.unwrapping import first_step

        dropped = getattr(first_step(self.model), "dropped_", ())
        known = {*self.kinds, *self.facts.left_out, *dropped, *kept}
        unused = [str(name) for name in frame.columns if name not in known]
        if unused and hasattr(self.model, "feature_names_in_"):
            say(f"Note: {note_on_ignored(unused)}")

    def read_labelled(self, table: str, format, target, weights) -> LabelledTable:
        """Read a table with known labels. The index of ``X`` counts the rows of the table from 0.

        The model takes ``rows(X)``.
        """
        frame = read_numbered(table, format=format, kinds=self.kinds)
        self.note_unused(frame, [name for name in (target, weights) if name is not None])
        split = self.facts.split(frame, target, weights)
        # The model may use the weights, or another target than its own, as a feature.
        used = [name for name in frame.columns if name in split.X.columns or name in self.kinds]
        return replace(split, X=frame.loc[split.X.index, used])


def note_on_ignored(columns: list[str]) -> str:
    """Say that the model has never seen these columns."""
    from skauc.preprocessing.names import listed_columns

    are = "it is" if len(columns) == 1 else "they are"
    return f"The model was fitted without {listed_columns(columns)}; {are} ignored."


def read_numbered(table: str, **options):
    """Read a table whose index counts the rows from 0."""
    from skauc.app.tables import read_table

    return read_table(table, **options).reset_index(drop=True)


def open_file(path: Path) -> OpenedFile:
    """Read a model file."""
    if not path.exists():
        raise InvalidDataError(f"There is no file {path}. Check the name.")
    from skauc.app.workflow import ModelFacts
    from skauc.persistence import inspect_model, load_model

    manifest = inspect_model(path)
    model = load_model(path)
    return OpenedFile(model, manifest, ModelFacts.of(model, manifest["summary"]))
