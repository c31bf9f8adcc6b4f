"""What a search tries: the usual structure, and one other structure at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skauc.data.sampling import class_counts
from skauc.data.statistics import feature_statistics
from skauc.data.training import TrainingData
from skauc.engines import ENGINES
from skauc.exceptions import InvalidParameterError
from skauc.feature_map import check_scaling, scale
from skauc.kernel_parameters import check_gamma, resolve_gammas
from skauc.scalings import SCREENED
from skauc.sparse.budget import affordable
from skauc.sparse.decision import SIZES
from skauc.sparse.parameters import SHAPES, Parameters, as_selection, n_steps
from skauc.sparse.search import is_few
from skauc.sparse.settings import SearchGrid, Setting
from skauc.support import quiet_overflow
from skauc.validation import (
    check_boolean,
    check_boolean_or_auto,
    check_choice,
    check_n_jobs,
    check_positive,
    check_refine,
    check_scoring,
    check_verbose,
    is_auto,
    is_sequence,
)

if TYPE_CHECKING:
    from skauc.sparse.estimator_cv import SparseKernelAUCCV


@dataclass(frozen=True)
class Effort:
    """How much a search tries.

    ``changes`` tells whether other structures than the usual one are tried, or averaged with it.
    ``rotations`` are the values of `rotate`. Models with centres of the shapes ``averaged`` are
    averaged, or ``averaged_if_few`` if the rarer class has few rows. ``n_kept`` settings of a round
    go on to all folds. Below ``redrawn_below`` rows the folds are drawn ``n_drawings`` times:
    fits take little time then, and a single set of folds misleads. ``last_rows`` are those that the
    last fits are refined on.
    """

    changes: bool = True
    rotations: tuple[bool, ...] = (False, True)
    averaged: tuple[str, ...] = ("round", "local", "additive")
    averaged_if_few: tuple[str, ...] = ("round", "additive")
    n_kept: int = 2
    n_folds: int = 5
    n_drawings: int = 2
    redrawn_below: int = 600
    last_rows: int = 32_000

    def n_repeats(self, n_rows: int) -> int:
        """Return how often the folds of so many rows are drawn."""
        return self.n_drawings if n_rows < self.redrawn_below else 1


# The Cs that may be tried beside the one that fits estimate.
LADDER = (0.004, 0.02, 0.1, 0.5, 2.5, 12.5, 62.5, 312.5, 1562.5, 7812.5)

# More settings to choose from do harm, because the best of many is the luckiest one. Means over
# more folds, averages of more models and more rows do not (docs/results/development.md).
_ALL_SHAPES = ("round", "local", "additive", "ridge")
EFFORTS = {
    "quick": Effort(changes=False, rotations=(False,), n_kept=1, n_folds=3, n_drawings=1),
    "default": Effort(),
    "thorough": Effort(
        averaged=_ALL_SHAPES,
        averaged_if_few=_ALL_SHAPES,
        n_kept=4,
        n_drawings=4,
        redrawn_below=2_000,
        last_rows=100_000,
    ),
}
# Rows of the rarer class from which on centres of other shapes are tried, unless they are averaged.
# On the development tables with fewer, local centres gain nothing. Ridges are better on few tables
# and take long, so a small model is tried first, and they need fewer rows
# (docs/results/development.md).
ENOUGH_FOR_SHAPES = {"local": 200, "ridge": 20}
PROBED_SHAPE = "ridge"
# Rows of the rarer class from which on the usual scaling gives features that seem irrelevant a
# smaller weight. With fewer rows, relevant features are not seen (docs/results/development.md).
ENOUGH_TO_SCREEN = 500
# Rows of the rarer class that averages of shapes need.
ENOUGH_TO_AVERAGE = 20
# The scaling for principal axes with few rows. It keeps distances near the median, and bends large
# ones, so that axes do not follow a few rows that are far away (docs/results/development.md).
ROTATED_SCALING = "clip"
# Features up to which they are tried: each centre has as many numbers of its own.
MOST_SHAPED_FEATURES = 256
# Multiples of gamma="scale" that are tried, and those without a linear term.
USUAL_GAMMAS, NONLINEAR_GAMMAS = (1.0,), (1.0, 3.0)


def check_search(search: SparseKernelAUCCV) -> None:
    """Raise an error for an invalid parameter of a search."""
    Cs = LADDER if search.Cs is None else search.Cs
    Cs = list(Cs) if is_sequence(Cs) else [Cs]
    if len(Cs) == 0:
        raise InvalidParameterError(
            "`Cs` must hold at least one value; got an empty sequence. Use None to estimate C."
        )
    for C in Cs:
        check_positive("Cs", C, "Values from 0.1 to 100 are usual.")
    if search.gammas is not None:
        if not is_sequence(search.gammas) or not len(search.gammas):
            raise InvalidParameterError(
                f"`gammas` must be a sequence of at least one gamma; got {search.gammas!r}. "
                "Use None, or for instance ['scale', 0.1, [0.01, 0.1, 1]]."
            )
        for gamma in search.gammas:
            check_gamma("rbf", gamma)
    check_choice("size", search.size, SIZES)
    check_boolean("ensemble", search.ensemble)
    check_choice("effort", search.effort, tuple(EFFORTS))
    check_scoring(search.scoring)
    if search.time_limit is not None:
        check_positive("time_limit", search.time_limit, "Use None for no limit.")
    check_choice("engine", search.engine, ENGINES)
    check_n_jobs(search.n_jobs)
    check_verbose(search.verbose)
    check_scaling(search.scaling)
    check_boolean_or_auto("linear_term", search.linear_term)
    check_boolean_or_auto("rotate", search.rotate)
    check_refine(search.refine)
    check_choice("shapes", search.shapes, ("auto", *SHAPES))


def search_grid(search: SparseKernelAUCCV, base: Parameters, rows: TrainingData) -> SearchGrid:
    """Return what is tried on these rows: the parameters of the search, or what "auto" means."""
    effort = EFFORTS[search.effort]
    C, ladder = _first_and_other_cs(search)
    averaged = _averaged_shapes(search, effort, rows)
    scaling = _usual_scaling(search, rows)
    gammas = _gammas_of(search, scaling, rows)
    rotations, shapes = _rotations(search, effort, rows), _shapes(search, rows)
    first = Setting(
        scaling=scaling,
        gamma=gammas[0],
        linear_term=is_auto(search.linear_term) or bool(search.linear_term),
        refine=n_steps(search.refine, "rbf", shapes[0]),
        C=C,
        n_basis=base.n_basis,
        rotate=rotations[0],
        shapes=shapes[0],
    )
    changes: list[dict] = []
    if effort.changes:
        changes += [] if base.focus.is_whole else [{"whole_curve": True}]
        changes += [_rotation(search, rows) | {"rotate": rotate} for rotate in rotations[1:]]
        compared = [each for each in shapes[1:] if each not in (PROBED_SHAPE, *averaged)]
        changes += [_shape_change(search, each) for each in compared]
        changes += [{"gamma": gamma} for gamma in gammas[1:]]
        changes += _without_linear_term(search, rows)
    probed = [_shape_change(search, each) for each in shapes[1:] if each == PROBED_SHAPE]
    grid = SearchGrid(
        settings=tuple(dict.fromkeys((first, *(replace(first, **each) for each in changes)))),
        ladder=ladder,
        tries_all=search.Cs is not None,
        probed=tuple(replace(first, **change) for change in probed if effort.changes),
        averaged={shape: n_steps(search.refine, "rbf", shape) for shape in averaged},
    )
    if not are_here(rows):
        return grid
    return affordable(grid, base, rows, keeps_linear=not is_auto(search.linear_term))


def are_here(rows: TrainingData) -> bool:
    """Return whether the rows are in the memory of this computer, for the CPU engine."""
    return isinstance(rows, TrainingData) and rows.device is None


def _first_and_other_cs(search: SparseKernelAUCCV) -> tuple[float | str, tuple[float, ...]]:
    """Return the C of the usual setting, and all Cs that may be tried."""
    if search.Cs is None:
        return "auto", LADDER
    Cs = tuple(np.unique(np.atleast_1d(search.Cs)).tolist())
    return Cs[len(Cs) // 2], Cs


def _shape_change(search: SparseKernelAUCCV, shapes: str) -> dict:
    return {"shapes": shapes, "refine": n_steps(search.refine, "rbf", shapes)}


def _without_linear_term(search: SparseKernelAUCCV, rows: TrainingData) -> list[dict]:
    """Return the structures without a linear term that are tried.

    They are good on data with little noise if there are few rows of the rarer class. Ranks and
    narrow centres are good there, too. Of given gammas, the first one is tried.
    """
    if not is_auto(search.linear_term) or not _are_few(rows):
        return []
    if not is_auto(search.scaling) or rows.is_sparse:
        return [{"linear_term": False}]
    changes: dict[str, Any] = {"linear_term": False, "scaling": "rank"}
    given = None if search.gammas is None else search.gammas[:1]
    gammas = _resolved_gammas(given, NONLINEAR_GAMMAS, scale("rank", rows)[1])
    return [changes | {"gamma": gamma} for gamma in gammas]


def _are_few(rows: TrainingData) -> bool:
    """Return whether the rarer class has few rows."""
    return is_few(class_counts(rows))


def _usual_scaling(search: SparseKernelAUCCV, rows: TrainingData) -> str | None:
    """Return the scaling of the usual setting; sparse rows are taken as they are."""
    if not is_auto(search.scaling):
        return search.scaling
    if rows.is_sparse:
        return None
    return SCREENED if min(class_counts(rows)) >= ENOUGH_TO_SCREEN else "normal"


def _rotation(search: SparseKernelAUCCV, rows: TrainingData) -> dict[str, Any]:
    """Return the scaling for principal axes, if it is not the usual one.

    Normal scores change the distances that principal axes follow. With few rows the axes are those
    of clipped features, which keep the distances near the median.
    """
    if not is_auto(search.scaling) or not _are_few(rows):
        return {}
    return {"scaling": ROTATED_SCALING, "gamma": _gammas_of(search, ROTATED_SCALING, rows)[0]}


def _rotations(search: SparseKernelAUCCV, effort: Effort, rows: TrainingData) -> tuple[bool, ...]:
    """Return whether to rotate; both only where axes take no more numbers than centres.

    Without refinement, all features have the same length scale, so that a rotation changes nothing.
    """
    if not is_auto(search.rotate):
        return (bool(search.rotate),)
    is_plain = rows.is_sparse or not 1 < rows.n_features <= search.n_basis or not search.refine
    return effort.rotations if not is_plain and _are_finite(rows) else (False,)


def _are_finite(rows: TrainingData) -> bool:
    """Return whether distances between rows and covariances of features are finite."""
    _, variance = feature_statistics(rows)
    with quiet_overflow():
        return bool(np.isfinite(variance.max() * rows.n_rows * rows.n_features))


def _shapes(search: SparseKernelAUCCV, rows: TrainingData) -> tuple[str, ...]:
    """Return the shapes of centres to try; other ones need few features and rows enough."""
    if not is_auto(search.shapes):
        return (search.shapes,)
    is_plain = rows.is_sparse or rows.n_features > MOST_SHAPED_FEATURES or not search.refine
    n_rarer = min(class_counts(rows))
    others = [] if is_plain else [s for s, n in ENOUGH_FOR_SHAPES.items() if n_rarer >= n]
    if as_selection(search.selection).rule != "orthogonal":  # other rules know no ridges
        others = [shape for shape in others if shape != "ridge"]
    return "round", *others


def _averaged_shapes(
    search: SparseKernelAUCCV, effort: Effort, rows: TrainingData
) -> tuple[str, ...]:
    """Return the shapes of centres whose models are averaged; none if one model is wanted."""
    is_averaged = search.ensemble and search.size == "best" and effort.changes
    is_free = is_auto(search.shapes) and is_auto(search.refine)
    is_plain = rows.is_sparse or rows.n_features > MOST_SHAPED_FEATURES
    is_plain = is_plain or min(class_counts(rows)) < ENOUGH_TO_AVERAGE
    has_ridges = as_selection(search.selection).rule == "orthogonal"
    if not is_averaged or not is_free or is_plain or not has_ridges or not are_here(rows):
        return ()
    return effort.averaged_if_few if _are_few(rows) else effort.averaged


def _gammas_of(
    search: SparseKernelAUCCV, scaling: str | None, rows: TrainingData
) -> list[float | tuple[float, ...]]:
    """Return the gammas to try with a scaling."""
    return _resolved_gammas(search.gammas, USUAL_GAMMAS, scale(scaling, rows)[1])


def _resolved_gammas(
    gammas, multiples: tuple[float, ...], rows: TrainingData
) -> list[float | tuple[float, ...]]:
    """Return the given gammas, or multiples of gamma="scale"."""
    if gammas is not None:
        resolved = [resolve_gammas(gamma, "rbf", rows) for gamma in gammas]
        return [tuple(map(float, g)) if len(g) > 1 else float(g[0]) for g in resolved]
    unit = float(resolve_gammas("scale", "rbf", rows)[0])
    return [multiple * unit for multiple in multiples]
