"""SQL: one SELECT that adds the score, the probability and the label to the rows of a table.

Tables of numbers (centres, codes, curves) are common table expressions. The features of a row are
the columns of a derived table, so that each is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skauc.exceptions import InvalidDataError
from skauc.export.dialects import DIALECTS, Dialect
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
    Sigmoid,
    SmoothClip,
    Steps,
    TableColumn,
    Values,
    Words,
)
from skauc.export.words_sql import word_test

# PostgreSQL raises an error where exp() underflows or overflows.
_LARGEST_POWER = 700
# Sums are written in groups of this many terms, because SQLite limits the depth of expressions.
_GROUP = 50
# The only dialect in which quoted names that differ in letter case are different names.
_KNOWS_CASE = "postgresql"
# Curves with at most this many knots are written as formulas, others as tables.
_FEW_KNOTS = 4


def write_script(program: Program, name: str, table: str, dialect: str) -> str:
    """Return a view of the model and a view that tests it."""
    _check_columns([column.name for column in program.columns], name, dialect)
    spelling = DIALECTS[dialect]
    facts = [f"-- {key}: {_on_one_line(value)}" for key, value in program.provenance()]
    writer = _Writer(program, name, spelling, dialect)
    source = ".".join(spelling.name(part) for part in table.split("."))
    return "\n".join(
        [
            *facts,
            f"-- dialect: {dialect}",
            *(f"-- {_on_one_line(note)}" for note in program.spelling_notes()),
            f"-- SELECT failed FROM {name}_self_test returns 0 if the view works here.",
            "-- The text after AS is one SELECT, which can be used without a view.",
            f"CREATE VIEW {name} AS",
            writer.select(f"SELECT * FROM {source}") + ";",
            "",
            f"CREATE VIEW {name}_self_test AS",
            writer.self_test() + ";",
            "",
        ]
    )


def _check_columns(columns: Sequence[str], name: str, dialect: str) -> None:
    """Raise an error if a database could not tell the columns of the view apart."""
    outputs = [f"{name}_{word}" for word in ("score", "probability", "label", "expected")]
    seen = {output.lower(): output for output in outputs}
    for column in columns:
        known = column if dialect == _KNOWS_CASE else column.lower()
        other = seen.setdefault(known, column)
        if other in outputs:
            raise InvalidDataError(
                f"The table has a column {column!r}, and the view would have another one of this "
                "name. Choose another name for the model."
            )
        if other != column:
            raise InvalidDataError(
                f"The columns {other!r} and {column!r} differ in letter case only, and a table of "
                f"{dialect} cannot have both. Rename one of them and fit again."
            )


@dataclass(frozen=True)
class _Writer:
    """Writes the SELECT of one program in one dialect."""

    program: Program
    name: str
    sql: Dialect
    dialect: str

    def select(self, source: str) -> str:
        """Return a SELECT of all columns of the source and the outputs of the model."""
        tables, last = {**self.tables(), "scores": self.scored(source)}, "scores"
        if self.program.calibration is not None:
            tables["probabilities"] = self.with_output("probability", self.probability(), last)
            last = "probabilities"
        if self.program.label is None:
            return self.statement(tables, f"SELECT * FROM {self.name}_{last}")
        return self.statement(tables, self.with_output("label", self.label(), last))

    def with_output(self, word: str, text: str, origin: str) -> str:
        return f"SELECT m.*, {text} AS {self.name}_{word}\nFROM {self.name}_{origin} AS m"

    def statement(self, tables: dict[str, str], select: str) -> str:
        """Return a SELECT with its common table expressions."""
        how = f"AS {self.sql.materialized}".rstrip()
        named = [f"{self.name}_{name} {how} ({rows})" for name, rows in tables.items()]
        return "WITH " + ",\n".join(named) + f"\n{select}"

    def self_test(self) -> str:
        """Return a SELECT that counts the test rows with a wrong score."""
        test = self.program.test
        assert test is not None
        rows = [self.constant_row(*given) for given in zip(test.rows, test.scores, strict=True)]
        tables = {**self.tables(), "scores": self.scored("\nUNION ALL ".join(rows))}
        expected = f"{self.name}_expected"
        error = f"ABS({self.name}_score - {expected})"
        limit = f"1e-9 * {self.sql.greatest}(1e0, ABS({expected}))"
        count = f"SUM(CASE WHEN {error} <= {limit} THEN 0 ELSE 1 END)"
        return self.statement(tables, f"SELECT {count} AS failed FROM {self.name}_scores")

    def constant_row(self, row: tuple, score: float) -> str:
        """Return a SELECT of a test row and its score."""
        cells = [*map(self.cell, self.program.columns, row), self.sql.number(score)]
        names = [self.sql.name(column.name) for column in self.program.columns]
        named = zip(cells, [*names, f"{self.name}_expected"], strict=True)
        return "SELECT " + ", ".join(f"{cell} AS {name}" for cell, name in named)

    def cell(self, column: TableColumn, value) -> str:
        """Return a value as the table of a user has it."""
        if column.is_text:
            return f"CAST({self.sql.literal(value)} AS {self.sql.text})"
        if column.kind == "boolean":
            return "CAST(NULL AS BOOLEAN)" if value is None else ("TRUE" if value else "FALSE")
        if column.kind == "date":
            kind = "TEXT" if self.dialect == "sqlite" else "TIMESTAMP"
            if value is None:
                return f"CAST(NULL AS {kind})"
            written = str(np.datetime64(round(value * 1e3), "ms")).replace("T", " ")
            return f"CAST('{written}' AS {kind})"
        return f"CAST({self.sql.literal(value)} AS {self.sql.double})"

    # -- tables of numbers --------------------------------------------------------------------

    def tables(self) -> dict[str, str]:
        """Return the tables of numbers that this program needs."""
        program, double = self.program, self.sql.double
        found = {}
        expansion = program.expansion
        if len(expansion.coef):
            ratios = np.ones(len(expansion.coef)) if expansion.ratios is None else expansion.ratios
            columns = np.column_stack([expansion.coef, ratios, expansion.centres])
            names = ["coef", "ratio", *(f"c{j}" for j in range(expansion.centres.shape[1]))]
            if expansion.shape == "local":
                columns = np.column_stack([columns, expansion.weights])
                names += [f"w{j}" for j in range(expansion.centres.shape[1])]
            if expansion.ridges is not None:
                columns = np.column_stack([columns, expansion.ridges])
                names.append("ridge")
            found["centres"] = self.sql.table(names, [double] * len(names), columns.tolist())
        codes = [
            [number, level, code]
            for number, block in enumerate(program.blocks)
            if isinstance(block, Codes)
            for level, code in zip(
                program.columns[block.column].levels, block.values.tolist(), strict=True
            )
        ]
        if codes:
            kinds = ["BIGINT" if self.sql.has_values else "INT64", self.sql.text, double]
            found["codes"] = self.sql.table(["block", "level", "code"], kinds, codes)
        if isinstance(program.calibration, PiecewiseLinear):
            found["calibration"] = self.pieces([program.calibration])
        for stage in program.stages:
            if isinstance(stage.operation, Ranks) and _long(stage.operation):
                found["ranks"] = self.pieces(_long(stage.operation))
        return found

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

    # -- the score ----------------------------------------------------------------------------

    def scored(self, source: str) -> str:
        """Return a SELECT of the rows of the source with their scores."""
        expansion, features = self.program.expansion, self.features()
        sums = []
        if expansion.linear is not None:
            slopes = enumerate(expansion.linear.tolist())
            sums.append(_sum([f"{self.sql.number(slope)} * f{j}" for j, slope in slopes]))
        if len(expansion.coef):
            kernel = f"SELECT SUM(c.coef * {self.kernel()}) FROM {self.name}_centres AS c"
            sums.append(f"({kernel})")
        total = " + ".join([*sums, self.sql.number(expansion.intercept)])
        return (
            f"SELECT t.*, (SELECT {total}\n  FROM ({features}) AS f) AS {self.name}_score\n"
            f"FROM ({source}) AS t"
        )

    def kernel(self) -> str:
        expansion = self.program.expansion
        if expansion.shape == "local":
            return self.local_kernel()
        term = {
            "gaussian": "{0} * (f{1} - c.c{1}) * (f{1} - c.c{1})",
            "laplacian": "{0} * ABS(f{1} - c.c{1})",
            "polynomial": "{0} * f{1} * c.c{1}",
        }[expansion.shape]
        weights = enumerate(expansion.weights.tolist())
        total = _sum([term.format(self.sql.number(weight), j) for j, weight in weights])
        if expansion.shape == "polynomial":
            return f"POWER({total} + {self.sql.number(expansion.offset)}, {expansion.degree})"
        power = total if expansion.ratios is None else f"c.ratio * ({total})"
        return f"EXP({self.sql.greatest}(-({power}), -{_LARGEST_POWER}e0))"

    def local_kernel(self) -> str:
        """Return the kernel of centres with weights of their own, of which some are ridges."""
        expansion = self.program.expansion
        apart = [f"c.w{j} * (f{j} - c.c{j})" for j in range(expansion.centres.shape[1])]
        power = _sum([f"{each} * {each}" for each in apart])
        if expansion.ridges is not None:
            along = _sum(apart)
            power = f"CASE WHEN c.ridge > 0 THEN {along} * {along} ELSE {power} END"
        return f"EXP({self.sql.greatest}(-({power}), -{_LARGEST_POWER}e0))"

    def probability(self) -> str:
        calibration, score = self.program.calibration, f"m.{self.name}_score"
        if isinstance(calibration, Sigmoid):
            slope, offset = map(self.sql.number, (calibration.slope, calibration.offset))
            power = f"{slope} * {score} + {offset}"
            return f"1e0 / (1e0 + EXP({self.clipped(power)}))"
        assert isinstance(calibration, PiecewiseLinear)
        value = self.interpolated(calibration, 0, score)
        return f"(SELECT {value} FROM {self.name}_calibration AS p)"

    def clipped(self, power: str) -> str:
        """Return a power that neither overflows nor underflows."""
        limit = f"{_LARGEST_POWER}e0"
        return f"{self.sql.greatest}({self.sql.least}({power}, {limit}), -{limit})"

    def label(self) -> str:
        label = self.program.label
        assert label is not None
        word = "score" if self.program.calibration is None else "probability"
        sign = ">=" if label.is_included else ">"
        negative, positive = map(self.sql.literal, label.names)
        test = f"m.{self.name}_{word} {sign} {self.sql.number(label.threshold)}"
        return f"CASE WHEN {test} THEN {positive} ELSE {negative} END"

    # -- features -----------------------------------------------------------------------------

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
                _sum([f"f{j} * {self.sql.number(part)}" for j, part in enumerate(axis)])
                for axis in program.axes.T.tolist()
            ]
        return self.layer(texts, origin)

    def layer(self, texts: list[str], origin: str) -> str:
        """Return a SELECT of f0, f1 and so on. A comment names those that are made of row t."""
        names = [] if origin else self.program.feature_names()
        notes = [f" -- {_on_one_line(name)}" for name in names] or [""] * len(texts)
        lines = [
            f"    CAST({text} AS {self.sql.double}) AS f{j}{',' * (j < len(texts) - 1)}{note}"
            for j, (text, note) in enumerate(zip(texts, notes, strict=True))
        ]
        return "\n".join(["SELECT", *lines, f"{origin}{self.sql.fence}"])

    def ranked(self, ranks: Ranks, rows: str) -> tuple[list[str], str]:
        """Return the features after ranks, and the FROM clause that they need."""
        texts, n_long = [], 0
        has_table = bool(_long(ranks))
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


def _derived(rows: str) -> str:
    return f"  FROM ({rows}) AS g"


def _pieces(curve: PiecewiseLinear) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the knot, the length and the slope of each linear piece; one for a constant."""
    if len(curve.knots) == 1:
        return curve.knots, np.zeros(1), np.zeros(1)
    lengths = np.diff(curve.knots)
    return curve.knots[:-1], lengths, np.diff(curve.levels) / lengths


def _long(ranks: Ranks) -> list[PiecewiseLinear]:
    """Return the curves that are written as tables."""
    return [curve for curve in ranks.plain if len(curve.knots) > _FEW_KNOTS]


def _sum(terms: list[str]) -> str:
    """Return a sum in groups, so that expressions are not nested deeply."""
    while len(terms) > _GROUP:
        groups = (terms[start : start + _GROUP] for start in range(0, len(terms), _GROUP))
        terms = [f"({' + '.join(group)})" for group in groups]
    return f"({' + '.join(terms)})"


def _on_one_line(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii")
