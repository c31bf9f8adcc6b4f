"""Displays in scikit-learn's style. matplotlib is loaded when something is drawn, not before."""

from skauc.plotting.basis_size import BasisSizeDisplay

__all__ = ["BasisSizeDisplay"]
