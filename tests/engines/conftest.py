"""Every engine in each of its modes, and a real cluster of processes for one of them."""

import os
from contextlib import ExitStack

import pytest
from engine_cases import ClusterCase, EngineCase, GPUCase

from skauc.engines import SizePolicy, size_policy


@pytest.fixture(scope="session")
def cluster():
    """Two workers of one thread, each in its own process."""
    distributed = pytest.importorskip("distributed", reason='needs pip install "skauc[cluster]"')
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client of the cluster, which is the current one during the test."""
    from distributed import Client

    with Client(cluster) as client:
        yield client


@pytest.fixture
def device(monkeypatch):
    """The device of the GPU engine: that of the environment, or torch's CPU device."""
    pytest.importorskip("torch", reason='needs pip install "skauc[gpu]"')
    monkeypatch.setenv("SKAUC_GPU_DEVICE", os.environ.get("SKAUC_GPU_DEVICE", "cpu"))
    return os.environ["SKAUC_GPU_DEVICE"]


@pytest.fixture(params=["cpu-exact", "cpu-large", "gpu-exact", "gpu-large", "cluster"])
def engine_case(request):
    """Force the mode that the number of rows would choose.

    A cluster whose workers compute on devices is compared with the CPU engine in test_cluster.py.
    """
    exact = request.param.endswith("exact")
    with ExitStack() as stack:
        stack.enter_context(size_policy(SizePolicy(exact_rows=10**9 if exact else 0)))
        case = exact, 1e-10 if exact else 2e-5, stack
        if request.param == "cluster":
            yield ClusterCase(*case, request.getfixturevalue("client"))
        elif request.param.startswith("gpu"):
            yield GPUCase(*case, request.getfixturevalue("device"))
        else:
            yield EngineCase(*case)
