"""JavaScript: one ES module without dependencies, and its types."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from skauc.export.program import Expansion, Program, TableColumn
from skauc.export.rounding import digits, is_single, single_digits
from skauc.export.static import read_part

# The largest error of a self-test, relative to a score above 1.
_TOLERANCE = 1e-9
# The TypeScript type of the values of each kind of column.
_TYPES = {
    "numeric": "number",
    "boolean": "boolean | number",
    "date": "Date | number",
    "category": "string",
    "text": "string",
}


def write_module(program: Program) -> str:
    """Return an ES module with the functions of the model."""
    names = ["score", "contributions", "selfTest", "columns", "provenance"]
    names += ["probability"] if program.calibration is not None else []
    names += ["label"] if program.label is not None else []
    lines = [f"// {name}: {value}" for name, value in program.provenance()]
    lines += [f"// {literal(note)[1:-1]}" for note in program.spelling_notes()]
    return "\n".join(
        [
            *lines,
            "// The types are in the .d.ts file. selfTest() returns 0 if the program works here.",
            f"const program = {literal(program_data(program))};",
            "const { columns, provenance } = program;",
            runtime(program).rstrip(),
            f"export {{ {', '.join(sorted(names))} }};",
            "",
        ]
    )


def write_types(program: Program) -> str:
    """Return the TypeScript declarations of the module."""
    row = [
        f"  {literal(column.name)}: {_TYPES[column.kind]}{' | null' * column.may_be_missing};"
        for column in program.columns
    ]
    lines = [
        "/** A row. Dates are Date objects or seconds since 1970 in UTC. */",
        "export interface Row {",
        *row,
        "}",
        "export interface Column {",
        "  name: keyof Row;",
        '  kind: "numeric" | "boolean" | "date" | "category" | "text";',
        "  optional: boolean;",
        "  levels: string[];",
        "  low: number;",
        "  high: number;",
        "  typical: number | string | null;",
        "}",
        "/** The columns, with their levels or words and their usual values. */",
        "export declare const columns: Column[];",
        "/** Where the model comes from. */",
        "export declare const provenance: Record<string, string>;",
        "/** The score. A higher score means that the row is more likely positive. */",
        "export declare function score(row: Row): number;",
    ]
    if program.calibration is not None:
        lines += [
            "/** The probability of the positive label. */",
            "export declare function probability(row: Row): number;",
        ]
    if program.label is not None:
        names = " | ".join(literal(name) for name in program.label.names)
        lines += [
            "/** The predicted label. */",
            f"export declare function label(row: Row): {names};",
        ]
    lines += [
        "/** Shapley values against one background row. They add up to score - base. */",
        "export declare function contributions(",
        "  row: Row,",
        "  background?: Row,",
        "): { base: number; values: Record<keyof Row, number>; exact: boolean };",
        "/** The number of test rows with a wrong score: 0 if the program works here. */",
        "export declare function selfTest(): number;",
        "",
    ]
    return "\n".join(lines)


def runtime(program: Program) -> str:
    """Return the functions that run a program."""
    shares = ["product.js"] if program.has_exact_shares else ["sampled.js"]
    if program.has_exact_shares and program.expansion.ridges is not None:
        shares.append("ridges.js")
    return "\n".join(map(read_part, ("runtime.js", *shares)))


def program_data(program: Program) -> dict[str, Any]:
    """Return the program as the data that runtime.js reads."""
    assert program.test is not None
    expansion = {field.name: getattr(program.expansion, field.name) for field in fields(Expansion)}
    return {
        "provenance": dict(program.provenance()),
        "columns": [_column_data(column) for column in program.columns],
        "columnOf": program.columns_of_features(),
        "exact": program.has_exact_shares,
        "blocks": [_tagged(block) for block in program.blocks],
        "stages": [
            {"start": stage.start, "stop": stage.stop, **_tagged(stage.operation)}
            for stage in program.stages
        ],
        "axes": program.axes,
        **expansion,
        "centres": _centres(program.expansion.centres),
        "calibration": None if program.calibration is None else _tagged(program.calibration),
        "label": None
        if program.label is None
        else {
            "names": program.label.names,
            "threshold": program.label.threshold,
            "included": program.label.is_included,
        },
        "test": {
            "rows": program.test.rows,
            "scores": program.test.scores,
            "tolerance": _TOLERANCE,
        },
    }


@dataclass(frozen=True)
class _Script:
    """An expression of JavaScript."""

    text: str


def _centres(centres: np.ndarray) -> Any:
    """Return centres of single precision by their shortest texts."""
    if not is_single(centres):
        return centres
    rows = ",".join("[" + ",".join(map(single_digits, row)) + "]" for row in centres)
    return _Script(f"[{rows}].map((centre) => centre.map(Math.fround))")


def _column_data(column: TableColumn) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind,
        "optional": column.may_be_missing,
    }
    if column.is_text:
        return {**data, "levels": column.levels, "typical": column.typical}
    return {**data, "low": column.low, "high": column.high, "typical": column.typical}


def _tagged(part) -> dict[str, Any]:
    """Return the fields of a part, with its kind. Levels and words have theirs in the column."""
    own = {field.name: getattr(part, field.name) for field in fields(part)}
    own.pop("width", None)
    return {"kind": part.word, **own}


def literal(value: Any) -> str:
    """Return a value as a JavaScript literal that is safe inside of a script element."""
    if isinstance(value, _Script):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{_key(name)}:{literal(each)}" for name, each in value.items()) + "}"
    if isinstance(value, np.ndarray | list | tuple):
        return "[" + ",".join(map(literal, value)) + "]"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return digits(float(value))
    if value is None:
        return "null"
    if hasattr(value, "__dataclass_fields__"):
        return literal({field.name: getattr(value, field.name) for field in fields(value)})
    # ASCII, so that the encoding of the page does not matter; no "</script>" and no "<!--".
    return json.dumps(str(value)).replace("<", "\\u003c")


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else literal(name)
