"""Settings: what a search varies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from skauc.sparse.ridges import RIDGES

# Models of this many centres are not made smaller to compare settings.
LEAST_COMPARED = 16
# Ridges that are averaged with other centres: this part of the largest number of centres, and at
# least so many.
RIDGE_PART, LEAST_RIDGES = 4, 4


@dataclass(frozen=True)
class Setting:
    """One point of the grid. ``refine`` is a number of steps, 0 for none.

    ``C`` is a number, or "auto" if each fit estimates its own. ``whole_curve`` is a model without
    the limits of the search, see `skauc.losses.focus`.
    """

    scaling: str | None
    gamma: float | tuple[float, ...]
    linear_term: bool
    refine: int
    C: float | str
    n_basis: int
    rotate: bool = False
    shapes: str = "round"
    whole_curve: bool = False

    def parameters(self) -> dict:
        """Return the parameters of `SparseKernelAUC`."""
        gamma = list(self.gamma) if isinstance(self.gamma, tuple) else self.gamma
        own = {**vars(self), "gamma": gamma, "refine": self.refine or False}
        return own | {"max_fpr": None, "min_tpr": None} if own.pop("whole_curve") else own

    def has_structure_of(self, other: Setting) -> bool:
        """Tell whether two settings differ in nothing but C and size."""
        return replace(self, C=other.C, n_basis=other.n_basis) == other

    def is_like(self, other: Setting) -> bool:
        """Tell whether both settings have a linear term, or neither, and likewise ridges."""
        return (self.linear_term, self.has_ridges) == (other.linear_term, other.has_ridges)

    @property
    def has_ridges(self) -> bool:
        """Whether centres may be ridges."""
        return self.shapes in RIDGES

    def of_size(self, n_basis: int) -> Setting:
        """Return the same setting with another number of centres."""
        return replace(self, n_basis=n_basis)

    def __str__(self) -> str:
        widths = self.gamma if isinstance(self.gamma, tuple) else (self.gamma,)
        parts = [f"scaling={self.scaling!r}", f"gamma={'/'.join(f'{g:.3g}' for g in widths)}"]
        parts += [f"C={self.C}"]
        parts += ["linear term"] if self.linear_term else []
        parts += [f"refine={self.refine}"] if self.refine else []
        parts += ["rotate"] if self.rotate else []
        parts += [] if self.shapes == "round" else [f"{self.shapes} centres"]
        parts += ["whole curve"] if self.whole_curve else []
        return ", ".join(parts)


# What each of some models is multiplied by before their scores are added up, by setting and C. None
# stands for the C of the fit.
Factors: TypeAlias = dict[Setting, dict[float | None, float]]


def n_centres(setting: Setting) -> int:
    """Return the largest number of centres of a setting."""
    return setting.n_basis


@dataclass(frozen=True)
class SearchGrid:
    """What is searched: structures, the usual one first, and the Cs to try.

    ``ladder`` holds the Cs in ascending order. If ``tries_all`` is False, the search tries the next
    one above the C of a setting, and goes on while it gets better. Of ``probed``, small models are
    tried first. ``averaged`` has the shapes of centres that may be averaged, with the number of
    steps of their refinement.
    """

    settings: tuple[Setting, ...]
    ladder: tuple[float, ...]
    tries_all: bool = False
    probed: tuple[Setting, ...] = ()
    averaged: dict[str, int] = field(default_factory=dict)

    @property
    def n_basis(self) -> int:
        """The largest number of centres."""
        return self.settings[0].n_basis

    def for_comparison(self) -> SearchGrid:
        """Return the grid with half of the centres, unless nothing but given Cs is compared."""
        n_basis = max(self.n_basis // 2, min(self.n_basis, LEAST_COMPARED))
        is_free = bool(self.ladder) and not self.tries_all
        if len(self.settings) + len(self.probed) == 1 and not is_free:
            return self
        return replace(self, settings=tuple(s.of_size(n_basis) for s in self.settings))

    def members(self, best: Setting) -> list[Setting]:
        """Return the best setting with other shapes of centres."""
        n_ridges = max(self.n_basis // RIDGE_PART, min(self.n_basis, LEAST_RIDGES))
        others = [
            replace(best, shapes=shapes, refine=n_steps)
            for shapes, n_steps in self.averaged.items()
            if shapes != best.shapes
        ]
        return [other.of_size(n_ridges) if other.has_ridges else other for other in others]

    def nearest(self, C: float) -> float:
        """Return the C of the ladder that is nearest to a number."""
        return min(self.ladder, key=lambda other: abs(math.log(other / C)))

    def above(self, C: float) -> tuple[float, ...]:
        """Return the C after the one that is nearest to a number, if there is one."""
        return tuple(other for other in self.around(C, 1) if other > self.nearest(C))

    def around(self, C: float, n_near: int) -> tuple[float, ...]:
        """Return the C nearest to a number and up to ``n_near`` Cs on each side, ascending."""
        if not self.ladder:
            return ()
        place = self.ladder.index(self.nearest(C))
        return self.ladder[max(place - n_near, 0) : place + n_near + 1]
