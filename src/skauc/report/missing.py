"""Parts that a report does not have."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """A part that the report does not have, and the reason."""

    reason: str


SEVERAL = Missing("The model averages several classifiers. This part needs a single one.")
ONLY_RIDGES = Missing("All centres are ridges. This part needs centres that are points.")
