"""The order of the gallery: first steps, decisions, explanations, large data, the method itself."""

from __future__ import annotations

ORDER = (
    *("first_model", "fraud", "screening", "threshold_cost", "calibration", "few_positives"),
    *("table_with_categories", "search", "report", "explain_row", "effects", "drift"),
    *("export_to_sql", "boosted_trees", "basis_size", "decision_surface", "refinement"),
    *("ridge_cards", "partial_auc", "stream", "out_of_core", "gpu"),
)


class InReadingOrder:
    """Sort examples by their place in ``ORDER``; those that are not listed come last."""

    def __init__(self, src_dir: str):
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, str]:
        """Return the sort key of a file."""
        name = filename.removeprefix("plot_").removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
