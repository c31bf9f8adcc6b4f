"""Fixtures: the CPU engine in each of its modes, and the paper's data."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from browsers import NOT_INSTALLED, open_browser, reset
from engine_cases import EngineCase
from hypothesis import settings

from skauc.engines import SizePolicy, size_policy

# A busy machine may take longer than a deadline for any example.
settings.register_profile("skauc", deadline=None)
settings.load_profile("skauc")

BESIDE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def data_folder(monkeypatch):
    """Point SKAUC_DATA at the paper's data and return the folder, or skip."""
    if "SKAUC_DATA" not in os.environ:
        if not BESIDE_REPOSITORY.is_dir():
            pytest.skip(f"no data: SKAUC_DATA is not set and {BESIDE_REPOSITORY} does not exist")
        monkeypatch.setenv("SKAUC_DATA", str(BESIDE_REPOSITORY))
    return Path(os.environ["SKAUC_DATA"])


@pytest.fixture(scope="session")
def installed_browser(tmp_path_factory):
    """A browser for all tests of a process, None if there is none."""
    with open_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(installed_browser):
    """The browser as it was when it was opened."""
    if installed_browser is None:
        pytest.skip(NOT_INSTALLED)
    reset(installed_browser)
    return installed_browser


@pytest.fixture
def use_sizes():
    """A function that makes a size policy the current one until the test ends."""
    with ExitStack() as stack:
        yield lambda **sizes: stack.enter_context(size_policy(SizePolicy(**sizes)))


@pytest.fixture(params=["cpu-exact", "cpu-large"])
def engine_case(request):
    """The CPU engine; force the mode that the number of rows would choose."""
    exact = request.param == "cpu-exact"
    with ExitStack() as stack:
        stack.enter_context(size_policy(SizePolicy(exact_rows=10**9 if exact else 0)))
        yield EngineCase(exact, 1e-10 if exact else 2e-5, stack)
