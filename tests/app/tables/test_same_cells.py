"""A column means the same when a model is fitted and when it predicts, in every format."""

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
