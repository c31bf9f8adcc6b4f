"""Frames of every library, type and byte order give the same numbers."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skauc.exceptions import InvalidDataError
from skauc.preprocessing import TablePreprocessor

N = 60
RNG = np.random.default_rng(0)
AGES = [None if i % 11 == 0 else int(age) for i, age in enumerate(RNG.integers(18, 90, N))]
PRICES = [None if i % 13 == 0 else round(float(p), 2) for i, p in enumerate(RNG.normal(50, 9, N))]
FLAGS = [None if i % 7 == 0 else bool(flag) for i, flag in enumerate(RNG.random(N) < 0.4)]
TOWNS = [None if i % 9 == 0 else town for i, town in enumerate(RNG.choice(["Oslo", "Bern"], N))]
TIMES = [
    None if i % 5 == 0 else datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=37 * i)
    for i in range(N)
]
PLAIN = pd.DataFrame(
    {
        "age": pd.Series(AGES, dtype=float),
        "price": pd.Series(PRICES, dtype=float),
        "flag": pd.Series(FLAGS, dtype=object),
        "town": pd.Series(TOWNS, dtype=object),
        "time": pd.Series(pd.to_datetime(TIMES)),
    }
)
EXPECTED = TablePreprocessor().fit_transform(PLAIN)
KINDS = {
    "age": "numeric",
    "price": "numeric",
    "flag": "boolean",
    "town": "category",
    "time": "date",
}
UTC = PLAIN["time"].dt.tz_localize("UTC")


def decimals(values):
    return pd.Series([None if v is None else Decimal(f"{v:.2f}") for v in values], dtype=object)


def arrow(values, kind):
    return pd.Series(values, dtype=pd.ArrowDtype(kind))


PANDAS = {
    "nullable": PLAIN.astype(
        {"age": "Int64", "price": "Float64", "flag": "boolean", "town": "string"}
    ),
    "small": PLAIN.assign(
        age=pd.Series(AGES, dtype="UInt8"), town=PLAIN["town"].astype("category")
    ),
    "str": PLAIN.assign(town=PLAIN["town"].astype("str")),
    "decimals": PLAIN.assign(price=decimals(PRICES), age=decimals(AGES)),
    "objects": PLAIN.astype({"age": object, "price": object, "time": object}),
    "time zone": PLAIN.assign(time=UTC.dt.tz_convert("America/New_York")),
    "objects with time zones": PLAIN.assign(
        time=pd.Series(
            [
                None if t is None else t.replace(tzinfo=datetime.UTC).astimezone(zone)
                for t, zone in zip(
                    TIMES,
                    [datetime.timezone(datetime.timedelta(hours=h % 12)) for h in range(N)],
                    strict=True,
                )
            ],
            dtype=object,
        )
    ),
    "arrow": PLAIN.assign(
        age=arrow(AGES, pa.int16()),
        price=arrow(PRICES, pa.float64()),
        flag=arrow(FLAGS, pa.bool_()),
        town=arrow(TOWNS, pa.string()),
        time=arrow(TIMES, pa.timestamp("us")),
    ),
    "arrow decimals": PLAIN.assign(price=arrow(decimals(PRICES).tolist(), pa.decimal128(12, 2))),
    "big-endian": PLAIN.astype({"age": ">f8", "price": ">f8"}),
    "names in another order": PLAIN[PLAIN.columns[::-1]][PLAIN.columns],
}


@pytest.mark.parametrize("name", PANDAS)
def test_types_of_pandas(name):
    if name == "str" and pd.__version__ < "3":
        pytest.skip("before pandas 3, astype(str) turns missing values into text")
    frame = PANDAS[name]
    step = TablePreprocessor()
    assert_allclose(step.fit_transform(frame), EXPECTED, rtol=1e-12, atol=1e-12)
    assert step.columns_ == KINDS
    fitted = TablePreprocessor().fit(PLAIN)
    assert_allclose(fitted.transform(frame), EXPECTED, rtol=1e-12, atol=1e-12)
    assert_allclose(fitted.transform(frame[:1]), EXPECTED[:1], rtol=1e-12, atol=1e-12)


POLARS = {
    "usual": {},
    "categories": {"town": pl.Series(TOWNS, dtype=pl.Categorical)},
    "enumerations": {"town": pl.Series(TOWNS, dtype=pl.Enum(["Oslo", "Bern"]))},
    "decimals": {"price": pl.Series(decimals(PRICES).tolist(), dtype=pl.Decimal(12, 2))},
    "small integers": {"age": pl.Series(AGES, dtype=pl.UInt8)},
    "time zone": {"time": pl.Series(TIMES).dt.replace_time_zone("UTC")},
}


@pytest.mark.parametrize("name", POLARS)
def test_types_of_polars(name):
    columns = {"age": AGES, "price": PRICES, "flag": FLAGS, "town": TOWNS, "time": TIMES}
    frame = pl.DataFrame({**columns, **POLARS[name]})
    step = TablePreprocessor()
    assert_allclose(step.fit_transform(frame), EXPECTED, rtol=1e-12, atol=1e-12)
    assert step.columns_ == KINDS
    assert_allclose(step.transform(frame[:1]), EXPECTED[:1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i8", ">i2", ">M8[s]"])
def test_columns_of_another_byte_order(dtype):
    values = np.arange(80) * 37 % 53
    step = TablePreprocessor()
    swapped = pd.DataFrame({"x": values.astype("i8").astype(dtype)})
    expected = step.fit_transform(
        pd.DataFrame({"x": values.astype(np.dtype(dtype).newbyteorder("="))})
    )
    assert_array_equal(TablePreprocessor().fit_transform(swapped), expected)
    assert_array_equal(step.transform(swapped), expected)


def test_an_array_of_another_byte_order():
    X = np.random.default_rng(0).normal(size=(80, 2))
    expected = TablePreprocessor().fit_transform(X)
    assert_array_equal(TablePreprocessor().fit_transform(X.astype(">f8")), expected)


def test_names_that_are_numbers():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)))
    step = TablePreprocessor().fit(frame)
    assert step.columns_ == {"0": "numeric", "1": "numeric"}
    assert step.transform(frame).shape == (80, 2)


def test_durations_are_numbers_of_seconds():
    days = np.arange(80) * 37 % 53
    frame = pd.DataFrame({"x": pd.to_timedelta(days, unit="D")})
    expected = TablePreprocessor().fit_transform(pd.DataFrame({"x": days * 86400.0}))
    assert_allclose(TablePreprocessor().fit_transform(frame), expected)


def test_categories_keep_their_kind_whatever_their_levels_look_like():
    codes = pd.Series(np.arange(80) * 37 % 53 % 12, dtype="category")
    step = TablePreprocessor().fit(pd.DataFrame({"code": codes}))
    assert step.columns_ == {"code": "category"}
    assert "code_11" in step.get_feature_names_out()


SAME_CODES = {
    "category": lambda codes: codes.astype("category"),
    "category with gaps": lambda codes: codes.where(codes != 3).astype("category"),
    "integers": lambda codes: codes,
    "floats": lambda codes: codes.astype(float),
    "text": lambda codes: codes.map("{:02d}".format),
    "category of text": lambda codes: codes.astype(str).astype("category"),
}


@pytest.mark.parametrize("name", SAME_CODES)
def test_categories_of_numbers_are_known_however_a_reader_returns_them(name):
    codes = pd.Series(np.arange(80) * 37 % 53 % 5)
    step = TablePreprocessor().fit(pd.DataFrame({"code": codes.astype("category")}))
    expected = step.transform(pd.DataFrame({"code": codes.astype("category")}))
    found = step.transform(pd.DataFrame({"code": SAME_CODES[name](codes)}))
    known = codes != 3 if name == "category with gaps" else codes >= 0
    assert_array_equal(found[known], expected[known])
    assert (found[~known] == 0).all()


TEXT_TYPES = {
    "object": lambda texts: pd.Series(texts, dtype=object),
    "string": lambda texts: pd.Series(texts, dtype="string"),
    "category": lambda texts: pd.Series(texts, dtype="category"),
    "ordered": lambda texts: pd.Series(
        pd.Categorical(texts, ["low", "mid", "high", "never"], ordered=True)
    ),
    "polars text": lambda texts: pl.Series(texts),
    "polars category": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "polars enumeration": lambda texts: pl.Series(texts, dtype=pl.Enum(["low", "mid", "high"])),
}


@pytest.mark.parametrize("fitted", TEXT_TYPES)
def test_every_type_of_text_column_is_the_same_category(fitted):
    texts = [["low", "mid", "high", None][place] for place in np.arange(80) * 37 % 53 % 4]

    def frame(name):
        column = TEXT_TYPES[name](texts)
        make = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
        return make({"size": column})

    step = TablePreprocessor().fit(frame(fitted))
    names = step.get_feature_names_out().tolist()
    assert names == ["size_", "size_high", "size_low", "size_mid"]
    expected = np.array(
        [[text == level for level in (None, "high", "low", "mid")] for text in texts]
    )
    for other in TEXT_TYPES:
        assert_array_equal(step.transform(frame(other)), expected)


def test_truth_values_with_gaps_are_the_same_in_every_type():
    truths = [[True, False, None][place] for place in np.arange(80) * 37 % 53 % 3]
    step = TablePreprocessor().fit(pd.DataFrame({"flag": pd.Series(truths, dtype="boolean")}))
    assert step.columns_ == {"flag": "boolean"}
    expected = step.transform(pd.DataFrame({"flag": pd.Series(truths, dtype=object)}))
    assert_array_equal(expected[:, 1], [truth is None for truth in truths])
    assert_array_equal(step.transform(pl.DataFrame({"flag": truths})), expected)


def test_two_columns_of_text_with_the_same_words():
    texts = [f"good day {i}" for i in range(60)]
    frame = pd.DataFrame({"a": texts, "b": texts, "n": np.arange(60) % 7})
    step = TablePreprocessor().fit(frame)
    names = step.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == step.transform(frame).shape[1]


def test_values_of_no_use():
    with pytest.raises(InvalidDataError, match=r"Column 'z' holds values of a kind .* \(complex"):
        TablePreprocessor().fit(pd.DataFrame({"z": [1j, 2j]}))
