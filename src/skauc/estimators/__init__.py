"""Estimators in scikit-learn's conventions."""

from skauc.estimators.sparse_kernel_auc import SparseKernelAUC

__all__ = ["SparseKernelAUC"]
