"""Interrupts of searches and fits: a real SIGINT as a terminal sends it, and callbacks."""

import os
import subprocess
import sys

import numpy as np
import pytest
from listeners import Interrupter
from sklearn.datasets import make_moons

from skauc import SparseKernelAUC, SparseKernelAUCCV

as_posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

# A shell starts programs in the background with SIGINT ignored, and children inherit it.
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
SEARCH = """
import os, signal, threading, time
import numpy as np
from sklearn.datasets import make_moons
from skauc import SparseKernelAUCCV
import skauc.sparse.stages as stages

X, y = make_moons(300, noise=0.3, random_state=0)
refine, begun, sent = stages.refine, [], []

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

def endless(objective, basis, start, n_steps, minimise, on_step):
    begun.append(time.monotonic())
    if len(begun) == {n_descents}:
        # From another thread, so that it comes in the middle of a descent.
        threading.Timer(0.05, interrupt).start()
    while len(begun) >= {n_descents}:  # this descent and those after the interrupt have no end
        time.sleep(0.01)
        on_step(1)
    return refine(objective, basis, start, n_steps, minimise, on_step=on_step)

stages.refine = endless
model = SparseKernelAUCCV(Cs=[1.0], gammas=[1.0], n_basis=16, scaling=None, linear_term=False,
                          rotate=False, shapes="round", cv=3, n_jobs={n_jobs}, random_state=0)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    ended = time.monotonic()
    splits = np.array([model.cv_results_[f"split{{i}}_test_score"] for i in range(3)])
    n_scored = (~np.isnan(splits)).any(axis=1).sum()
    print("interrupted", len(begun), n_scored, ended - sent[0], model.score(X, y) > 0.8)
    print(threading.active_count())
"""


@as_posix
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_a_search_that_refines(n_jobs):
    """Two descents per fold: a fold that is cut off is not counted, and its thread ends."""
    n_descents = 5
    code = LISTEN + SEARCH.format(n_descents=n_descents, n_jobs=n_jobs)
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert answer.returncode == 0, answer.stderr
    word, n_begun, n_counted, seconds, is_good, n_threads = answer.stdout.split()
    assert word == "interrupted"
    # The threads have begun one descent each, and the last fit refines, too.
    assert n_descents <= int(n_begun) <= n_descents + n_jobs
    assert int(n_counted) == 2
    assert is_good == "True"
    assert int(n_threads) == 1
    # The last fit has half a second. Idle machines take 0.6 s, busy ones more.
    assert float(seconds) < 2


FIT = """
import os, signal, threading
from sklearn.datasets import make_moons
from skauc import SparseKernelAUC

from skauc.sparse.pursuit import Pursuit

X, y = make_moons(3000, noise=0.3, random_state=0)
model, add, sizes = SparseKernelAUC(2000, refine=False, random_state=0), Pursuit.add, []

def add_and_interrupt(self, iterate, n_most):
    sizes.append(len(self.basis))
    if len(sizes) == 3:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    return add(self, iterate, n_most)

Pursuit.add = add_and_interrupt
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", model.n_basis_, model.score(X, y) > 0.8)
"""


@as_posix
def test_an_interrupt_ends_a_fit_with_the_model_so_far():
    answer = subprocess.run(
        [sys.executable, "-c", LISTEN + FIT], capture_output=True, text=True, timeout=120
    )
    assert answer.returncode == 0, answer.stderr
    word, size, is_good = answer.stdout.split()
    assert word == "interrupted"
    assert 1 <= int(size) < 2000
    assert is_good == "True"


MODELS = [
    SparseKernelAUC(8, random_state=0),
    SparseKernelAUCCV(n_basis=8, effort="quick", n_jobs=1, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_left", [0, 1, 2, None])
def test_a_callback_that_interrupts_keeps_the_new_model(model, n_left):
    """It interrupts one of the last tasks, or the first one, and all that follow."""
    X, y = make_moons(200, noise=0.3, random_state=0)
    counter = Interrupter(np.inf)
    model.set_callbacks(counter).fit(X[:100], y[:100])
    before = model.decision_function(X)
    model.set_callbacks(Interrupter(1 if n_left is None else counter.n_reports - n_left))
    with pytest.raises(KeyboardInterrupt, match="The estimator keeps the model it had reached"):
        model.fit(X[:100] + 1.0, y[:100])
    assert model.score(X + 1.0, y) > 0.8
    assert not np.array_equal(model.decision_function(X), before)
    assert not hasattr(model, "search_progress_")
