"""PostgreSQL gives the scores of the model, if a server is there.

SKAUC_POSTGRESQL holds the connection, such as "host=/tmp port=5432 user=postgres". The test makes
and drops the schema skauc_test.
"""

import os
import shutil
import subprocess

import numpy as np
import pytest
from exported import as_table
from numpy.testing import assert_allclose

from skauc import to_source

SERVER = os.environ.get("SKAUC_POSTGRESQL")
pytestmark = pytest.mark.skipif(
    SERVER is None or shutil.which("psql") is None,
    reason="SKAUC_POSTGRESQL is not set, or psql is not installed",
)
TYPES = {"numeric": "DOUBLE PRECISION", "boolean": "BOOLEAN", "date": "TIMESTAMP"}


def test_scores(case):
    table = as_table(case.values, case.columns)
    types = ", ".join(f'"{name}" {TYPES.get(kind, "TEXT")}' for name, kind in case.columns.items())
    rows = table.to_csv(header=False)
    script = to_source(case.model, "sql", dialect="postgresql")
    text = (
        "DROP SCHEMA IF EXISTS skauc_test CASCADE; CREATE SCHEMA skauc_test;\n"
        "SET search_path = skauc_test;\n"
        f"CREATE TABLE rows (row_number INTEGER, {types});\nCOPY rows FROM stdin CSV;\n"
        f"{rows}\\.\n{script}\n"
        "SELECT failed FROM model_self_test;\n"
        "SELECT model_score FROM model ORDER BY row_number;\n"
        "SET client_min_messages = error;\nDROP SCHEMA skauc_test CASCADE;\n"
    )
    command = ["psql", SERVER, "-qAtX", "-v", "ON_ERROR_STOP=1"]
    ran = subprocess.run(command, input=text, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    failed, *scores = np.array(ran.stdout.split(), dtype=float)
    assert failed == 0
    assert_allclose(scores, case.scores, rtol=0, atol=1e-9)
