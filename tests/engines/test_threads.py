"""Threads over blocks of rows: the order of results, the BLAS limit, and errors."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from skauc.engines.threads import RowThreads


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
