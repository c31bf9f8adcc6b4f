"""Workers and schedulers that die during a fit: real processes, killed with SIGKILL."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification

from skauc import Selection, SparseKernelAUC
from skauc.exceptions import ClusterLostError

distributed = pytest.importorskip("distributed", reason='needs pip install "skauc[cluster]"')
da = pytest.importorskip("dask.array", reason='needs pip install "skauc[cluster]"')

MODEL = SparseKernelAUC(6, refine=False, selection=Selection("greedy", n_rows=None), random_state=0)


@pytest.fixture(scope="module")
def rows():
    return make_classification(12_000, 6, weights=[0.8], flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def expected(rows):
    return clone(MODEL).fit(*rows)


def as_dask(rows):
    X, y = rows
    return da.from_array(X, chunks=(3000, -1)), da.from_array(y, chunks=3000)


def assert_same(model, expected):
    assert_array_equal(model.basis_indices_, expected.basis_indices_)
    assert_allclose(model.path_[-1].objective, expected.path_[-1].objective, rtol=1e-6)
    assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=1e-3, atol=1e-4)


class KillOnce:
    """A callback that kills a worker a moment after some centre was added."""

    def __init__(self, client, n_basis, delay):
        self.client, self.n_basis, self.delay = client, n_basis, delay
        self.killed = None

    def react(self, fitted):
        if fitted.n_basis_ == self.n_basis and self.killed is None:
            self.killed = next(iter(self.client.run(os.getpid).values()))
            threading.Timer(self.delay, os.kill, (self.killed, signal.SIGKILL)).start()
        return False


def test_a_dead_worker_costs_time_and_not_the_fit(rows, expected):
    from listeners import Listener

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        killer = KillOnce(client, n_basis=3, delay=0.1)
        model = clone(MODEL).set_callbacks(Listener(killer.react)).fit(*as_dask(rows))
    assert killer.killed is not None
    assert_same(model, expected)


class Processes:
    """A scheduler and a worker, each a process of its own."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        self.all = []

    def __enter__(self):
        self.file.unlink(missing_ok=True)
        arguments = ["--scheduler-file", str(self.file)]
        self.start("dask_scheduler", *arguments, "--port", "0", "--dashboard-address", ":0")
        self.start("dask_worker", *arguments, "--no-nanny", "--nthreads", "1")
        return self

    def start(self, module, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.all.append(subprocess.Popen(command, **quiet))

    def client(self):
        deadline = time.monotonic() + 60
        while not self.file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        client = distributed.Client(scheduler_file=str(self.file))
        client.wait_for_workers(1, timeout=60)
        return client

    def __exit__(self, *exception):
        for process in self.all:
            process.kill()
            process.wait()


# The client says, in words and warnings of its own, that it lost its scheduler.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_dead_scheduler_leaves_a_file_to_go_on_from(rows, expected, tmp_path):
    from listeners import Listener

    model = clone(MODEL).set_params(checkpoint=tmp_path / "fit.npz")
    with Processes(tmp_path) as processes:
        client = processes.client()

        def react(fitted):
            if fitted.n_basis_ == 4:
                processes.all[0].kill()

        lost = r"(?s)The cluster was lost during the fit .*With `checkpoint`, the fit continues"
        with pytest.raises(ClusterLostError, match=lost), client.as_current():
            clone(model).set_callbacks(Listener(react)).fit(*as_dask(rows))
        with suppress(TimeoutError):
            client.close(timeout=0.1)
    assert model.checkpoint.exists()
    seen = Listener()
    with Processes(tmp_path) as processes, processes.client():
        model.set_callbacks(seen).fit(*as_dask(rows))
    assert len(seen.models) < 6  # not the whole fit again
    assert_same(model, expected)
    assert not model.checkpoint.exists()
