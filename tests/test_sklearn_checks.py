"""scikit-learn's checks: all of them for the defaults, a short list for variants; none may fail."""

from unittest import SkipTest

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
    SparseKernelAUCCV,
    StructuralAUC,
)
from skauc.preprocessing import ArcSinh, DateFeatures, TablePreprocessor

# Some checks fit sixteen rows of which few differ.
pytestmark = pytest.mark.filterwarnings("ignore:The basis has .* centres, and `n_basis`")
BEFORE_1_7 = parse_version(sklearn.__version__) < parse_version("1.7")


@parametrize_with_checks(
    [
        SparseKernelAUC(n_basis=16),
        SparseKernelAUCCV(n_basis=4, effort="quick", cv=2, random_state=0),
        KernelRankSVM(),
        StructuralAUC(),
        OAM(),
        OPAUC(),
        AdaOAM(),
        SAdaOAM(),
        OILK(),
        TablePreprocessor(),
    ]
)
def test_defaults(estimator, check):
    if BEFORE_1_7 and "sample_weight_equivalence" in check.func.__name__:
        pytest.skip("relabels the classes of the two fits differently before scikit-learn 1.7")
    check(estimator)


# A fit is right for all containers, weights, orders of rows and labels.
WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
SHORT = {
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_estimator_sparse_array",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
} | (set() if BEFORE_1_7 else WEIGHTS)

VARIANTS = [
    SparseKernelAUC(16, refine=False, selection=Selection("greedy", solver="cg")),
    SparseKernelAUC(16, refine=False, linear_term=False),
    SparseKernelAUC(4, kernel="laplacian", selection=Selection(retrain="doubling")),
    SparseKernelAUC(8, gamma=[0.1, 1.0]),
    SparseKernelAUC(16, scaling="normal", rotate=True, refine=3),
    SparseKernelAUC(16, scaling="screened", refine=3),
    StructuralAUC(10.0, kernel="rbf", tol=1e-2),
    StructuralAUC(kernel="polynomial", degree=2),
    KernelRankSVM(kernel="laplacian", C=10, cache_size=1),
    OAM("gradient", buffer="fifo", buffer_size=10, average=False),
    OPAUC(rank=2, average=False),
    OILK("fifo", buffer_size=10, compensate=False),
    OILK("rsx", buffer_size=10, n_violators=10),
]


def run_checks(estimator, names=None):
    """Run the checks with these names, or all of them."""
    for instance, check in estimator_checks_generator(estimator):
        if names is None or check.func.__name__ in names:
            try:
                check(instance)
            except SkipTest:
                continue


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: str(variant).replace("\n", " "))
def test_variants(variant):
    run_checks(variant, SHORT)


@pytest.mark.parametrize("step", [ArcSinh(), DateFeatures()], ids=str)
def test_steps_of_the_preprocessor(step):
    run_checks(step)
