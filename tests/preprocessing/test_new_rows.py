"""Notes about new rows that do not look like the training table."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from messy import make_messy

from skauc.exceptions import UnknownLevelsWarning
from skauc.preprocessing import NewRows, TablePreprocessor

FRAME, Y = make_messy(800)
STEP = TablePreprocessor().fit(FRAME, Y)
OTHER = make_messy(300, seed=1)[0]


def notes_on(frame, step=STEP):
    rows = NewRows(step)
    rows.add(frame)
    return rows.notes()


def test_rows_like_those_of_training_give_no_notes():
    assert notes_on(FRAME) == []
    assert notes_on(OTHER) == []
    for start in range(0, 40):
        assert notes_on(OTHER[start : start + 1].assign(shop="shop 1")) == []


CHANGES = [
    (
        {"age": OTHER["age"] * 12},
        r"Column 'age': \d+ of \d+ values are far outside of the training range, .* Check its unit",
    ),
    (
        {"age": OTHER["age"] / 12},
        r"Column 'age': \d+ of \d+ values are outside of .* 98% .* its unit\.",
    ),
    ({"town": "Paris"}, r"Column 'town': no value is known from training, such as 'Paris'\."),
    ({"shop": "mall 3"}, r"Column 'shop': no value is known from training, such as 'mall 3'\."),
    ({"age": 44.0}, r"Column 'age': all 300 values are 44\."),
    (
        {"income": np.nan},
        r"Column 'income': all 300 values are missing, which was rare in training\.",
    ),
    ({"born": "2090-01-01"}, r"Column 'born': .* range, 1980-01-.* to 1982-.*, such as 2090-01-01"),
]


@pytest.mark.parametrize(("columns", "message"), CHANGES)
def test_a_change_is_noted(columns, message):
    notes = notes_on(OTHER.assign(**columns))
    assert len(notes) == 1
    pd.testing.assert_series_equal(pd.Series(notes).str.match(message), pd.Series([True]))


def test_one_value_far_outside_is_noted():
    frame = OTHER.copy()
    frame.loc[7, "age"] = 4000.0
    (note,) = notes_on(frame)
    assert note.startswith("Column 'age': 1 of ")
    assert note.endswith("such as 4000.")


def test_values_that_do_not_parse_are_noted_unless_they_are_known():
    ages = FRAME["age"].astype(object)
    ages[3] = "refused"
    step = TablePreprocessor().fit(FRAME.assign(age=ages), Y)
    others = OTHER["age"].astype(object)
    others[[5, 6, 7, 8]] = ["refused", "unknown", "forty", "forty-one"]
    (note,) = notes_on(OTHER.assign(age=others), step)
    assert note == (
        "Column 'age': 2 values are not numbers, such as 'forty'. They count as missing."
    )


def test_notes_are_about_all_pieces():
    whole = OTHER.assign(age=OTHER["age"] * 12, town="Paris")
    rows = NewRows(STEP)
    for start in range(0, len(whole), 7):
        rows.add(whole[start : start + 7])
    assert rows.notes() == notes_on(whole)
    assert len(rows.notes()) == 2


def test_some_levels_that_are_not_known_are_noted():
    towns = np.where(np.arange(len(OTHER)) % 4, "Paris", "Oslo")
    (note,) = notes_on(OTHER.assign(town=towns))
    assert note == (
        "Column 'town': 225 of 300 values are not known from training, such as 'Paris'."
    )


def test_arrays_have_no_names_and_get_notes_all_the_same():
    X = np.random.default_rng(0).normal(size=(100, 2))
    (note,) = notes_on(X * [1, 1000], TablePreprocessor().fit(X))
    assert note.startswith("Column 'x1': ")


def test_transform_warns_if_no_level_is_known():
    """Both of one-hot levels and of means of the target, also beyond the first thousand rows."""
    many = pd.concat([OTHER] * 5, ignore_index=True)
    for column in ("town", "shop"):
        message = f"Column '{column}': no value is known from training, such as 'Paris'."
        with pytest.warns(UnknownLevelsWarning, match=re.escape(message)):
            STEP.transform(many.assign(**{column: "Paris"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        STEP.transform(OTHER)
        STEP.transform(OTHER[:19].assign(town="Paris"))
        STEP.transform(many.assign(town=np.where(np.arange(len(many)) < 1400, "Paris", many.town)))
