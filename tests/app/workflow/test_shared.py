"""Rows and groups that training and test tables share."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from messy import make_messy

from skauc.app.tables import LabelledTable
from skauc.app.workflow import (
    Recipe,
    notes_on_shared_groups,
    notes_on_shared_rows,
    take_rows,
    train_model,
)
from skauc.metrics import auc


@pytest.fixture(scope="module")
def table():
    X, y = make_messy(200, 0)
    return LabelledTable(X, y, np.ones(200), ("no", "yes"))


@pytest.fixture(scope="module")
def model(table):
    return train_model(table, Recipe(n_basis=2, effort="quick", n_jobs=1)).model


def test_rows_that_are_in_both_tables_are_counted(model, table):
    """Also where one table has dates and the other one has text."""
    train, test = take_rows(table, np.arange(120)), take_rows(table, np.arange(80, 200))
    scores = np.where(np.arange(200) < 120, table.y, np.arange(200) % 3)[80:].astype(float)
    test = replace(test, X=test.X.assign(born=pd.to_datetime(test.X["born"])))
    (note,) = notes_on_shared_rows(model, train, test, scores, auc(test.y, scores))
    rest, both = auc(test.y[40:], scores[40:]), auc(test.y, scores)
    assert note.startswith(
        "40 of 120 test rows (33.3%) have the same values as a training row. Without them the AUC "
        f"is {rest:.4f}; with them it is {both:.4f}. If the same case was recorded twice, remove "
    )
    (note,) = notes_on_shared_rows(model, table, test, scores, 0.9)
    assert "120 of 120 test rows (100.0%) have the same values as a training row. If" in note


def test_few_rows_that_do_not_raise_the_auc_are_not_mentioned(model, table):
    for n_shared in (0, 2):
        train = take_rows(table, np.arange(80 + n_shared))
        test = take_rows(table, np.arange(80, 200))
        scores = np.zeros(120)
        assert notes_on_shared_rows(model, train, test, scores, 0.5) == ()


def test_groups_that_are_in_both_tables_are_counted():
    train = pd.DataFrame({"shop": [7, 8, 8, 9]})
    test = pd.DataFrame({"shop": ["07", "9", None, "x"]})
    (note,) = notes_on_shared_groups(train, test, "shop")
    assert note.startswith(
        "2 of 3 groups of the test rows are also groups of the training rows, by"
    )
    assert notes_on_shared_groups(train, test[3:], "shop") == ()
    assert notes_on_shared_groups(train, test[["shop"]].rename(columns={"shop": "a"}), "shop") == ()
