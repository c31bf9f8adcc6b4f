"""Settings: what a search varies."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

# Models of this many centres are not made smaller to compare settings.
LEAST_COMPARED = 16


@dataclass(frozen=True)
class Setting:
    """One point of the grid. ``refine`` is a number of steps, 0 for none.

    ``whole_curve`` is a model without the limits of the search, see `skauc.losses.focus`.
    """

    scaling: str | None
    gamma: float | tuple[float, ...]
    linear_term: bool
    refine: int
    C: float
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

    def has_map_of(self, other: Setting) -> bool:
        """Tell whether two settings see the rows through the same map of the features."""
        return (self.scaling, self.rotate) == (other.scaling, other.rotate)

    def __str__(self) -> str:
        widths = self.gamma if isinstance(self.gamma, tuple) else (self.gamma,)
        parts = [f"scaling={self.scaling!r}", f"gamma={'/'.join(f'{g:.3g}' for g in widths)}"]
        parts += ["linear term"] if self.linear_term else []
        parts += [f"refine={self.refine}"] if self.refine else []
        parts += ["rotate"] if self.rotate else []
        parts += [] if self.shapes == "round" else [f"{self.shapes} centres"]
        parts += ["whole curve"] if self.whole_curve else []
        return ", ".join(parts)


@dataclass(frozen=True)
class SearchGrid:
    """What is searched: structures, the first one to start from, and the Cs in ascending order.

    ``ladder`` has more Cs, to which the search goes on if the best C is the first or the last one.
    """

    settings: tuple[Setting, ...]
    Cs: tuple[float, ...]
    ladder: tuple[float, ...]

    @property
    def n_basis(self) -> int:
        """The largest number of centres."""
        return self.settings[0].n_basis

    def for_comparison(self) -> SearchGrid:
        """Return the grid with half of the centres if there are several structures to compare."""
        n_basis = max(self.n_basis // 2, min(self.n_basis, LEAST_COMPARED))
        if len(self.settings) == 1:
            return self
        return replace(self, settings=tuple(replace(s, n_basis=n_basis) for s in self.settings))

    def near(self, C: float) -> list[float]:
        """Return the Cs next to one."""
        return [near for near in self.around(C, 1) if near != C]

    def around(self, C: float, n_near: int) -> tuple[float, ...]:
        """Return a C with up to ``n_near`` Cs on each side of it, in ascending order."""
        place = self.ladder.index(C)
        return self.ladder[max(place - n_near, 0) : place + n_near + 1]

    def beyond(self, best: float, tried: Collection[float]) -> float | None:
        """Return the C to try after the best one, or None if its neighbours were tried."""
        return next((C for C in self.near(best) if C not in tried), None)
