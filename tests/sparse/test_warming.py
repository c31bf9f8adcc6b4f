"""`warm_up` compiles all that the usual fits need."""

import subprocess
import sys

CODE = """
import gc
import numpy as np
import skauc
from numba.core.dispatcher import Dispatcher

def compiled():
    found = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    return {
        (each.py_func.__module__, each.py_func.__name__, signature)
        for each in found
        for signature in each.signatures
        if each.py_func.__module__.startswith("skauc")
    }

assert skauc.warm_up() > 0
before = compiled()
random = np.random.default_rng(0)
for n_rows, dtype, options in (
    (200, "f8", {}),
    (200, "f8", {"scaling": None}),
    (200, "f4", {"scaling": "normal", "rotate": True}),
    (11_000, "f8", {}),
    (11_000, "f8", {"refine": False, "linear_term": False, "n_jobs": 2}),
    (11_000, "f4", {}),
    (200, "f8", {"shapes": "ridge"}),
    (6_000, "f8", {"shapes": "local"}),
    (11_001, "f8", {"scaling": None}),
):
    order = "F" if n_rows == 11_001 else "C"  # frames have this order, and are read-only
    X = np.asarray(random.normal(size=(n_rows, 4)), dtype, order=order)
    X.flags.writeable = n_rows == 11_000 and dtype == "f8"
    model = skauc.SparseKernelAUC(5, random_state=0, **options).fit(X, X[:, 0] > 1)
    model.decision_function(X)
model.shapley_values(X[:3])
X = random.normal(size=(1_100, 4))  # enough to screen the features
search = skauc.SparseKernelAUCCV(effort="quick", n_basis=8, random_state=0)
search.fit(X, X[:, 0] * X[:, 1] > 0).predict_proba(X)
print(len(before), sorted(f"{module}.{name}" for module, name, _ in compiled() - before))
"""


def test_fits_after_it_compile_nothing():
    """In a process of its own, where no other test has compiled anything."""
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE], capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stderr
    count, missed = found.stdout.split(" ", 1)
    assert int(count) > 20
    assert missed.strip() == "[]"
