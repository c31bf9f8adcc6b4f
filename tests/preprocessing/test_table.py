"""TablePreprocessor: kinds are found, numbers suit a kernel, and another table is an error."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from messy import make_messy
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from skauc import SparseKernelAUC
from skauc.exceptions import InvalidDataError
from skauc.preprocessing import DateFeatures, TablePreprocessor

FRAME, Y = make_messy()


def test_kinds():
    step = TablePreprocessor().fit(FRAME, Y)
    assert step.columns_ == {
        "age": "numeric",
        "income": "numeric",
        "visits": "numeric",
        "member": "boolean",
        "consent": "boolean",
        "town": "category",
        "shop": "category",
        "born": "date",
        "seen": "date",
        "name": "text",
    }
    assert step.dropped_ == {
        "id": "is text in which no word recurs",
        "constant": "has one value only",
        "nothing": "is empty",
    }


def test_numbers_are_finite_and_named():
    step = TablePreprocessor()
    numbers = step.fit_transform(FRAME, Y)
    names = step.get_feature_names_out().tolist()
    assert numbers.shape == (len(FRAME), len(names))
    assert np.isfinite(numbers).all()
    assert np.abs(numbers).max() < 10
    expected = {"age", "missingindicator_age", "town_", "town_Bern", "shop", "mrs", "seen_day_sin"}
    assert expected <= set(names)
    assert "born_day_sin" not in names
    assert_allclose(numbers.std(axis=0)[names.index("income")], 1.0)


def test_a_column_of_numbers_is_centred_tamed_and_standardised():
    filled = FRAME[["income"]].to_numpy()
    expected = StandardScaler().fit_transform(np.arcsinh(RobustScaler().fit_transform(filled)))
    assert_allclose(TablePreprocessor().fit_transform(FRAME[["income"]]), expected)


def test_gaps_are_filled_by_the_median_and_flagged():
    frame = pd.DataFrame({"x": [1.0, 2.0, 9.0, np.nan]})
    numbers = TablePreprocessor().fit_transform(frame)
    assert_array_equal(numbers[3], [numbers[1, 0], 1.0])
    assert_array_equal(numbers[:3, 1], 0.0)


def test_levels_not_seen_before_are_no_level():
    step = TablePreprocessor().fit(FRAME[["town"]])
    numbers = step.transform(pd.DataFrame({"town": ["Oslo", "Paris", None]}))
    assert_array_equal(numbers.sum(axis=1), [1.0, 0.0, 1.0])


def test_rare_levels_are_no_level():
    frame = pd.DataFrame({"town": ["Oslo"] * 9 + ["Bern"] * 8 + ["Rome"] * 4})
    step = TablePreprocessor().fit(frame)
    assert step.get_feature_names_out().tolist() == ["town_Bern", "town_Oslo"]


def test_many_levels_are_encoded_by_the_target_and_by_one_column_a_level_without_one():
    assert TablePreprocessor().fit_transform(FRAME[["shop"]], Y).shape == (len(FRAME), 1)
    assert TablePreprocessor().fit_transform(FRAME[["shop"]]).shape == (len(FRAME), 30)


def codes(n_levels, n_rows):
    """A category whose levels have equally many rows."""
    return pd.Categorical.from_codes(
        np.arange(n_rows) % n_levels, [f"c{i}" for i in range(n_levels)]
    )


@pytest.mark.parametrize(("n_levels", "n_out"), [(40, 40), (41, 1)])
def test_many_levels_have_a_column_each_if_there_are_a_thousand_rows_per_level(n_levels, n_out):
    frame, y = pd.DataFrame({"code": codes(n_levels, 40_000)}), np.arange(40_000) % 3 == 0
    assert TablePreprocessor().fit_transform(frame, y).shape[1] == n_out


def test_at_most_a_hundred_such_levels_have_a_column():
    frame = pd.DataFrame({f"of_{n}": codes(n, 70_000) for n in (70, 41, 31, 61)})
    step = TablePreprocessor().fit(frame, np.arange(70_000) % 3 == 0)
    assert len(step.get_feature_names_out()) == 41 + 31 + 1 + 1
    assert step.parts_["target"]["columns"] == ["of_70", "of_61"]


def test_target_encoding_is_repeatable_and_does_not_see_a_rows_own_label():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": [f"c{i}" for i in rng.integers(0, 60, 600)]})
    y = rng.random(600) < 0.3
    first, again = (TablePreprocessor().fit_transform(frame, y) for _ in range(2))
    assert_array_equal(first, again)
    assert abs(np.corrcoef(first[:, 0], y)[0, 1]) < 0.15


def test_dates_of_every_form_are_the_same_dates():
    days = pd.Series(pd.date_range("2024-01-01", periods=40, freq="37h"))
    forms = [
        days,
        days.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        days.dt.strftime("%Y-%m-%d %H:%M:%S"),
        days.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        days.astype(object),
    ]
    results = [TablePreprocessor().fit_transform(pd.DataFrame({"d": form})) for form in forms]
    for result in results[1:]:
        assert_allclose(result, results[0])


def test_phases_of_dates():
    monday = pd.Timestamp("2024-01-01").timestamp()
    hours = monday + 3600.0 * np.arange(24 * 14)
    step = DateFeatures()
    numbers = step.fit_transform(hours[:, None])
    names = step.get_feature_names_out(["t"]).tolist()
    day = numbers[:, [names.index("t_day_sin"), names.index("t_day_cos")]]
    week = numbers[:, [names.index("t_week_sin"), names.index("t_week_cos")]]
    assert_allclose(day[24:], day[:-24], atol=1e-9)
    assert_allclose(week[168:], week[:168], atol=1e-9)
    assert_allclose((numbers**2)[:, 1:3].sum(axis=1), 1.0)


@pytest.mark.parametrize("period", ["week", "day"])
def test_equal_phases_are_equal_numbers(period):
    """Otherwise ranks, and exports in single precision, would tell rounding errors apart."""
    wednesdays = pd.date_range("1950-01-04", "2060-01-01", freq="7D")
    hours = pd.Series(wednesdays + pd.Timedelta(hours=7))
    step = DateFeatures()
    times = hours.to_numpy("datetime64[s]").astype(float)[:, None]
    step.fit(np.vstack((times, times + 5 * 3600.0, times + 24 * 3600.0)))
    names = step.get_feature_names_out(["t"]).tolist()
    found = step.transform(times)[:, [names.index(f"t_{period}_{part}") for part in ("sin", "cos")]]
    assert len(np.unique(found, axis=0)) == 1


def test_polars_and_pandas_give_the_same_numbers():
    frame = FRAME[["age", "member", "town", "seen"]]
    expected = TablePreprocessor().fit_transform(frame)
    assert_allclose(TablePreprocessor().fit_transform(pl.from_pandas(frame)), expected)


def test_columns_are_found_by_name():
    step = TablePreprocessor().fit(FRAME, Y)
    expected = step.transform(FRAME)
    assert_array_equal(step.transform(FRAME[FRAME.columns[::-1]]), expected)
    assert_array_equal(step.transform(FRAME.drop(columns=["id", "nothing"])), expected)


def test_a_column_may_be_all_gaps_when_transforming():
    step = TablePreprocessor().fit(FRAME, Y)
    for gap in (None, np.nan):
        numbers = step.transform(FRAME.assign(**dict.fromkeys(step.columns_, gap)))
        assert np.isfinite(numbers).all()


BAD = [
    ({"age": "abc"}, r"Column 'age' held numbers .* got 'abc' in row 0, counted from 0\. Correct"),
    ({"member": "perhaps"}, r"Column 'member' held truth values .* got 'perhaps' in row 0"),
    ({"town": 3}, r"Column 'town' held text .* got .*3.* in row 0"),
    ({"born": "someday"}, r"Column 'born' held dates .* got 'someday' in row 0"),
    ({"seen": 12.5}, r"Column 'seen' held dates .* got .*12\.5.* in row 0"),
    ({"age": np.inf}, r"Column 'age' holds inf in row 0, counted from 0\. Replace it by a missing"),
    ({"extra": 1}, r"has the column 'extra', which the model was fitted without"),
]


@pytest.mark.parametrize(("columns", "message"), BAD)
def test_another_table(columns, message):
    step = TablePreprocessor().fit(FRAME, Y)
    with pytest.raises(InvalidDataError, match=message):
        step.transform(FRAME.assign(**columns))


def test_errors_name_the_row_of_the_table_that_rows_were_taken_from():
    step = TablePreprocessor().fit(FRAME, Y)
    frame = FRAME.assign(age=FRAME["age"].where(FRAME.index != 7, np.inf))
    with pytest.raises(InvalidDataError, match=r"holds inf in row 7, counted from 0\."):
        step.transform(frame[5:])
    frame = FRAME.assign(member=FRAME["member"].astype(object).where(FRAME.index != 7, "perhaps"))
    for rows, row in ((frame[5:], 7), (frame[5:].set_index(frame["id"][5:]), 2)):
        with pytest.raises(InvalidDataError, match=rf"'perhaps' in row {row}, counted from 0"):
            step.transform(rows)


def test_missing_columns():
    step = TablePreprocessor().fit(FRAME, Y)
    with pytest.raises(InvalidDataError, match=r"lacks the columns 'age', 'town', which the"):
        step.transform(FRAME.drop(columns=["age", "town"]))
    with pytest.raises(InvalidDataError, match=r"'visits', 'member', 'consent' and 5 more"):
        step.transform(FRAME[["id"]])


def test_tables_that_cannot_be_learnt_from():
    with pytest.raises(
        InvalidDataError, match=r"No column of the table tells rows apart; got the col"
    ):
        TablePreprocessor().fit(FRAME[["id", "constant", "nothing"]])
    with pytest.raises(InvalidDataError, match="the table has no rows"):
        TablePreprocessor().fit(FRAME[:0])
    with pytest.raises(InvalidDataError, match="more than one column called 'age'"):
        TablePreprocessor().fit(FRAME[["age", "age"]])
    with pytest.raises(InvalidDataError, match=r"Column 'tags' holds values of a kind .* \['a'\]"):
        TablePreprocessor().fit(pd.DataFrame({"tags": [["a"], ["b"]]}))


def test_a_pipeline_ranks_messy_rows():
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(16, random_state=0))
    other, y = make_messy(seed=1)
    assert model.fit(FRAME, Y).score(other, y) > 0.75


def test_numbers_of_rows_are_dropped():
    rng = np.random.default_rng(0)
    kept = np.flatnonzero(rng.random(300) < 0.7)
    frame = pd.DataFrame({"column 1": kept, "year": 1900 + 7 * kept, "x": rng.random(len(kept))})
    step = TablePreprocessor().fit(frame)
    assert step.dropped_ == {"column 1": "only numbers the rows"}
    assert step.transform(frame.drop(columns="column 1")).shape == (len(kept), 2)
