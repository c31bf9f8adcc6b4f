"""Columns exactly as they stand in the file, beside the values."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from skauc.app.tables import iterate_with_text, read_table
from skauc.exceptions import InvalidParameterError

IDS = ["001", "0123456789012345678", "0123456789012345679", "1e5", "NA", "007.50"]
AGES = ["31.50", "", "054", "NA", "22", "7"]
TEXT = pd.DataFrame({"id": IDS, "age": AGES})
NUMBERS = [31.5, np.nan, 54.0, np.nan, 22.0, 7.0]
ARFF = "@RELATION r\n@ATTRIBUTE id NUMERIC\n@ATTRIBUTE 'an age' REAL\n@ATTRIBUTE c {a, b}\n@DATA\n"


def write(path, content):
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "wb") as file:
        file.write(content)
    return path


def collect(path, verbatim, chunk_rows, **options):
    pieces = list(iterate_with_text(path, verbatim, chunk_rows, **options))
    frames, texts = zip(*pieces, strict=True)
    return pd.concat(frames, ignore_index=True), pd.concat(texts, ignore_index=True)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
@pytest.mark.parametrize("chunk_rows", [1, 4, 100])
@pytest.mark.parametrize("kinds", [None, {"age": "numeric", "id": "category"}])
def test_cells_of_delimited_text(tmp_path, name, chunk_rows, kinds):
    text = TEXT.to_csv(index=False, sep="\t" if "tsv" in name else ",")
    path = write(tmp_path / name, text.encode())
    frame, kept = collect(path, ["id", "age"], chunk_rows, kinds=kinds)
    assert kept["id"].tolist() == IDS
    assert kept["age"].tolist() == AGES
    np.testing.assert_array_equal(frame["age"].to_numpy(dtype=float), NUMBERS)


def test_the_frame_does_not_depend_on_what_is_kept(tmp_path):
    content = "id,born,ok,town\n1,2024-01-05,true,NA\n2,2024-02-06,false,Oslo\n"
    path = write(tmp_path / "t.csv", content.encode())
    plain, _ = collect(path, [], 10)
    frame, kept = collect(path, ["town", "ok", "id", "born"], 10)
    pd.testing.assert_frame_equal(frame, plain)
    assert kept.to_numpy().tolist()[0] == ["NA", "true", "1", "2024-01-05"]


def test_standard_input(monkeypatch):
    content = TEXT.to_csv(index=False).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    _, kept = collect("-", ["id"], 4)
    assert kept["id"].tolist() == IDS


@pytest.mark.parametrize("name", ["t.parquet", "t.parquet.gz"])
def test_cells_of_parquet(tmp_path, name):
    table = pa.table(
        {
            "id": pa.array([9007199254740993, None, 9007199254740992]),
            "code": pa.array(["001", "NA", None]),
            "group": pa.array(["x", "y", "x"]).dictionary_encode(),
            "price": pa.array([0.1, 2.0, None]),
            "tags": pa.array([["a"], [], None]),
        }
    )
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    path = write(tmp_path / name, buffer.getvalue())
    frame, kept = collect(path, ["id", "code", "group", "price", "tags"], 2)
    assert kept["id"].tolist() == ["9007199254740993", "", "9007199254740992"]
    assert kept["code"].tolist() == ["001", "NA", ""]
    assert kept["group"].tolist() == ["x", "y", "x"]
    assert kept["price"].tolist()[::2] == ["0.1", ""]
    assert kept["tags"].tolist() == ["['a']", "[]", ""]
    assert frame["price"].tolist()[:2] == [0.1, 2.0]


@pytest.mark.parametrize("name", ["t.arff", "t.arff.gz"])
def test_cells_of_arff(tmp_path, name):
    rows = "001,31.50,a\n9007199254740993,?,b\n9007199254740992,7,a\n"
    path = write(tmp_path / name, (ARFF + rows).encode())
    frame, kept = collect(path, ["id", "an age", "c"], 2)
    assert kept["id"].tolist() == ["001", "9007199254740993", "9007199254740992"]
    assert kept["an age"].tolist() == ["31.50", "", "7"]
    assert kept["c"].tolist() == ["a", "b", "a"]
    np.testing.assert_array_equal(frame["an age"], [31.5, np.nan, 7.0])


def test_dates_of_arff(tmp_path):
    head = """@RELATION t\n@ATTRIBUTE 'first day' date "yyyy-MM-dd HH:mm"\n@ATTRIBUTE b DATE\n"""
    rows = "@DATA\n'2024-05-01 08:30',2024-05-02\n?,2024-05-03\n"
    path = write(tmp_path / "t.arff", (head + rows).encode())
    frame, text = next(iterate_with_text(path, ["b"]))
    assert frame["first day"].tolist() == ["2024-05-01 08:30", None]
    assert text["b"].tolist() == frame["b"].tolist() == ["2024-05-02", "2024-05-03"]
    pd.testing.assert_frame_equal(read_table(path), frame)


def test_cells_of_sparse_arff(tmp_path):
    path = write(tmp_path / "t.arff", (ARFF + "{0 001, 2 b}\n{1 2.50}\n").encode())
    frame, kept = collect(path, ["id", "an age"], 1)
    assert kept["id"].tolist() == ["001", "0"]
    assert kept["an age"].tolist() == ["0", "2.50"]
    assert frame["id"].tolist() == [1.0, 0.0]


def test_cells_of_libsvm(tmp_path):
    path = write(tmp_path / "t.libsvm", b"1 1:2.5\n0 2:9007199254740992\n")
    _, kept = collect(path, ["f1", "f2", "target"], 10)
    assert kept.to_numpy().tolist() == [["2.5", "0", "1"], ["0", "9007199254740992", "0"]]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arff", "t.libsvm"])
def test_a_column_that_is_not_there(tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        TEXT.to_parquet(path)
    else:
        content = {"csv": "id,b\n1,2\n", "arff": ARFF + "1,2,a\n", "libsvm": "1 1:2\n"}
        path.write_text(content[name.split(".")[1]])
    with pytest.raises(InvalidParameterError, match=r"The table has no column 'idd'\. "):
        next(iterate_with_text(path, ["idd"]))


def test_a_column_of_numbers_with_a_word_far_down_is_text_from_there_on(tmp_path, monkeypatch):
    monkeypatch.setattr("skauc.app.tables.delimited._STREAM_BLOCK", 1000)
    rows = [f"{i},{i}.5" for i in range(1000)]
    rows[700] = "700,unknown"
    path = write(tmp_path / "t.csv", ("id,x\n" + "\n".join(rows)).encode())
    for kinds in (None, {"id": "numeric", "x": "numeric"}):
        pieces = [frame for frame, _ in iterate_with_text(path, (), 64, kinds=kinds)]
        cells = [str(value) for piece in pieces for value in piece["x"]]
        assert cells == [row.split(",")[1] for row in rows]
        assert pieces[0]["x"].dtype == float


def test_a_column_of_numbers_with_a_word_in_the_first_row_is_text(tmp_path):
    path = write(tmp_path / "t.csv", b"id,x\n1,unknown\n2,7\n")
    frame, kept = collect(path, ["id"], 10, kinds={"id": "numeric", "x": "numeric"})
    assert frame["x"].tolist() == ["unknown", "7"]
    assert kept["id"].tolist() == ["1", "2"]
