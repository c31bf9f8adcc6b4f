"""SparseKernelAUCCV: Sparse Kernel AUC that chooses its own parameters."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv
from sklearn.utils import check_random_state

from skauc.background import summarise
from skauc.base import unchanged_on_error, with_callbacks
from skauc.data.sampling import class_counts
from skauc.data.statistics import feature_statistics, warn_if_far_from_zero, warn_if_unscaled
from skauc.data.training import TrainingData
from skauc.engines import ENGINES, make_engine, read_training
from skauc.exceptions import FitInterruptedError, InvalidDataError, InvalidParameterError
from skauc.feature_map import check_scaling, scale
from skauc.kernels import check_gamma, resolve_gammas
from skauc.sparse.budget import affordable
from skauc.sparse.estimator import SparseKernelAUC
from skauc.sparse.folds import Fold, RowFold, hash_folds
from skauc.sparse.path import fit_path
from skauc.sparse.path_classifier import PathClassifier
from skauc.sparse.plan import Parameters, as_selection, make_plan, n_steps
from skauc.sparse.progress import SearchLog
from skauc.sparse.scoring import Setting
from skauc.sparse.search import (
    Scores,
    Search,
    SearchGrid,
    choose,
    expected_jobs,
    run_search,
)
from skauc.sparse.state import Path
from skauc.validation import (
    check_boolean,
    check_choice,
    check_integer,
    check_n_jobs,
    check_positive,
    check_refine,
    check_verbose,
    is_sequence,
)

# Seconds that the fit after an interrupt may take from its first centre on.
LAST_SECONDS = 1.0
# A single set of folds misleads on few rows, so it is repeated.
FEW_ROWS, REPEATS = 200, 2
DEFAULT_CS = (0.1, 0.5, 2.5, 12.5, 62.5)
QUICK_CS = (0.1, 0.5, 5.0)
# Multiples of gamma="scale" that are tried.
DEFAULT_GAMMAS = (1.0, 0.3, 3.0)
EFFORTS = ("quick", "default")
SIZES = ("best", "small")


class SparseKernelAUCCV(PathClassifier):
    """Sparse Kernel AUC with all parameters chosen by cross-validation.

    Every setting is scored by its mean AUC over the folds, or by its mean partial AUC. The best one
    is chosen and fitted to all rows.

    Parameters
    ----------
    Cs : array-like of floats or None, default=None
        Values of C to try; None tries 0.1, 0.5, 2.5, 12.5 and 62.5.
    gammas : sequence or None, default=None
        Values of gamma to try, the first one with every C: numbers, "scale", "auto", or sequences
        of numbers for several widths at once. None tries "scale", and 0.3 and 3 times as much.
    n_basis : int, default=64
        Largest number of centres. Smaller sizes on the path are tried, too.
    linear_term : {"auto"} or bool, default="auto"
        As in `SparseKernelAUC`; "auto" tries True and False.
    scaling : {"auto", None, "rank", "normal"}, default="auto"
        As in `SparseKernelAUC`; "auto" tries "normal" and None for dense rows, None for sparse
        rows.
    rotate : {"auto"} or bool, default="auto"
        As in `SparseKernelAUC`; "auto" tries both for dense rows with up to ``n_basis`` features,
        so that the axes take no more numbers than the centres.
    refine : {"auto"}, bool or int, default="auto"
        As in `SparseKernelAUC`; "auto" is True.
    size : {"best", "small"}, default="best"
        "best" takes the model with the best mean AUC. "small" takes the smallest one that loses no
        more than one standard error and no more than 5% of 1 - AUC.
    effort : {"quick", "default"}, default="default"
        "quick" tries three Cs with the first scaling and width on three folds, and nothing else.
    time_limit : float or None, default=None
        Seconds after which the search ends with the best setting so far. Fits that are running
        then, and the last fit, are finished.
    selection : str or Selection, default="orthogonal"
        As in `SparseKernelAUC`.
    cv : None, int, cross-validation generator or iterable, default=None
        The folds. An integer is the number of stratified folds, shuffled with ``random_state``.
        None is 5 folds, repeated twice below 200 rows, or as many as the rarer class allows.
    tol : float, default=1e-4
        As in `SparseKernelAUC`.
    max_fpr, min_tpr : float or None, default=None
        A part of the ROC curve, as in `SparseKernelAUC`. Settings are then scored by its partial
        AUC (`skauc.metrics.partial_auc`). Both models for the part and models for the whole curve
        are tried, because the latter can be better if the classes overlap much.
    engine : {"auto", "cpu", "gpu", "cluster"}, default="auto"
        As in `SparseKernelAUC`.
    n_jobs : int or None, default=-1
        Number of threads that try settings at the same time, and of the last fit. -1 is all cores.
    random_state : int, RandomState instance or None, default=None
        Random seed of the folds, the candidates and the validation rows.
    verbose : int, default=0
        If positive, print a line per setting and fold that was tried, with the best AUC so far.

    Attributes
    ----------
    best_params_ : dict
        The parameters that were chosen, as `SparseKernelAUC` takes them.
    best_score_ : float
        Their mean cross-validated AUC, corrected for the optimism of having chosen the best
        (Tibshirani and Tibshirani, 2009). ``cv_results_`` has the mean itself.
    best_estimator_ : SparseKernelAUC
        The model fitted with them to all rows. This estimator has its attributes, too
        (``basis_vectors_``, ``dual_coef_``, ``path_`` and so on).
    cv_results_ : dict of ndarrays
        One entry per setting and size: ``param_scaling``, ``param_C``, ``param_gamma``,
        ``param_linear_term``, ``param_refine``, ``param_rotate``, ``param_whole_curve`` (True for
        models without the limits), ``param_n_basis``, ``split0_test_score`` and so on (NaN on folds
        where it was not tried), ``mean_test_score``, ``std_test_score``.
    n_splits_ : int
        Number of folds.

    See Also
    --------
    SparseKernelAUC : One setting.

    Notes
    -----
    The search first tries every C with one structure: normal scores of the features, one width, the
    linear term, and refinement. With the best C it then changes one thing at a time, and at the
    end tries the neighbouring Cs with the best structure. In each of these rounds all settings are
    compared on two folds and the best two on all folds. Folds of more than 80,000 rows are
    sampled.

    The linear term has up to 256 dense columns, also for sparse rows, and refinement moves every
    coordinate of every centre. If one of these would take more than 4 GiB or 5e12 operations
    (about a minute) per fit, the search leaves it out with a `SkippedSettingsWarning`. If nothing
    else was to be tried and the memory does not suffice, it raises an error.

    While it runs, callbacks find the number of fits that are done and planned, what was tried last
    and the best AUC so far in ``search_progress_``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skauc import SparseKernelAUCCV
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SparseKernelAUCCV(n_basis=16, cv=3, effort="quick", random_state=0).fit(X, y)
    >>> bool(model.best_score_ > 0.99)
    True
    """

    def __init__(
        self,
        *,
        Cs=None,
        gammas=None,
        n_basis=64,
        linear_term="auto",
        scaling="auto",
        rotate="auto",
        refine="auto",
        size="best",
        effort="default",
        time_limit=None,
        selection="orthogonal",
        cv=None,
        tol=1e-4,
        max_fpr=None,
        min_tpr=None,
        engine="auto",
        n_jobs=-1,
        random_state=None,
        verbose=0,
    ):
        self.Cs = Cs
        self.gammas = gammas
        self.n_basis = n_basis
        self.linear_term = linear_term
        self.scaling = scaling
        self.rotate = rotate
        self.refine = refine
        self.size = size
        self.effort = effort
        self.time_limit = time_limit
        self.selection = selection
        self.cv = cv
        self.tol = tol
        self.max_fpr = max_fpr
        self.min_tpr = min_tpr
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the parameters and fit to all rows.

        If the search is interrupted from the keyboard, the estimator is fitted with the best
        parameters so far, and the interrupt is raised again. That fit ends a second after its
        first centre with the model it has reached, which may have fewer centres than ``n_basis``
        or fewer steps of refinement. If there are more than 80,000 rows, it uses a sample of
        40,000. If it is interrupted, too, the estimator keeps the model it had reached.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels: two different values of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : SparseKernelAUCCV
            The fitted estimator.
        """
        base = self._base()
        self._check_parameters()
        with unchanged_on_error(self):
            rows = read_training(self.engine, self, X, y, sample_weight)
            seed = _as_seed(self.random_state)
            folds = self._folds(rows, seed)
            grid = self._grid(base, rows)
            self._warn_if_unscaled(grid, rows)
            log = SearchLog(self)
            search = Search(
                base=base,
                rows=rows,
                folds=folds,
                seed=seed,
                # Jobs that share the workers of a cluster would only wait for each other.
                n_jobs=self.n_jobs if isinstance(rows, TrainingData) else 1,
                watch=log.record,
                expect=log.expect,
                deadline=time.monotonic() + (self.time_limit or np.inf),
            )
            report = partial(self._start_reporting, X=X, y=y, sample_weight=sample_weight)
            log.begin(expected_jobs(search, grid), report)
            try:
                chosen, score = choose(run_search(search, grid), self.size)
            except KeyboardInterrupt as interrupt:
                found = log.scores.best_so_far()
                if found is None:
                    raise
                log.hurry(LAST_SECONDS)
                path = self._refit(search, search.few_rows(), *found, log)
                raise FitInterruptedError(path) from interrupt
            self._refit(search, rows, chosen, score, log)
        return self

    def _warn_if_unscaled(self, grid: SearchGrid, rows: TrainingData) -> None:
        """Warn about features of very different spreads, if no other scaling is tried."""
        if {setting.scaling for setting in grid.settings} != {None}:
            return
        mean, variance = feature_statistics(rows)
        spread = np.sqrt(variance)
        warn_if_far_from_zero("rbf", mean, spread, is_sparse=rows.is_sparse)
        if not rows.is_sparse:
            warn_if_unscaled(mean, spread, getattr(self, "feature_names_in_", None))

    def _refit(
        self, search: Search, rows: TrainingData, chosen: Setting, score: float, log: SearchLog
    ) -> Path:
        """Fit the chosen setting; interrupted, keep the model that was reached."""
        self.best_params_, self.best_score_ = chosen.parameters(), score
        self.cv_results_ = _results(log.scores, len(search.folds))
        self.n_splits_ = len(search.folds)
        parameters = replace(search.base, **self.best_params_)
        plan, rows = make_plan(parameters, rows)
        self.classes_, self.feature_spread_ = rows.classes, plan.spread
        self.background_ = summarise(search.rows, getattr(plan.feature_map, "ranks", None))
        try:
            path = fit_path(
                rows,
                plan,
                open_engine=partial(make_engine, n_jobs=self.n_jobs),
                random_state=search.seed,
                watch=log.watch_refit,
                on_step=log.watch_step,
            )
        except FitInterruptedError as interrupt:
            self._keep(interrupt.path, search, log)
            raise
        self._keep(path, search, log)
        return path

    def _keep(self, path: Path, search: Search, log: SearchLog) -> None:
        """Set the attributes of the model, here and in ``best_estimator_``."""
        self.__dict__.update(path.attributes())
        best = SparseKernelAUC(
            **{**self._shared(), **self.best_params_},
            engine=self.engine,
            n_jobs=self.n_jobs,
            random_state=search.seed,
        )
        own = (
            *("n_features_in_", "feature_names_in_", "classes_"),
            *("feature_spread_", "background_"),
        )
        inherited = {name: vars(self)[name] for name in own if name in vars(self)}
        best.__dict__.update({**inherited, **path.attributes()})
        self.best_estimator_ = best
        log.end()

    def _shared(self) -> dict:
        """Return the parameters that `SparseKernelAUC` has, too."""
        names = ("selection", "tol", "max_fpr", "min_tpr")
        return {name: getattr(self, name) for name in names}

    def _base(self) -> Parameters:
        """Return the parameters that all settings share."""
        selection = as_selection(self.selection)
        limits = {"max_fpr": self.max_fpr, "min_tpr": self.min_tpr}
        base = Parameters(n_basis=self.n_basis, selection=selection, tol=self.tol, **limits)
        base.check()
        return base

    def _check_parameters(self) -> None:
        Cs = DEFAULT_CS if self.Cs is None else self.Cs
        Cs = list(Cs) if is_sequence(Cs) else [Cs]
        if len(Cs) == 0:
            raise InvalidParameterError(
                "`Cs` must hold at least one value; got an empty sequence. Use None for "
                f"{DEFAULT_CS}."
            )
        for C in Cs:
            check_positive("Cs", C, "Values from 0.1 to 100 are usual.")
        if self.gammas is not None:
            if not is_sequence(self.gammas) or not len(self.gammas):
                raise InvalidParameterError(
                    f"`gammas` must be a sequence of at least one gamma; got {self.gammas!r}. "
                    "Use None, or for instance ['scale', 0.1, [0.01, 0.1, 1]]."
                )
            for gamma in self.gammas:
                check_gamma("rbf", gamma)
        check_choice("size", self.size, SIZES)
        check_choice("effort", self.effort, EFFORTS)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit, "Use None for no limit.")
        check_choice("engine", self.engine, ENGINES)
        check_n_jobs(self.n_jobs)
        check_verbose(self.verbose)
        for name, check in (
            ("scaling", check_scaling),
            ("linear_term", partial(check_boolean, "linear_term")),
            ("rotate", partial(check_boolean, "rotate")),
            ("refine", check_refine),
        ):
            if not _is_auto(getattr(self, name)):
                check(getattr(self, name))

    def _grid(self, base: Parameters, rows: TrainingData) -> SearchGrid:
        """Return what is tried on these rows: a first structure, and changes of one thing."""
        Cs, scalings = self._sorted_cs(), self._scalings(rows)
        gammas = {scaling: self._resolved_gammas(scale(scaling, rows)[1]) for scaling in scalings}
        first = Setting(
            scaling=scalings[0],
            gamma=gammas[scalings[0]][0],
            linear_term=_both(self.linear_term)[0],
            refine=n_steps(self.refine, "rbf"),
            C=Cs[0],
            n_basis=self.n_basis,
            rotate=self._rotations(rows)[0],
        )
        changes: list[dict] = [{}]
        if self.effort == "default":
            changes += [] if base.focus.is_whole else [{"whole_curve": True}]
            changes += [{"scaling": s, "gamma": gammas[s][0]} for s in scalings[1:]]
            changes += [{"rotate": rotate} for rotate in self._rotations(rows)[1:]]
            changes += [{"gamma": gamma} for gamma in gammas[scalings[0]][1:]]
            changes += [{"linear_term": linear} for linear in _both(self.linear_term)[1:]]
        grid = SearchGrid(tuple(replace(first, **change) for change in changes), Cs)
        is_here = isinstance(rows, TrainingData) and rows.device is None
        return affordable(grid, base, rows) if is_here else grid

    def _sorted_cs(self) -> tuple[float, ...]:
        if self.Cs is None:
            return DEFAULT_CS if self.effort == "default" else QUICK_CS
        return tuple(np.sort(np.atleast_1d(self.Cs)).tolist())

    def _scalings(self, rows: TrainingData) -> tuple:
        """Return the scalings to try; sparse rows are taken as they are unless told otherwise."""
        if not _is_auto(self.scaling):
            return (self.scaling,)
        return (None,) if rows.is_sparse else ("normal", None)

    def _rotations(self, rows: TrainingData) -> tuple[bool, ...]:
        """Return whether to rotate; both only where axes take no more numbers than centres."""
        if _is_auto(self.rotate) and (rows.is_sparse or rows.n_features > self.n_basis):
            return (False,)
        return (False, True) if _is_auto(self.rotate) else (bool(self.rotate),)

    def _resolved_gammas(self, data: TrainingData) -> list[float | tuple[float, ...]]:
        if self.gammas is not None:
            resolved = [resolve_gammas(gamma, "rbf", data) for gamma in self.gammas]
            return [tuple(map(float, g)) if len(g) > 1 else float(g[0]) for g in resolved]
        unit = float(resolve_gammas("scale", "rbf", data)[0])
        return [multiple * unit for multiple in DEFAULT_GAMMAS]

    def _folds(self, data: TrainingData, seed: int) -> Sequence[Fold]:
        if isinstance(data, TrainingData):
            return _listed_folds(self._splitter(data, seed), data)
        if self.cv is not None and not isinstance(self.cv, int | np.integer):
            raise InvalidParameterError(
                "`cv` must be None or an integer if the rows are on a cluster; got "
                f"{self.cv!r}. Use for instance 5."
            )
        return hash_folds(data, self._n_splits(class_counts(data)), seed)

    def _splitter(self, data: TrainingData, seed: int):
        """Return a splitter of scikit-learn."""
        if self.cv is not None and not isinstance(self.cv, int | np.integer):
            return check_cv(self.cv, data.positive, classifier=True)
        counts = class_counts(data)
        is_repeated = self.cv is None and data.n_rows < FEW_ROWS and self.effort == "default"
        n_repeats = REPEATS if is_repeated else 1
        return RepeatedStratifiedKFold(
            n_splits=self._n_splits(counts), n_repeats=n_repeats, random_state=seed
        )

    def _n_splits(self, counts: Sequence[int]) -> int:
        """Return the number of folds; raise an error if a class has fewer rows."""
        if self.cv is None:
            n_most = 5 if self.effort == "default" else 3
            n_splits = max(min(n_most, *counts), 2)
        else:
            n_splits = self.cv
        check_integer("cv", n_splits, 2, "5 folds are usual.")
        if min(counts) < n_splits:
            raise InvalidDataError(
                f"cv={n_splits} needs {n_splits} rows of each class; the smaller class has "
                f"{min(counts)}. Lower `cv` or get more rows."
            )
        return n_splits


def _listed_folds(cv, data: TrainingData) -> list[RowFold]:
    """Return the folds of a splitter; raise an error if a fold lacks a class."""
    numbers = np.arange(data.n_rows)
    folds = cv.split(numbers[:, None], data.positive)
    folds = [RowFold(*(numbers[np.asarray(rows)] for rows in fold)) for fold in folds]
    if not folds:
        raise InvalidParameterError("`cv` must give at least one fold; got none. 5 is usual.")
    for number, fold in enumerate(folds):
        for part, rows in (("training", fold.train), ("test", fold.test)):
            counted = rows[data.weights[rows] > 0]
            if len(np.unique(data.positive[counted])) < 2:
                raise InvalidDataError(
                    f"The {part} part of fold {number} of `cv` lacks one of the classes. "
                    "Use stratified folds, or fewer of them."
                )
    return folds


def _as_seed(random_state) -> int:
    """Return an integer, so that all folds and processes draw the same."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _is_auto(value) -> bool:
    return isinstance(value, str) and value == "auto"


def _both(value) -> tuple[bool, ...]:
    """Return the truth values to try, the usual one first."""
    return (True, False) if _is_auto(value) else (bool(value),)


def _results(scores: Scores, n_folds: int) -> dict[str, np.ndarray]:
    """Return all scores in the form of scikit-learn's searches."""
    settings = list(scores.by_setting)
    splits = np.full((len(settings), n_folds), np.nan)
    for row, by_fold in enumerate(scores.by_setting.values()):
        for fold, score in by_fold.items():
            splits[row, fold] = score
    results = {f"split{fold}_test_score": splits[:, fold] for fold in range(n_folds)}
    results["mean_test_score"] = np.nanmean(splits, axis=1)
    results["std_test_score"] = np.nanstd(splits, axis=1)
    for name in ("scaling", "C", "linear_term", "rotate", "whole_curve", "n_basis"):
        results[f"param_{name}"] = np.array([getattr(setting, name) for setting in settings])
    for name in ("gamma", "refine"):
        values = np.empty(len(settings), dtype=object)
        values[:] = [getattr(setting, name) for setting in settings]
        results[f"param_{name}"] = values
    return results
