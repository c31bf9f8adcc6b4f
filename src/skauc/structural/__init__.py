"""The plain hinge over all pairs, by cutting planes."""

from skauc.structural.estimator import StructuralAUC

__all__ = ["StructuralAUC"]
