"""Kinds that the user chooses, and what the report says about each column."""

import numpy as np
import pandas as pd
import pytest
from messy import make_messy
from sklearn.base import clone

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.preprocessing import TablePreprocessor

FRAME = pd.DataFrame(
    {
        "zip": [2139, 10115, 75001, 90210] * 10,
        "day": [20240101 + i % 28 for i in range(40)],
        "score": (["12", "13.5", "14", "high", "very high"] * 8),
        "row": np.arange(40),
        "town": ["Oslo", "Bern"] * 20,
    }
)


def test_kinds_can_be_chosen():
    step = TablePreprocessor(category=["zip"], date=["day"], numeric=["score"], drop=["town"])
    step.fit(FRAME)
    assert step.columns_ == {
        "zip": "category",
        "day": "date",
        "score": "numeric",
        "row": "numeric",
    }
    assert step.dropped_ == {"town": "is left out by `drop`"}
    assert "zip_2139" in step.get_feature_names_out()
    report = {entry["name"]: entry for entry in step.column_report_}
    assert report["score"]["n_unparsed"] == 16
    assert report["score"]["unparsed"] == ["high", "very high"]
    assert report["town"]["dropped"] == "is left out by `drop`"


def test_codes_are_the_same_as_integers_floats_and_text():
    step = TablePreprocessor(category=["zip"]).fit(FRAME)
    expected = step.column_values(FRAME)["zip"][:4].tolist()
    assert expected == ["2139", "10115", "75001", "90210"]
    for codes in ([2139.0, None], ["02139", None], pd.array([2139, None], dtype="Int64")):
        frame = FRAME[:2].assign(zip=codes)
        assert step.column_values(frame)["zip"].tolist() == ["2139", ""]


def test_row_numbers_are_kept_if_they_are_chosen():
    frame = pd.DataFrame({"n": np.arange(60), "x": np.arange(60) % 7})
    assert TablePreprocessor().fit(frame).dropped_ == {"n": "only numbers the rows"}
    assert TablePreprocessor(numeric=["n"]).fit(frame).dropped_ == {}


BAD = [
    ({"numeric": ["scor"]}, InvalidParameterError, r"`numeric` .* no column 'scor'\. Did you mean"),
    ({"drop": ["qqqqqq"]}, InvalidParameterError, r"`drop` .* The columns are 'zip', 'day'"),
    ({"drop": "zip"}, InvalidParameterError, r"`drop` must be a sequence of column names; got 'zi"),
    ({"date": 3}, InvalidParameterError, r"`date` must be a sequence of column names; got 3\."),
    (
        {"date": ["day"], "drop": ["day"]},
        InvalidParameterError,
        r"'day' is in `date` and in `drop`\. Keep it in one",
    ),
    ({"numeric": ["town"]}, InvalidDataError, r"`numeric` .* cannot be read as numbers, .*'Oslo'"),
    ({"date": ["town"]}, InvalidDataError, r"`date` .* cannot be read as dates, such as 'Oslo'"),
]


@pytest.mark.parametrize(("parameters", "error", "message"), BAD)
def test_bad_choices(parameters, error, message):
    with pytest.raises(error, match=message):
        TablePreprocessor(**parameters).fit(FRAME)


def test_a_clone_keeps_the_choices():
    step = clone(TablePreprocessor(category=["zip"], drop=["town"]))
    assert step.get_params()["category"] == ["zip"]
    assert step.fit(FRAME).columns_["zip"] == "category"


def test_the_report_has_one_entry_per_column():
    frame, y = make_messy()
    step = TablePreprocessor().fit(frame, y)
    report = {entry["name"]: entry for entry in step.column_report_}
    assert list(report) == list(frame.columns)
    assert report["age"] == {
        "name": "age",
        "kind": "numeric",
        "form": None,
        "dropped": None,
        "n_missing": int(frame["age"].isna().sum()),
        "n_unparsed": 0,
        "unparsed": [],
        "n_levels": None,
    }
    assert report["town"]["n_levels"] == 3
    assert report["town"]["n_missing"] == int(frame["town"].isna().sum())
    assert report["born"]["form"] == "ISO 8601"
    assert report["nothing"]["kind"] is None
    assert report["nothing"]["dropped"] == "is empty"
