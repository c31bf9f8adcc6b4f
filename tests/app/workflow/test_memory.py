"""The memory of a table: what it keeps, how large it is, and what it notices."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.app.workflow import find_drift, remember
from skauc.exceptions import InvalidDataError


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(600) < 0.1, np.nan, rng.normal(size=600)),
            "mostly_one": (rng.random(600) < 0.97).astype(int),
            "colour": rng.choice(["red", "green", "blue"], 600),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, 600), "D"),
        }
    )
    y = frame["size"].fillna(0) + rng.normal(size=600) > 1
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(4, random_state=0)).fit(frame, y)
    return model, frame, remember(model, frame, model.decision_function(frame))


CHANGES = {
    "size": lambda frame: frame["size"].where(np.arange(len(frame)) % 2 == 0),
    "mostly_one": lambda frame: (np.arange(len(frame)) % 4 > 0).astype(int),
    "colour": lambda frame: np.where(frame["colour"] == "red", "violet", frame["colour"]),
    "day": lambda frame: frame["day"] + pd.Timedelta(200, "D"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_gaps_rare_values_new_levels_and_later_dates_are_noticed(fitted, name):
    model, frame, memory = fitted
    changed = frame.assign(**{name: CHANGES[name](frame)})
    drifts = find_drift(model, memory, changed, model.decision_function(changed))
    assert [each.name for each in drifts if each.has_shifted and each.name != "score"] == [name]
    assert drifts[0].name == "score"
    assert drifts[1].name == name


def test_it_is_small_and_the_same_rows_do_not_drift(fitted):
    model, frame, memory = fitted
    assert len(json.dumps(memory)) < 400 * (frame.shape[1] + 1)
    drifts = find_drift(
        model, json.loads(json.dumps(memory)), frame, model.decision_function(frame)
    )
    assert max(each.psi for each in drifts) < 1e-3
    assert "2024-" in " ".join(next(each for each in drifts if each.name == "day").bins)


def test_every_column_of_a_wide_table_is_compared():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 230))).add_prefix("x")
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(2, refine=False, random_state=0))
    model.fit(frame, frame["x0"] > 1)
    memory = remember(model, frame, model.decision_function(frame))
    changed = frame.assign(x229=frame["x229"] + 5)
    drifts = find_drift(model, memory, changed, model.decision_function(changed))
    assert len(drifts) == 231
    assert [each.name for each in drifts if each.has_shifted and each.name != "score"] == ["x229"]


def test_damaged_memories_are_refused(fitted):
    model, frame, memory = fitted
    scores = model.decision_function(frame)
    for damaged in ({}, {**memory, "n_rows": "x"}, {**memory, "columns": {"size": {"edges": 1}}}):
        with pytest.raises(InvalidDataError, match="distributions in the model file are damaged"):
            find_drift(model, damaged, frame, scores)
    with pytest.raises(InvalidDataError, match="remembers no distributions"):
        find_drift(model, None, frame, scores)
