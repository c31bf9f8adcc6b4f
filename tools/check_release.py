"""Check the distribution: the same bytes twice, complete, and working in a clean environment.

    python tools/check_release.py [--keep FOLDER]

Builds sdist and wheel twice, in two copies of what git tracks, and compares the bytes. Runs
``twine check``, looks for files that do not belong, installs the wheel with its requirements into a
new environment where no compiler can be found, and runs the program and a fit there. Needs the
packages build and twine.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# One date for all files of the archives. zip has none before 1980.
EPOCH = "315532800"
SMOKE = """
import os, time
import skauc
from sklearn.datasets import load_breast_cancer
from skauc import SparseKernelAUC
X, y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
warmed = skauc.warm_up()
started = time.perf_counter()
assert SparseKernelAUC(random_state=0).fit(X, y).score(X, y) > 0.99
fitted = time.perf_counter() - started
print(f"skauc {skauc.__version__}: warm_up {warmed:.1f} s, then the first fit {fitted:.2f} s")
assert not os.path.exists(os.path.join(os.path.dirname(skauc.__file__), "tests"))
"""


def main() -> None:
    """Run all checks; a failure ends the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="copy the files that were checked here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first, second = (build(Path(folder) / name) for name in ("first", "second"))
        compare(first, second)
        run(sys.executable, "-m", "twine", "check", "--strict", *map(str, first))
        wheel = check_contents(first)
        smoke(wheel, Path(folder) / "environment")
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            for path in first:
                shutil.copy(path, options.keep)
    print("The distribution is in order.")


def build(folder: Path) -> list[Path]:
    """Build from a copy of the tracked files, and return the archives."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    for name in filter(None, tracked.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    run(sys.executable, "-m", "build", "-q", cwd=folder, SOURCE_DATE_EPOCH=EPOCH)
    return sorted((folder / "dist").iterdir())


def compare(first: list[Path], second: list[Path]) -> None:
    """Compare two builds byte by byte."""
    for one, other in zip(first, second, strict=True):
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (one, other)]
        if digests[0] != digests[1]:
            sys.exit(f"Two builds of {one.name} differ: {digests[0]} and {digests[1]}.")
        print(f"{one.name}: {one.stat().st_size / 1000:.0f} kB, sha256 {digests[0]}")


def check_contents(archives: list[Path]) -> Path:
    """Look for what is missing and what does not belong, and return the wheel."""
    (sdist,) = (path for path in archives if path.name.endswith(".tar.gz"))
    (wheel,) = (path for path in archives if path.suffix == ".whl")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        installed = set(archive.namelist())
    needed = {"skauc/py.typed", "skauc/guide/methods.md", "skauc/report/templates/page.html"}
    missing = [name for name in needed if name not in installed]
    missing += [
        name for name in ("LICENSE", "README.md", "tests/conftest.py") if name not in inside
    ]
    odd = [name for name in installed if not name.startswith(("skauc/", "skauc-"))]
    odd += [name for name in installed | inside if name.endswith((".npz", ".nbc", ".nbi", ".so"))]
    odd = [name for name in odd if not name.startswith("tests/")]
    if missing or odd:
        sys.exit(f"missing from the distribution: {missing}; should not be there: {odd}")
    return wheel


def smoke(wheel: Path, environment: Path) -> None:
    """Install the wheel without a compiler, and use it."""
    run(sys.executable, "-m", "venv", str(environment))
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    python = str(programs / "python")
    # Nothing but the environment itself on the path: no compiler. Only wheels may be installed.
    search = {} if os.name == "nt" else {"PATH": str(programs), "CC": "false", "CXX": "false"}
    # liac-arff is pure Python and has no wheel.
    binary = ["--only-binary", ":all:", "--no-binary", "liac-arff"]
    run(python, "-m", "pip", "install", "-q", *binary, f"{wheel}[cli]", **search)
    run(python, "-W", "error", "-c", SMOKE, cwd=environment, **search)
    run(str(programs / "skauc"), "--help", cwd=environment, quiet=True, **search)


def run(*words: str, cwd: Path = ROOT, quiet: bool = False, **variables: str) -> None:
    """Run a command with further environment variables, away from this checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    output = subprocess.DEVNULL if quiet else None
    done = subprocess.run(words, cwd=cwd, env={**environment, **variables}, stdout=output)
    if done.returncode:
        sys.exit(f"failed with status {done.returncode}: {' '.join(words)}")


if __name__ == "__main__":
    main()
