"""The methods that are compared, behind one small interface.

A method gives, for one training part, the AUC of the test part at many settings at once, so that
what settings share is computed once: kernel columns and the pursuit by all C, the walk by all
sizes, the kernel matrix by all C, boosting rounds by all numbers of trees.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from typing import Protocol as Interface

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from skauc.estimators import SparseKernelAUC
from skauc.estimators._tuning import Job, Setting, score_job
from skauc.experiments.protocol import Part, Protocol, gamma_of, to_scale_free
from skauc.kernels import RBF, Kernel
from skauc.metrics import auc
from skauc.online import OILK, AdaOAM
from skauc.path import retraining_sizes
from skauc.validation import check_training

# Retrainings without a change of the validation AUC after which a pursuit ends.
_PATIENCE = 5
_CHANGE = 1e-4
_GRAM_MEGABYTES = 4000


@dataclass(frozen=True)
class Stage:
    """A model on the way of one fit: its number (size, trees), AUC, and basis functions."""

    number: int
    auc: float
    n_basis: int | None


@dataclass(frozen=True)
class Outcome:
    """The stages of one setting on one part; ``parameters`` hold numbers and words alone."""

    parameters: dict
    stages: tuple[Stage, ...]


class Method(Interface):
    """What the runner asks of a method."""

    package: str | None

    def grid(self) -> dict:
        """Return what the method tries, for the record."""

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Learn from the training rows at every setting; yield the AUCs of the test rows."""


@dataclass(frozen=True)
class Pursuit:
    """Sparse Kernel AUC: one pursuit a sigma, at the middle C; all C solved on its columns."""

    protocol: Protocol
    selection: str
    most_basis: int
    package: str | None = None

    def grid(self) -> dict:
        """Return the paper's grid."""
        return {
            "C_pair": list(self.protocol.C_pairs),
            "sigma": list(self.protocol.sigmas),
            "selection": self.selection,
            "most_basis": self.most_basis,
        }

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Pursue once a sigma."""
        part = part.scaled(StandardScaler())
        for sigma in self.protocol.sigmas:
            yield from self._with_sigma(part, sigma, seed)

    def _with_sigma(self, part: Part, sigma: float, seed: int) -> Iterator[Outcome]:
        n_train, n_test = len(part.y_train), len(part.y_test)
        n_basis = max(min(n_train // 2, self.most_basis), 1)
        C_pair_of = {
            to_scale_free(C_pair, part.y_train): C_pair for C_pair in self.protocol.C_pairs
        }
        base = SparseKernelAUC(
            selection=self.selection,
            early_stopping=True,
            n_iter_no_change=_PATIENCE,
            tol=_CHANGE,
            random_state=seed,
        )
        X = np.vstack((part.X_train, part.X_test))
        data = check_training(base, X, np.concatenate((part.y_train, part.y_test)))
        rows = np.arange(n_train + n_test)
        setting = Setting(None, gamma_of(sigma), False, False, 1.0, n_basis)
        sizes = sorted(retraining_sizes("geometric", n_basis))
        # Every second of them is judged, the last included: a step of about the root of two.
        job = Job(setting, 0, tuple(C_pair_of), base.n_candidates, sizes, sizes[::-2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, scores = score_job(base, data, (rows[:n_train], rows[n_train:]), job)
        stages: dict[float, list[Stage]] = {C: [] for C in C_pair_of}
        for found, score in scores.items():
            stages[found.C].append(Stage(found.n_basis, score, found.n_basis))
        for C, C_pair in C_pair_of.items():
            yield Outcome({"C_pair": C_pair, "sigma": sigma}, tuple(stages[C]))


@dataclass(frozen=True)
class Refined:
    """Sparse Kernel AUC with centres and length scales that move; sizes of one fit are stages."""

    Cs: tuple[float, ...]
    n_basis: int
    package: str | None = None

    def grid(self) -> dict:
        """Return C, free of the number of rows, and the largest size; gamma is learnt."""
        return {"C": list(self.Cs), "n_basis": self.n_basis}

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit once a C."""
        part = part.scaled(StandardScaler())
        for C in self.Cs:
            n_basis = max(min(len(part.y_train) // 2, self.n_basis), 1)
            model = SparseKernelAUC(n_basis, C=C, refine=True, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(part.X_train, part.y_train)
            stages = tuple(
                Stage(r.n_basis, auc(part.y_test, r.model.scores(part.X_test)), r.n_basis)
                for r in model.path_
                if r.is_refined
            )
            yield Outcome({"C": C}, stages)


@dataclass(frozen=True)
class RankSVM:
    """Kernel RankSVM over all rows: one kernel matrix a sigma."""

    protocol: Protocol
    package: str | None = None

    def grid(self) -> dict:
        """Return the paper's grid."""
        return {"C_pair": list(self.protocol.C_pairs), "sigma": list(self.protocol.sigmas)}

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit every C over each kernel matrix."""
        part = part.scaled(StandardScaler())
        for sigma in self.protocol.sigmas:
            found = rank_svm_results(part, RBF(gamma_of(sigma)), self.protocol.C_pairs)
            for C_pair, solved in found.items():
                stage = Stage(0, solved.auc, solved.n_support)
                yield Outcome({"C_pair": C_pair, "sigma": sigma}, (stage,))


@dataclass(frozen=True)
class RankSVMResult:
    """The AUC of one C on the test rows, and the size of the model before and after polishing."""

    auc: float
    n_unpolished: int
    n_support: int


def rank_svm_results(part: Part, kernel: Kernel, C_pairs) -> dict[float, RankSVMResult]:
    """Fit every weight of a pair over one kernel matrix, as `KernelRankSVM.fit` does."""
    from skauc.engines.gram import GramMatrix  # these load numba
    from skauc.preferences import Preferences
    from skauc.ranking import RankingProblem, solve

    grades = part.y_train.astype(np.int64)
    preferences = Preferences(np.array([0, len(grades)]), grades, np.ones(len(grades)))
    columns = kernel.columns(part.X_train, np.float64)(part.X_test)
    found = {}
    with GramMatrix(kernel, part.X_train, cache_size=_GRAM_MEGABYTES) as gram:
        for C_pair in C_pairs:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                solution = solve(RankingProblem(gram, preferences, C_pair), tol=1e-3, max_iter=100)
            found[C_pair] = RankSVMResult(
                auc(part.y_test, columns @ solution.place.coef),
                int(np.count_nonzero(solution.unpolished.coef)),
                int(np.count_nonzero(solution.place.coef)),
            )
    return found


@dataclass(frozen=True, eq=False)
class Online:
    """An online learner, one pass over the training rows in random order."""

    learner: object
    values: dict
    scaler: object
    package: str | None = None

    def grid(self) -> dict:
        """Return the learner's own grid."""
        return self.values

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Learn once a setting."""
        part = part.scaled(clone(self.scaler))
        for parameters in ParameterGrid(self.values):
            model = clone(self.learner).set_params(random_state=seed, **parameters)
            model.fit(part.X_train, part.y_train)
            n_basis = len(model.dual_coef_) if hasattr(model, "dual_coef_") else None
            score = auc(part.y_test, model.decision_function(part.X_test))
            yield Outcome(parameters, (Stage(0, score, n_basis),))


@dataclass(frozen=True)
class SupportVectors:
    """scikit-learn's SVC: one kernel matrix a sigma; C weighs a row."""

    Cs: tuple[float, ...]
    sigmas: tuple[float, ...]
    package: str | None = None

    def grid(self) -> dict:
        """Return C of a row and the paper's sigma."""
        return {"C": list(self.Cs), "sigma": list(self.sigmas)}

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit every C over each kernel matrix."""
        part = part.scaled(StandardScaler())
        for sigma in self.sigmas:
            inner = rbf_kernel(part.X_train, gamma=gamma_of(sigma))
            across = rbf_kernel(part.X_test, part.X_train, gamma=gamma_of(sigma))
            for C in self.Cs:
                model = SVC(C=C, kernel="precomputed", cache_size=500).fit(inner, part.y_train)
                score = auc(part.y_test, model.decision_function(across))
                stage = Stage(0, score, int(model.n_support_.sum()))
                yield Outcome({"C": C, "sigma": sigma}, (stage,))


@dataclass(frozen=True)
class Boosting:
    """LightGBM: all numbers of trees from one fit."""

    leaves: tuple[int, ...]
    rates: tuple[float, ...]
    trees: tuple[int, ...]
    package: str | None = "lightgbm"

    def grid(self) -> dict:
        """Return the leaves of a tree, the learning rates and the numbers of trees."""
        return {
            "num_leaves": list(self.leaves),
            "learning_rate": list(self.rates),
            "trees": list(self.trees),
        }

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit once a shape of trees."""
        from lightgbm import LGBMClassifier

        for n_leaves, rate in product(self.leaves, self.rates):
            model = LGBMClassifier(
                num_leaves=n_leaves,
                learning_rate=rate,
                n_estimators=max(self.trees),
                n_jobs=1,
                random_state=seed,
                verbose=-1,
            ).fit(part.X_train, part.y_train)

            def stage(n_trees: int, model=model) -> Stage:
                scores = model.booster_.predict(part.X_test, num_iteration=n_trees, raw_score=True)
                return Stage(n_trees, auc(part.y_test, scores), None)

            yield Outcome(
                {"num_leaves": n_leaves, "learning_rate": rate}, tuple(map(stage, self.trees))
            )


OILK_GRID = {
    "C": [0.1, 1.0, 10.0, 30.0],
    "gamma": [4.0**k for k in range(-1, 5)],
    "eta": [0.01, 0.001],
}
ADAOAM_GRID = {
    "eta": [2.0**k for k in range(-8, 3, 2)],
    "lam": [2.0**k for k in range(-10, 0, 4)],
}


def make_methods(protocol: Protocol) -> dict[str, Method]:
    """Return the methods by their names."""
    brief = protocol.is_brief
    every = 2 if brief else 1
    oilk = OILK("reservoir", compensate=False, n_epochs=1)
    return {
        "SparseKernelAUC": Pursuit(protocol, "greedy", protocol.most_basis),
        "SparseKernelAUC-refined": Refined(
            (0.3, 3.0) if brief else (0.1, 1.0, 10.0, 100.0), 16 if brief else 32
        ),
        "KernelRankSVM": RankSVM(protocol),
        "OILK": Online(oilk, {k: v[::every] for k, v in OILK_GRID.items()}, MinMaxScaler()),
        "AdaOAM": Online(AdaOAM(average=False, n_epochs=1), ADAOAM_GRID, StandardScaler()),
        "Nystroem-kmeans": Pursuit(protocol, "kmeans", min(protocol.most_basis, 64)),
        "SVC": SupportVectors(tuple(10.0**k for k in range(-2, 4))[::every], protocol.sigmas),
        "LightGBM": Boosting(
            (7,) if brief else (4, 15, 31), (0.1,) if brief else (0.03, 0.1), (25, 50, 100, 200)
        ),
    }


METHOD_NAMES = tuple(make_methods(Protocol()))


def missing_package(method: Method) -> str | None:
    """Return the name of the package that a method needs and that is not installed."""
    is_missing = method.package is not None and find_spec(method.package) is None
    return method.package if is_missing else None
