"""The tables of ``skauc fit``: the one to train on, and the one to test on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skauc.app.cli.errors import naming
from skauc.app.cli.models import note_on_ignored, read_numbered
from skauc.app.cli.progress import watch
from skauc.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from skauc.app.workflow import TableParts

# The features of these files are numbers without names.
LIBSVM_SUFFIXES = (".libsvm", ".svm", ".svmlight")


@dataclass(frozen=True)
class FitTables:
    """The tables to read, and what their columns are."""

    table: str
    test: str | None
    target: str
    positive: str | None
    drop: tuple[str, ...]
    columns: dict[str, str | None]
    format: str | None
    kinds: dict[str, tuple[str, ...]]

    @property
    def left_out(self) -> list[str]:
        """Columns that are not features, besides the target."""
        named = (self.columns[name] for name in ("weights", "group"))
        return [*(name for name in named if name is not None), *self.drop]

    def read(self, share: float, seed: int) -> TableParts:
        """Read the training rows and the test rows."""
        from skauc.app.tables import split_target
        from skauc.app.workflow import (
            ModelFacts,
            TableParts,
            check_positive_is_clear,
            notes_on_shared_groups,
            split_off_test,
        )

        self._check_kinds()
        with watch("Reading"):
            frame = read_numbered(self.table, format=self.format, kinds=self._known_kinds)
            labelled = split_target(
                frame,
                self.target,
                positive=self.positive,
                drop=self.drop,
                weights=self.columns["weights"],
                time=self.columns["time"],
                group=self.columns["group"],
            )
            if self.positive is None:
                check_positive_is_clear(frame[self.target])
            if self.test is None:
                return split_off_test(labelled, share, seed)
            facts = ModelFacts.from_table(labelled, self.target, self.left_out)
            test = read_numbered(self.test, kinds=_reading_kinds(labelled.X))
            with naming(self.test):
                tested = facts.split(test, self.target, self.columns["weights"])
            new = [name for name in tested.X.columns if name not in labelled.X.columns]
            tested = replace(tested, X=tested.X.drop(columns=new))
            group = self.columns["group"]
            notes = () if group is None else notes_on_shared_groups(frame, test, group)
            ignored = (note_on_ignored(new),) if new else ()
            return TableParts(labelled, tested, (*ignored, *notes))

    def _check_kinds(self) -> None:
        """Raise an error for the kind of a column that is no feature."""
        for kind, names in self.kinds.items():
            for name in names:
                if name in (self.target, *self.left_out):
                    raise InvalidParameterError(
                        f"--{kind} names the column {name!r}, which another option makes the "
                        f"target, the weights or the groups, or drops. Remove it from --{kind}."
                    )

    @property
    def _known_kinds(self) -> dict[str, str]:
        """Columns to read as text: categories keep their leading zeros."""
        if Path(self.table.removesuffix(".gz")).suffix in LIBSVM_SUFFIXES:
            return {}
        return dict.fromkeys(self.kinds["category"], "category") | dict.fromkeys(
            self.kinds["date"], "date"
        )


def _reading_kinds(X) -> dict[str, str]:
    """Return kinds for reading another table: what is text here is text there."""
    from skauc.preprocessing.kinds import find_type

    found = {str(name): find_type(X[name]) for name in X.columns}
    return {
        name: type.kind if type.form is None else "text"
        for name, type in found.items()
        if type is not None
    }
