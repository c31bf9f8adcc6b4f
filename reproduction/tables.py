"""Tables as Markdown, LaTeX and HTML: the printed numbers and ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from reproduction import printed
from reproduction.catalogue import CATALOGUE
from reproduction.comparison import Choice, Summary
from reproduction.data_sets import load_dataset
from reproduction.protocol import N_FOLDS

BETTER, EQUAL, WORSE = "better", "equal", "worse"
_MARKS = {BETTER: "▲", EQUAL: "=", WORSE: "▼", None: ""}
# Half of the last printed digit.
ROUNDING = 0.0005

_LATEX = {
    "±": r"$\pm$",
    "×": r"$\times$",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "<": r"$<$",
    ">": r"$>$",
}
_QUOTED = re.compile('"([^"]*)"')
# Characters per line in LaTeX columns of long text.
_LONG_TEXT = 38


@dataclass(frozen=True)
class Table:
    """A title, column names, rows of text, and notes."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def as_markdown(table: Table) -> str:
    """Return the table as GitHub Markdown."""
    lines = [f"## {table.title}", "", _row(table.header), _row(["---"] * len(table.header))]
    lines += map(_row, table.rows)
    lines += ["", *(f"- {note}" for note in table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def as_latex(table: Table) -> str:
    """Return a longtable, for a document that loads amssymb, array and longtable."""
    head = " & ".join(map(_latex, table.header)) + r" \\ \hline"
    notes = [r"\par\smallskip\noindent " + _latex(note) for note in table.notes]
    return "\n".join(
        [
            r"\begingroup\scriptsize\raggedright\setlength{\tabcolsep}{3pt}",
            r"\renewcommand{\arraystretch}{1.15}",
            rf"\begin{{longtable}}{{{''.join(map(_latex_column, _widths(table)))}}}",
            rf"\caption*{{\normalsize {_latex(table.title)}}} \\ \hline",
            head + r" \endfirsthead",
            r"\hline " + head + r" \endhead",
            r"\hline \endfoot",
            *_latex_rows(table.rows),
            r"\end{longtable}",
            *notes,
            r"\par\endgroup",
            "",
        ]
    )


def _latex_rows(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows, with lines between groups that share their first cell."""
    has_groups = len({row[0] for row in rows}) < len(rows)
    lines = []
    for _, group in groupby(rows, key=itemgetter(0)):
        lines += [r"\hline"] * (has_groups and bool(lines))
        lines += [" & ".join(map(_latex, row)) + r" \\" for row in group]
    return lines


def _widths(table: Table) -> list[float]:
    """Return the relative width of each column, from its longest text."""
    columns = zip(*table.rows, strict=True) if table.rows else ([] for _ in table.header)
    lengths = []
    for name, cells in zip(table.header, columns, strict=True):
        longest = max(map(_breadth, cells), default=0)
        words = max(map(_breadth, name.split()), default=0)
        lengths.append(max(min(longest, _LONG_TEXT), words) + 2)
    return [length / sum(lengths) for length in lengths]


def _breadth(text: str) -> float:
    """Return the approximate width of the text in lower-case letters."""
    return sum(1.4 if letter.isupper() or letter in "▲▼" else 1.0 for letter in text)


def _latex_column(share: float) -> str:
    return rf">{{\raggedright\arraybackslash}}p{{\dimexpr {share:.4f}\linewidth-2\tabcolsep\relax}}"


def _latex(text: str) -> str:
    text = "--" if text == "-" else _QUOTED.sub(r"``\1''", text)
    return "".join(_LATEX.get(character, character) for character in text)


def as_html(table: Table) -> str:
    """Return the table as a self-contained page."""
    head = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n"
        for row in table.rows
    )
    notes = "".join(f"<li>{escape(note)}</li>\n" for note in table.notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(table.title)}</title>\n<style>"
        "body{font:14px/1.5 system-ui,sans-serif;max-width:90rem;margin:2rem auto;padding:0 1rem}"
        "div{overflow-x:auto}table{border-collapse:collapse}th,td{padding:.25rem .5rem;"
        "text-align:left;vertical-align:bottom;border-bottom:1px solid #ddd}"
        "td{white-space:nowrap}tr:hover{background:#f5f7fa}"
        f"</style></head>\n<body><h1>{escape(table.title)}</h1>\n<div><table><thead>"
        f"<tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n<ul>{notes}</ul></body></html>\n"
    )


_WRITERS = {"md": as_markdown, "tex": as_latex, "html": as_html}


def write_table(table: Table, folder: Path, name: str) -> list[Path]:
    """Write the table in every format and return the files."""
    files = []
    for suffix, render in _WRITERS.items():
        path = folder / f"{name}.{suffix}"
        path.write_text(render(table), encoding="utf-8")
        files.append(path)
    return files


def compare(ours: float, cell: printed.Cell | None) -> str | None:
    """Return the mark: better, equal within one printed standard deviation, or worse."""
    if cell is None:
        return None
    allowed = max(float(cell.deviation or 0.0), ROUNDING)
    difference = ours - float(cell.auc)
    if abs(difference) <= allowed:
        return EQUAL
    return BETTER if difference > 0 else WORSE


COMPARISON_HEADER = (
    *("data", "method", "printed", "ours, best of the grid", "", "centres", "setting"),
    *("ours, nested", "nested basis", "folds"),
)


def comparison_table(
    title: str,
    as_printed: dict[str, dict[str, printed.Cell]],
    summaries: Sequence[Summary],
    notes: Sequence[str] = (),
) -> Table:
    """Return the table of methods on data sets."""
    rows = []
    for summary in summaries:
        cells = as_printed.get(summary.data, {})
        cell = cells.get(summary.method)
        # Methods that are not in the paper are compared with its Sparse Kernel AUC.
        rival = cells.get(printed.SPARSE) if summary.method not in printed.COLUMNS else cell
        nested = [choice for choice in summary.nested if choice is not None]
        rows.append(
            (
                summary.data,
                summary.method,
                "-" if cell is None else str(cell),
                _mean(summary.best),
                _mark(summary, rival),
                _most_basis(summary.best),
                _setting(summary.best[0]),
                _mean(nested) + _count_if_fewer(nested, summary.best),
                _most_basis(nested),
                fold_count(summary.data, summary.folds),
            )
        )
    return Table(title, COMPARISON_HEADER, tuple(rows), (*COMPARISON_NOTES, *notes))


COMPARISON_NOTES = (
    "printed: the paper's AUC ± standard deviation (centres).",
    "ours, best of the grid: the setting with the best mean on the reported folds, sizes "
    "included, which is the paper's protocol and optimistic.",
    "ours, nested: settings chosen by inner folds of each training part.",
    "▲ better than printed, = equal within one printed standard deviation (or the rounding, "
    "if none is printed), ▼ worse. Methods that are not in the paper are compared with its "
    "Sparse Kernel AUC. The mark is for the best of the grid.",
    "centres: the maximum over all folds; support vectors for KernelRankSVM and SVC, rows in "
    "the buffers for OILK.",
    "folds: runs × folds per run; means over fewer folds are marked as incomplete.",
)


def _mark(summary: Summary, rival: printed.Cell | None) -> str:
    """Return the mark of a mean over complete runs, or an empty string."""
    if not has_whole_runs(summary.data, summary.folds):
        return ""
    return _MARKS[compare(_aucs(summary.best).mean(), rival)]


def has_whole_runs(data: str, folds: Sequence[tuple[int, int]]) -> bool:
    """Return whether every started run has all its folds."""
    n_folds = 1 if CATALOGUE[data].n_test > 0 else N_FOLDS
    return len(folds) == n_folds * len({run for run, _ in folds})


def fold_count(data: str, folds: Sequence[tuple[int, int]]) -> str:
    """Return the number of runs and folds as text, and whether some are missing."""
    if CATALOGUE[data].n_test > 0:
        return "official test"
    n_runs = len({run for run, _ in folds})
    whole = f"{n_runs} × {N_FOLDS}"
    return whole if has_whole_runs(data, folds) else f"{len(folds)} of {whole}, incomplete"


def _count_if_fewer(nested: Sequence[Choice], best: Sequence[Choice]) -> str:
    return "" if len(nested) == len(best) else f" ({len(nested)} of {len(best)} folds)"


def _aucs(choices: Sequence[Choice]) -> np.ndarray:
    return np.array([choice.auc for choice in choices])


def _mean(choices: Sequence[Choice]) -> str:
    if not choices:
        return "-"
    aucs = _aucs(choices)
    return f"{aucs.mean():.4f}" + (f" ± {aucs.std():.4f}" if len(aucs) > 1 else "")


def _most_basis(choices: Sequence[Choice]) -> str:
    sizes = [choice.n_basis for choice in choices if choice.n_basis is not None]
    return str(max(sizes)) if sizes else "-"


def _setting(choice: Choice) -> str:
    words = [
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in choice.parameters.items()
    ]
    return ", ".join(words)


_DEVIATIONS = {
    "segment": "The paper does not name the positive class, and any class has the ratio 6.",
    "satimage": "The printed ratio is that of both parts together.",
    "ijcnn1": "Neither the parts nor their union have the printed 10.0.",
    "poker": "The label is printed as an eleventh feature. 20.0 is the ratio over the whole "
    "official file, whose description counts its two pairs; the test part here is its first "
    "99,999 rows.",
}


def table_1(datasets: Sequence[str]) -> Table:
    """Return Table I computed from the data, next to the printed values."""
    rows = []
    for name in datasets:
        data = load_dataset(name)
        n_train, n_test, n_features, ratio = printed.TABLE_1[name]
        labels = [data.y_train, *([] if data.y_test is None else [data.y_test])]
        ratios = {"train": _ratio(labels[0])}
        if len(labels) > 1:
            ratios |= {"test": _ratio(labels[1]), "all": _ratio(np.concatenate(labels))}
        shape = (
            (f"{len(data.y_train):,}", n_train),
            ("-" if data.y_test is None else f"{len(data.y_test):,}", n_test or "-"),
            (str(data.X_train.shape[1]), n_features),
        )
        cells = [ours if ours == theirs else f"{ours} (printed {theirs})" for ours, theirs in shape]
        words = ", ".join(f"{value:.3f} {part}" for part, value in ratios.items())
        notes = *_digits_note(ratio, ratios), _DEVIATIONS.get(name, "")
        rows.append(
            (name, *cells, ratio, words, CATALOGUE[name].note, " ".join(filter(None, notes)))
        )
    header = ("data", "train", "test", "features", "n/p printed", "n/p here", "set", "deviations")
    return Table("Table I: details of the data sets", header, tuple(rows))


def _ratio(y: np.ndarray) -> float:
    return float(np.sum(y < 0) / np.sum(y > 0))


def _digits_note(as_printed: str, ratios: dict[str, float]) -> list[str]:
    """Return a note on how the printed ratio agrees with the data."""
    n_digits = len(as_printed.partition(".")[2])
    if any(f"{ratio:.{n_digits}f}" == as_printed for ratio in ratios.values()):
        return []
    cut = (np.floor(ratio * 10**n_digits) / 10**n_digits for ratio in ratios.values())
    if any(f"{ratio:.{n_digits}f}" == as_printed for ratio in cut):
        return ["The printed digits are truncated, not rounded."]
    return ["The printed ratio matches none of these."]
