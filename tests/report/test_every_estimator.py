"""Reports on models over ranks, and on every other estimator of the library."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import OAM, OILK, OPAUC, AdaOAM, KernelRankSVM, SAdaOAM, SparseKernelAUC, StructuralAUC
from skauc.exceptions import InvalidDataError
from skauc.report import make_report, make_report_content
from skauc.report.missing import ONLY_RIDGES, Missing


def refitted(case, model):
    return replace(case, model=model.fit(case.X_train, case.y_train))


def test_a_row_over_ranks_is_shown_as_it_is_in_the_frame(tumours):
    model = SparseKernelAUC(8, scaling="rank", refine=False, linear_term=False, random_state=0)
    case = refitted(tumours, model)
    content = make_report_content(*case.test, **case.train)
    number = content.centres.positive.number
    row = model.basis_indices_[number]
    assert content.centres.positive.source == f"Row {row + 1:,}, a training row."
    for feature in content.centres.columns:
        assert feature.positive == case.X_train.iloc[row][feature.name]
    assert_allclose(
        content.centres.positive.score, model.decision_function(case.X_train.iloc[[row]])[0]
    )
    undone = make_report_content(*case.test).centres
    assert undone.positive.source == "Its values before the scaling."
    values = {feature.name: feature.positive for feature in undone.columns}
    assert_allclose([values[name] for name in case.X_train], case.X_train.iloc[row], rtol=1e-6)
    n_ranks = sum(part.size for part in model.scaling_.by_feature.parts.values())
    assert content.model.n_numbers == 8 * 31 + 1 + n_ranks


@pytest.mark.parametrize("scaling", [None, "normal"])
def test_a_row_along_axes_is_shown_as_it_is_in_the_frame(tumours, scaling):
    model = SparseKernelAUC(8, scaling=scaling, rotate=True, refine=False, random_state=0)
    scaler = StandardScaler().set_output(transform="pandas").fit(tumours.X_train)
    X_train, X_test = scaler.transform(tumours.X_train), scaler.transform(tumours.X_test)
    case = refitted(replace(tumours, X_train=X_train, X_test=X_test), model)
    row = model.basis_indices_[
        make_report_content(*case.test, **case.train).centres.positive.number
    ]
    undone = make_report_content(*case.test).centres
    own = "Its own values." if scaling is None else "Its values before the scaling."
    assert undone.positive.source == own
    values = {feature.name: feature.positive for feature in undone.columns}
    expected = case.X_train.iloc[row]
    assert_allclose([values[name] for name in case.X_train], expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("steps", [[], [StandardScaler()]])
def test_a_centre_that_moved_beyond_the_ranks(tumours, steps):
    """Refinement may move centres anywhere; here they are moved by hand, to be sure of it."""
    model = make_pipeline(*steps, SparseKernelAUC(16, scaling="rank", random_state=0))
    case = refitted(tumours, model)
    classifier, levels = model[-1], model[-1].scaling_.by_feature.levels
    fitted = classifier._models[16]
    classifier._models[16] = moved = replace(fitted, centres=3 * fitted.centres)
    outside = (moved.centres < levels[0]) | (moved.centres > levels[-1])
    content = make_report_content(*case.test)
    before = "preprocessing" if steps else "the scaling"
    for side, centre in (
        ("positive", content.centres.positive),
        ("negative", content.centres.negative),
    ):
        n_beyond = np.count_nonzero(outside[centre.number])
        assert centre.source.startswith(f"Its values before {before}.")
        assert (f"training rows in {n_beyond} of the features" in centre.source) == (n_beyond > 0)
        for feature in content.centres.columns:
            column = case.X_train[feature.name]
            value = getattr(feature, side)
            assert column.min() - 1e-6 <= value <= column.max() * (1 + 1e-6)
    assert outside[[content.centres.positive.number, content.centres.negative.number]].any()


LEARNERS = [
    StructuralAUC(C=0.1),
    StructuralAUC(C=0.1, kernel="rbf"),
    KernelRankSVM(),
    OAM(random_state=0),
    OPAUC(),
    AdaOAM(),
    SAdaOAM(),
    OILK(buffer_size=20, random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_every_estimator_has_a_report(tumours, learner, tmp_path):
    case = refitted(tumours, make_pipeline(StandardScaler(), learner))
    content = make_report_content(*case.test, **case.train)
    name = type(learner).__name__
    assert content.scores[0].value == case.model.score(case.X_test, case.y_test)
    assert content.sizes == Missing(f"{name} has no path of smaller models.")
    assert content.importance.columns[0].drop > 0
    n_centres = len(learner._model.coef)
    if n_centres:
        assert content.model.n_basis == n_centres
        assert content.centres.positive.score > content.centres.negative.score
    else:
        assert content.model.n_basis is None
        assert content.model.n_numbers == 31
        assert content.centres == Missing(f"{name} has no centres.")
    assert make_report(tmp_path / "report.html", *case.test, **case.train).stat().st_size > 10_000


def test_grades_have_no_report(tumours):
    grades = np.arange(len(tumours.y_train)) % 3
    X = StandardScaler().fit_transform(tumours.X_train)
    model = KernelRankSVM().fit(X, grades, qid=np.zeros(len(grades), dtype=int))
    with pytest.raises(
        InvalidDataError, match=r"a model of two classes; this one has 3: \[0, 1, 2\]"
    ):
        make_report_content(model, X, grades)


def test_ridges_are_not_shown_as_points(tumours):
    model = SparseKernelAUC(8, shapes="ridge", scaling="rank", refine=2, random_state=0)
    case = refitted(tumours, model)
    assert model.is_ridge_.all()
    content = make_report_content(*case.test, **case.train)
    assert content.centres == content.far == ONLY_RIDGES
