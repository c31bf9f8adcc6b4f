"""Training on tables: what is learnt from, what is held out, what the model is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from messy import make_messy
from sklearn.metrics import brier_score_loss

from skauc.app.tables import LabelledTable
from skauc.app.workflow import ModelFacts, Recipe, RowScorer, split_off_test, take_rows, train_model
from skauc.app.workflow.calibration import calibrate
from skauc.exceptions import InvalidDataError
from skauc.metrics import auc
from skauc.sparse import SparseKernelAUC, SparseKernelAUCCV

QUICK = Recipe(n_basis=8, tune=False, n_jobs=1)


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
    assert np.array_equal(rows.flagged, rows.scores > 0)
    assert np.array_equal(rows.flagged, result.model.predict(test.X))


def test_a_search_on_few_rows_is_the_model():
    table = messy_table(150)
    result = train_model(table, Recipe(n_basis=2, n_jobs=1, calibrate=False))
    assert isinstance(result.model[-1], SparseKernelAUCCV)
    assert result.chosen == result.model[-1].best_params_
    assert result.n_tuned == 150


def test_many_rows_are_tuned_on_a_part_and_fitted_as_a_whole(monkeypatch):
    monkeypatch.setattr("skauc.app.workflow.training.MOST_TUNED", 300)
    monkeypatch.setattr("skauc.app.workflow.calibration.ENOUGH_TO_HOLD_OUT", 600)
    result = train_model(messy_table(1200), Recipe(n_basis=4, n_jobs=1))
    ranker = RowScorer(result.model).opened.classifier
    assert isinstance(ranker, SparseKernelAUC)
    assert result.n_tuned == 300
    assert ranker.n_basis_ == result.chosen["n_basis"] == 4
    assert {name: getattr(ranker, name) for name in result.chosen} == result.chosen
    assert result.cv_auc > 0.6


def test_rows_to_calibrate_on_are_not_learnt_from(monkeypatch):
    monkeypatch.setattr("skauc.app.workflow.calibration.ENOUGH_TO_HOLD_OUT", 600)
    seen = []
    fit = SparseKernelAUC.fit

    def listen(self, X, y, sample_weight=None):
        seen.append(len(y))
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(SparseKernelAUC, "fit", listen)
    train_model(messy_table(1000), QUICK)
    assert seen == [900]


def test_a_model_that_ranks_unseen_rows_upside_down_gives_no_probabilities():
    table = messy_table(200)
    pipeline = train_model(table, replace(QUICK, calibrate=False)).model
    found = calibrate(pipeline, table, replace(table, y=~table.y), seed=0)
    assert found.model is pipeline
    assert "ranked no better than by chance" in found.note


def test_weights_reach_the_fit_and_the_calibration():
    table = messy_table(400)
    weights = np.where(np.arange(400) % 2, 1.0, 3.0)
    plain, weighted = (train_model(replace(table, weights=w), QUICK).model for w in (None, weights))
    first, second = (RowScorer(model)(table.X).probabilities for model in (plain, weighted))
    assert not np.allclose(first, second)


def test_an_interrupt_while_calibrating_keeps_the_model(monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("skauc.app.workflow.training.calibrate", interrupt)
    result = train_model(messy_table(200), QUICK)
    assert result.is_interrupted
    assert result.notes == ("It gives no probabilities.",)
    assert RowScorer(result.model)(messy_table(50).X).probabilities is None


def test_an_interrupt_while_tuning_keeps_the_best_so_far(monkeypatch):
    fit = SparseKernelAUCCV.fit

    def interrupted(self, *rows):
        fit(self, *rows)
        raise KeyboardInterrupt

    monkeypatch.setattr("skauc.app.workflow.training.MOST_TUNED", 150)
    monkeypatch.setattr(SparseKernelAUCCV, "fit", interrupted)
    result = train_model(messy_table(300), Recipe(n_basis=2, n_jobs=1))
    assert result.is_interrupted
    assert result.n_tuned == 150
    assert "best settings found before" in result.notes[0]
    assert "a sample of 150 rows" in result.notes[1]
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


def test_rows_are_taken_with_their_weights():
    table = replace(messy_table(20), weights=np.arange(20.0))
    taken = take_rows(table, np.array([3, 5]))
    assert taken.weights.tolist() == [3.0, 5.0]
    assert taken.X.index.tolist() == [3, 5]
