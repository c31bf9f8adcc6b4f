"""scikit-learn's own checks, with no expected failures."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from skauc import OAM, OILK, OPAUC, AdaOAM, SAdaOAM


@parametrize_with_checks(
    [
        OAM(),
        OAM("gradient", buffer="fifo", buffer_size=10, average=False),
        OPAUC(),
        OPAUC(rank=2, average=False),
        AdaOAM(),
        SAdaOAM(),
        OILK(),
        OILK("fifo", buffer_size=10, compensate=False),
        OILK("rsx", buffer_size=10, n_violators=10),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
