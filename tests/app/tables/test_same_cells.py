"""A column means the same when a model is fitted and when it predicts, in every format."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from skauc.app.tables import iterate_table, read_table
from skauc.exceptions import InvalidDataError
from skauc.preprocessing import TablePreprocessor


def kinds_of(step):
    """Return the kinds that the program passes to the readers when a model predicts."""
    return {name: "text" if name in step.forms_ else kind for name, kind in step.columns_.items()}


def readings(path, step):
    """Return the table as the program reads it: whole, in pieces, with and without known kinds."""
    kinds = kinds_of(step)
    return [
        read_table(path),
        read_table(path, kinds=kinds),
        pd.concat(iterate_table(path, 7, kinds=kinds), ignore_index=True),
    ]


@pytest.mark.parametrize("fitted", ["csv", "parquet"])
@pytest.mark.parametrize("written", ["%H:%M", "%H:%M:%S"])
def test_times_of_the_day(tmp_path, fitted, written):
    moments = pd.Series(pd.to_datetime(["08:00", "13:30", "23:59"] * 20, format="%H:%M"))
    pd.DataFrame({"at": moments.dt.strftime(written)}).to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame({"at": moments.dt.time}).to_parquet(tmp_path / "t.parquet")
    frame = read_table(tmp_path / f"t.{fitted}")
    step = TablePreprocessor().fit(frame)
    expected = step.transform(frame)
    assert np.unique(expected, axis=0).shape == (3, 3)
    for name in ("t.csv", "t.parquet"):
        for other in readings(tmp_path / name, step):
            np.testing.assert_array_equal(step.transform(other), expected)


@pytest.mark.parametrize("fitted", ["csv", "parquet"])
def test_codes_of_a_chosen_category(tmp_path, fitted):
    frame = pd.DataFrame({"code": [7, 12, 410] * 20, "y": 0})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.astype({"code": float}).to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / f"t.{fitted}", kinds={"code": "category"})
    step = TablePreprocessor(category=["code"], drop=["y"]).fit(table)
    expected = step.transform(frame)
    assert np.unique(expected, axis=0).shape == (3, 3)
    for name in ("t.csv", "t.parquet"):
        for other in readings(tmp_path / name, step):
            np.testing.assert_array_equal(step.transform(other), expected)


def test_errors_name_the_row_of_the_file(tmp_path):
    frame = pd.DataFrame({"x": np.arange(60) % 7.0, "at": ["2024-05-01", "2024-05-02"] * 30})
    frame.to_csv(tmp_path / "t.csv", index=False)
    step = TablePreprocessor().fit(read_table(tmp_path / "t.csv"))
    frame.assign(x=frame["x"].where(frame.index != 40, np.inf)).to_csv(
        tmp_path / "t.csv", index=False
    )
    pieces = iterate_table(tmp_path / "t.csv", 7, kinds=step.columns_)
    with pytest.raises(InvalidDataError, match="holds inf in row 40, counted from 0"):
        list(map(step.transform, pieces))


@pytest.mark.parametrize("cells", [["0x1F", "0x0A", "0xFF"], ["0x1F", "10", "255"]])
def test_hexadecimal_codes_are_text(tmp_path, cells):
    path = tmp_path / "t.csv"
    pd.DataFrame({"code": cells * 20, "n": np.arange(60) % 7}).to_csv(path, index=False)
    frame = read_table(path)
    assert frame["code"].tolist() == cells * 20
    step = TablePreprocessor().fit(frame)
    assert step.columns_ == {"code": "category", "n": "numeric"}
    for other in [*readings(path, step), pd.read_csv(path), *iterate_table(path, 100)]:
        np.testing.assert_array_equal(step.transform(other), step.transform(frame))


def test_integers_beside_hexadecimal_codes_are_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n0x1F,1,x0x\n0x2E,2,y\n")
    assert read_table(path)["b"].tolist() == [1, 2]
    assert next(iterate_table(path))["b"].tolist() == [1, 2]


@pytest.mark.parametrize("digits", [25, 40])
def test_ids_of_many_digits_are_text(tmp_path, digits):
    codes = [str(10 ** (digits - 1) + i) for i in (0, 1, 2)] * 20
    frame = pd.DataFrame({"id": codes, "n": np.arange(60) % 7})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.assign(id=[Decimal(code) for code in codes]).to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.csv")
    assert table["id"].tolist() == codes
    for fitted in (
        table,
        read_table(tmp_path / "t.parquet"),
        frame.assign(id=list(map(int, codes))),
    ):
        step = TablePreprocessor().fit(fitted)
        assert step.columns_ == {"id": "category", "n": "numeric"}
        expected = step.transform(table)
        assert np.unique(expected[:, 1:], axis=0).shape == (3, 3)
        for name in ("t.csv", "t.parquet"):
            for other in readings(tmp_path / name, step):
                np.testing.assert_array_equal(step.transform(other), expected)


def test_huge_numbers_are_no_codes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y,z\n" + "1.5e25,10000000000000000000,1\n2e300,2.5,2\n-3,0,1\n" * 20)
    frame = read_table(path)
    assert frame["x"].dtype == float
    step = TablePreprocessor().fit(frame)
    assert step.columns_ == {"x": "numeric", "y": "numeric", "z": "numeric"}
    for other in readings(path, step):
        assert step.column_values(other)["y"][:2].tolist() == [1e19, 2.5]
        np.testing.assert_array_equal(step.transform(other), step.transform(frame))


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999"])
@pytest.mark.parametrize("written", ["{}", "${}"])
def test_an_infinite_number_is_an_error(tmp_path, cell, written):
    path = tmp_path / "t.csv"
    cells = [written.format(i) for i in range(60, 0, -1)]
    pd.DataFrame({"x": cells}).to_csv(path, index=False)
    step = TablePreprocessor().fit(read_table(path))
    assert step.columns_ == {"x": "numeric"}
    cells[7] = cell
    pd.DataFrame({"x": cells}).to_csv(path, index=False)
    frame = read_table(path)
    for table in readings(path, step):
        with pytest.raises(InvalidDataError, match=r"'x' holds -?inf in row 7, counted from 0\."):
            step.transform(table)
    with pytest.raises(InvalidDataError, match=r"'x' holds -?inf in row 7, counted from 0\."):
        TablePreprocessor().fit(frame)
