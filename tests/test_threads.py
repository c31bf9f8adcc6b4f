"""Threads over blocks of rows: the order of results, the BLAS limit, and errors."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from skewed_rows import training
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_info, threadpool_limits

from skauc import SparseKernelAUC
from skauc.exceptions import InvalidDataError
from skauc.feature_map import scale
from skauc.scalings import SCALINGS
from skauc.threads import RowThreads


def blas_threads():
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 4, -1])
@pytest.mark.parametrize("block_rows", [1, 3, 10, 100])
def test_blocks_cover_the_rows_once_and_come_back_in_order(n_jobs, block_rows):
    with RowThreads(n_jobs) as threads:
        blocks = list(threads.map(lambda start, stop: range(start, stop), 10, block_rows))
    assert [row for block in blocks for row in block] == list(range(10))
    assert {len(block) for block in blocks[:-1]} <= {block_rows}


def test_results_come_in_order_though_tasks_end_out_of_order():
    first_may_end = threading.Event()

    def task(start, stop):
        if start == 0:
            assert first_may_end.wait(timeout=10)
        else:
            first_may_end.set()
        return start

    with RowThreads(2) as threads:
        assert list(threads.map(task, 2, 1)) == [0, 1]


def test_one_job_runs_in_the_callers_thread():
    with RowThreads(1) as threads:
        idents = set(threads.map(lambda start, stop: threading.get_ident(), 10, 1))
    assert idents == {threading.get_ident()}


def test_blas_is_held_to_one_thread_inside_and_let_go_after():
    with threadpool_limits(2, user_api="blas"):
        with RowThreads(2):
            assert blas_threads() == {1}
        assert blas_threads() == {2}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_task_reaches_the_caller(n_jobs):
    def task(start, stop):
        if start == 5:
            raise ZeroDivisionError("in a task")

    def use():
        with RowThreads(n_jobs) as threads:
            list(threads.map(task, 10, 1))

    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ZeroDivisionError, match="in a task"):
            use()
        assert blas_threads() == {2}


def test_a_task_may_map_in_its_turn():
    with RowThreads(2) as threads:

        def task(start, stop):
            return sum(threads.map(lambda first, last: last - first, stop - start, 1))

        assert sum(threads.map(task, 100, 10)) == 100


def test_threads_can_be_taken_again():
    threads = RowThreads(2)
    for _ in range(2):
        with threads:
            assert sum(threads.map(lambda start, stop: stop - start, 10, 3)) == 10


# Fits that overlap


def test_blas_stays_held_until_the_last_of_overlapping_users_is_done():
    with threadpool_limits(2, user_api="blas"):
        first, second = RowThreads(1), RowThreads(1)
        first.__enter__()
        entered, may_leave = threading.Event(), threading.Event()

        def overlap():
            with second:
                entered.set()
                may_leave.wait(timeout=10)

        other = threading.Thread(target=overlap)
        other.start()
        assert entered.wait(timeout=10)
        first.__exit__()
        assert blas_threads() == {1}
        may_leave.set()
        other.join()
        assert blas_threads() == {2}


def test_fits_and_predictions_in_threads_are_those_of_one_thread():
    X, y = make_classification(11_000, 6, class_sep=0.5, random_state=0)

    def scores(seed):
        model = SparseKernelAUC(6, n_jobs=2, random_state=seed).fit(X, y)
        return model.decision_function(X)

    with threadpool_limits(2, user_api="blas"):
        expected = [scores(seed) for seed in range(4)]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(scores, range(4)))
        assert blas_threads() == {2}
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


FORK_WHILE_FITTING = """
import os, signal, sys, threading
import numpy as np
from skauc import SparseKernelAUC

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 5))
y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=1500) > 0
fit = lambda: SparseKernelAUC(3, refine=2, random_state=0).fit(X, y)
expected = fit().decision_function(X)
is_done = threading.Event()

def keep_fitting():
    while not is_done.is_set():
        fit()

def fit_in_a_child():
    signal.alarm(60)
    return np.array_equal(fit().decision_function(X), expected)

threads = [threading.Thread(target=keep_fitting, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
failed = 0
# A child that ends at once costs little, and each fork is a chance to wait for ever.
for task in [lambda: True] * 120 + [fit_in_a_child] * 4:
    child = os.fork()
    if not child:
        os._exit(0 if task() else 1)
    failed += os.waitpid(child, 0)[1] != 0
is_done.set()
for thread in threads:
    thread.join()
sys.exit(failed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_process_forked_while_threads_fit_can_fit_too():
    words = [sys.executable, "-W", "ignore", "-c", FORK_WHILE_FITTING]
    assert subprocess.run(words, timeout=300, check=False).returncode == 0


def test_a_fit_that_fails_before_its_first_centre_lets_blas_go():
    X = np.random.default_rng(0).standard_normal((60, 2)) * 1e200
    model = SparseKernelAUC(4, selection="kmeans", gamma=1.0, refine=False, linear_term=False)
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(InvalidDataError):
            model.fit(X, np.arange(60) % 2)
        assert blas_threads() == {2}
        with RowThreads(2):
            assert blas_threads() == {1}


@pytest.mark.parametrize("word", [word for word in SCALINGS if word])
def test_maps_of_features_do_not_depend_on_threads(word):
    """There are several blocks of rows and of features."""
    X = np.random.default_rng(0).gamma(0.5, size=(40_000, 30))
    rows = training(X, X[:, 0] > X[:, 1])
    (one, alone), (several, shared) = (scale(word, rows, n_jobs) for n_jobs in (1, 3))
    for name, part in one.by_feature.parts.items():
        assert_array_equal(part, several.by_feature.parts[name])
    assert_array_equal(alone.X, shared.X)
    assert_array_equal(alone.X, one.transform(X))
