"""Splitting a table into features, labels and weights."""

import numpy as np
import pandas as pd
import pytest

from skauc.app.tables import is_positive_ambiguous, is_same_label, read_table, split_target
from skauc.exceptions import InvalidDataError, InvalidParameterError

FRAME = pd.DataFrame(
    {
        "age": [31, 54, 22, 40],
        "Bought": ["no", "yes", "no", "no"],
        "flag": [1, 0, 1, 0],
        "weight": [1.0, 2.0, 0.0, 1.0],
        "id": list("abcd"),
    }
)


def test_the_larger_value_is_positive():
    table = split_target(FRAME, "Bought", drop=["id"], weights="weight")
    assert table.X.columns.tolist() == ["age", "flag"]
    assert table.y.tolist() == [False, True, False, False]
    assert table.labels == ("no", "yes")
    assert table.weights.tolist() == [1.0, 2.0, 0.0, 1.0]
    assert split_target(FRAME, "Bought").weights is None


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0, 1, 1, 1], (0, 1)),
        ([1, -1, 1, 1], (-1, 1)),
        ([True, False, True, True], (False, True)),
        (["fraud", "legit", "legit", "legit"], ("fraud", "legit")),
        (["legit", "fraud", "fraud", "fraud"], ("fraud", "legit")),
        (["1", "10", "10", "10"], ("1", "10")),
        ([1, "a", 1, 1], (1, "a")),
    ],
)
def test_the_larger_value_is_positive_however_rare_it_is(values, labels):
    """As in scikit-learn, whose classes are sorted."""
    column = pd.Series(values, dtype=None if len({type(v) for v in values}) == 1 else object)
    assert split_target(FRAME.assign(y=column), "y").labels == labels


@pytest.mark.parametrize(
    ("values", "is_ambiguous"),
    [
        (["fraud", "legit", "legit", None], True),
        (["legit", "fraud", "fraud", None], False),
        (["no", "yes", "no", "no"], False),
        (["no", "yes", "yes", "no"], False),
        ([0, 1, 1, 1], False),
        ([False, True, True, True], False),
        (["a", "b", "c", "c"], False),
        (["a", "a", "a", "a"], False),
    ],
)
@pytest.mark.parametrize("dtype", [None, "category"])
def test_a_text_label_that_is_rarer_and_first_in_sorted_order_is_ambiguous(
    values, is_ambiguous, dtype
):
    assert is_positive_ambiguous(pd.Series(values, dtype=dtype)) is is_ambiguous


@pytest.mark.parametrize("positive", [0, "0"])
def test_a_positive_value_that_is_given(positive):
    table = split_target(FRAME, "flag", positive=positive)
    assert table.labels == (1, 0)
    assert table.y.tolist() == [False, True, False, True]


CELLS = [
    ("true", "false"),
    ("TRUE", "FALSE"),
    ("True", "False"),
    ("1", "0"),
    ("1.0", "0.0"),
    ("+1", "-1"),
    ("01", "02"),
    ("1.50", "2.50"),
    ("2024-05-01", "2024-06-01"),
    ("2024-05-01T08:30", "2024-06-01T08:30"),
    ("08:00", "20:00"),
    ("yes", "no"),
]


@pytest.mark.parametrize(("positive", "negative"), CELLS)
def test_a_positive_label_as_it_stands_in_the_file(tmp_path, positive, negative):
    path = tmp_path / "t.csv"
    path.write_text("age,y\n" + "".join(f"{i},{(positive, negative)[i % 2]}\n" for i in range(6)))
    frame = read_table(path)
    as_read = frame["y"].iloc[0]
    for label in (positive, as_read, str(as_read)):
        assert split_target(frame, "y", positive=label).y.tolist() == [True, False] * 3


def test_a_positive_label_after_a_gap_has_turned_integers_into_floats(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,y\n1,0\n2,\n3,1\n")
    with pytest.warns(UserWarning, match="missing in 1 of 3 rows"):
        assert split_target(read_table(path), "y", positive="1").y.tolist() == [False, True]


def test_labels_that_differ_in_spelling_alone():
    frame = FRAME.assign(y=["1", "01", "1", "1"])
    assert split_target(frame, "y", positive="01").labels == ("1", "01")
    with pytest.raises(InvalidParameterError, match=r"'1' or '01'; got '1\.0'"):
        split_target(frame, "y", positive="1.0")


def test_labels_of_two_files_are_the_same_whatever_the_reader_made_of_them():
    for label, other in [(1, 1.0), ("1", np.int64(1)), (True, "true"), (np.True_, "TRUE")]:
        assert is_same_label(label, other)
        assert is_same_label(other, label)
    assert is_same_label(pd.Timestamp("2024-05-01"), "2024-05-01 00:00:00")
    for label, other in [(1, True), ("yes", "Yes"), (1, "1.5"), ("nan", 0), (float("inf"), 1)]:
        assert not is_same_label(label, other)


@pytest.mark.parametrize("dtype", ["category", "string", object])
def test_types_of_the_target(dtype):
    table = split_target(FRAME.astype({"Bought": dtype}), "Bought")
    assert table.y.tolist() == [False, True, False, False]


def test_a_level_that_no_row_has_does_not_count():
    column = pd.Categorical(FRAME["Bought"], categories=["maybe", "no", "yes"])
    assert split_target(FRAME.assign(Bought=column), "Bought").labels == ("no", "yes")


def test_rows_without_a_target_are_left_out():
    frame = FRAME.assign(gaps=[0, np.nan, None, 1])
    with pytest.warns(
        UserWarning, match=r"missing in 2 of 4 rows, first in row 2, counted from 1\. These"
    ):
        table = split_target(frame, "gaps", weights="weight")
    assert table.X["age"].tolist() == [31, 40]
    assert table.y.tolist() == [False, True]
    assert table.weights.tolist() == [1.0, 1.0]
    assert repr(table.labels) == "(0, 1)"


def test_errors_name_the_row_of_the_table_although_rows_are_left_out():
    frame = FRAME.assign(
        y=[None, "no", "yes", "no"],
        minus=[1.0, 1.0, 1.0, -2.0],
        day=["2024-05-01", "2024-05-02", "2024-05-03", None],
    )
    with (
        pytest.warns(UserWarning, match="first in row 1, counted from 1"),
        pytest.raises(InvalidDataError, match=r"got -2\.0 in row 4, counted from 1\. Use"),
    ):
        split_target(frame, "y", weights="minus")
    with (
        pytest.warns(UserWarning, match="first in row 1, counted from 1"),
        pytest.raises(InvalidDataError, match=r"'day' is missing in row 4, counted from 1\. Rem"),
    ):
        split_target(frame, "y", time="day")


def test_a_time_that_is_missing_or_cannot_be_read():
    frame = pd.concat([FRAME.assign(age=[31, np.nan, 22, 40])] * 10, ignore_index=True)
    with pytest.raises(InvalidDataError, match=r"'age' is missing in row 2, counted from 1\. Re"):
        split_target(frame, "Bought", time="age")
    days = pd.Series(["2024-05-01"] * 39 + ["soon"])
    with pytest.raises(InvalidDataError, match=r"cannot be read in row 40, .*: 'soon'\. Remove"):
        split_target(frame.assign(day=days), "Bought", time="day")


BAD = [
    ({"target": "bougt"}, InvalidParameterError, r"no column 'bougt'\. Did you mean 'Bought'\?"),
    ({"target": "zzzz"}, InvalidParameterError, r"no column 'zzzz'\. The columns are 'age', 'Bo"),
    ({"target": "age"}, InvalidDataError, r"two values; it has 4 values: 31, 54, 22, 40\. Choose"),
    ({"target": "same"}, InvalidDataError, r"must have two values; it has one value: 7\."),
    (
        {"target": "same", "advice": "Pass rows of both labels."},
        InvalidDataError,
        r"it has one value: 7\. Pass rows of both labels\.",
    ),
    ({"target": "gaps"}, InvalidDataError, r"'gaps' is missing in all 4 rows\. Choose another"),
    ({"target": "flag", "positive": 2}, InvalidParameterError, r"'flag', 1 or 0; got 2\."),
    (
        {"target": "flag", "drop": ["ID"]},
        InvalidParameterError,
        "no column 'ID'. Did you mean 'id'",
    ),
    ({"target": "flag", "weights": "id"}, InvalidDataError, "'id' must be numbers; .* like 'a'"),
    ({"target": "flag", "weights": "few"}, InvalidDataError, "0 in every row of label 1"),
    ({"target": "lists"}, InvalidDataError, r"target column 'lists' holds lists, such as \[1, 2\]"),
    ({"target": "flag", "group": "lists"}, InvalidDataError, "group column 'lists' holds lists"),
    (
        {"target": "flag", "time": "records"},
        InvalidDataError,
        "time column 'records' holds records",
    ),
    (
        {"target": "flag", "weights": "minus"},
        InvalidDataError,
        "at least 0; got -1.0 in row 3, counted from 1",
    ),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD)
def test_bad_columns(arguments, error, message):
    frame = FRAME.assign(same=7, gaps=np.nan, minus=[0, 1, -1, 1], few=[0, 1, 0, 1])
    frame = frame.assign(lists=[[1, 2], None, [3], [4]], records=[{"day": 1}] * 4)
    with pytest.raises(error, match=message):
        split_target(frame, **arguments)


def test_many_values_are_not_all_listed():
    frame = pd.DataFrame({"x": range(50), "y": range(50)})
    with pytest.raises(InvalidDataError, match=r"50 values: 0, 1, .*, 9 and 40 more\."):
        split_target(frame, "y")


def test_a_label_that_counts_as_missing():
    """Readers take the text NA for a missing value."""
    frame = pd.DataFrame({"x": range(5), "y": ["yes", None, "yes", None, None]})
    message = r"it has one value: 'yes', and is missing in 3 of 5 rows\. Choose another target"
    with (
        pytest.warns(UserWarning, match="'y' is missing in 3 of 5 rows"),
        pytest.raises(InvalidDataError, match=message),
    ):
        split_target(frame, "y")


def test_a_table_without_features():
    with pytest.raises(InvalidDataError, match="no features besides 'flag'"):
        split_target(FRAME[["flag"]], "flag")
    frame = pd.DataFrame(np.eye(2, 14), columns=list("abcdefghijklmn"))
    message = r"besides 'a', 'b', .*, 'j' and 4 more\. Drop fewer columns\."
    with pytest.raises(InvalidDataError, match=message):
        split_target(frame, "a", drop=list("bcdefghijklmn"))
