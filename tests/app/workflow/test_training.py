"""Training on tables: what is learnt from, what is held out, what the model is."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from messy import make_messy
from sklearn.metrics import brier_score_loss

from skauc.app.tables import LabelledTable
from skauc.app.workflow import ModelFacts, Recipe, RowScorer, split_off_test, take_rows, train_model
from skauc.app.workflow.splitting import folds_in_time
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.metrics import auc
from skauc.sparse import SparseKernelAUCCV

QUICK = Recipe(n_basis=8, effort="quick", n_jobs=1)


def messy_table(n_rows=600, seed=0):
    X, y = make_messy(n_rows, seed)
    return LabelledTable(X, y, None, ("no", "yes"))


@pytest.fixture(scope="module")
def trained():
    parts = split_off_test(messy_table(1000), 0.3, seed=0)
    return train_model(parts.train, QUICK), parts.test


def test_the_test_part_is_stratified_and_disjoint():
    parts = split_off_test(messy_table(), 0.2, seed=1)
    assert len(parts.test.y) == 120
    assert abs(parts.test.y.mean() - parts.train.y.mean()) < 0.01
    assert not set(parts.test.X.index) & set(parts.train.X.index)
    assert split_off_test(messy_table(), 0.0, seed=1).test is None


@pytest.mark.parametrize("n_fewest", range(10, 120, 3))
@pytest.mark.parametrize("n_others", [0, 1, 50, 400])
def test_the_share_that_is_advised_can_be_taken(n_fewest, n_others):
    """Both parts have rows of both classes then, and two of them to train on."""
    y = np.arange(2 * n_fewest + n_others) < n_fewest
    table = LabelledTable(pd.DataFrame({"a": y}), y, None, ("no", "yes"))
    for share, words in ((1e-3, "at least"), (0.999, "at most")):
        with pytest.raises(InvalidParameterError, match=f"--test-share {share}") as caught:
            split_off_test(table, share, seed=0)
        advised = float(re.search(rf"Use {words} ([\d.]+\d)", str(caught.value))[1])
        parts = split_off_test(table, advised, seed=0)
        assert 1 <= parts.test.y.sum() <= n_fewest - 2


def test_weights_of_zero_in_the_test_part():
    table = messy_table(200)
    first = np.arange(200) == np.argmax(table.y)
    weights = np.where(table.y & ~first, 0.0, 1.0)
    with pytest.raises(InvalidDataError, match=r"0 in every (test|training) row of label 'yes'"):
        split_off_test(replace(table, weights=weights), 0.5, seed=0)


def test_probabilities_rank_as_the_scores_do(trained):
    result, test = trained
    rows = RowScorer(result.model)(test.X)
    assert auc(test.y, rows.probabilities) == pytest.approx(auc(test.y, rows.scores))
    order = np.argsort(rows.scores)
    assert np.all(np.diff(rows.probabilities[order]) >= 0)
    assert np.allclose(rows.probabilities, result.model.predict_proba(test.X)[:, 1], rtol=1e-12)


def test_probabilities_are_better_than_the_share_of_positives(trained):
    result, test = trained
    probabilities = RowScorer(result.model)(test.X).probabilities
    assert abs(probabilities.mean() - test.y.mean()) < 0.08
    by_share = brier_score_loss(test.y, np.full(len(test.y), test.y.mean()))
    assert brier_score_loss(test.y, probabilities) < by_share


def test_the_threshold_is_that_of_the_scores(trained):
    result, test = trained
    rows = RowScorer(result.model)(test.X)
    threshold = result.model.estimator_[-1].balanced_threshold_
    assert np.array_equal(rows.flagged, rows.probabilities >= threshold)
    assert 0.5 * test.y.mean() < rows.flagged.mean() < 0.6
    assert np.array_equal(rows.flagged, result.model.predict(test.X))


@pytest.mark.parametrize(("effort", "rotate"), [("default", False), ("thorough", "auto")])
def test_axes_are_for_thorough_searches(effort, rotate):
    recipe = replace(QUICK, effort=effort, time_limit=1e-3)
    result = train_model(messy_table(200), recipe)
    assert result.model.estimator_[-1].rotate == rotate


def test_the_model_is_a_search_behind_the_preprocessor(trained):
    result, _ = trained
    ranker = result.model.estimator_[-1]
    assert isinstance(ranker, SparseKernelAUCCV)
    assert result.chosen == ranker.best_params_
    assert result.cv_auc == ranker.best_score_ > 0.6


def timed_table(n_rows=400):
    times = np.random.RandomState(0).permutation(n_rows) // 4.0
    return replace(messy_table(n_rows), times=times)


def test_test_rows_and_test_folds_are_later_than_training_rows():
    table = timed_table()
    parts = split_off_test(table, 0.2, seed=0)
    assert len(parts.test.y) == 80
    assert parts.train.times.max() < parts.test.times.min()
    folds = folds_in_time(parts.train)
    assert len(folds) == 5
    for train, test in folds:
        assert parts.train.times[train].max() <= parts.train.times[test].min()
    result = train_model(parts.train, QUICK)
    assert result.model.estimator_[-1].n_splits_ == 5
    assert result.model.estimator_[-1].cv is None


def test_groups_are_in_one_part(monkeypatch):
    table = replace(messy_table(400), groups=np.arange(400) // 7)
    parts = split_off_test(table, 0.25, seed=0)
    assert not set(parts.test.groups) & set(parts.train.groups)
    assert abs(len(parts.test.y) - 100) < 20
    fitted = []

    def listen(self, X, y, sample_weight=None, groups=None):
        fitted.append(groups)
        return fit(self, X, y, sample_weight, groups)

    fit = SparseKernelAUCCV.fit
    monkeypatch.setattr(SparseKernelAUCCV, "fit", listen)
    train_model(parts.train, QUICK)
    assert fitted[0] is parts.train.groups


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.4, 0.6, 0.9])
def test_the_share_of_whole_groups_is_the_one_asked_for(share):
    table = messy_table(600)
    parts = split_off_test(replace(table, groups=np.arange(600) // 5), share, seed=0)
    assert not set(parts.test.groups) & set(parts.train.groups)
    for part, expected in ((parts.test, share), (parts.train, 1 - share)):
        assert part.y.sum() == pytest.approx(expected * table.y.sum(), abs=2)
        assert len(part.y) == pytest.approx(expected * 600, abs=10)


@pytest.mark.parametrize("n_groups", [3, 4])
def test_few_groups_are_enough(n_groups):
    table = replace(messy_table(300), groups=np.arange(300) % n_groups)
    parts = split_off_test(table, 0.2, seed=0)
    assert len(set(parts.test.groups)) == 1
    trained = train_model(parts.train, QUICK)
    assert trained.model.estimator_[-1].n_splits_ == n_groups - 1


def test_groups_that_cannot_be_split():
    table = messy_table(300)
    with pytest.raises(InvalidDataError, match="All rows are of one group"):
        split_off_test(replace(table, groups=np.zeros(300)), 0.2, seed=0)
    with pytest.raises(
        InvalidDataError, match=r"groups of the training rows \(1\) cannot be split"
    ):
        train_model(replace(table, groups=np.zeros(300)), QUICK)
    with pytest.raises(InvalidDataError, match=r"The (test|training) rows lack one of the classes"):
        split_off_test(replace(table, groups=table.y.astype(int)), 0.2, seed=0)
    with pytest.raises(
        InvalidDataError, match=r"groups of the training rows \(2\) cannot be split"
    ):
        train_model(replace(table, groups=table.y.astype(int)), QUICK)


def test_a_group_without_positive_rows_shares_a_fold():
    """There are fewer folds than groups then."""
    table = messy_table(300)
    groups = np.where(table.y, np.arange(300) % 2, np.arange(300) % 3)
    trained = train_model(replace(table, groups=groups), QUICK)
    assert trained.model.estimator_[-1].n_splits_ == 2


def test_a_split_by_time_that_cannot_be_made():
    table = messy_table(60)
    with pytest.raises(InvalidDataError, match="All rows have the same time"):
        split_off_test(replace(table, times=np.zeros(60)), 0.2, seed=0)
    first = np.argsort(~table.y, kind="stable")
    times = np.empty(60)
    times[first] = np.arange(60)
    with pytest.raises(InvalidDataError, match="The test rows lack one of the classes"):
        split_off_test(replace(table, times=times), 0.2, seed=0)
    with pytest.raises(InvalidDataError, match="cannot be split by time"):
        folds_in_time(replace(table, times=times))


def test_dates_without_a_split_by_time_are_mentioned():
    table = messy_table(200)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(200), unit="D")
    table = replace(table, X=table.X.assign(day=days))
    assert "day), and its rows were split at random" in train_model(table, QUICK).notes[-1]
    timed = replace(table, times=np.arange(200.0))
    assert not any("random" in note for note in train_model(timed, QUICK).notes)


def test_weights_reach_the_fit_and_the_calibration():
    table = messy_table(400)
    weights = np.where(np.arange(400) % 2, 1.0, 3.0)
    plain, weighted = (train_model(replace(table, weights=w), QUICK).model for w in (None, weights))
    first, second = (RowScorer(model)(table.X).probabilities for model in (plain, weighted))
    assert not np.allclose(first, second)


def test_an_interrupt_while_tuning_keeps_the_best_so_far(monkeypatch):
    fit = SparseKernelAUCCV.fit

    def interrupted(self, *rows, **groups):
        fit(self, *rows, **groups)
        raise KeyboardInterrupt

    monkeypatch.setattr(SparseKernelAUCCV, "fit", interrupted)
    result = train_model(messy_table(300), QUICK)
    assert result.is_interrupted
    assert "best settings found before" in result.notes[-1]
    assert RowScorer(result.model)(messy_table(50).X).scores.std() > 0


@pytest.mark.parametrize(
    ("labels", "values"),
    [((0, 1), ["0", "1"]), ((0, 1), [0.0, 1.0]), ((False, True), ["false", "true"])],
)
def test_labels_are_found_however_they_are_written(labels, values):
    frame = pd.DataFrame({"a": range(6), "y": np.resize(values, 6)})
    table = ModelFacts(labels, "y", ("y",)).split(frame, None, None)
    assert table.y.tolist() == [False, True] * 3
    assert list(table.X.columns) == ["a"]


def test_labels_that_a_model_does_not_know():
    frame = pd.DataFrame({"a": range(6), "y": [0, 1] * 3})
    with pytest.raises(InvalidDataError, match="the model was fitted to 'no' and 1"):
        ModelFacts(("no", 1), "y").split(frame, None, None)


def test_rows_of_one_label_of_a_model():
    frame = pd.DataFrame({"a": range(6), "y": ["yes"] * 6})
    message = r"Pass rows of both labels of the model, 'no' and 'yes', or name another column\."
    with pytest.raises(InvalidDataError, match=message):
        ModelFacts(("no", "yes"), "y").split(frame, None, None)


def test_the_positive_label_of_a_model_may_sort_first():
    frame = pd.DataFrame({"a": range(6), "y": ["0", "1"] * 3})
    table = ModelFacts((1, 0), "y").split(frame, None, None)
    assert table.y.tolist() == [True, False] * 3
    assert table.labels == (1, 0)


def test_rows_are_taken_with_their_weights():
    table = replace(messy_table(20), weights=np.arange(20.0))
    taken = take_rows(table, np.array([3, 5]))
    assert taken.weights.tolist() == [3.0, 5.0]
    assert taken.X.index.tolist() == [3, 5]
