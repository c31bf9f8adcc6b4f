"""SQL: one SELECT that adds the score, the probability and the label to the rows of a table.

Tables of numbers (centres, codes, curves) are common table expressions. The features of a row are
the columns of a derived table, so that each is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skauc.exceptions import InvalidDataError
from skauc.export.dialects import DIALECTS
from skauc.export.program import Codes, PiecewiseLinear, Program, Ranks, Sigmoid, TableColumn
from skauc.export.sql_features import SQLFeatureWriter, grouped_sum, long_curves, on_one_line

# PostgreSQL raises an error where exp() underflows or overflows.
_LARGEST_POWER = 700
# The only dialect in which quoted names that differ in letter case are different names.
_KNOWS_CASE = "postgresql"


def write_script(program: Program, name: str, table: str, dialect: str) -> str:
    """Return a view of the model and a view that tests it."""
    _check_columns([column.name for column in program.columns], name, dialect)
    spelling = DIALECTS[dialect]
    facts = [f"-- {key}: {on_one_line(value)}" for key, value in program.provenance()]
    writer = _Writer(program, name, spelling, dialect)
    source = ".".join(spelling.name(part) for part in table.split("."))
    return "\n".join(
        [
            *facts,
            f"-- dialect: {dialect}",
            *(f"-- {on_one_line(note)}" for note in program.spelling_notes()),
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


class _Writer(SQLFeatureWriter):
    """Writes the SELECT of one program in one dialect."""

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
            if isinstance(stage.operation, Ranks) and long_curves(stage.operation):
                found["ranks"] = self.pieces(long_curves(stage.operation))
        return found

    # -- the score ----------------------------------------------------------------------------

    def scored(self, source: str) -> str:
        """Return a SELECT of the rows of the source with their scores."""
        expansion, features = self.program.expansion, self.features()
        sums = []
        if expansion.linear is not None:
            slopes = enumerate(expansion.linear.tolist())
            sums.append(grouped_sum([f"{self.sql.number(slope)} * f{j}" for j, slope in slopes]))
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
        total = grouped_sum([term.format(self.sql.number(weight), j) for j, weight in weights])
        if expansion.shape == "polynomial":
            return f"POWER({total} + {self.sql.number(expansion.offset)}, {expansion.degree})"
        power = total if expansion.ratios is None else f"c.ratio * ({total})"
        return f"EXP({self.sql.greatest}(-({power}), -{_LARGEST_POWER}e0))"

    def local_kernel(self) -> str:
        """Return the kernel of centres with weights of their own, of which some are ridges."""
        expansion = self.program.expansion
        apart = [f"c.w{j} * (f{j} - c.c{j})" for j in range(expansion.centres.shape[1])]
        power = grouped_sum([f"{each} * {each}" for each in apart])
        if expansion.ridges is not None:
            along = grouped_sum(apart)
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
