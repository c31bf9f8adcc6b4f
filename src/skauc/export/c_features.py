"""C99: the function that turns the columns of a table into features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from skauc.export.c_text import array, function, quoted, snippet
from skauc.export.c_words import words_helpers
from skauc.export.program import (
    Affine,
    Codes,
    Dates,
    Fill,
    InverseSinh,
    Levels,
    Logarithm,
    MissingFlags,
    Operation,
    PiecewiseLinear,
    Program,
    Ranks,
    SmoothClip,
    Steps,
    Values,
    Words,
)
from skauc.export.rounding import LARGEST_CHANGE, digits, single_digits

_EPSILON = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class FeatureWriter:
    """Writes numbers, tables and the features of one program. § stands for the name of the model.

    ``fields`` are the names of the columns in the row type.
    """

    program: Program
    name: str
    precision: str
    fields: tuple[str, ...]

    @property
    def real(self) -> str:
        """The type of numbers."""
        return "double" if self.precision == "double" else "float"

    @property
    def wide(self) -> str:
        """The type of the numbers that stages work on.

        It is double where single precision cannot tell neighbouring knots of ranks apart.
        """
        stages = (stage.operation for stage in self.program.stages)
        steepest = max((each.steepest for each in stages if isinstance(each, Ranks)), default=0.0)
        return "double" if _EPSILON * steepest > LARGEST_CHANGE["float"] else self.real

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
        if Steps in kinds:
            found.append(snippet("steps.h"))
        if Ranks in kinds or isinstance(program.calibration, PiecewiseLinear):
            found.append(snippet("place.h"))
        if isinstance(program.calibration, PiecewiseLinear):
            found.append(snippet("curve.h"))
        if Words in kinds:
            found.append(words_helpers(program))
        return found

    def features(self) -> str:
        """Return the function that turns a row into features."""
        program, parts = self.program, []
        lines = ["int found, i;", "(void)found, (void)i;"]
        for start, block in zip(program.starts, program.blocks, strict=True):
            lines += getattr(self, f"_{block.word}")(block, start)
        if self.wide == self.real:
            lines += self.stages()
        else:
            body = ["int i;", *replace(self, precision=self.wide).stages()]
            parts.append(function("void §_stages(§_wide *z)", body))
            n_features, each = program.n_features, f"for (i = 0; i < {program.n_features}; i++)"
            lines += [f"§_wide wide[{n_features}];", f"{each} wide[i] = z[i];", "§_stages(wide);"]
            lines.append(f"{each} z[i] = (§_real)wide[i];")
        if program.axes is not None:
            lines += self.rotation(program.axes)
        parts.append(function("void §_features(const §_row *row, §_real *z)", lines))
        return "\n\n".join(parts)

    def stages(self) -> list[str]:
        """Return the statements of all stages."""
        lines = []
        for number, stage in enumerate(self.program.stages):
            lines += self.stage(stage.operation, stage.start, stage.stop, number)
        return lines

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

    def _steps(self, block: Steps, start: int) -> list[str]:
        n_edges, given = len(block.edges), f"row->{self.fields[block.column]}"
        return [
            "{",
            f"    {self.table('edges', block.edges)}",
            f"    {self.table('steps', [*block.values, block.missing])}",
            f"    z[{start}] = §_steps({given}, edges, {n_edges}, steps);",
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
        """Return the table of the levels or words of a column."""
        column = self.program.columns[place]
        texts = [quoted(level, f"column {column.name!r}") for level in column.levels]
        return [f"    {array('static const char *const levels[]', texts)}"]

    # -- stages -------------------------------------------------------------------------------

    def stage(self, operation: Operation, start: int, stop: int, number: int) -> list[str]:
        """Return the statements of an operation on the features from start up to stop."""
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
        if isinstance(operation, SmoothClip):
            limit, most = map(self.number, (operation.limit, operation.farthest))
            return [
                f"{each} {{",
                f"    z[i] = z[i] > {most} ? {most} : z[i] < -{most} ? -{most} : z[i];",
                f"    z[i] /= {self.maths('sqrt')}(1 + z[i] / {limit} * (z[i] / {limit}));",
                "}",
            ]
        if isinstance(operation, Logarithm):
            return self.logarithm(operation, start)
        return self.ranks(operation, start, stop)

    def logarithm(self, operation: Logarithm, start: int) -> list[str]:
        """Return the statements of the logarithms, one per chosen feature."""
        lines = []
        for number in np.flatnonzero(operation.chosen).tolist():
            value, least = f"z[{start + number}]", self.number(operation.least[number])
            near = f"({value} < {least} ? {least} : {value})"
            offset = self.number(operation.offset[number])
            lines.append(f"{value} = {self.maths('log')}({near} + {offset});")
        return lines

    def ranks(self, operation: Ranks, start: int, stop: int) -> list[str]:
        """Return the statements of the piecewise linear maps."""
        ends = np.cumsum([0, *(len(curve.knots) for curve in operation.curves)]).tolist()
        ranks = np.concatenate([curve.levels for curve in operation.curves])
        low, high = "ranks[place]", "ranks[place + (n > 1)]"
        tables = [
            self.table("knots", np.concatenate([curve.knots for curve in operation.curves])),
            array("static const unsigned char ranks[]", map(str, ranks.tolist())),
            array("static const int ends[]", map(str, ends)),
        ]
        if operation.images is not None:
            tables.append(self.table("images", operation.images))
            low, high = f"images[{low}]", f"images[{high}]"
        return [
            *tables,
            f"for (i = {start}; i < {stop}; i++) {{",
            "    const int first = ends[i], n = ends[i + 1] - first;",
            "    §_wide share;",
            "    const int place = first + §_place(z[i], knots + first, n, &share);",
            f"    z[i] = {low} + share * ({high} - {low});",
            "}",
        ]

    def rotation(self, axes: np.ndarray) -> list[str]:
        """Return the statements of the rotation to the axes."""
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
