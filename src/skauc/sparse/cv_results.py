"""Reading ``cv_results_`` of a fitted search."""

from __future__ import annotations

from collections.abc import Collection


def rows_of_choice(results: dict, best: dict, free: Collection[str]) -> list[int]:
    """Return the entries that have the chosen value of every parameter but those in ``free``.

    ``best`` are the ``best_params_``. The last fit may take more steps of refinement than the fits
    that were compared, and have a C that they estimated.
    """
    chosen = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in best.items()
        if name not in free and f"param_{name}" in results
    }
    C, is_refined = chosen.pop("C", None), bool(chosen.pop("refine"))
    # Models without the limits of the search say that they have none.
    chosen["whole_curve"] = "max_fpr" in best
    rows = [
        row
        for row in range(len(results["params"]))
        if bool(results["param_refine"][row]) == is_refined
        and all(results[f"param_{name}"][row] == value for name, value in chosen.items())
    ]
    if "C" in free:
        return rows
    own = [row for row in rows if results["param_C"][row] == C]
    return own or [row for row in rows if results["param_C"][row] == "auto"]
