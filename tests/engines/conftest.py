"""A real cluster of processes for all tests of the cluster engine."""

import pytest


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
