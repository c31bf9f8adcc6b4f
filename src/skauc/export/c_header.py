"""C99: one header without heap memory and without dependencies beyond math.h."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from skauc.export.c_text import array, comment, function, quoted, snippet
from skauc.export.c_words import words_helpers
from skauc.export.names import identifiers
from skauc.export.program import (
    Affine,
    Codes,
    Dates,
    Fill,
    InverseSinh,
    Levels,
    MissingFlags,
    Operation,
    PiecewiseLinear,
    Program,
    Ranks,
    Sigmoid,
    TableColumn,
    Values,
    Words,
)
from skauc.export.rounding import digits, is_single, single_digits

C_PRECISIONS = ("double", "float", "int8")
# The largest error of a self-test, relative to a score above 1.
_TOLERANCES = {"double": "1e-9", "float": "1e-5", "int8": "1e-4"}
_NOTES = {
    "boolean": "0 or 1",
    "date": "seconds since 1970 in UTC",
    "category": "UTF-8 text",
    "text": "UTF-8 text",
}


def write_header(program: Program, name: str, precision: str) -> str:
    """Return a header whose functions and types begin with the name of the model."""
    writer = _Writer(program, name, precision, tuple(identifiers(c.name for c in program.columns)))
    parts = [
        writer.opening(),
        writer.row_type(),
        *writer.helpers(),
        writer.features(),
        writer.score(),
        *writer.endings(),
        writer.self_test(),
        "#endif\n",
    ]
    return "\n\n".join(parts).replace("§", name)


@dataclass(frozen=True)
class Quantised:
    """Centres as ``offset + step * q``, with q from -127 to 127."""

    offset: np.ndarray
    step: np.ndarray
    q: np.ndarray

    @classmethod
    def of(cls, centres: np.ndarray) -> Quantised:
        """Round centres to the nearest of 255 values of each feature."""
        low, high = centres.min(axis=0), centres.max(axis=0)
        step = np.where(high > low, (high - low) / 254, 1.0)
        offset = (low + high) / 2
        q = np.rint((centres - offset) / step)
        return cls(offset, step, np.clip(q, -127, 127).astype(int))

    @property
    def centres(self) -> np.ndarray:
        """The rounded centres."""
        return self.offset + self.step * self.q


@dataclass(frozen=True)
class _Writer:
    """Writes the functions of one program.

    § stands for the name of the model. All text of users is written in ASCII, so it has no §.
    """

    program: Program
    name: str
    precision: str
    fields: tuple[str, ...]

    @property
    def real(self) -> str:
        return "double" if self.precision == "double" else "float"

    def maths(self, name: str) -> str:
        """Return a function of math.h for this precision."""
        return name if self.real == "double" else f"{name}f"

    def number(self, value: float) -> str:
        """Return a constant of this precision."""
        text = digits(value)
        if text.lstrip("-").isdigit():
            text += "."
        return text if self.real == "double" else f"{text}f"

    def table(self, name: str, values: Iterable[float], kind: str | None = None) -> str:
        """Return a constant array. Numbers need no suffix there."""
        kind = kind or self.real
        texts = map(single_digits if kind == "float" else digits, values)
        return array(f"static const {kind} {name}[]", texts)

    # -- parts of the header ------------------------------------------------------------------

    def opening(self) -> str:
        facts = [f" * {name}: {comment(value)}" for name, value in self.program.provenance()]
        lines = [
            "/*",
            *facts,
            f" * numbers: {self.precision}",
            *self.legend(),
            " * §_self_test() returns 0 if the program works here.",
            " */",
            f"#ifndef SKAUC_{self.name.upper()}_H",
            f"#define SKAUC_{self.name.upper()}_H",
            "#include <math.h>",
            "#include <stddef.h>",
            "#include <string.h>",
            "",
            f"typedef {self.real} §_real;",
        ]
        return "\n".join(lines)

    def legend(self) -> list[str]:
        """Return how missing values are written, if the model takes them."""
        if not any(column.may_be_missing for column in self.program.columns):
            return []
        return [' * A missing number or date is NAN, a missing text is NULL or "".']

    def row_type(self) -> str:
        columns = zip(self.program.columns, self.fields, strict=True)
        lines = [
            f"    {self.field_type(column)}{field};{note(column, field)}"
            for column, field in columns
        ]
        return "\n".join(["typedef struct {", *lines, "} §_row;"])

    def field_type(self, column: TableColumn) -> str:
        if column.is_text:
            return "const char *"
        return "double " if column.kind == "date" else "§_real "

    def helpers(self) -> list[str]:
        """Return the functions that the blocks and stages of this program call."""
        program = self.program
        kinds: set[type] = {type(block) for block in program.blocks}
        kinds |= {type(stage.operation) for stage in program.stages}
        found = []
        if kinds & {Levels, Codes, Words}:
            found.append(snippet("find.h"))
        if Dates in kinds:
            found.append(snippet("dates.h"))
        if Ranks in kinds or isinstance(program.calibration, PiecewiseLinear):
            found.append(snippet("interpolate.h"))
        if Words in kinds:
            found.append(words_helpers(program))
        return found

    def features(self) -> str:
        """Return the function that turns a row into features."""
        program = self.program
        lines = ["int found, i;", "(void)found, (void)i;"]
        for start, block in zip(program.starts, program.blocks, strict=True):
            lines += getattr(self, f"_{block.word}")(block, start)
        for number, stage in enumerate(program.stages):
            lines += self.stage(stage.operation, stage.start, stage.stop, number)
        if program.axes is not None:
            lines += self.rotation(program.axes)
        return function("void §_features(const §_row *row, §_real *z)", lines)

    def score(self) -> str:
        expansion, n_features = self.program.expansion, self.program.n_features
        lines = [
            f"§_real z[{n_features}], sum = {self.number(expansion.intercept)};",
            "int j;",
            f"for (j = 0; j < {n_features}; j++) z[j] = 0;",
            "§_features(row, z);",
        ]
        if expansion.linear is not None:
            lines += [
                self.table("linear", expansion.linear),
                f"for (j = 0; j < {n_features}; j++) sum += linear[j] * z[j];",
            ]
        if len(expansion.coef):
            lines += self.kernel()
        return function("§_real §_score(const §_row *row)", [*lines, "return sum;"])

    def kernel(self) -> list[str]:
        """Return the sum over centres; tables have one row per feature, which vectorises."""
        expansion = self.program.expansion
        (n_centres, n_features), power = expansion.centres.shape, self.maths("exp")
        lines = [*self.centres(), self.table("weights", expansion.weights)]
        lines += [self.table("coef", expansion.coef)]
        term = {
            "gaussian": "e[m] += w * (x - c) * (x - c);",
            "laplacian": f"e[m] += w * {self.maths('fabs')}(x - c);",
            "polynomial": "e[m] += w * x * c;",
        }[expansion.shape]
        value = f"{power}(-e[m])"
        if expansion.ratios is not None:
            lines.append(self.table("ratios", expansion.ratios))
            value = f"{power}(-e[m] * ratios[m])"
        if expansion.shape == "polynomial":
            base = f"e[m] + {self.number(expansion.offset)}"
            value = f"{self.maths('pow')}({base}, {self.number(expansion.degree)})"
        read = f"centres[j * {n_centres} + m]"
        c = f"offset[j] + step[j] * {read}" if self.precision == "int8" else read
        return [
            *lines,
            f"§_real e[{n_centres}];",
            "int m;",
            f"for (m = 0; m < {n_centres}; m++) e[m] = 0;",
            f"for (j = 0; j < {n_features}; j++) {{",
            "    const §_real x = z[j], w = weights[j];",
            f"    for (m = 0; m < {n_centres}; m++) {{",
            f"        const §_real c = {c};",
            f"        {term}",
            "    }",
            "}",
            f"for (m = 0; m < {n_centres}; m++) sum += coef[m] * {value};",
        ]

    def centres(self) -> list[str]:
        centres = self.program.expansion.centres
        if self.precision != "int8":
            kind = "float" if is_single(centres) else self.real
            return [self.table("centres", centres.T.ravel(), kind)]
        rounded = Quantised.of(centres)
        return [
            array("static const signed char centres[]", map(str, rounded.q.T.ravel().tolist())),
            self.table("offset", rounded.offset),
            self.table("step", rounded.step),
        ]

    def endings(self) -> list[str]:
        """Return the functions for the probability and the label, if the model has them."""
        program, found = self.program, []
        if program.calibration is not None:
            found.append(self.probability(program.calibration))
        if program.label is not None:
            value = "§_score" if program.calibration is None else "§_probability"
            sign = ">=" if program.label.is_included else ">"
            threshold = self.number(program.label.threshold)
            names = ", ".join(quoted(str(name), "label") for name in program.label.names)
            found += [
                "/* 1 for the positive label, else 0 */\n"
                + function(
                    "int §_label(const §_row *row)",
                    [f"return {value}(row) {sign} {threshold};"],
                ),
                function(
                    "const char *§_label_name(int label)",
                    [
                        f"static const char *const names[] = {{{names}}};",
                        "return names[label != 0];",
                    ],
                ),
            ]
        return found

    def probability(self, calibration: Sigmoid | PiecewiseLinear) -> str:
        if isinstance(calibration, Sigmoid):
            slope, offset = self.number(calibration.slope), self.number(calibration.offset)
            power = f"{self.maths('exp')}({slope} * §_score(row) + {offset})"
            lines = [f"return 1 / (1 + {power});"]
        else:
            lines = [
                self.table("knots", calibration.knots),
                self.table("levels", calibration.levels),
                f"enum {{ n = {len(calibration.knots)} }};",
                "return §_interpolate(§_score(row), knots, levels, n);",
            ]
        return function("§_real §_probability(const §_row *row)", lines)

    def self_test(self) -> str:
        test = self.program.test
        assert test is not None
        rows = [
            "{" + ", ".join(map(self.cell, self.program.columns, row)) + "}" for row in test.rows
        ]
        tolerance = self.number(float(_TOLERANCES[self.precision]))
        lines = [
            array("static const §_row rows[]", rows),
            self.table("scores", test.scores),
            "int i, failed = 0;",
            f"for (i = 0; i < {len(test.rows)}; i++) {{",
            f"    const §_real size = {self.maths('fabs')}(scores[i]);",
            "    const §_real found = §_score(&rows[i]);",
            f"    const §_real error = {self.maths('fabs')}(found - scores[i]);",
            f"    failed += !(error <= {tolerance} * (size > 1 ? size : 1));",
            "}",
            "return failed;",
        ]
        return "/* Returns the number of test rows with a wrong score. */\n" + function(
            "int §_self_test(void)", lines
        )

    def cell(self, column: TableColumn, value) -> str:
        if column.is_text:
            return "NULL" if value is None else quoted(value, f"column {column.name!r}")
        if value is None:
            return "NAN"
        return digits(value) if column.kind == "date" else self.number(value)

    # -- blocks -------------------------------------------------------------------------------

    def _values(self, block: Values, start: int) -> list[str]:
        named = enumerate(block.columns, start)
        return [f"z[{j}] = row->{self.fields[column]};" for j, column in named]

    def _missing(self, block: MissingFlags, start: int) -> list[str]:
        named = enumerate(block.columns, start)
        return [f"z[{j}] = isnan(row->{self.fields[column]}) ? 1 : 0;" for j, column in named]

    def _dates(self, block: Dates, start: int) -> list[str]:
        n_periods, given = len(block.periods), f"row->{self.fields[block.column]}"
        periods = ", ".join(map(digits, block.periods or (1.0,)))
        days = ", ".join(map(digits, (block.fill, block.shift, block.scale)))
        return [
            "{",
            f"    static const double periods[] = {{{periods}}};",
            f"    §_dates({given}, {days}, periods, {n_periods}, z + {start});",
            "}",
        ]

    def _levels(self, block: Levels, start: int) -> list[str]:
        return [
            "{",
            *self.strings(block.column),
            f"    found = §_find(row->{self.fields[block.column]}, levels, {block.width});",
            f"    if (found >= 0) z[{start} + found] = 1;",
            "}",
        ]

    def _codes(self, block: Codes, start: int) -> list[str]:
        n_levels = len(block.values)
        if n_levels == 0:
            return [f"z[{start}] = {self.number(block.other)};"]
        return [
            "{",
            *self.strings(block.column),
            f"    {self.table('codes', block.values)}",
            f"    found = §_find(row->{self.fields[block.column]}, levels, {n_levels});",
            f"    z[{start}] = found < 0 ? {self.number(block.other)} : codes[found];",
            "}",
        ]

    def _words(self, block: Words, start: int) -> list[str]:
        given = f"row->{self.fields[block.column]}"
        call = f"    §_words({given}, levels, {block.width}, z + {start});"
        return ["{", *self.strings(block.column), call, "}"]

    def strings(self, place: int) -> list[str]:
        column = self.program.columns[place]
        texts = [quoted(level, f"column {column.name!r}") for level in column.levels]
        return [f"    {array('static const char *const levels[]', texts)}"]

    # -- stages -------------------------------------------------------------------------------

    def stage(self, operation: Operation, start: int, stop: int, number: int) -> list[str]:
        each = f"for (i = {start}; i < {stop}; i++)"
        here = "i" if start == 0 else f"i - {start}"
        if isinstance(operation, Fill):
            change = f"if (isnan(z[i])) z[i] = fill{number}[{here}];"
            return [self.table(f"fill{number}", operation.values), f"{each} {change}"]
        if isinstance(operation, Affine):
            return [
                self.table(f"shift{number}", operation.shift),
                self.table(f"scale{number}", operation.scale),
                f"{each} z[i] = (z[i] - shift{number}[{here}]) / scale{number}[{here}];",
            ]
        if isinstance(operation, InverseSinh):
            return [f"{each} z[i] = {self.maths('asinh')}(z[i]);"]
        return self.ranks(operation, start, stop)

    def ranks(self, operation: Ranks, start: int, stop: int) -> list[str]:
        ends = np.cumsum([0, *(len(curve.knots) for curve in operation.curves)]).tolist()
        return [
            self.table("knots", np.concatenate([curve.knots for curve in operation.curves])),
            self.table("images", np.concatenate([curve.levels for curve in operation.curves])),
            array("static const int ends[]", map(str, ends)),
            f"for (i = {start}; i < {stop}; i++)",
            "    z[i] = §_interpolate(z[i], knots + ends[i], images + ends[i], "
            "ends[i + 1] - ends[i]);",
        ]

    def rotation(self, axes: np.ndarray) -> list[str]:
        n_features, n_axes = axes.shape
        return [
            self.table("axes", axes.ravel()),
            f"§_real rotated[{n_axes}];",
            "int k;",
            f"for (k = 0; k < {n_axes}; k++) rotated[k] = 0;",
            f"for (i = 0; i < {n_features}; i++)",
            f"    for (k = 0; k < {n_axes}; k++) rotated[k] += z[i] * axes[i * {n_axes} + k];",
            f"for (k = 0; k < {n_axes}; k++) z[k] = rotated[k];",
        ]


def note(column: TableColumn, field: str) -> str:
    """Return the comment beside a field of a row: its name in the table, if that is another."""
    parts = [] if column.name == field else [f'"{comment(column.name)}"']
    parts += [] if column.kind == "numeric" else [_NOTES[column.kind]]
    return f" /* {', '.join(parts)} */" if parts else ""
