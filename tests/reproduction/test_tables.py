"""Tables: printed numbers, marks, and three formats."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from reproduction import printed
from reproduction.comparison import Choice, Summary
from reproduction.tables import (
    Table,
    as_html,
    as_latex,
    as_markdown,
    compare,
    comparison_table,
    fold_count,
    table_1,
    write_table,
)

TABLE = Table("A & B <1>", ("data", "AUC"), (("a_b", "0.9 ± 0.1 ▲"), ("c|d", "50%")), ("a <note>",))


def test_what_is_printed():
    """A few cells of each table, read off the paper by eye."""
    assert str(printed.TABLE_2["sonar"]["SparseKernelAUC"]) == "0.914 ± 0.043 (105)"
    assert str(printed.TABLE_2["magic04"]["KernelRankSVM"]) == "0.894 ± 0.007 (15124)"
    assert str(printed.TABLE_2["sonar"]["OILK"]) == "0.929 ± .039"
    assert "AdaOAM" not in printed.TABLE_2["sonar"]
    assert str(printed.TABLE_2["balance"]["AdaOAM"]) == "0.579 ± 0.106"
    assert str(printed.TABLE_3["ijcnn1"]["SparseKernelAUC"]) == "0.995 (182)"
    assert str(printed.TABLE_3["poker"]["AdaOAM"]) == "0.571 ± 0.007"
    assert len(printed.TABLE_1) == len(printed.TABLE_2) + len(printed.TABLE_3) == 14
    assert printed.TABLE_1["poker"] == ("25,010", "1,000,000", "11", "20.0")


@pytest.mark.parametrize(
    ("ours", "mark"), [(0.96, "better"), (0.957, "equal"), (0.872, "equal"), (0.870, "worse")]
)
def test_marks_allow_one_standard_deviation(ours, mark):
    assert compare(ours, printed.TABLE_2["sonar"]["SparseKernelAUC"]) == mark


def test_marks_without_a_deviation_or_a_number():
    cell = printed.TABLE_3["ijcnn1"]["SparseKernelAUC"]
    assert compare(0.9954, cell) == "equal"
    assert compare(0.9956, cell) == "better"
    assert compare(0.9, None) is None


def test_markdown():
    assert as_markdown(TABLE) == (
        "## A & B <1>\n\n| data | AUC |\n| --- | --- |\n| a_b | 0.9 ± 0.1 ▲ |\n"
        "| c\\|d | 50% |\n\n- a <note>\n"
    )


def test_latex():
    text = as_latex(TABLE)
    assert r"\caption*{\normalsize A \& B $<$1$>$}" in text
    assert r"a\_b & 0.9 $\pm$ 0.1 $\blacktriangle$ \\" in text
    assert r"c|d & 50\% \\" in text
    assert text.count(r"\begin{") == text.count(r"\end{")


def test_latex_shows_words_as_they_are():
    rows = ('"vechile" in the paper', "-"), ("a", "1 < 2"), ("a", "-0.5")
    text = as_latex(Table("T", ("data", "AUC"), rows))
    assert r"``vechile'' in the paper & -- \\" in text
    assert r"a & 1 $<$ 2 \\" in text
    assert r"a & -0.5 \\" in text
    # A line between those that begin otherwise, and none between those that begin alike.
    assert text.count("\n\\hline\n") == 1


DOCUMENT = r"""\documentclass{article}
\usepackage[landscape,margin=2cm]{geometry}
\usepackage{amssymb,array,longtable}
\begin{document}
\input{table}
\end{document}
"""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", ["small", "data", "methods"])
def test_latex_makes_pages_that_fit(name, tmp_path):
    table = {
        "small": lambda: TABLE,
        "data": lambda: table_1(list(printed.TABLE_1)),
        "methods": many_rows,
    }[name]()
    (tmp_path / "table.tex").write_text(as_latex(table), encoding="utf-8")
    (tmp_path / "page.tex").write_text(DOCUMENT, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said
    too_wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", said)]
    assert all(points < 2 for points in too_wide), said


def many_rows() -> Table:
    """Return a table of two pages, with the longest names."""
    summaries = [
        summary(data, method, [0.9, *[0.95] * 4], [0.9] * 5, 15124)
        for data in printed.TABLE_2
        for method in ("SparseKernelAUC-orthogonal", "KernelRankSVM", "Nystroem-kmeans", "SVC")
    ]
    return comparison_table("Table II: AUC on folds", printed.TABLE_2, summaries, ["A note."])


def test_html_is_well_formed_and_escaped():
    text = as_html(TABLE)
    page = ElementTree.fromstring(
        text.replace("<!doctype html>", "").replace('<meta charset="utf-8">', "")
    )
    assert page.find("body/h1").text == "A & B <1>"
    assert [cell.text for cell in page.iter("td")] == ["a_b", "0.9 ± 0.1 ▲", "c|d", "50%"]
    assert page.find("body/ul/li").text == "a <note>"


def summary(data, method, best, nested, n_basis):
    folds = tuple((0, fold) for fold in range(len(best)))
    chosen = [
        tuple(Choice({"C_pair": 0.1, "sigma": 2.0}, 4, score, n_basis) for score in scores)
        for scores in (best, nested)
    ]
    return Summary(data, method, folds, *chosen, (1.0,) * len(best))


def test_ours_beside_what_is_printed():
    table = comparison_table(
        "Table II",
        printed.TABLE_2,
        [
            summary("vehicle", "SparseKernelAUC", [0.999, *[1.0] * 4], [0.99, *[1.0] * 4], 22),
            summary("vehicle", "LightGBM", [0.93, *[0.95] * 4], [0.9] * 5, None),
            summary("vehicle", "OILK", [0.9] * 5, [0.9] * 5, 200),
        ],
    )
    sparse, boosting, oilk = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert sparse["printed"] == "0.977 ± 0.022 (431)"
    assert sparse["ours, best of the grid"] == "0.9998 ± 0.0004"
    assert sparse[""] == "▲"
    assert sparse["centres"] == "22"
    assert sparse["setting"] == "C_pair=0.1, sigma=2"
    assert sparse["ours, nested"] == "0.9980 ± 0.0040"
    assert (boosting["printed"], boosting[""], boosting["centres"]) == ("-", "▼", "-")
    assert (oilk["printed"], oilk[""]) == ("-", "")


@pytest.mark.parametrize(
    ("data", "folds", "words"),
    [
        ("sonar", [(run, fold) for run in range(2) for fold in range(5)], "2 × 5"),
        ("sonar", [(0, 0), (0, 1), (0, 4)], "3 of 1 × 5, incomplete"),
        ("segment", [(0, 0)], "official test"),
    ],
)
def test_runs_and_folds_are_counted(data, folds, words):
    assert fold_count(data, folds) == words


def test_a_mean_over_fewer_inner_folds_says_so():
    found = summary("vehicle", "SVC", [0.9, 1.0], [0.8, 0.8], 22)
    partly = replace(found, nested=(found.nested[0], None))
    table = comparison_table("Table II", printed.TABLE_2, [partly])
    row = dict(zip(table.header, table.rows[0], strict=True))
    assert row["ours, nested"] == "0.8000 (1 of 2 folds)"
    assert row["folds"] == "2 of 1 × 5, incomplete"
    assert row[""] == ""


@pytest.mark.usefixtures("data_folder")
def test_table_1_equals_the_papers_but_for_what_is_explained(tmp_path):
    table = table_1(list(printed.TABLE_1))
    rows = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    exact = {name for name, row in rows.items() if not row["deviations"]}
    assert exact == {"sonar", "glass", "balance", "vehicle", "svmguide3"}
    cut = {name for name, row in rows.items() if "digits are truncated" in row["deviations"]}
    assert cut == {"ionosphere", "australian", "fourclass", "a2a", "magic04", "satimage"}
    other = {name for name, row in rows.items() if "matches none of these" in row["deviations"]}
    assert other == {"ijcnn1", "poker"}
    assert rows["poker"]["features"] == "10 (printed 11)"
    assert rows["poker"]["test"] == "99,999 (printed 1,000,000)"
    shapes = [rows[name]["train"] for name in printed.TABLE_1]
    assert shapes == [row[0] for row in printed.TABLE_1.values()]
    files = write_table(table, tmp_path, "table1")
    assert [path.name for path in files] == ["table1.md", "table1.tex", "table1.html"]
