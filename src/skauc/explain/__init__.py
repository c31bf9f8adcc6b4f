"""Exact explanations of scores: Shapley values and partial dependence of kernel expansions."""

from skauc.explain.dependence import PartialDependence, partial_dependence
from skauc.explain.explanation import Explanation
from skauc.explain.importance import ColumnImportance, column_importances
from skauc.explain.relevance import column_relevance
from skauc.explain.shapley import shapley_values

__all__ = [
    "ColumnImportance",
    "Explanation",
    "PartialDependence",
    "column_importances",
    "column_relevance",
    "partial_dependence",
    "shapley_values",
]
