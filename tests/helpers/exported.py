"""Run exported models: gcc, node, DuckDB, SQLite and onnxruntime give scores for rows."""

import json
import re
import shutil
import sqlite3
import struct
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest

from skauc.export.names import identifiers
from skauc.export.reading import read_program

GCC, NODE = shutil.which("gcc"), shutil.which("node")
needs_gcc = pytest.mark.skipif(GCC is None, reason="gcc is not installed")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
TEXT = ("category", "text")
TYPES = {"numeric": "DOUBLE", "boolean": "BOOLEAN", "date": "TIMESTAMP"}


def columns_of(model):
    """Names and kinds of the columns of a model."""
    return {column.name: column.kind for column in read_program(model).columns}


# -- C ----------------------------------------------------------------------------------------


def run_c(folder, headers, columns, values, options=SANITIZED):
    """Score rows with several headers of models that have the same columns.

    ``headers`` has the source by the name of the model. Returns, by name, the score, the
    probability (the score if there is none) and the label of each row, and the result of the
    self-test.
    """
    for name, source in headers.items():
        (folder / f"{name}.h").write_text(source)
    (folder / "main.c").write_text(_main(headers, columns))
    program = folder / "scored"
    command = [GCC, *STRICT, *options, "main.c", "-o", str(program), "-lm"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    rows = b"".join(map(_packed, zip(*(values[name] for name in columns), strict=True)))
    ran = subprocess.run([str(program)], input=rows, capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode()
    found = np.frombuffer(ran.stdout).reshape(-1, len(headers), 3)
    tests = found[-1, :, 0]
    return {
        name: (*found[:-1, number].T, int(tests[number])) for number, name in enumerate(headers)
    }


def _packed(row):
    return b"".join(
        value.encode() + b"\0" if isinstance(value, str) else struct.pack("=d", value)
        for value in row
    )


def _main(headers, columns):
    """A program that reads numbers and strings and writes three doubles per row and model."""
    reads, fills = [], {name: [] for name in headers}
    fields = identifiers(columns)
    for place, (field, kind) in enumerate(zip(fields, columns.values(), strict=True)):
        is_text = kind in TEXT
        reads.append(
            f"if (!{'text' if is_text else 'number'}({'s' if is_text else 'x'} + {place})) break;"
        )
        for name, lines in fills.items():
            cast = "" if is_text or kind == "date" else f"({name}_real)"
            lines.append(f"{name}.{field} = {cast}{'s' if is_text else 'x'}[{place}];")
    scores, tests = [], []
    for name, source in headers.items():
        has = {word: f"{name}_{word}(const" in source for word in ("probability", "label")}
        scores += [
            f"{name}_row {name};",
            *fills[name],
            f"put({name}_score(&{name}));",
            f"put({name}_{'probability' if has['probability'] else 'score'}(&{name}));",
            f"put({f'{name}_label(&{name})' if has['label'] else '-1'});",
        ]
        tests.append(f"put({name}_self_test()); put(0); put(0);")
    size = len(columns)
    return "\n".join(
        [
            "#include <stdio.h>",
            *(f'#include "{name}.h"' for name in headers),
            f"static double x[{size}]; static char *s[{size}], strings[{size}][5000];",
            "static int number(double *to) { return fread(to, sizeof *to, 1, stdin) == 1; }",
            "static int text(char **to) {",
            "    int c, n = 0; *to = strings[to - s];",
            "    while ((c = getchar()) > 0) (*to)[n++] = (char)c;",
            "    (*to)[n] = 0; return c == 0; }",
            "static void put(double value) { fwrite(&value, sizeof value, 1, stdout); }",
            "int main(void) {",
            "(void)number, (void)text, (void)x, (void)s;",
            "for (;;) {",
            *reads,
            *scores,
            "}",
            *tests,
            "return 0; }",
        ]
    )


# -- JavaScript -------------------------------------------------------------------------------


def run_js(folder, module, values, ask="[m.score(row), m.probability?.(row), m.label?.(row)]"):
    """Return an answer per row, and the result of the self-test."""
    (folder / "model.mjs").write_text(module)
    names = list(values)
    cells = [[_json_cell(value) for value in column] for column in values.values()]
    (folder / "rows.json").write_text(json.dumps([names, list(zip(*cells, strict=True))]))
    (folder / "run.mjs").write_text(
        'import { readFileSync } from "node:fs";\nimport * as m from "./model.mjs";\n'
        'const [names, rows] = JSON.parse(readFileSync("rows.json"));\n'
        "const answers = rows.map((cells) => {\n"
        "  const row = Object.fromEntries(names.map((name, j) => [name, cells[j]]));\n"
        f"  return {ask};\n}});\n"
        "console.log(JSON.stringify([answers, m.selfTest()]));\n"
    )
    ran = subprocess.run([NODE, "run.mjs"], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def _json_cell(value):
    if isinstance(value, str):
        return value
    return None if np.isnan(value) else float(value)


# -- SQL --------------------------------------------------------------------------------------


def as_table(values, columns):
    """The rows as a database has them: dates as times, gaps as None."""
    import pandas as pd

    table = {}
    for name, kind in columns.items():
        cells = pd.Series(values[name])
        if kind == "date":
            cells = pd.to_datetime(cells, unit="s")
        elif kind == "boolean":
            cells = cells.map({0.0: False, 1.0: True}).astype(object)
        missing = cells == "" if kind in TEXT else cells.isna()
        table[name] = cells.astype(object).where(~missing, None)
    return pd.DataFrame(table)


def run_duckdb(script, values, columns, name="model"):
    """Return scores, probabilities or scores, labels, and the result of the self-test."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        types = ", ".join(
            f"{_quoted(each)} {TYPES.get(kind, 'VARCHAR')}" for each, kind in columns.items()
        )
        connection.execute(f"CREATE TABLE rows (row_number INTEGER, {types})")
        table = as_table(values, columns)
        table.insert(0, "row_number", range(len(table)))
        connection.register("given", table)
        connection.execute("INSERT INTO rows SELECT * FROM given")
        connection.execute(script)
        return _answers(script, lambda query: connection.execute(query).fetchall(), name)


def run_sqlite(script, values, columns, name="model"):
    """Return the same from SQLite."""
    connection = sqlite3.connect(":memory:")
    try:
        names = ", ".join(map(_quoted, columns))
        connection.execute(f"CREATE TABLE rows (row_number INTEGER, {names})")
        table = as_table(values, columns)
        cells = [[_sqlite_cell(value) for value in row] for row in table.itertuples(index=False)]
        marks = ", ".join("?" * (len(columns) + 1))
        numbered = [[number, *row] for number, row in enumerate(cells)]
        connection.executemany(f"INSERT INTO rows VALUES ({marks})", numbered)
        connection.executescript(script)
        return _answers(script, lambda query: connection.execute(query).fetchall(), name)
    finally:
        connection.close()


def _sqlite_cell(value):
    return value.isoformat(" ") if hasattr(value, "isoformat") else value


def _answers(script, ask, name):
    second = f"{name}_{'probability' if f'AS {name}_probability' in script else 'score'}"
    third = f"{name}_label" if f"AS {name}_label" in script else "NULL"
    query = f"SELECT {name}_score, {second}, {third} FROM {name} ORDER BY row_number"
    scores, probabilities, labels = zip(*ask(query), strict=True)
    ((failed,),) = ask(f"SELECT failed FROM {name}_self_test")
    return np.array(scores), np.array(probabilities), list(labels), int(failed)


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def one_select(script):
    """The SELECT of the first view of a script."""
    return re.split(r"CREATE VIEW \w+ AS\n", script)[1].rstrip().removesuffix(";")


# -- ONNX -------------------------------------------------------------------------------------


def run_onnx(graph, inputs):
    """Check a graph, and return its outputs by name."""
    onnx.checker.check_model(graph)
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))
