"""Exact explanations of scores: Shapley values of kernel expansions."""

from skauc.explain.explanation import Explanation
from skauc.explain.shapley import shapley_values

__all__ = ["Explanation", "shapley_values"]
