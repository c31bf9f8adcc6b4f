"""Estimators in scikit-learn's conventions."""

from skauc.estimators.kernel_rank_svm import KernelRankSVM
from skauc.estimators.sparse_kernel_auc import SparseKernelAUC
from skauc.estimators.sparse_kernel_auc_cv import SparseKernelAUCCV
from skauc.estimators.structural_auc import StructuralAUC

__all__ = ["KernelRankSVM", "SparseKernelAUC", "SparseKernelAUCCV", "StructuralAUC"]
