"""Parameters of the nine estimators: usual, extreme and impossible."""

from __future__ import annotations

import numpy as np

import skauc

ESTIMATORS = (
    "SparseKernelAUC",
    "KernelRankSVM",
    "StructuralAUC",
    "OAM",
    "AdaOAM",
    "SAdaOAM",
    "OPAUC",
    "OILK",
)
IMPOSSIBLE = (-1, 0, -0.0, np.nan, np.inf, -np.inf, None, "x", "", True, [], (), {}, 10**400, 1j)


def power(rng: np.random.Generator) -> float:
    """Return a positive number: usual, large or small, or at the end of the range."""
    reach = rng.choice([2, 2, 10, 300])
    return float(10.0 ** rng.uniform(-reach, reach))


def integer(rng: np.random.Generator, most: int) -> int:
    """Return a positive integer, as Python or as NumPy has it."""
    number = int(rng.integers(1, most + 1))
    return np.int64(number) if rng.random() < 0.2 else number


def choice(rng: np.random.Generator, *values):
    """Return one of the values."""
    return values[rng.integers(len(values))]


def _kernel(rng: np.random.Generator) -> dict:
    gammas = ("scale", "auto", power(rng), power(rng), np.float32(0.5))
    return {
        "kernel": choice(rng, "rbf", "rbf", "laplacian", "polynomial", "linear"),
        "gamma": choice(rng, *gammas),
        "degree": choice(rng, 1, 2, 3, 9, 100),
        "coef0": choice(rng, 1.0, 0.0, power(rng)) * (-1 if rng.random() < 0.02 else 1),
        "C": power(rng),
        "tol": choice(rng, 1e-3, 1e-4, power(rng)),
        "max_iter": integer(rng, 100),
    }


def _sparse(rng: np.random.Generator) -> dict:
    parameters = {
        **_kernel(rng),
        "n_basis": integer(rng, 10),
        "linear_term": choice(rng, False, True),
        "scaling": choice(rng, None, None, "rank", "normal", "clip", "log"),
        "rotate": choice(rng, False, False, True),
        "selection": _selection(rng),
        "refine": choice(rng, False, False, True, 3),
        "early_stopping": choice(rng, False, False, True),
        "validation_fraction": choice(rng, 0.1, 0.5, 1e-9, 0.999),
        "n_jobs": choice(rng, None, 1, 2),
        "random_state": integer(rng, 1000),
    }
    if rng.random() < 0.2:
        parameters["gamma"] = [power(rng) for _ in range(rng.integers(1, 4))]
        parameters["kernel"] = "rbf"
    if parameters["refine"] and rng.random() < 0.9:
        parameters["kernel"] = "rbf"
    return parameters


def _selection(rng: np.random.Generator) -> skauc.Selection:
    parameters = {
        "rule": choice(rng, "orthogonal", "greedy", "exact", "exhaustive", "random", "kmeans"),
        "n_candidates": integer(rng, 60),
        "retrain": choice(rng, "auto", "doubling", "geometric", "always"),
        "solver": choice(rng, "auto", "cholesky", "cg"),
        "max_iter": integer(rng, 100),
    }
    if rng.random() < 0.03:
        parameters[choice(rng, *sorted(parameters))] = choice(rng, *IMPOSSIBLE[:-2])
    return skauc.Selection(**parameters)


def _search(rng: np.random.Generator) -> dict:
    both = skauc.SparseKernelAUCCV().get_params()  # by default both ways are tried
    return {
        "n_basis": integer(rng, 4),
        "Cs": [power(rng) for _ in range(rng.integers(1, 3))],
        "gammas": choice(rng, ["scale"], [power(rng), power(rng)], [[power(rng), 1.0]]),
        "linear_term": choice(rng, False, True, both["linear_term"]),
        "scaling": choice(rng, None, "rank", "normal", "clip", "log", both["scaling"]),
        "refine": choice(rng, False, False, True),
        "rotate": choice(rng, False, True),
        "cv": choice(rng, 2, 3),
        "selection": skauc.Selection(n_candidates=integer(rng, 30), max_iter=integer(rng, 30)),
        "random_state": integer(rng, 1000),
    }


def _online(rng: np.random.Generator) -> dict:
    return {
        "update": choice(rng, "sequential", "gradient"),
        "C": power(rng),
        "eta": choice(rng, 0.01, 0.001, 1 / (1 + power(rng)), power(rng)),
        "lam": choice(rng, 1e-4, power(rng)),
        "delta": choice(rng, 0.5, power(rng)),
        "theta": choice(rng, 0.01, power(rng)),
        "rank": choice(rng, None, 1, 2, 50),
        "gamma": choice(rng, "auto", 1.0, power(rng)),
        "buffer": choice(rng, "reservoir", "fifo"),
        "buffer_size": integer(rng, 40),
        "n_violators": choice(rng, None, 1, 5),
        "average": choice(rng, True, False),
        "compensate": choice(rng, True, False),
        "shuffle": choice(rng, True, False),
        "n_epochs": integer(rng, 4),
        "random_state": integer(rng, 1000),
    }


def usual(name: str):
    """Return an estimator with parameters that suit usual data."""
    parameters = {"n_basis": 6, "selection": skauc.Selection(n_candidates=20), "random_state": 0}
    if name == "SparseKernelAUCCV":
        parameters |= {"Cs": [1.0], "gammas": ["scale"], "cv": 2, "refine": False}
        parameters |= {"scaling": None, "linear_term": False, "rotate": False}
    return _make(name, parameters)


def drawn(name: str, rng: np.random.Generator, *, is_sparse: bool = False):
    """Return an estimator with drawn parameters; sometimes one of them is impossible."""
    makers = {"SparseKernelAUC": _sparse, "SparseKernelAUCCV": _search}
    makers |= dict.fromkeys(("KernelRankSVM", "StructuralAUC"), _kernel)
    parameters = makers.get(name, _online)(rng)
    if is_sparse and rng.random() < 0.9:  # these need dense rows
        parameters |= {"scaling": None, "rotate": False}
    estimator = _make(name, parameters)
    if rng.random() < 0.08:
        # A huge number of epochs is possible, and takes as long as it was asked to take.
        spared = {"n_jobs", "engine", "checkpoint", "n_epochs", "max_iter"}
        names = sorted(set(estimator.get_params()) - spared)
        estimator.set_params(**{choice(rng, *names): choice(rng, *IMPOSSIBLE)})
    return estimator


def _make(name: str, parameters: dict):
    estimator = getattr(skauc, name)()
    known = estimator.get_params()
    return estimator.set_params(**{key: parameters[key] for key in parameters if key in known})
