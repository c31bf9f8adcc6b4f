"""scikit-learn's checks: all of them for the defaults, a few for variants; none may fail.

Early stopping, refinement that validates and k-means landmarks are not among the variants: their
random draws differ between weights and repetition, which the checks take to be equivalent on a
dozen rows.
"""

import pytest
import sklearn
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.fixes import parse_version

from skauc import (
    OAM,
    OILK,
    OPAUC,
    AdaOAM,
    KernelRankSVM,
    SAdaOAM,
    Selection,
    SparseKernelAUC,
    StructuralAUC,
)

BEFORE_1_7 = parse_version(sklearn.__version__) < parse_version("1.7")

# Whether a fit is right, whatever the container, the weights, the order and the labels.
SHORT = {
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_estimator_sparse_array",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
VARIANTS = [
    SparseKernelAUC(n_basis=16, selection=Selection("greedy", retrain="always", solver="cg")),
    SparseKernelAUC(n_basis=4, kernel="laplacian", selection=Selection(retrain="doubling")),
    SparseKernelAUC(n_basis=8, linear_term=True, gamma=[0.1, 1.0]),
    SparseKernelAUC(n_basis=16, scaling="rank"),
    SparseKernelAUC(n_basis=16, scaling="normal", rotate=True, refine=3),
    StructuralAUC(10.0, kernel="rbf", tol=1e-2),
    StructuralAUC(kernel="polynomial", degree=2),
    KernelRankSVM(kernel="laplacian", C=10, cache_size=1),
    OAM("gradient", buffer="fifo", buffer_size=10, average=False),
    OPAUC(rank=2, average=False),
    OILK("fifo", buffer_size=10, compensate=False),
    OILK("rsx", buffer_size=10, n_violators=10),
]


def run(estimator, check):
    if BEFORE_1_7 and "sample_weight_equivalence" in check.func.__name__:
        pytest.skip("relabels the classes of the two fits differently before scikit-learn 1.7")
    check(estimator)


@parametrize_with_checks(
    [
        SparseKernelAUC(n_basis=16),
        KernelRankSVM(),
        StructuralAUC(),
        OAM(),
        OPAUC(),
        AdaOAM(),
        SAdaOAM(),
        OILK(),
    ]
)
def test_defaults(estimator, check):
    run(estimator, check)


def short_checks():
    for variant in VARIANTS:
        for estimator, check in estimator_checks_generator(variant):
            name = check.func.__name__
            if name in SHORT:
                yield pytest.param(estimator, check, id=f"{variant}-{name}".replace("\n", " "))


@pytest.mark.parametrize(("estimator", "check"), list(short_checks()))
def test_variants(estimator, check):
    run(estimator, check)
