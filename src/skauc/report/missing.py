"""Parts of a report that are not there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """A part that is not there, and why."""

    reason: str


SEVERAL = Missing("The model is an ensemble of several; this is shown for a single one.")
