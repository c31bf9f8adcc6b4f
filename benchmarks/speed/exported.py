"""Size and speed of exported models beside ONNX Runtime and XGBoost compiled by Treelite.

    python -m benchmarks.speed.exported

ijcnn1 (22 features), found through SKAUC_DATA. Needs gcc and node, and treelite and tl2cgen for
XGBoost in C. Times are processor times per row, the least of some repetitions over 10,000 rows, in
one thread.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import xgboost
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproduction.data_sets import load_dataset
from skauc import SparseKernelAUC, to_onnx, to_source
from skauc.metrics import auc

N_ROWS, REPEATS = 10_000, 5
ARM = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
MAIN = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "model.h"
static model_row rows[{n}]; static double numbers[{n} * {d}]; static double scores[{n}];
static double now(void) {{ struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }}
int main(void) {{
    double best = 1e9;
    if (model_self_test() || fread(numbers, sizeof numbers, 1, stdin) != 1) return 1;
    for (int i = 0; i < {n}; i++) {{ const double *x = numbers + {d} * i; {fill} }}
    for (int k = 0; k < {repeats}; k++) {{
        const double start = now();
        for (int i = 0; i < {n}; i++) scores[i] = (double)model_score(rows + i);
        const double taken = now() - start;
        if (taken < best) best = taken;
    }}
    fprintf(stderr, "%.17g", best / {n});
    fwrite(scores, sizeof scores, 1, stdout);
    return 0;
}}
"""


def main() -> None:
    data = load_dataset("ijcnn1")
    X, y = data.X_train, data.y_train
    rows, labels = data.X_test[:N_ROWS], data.y_test[:N_ROWS]
    raw = SparseKernelAUC(64, random_state=0)
    scaled = make_pipeline(StandardScaler(), SparseKernelAUC(64, random_state=0))
    lines = _lines("64 centres", raw.fit(X, y), rows, labels)
    lines += _lines("64 centres, scaled", scaled.fit(X, y), rows, labels)
    lines += _xgboost_lines(X, y, rows, labels)
    print("| model | as | source or file | machine code and tables | one row | AUC |")
    print("| --- | --- | --- | --- | --- | --- |")
    for line in lines:
        print("| " + " | ".join(line) + " |")


def _lines(name: str, model, rows: np.ndarray, labels: np.ndarray) -> list[tuple[str, ...]]:
    """Measure one model in every language."""
    lines = []
    for precision in ("double", "float", "int8"):
        header = to_source(model, "c", precision=precision)
        for flags in (("-O2",), ("-O3", "-march=native")):
            scores, seconds, size = _run_c(header, rows, flags)
            word = f"C, {precision}, {' '.join(flags)}"
            lines.append((name, word, _kb(len(header)), size, _us(seconds), _auc(labels, scores)))
        if shutil.which("arm-none-eabi-gcc"):
            lines.append((name, f"C, {precision}, Cortex-M4, -Os", "", _arm_size(header), "", ""))
    for language, run in (("js", _run_js), ("duckdb", _run_duckdb), ("sqlite", _run_sqlite)):
        is_sql = language != "js"
        options = {"dialect": language} if is_sql else {}
        source = to_source(model, "sql" if is_sql else language, **options)
        scores, seconds = run(source, rows)
        lines.append((name, language, _kb(len(source)), "", _us(seconds), _auc(labels, scores)))
    lines.append((name, "html", _kb(len(to_source(model, "html"))), "", "", ""))
    lines += _onnx_lines(name, model, rows, labels)
    return lines


def _run_c(header: str, rows: np.ndarray, flags) -> tuple[np.ndarray, float, str]:
    n_rows, n_features = rows.shape
    fill = " ".join(f"rows[i].x{j} = (model_real)x[{j}];" for j in range(n_features))
    text = MAIN.format(n=n_rows, d=n_features, fill=fill, repeats=REPEATS)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.h").write_text(header)
        Path(folder, "main.c").write_text(text)
        _call("gcc", "-std=c99", *flags, "main.c", "-o", "main", "-lm", cwd=folder)
        ran = subprocess.run(
            [f"{folder}/main"], input=np.ascontiguousarray(rows).tobytes(), capture_output=True
        )
        size = _object_size(folder, "gcc", flags)
        return np.frombuffer(ran.stdout), float(ran.stderr), size


def _object_size(folder: str, compiler: str, flags) -> str:
    """Return the size of code and constants of the score alone."""
    Path(folder, "only.c").write_text(
        '#include "model.h"\nmodel_real f(const model_row *row) { return model_score(row); }\n'
    )
    _call(compiler, "-std=c99", *flags, "-c", "only.c", "-o", "only.o", cwd=folder)
    prefix = "" if compiler == "gcc" else "arm-none-eabi-"
    text, data = _call(f"{prefix}size", "only.o", cwd=folder).splitlines()[1].split()[:2]
    return _kb(int(text) + int(data))


def _arm_size(header: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.h").write_text(header)
        return _object_size(folder, "arm-none-eabi-gcc", ("-Os", *ARM))


def _run_js(module: str, rows: np.ndarray) -> tuple[np.ndarray, float]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.mjs").write_text(module)
        Path(folder, "rows.json").write_text(json.dumps(rows.tolist()))
        Path(folder, "run.mjs").write_text(
            'import { readFileSync } from "node:fs";\nimport { score } from "./model.mjs";\n'
            'const rows = JSON.parse(readFileSync("rows.json"))\n'
            "  .map((x) => Object.fromEntries(x.map((value, j) => [`x${j}`, value])));\n"
            "let best = Infinity, scores;\n"
            f"for (let k = 0; k < {REPEATS}; k++) {{\n"
            "  const start = process.cpuUsage().user;\n"
            "  scores = rows.map(score);\n"
            "  best = Math.min(best, (process.cpuUsage().user - start) / rows.length);\n}\n"
            "console.log(JSON.stringify([best * 1e-6, scores]));\n"
        )
        seconds, scores = json.loads(_call("node", "run.mjs", cwd=folder))
        return np.array(scores), seconds


def _run_duckdb(script: str, rows: np.ndarray) -> tuple[np.ndarray, float]:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("given", _frame(rows))
        connection.execute("CREATE TABLE rows AS FROM given")
        connection.execute(script)
        query = "SELECT model_score FROM model ORDER BY number"
        return _timed(lambda: connection.execute(query).fetchall(), rows)


def _run_sqlite(script: str, rows: np.ndarray) -> tuple[np.ndarray, float]:
    connection = sqlite3.connect(":memory:")
    _frame(rows).to_sql("rows", connection, index=False)
    connection.executescript(script)
    query = "SELECT model_score FROM model ORDER BY number"
    return _timed(lambda: connection.execute(query).fetchall(), rows, repeats=1)


def _frame(rows: np.ndarray) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(rows.shape[1])])
    return frame.assign(number=np.arange(len(frame)))


def _timed(call: Callable, rows: np.ndarray, repeats: int = REPEATS) -> tuple[np.ndarray, float]:
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        found = call()
        taken.append(time.process_time() - start)
    return np.asarray(found, dtype=float).ravel(), min(taken) / len(rows)


def _onnx_lines(name: str, model, rows: np.ndarray, labels: np.ndarray) -> list[tuple[str, ...]]:
    graph = to_onnx(model, precision="float64").SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    size = _kb(len(graph))
    scores, all_rows = _timed(lambda: session.run(["scores"], {"X": rows})[0], rows)
    some = rows[:1000]
    _, one_row = _timed(
        lambda: [session.run(["scores"], {"X": some[i : i + 1]}) for i in range(len(some))], some
    )
    figure = _auc(labels, scores)
    return [
        (name, "ONNX Runtime, row by row", size, "", _us(one_row), figure),
        (name, "ONNX Runtime, all rows at once", size, "", _us(all_rows), figure),
    ]


def _xgboost_lines(X, y, rows, labels) -> list[tuple[str, ...]]:
    """Measure a boosted forest at its defaults, in its own library and compiled by Treelite."""
    model = xgboost.XGBClassifier(n_jobs=1, random_state=0).fit(X, y > 0)
    booster, name = model.get_booster(), "XGBoost, 100 trees"
    size = _kb(len(booster.save_raw("json")))
    some = rows[:1000].astype(np.float32)
    scores, all_rows = _timed(lambda: booster.inplace_predict(rows), rows)
    _, one_row = _timed(
        lambda: [booster.inplace_predict(some[i : i + 1]) for i in range(len(some))], some
    )
    figure = _auc(labels, scores)
    lines = [
        (name, "xgboost, row by row", size, "", _us(one_row), figure),
        (name, "xgboost, all rows at once", size, "", _us(all_rows), figure),
    ]
    try:
        import tl2cgen
        import treelite
    except ImportError:
        return lines
    compiled = treelite.frontend.from_xgboost(booster)
    with tempfile.TemporaryDirectory() as folder:
        tl2cgen.generate_c_code(compiled, dirpath=folder, params={"parallel_comp": 0})
        source = sum(path.stat().st_size for path in Path(folder).glob("*.[ch]"))
        seconds, size = _run_treelite(Path(folder), rows)
    return [*lines, (name, "C by Treelite, -O2", _kb(source), size, _us(seconds), figure)]


def _run_treelite(folder: Path, rows: np.ndarray) -> tuple[float, str]:
    text = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "header.h"
static float numbers[{n} * {d}]; static union Entry rows[{n}][{d}]; static volatile float out[1];
static double now(void) {{ struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }}
int main(void) {{
    double best = 1e9;
    if (fread(numbers, sizeof numbers, 1, stdin) != 1) return 1;
    for (int i = 0; i < {n} * {d}; i++) rows[i / {d}][i % {d}].fvalue = numbers[i];
    for (int k = 0; k < {repeats}; k++) {{
        const double start = now();
        for (int i = 0; i < {n}; i++) {{
            float r[1] = {{0}}; predict(rows[i], 0, r); out[0] = r[0]; }}
        const double taken = now() - start;
        if (taken < best) best = taken;
    }}
    fprintf(stderr, "%.17g", best / {n});
    return 0;
}}
"""
    n_rows, n_features = rows.shape
    (folder / "time.c").write_text(text.format(n=n_rows, d=n_features, repeats=REPEATS))
    _call("gcc", "-O2", "-w", "-c", "main.c", "-o", "main.o", cwd=folder)
    _call("gcc", "-O2", "-w", "time.c", "main.o", "-o", "timed", "-lm", cwd=folder)
    given = np.ascontiguousarray(rows, dtype=np.float32).tobytes()
    ran = subprocess.run([str(folder / "timed")], input=given, capture_output=True)
    text_size, data = _call("size", "main.o", cwd=folder).splitlines()[1].split()[:2]
    return float(ran.stderr), _kb(int(text_size) + int(data))


def _call(*words: str, cwd) -> str:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=True).stdout


def _kb(n_bytes: int) -> str:
    return f"{n_bytes / 1000:.1f} kB"


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} µs"


def _auc(labels: np.ndarray, scores: np.ndarray) -> str:
    return f"{auc(labels, scores):.5f}"


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
