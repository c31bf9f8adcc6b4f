"""Count the frames from `fit` and `decision_function` to the compiled and BLAS calls.

    python tools/count_frames.py

prints, for each kind of work, the deepest stack of frames of this library, with the number of all
frames (those of scikit-learn's callbacks and scipy's optimisers included) in parentheses. It exits
with 1 if a limit is exceeded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import numpy as np

import skauc
from skauc import SparseKernelAUC

PACKAGE = str(Path(skauc.__file__).parent)


@dataclass(frozen=True)
class Work:
    """A kind of work: the function that calls numba or BLAS, and one that is further up."""

    name: str
    start: str
    file: str
    function: str
    most: int
    within: str = ""


REFINEMENT = "sparse/refinement.py"
KINDS = (
    Work("pair statistics, sorted", "fit", "passes/state.py", "cpu", 11, "newton.py"),
    Work("pair statistics, binned", "fit", "losses/pairs.py", "moments", 11, "newton.py"),
    Work("Newton step", "fit", "passes/derivatives.py", "accumulate", 11, "newton.py"),
    Work("forward selection", "fit", "passes/derivatives.py", "accumulate", 11, "selection.py"),
    Work("candidate kernel block", "fit", "kernels.py", "block", 11, "passes/derivatives.py"),
    Work("refinement gradient", "fit", "passes/moments.py", "accumulate", 11, REFINEMENT),
    Work("refinement statistics", "fit", "passes/state.py", "cpu", 11, REFINEMENT),
    Work("few rows, minimum", "fit", "sparse/objective.py", "minimum", 11, "newton.py"),
    Work("few rows, selection", "fit", "few_selection.py", "select_from_few", 11, "selection.py"),
    Work("few rows, refinement", "fit", REFINEMENT, "evaluate", 11, REFINEMENT),
    Work("decision_function", "decision_function", "kernels.py", "block", 6),
)


def main() -> int:
    """Run the fits and print the table."""
    deepest: dict[str, list[FrameType]] = {}

    def watch(frame: FrameType, event: str, argument) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            for kind in KINDS:
                stack = _stack(frame, kind)
                if _n_own(stack) > _n_own(deepest.get(kind.name, [])):
                    deepest[kind.name] = stack

    sys.setprofile(watch)
    _work()
    sys.setprofile(None)
    is_over = False
    for kind in KINDS:
        stack = deepest.get(kind.name, [])
        n_own = _n_own(stack)
        is_over |= not 0 < n_own <= kind.most
        print(f"{kind.name}: {n_own} of at most {kind.most} ({len(stack)} with other packages)")
        for frame in stack:
            print(f"    {Path(frame.f_code.co_filename).name}: {frame.f_code.co_qualname}")
    return int(is_over)


def _work() -> None:
    """Fit to few rows, to rows that are sorted, and to rows that are counted in bins."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 3))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0
    for n_rows in (400, 6_000, 12_000):
        for refine in (False, 3):
            model = SparseKernelAUC(4, refine=refine, random_state=0).fit(X[:n_rows], y[:n_rows])
    model.decision_function(np.tile(X, (5, 1)))


def _stack(frame: FrameType, kind: Work) -> list[FrameType]:
    """Return the frames from the start to this one, outermost first; none if it is other work."""
    code = frame.f_code
    if code.co_name != kind.function or not code.co_filename.endswith(kind.file):
        return []
    frames = list(_outwards(frame, kind.start))
    if frames[-1].f_code.co_name != kind.start:
        return []
    if not any(one.f_code.co_filename.endswith(kind.within) for one in frames):
        return []
    is_refined = any(one.f_code.co_filename.endswith(REFINEMENT) for one in frames)
    return frames[::-1] if is_refined == (kind.within == REFINEMENT) else []


def _outwards(frame: FrameType | None, start: str) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        if frame.f_code.co_name == start:
            return
        frame = frame.f_back


def _n_own(stack: list[FrameType]) -> int:
    return sum(frame.f_code.co_filename.startswith(PACKAGE) for frame in stack)


if __name__ == "__main__":
    sys.exit(main())
