"""Kernel RankSVM: every row is a centre."""

from skauc.rank_svm.estimator import KernelRankSVM

__all__ = ["KernelRankSVM"]
