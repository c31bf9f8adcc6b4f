"""Models and rows that reports are made of, fitted once."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC


@dataclass(frozen=True)
class Case:
    """A fitted model with its rows."""

    model: object
    X_train: object
    X_test: object
    y_train: np.ndarray
    y_test: np.ndarray

    @property
    def test(self):
        return self.model, self.X_test, self.y_test

    @property
    def train(self):
        return {"X_train": self.X_train, "y_train": self.y_train}


def fit_case(model, X, y):
    rows = train_test_split(X, y, stratify=y, random_state=0)
    return Case(model.fit(rows[0], rows[2]), *rows)


@pytest.fixture(scope="session")
def tumours():
    """Tumours from measurements of their cells, in a frame; malignant is positive."""
    data = load_breast_cancer(as_frame=True)
    y = np.where(data.target == 0, "malignant", "benign")
    model = make_pipeline(StandardScaler(), SparseKernelAUC(12, refine=False, random_state=0))
    return fit_case(model, data.data, y)


@pytest.fixture(scope="session")
def orders():
    """Orders with numbers, words, dates and missing values."""
    rng = np.random.default_rng(0)
    n_rows = 600
    y = rng.random(n_rows) < 0.25
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), unit="D")
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(3 + y, 1),
            "country": rng.choice(["NL", "FR", "DE"], n_rows),
            "placed": days,
            "is_new": rng.random(n_rows) < 0.5,
        }
    )
    return X, y
