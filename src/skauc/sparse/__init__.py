"""Sparse Kernel AUC: the paper's method and its cross-validated search."""

from skauc.sparse.estimator import SparseKernelAUC
from skauc.sparse.estimator_cv import SparseKernelAUCCV
from skauc.sparse.parameters import Selection
from skauc.sparse.warming import warm_up

__all__ = ["Selection", "SparseKernelAUC", "SparseKernelAUCCV", "warm_up"]
