"""Compiled functions: compiled late, cached where that is possible, and usable where it is not."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from listeners import Listener

import skauc
from skauc import SparseKernelAUC
from skauc.compiling import compiled, compiled_fast
from skauc.exceptions import interrupts
from skauc.losses import pairs

PACKAGE = Path(skauc.__file__).parent

FIT = """
import numpy as np
from skauc import OPAUC
import skauc.row_products as rows
X = np.random.default_rng(0).normal(size=(60, 2))
y = X[:, 0] > 0
rows.mirror(np.eye(3))
assert OPAUC(random_state=0).fit(X, y).score(X, y) > 0.9
from numba.core.caching import NullCache
assert isinstance(rows.mirror._cache, NullCache)
"""


@compiled
def _twice(x):
    return 2 * x


@compiled
def _total(values):
    total = 0.0
    for i in range(len(values)):
        total += values[i] * values[i]
    return total


@compiled_fast
def _fast_total(values):
    return _total(values)


@compiled_fast
def _four_times(x):
    return _twice(_twice(x))


def test_compiled_functions_call_each_other():
    assert _four_times(3) == 12
    assert _four_times(1.5) == 6.0


def test_a_function_is_compiled_alike_whatever_called_it_first():
    """A caller that may reorder sums does not make the function that it calls do so."""
    values = np.random.default_rng(0).normal(size=1001) * 10.0 ** (np.arange(1001) % 7)
    expected = 0.0
    for value in values.tolist():
        expected += value * value
    assert _fast_total(values) == _total(values) == expected


def test_later_calls_go_straight_to_numba():
    _four_times(1)
    assert not isinstance(_four_times, compiled)


NOTICE = """
import numpy as np
import skauc.row_products as rows
from skauc.compiling import when_compiling
when_compiling(lambda: print("compiling"))
for _ in range(2):
    rows.mirror(np.eye(3))
    rows.mirror(np.eye(3, dtype=np.float32))
"""


def test_a_notice_is_given_once_and_only_where_nothing_is_cached(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", NOTICE], env=environment, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    ]
    assert said == ["compiling\n", ""]


def test_importing_and_predicting_do_not_import_numba():
    code = (
        "import sys, numpy as np; from skauc import SparseKernelAUC; from skauc.model import Model;"
        "Model.linear(np.ones(2), 0.0).scores(np.ones((3, 2)));"
        "assert 'numba' not in sys.modules and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_fits_work_where_numba_cannot_write_a_cache(tmp_path):
    """Not by permissions, which do not bind root: files stand where folders would be."""
    root = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, root / "skauc", ignore=ignored)
    for folder in [root / "skauc", *(root / "skauc").rglob("*/")]:
        (folder / "__pycache__").touch()
    occupied = tmp_path / "occupied"
    occupied.touch()
    places = ("HOME", "XDG_CACHE_HOME", "IPYTHONDIR", "NUMBA_CACHE_DIR", "USERPROFILE")
    environment = {**os.environ, **{name: str(occupied / "x") for name in places}}
    environment |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-c", FIT]
    found = subprocess.run(
        words, env=environment, cwd=root, capture_output=True, text=True, timeout=600, check=False
    )
    assert found.returncode == 0, found.stderr


def test_an_error_that_is_not_about_the_cache_is_raised():
    @compiled
    def unbound(x):
        return undefined_name + x  # noqa: F821

    with pytest.raises(Exception, match="undefined_name"):
        unbound(np.float64(1))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer of POSIX")
def test_interrupts_of_compiled_functions_are_interrupts():
    """Numba turns an interrupt of the conversion of its results into a SystemError."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    def work(delay):
        with interrupts():
            signal.setitimer(signal.ITIMER_REAL, delay)
            while True:
                pairs._accumulate(tables)

    usual, tables = signal.signal(signal.SIGALRM, interrupt), np.zeros((2, 4, 3))
    pairs._accumulate(tables)
    try:
        for delay in np.linspace(1e-4, 1e-3, 60):
            with pytest.raises(KeyboardInterrupt):
                work(delay)
    finally:
        signal.signal(signal.SIGALRM, usual)


def test_an_interrupt_of_a_compiled_function_keeps_the_model():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2

    def react(model):
        if model.n_basis_ == 4:
            raise SystemError from KeyboardInterrupt()

    model = SparseKernelAUC(8, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Listener(react)).fit(X, y)
    assert model.n_basis_ == 4
