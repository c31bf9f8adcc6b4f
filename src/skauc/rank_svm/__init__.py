"""Kernel RankSVM, with every row as a centre."""

from skauc.rank_svm.estimator import KernelRankSVM

__all__ = ["KernelRankSVM"]
