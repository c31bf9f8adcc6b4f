"""Table files that are not what they seem: truncated, garbled, hostile."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pandas as pd

# Rich markup, escape sequences (set the title, clear the screen, colours), spreadsheet formulas,
# HTML, and characters that turn or hide text.
HOSTILE_WORDS = (
    "[/x]",
    "income[usd]",
    "[bold red]",
    "[link=http://x]y[/link]",
    "\x1b]0;owned\x07",
    "\x1b[2J\x1b[31mred",
    "\x9b31mred",
    "=1+1",
    "@SUM(A1)",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "a,b",
    'say "x"',
    "line\nbreak",
    "tab\there",
    "\u202eturned",
    "é\u0301",
    "x" * 500,
    " spaces ",
    "-",
    "--force",
    "%s%n",
    "\\",
    "nan",
)


def good_table(n_rows: int = 60, seed: int = 0) -> pd.DataFrame:
    """Return a small table with numbers, a category, an id and a target."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, n_rows)
    frame = pd.DataFrame(
        {
            "id": np.arange(n_rows),
            "age": age.round(2),
            "town": np.array(["Oslo", "Bern", "Rome"])[rng.integers(0, 3, n_rows)],
            "weight": rng.integers(1, 4, n_rows),
            "y": np.where(age + rng.normal(0, 5, n_rows) > 45, "yes", "no"),
        }
    )
    frame.loc[:1, "y"] = ["yes", "no"]
    return frame


def as_csv(frame: pd.DataFrame) -> bytes:
    """Return a table as the content of a csv file."""
    return frame.to_csv(index=False).encode("utf-8", "surrogatepass")


def as_parquet(frame: pd.DataFrame) -> bytes:
    """Return a table as the content of a parquet file."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def as_arff(frame: pd.DataFrame) -> bytes:
    """Return a table as the content of an arff file."""
    lines = ["@relation t", "@attribute id numeric", "@attribute age numeric"]
    lines += ["@attribute town {Oslo,Bern,Rome}", "@attribute weight numeric"]
    lines += ["@attribute y {yes,no}", "@data"]
    lines += [",".join(map(str, row)) for row in frame.to_numpy().tolist()]
    return "\n".join(lines).encode()


def as_libsvm(frame: pd.DataFrame) -> bytes:
    """Return a table as the content of a libsvm file."""
    rows = zip(frame.y, frame.age, frame.weight, strict=True)
    lines = [f"{'+1' if y == 'yes' else '-1'} 1:{age} 2:{weight}" for y, age, weight in rows]
    return "\n".join(lines).encode()


def hostile_frame(rng: np.random.Generator) -> tuple[pd.DataFrame, str, str]:
    """Return a table with hostile names and values, its target, and the positive label."""
    frame = good_table()

    def word() -> str:
        return HOSTILE_WORDS[rng.integers(len(HOSTILE_WORDS))]

    target, positive = "y", "yes"
    if rng.random() < 0.6:
        positive = word() + "1"
        frame["y"] = frame["y"].replace({"yes": positive, "no": word() + "0"})
    if rng.random() < 0.6:
        frame["town"] = frame["town"].replace({"Oslo": word(), "Bern": word()})
    if rng.random() < 0.7:
        frame = frame.rename(columns={"age": word() + "a", "town": word() + "t"})
    if rng.random() < 0.3:
        target = word() + "y"
        frame = frame.rename(columns={"y": target})
    return frame, target, positive


def broken_content(rng: np.random.Generator) -> tuple[str, str, bytes]:
    """Return what is wrong, the name of the file, and its content."""
    frame = good_table()
    csv, parquet = as_csv(frame), as_parquet(frame)
    arff, libsvm = as_arff(frame), as_libsvm(frame)
    start = b"id,age,town,weight,y\n"
    cut = int(rng.integers(1, 400))
    cases = {
        "empty": ("t.csv", b""),
        "header only": ("t.csv", start),
        "one row": ("t.csv", start + b"1,2,Oslo,1,yes\n"),
        "one class": ("t.csv", as_csv(frame.assign(y="yes"))),
        "three classes": ("t.csv", as_csv(frame.assign(y=np.arange(60) % 3))),
        "target with gaps": ("t.csv", as_csv(frame.assign(y=frame.y.where(frame.index > 5)))),
        "truncated csv": ("t.csv", csv[:cut]),
        "random bytes": ("t.csv", rng.bytes(300)),
        "nul bytes": ("t.csv", csv.replace(b"Oslo", b"Os\0lo")),
        "utf-16": ("t.csv", csv.decode().encode("utf-16")),
        "byte order mark": ("t.csv", b"\xef\xbb\xbf" + csv),
        "latin-1": ("t.csv", csv.replace(b"Oslo", "Mün".encode("latin-1"))),
        "ragged": ("t.csv", csv + b"1,2,3,4,5,6,7\n"),
        "short line": ("t.csv", csv + b"1,2\n"),
        "open quote": ("t.csv", csv + b'1,2,"Oslo,1,yes\n'),
        "repeated names": ("t.csv", csv.replace(b"weight", b"age", 1)),
        "no name": ("t.csv", csv.replace(b"weight", b"", 1)),
        "carriage returns": ("t.csv", csv.replace(b"\n", b"\r")),
        "huge numbers": ("t.csv", as_csv(frame.assign(age=frame.age * 1e307))),
        "infinite numbers": ("t.csv", as_csv(frame.assign(age=np.inf))),
        "no numbers": ("t.csv", as_csv(frame.assign(age="?"))),
        "wrong separator": ("t.csv", csv.replace(b",", b";")),
        "csv named parquet": ("t.parquet", csv),
        "parquet named csv": ("t.csv", parquet),
        "truncated parquet": ("t.parquet", parquet[: len(parquet) - cut]),
        "damaged parquet": ("t.parquet", parquet[:100] + rng.bytes(50) + parquet[150:]),
        "truncated gzip": ("t.csv.gz", gzip.compress(csv)[:-cut]),
        "no gzip": ("t.csv.gz", csv),
        "truncated arff": ("t.arff", arff[:cut]),
        "damaged arff": ("t.arff", arff.replace(b"numeric", b"nume\xffric", 1)),
        "garbled arff": ("t.arff", rng.bytes(200)),
        "truncated libsvm": ("t.libsvm", libsvm[:cut]),
        "garbled libsvm": ("t.libsvm", libsvm.replace(b"1:", b"x:", 3)),
        "huge libsvm index": ("t.libsvm", libsvm + b"\n+1 99999999999:1\n"),
        "negative libsvm index": ("t.libsvm", libsvm + b"\n+1 -5:1\n"),
        "many columns": ("t.csv", b",".join(b"c%d" % n for n in range(3000)) + b"\n"),
        "long line": ("t.csv", start + b"1,2," + b"x" * 3_000_000 + b",1,yes\n"),
        "unknown ending": ("t.docx", csv),
    }
    name = sorted(cases)[rng.integers(len(cases))]
    return name, *cases[name]
