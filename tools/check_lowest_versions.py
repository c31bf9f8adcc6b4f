"""Run the core tests with the oldest versions of all requirements.

    python tools/check_lowest_versions.py [--python PYTHON]

Reads the lower bounds of the dependencies and of the extras below from pyproject.toml, installs
exactly these versions into a new environment, and runs the tests of the algorithms there.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("files", "onnx", "plot", "report", "tables", "cli")
# The tests of what depends on these packages; no torch and no dask.
TESTS = (
    *("tests/sparse", "tests/losses", "tests/solvers", "tests/metrics", "tests/online"),
    *("tests/rank_svm", "tests/structural", "tests/data", "tests/explain", "tests/plotting"),
    *("tests/test_sklearn_checks.py", "tests/test_bad_input.py", "tests/test_kernels.py"),
    *("tests/persistence", "tests/preprocessing", "tests/onnx"),
)
# What the tests need; scikit-learn 1.6 does not agree with newer versions of pytest and polars.
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "polars", "duckdb")
LOWER = re.compile(r"^([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)")


def main() -> None:
    """Install the oldest versions and run the tests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the oldest supported Python")
    options, rest = parser.parse_known_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(each for name in EXTRAS for each in extras[name])]
    tools = [each for each in extras["test"] if each.startswith(TOOLS)]
    found = filter(None, map(LOWER.match, [*wanted, *tools]))
    oldest = sorted({f"{match[1]}=={match[2]}" for match in found if match[1] != "skauc"})
    with tempfile.TemporaryDirectory() as folder:
        run(options.python, "-m", "venv", folder)
        python = Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
        print(*oldest, flush=True)
        run(python, "-m", "pip", "install", "-q", "-e", str(ROOT), *oldest)
        # Old versions of two packages may warn about each other.
        quiet = ["-q", "-p", "no:cacheprovider", "-W", "default"]
        run(python, "-m", "pytest", "-n", "2", *quiet, *(rest or TESTS))


def run(*words: str | Path) -> None:
    """Run a command in the repository, without variables that lead to another checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([str(word) for word in words], cwd=ROOT, env=environment)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
