"""Blocks of the cluster engine on devices of the workers: torch's CPU device without a GPU."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification

from skauc import Selection, SparseKernelAUC
from skauc.exceptions import InvalidParameterError

da = pytest.importorskip("dask.array", reason='needs pip install "skauc[cluster]"')


@pytest.fixture
def name_device(client):
    """Set the environment variable of workers, or take it away."""

    def name(device, workers=None):
        def change():
            os.environ.pop("SKAUC_GPU_DEVICE", None)
            os.environ.update({} if device is None else {"SKAUC_GPU_DEVICE": device})

        client.run(change, workers=workers)

    yield name
    name(None)


@pytest.fixture
def workers(client, device, name_device):
    """The names of the workers, which have a device during the test."""
    name_device(device)
    return list(client.scheduler_info()["workers"])


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(14_000, 8, weights=[0.8], flip_y=0.05, random_state=0)
    return X[:12_000], y[:12_000], X[12_000:], y[12_000:]


def as_dask(X, y):
    return da.from_array(X, chunks=(5000, -1)), da.from_array(y, chunks=5000)


@pytest.mark.parametrize(
    "parameters",
    [
        {"gamma": [0.02, 0.1], "refine": False, "selection": Selection(n_rows=None)},
        {"refine": 6, "early_stopping": True},
    ],
    ids=str,
)
def test_a_fit_is_that_of_the_cpu_engine(workers, rows, parameters):
    X, y, X_test, y_test = rows
    model = SparseKernelAUC(4, random_state=0, **parameters)
    expected = clone(model).fit(X, y)
    model.fit(*as_dask(X, y))
    assert_array_equal(model.basis_indices_, expected.basis_indices_)
    assert_allclose(model.path_[-1].objective, expected.path_[-1].objective, rtol=1e-6)
    assert_allclose(model.score(X_test, y_test), expected.score(X_test, y_test), atol=1e-4)


def test_the_blocks_are_on_the_device(workers, rows, device):
    from skauc.engines import make_engine, read_training

    X, y, *_ = rows
    data = read_training("cluster", SparseKernelAUC(), *as_dask(X, y))
    assert data.pool.device.startswith(device)
    with make_engine(data, capacity=1, n_jobs=None) as engine:
        kind = engine.pool.client.submit(
            lambda scores: type(scores.values).__name__, engine.at(np.empty(0)).scores[0]
        )
        assert kind.result() == "Tensor"


def test_workers_with_and_without_a_device_are_named(workers, name_device, rows):
    name_device(None, workers[:1])
    message = rf"the same device on all workers; got: .*{workers[0]} has None.* Restart the workers"
    with pytest.raises(InvalidParameterError, match=message):
        SparseKernelAUC(2).fit(*as_dask(*rows[:2]))


def test_a_device_that_workers_do_not_have_is_named(workers, name_device, rows):
    name_device("abacus")
    with pytest.raises(InvalidParameterError, match="SKAUC_GPU_DEVICE must name a torch device"):
        SparseKernelAUC(2).fit(*as_dask(*rows[:2]))
