"""SQL: the SELECT that turns the columns of a row into features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skauc.export.dialects import Dialect
from skauc.export.program import (
    Affine,
    Codes,
    Dates,
    Fill,
    InverseSinh,
    Levels,
    Logarithm,
    MissingFlags,
    PiecewiseLinear,
    Program,
    Ranks,
    SmoothClip,
    Steps,
    Values,
    Words,
)
from skauc.export.sql_words import word_test

# Sums are written in groups of this many terms, because SQLite limits the depth of expressions.
_GROUP = 50
# Curves with at most this many knots are written as formulas, others as tables.
_FEW_KNOTS = 4


@dataclass(frozen=True)
class SQLFeatureWriter:
    """Writes the features and the curves of one program in one dialect."""

    program: Program
    name: str
    sql: Dialect
    dialect: str

    def features(self) -> str:
        """Return a SELECT of the features of row t, as f0, f1 and so on."""
        program, origin = self.program, ""
        texts: list[str] = []
        for number, block in enumerate(program.blocks):
            texts += getattr(self, f"_{block.word}")(block, number)
        for stage in program.stages:
            if isinstance(stage.operation, Ranks):
                texts, origin = self.ranked(stage.operation, self.layer(texts, origin))
                continue
            # These formulas name a feature several times, so it is computed before.
            if isinstance(stage.operation, SmoothClip | Logarithm):
                origin = _derived(self.layer(texts, origin))
                texts = [f"f{j}" for j in range(len(texts))]
            for number, j in enumerate(range(stage.start, stage.stop)):
                texts[j] = self.changed(stage.operation, number, texts[j])
        if program.axes is not None:
            origin = _derived(self.layer(texts, origin))
            texts = [
                grouped_sum([f"f{j} * {self.sql.number(part)}" for j, part in enumerate(axis)])
                for axis in program.axes.T.tolist()
            ]
        return self.layer(texts, origin)

    def layer(self, texts: list[str], origin: str) -> str:
        """Return a SELECT of f0, f1 and so on. A comment names those that are made of row t."""
        names = [] if origin else self.program.feature_names()
        notes = [f" -- {on_one_line(name)}" for name in names] or [""] * len(texts)
        lines = [
            f"    CAST({text} AS {self.sql.double}) AS f{j}{',' * (j < len(texts) - 1)}{note}"
            for j, (text, note) in enumerate(zip(texts, notes, strict=True))
        ]
        return "\n".join(["SELECT", *lines, f"{origin}{self.sql.fence}"])

    def ranked(self, ranks: Ranks, rows: str) -> tuple[list[str], str]:
        """Return the features after ranks, and the FROM clause that they need."""
        texts, n_long, has_table = [], 0, bool(long_curves(ranks))
        for j, curve in enumerate(ranks.plain):
            if len(curve.knots) > _FEW_KNOTS:
                texts.append(self.interpolated(curve, n_long, f"f{j}"))
                n_long += 1
            else:
                text = self.short_curve(curve, f"f{j}")
                texts.append(f"MAX({text})" if has_table else text)
        table = f" CROSS JOIN {self.name}_ranks AS p" if has_table else ""
        return texts, _derived(rows) + table

    def changed(self, operation, number: int, text: str) -> str:
        """Return a feature after one stage."""
        write = self.sql.number
        if isinstance(operation, Fill):
            return f"COALESCE({text}, {write(operation.values[number])})"
        if isinstance(operation, Affine):
            shift, scale = operation.shift[number], operation.scale[number]
            moved = text if shift == 0 else f"({text} - {write(shift)})"
            return moved if scale == 1 else f"{moved} / {write(scale)}"
        if isinstance(operation, SmoothClip):
            limit, most = write(operation.limit), write(operation.farthest)
            near = f"{self.sql.greatest}({self.sql.least}({text}, {most}), -{most})"
            return f"{near} / SQRT(1e0 + {near} * {near} / ({limit} * {limit}))"
        if isinstance(operation, Logarithm):
            least, offset = write(operation.least[number]), write(operation.offset[number])
            near = f"LN({self.sql.greatest}({text}, {least}) + {offset})"
            return near if operation.chosen[number] else text
        assert isinstance(operation, InverseSinh)
        return f"ASINH({text})"

    def column(self, place: int) -> str:
        """Return the name of a column of row t."""
        return f"t.{self.sql.name(self.program.columns[place].name)}"

    def given(self, place: int) -> str:
        """Return a column as a number, NULL if it is missing."""
        column, name = self.program.columns[place], self.column(place)
        if column.kind == "boolean":
            return f"CASE WHEN {name} THEN 1e0 WHEN NOT {name} THEN 0e0 END"
        if column.kind == "date":
            return f"CAST({self.sql.seconds.format(name)} AS {self.sql.double})"
        return f"CAST({name} AS {self.sql.double})"

    def _values(self, block: Values, number: int) -> list[str]:
        return [self.given(place) for place in block.columns]

    def _missing(self, block: MissingFlags, number: int) -> list[str]:
        names = map(self.column, block.columns)
        return [f"CASE WHEN {name} IS NULL THEN 1e0 ELSE 0e0 END" for name in names]

    def _dates(self, block: Dates, number: int) -> list[str]:
        write = self.sql.number
        seconds = f"COALESCE({self.given(block.column)}, {write(block.fill)})"
        texts = [f"({seconds} / 86400e0 - {write(block.shift)}) / {write(block.scale)}"]
        for period in block.periods:
            length = write(period)
            since = f"({seconds} - {length} * FLOOR({seconds} / {length}))"
            angle = f"6.283185307179586e0 * ({since} / {length})"
            texts += [f"SIN({angle})", f"COS({angle})"]
        return texts

    def _steps(self, block: Steps, number: int) -> list[str]:
        given, write = self.given(block.column), self.sql.number
        *values, last = block.values.tolist()
        pieces = zip(block.edges.tolist(), values, strict=True)
        cases = [f"WHEN {given} <= {write(edge)} THEN {write(value)}" for edge, value in pieces]
        none = f"WHEN {given} IS NULL THEN {write(block.missing)}"
        return [f"CASE {' '.join([none, *cases])} ELSE {write(last)} END"]

    def text(self, place: int) -> str:
        """Return a column as text, empty if it is missing."""
        return f"COALESCE(CAST({self.column(place)} AS {self.sql.text}), '')"

    def _levels(self, block: Levels, number: int) -> list[str]:
        text = self.text(block.column)
        levels = map(self.sql.string, self.program.columns[block.column].levels)
        return [f"CASE WHEN {text} = {level} THEN 1e0 ELSE 0e0 END" for level in levels]

    def _codes(self, block: Codes, number: int) -> list[str]:
        other = self.sql.number(block.other)
        found = (
            f"SELECT k.code FROM {self.name}_codes AS k "
            f"WHERE k.block = {number} AND k.level = {self.text(block.column)}"
        )
        return [f"COALESCE(({found}), {other})" if len(block.values) else other]

    def _words(self, block: Words, number: int) -> list[str]:
        text = self.text(block.column)
        words = self.program.columns[block.column].levels
        tests = (word_test(self.dialect, text, word, self.sql.string) for word in words)
        return [f"CASE WHEN {test} THEN 1e0 ELSE 0e0 END" for test in tests]

    # -- curves -------------------------------------------------------------------------------

    def pieces(self, curves: Sequence[PiecewiseLinear]) -> str:
        """Return a table of the linear pieces of curves, side by side: knot, length and slope."""
        n_rows = max(len(curve.knots) for curve in curves)
        columns, names = [], []
        for number, curve in enumerate(curves):
            for word, values in zip("kds", _pieces(curve), strict=True):
                columns.append(np.pad(values, (0, n_rows - len(values))))
                names.append(f"{word}{number}")
        return self.sql.table(
            names, [self.sql.double] * len(names), np.column_stack(columns).tolist()
        )

    def rise(self, x: str, knot: str, length: str, slope: str) -> str:
        """Return by how much a linear piece rises up to x."""
        sql = self.sql
        return f"{slope} * {sql.greatest}({sql.least}({x} - {knot}, {length}), 0e0)"

    def interpolated(self, curve: PiecewiseLinear, number: int, x: str) -> str:
        """Return the value of a curve, as a sum over the rows p of a table of pieces."""
        rise = self.rise(x, *(f"p.{word}{number}" for word in "kds"))
        return f"({self.sql.number(curve.levels[0])} + SUM({rise}))"

    def short_curve(self, curve: PiecewiseLinear, x: str) -> str:
        """Return the value of a curve with few pieces."""
        pieces = zip(*(part.tolist() for part in _pieces(curve)), strict=True)
        rises = [self.rise(x, *map(self.sql.number, piece)) for piece in pieces]
        return f"({' + '.join([self.sql.number(curve.levels[0]), *rises])})"


def _derived(rows: str) -> str:
    return f"  FROM ({rows}) AS g"


def _pieces(curve: PiecewiseLinear) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the knot, the length and the slope of each linear piece; one for a constant."""
    if len(curve.knots) == 1:
        return curve.knots, np.zeros(1), np.zeros(1)
    lengths = np.diff(curve.knots)
    return curve.knots[:-1], lengths, np.diff(curve.levels) / lengths


def long_curves(ranks: Ranks) -> list[PiecewiseLinear]:
    """Return the curves that are written as tables."""
    return [curve for curve in ranks.plain if len(curve.knots) > _FEW_KNOTS]


def grouped_sum(terms: list[str]) -> str:
    """Return a sum in groups, so that expressions are not nested deeply."""
    while len(terms) > _GROUP:
        groups = (terms[start : start + _GROUP] for start in range(0, len(terms), _GROUP))
        terms = [f"({' + '.join(group)})" for group in groups]
    return f"({' + '.join(terms)})"


def on_one_line(text: str) -> str:
    """Return text for a comment: in ASCII, without line breaks."""
    return text.encode("unicode_escape").decode("ascii")
