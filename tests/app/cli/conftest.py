"""Real tables in real files, and one model fitted by the program itself."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from messy import make_messy
from program import run


@dataclass(frozen=True)
class Customers:
    """A messy table, its two halves in files, and a model of the first half."""

    folder: Path
    frame: object

    @property
    def train(self):
        return self.folder / "customers.csv"

    @property
    def test(self):
        return self.folder / "later.csv"

    @property
    def model(self):
        return self.folder / "customers.skauc"


@pytest.fixture(autouse=True)
def no_progress_lines(monkeypatch):
    """Print no lines on progress: how many there are depends on the speed of the machine."""
    monkeypatch.setattr("skauc.app.cli.progress.LINE_SECONDS", 1e6)


@pytest.fixture(scope="session")
def customers(tmp_path_factory):
    """Customers with gaps, categories, dates, text and an id."""
    folder = tmp_path_factory.mktemp("customers")
    frame, positive = make_messy(700)
    frame["churned"] = np.where(positive, "yes", "no")
    table = Customers(folder, frame)
    frame[:500].to_csv(table.train, index=False)
    frame[500:].to_csv(table.test, index=False)
    options = ("--effort", "quick", "--n-basis", 8, "--jobs", 1, "-o", table.model)
    answer = run("fit", table.train, "--target", "churned", *options)
    assert answer.code == 0, answer.err
    return table
