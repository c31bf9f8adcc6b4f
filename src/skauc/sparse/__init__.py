"""Sparse Kernel AUC: the paper's method and its cross-validated search."""

from skauc.sparse.estimator import SparseKernelAUC
from skauc.sparse.estimator_cv import SparseKernelAUCCV

__all__ = ["SparseKernelAUC", "SparseKernelAUCCV"]
