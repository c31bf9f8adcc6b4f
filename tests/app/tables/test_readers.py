"""Readers: every format, plain and gzipped, gives the same table; bad files give one clear line."""

import gzip
import io
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from sklearn.datasets import dump_svmlight_file

from skauc.app.tables import iterate_table, read_table
from skauc.exceptions import InvalidDataError, InvalidParameterError, MissingPackageError

ARFF = """% a comment
@RELATION people
@ATTRIBUTE age NUMERIC
@ATTRIBUTE 'home town' STRING
@ATTRIBUTE class {no, yes}
@DATA
31,'Oslo, Sentrum',no
?,Bern,yes
54,?,no
"""
PEOPLE = pd.DataFrame(
    {
        "age": [31.0, np.nan, 54.0],
        "home town": ["Oslo, Sentrum", "Bern", None],
        "class": ["no", "yes", "no"],
    }
)


def assert_same_values(found, expected):
    found, expected = (f.astype(object).where(f.notna(), None) for f in (found, expected))
    assert_frame_equal(found, expected)


def write(path, content):
    content = content.encode() if isinstance(content, str) else content
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "wb") as file:
        file.write(content)
    return path


def contents(name):
    if name.startswith("people.csv"):
        return PEOPLE.to_csv(index=False)
    if name.startswith("people.tsv"):
        return PEOPLE.to_csv(index=False, sep="\t")
    if name.startswith("people.arff"):
        return ARFF
    buffer = io.BytesIO()
    PEOPLE.to_parquet(buffer)
    return buffer.getvalue()


NAMES = [f"people.{s}{z}" for s in ("csv", "tsv", "arff", "parquet") for z in ("", ".gz")]


@pytest.mark.parametrize("name", NAMES)
def test_every_format_gives_the_same_table(tmp_path, name):
    path = write(tmp_path / name, contents(name))
    assert_same_values(read_table(path), PEOPLE)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("chunk_rows", [1, 2, 10])
def test_pieces_make_up_the_table(tmp_path, name, chunk_rows):
    path = write(tmp_path / name, contents(name))
    pieces = list(iterate_table(path, chunk_rows))
    assert [len(piece) for piece in pieces[:-1]] == [chunk_rows] * (len(pieces) - 1)
    whole = pd.concat(pieces, ignore_index=True)
    assert_same_values(whole, PEOPLE)


@pytest.mark.parametrize("index", [["a", "b", "c"], [7, 8, 9], pd.Index([3, 2, 1], name="id")])
def test_rows_have_numbers_whatever_the_index_of_a_parquet_file(tmp_path, index):
    path = tmp_path / "people.parquet"
    PEOPLE.set_axis(index).to_parquet(path)
    assert read_table(path).index.tolist() == [0, 1, 2]
    assert [piece.index.tolist() for piece in iterate_table(path, 2)] == [[0, 1], [2]]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("format", ["csv", "parquet", None])
def test_standard_input(monkeypatch, packed, format):
    content = contents("people.parquet" if format == "parquet" else "people.csv")
    content = content.encode() if isinstance(content, str) else content
    stream = io.TextIOWrapper(io.BytesIO(gzip.compress(content) if packed else content))
    monkeypatch.setattr(sys, "stdin", stream)
    assert_same_values(read_table("-", format=format), PEOPLE)


def test_empty_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InvalidDataError, match="Standard input is empty"):
        read_table("-")


def test_types_are_those_of_all_rows(tmp_path):
    """A column is read as numbers only if every value is one, however far down the text is."""
    rows = ["1,2,true,2024-05-01,12:30:00"] * 200_000 + ["1.5,x,,2024-05-02,12:31:00"]
    frame = read_table(write(tmp_path / "long.csv", "a,b,c,d,e\n" + "\n".join(rows)))
    assert frame["a"].dtype == np.float64
    assert frame["b"].iloc[0] == "2"
    assert set(frame["c"].dropna()) == {True}
    assert frame["d"].dtype.kind == "M"
    assert frame["e"].iloc[0] == "12:30:00"


def test_kinds_that_are_known_are_kept(tmp_path):
    path = write(tmp_path / "codes.csv", "zip,n\n02139,1\n10115,2\n")
    assert read_table(path)["zip"].tolist() == [2139, 10115]
    kinds = {"zip": "category", "n": "numeric", "elsewhere": "text"}
    assert read_table(path, kinds=kinds)["zip"].tolist() == ["02139", "10115"]
    assert next(iterate_table(path, kinds=kinds))["zip"].tolist() == ["02139", "10115"]


def test_semicolons_quotes_newlines_and_a_byte_order_mark(tmp_path):
    text = '\ufeffname;note\nAda;"one\ntwo; three"\n\nBob;\n'
    frame = read_table(write(tmp_path / "notes.csv", text))
    assert frame.columns.tolist() == ["name", "note"]
    assert frame["note"].iloc[0] == "one\ntwo; three"
    assert frame["note"].isna().tolist() == [False, True]


HEADERS = [
    ('"a;b;c;d",x,y', ",", ["a;b;c;d", "x", "y"]),
    ('x;"a, b, c";y', ";", ["x", "a, b, c", "y"]),
    ('"a, b";"c, d, e"', ";", ["a, b", "c, d, e"]),
    ('"a ""b;c;d""",x', ",", ['a "b;c;d"', "x"]),
    ('"of three, or\nmore\nlines, or so";x', ";", ["of three, or\nmore\nlines, or so", "x"]),
    ('disk 3",b,c', ",", ['disk 3"', "b", "c"]),
    ("x\ty\tz", "\t", ["x", "y", "z"]),
    ("x|a.b", "|", ["x", "a.b"]),
    ('"only, one"', ",", ["only, one"]),
]


@pytest.mark.parametrize(("header", "delimiter", "names"), HEADERS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_in_quotes_are_part_of_a_name(tmp_path, header, delimiter, names, end):
    row = delimiter.join(map(str, range(len(names))))
    path = write(tmp_path / "t.csv", header + end + row + end)
    for frame in (read_table(path), next(iterate_table(path))):
        assert frame.columns.tolist() == names
        assert frame.iloc[0].tolist() == list(range(len(names)))


def test_a_column_without_a_name_is_called_by_its_place(tmp_path):
    path = tmp_path / "from_r.csv"
    path.write_text('"","of two\nlines"\n"1",5\n"2",6\n')
    for frame in (read_table(path), next(iterate_table(path))):
        assert frame.columns.tolist() == ["column 1", "of two\nlines"]
    path.write_text('\n\n"","of two\n\nlines"\n"1",5\n"2",6\n')
    for frame in (read_table(path), next(iterate_table(path))):
        assert frame.columns.tolist() == ["column 1", "of two\n\nlines"]
        assert frame["of two\n\nlines"].tolist() == [5, 6]
    known = read_table(path, kinds={"column 1": "category"})
    assert known["column 1"].tolist() == ["1", "2"]


def test_libsvm_columns_are_indices(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 4)), rng.integers(0, 2, 7)
    path = tmp_path / "rows.libsvm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    frame = read_table(path)
    assert frame.columns.tolist() == ["f1", "f2", "f3", "f4", "target"]
    np.testing.assert_allclose(frame[["f1", "f2", "f3", "f4"]], X)
    pieces = pd.concat(iterate_table(path, 3), ignore_index=True)
    assert_frame_equal(pieces, frame)


def test_libsvm_with_known_columns_has_these(tmp_path):
    path = write(tmp_path / "rows.svm", "1 2:3.5\n0 5:1\n")
    kinds = {"f1": "numeric", "f2": "numeric"}
    frame = read_table(path, kinds=kinds)
    assert frame.columns.tolist() == ["f1", "f2", "target"]
    assert frame["f2"].tolist() == [3.5, 0.0]


def test_sparse_arff(tmp_path):
    text = "@RELATION r\n@ATTRIBUTE a NUMERIC\n@ATTRIBUTE b {x,y}\n@DATA\n{0 2}\n{1 y}\n"
    path = write(tmp_path / "sparse.arff", text)
    assert read_table(path).to_numpy().tolist() == [[2.0, "x"], [0.0, "y"]]
    assert [len(piece) for piece in iterate_table(path, 1)] == [1, 1]


BAD = [
    ("empty.csv", b"", "empty.csv is empty"),
    ("blank.csv", b"\n\n", "blank.csv is empty"),
    ("header.csv", b"a,b\n", "has a header and no rows"),
    ("line.csv", b"a,b", "line.csv has a header and no rows"),
    ("header.parquet", None, "has a header and no rows"),
    ("short.csv", b"a,b\n1,2\n\n3\n", r"Line 4 of .*short.csv has 1 values where .* has 2 names"),
    ("long.csv", b'a,b\n"1\n",2\n3,4,5\n', r"Line 4 of .*long.csv has 3 values .* has 2 names"),
    ("broken.csv", b'a,b\n"1\n\n",2\n"3\n",\n"4\n",5,6\n', r"Line 7 of .* has 3 values where"),
    ("flipped.csv", b'a,b\n"1,2\n3,4\n5,"x"\n6,7\n', r"Line 2 of .* has 1 values where"),
    (
        "open.csv",
        b'a,b\n1,2\n"3,1\n4,5\n6,7\n',
        r"Line 3 of .* opens a quote that is not closed\. ",
    ),
    ("end.csv", b'a,b\n1,2\n"3,1', r"Line 3 of .*end.csv opens a quote that is not closed\. Close"),
    ("huge.csv", b'a,b\n1,2\n"3,1\n' + b"4,5\n" * 50_000, r"Line 3 of .* opens a quote that is"),
    (
        "latin.csv",
        "a,b\n1,2\n3,é\n".encode("latin1"),
        r"Line 3 of .* is not UTF-8 text.* -f latin1 ",
    ),
    ("head.csv", "é,b\n1,2\n".encode("latin1"), r"Line 1 of .* is not UTF-8 text"),
    ("utf16.csv", "a,b\n1,2\n".encode("utf-16"), r"Line 1 of .* is not UTF-8 .* -f utf-16 "),
    ("twice.csv", b"a,b,a\n1,2,3\n", "more than one column called 'a'"),
    ("nameless.csv", b",b,\n1,2,3\n", "more than one column without a name"),
    ("torn.csv.gz", gzip.compress(b"a,b\n1,2\n" * 500)[:-9], "is not a complete gzip file"),
    ("table.xlsx", b"PK", r"does not follow from its name\. Names end in \.csv, \.tsv"),
    ("mac.csv", b"a,b\r1,2\r", r"old Macs\. Save it with line feeds, .*: tr '\\r' '\\n'$"),
    ("parquet.csv", b"PAR1\x15", r"is a parquet file, and no csv file\. Set `format` to parquet"),
    ("sheet.tsv", b"PK\3\4\x14", "is a spreadsheet or a zip archive, and no tsv file. Save"),
    ("torn.parquet", b"PAR1 and nothing", "cannot be read as parquet"),
    ("torn.arff", b"@RELATION r\n@ATTRIBUTE a NUMERIC\n@DATA\nx\n", "cannot be read as arff"),
    ("latin.arff", b"@RELATION r\n@ATTRIBUTE \xe9 NUMERIC\n@DATA\n1\n", "is not UTF-8 text"),
    ("torn.libsvm", b"1 1:2\n0 1:3\n0 one:2\n1 1:1\n", "Line 3 of .* cannot be read as libsvm"),
    ("huge.libsvm", b"1 1:2\n0 99999999999999999999:3\n", "Line 2 of .* cannot be read as libsvm"),
    ("wide.libsvm", b"1 1:2\n0 123456:3\n", "123457 features, too many for a table"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[name for name, *_ in BAD])
@pytest.mark.parametrize("read", [read_table, lambda path: list(iterate_table(path, 2))])
def test_bad_files(tmp_path, name, content, message, read):
    path = tmp_path / name
    if content is None:
        PEOPLE[:0].to_parquet(path)
    else:
        path.write_bytes(content)
    with pytest.raises(InvalidDataError, match=message) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert ".." not in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nowhere\.csv\. Check"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidDataError, match=r"is a folder\. Pass a file"):
        read_table(tmp_path)


def test_bad_arguments(tmp_path):
    path = write(tmp_path / "people.csv", contents("people.csv"))
    with pytest.raises(InvalidParameterError, match="`format` must be one of 'csv', 'tsv'"):
        read_table(path, format="xls")
    with pytest.raises(InvalidParameterError, match="`chunk_rows` must be an integer"):
        next(iterate_table(path, 0))


def test_a_package_that_is_not_installed(tmp_path, monkeypatch):
    path = write(tmp_path / "people.arff", ARFF)
    monkeypatch.setitem(sys.modules, "arff", None)
    with pytest.raises(MissingPackageError, match=r"package arff, .* pip install 'skauc\[tables\]"):
        read_table(path)


SWALLOWED = [
    ('a,b,c\n1,2,"x\n3,4,y\n5,6,z"\n', "line 2 .* closed in line 4.* a line that looks"),
    ('a,b,c\n1,2,x\n1,2,"x\n3,4,y\n5,6,z\n7,8,z"\n9,9,z\n', "line 3 .* line 6.* 2 lines that"),
    ('a;b\n1;"x\n3;y\n5;z\n7;z\n8;z"\n', "line 2 .* closed in line 6.* 3 lines that"),
    ('a,b,c\n1,2,"x\n' + "3,4,y\n" * 50_000 + '5,6,z"\n', "line 2 .* 50,000 lines that"),
]
READERS = [read_table, lambda path: list(iterate_table(path, 2))]


@pytest.mark.parametrize(("text", "message"), SWALLOWED)
@pytest.mark.parametrize("read", READERS)
def test_rows_in_a_quoted_value_are_told(tmp_path, text, message, read):
    path = write(tmp_path / "quotes.csv", text)
    with pytest.warns(UserWarning, match=message):
        read(path)


@pytest.mark.parametrize(
    "text",
    [
        'a,b,c\n1,2,"12 Main St\nSpringfield, IL\nUSA"\n3,4,y\n',
        'a,b\n1,"Hello,\nthanks, it works\nBye"\n3,y\n',
        'a\n"one\ntwo\nthree"\n',
        '"a\nb",c\n1,2\n',
    ],
)
@pytest.mark.parametrize("read", READERS)
def test_text_of_several_lines_is_read_in_silence(tmp_path, text, read):
    path = write(tmp_path / "text.csv", text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(path)
