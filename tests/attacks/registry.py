"""The attacks: names, counts at full size, limits, and where they are."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol


class Attack(Protocol):
    """An attack with its material at hand. ``kind`` says what the last case was about."""

    kind: str

    def __init__(self, folder: Path, seed: int): ...

    def run(self, case: int) -> str:
        """Run one case and say in a word or two what came of it; raise an error if it failed."""


@dataclass(frozen=True)
class Entry:
    """How an attack is run.

    ``seconds`` is the time that one case may take before it counts as a hang. ``memory`` is the
    address space in bytes that a case may add to that of the prepared process, None for no limit.
    """

    name: str
    count: int
    seconds: float
    memory: int | None

    def load(self, folder: Path, seed: int) -> Attack:
        """Return the attack, ready to run."""
        module = import_module(f"tests.attacks.{self.name}")
        return module.Attack(folder, seed)


ATTACKS = {
    entry.name: entry
    for entry in (
        Entry("model_files", count=10_000, seconds=30, memory=1 << 30),
        Entry("hostile_fits", count=10_000, seconds=60, memory=2 << 30),
        Entry("discrete_searches", count=1_000, seconds=120, memory=2 << 30),
        Entry("checkpoints", count=1_000, seconds=60, memory=1 << 30),
        Entry("command_lines", count=500, seconds=180, memory=None),
    )
}
# Tries the harness; no part of --all.
SELF_TEST = Entry("self_test", count=7, seconds=2, memory=1 << 30)


def find(name: str) -> Entry:
    """Return an attack by its name."""
    return SELF_TEST if name == SELF_TEST.name else ATTACKS[name]
