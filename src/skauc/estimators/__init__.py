"""Estimators in scikit-learn's conventions."""

from skauc.estimators.sparse_kernel_auc import SparseKernelAUC
from skauc.estimators.sparse_kernel_auc_cv import SparseKernelAUCCV
from skauc.estimators.structural_auc import StructuralAUC

__all__ = ["SparseKernelAUC", "SparseKernelAUCCV", "StructuralAUC"]
