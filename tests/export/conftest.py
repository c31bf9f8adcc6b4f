"""Models of real tables with categories and missing values, fitted once."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messy import make_messy
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor
from skauc.unwrapping import unwrap

BESIDE_REPOSITORY = Path(__file__).resolve().parents[3] / "shared" / "data"
N_TRAINING, N_ROWS, N_BASIS = 1000, 10_000, 8


def _fit(frame, y, **parameters):
    model = SparseKernelAUC(N_BASIS, random_state=0, **parameters)
    return make_pipeline(TablePreprocessor(), model).fit(frame, y)


def _weather(frame, y):
    """Refined, calibrated, with a threshold, as `skauc fit` makes models."""
    model = FrozenEstimator(_fit(frame, y, refine=5))
    model = CalibratedClassifierCV(model).fit(frame, y)
    fixed = FixedThresholdClassifier(FrozenEstimator(model), threshold=0.3)
    return fixed.fit(frame, y)


def _covid(frame, y):
    """Ranks, a linear term and an isotonic calibration."""
    model = FrozenEstimator(_fit(frame, y, scaling="rank", linear_term=True))
    return CalibratedClassifierCV(model, method="isotonic").fit(frame, y)


def _adult(frame, y):
    """Several widths and no probabilities."""
    return _fit(frame, y, gamma=[0.01, 0.1])


def _messy(frame, y):
    """Dates, text and truth values, along principal axes."""
    return _fit(frame, y, rotate=True, linear_term=True)


MODELS = {"weather_aus": _weather, "covid_testing": _covid, "adult": _adult}


@dataclass(frozen=True, eq=False)
class Case:
    """A model, rows that it was not fitted to, and what it says about them."""

    model: object
    frame: pd.DataFrame

    @cached_property
    def values(self):
        """The rows as the exported code takes them."""
        return unwrap(self.model).steps[0].column_values(self.frame)

    @cached_property
    def columns(self):
        return dict(unwrap(self.model).steps[0].columns_)

    @cached_property
    def scores(self):
        opened = unwrap(self.model)
        return opened.classifier.decision_function(opened.transform(self.frame))

    @cached_property
    def probabilities(self):
        """The scores for a model without probabilities."""
        if not hasattr(self.model, "predict_proba"):
            return self.scores
        return self.model.predict_proba(self.frame)[:, 1]

    @cached_property
    def labels(self):
        return self.model.predict(self.frame)

    def probabilities_of(self, scores):
        """What the calibration makes of scores, the scores themselves if there is none."""
        calibrator = unwrap(self.model).calibrator
        return scores if calibrator is None else calibrator.predict(scores)


def _weeks():
    """Four days of the week, before and after April 2009; scores depend on their order."""
    rng = np.random.default_rng(0)
    days = 7 * rng.integers(0, 300, 400) + rng.choice([0, 1, 2, 4], 400, p=[0.15, 0.15, 0.4, 0.3])
    days = pd.Timestamp("2007-01-01") + pd.to_timedelta(days, unit="D")
    frame = pd.DataFrame({"day": days, "a": rng.normal(size=400)})
    y = frame["a"] + (days.day_of_week == 2) + rng.normal(size=400) > 2
    return Case(_fit(frame[:200], y[:200], scaling="normal"), frame[200:])


@pytest.fixture(scope="session", params=["messy", "weeks", *MODELS])
def case(request):
    """A model of a made table, or of a real one if the data are there."""
    if request.param == "weeks":
        return _weeks()
    if request.param == "messy":
        frame, y = make_messy(300)
        other = make_messy(300, seed=1)[0].drop(columns=["id", "constant", "nothing"])
        other.loc[::3, "name"] = "MR.SMITH, \u0130 mrs; ΜΡΣ jones_x 'Mrs'"
        return Case(_messy(frame, y), other)
    folder = Path(os.environ.get("SKAUC_DATA", BESIDE_REPOSITORY)).parent / "dev"
    path = folder / f"{request.param}.parquet"
    if not path.exists():
        pytest.skip(f"no data: {path} does not exist")
    frame = pd.read_parquet(path)
    order = np.random.default_rng(0).permutation(len(frame))[: N_TRAINING + N_ROWS]
    frame = frame.iloc[order].reset_index(drop=True)
    y = frame.pop("target")
    model = MODELS[request.param](frame[:N_TRAINING], y[:N_TRAINING])
    return Case(model, frame[N_TRAINING:])
