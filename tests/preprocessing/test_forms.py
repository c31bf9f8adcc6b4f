"""Numbers and dates written as text are recognised by the whole column, and parsed the same way."""

from datetime import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skauc.exceptions import InvalidDataError
from skauc.preprocessing import TablePreprocessor

RNG = np.random.default_rng(0)
VALUES = np.round(RNG.uniform(-3000, 9000, 80), 2)
DAYS = pd.Series(pd.date_range("2023-01-05", periods=80, freq="5D"))


def european(text):
    return text.translate(str.maketrans(".,", ",."))


def accounting(value):
    return f"({abs(value):,.2f})" if value < 0 else f"{value:,.2f}"


def dollars(value):
    return f"-${abs(value):,.2f}" if value < 0 else f"${value:,.2f}"


NUMBERS = {
    "plain": (lambda v: f"{v:.2f}", "1234.5"),
    "thousands": (lambda v: f"{v:,.2f}", "1,234.5"),
    "decimal comma": (lambda v: f"{v:.2f}".replace(".", ","), "1234,5"),
    "european": (lambda v: european(f"{v:,.2f}"), "1.234,5"),
    "french": (lambda v: f"{v:,.2f}".replace(",", "\u202f").replace(".", ","), "1.234,5"),
    "swiss": (lambda v: f"{v:,.2f}".replace(",", "’"), "1,234.5"),
    "dollars": (dollars, "$1,234.5"),
    "euros before": (lambda v: "€" + european(f"{v:,.2f}"), "€1.234,5"),
    "euros after": (lambda v: european(f"{v:,.2f}") + " €", "€1.234,5"),
    "code": (lambda v: f"CHF {v:.2f}", "CHF1234.5"),
    "percent": (lambda v: f"{v:.2f}%", "1234.5%"),
    "percent, comma": (lambda v: f"{v:.2f} %".replace(".", ","), "1234,5%"),
    "accounting": (accounting, "1,234.5"),
    "minus at the end": (lambda v: f"{abs(v):.2f}{'-' if v < 0 else ''}", "1234.5"),
    "true minus": (lambda v: f"{v:.2f}".replace("-", "\u2212"), "1234.5"),
}


def report_of(step, name="x"):
    return next(entry for entry in step.column_report_ if entry["name"] == name)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_in_every_form_are_the_same_numbers(name):
    write, form = NUMBERS[name]
    texts = [write(value) for value in VALUES]
    texts[7], texts[11], texts[50] = "unknown", "n/a", "-"
    expected = pd.DataFrame({"x": VALUES})
    expected.loc[[7, 11, 50], "x"] = np.nan
    frame = pd.DataFrame({"x": texts})
    step = TablePreprocessor().fit(frame)
    assert step.columns_ == {"x": "numeric"}
    assert step.forms_ == {"x": form}
    assert_array_equal(step.transform(frame), TablePreprocessor().fit_transform(expected))
    report = report_of(step)
    assert report["n_unparsed"] == 3
    assert report["unparsed"] == ["unknown", "n/a", "-"]
    assert report["form"] == form


@pytest.mark.parametrize(
    ("texts", "form", "first"),
    [
        (["1,234", "2,345", "3,456", "1,234,567"], "1,234.5", 1234.0),
        (["1,234", "2,345", "3,456", "12,5"], "1234,5", 1.234),
        (["1,234", "2,345", "3,456", "0,125"], "1234,5", 1.234),
        (["1,234", "2,345", "3,456", "7,890"], "1,234.5", 1234.0),
        (["1.234", "2.345", "3.456", "7,5"], "1.234,5", 1234.0),
    ],
)
def test_an_ambiguous_mark_is_resolved_by_the_whole_column(texts, form, first):
    frame = pd.DataFrame({"x": texts * 5})
    step = TablePreprocessor().fit(frame)
    assert step.forms_ == {"x": form}
    assert step.column_values(frame)["x"][0] == first


def test_the_form_is_that_of_the_training_table_in_every_chunk():
    texts = ["1.234", "2.345", "3.456", "7,5", "8,25"] * 20
    frame = pd.DataFrame({"x": texts})
    step = TablePreprocessor().fit(frame)
    whole = step.transform(frame)
    parts = [step.transform(frame[i : i + 3]) for i in range(0, len(frame), 3)]
    assert_array_equal(np.vstack(parts), whole)
    assert step.column_values(pd.DataFrame({"x": ["1.000"]}))["x"].tolist() == [1000.0]


def test_amounts_in_another_currency_are_missing():
    texts = [f"${value}" for value in range(50)] + ["€7", "8"]
    step = TablePreprocessor().fit(pd.DataFrame({"x": texts}))
    assert report_of(step)["unparsed"] == ["€7"]
    assert step.column_values(pd.DataFrame({"x": ["$5", "€5", "5"]}))["x"][[0, 2]].tolist() == [
        5,
        5,
    ]


DATES = {
    "%d/%m/%Y": "%d/%m/%Y",
    "%m/%d/%Y": "%m/%d/%Y",
    "%d.%m.%Y": "%d.%m.%Y",
    "%d-%m-%Y": "%d-%m-%Y",
    "%Y/%m/%d": "%Y/%m/%d",
    "%d/%m/%y": "%d/%m/%y",
    "%d.%m.%y": "%d.%m.%y",
    "%d %b %Y": "%d %b %Y",
    "%d-%b-%y": "%d-%b-%y",
    "%B %d, %Y": "%B %d, %Y",
    "%m/%d/%Y %I:%M %p": "%m/%d/%Y %I:%M %p",
    "%d/%m/%Y %H:%M:%S": "%d/%m/%Y %H:%M:%S",
    "%Y-%m-%d": "ISO 8601",
}


@pytest.mark.parametrize("written", DATES)
def test_dates_in_every_form_are_the_same_dates(written):
    texts = DAYS.dt.strftime(written).copy()
    texts[5] = "unknown"
    expected = pd.DataFrame({"x": DAYS.where(DAYS.index != 5)})
    frame = pd.DataFrame({"x": texts})
    step = TablePreprocessor().fit(frame)
    assert step.columns_ == {"x": "date"}
    assert step.forms_ == {"x": DATES[written]}
    assert report_of(step)["unparsed"] == ["unknown"]
    assert_allclose(step.transform(frame), TablePreprocessor().fit_transform(expected))


def test_day_and_month_are_told_apart_by_the_whole_column():
    days = pd.Series(["02/01/2024", "03/04/2024"] * 10 + ["25/12/2024"])
    months = pd.Series(["02/01/2024", "03/04/2024"] * 10 + ["12/25/2024"])
    for texts, form in ((days, "%d/%m/%Y"), (months, "%m/%d/%Y")):
        assert TablePreprocessor().fit(pd.DataFrame({"x": texts})).forms_ == {"x": form}


NOT_NUMBERS = {
    "zip codes": [f"{i:05d}" for i in range(100, 180)],
    "long ids": [f"{10**17 + i}" for i in range(80)],
    "diagnoses": ["250", "401", "V45", "E909", "V12", "E11", "427", "786", "410", "486"] * 8,
    "ranges": ["10-20", "20-30", "30-40", "over 40"] * 20,
    "few codes": ["1", "2", "3"] * 20,
    "mostly words": ["5more", "2", "3", "4"] * 20,
    "shops": [f"shop {i % 9}" for i in range(80)],
    "versions": ["1.2.3", "1.2.10", "2.0.1"] * 20,
    "times": ["10:30", "11:45", "23:59"] * 20,
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_text_that_only_looks_like_numbers_stays_text(name):
    frame = pd.DataFrame({"x": NOT_NUMBERS[name], "n": np.arange(len(NOT_NUMBERS[name])) % 7})
    report = report_of(TablePreprocessor().fit(frame))
    assert report["kind"] in ("category", "text")
    assert report["form"] is None
    assert report["n_unparsed"] == 0


def test_numbers_mixed_with_words_in_one_column_of_objects():
    values = [*VALUES.tolist(), "unknown", None]
    step = TablePreprocessor().fit(pd.DataFrame({"x": pd.Series(values, dtype=object)}))
    report = report_of(step)
    assert report["kind"] == "numeric"
    assert (report["n_missing"], report["n_unparsed"]) == (1, 1)


def test_a_word_that_was_not_seen_when_fitting_is_missing():
    step = TablePreprocessor().fit(pd.DataFrame({"x": VALUES, "d": DAYS}))
    frame = pd.DataFrame({"x": ["5", "abc", "n/a"], "d": ["2024-05-01", "someday", "-"]})
    values = step.column_values(frame)
    assert np.isnan(values["x"]).tolist() == [False, True, True]
    assert np.isnan(values["d"]).tolist() == [False, True, True]


TIMES_OF_DAY = {
    "hours and minutes": lambda text: text,
    "seconds": lambda text: f"{text}:00",
    "microseconds": lambda text: f"{text}:00.000000",
    "objects": time.fromisoformat,
}


@pytest.mark.parametrize("fitted", TIMES_OF_DAY)
def test_times_of_the_day_are_the_same_in_every_spelling(fitted):
    texts = ["08:00", "13:30", "23:59"] * 20

    def frame(spelling):
        return pd.DataFrame({"x": [TIMES_OF_DAY[spelling](text) for text in texts]})

    step = TablePreprocessor().fit(frame(fitted))
    assert step.columns_ == {"x": "category"}
    for spelling in TIMES_OF_DAY:
        numbers = step.transform(frame(spelling))
        assert numbers.sum(axis=1).tolist() == [1.0] * 60
        assert_array_equal(numbers, step.transform(frame(fitted)))


def test_fractions_of_a_second_and_other_text_stay():
    texts = ["08:00:00.25", "08:00:00.250000", "late", "24:00", "8:00"] * 10
    values = TablePreprocessor().fit(frame := pd.DataFrame({"x": texts})).column_values(frame)
    assert values["x"][:5].tolist() == ["08:00:00.25", "08:00:00.25", "late", "24:00", "8:00"]


@pytest.mark.parametrize(
    ("held", "others", "message"),
    [
        (["12,5", "3,25"], ["12.5", "3.25"], r"numbers in the form 1234,5 when .* got '12\.5' in"),
        (["31/01/2024", "02/04/2024"], ["1/31/24"], "dates in the form %d/%m/%Y when .* got '1/31"),
    ],
)
def test_errors_name_the_form_that_a_column_had(held, others, message):
    step = TablePreprocessor().fit(pd.DataFrame({"x": 20 * held}))
    with pytest.raises(InvalidDataError, match="Column 'x' held " + message):
        step.transform(pd.DataFrame({"x": others}))


def test_a_row_with_text_that_did_not_parse_in_training_has_a_gap():
    """As it has among other rows: the words that are remembered, and others in few rows."""
    words = ["k.A.", "k.A. ", "n.b.", ">100", "<5", "10+"]
    held = pd.DataFrame({"x": [*words, "5+", *(f"{number},5" for number in range(93))]})
    step = TablePreprocessor().fit(held)
    together = step.transform(held)
    for row in range(7):
        assert_array_equal(step.transform(held[row : row + 1]), together[row : row + 1])
    assert np.isnan(step.column_values(held[:6])["x"]).all()
    assert np.isnan(step.column_values(pd.DataFrame({"x": ["1.5"]}))["x"]).all()
    with pytest.raises(InvalidDataError, match=r"in the form 1234,5 when .* got '1.5' in row 1, "):
        step.transform(pd.DataFrame({"x": ["k.A.", "1.5", "2.5", "3.5"]}))
