"""A cluster that encrypts its traffic, as the guide sets it up."""

import shutil
import subprocess

import numpy as np
import pytest

from skauc import SparseKernelAUC

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture
def security(tmp_path):
    """A certificate for the scheduler, the workers and the client."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=skauc"]
    files = ["-keyout", key, "-out", cert]
    subprocess.run(["openssl", *request, *files], check=True, capture_output=True)
    parts = ("scheduler", "worker", "client")
    files = {f"tls_{part}_cert": str(cert) for part in parts}
    files |= {f"tls_{part}_key": str(key) for part in parts}
    return distributed.Security(tls_ca_file=str(cert), require_encryption=True, **files)


def test_a_fit_through_tls(security):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + X[:, 1] ** 2 > 1.5
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False}
    with (
        distributed.LocalCluster(
            **options, protocol="tls://", security=security, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, security=security),
    ):
        assert cluster.scheduler_address.startswith("tls://")
        model = SparseKernelAUC(4, random_state=0)
        model.fit(da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100))
        assert model.score(X, y) > 0.9
        with pytest.raises(TypeError, match="TLS"):
            distributed.Client(cluster.scheduler_address, timeout=2)
