"""The comparison behind ``skauc demo``: rare digits, ranked by two models."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from skauc.metrics import AUCInterval, auc_interval
from skauc.sparse import SparseKernelAUC
from skauc.unwrapping import ranking_scores

N_DIGITS = 10


@dataclass(frozen=True)
class Fit:
    """One fitted model: its test AUC, size and time."""

    auc: AUCInterval
    n_parts: int
    n_numbers: int
    n_bytes: int
    seconds: float


@dataclass(frozen=True)
class Contestant:
    """The ten fits of one kind of model.

    Attributes
    ----------
    name : str
        The class of the model.
    fits : tuple of Fit
        One fit per digit.
    """

    name: str
    fits: tuple[Fit, ...]

    @property
    def aucs(self) -> list[AUCInterval]:
        """The AUC for each digit."""
        return [fit.auc for fit in self.fits]

    @property
    def mean_auc(self) -> float:
        """The mean AUC over the digits."""
        return float(np.mean([fit.auc.auc for fit in self.fits]))

    @property
    def n_parts(self) -> float:
        """The mean number of centres or trees."""
        return float(np.mean([fit.n_parts for fit in self.fits]))

    @property
    def n_numbers(self) -> float:
        """The mean number of numbers in a model."""
        return float(np.mean([fit.n_numbers for fit in self.fits]))

    @property
    def n_bytes(self) -> float:
        """The mean size of a pickled model."""
        return float(np.mean([fit.n_bytes for fit in self.fits]))

    @property
    def seconds(self) -> float:
        """The mean time of a fit."""
        return float(np.mean([fit.seconds for fit in self.fits]))


@dataclass(frozen=True)
class DemoResult:
    """What was measured, and on what."""

    n_basis: int
    n_train: int
    n_positive: int
    n_test: int
    seconds: float
    contestants: tuple[Contestant, Contestant]

    @property
    def wins(self) -> tuple[int, int]:
        """For how many digits each of the two has the higher AUC."""
        first, second = ([a.auc for a in each.aucs] for each in self.contestants)
        pairs = list(zip(first, second, strict=True))
        return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)

    def as_dict(self) -> dict:
        """Return all of it for JSON."""
        models = {
            each.name: {"mean_auc": each.mean_auc, "fits": [asdict(fit) for fit in each.fits]}
            for each in self.contestants
        }
        rows = {"train": self.n_train, "positive": self.n_positive, "test": self.n_test}
        return {"rows": rows, "seconds": self.seconds, "models": models}


def run_demo(n_basis: int, n_positive: int, seed: int, tick: Callable) -> DemoResult:
    """Fit both models to each digit as the rare class.

    Half of the images are test images. Of the training images of the rare digit, only
    ``n_positive`` are kept. The test images keep all of theirs, so that the intervals are narrow:
    the AUC does not depend on how rare a class is. Both models use one core.

    Parameters
    ----------
    n_basis : int
        Number of centres.
    n_positive : int
        Positive training images.
    seed : int
        Random seed.
    tick : callable
        Called as ``tick(model, n_done, n_tasks)`` after each fit.

    Returns
    -------
    result : DemoResult
        The measures.
    """
    started = time.perf_counter()
    X, labels = load_digits(return_X_y=True)
    X, X_test, labels, labels_test = train_test_split(
        X, labels, test_size=0.5, stratify=labels, random_state=seed
    )
    makers = (
        lambda: SparseKernelAUC(n_basis, n_jobs=1, random_state=seed),
        lambda: HistGradientBoostingClassifier(random_state=seed),
    )
    makers[0]().fit(X[:200], labels[:200] == 0)  # compiles, once per machine
    fits: tuple[list[Fit], list[Fit]] = ([], [])
    for digit in range(N_DIGITS):
        positives = np.flatnonzero(labels == digit)[:n_positive]
        rows = np.sort(np.append(np.flatnonzero(labels != digit), positives))
        for make, own in zip(makers, fits, strict=True):
            model = make()
            own.append(_fit(model, X[rows], labels[rows] == digit, X_test, labels_test == digit))
            tick(model, len(fits[0]) + len(fits[1]), 2 * N_DIGITS)
    names = [type(make()).__name__ for make in makers]
    return DemoResult(
        n_basis=n_basis,
        n_train=len(rows),
        n_positive=len(positives),
        n_test=len(labels_test),
        seconds=time.perf_counter() - started,
        contestants=(Contestant(names[0], tuple(fits[0])), Contestant(names[1], tuple(fits[1]))),
    )


def _fit(model, X, y, X_test, y_test) -> Fit:
    started = time.perf_counter()
    with threadpool_limits(1):
        model.fit(X, y)
    seconds = time.perf_counter() - started
    n_parts, n_numbers = _size(model)
    return Fit(
        auc=auc_interval(y_test, ranking_scores(model, X_test)),
        n_parts=n_parts,
        n_numbers=n_numbers,
        n_bytes=len(pickle.dumps(_scoring_part(model))),
        seconds=seconds,
    )


def _size(model) -> tuple[int, int]:
    """Return the number of centres or trees, and the numbers that a score needs."""
    if isinstance(model, SparseKernelAUC):
        return model.n_basis_, model._model.n_numbers
    trees = [tree for group in model._predictors for tree in group]
    # A split has a feature, a threshold, two children and a rule for gaps; a leaf has a value.
    numbers = (np.where(tree.nodes["is_leaf"], 1, 5).sum() for tree in trees)
    return len(trees), int(sum(numbers))


def _scoring_part(model):
    """Return what is kept to score rows: all of a tree model, the last model of a path."""
    return model._model if isinstance(model, SparseKernelAUC) else model
