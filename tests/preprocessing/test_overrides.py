"""Kinds that the user chooses, and what the report says about each column."""

from decimal import Decimal

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


INTEGERS = {
    "integers": lambda codes: codes,
    "floats": lambda codes: codes.astype(float),
    "single precision": lambda codes: codes.astype(np.float32),
    "nullable": lambda codes: codes.astype("Int64"),
    "text": lambda codes: codes.astype(str),
    "text of floats": lambda codes: codes.astype(float).astype(str),
    "category": lambda codes: codes.astype("category"),
    "category of text": lambda codes: codes.astype(str).astype("category"),
    "decimals": lambda codes: codes.map(Decimal),
    "mixed": lambda codes: codes.astype(object).where(codes != 12, "12.0"),
}


@pytest.mark.parametrize("fitted", INTEGERS)
def test_a_chosen_category_of_integers_is_known_in_every_type(fitted):
    codes = pd.Series([7, 12, 410, 7, 12] * 10)
    step = TablePreprocessor(category=["code"])
    expected = step.fit_transform(pd.DataFrame({"code": INTEGERS[fitted](codes)}))
    assert step.get_feature_names_out().tolist() == ["code_12", "code_410", "code_7"]
    for name in INTEGERS:
        found = step.transform(pd.DataFrame({"code": INTEGERS[name](codes)}))
        np.testing.assert_array_equal(found, expected)


def test_a_chosen_category_of_truth_values_fractions_or_dates_is_known_in_every_type():
    columns = {
        "truths": ([True, False, True] * 10, ["true", "FALSE", "true"] * 10),
        "fractions": ([0.5, 2.0, 0.1] * 10, ["0.5", "2", "0.1"] * 10),
        "dates": (
            pd.to_datetime(["2024-05-01", "2024-06-01"] * 15),
            ["2024-05-01", "2024-06-01"] * 15,
        ),
    }
    for values, texts in columns.values():
        for fitted, other in ((values, texts), (texts, values)):
            step = TablePreprocessor(category=["x"])
            expected = step.fit_transform(pd.DataFrame({"x": fitted}))
            assert (expected.sum(axis=1) == 1).all()
            np.testing.assert_array_equal(step.transform(pd.DataFrame({"x": other})), expected)


SAME_CELLS = {
    "dates with a time": (
        ["2024-05-01 08:30", "2024-06-01T10:00:00.500", "2024-07-01 00:00:00"],
        pd.to_datetime(
            ["2024-05-01 08:30", "2024-06-01 10:00:00.5", "2024-07-01"], format="ISO8601"
        ),
        ["2024-05-01 08:30:00", "2024-06-01 10:00:00.5", "2024-07-01"],
    ),
    "large numbers": (["1e+20", "7", "7.5"], [1e20, 7.0, 7.5], ["1" + 20 * "0", "7", "7.5"]),
    "small numbers": (["1.5e-07", "2", "3"], [1.5e-7, 2, 3], ["0.00000015", "2", "3"]),
    "decimals": (["0", "2", "3"], [Decimal("0E-8"), Decimal(2), Decimal(3)], ["0", "2", "3"]),
    "codes with an e": (["12e4", "1E5", "7"], ["12e4", "1E5", 7], ["12e4", "1E5", "7"]),
}


@pytest.mark.parametrize("name", SAME_CELLS)
@pytest.mark.parametrize("is_text", [True, False])
def test_a_chosen_category_is_spelled_alike_from_text_and_from_values(name, is_text):
    text, values, expected = SAME_CELLS[name]
    frames = [pd.DataFrame({"x": list(cells) * 10}) for cells in (text, values)]
    step = TablePreprocessor(category=["x"]).fit(frames[0 if is_text else 1])
    for frame in frames:
        assert step.column_values(frame)["x"][:3].tolist() == expected


TRUTHS = {
    "bool": [True, False],
    "nullable": pd.array([True, False], dtype="boolean"),
    "objects": pd.Series([True, None, False], dtype=object),
    "text": ["true", "False"],
}


@pytest.mark.parametrize("name", TRUTHS)
def test_truth_values_are_no_numbers_unless_they_were_when_fitting(name):
    numbers = TablePreprocessor(numeric=["x"]).fit(pd.DataFrame({"x": [0, 1, 2] * 20}))
    with pytest.raises(InvalidDataError, match=r"Column 'x' held numbers .* got '?[Tt]rue'? in ro"):
        numbers.transform(pd.DataFrame({"x": TRUTHS[name]}))
    truths = TablePreprocessor(numeric=["x"]).fit(pd.DataFrame({"x": [True, False, True] * 20}))
    assert truths.columns_ == {"x": "numeric"}
    values = truths.column_values(pd.DataFrame({"x": TRUTHS[name]}))["x"]
    assert values[~np.isnan(values)].tolist() == [1.0, 0.0]
    assert truths.column_values(pd.DataFrame({"x": ["0", "1"]}))["x"].tolist() == [0.0, 1.0]


def test_one_row_has_the_codes_that_the_table_has():
    frame = pd.DataFrame({"x": [1.5, 2.0, 2.0, 1.5] * 10})
    step = TablePreprocessor(category=["x"]).fit(frame)
    assert step.column_values(frame[1:2])["x"].tolist() == ["2"]
    assert step.column_values(frame)["x"][:2].tolist() == ["1.5", "2"]


def test_a_chosen_category_of_text_keeps_leading_zeros():
    step = TablePreprocessor(category=["x"]).fit(pd.DataFrame({"x": ["007", "7", "042"] * 10}))
    assert step.get_feature_names_out().tolist() == ["x_007", "x_042", "x_7"]
    assert step.column_values(pd.DataFrame({"x": [7, 42]}))["x"].tolist() == ["7", "42"]


def test_numbers_are_no_levels_of_a_chosen_category_of_words():
    step = TablePreprocessor(category=["town"], drop=["day"]).fit(FRAME)
    with pytest.raises(InvalidDataError, match=r"Column 'town' held text .* got .*3"):
        step.transform(FRAME.assign(town=3))
