"""The compared methods, behind one small interface.

A method returns the AUC of many settings for one training part, so that shared work is done once:
all values of C share kernel columns and the pursuit, all sizes share one path, and all numbers of
trees share boosting rounds.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
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

from reproduction.protocol import (
    MANY_ROWS,
    SOME_ROWS,
    Grid,
    Part,
    Protocol,
    gamma_of,
    to_scale_free,
)
from reproduction.pursuits import scores_by_size
from reproduction.rank_svm import rank_svm_results
from skauc.data.training import check_training
from skauc.kernels import RBF
from skauc.metrics import auc
from skauc.online import OILK, AdaOAM
from skauc.sparse import Selection, SparseKernelAUC
from skauc.sparse.folds import RowFold
from skauc.sparse.parameters import Parameters

# With more rows, a float64 kernel matrix is too large for SVC.
_MOST_MATRIX_ROWS = 8_000


# A scaling and whether there is a linear term.
Structure = tuple[str | None, bool]


@dataclass(frozen=True)
class Stage:
    """A model along one fit: its number (size, trees), AUC and number of centres."""

    number: int
    auc: float
    n_basis: int | None


@dataclass(frozen=True)
class Outcome:
    """The stages of one setting on one part; ``parameters`` holds numbers and strings only."""

    parameters: dict
    stages: tuple[Stage, ...]


class Method(Interface):
    """Interface of a method."""

    package: str | None

    def grid(self) -> dict:
        """Return the grid of the method."""

    def slices(self) -> tuple[Method, ...]:
        """Return the method on parts of its grid that share no work."""

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit every setting on the training rows and yield the AUC of the test rows."""


@dataclass(frozen=True)
class Pursuit:
    """Sparse Kernel AUC: a few pursuits per sigma, each at the middle of neighbouring values of C.

    Every ``scored_every``-th retrained size is scored, counted from the last.
    """

    C_pairs: tuple[float, ...]
    sigmas: tuple[float, ...]
    selection: str
    most_basis: int
    n_pursuits: int = 1
    structures: tuple[Structure, ...] = ((None, False),)
    scored_every: int = 2
    package: str | None = None

    def grid(self) -> dict:
        """Return the paper's grid."""
        names = "C_pairs", "sigmas", "selection", "most_basis", "n_pursuits", "structures"
        return _grid_of(self, *names, "scored_every")

    def slices(self) -> tuple[Method, ...]:
        """Return one method per structure and sigma."""
        return tuple(
            replace(self, structures=(structure,), sigmas=(sigma,))
            for structure, sigma in product(self.structures, self.sigmas)
        )

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Run a few pursuits per structure and sigma."""
        part = part.scaled(StandardScaler())
        groups = [group.tolist() for group in np.array_split(self.C_pairs, self.n_pursuits)]
        for structure, sigma, C_pairs in product(self.structures, self.sigmas, groups):
            yield from self._pursue(part, structure, sigma, C_pairs, seed)

    def _pursue(
        self, part: Part, structure: Structure, sigma: float, C_pairs: list, seed: int
    ) -> Iterator[Outcome]:
        n_train, n_test = len(part.y_train), len(part.y_test)
        n_basis = max(min(n_train // 2, self.most_basis), 1)
        C_pair_of = {to_scale_free(C_pair, part.y_train): C_pair for C_pair in C_pairs}
        # No early stopping, because the size is part of the setting: eight retrainings without a
        # better AUC ended a pursuit of ijcnn1 at 16 centres, with 4 as the best.
        X = np.vstack((part.X_train, part.X_test))
        data = check_training(SparseKernelAUC(), X, np.concatenate((part.y_train, part.y_test)))
        rows = np.arange(n_train + n_test)
        scaling, linear_term = structure
        parameters = Parameters(
            n_basis=n_basis,
            gamma=gamma_of(sigma),
            scaling=scaling,
            linear_term=linear_term,
            selection=Selection(self.selection, retrain="geometric", n_rows=None),
        )
        fold = RowFold(rows[:n_train], rows[n_train:])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            scores = scores_by_size(
                parameters, data, fold, tuple(C_pair_of), self.scored_every, seed
            )
        stages: dict[float, list[Stage]] = {C: [] for C in C_pair_of}
        for (size, C), score in scores.items():
            stages[C].append(Stage(size, score, size))
        for C, C_pair in C_pair_of.items():
            chosen = {"C_pair": C_pair, "sigma": sigma, **_words(structure)}
            yield Outcome(chosen, tuple(stages[C]))


def _words(structure: Structure) -> dict:
    """Return the parameters of a structure other than the kernel."""
    named = zip(("scaling", "linear_term"), structure, strict=True)
    return {name: value for name, value in named if value}


@dataclass(frozen=True)
class Refined:
    """Sparse Kernel AUC with refined centres and length scales."""

    Cs: tuple[float, ...]
    sizes: tuple[int, ...]
    structures: tuple[Structure, ...]
    refine: bool | int = True
    package: str | None = None

    def grid(self) -> dict:
        """Return the grid with the scale-free C; gamma is learnt."""
        return _grid_of(self, "Cs", "sizes", "structures", "refine")

    def slices(self) -> tuple[Method, ...]:
        """Return one method per structure."""
        return tuple(replace(self, structures=(structure,)) for structure in self.structures)

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit each size separately, because only the last size of a fit uses all rows."""
        part = part.scaled(StandardScaler())
        for structure, C in product(self.structures, self.Cs):
            parameters = {"C": C, **_words(structure)}
            stages: dict[int, Stage] = {}
            for size in sorted(self.sizes, reverse=True):
                stages |= self._fit(part, size, parameters, seed)
            yield Outcome(parameters, tuple(stages[size] for size in sorted(stages)))

    def _fit(self, part: Part, size: int, parameters: dict, seed: int) -> dict[int, Stage]:
        size = max(min(len(part.y_train) // 2, size), 1)
        settings = {"linear_term": False, "scaling": None, **parameters}
        model = SparseKernelAUC(size, refine=self.refine, random_state=seed, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(part.X_train, part.y_train)
        refined = [record for record in model.path_ if record.is_refined]
        return {
            r.n_basis: Stage(r.n_basis, auc(part.y_test, r.model.scores(part.X_test)), r.n_basis)
            for r in refined
        }


@dataclass(frozen=True)
class RankSVM:
    """Kernel RankSVM on all rows: one kernel matrix per sigma."""

    C_pairs: tuple[float, ...]
    sigmas: tuple[float, ...]
    device: str
    package: str | None = None

    def grid(self) -> dict:
        """Return the paper's grid."""
        return _grid_of(self, "C_pairs", "sigmas")

    def slices(self) -> tuple[Method, ...]:
        """Return one method per sigma."""
        return tuple(replace(self, sigmas=(sigma,)) for sigma in self.sigmas)

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit every C with each kernel matrix."""
        part = part.scaled(StandardScaler())
        for sigma in self.sigmas:
            found = rank_svm_results(part, RBF(gamma_of(sigma)), self.C_pairs, self.device)
            for C_pair, solved in found.items():
                stage = Stage(0, solved.auc, solved.n_support)
                yield Outcome({"C_pair": C_pair, "sigma": sigma}, (stage,))


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

    def slices(self) -> tuple[Method, ...]:
        """Return one method per value of the first parameter."""
        name, *_ = self.values
        return tuple(
            replace(self, values={**self.values, name: [value]}) for value in self.values[name]
        )

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit each setting once."""
        part = part.scaled(clone(self.scaler))
        for parameters in ParameterGrid(self.values):
            model = clone(self.learner).set_params(random_state=seed, **parameters)
            model.fit(part.X_train, part.y_train)
            n_basis = len(model.dual_coef_) if hasattr(model, "dual_coef_") else None
            score = auc(part.y_test, model.decision_function(part.X_test))
            yield Outcome(parameters, (Stage(0, score, n_basis),))


@dataclass(frozen=True)
class SupportVectors:
    """scikit-learn's SVC: one kernel matrix per sigma if it fits; C is the weight of one row."""

    Cs: tuple[float, ...]
    sigmas: tuple[float, ...]
    package: str | None = None

    def grid(self) -> dict:
        """Return the C per row and the paper's sigma."""
        return _grid_of(self, "Cs", "sigmas")

    def slices(self) -> tuple[Method, ...]:
        """Return one method per sigma."""
        return tuple(replace(self, sigmas=(sigma,)) for sigma in self.sigmas)

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit every C with each kernel matrix."""
        part = part.scaled(StandardScaler())
        for sigma in self.sigmas:
            kernel, inner, across = self._rows(part, gamma_of(sigma))
            for C in self.Cs:
                model = SVC(C=C, gamma=gamma_of(sigma), kernel=kernel, cache_size=500)
                score = auc(part.y_test, model.fit(inner, part.y_train).decision_function(across))
                stage = Stage(0, score, int(model.n_support_.sum()))
                yield Outcome({"C": C, "sigma": sigma}, (stage,))

    def _rows(self, part: Part, gamma: float) -> tuple[str, np.ndarray, np.ndarray]:
        """Return SVC's kernel argument and the training and test rows for it."""
        if len(part.X_train) > _MOST_MATRIX_ROWS:
            return "rbf", part.X_train, part.X_test
        inner = rbf_kernel(part.X_train, gamma=gamma)
        return "precomputed", inner, rbf_kernel(part.X_test, part.X_train, gamma=gamma)


@dataclass(frozen=True)
class Boosting:
    """LightGBM: all numbers of trees from one fit."""

    leaves: tuple[int, ...]
    rates: tuple[float, ...]
    trees: tuple[int, ...]
    package: str | None = "lightgbm"

    def grid(self) -> dict:
        """Return the numbers of leaves, learning rates and numbers of trees."""
        return _grid_of(self, "leaves", "rates", "trees")

    def slices(self) -> tuple[Method, ...]:
        """Return one method per number of leaves."""
        return tuple(replace(self, leaves=(leaves,)) for leaves in self.leaves)

    def outcomes(self, part: Part, seed: int) -> Iterator[Outcome]:
        """Fit each tree shape once."""
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


STRUCTURES = ((None, False), (None, True), ("rank", False))
OWN_GRID = Grid(tuple(10.0**k for k in range(-3, 2)), tuple(2.0**k for k in range(-1, 6)))
# A quarter of the largest number of centres that the paper prints, 431.
QUARTER = 107
_TREES = (25, 50, 100, 200)
_STEPS = 40


def make_methods(protocol: Protocol, n_rows: int = 0) -> dict[str, Method]:
    """Return the methods by name, with their grids for the given number of rows."""
    grid = protocol.grid(n_rows, MANY_ROWS)
    # Methods with all rows as centres have quadratic cost.
    dear = protocol.grid(n_rows, SOME_ROWS)
    device = protocol.device if n_rows > SOME_ROWS else "cpu"
    is_many = n_rows > MANY_ROWS
    if protocol.is_brief:
        n_pursuits, every = 1, 2
        best = Grid(protocol.C_pairs[::2], protocol.sigmas[1:4])
        refined = Refined((0.3, 3.0), (16,), STRUCTURES)
        vectors = SupportVectors((0.01, 1.0, 100.0), dear.sigmas)
        trees = Boosting((7,), (0.1,), _TREES)
    else:
        n_pursuits, every = 3, 1
        best = Grid((1e-4, 1e-3, 1e-2, 1e-1), (1.0, 2.0, 4.0)) if is_many else OWN_GRID
        sizes = (16, 32, 64, 96) if SOME_ROWS < n_rows <= MANY_ROWS else (16, 32, 64)
        refined = Refined((1.0, 10.0) if is_many else (0.1, 1.0, 10.0, 100.0), sizes, STRUCTURES)
        vectors = SupportVectors(tuple(10.0**k for k in range(-2, 4)), dear.sigmas)
        if is_many:
            vectors = SupportVectors((1.0, 10.0, 100.0), (1.0, 2.0, 4.0))
        trees = Boosting((4, 15, 31), (0.03, 0.1), _TREES)
    most_basis = min(protocol.most_basis, QUARTER)
    orthogonal = Pursuit(*best, "orthogonal", most_basis, 1, STRUCTURES, 1)
    oilk = OILK("reservoir", compensate=False, n_epochs=1)
    return {
        "SparseKernelAUC": Pursuit(*grid, "greedy", protocol.most_basis, n_pursuits),
        "SparseKernelAUC-orthogonal": orthogonal,
        "SparseKernelAUC-refined": refined,
        "SparseKernelAUC-steps": replace(refined, refine=_STEPS),
        "KernelRankSVM": RankSVM(*dear, device),
        "OILK": Online(oilk, {k: v[::every] for k, v in OILK_GRID.items()}, MinMaxScaler()),
        "AdaOAM": Online(AdaOAM(average=False, n_epochs=1), ADAOAM_GRID, StandardScaler()),
        "Nystroem-kmeans": Pursuit(*grid, "kmeans", min(protocol.most_basis, 64)),
        "SVC": vectors,
        "LightGBM": trees,
    }


def _grid_of(method: Method, *names: str) -> dict:
    """Return the grid in JSON form."""
    values = ((name, getattr(method, name)) for name in names)
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values}


METHOD_NAMES = tuple(make_methods(Protocol()))


def missing_package(method: Method) -> str | None:
    """Return the missing package of a method, or None."""
    is_missing = method.package is not None and find_spec(method.package) is None
    return method.package if is_missing else None
