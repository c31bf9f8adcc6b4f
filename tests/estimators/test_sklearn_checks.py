from sklearn.utils.estimator_checks import parametrize_with_checks

from skauc import SparseKernelAUC


@parametrize_with_checks([SparseKernelAUC(n_basis=16)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
