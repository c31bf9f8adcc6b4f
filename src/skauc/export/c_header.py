"""C99: one header without heap memory and without dependencies beyond math.h."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.export.c_features import FeatureWriter
from skauc.export.c_text import array, comment, function, quoted
from skauc.export.names import identifiers
from skauc.export.program import (
    PiecewiseLinear,
    Program,
    Sigmoid,
    TableColumn,
)
from skauc.export.rounding import digits, is_single

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


class _Writer(FeatureWriter):
    """Writes the functions of one program.

    § stands for the name of the model. All text of users is written in ASCII, so it has no §.
    """

    # -- parts of the header ------------------------------------------------------------------

    def opening(self) -> str:
        facts = [f" * {name}: {comment(value)}" for name, value in self.program.provenance()]
        lines = [
            "/*",
            *facts,
            f" * numbers: {self.precision}",
            *self.legend(),
            *(f" * {comment(note)}" for note in self.program.spelling_notes()),
            " * §_self_test() returns 0 if the program works here.",
            " */",
            f"#ifndef SKAUC_{self.name.upper()}_H",
            f"#define SKAUC_{self.name.upper()}_H",
            "#include <math.h>",
            "#include <stddef.h>",
            "#include <string.h>",
            "",
            f"typedef {self.real} §_real;",
            f"typedef {self.wide} §_wide;",
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
        lines = [*self.centres(), self.table("weights", expansion.weights.T.ravel())]
        lines += [self.table("coef", expansion.coef)]
        term = {
            "gaussian": "e[m] += w * (x - c) * (x - c);",
            "laplacian": f"e[m] += w * {self.maths('fabs')}(x - c);",
            "polynomial": "e[m] += w * x * c;",
            "local": "e[m] += w * w * (x - c) * (x - c);",
        }[expansion.shape]
        value = f"{power}(-e[m])"
        if expansion.ridges is not None:
            flags = map(str, expansion.ridges.astype(int).tolist())
            lines.append(array("static const signed char ridges[]", flags))
            term = "e[m] += w * (x - c) * (ridges[m] ? 1 : w * (x - c));"
            value = f"{power}(-e[m] * (ridges[m] ? e[m] : 1))"
        if expansion.ratios is not None:
            lines.append(self.table("ratios", expansion.ratios))
            value = f"{power}(-e[m] * ratios[m])"
        if expansion.shape == "polynomial":
            base = f"e[m] + {self.number(expansion.offset)}"
            value = f"{self.maths('pow')}({base}, {self.number(expansion.degree)})"
        read = f"centres[j * {n_centres} + m]"
        c = f"offset[j] + step[j] * {read}" if self.precision == "int8" else read
        w = "weights[j]" if expansion.weights.ndim == 1 else f"weights[j * {n_centres} + m]"
        return [
            *lines,
            f"§_real e[{n_centres}];",
            "int m;",
            f"for (m = 0; m < {n_centres}; m++) e[m] = 0;",
            f"for (j = 0; j < {n_features}; j++) {{",
            "    const §_real x = z[j];",
            f"    for (m = 0; m < {n_centres}; m++) {{",
            f"        const §_real c = {c}, w = {w};",
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
                self.table("knots", calibration.knots, self.wide),
                self.table("levels", calibration.levels, self.wide),
                f"enum {{ n = {len(calibration.knots)} }};",
                "return (§_real)§_curve(§_score(row), knots, levels, n);",
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


def note(column: TableColumn, field: str) -> str:
    """Return the comment beside a field of a row: its name in the table, if that is another."""
    parts = [] if column.name == field else [f'"{comment(column.name)}"']
    parts += [] if column.kind == "numeric" else [_NOTES[column.kind]]
    return f" /* {', '.join(parts)} */" if parts else ""
