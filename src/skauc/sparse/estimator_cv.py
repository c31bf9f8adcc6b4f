"""SparseKernelAUCCV: Sparse Kernel AUC that chooses its own parameters."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skauc.background import summarise
from skauc.base import LazyArray, calibrate, fitting, with_callbacks
from skauc.data.sampling import class_counts
from skauc.data.statistics import feature_statistics
from skauc.data.training import TrainingData
from skauc.data.unit_warnings import warn_if_far_from_zero, warn_if_unscaled
from skauc.engines import is_on_cluster, read_training
from skauc.exceptions import FitInterruptedError
from skauc.sparse.averaging import N_NEAR, Average, average_of
from skauc.sparse.comparison import FoldComparison
from skauc.sparse.decision import Decision, make_decision
from skauc.sparse.estimator import SparseKernelAUC
from skauc.sparse.folds import make_folds, tests_per_row
from skauc.sparse.grid import EFFORTS, are_here, check_search, search_grid
from skauc.sparse.last_fits import LastFit, LastFits
from skauc.sparse.parameters import Parameters, as_selection
from skauc.sparse.path_classifier import PathClassifier
from skauc.sparse.progress import SearchLog
from skauc.sparse.scoring import make_metric
from skauc.sparse.search import (
    Search,
    expected_jobs,
    is_few,
    run_search,
    threads_pay,
    try_all_centres,
    try_shapes,
)
from skauc.sparse.settings import SearchGrid
from skauc.sparse.state import Path
from skauc.validation import check_groups, is_auto

# Seconds that the fit after an interrupt may take from its first centre on.
LAST_SECONDS = 0.5


def _has_probabilities(search: SparseKernelAUCCV) -> bool:
    """Return whether there are probabilities, or will be after a fit."""
    return hasattr(search, "calibrator_") or not hasattr(search, "classes_")


class SparseKernelAUCCV(PathClassifier):
    """Sparse Kernel AUC with all parameters chosen by cross-validation.

    Settings are scored by their mean AUC over the folds, or by their mean partial AUC. The usual
    setting is kept unless another one is better by more than noise. Models with centres of several
    shapes are then fitted to all rows, and their average is approximated by one model of at most
    ``n_basis`` centres. The scores of the test rows of the folds also calibrate the probabilities
    of `predict_proba`.

    Parameters
    ----------
    Cs : array-like of floats or None, default=None
        Values of C to try, all of them with the usual structure; the usual C is the middle one.
        If None, each fit estimates C, and coefficients for the next values, a factor of five apart,
        are scored with the same centres. If one of them is better, fits with this C follow. Larger
        Cs follow as long as each gains 1% of 1 - AUC.
    gammas : sequence or None, default=None
        Values of gamma to try, the first one with every C: numbers, "scale", "auto", or sequences
        of numbers for several widths at once. None tries "scale" and, if the rarer class has
        fewer than 300 rows, 3 times as much without a linear term.
    n_basis : int, default=64
        Largest number of centres. Where settings are compared, about half of it is used, 16 at
        least, unless more centres are better.
    linear_term : {"auto"} or bool, default="auto"
        As in `SparseKernelAUC`; "auto" is True. If the rarer class has fewer than 300 rows, models
        without a linear term are tried, too. For dense rows they use ranks unless ``scaling`` is
        given.
    scaling : {"auto", None, "rank", "normal", "screened", "clip", "log"}, default="auto"
        As in `SparseKernelAUC`, but "auto" is None for sparse rows. For dense rows it is "screened"
        if the rarer class has at least 500 rows, and "normal" otherwise.
    rotate : {"auto"} or bool, default="auto"
        As in `SparseKernelAUC`; "auto" tries both for dense rows with up to ``n_basis`` features,
        so that axes take no more numbers than centres, unless ``refine`` is False. If the rarer
        class has fewer than 300 rows and ``scaling`` is not given, the axes are those of features
        with the scaling "clip". Use False if explanations must be exact.
    shapes : {"auto", "round", "local", "ridge", "additive"}, default="auto"
        As in `SparseKernelAUC`; "auto" tries "local" and "ridge" for dense rows with up to 256
        features, unless they are averaged (see ``ensemble``). "local" needs 200 rows of each class,
        and "ridge" 20; ridges are tried with few centres first.
    refine : {"auto"}, bool or int, default="auto"
        As in `SparseKernelAUC`; "auto" is True.
    size : {"best", "small"}, default="best"
        "best" keeps the number of centres that settings were compared with, unless ``n_basis``
        centres are better by more than one standard error or 5% of 1 - AUC. "small" takes the
        smallest size of the path that is not worse than the best one by that much.
        ``size_choices_`` has the result of both.
    ensemble : bool, default=True
        If True, average the best setting with models whose centres are round, local or additive,
        weighted by their scores on the folds. The average is approximated by one model with at most
        ``n_basis`` centres. If the rarer class has fewer than 300 rows, only round and additive
        models are averaged, and the coefficients of each are the average over several Cs. With
        effort="thorough", centres of all shapes are averaged.

        Shapes are averaged if ``shapes`` and ``refine`` are "auto", size is "best", effort is not
        "quick", and the rule of ``selection`` is "orthogonal". The rows must be dense and in
        memory, with up to 256 features, and the rarer class must have at least 20 rows.
    effort : {"quick", "default", "thorough"}, default="default"
        "quick" tries Cs as usual, but no other structure than the usual one, on three folds.
        "thorough" averages models with centres of all shapes, draws the folds four times below
        2,000 rows, tries more settings of a round on all folds, and refines the last fits on
        100,000 rows instead of 32,000. It takes about twice the time.
    time_limit : float or None, default=None
        Seconds after which the search ends with the best setting so far. Fits that are running
        then, and the last fits to all rows, are finished.
    selection : str or Selection, default="orthogonal"
        As in `SparseKernelAUC`.
    scoring : str, callable or None, default=None
        What to maximise over the folds: a scorer of scikit-learn that needs scores or labels, such
        as "average_precision"; it sees the labels 0 and 1. Rows with a calibrated probability above
        0.5 are labelled positive, as by `predict`. None is the AUC, or the partial AUC if there are
        limits. It does not change the loss of a fit.
    cv : None, int, cross-validation generator or iterable, default=None
        The folds. An integer is the number of stratified folds, shuffled with ``random_state``.
        None is 5 folds, drawn twice below 600 rows, or as many as the rarer class allows. With
        ``groups``, all rows of a group are in one fold.
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
        Settings are tried one after the other if the table is small (300 rows of 20 features),
        where threads gain nothing.
    random_state : int, RandomState instance or None, default=None
        Random seed of the folds, the candidates and the validation rows.
    verbose : int, default=0
        If positive, print a line per setting and fold that was tried, with the best AUC so far.

    Attributes
    ----------
    best_params_ : dict
        The parameters that were chosen, as `SparseKernelAUC` takes them. If several models were
        averaged, they are those of the one with the largest weight, see ``ensemble_``.
    best_score_ : float
        Mean cross-validated AUC, or ``scoring``, of the model. If the best of several settings or
        of several Cs was chosen, it is corrected for the optimism of this choice (Tibshirani and
        Tibshirani, 2009). ``size_choices_`` has the mean without a correction.
    size_choices_ : dict of str to dict
        For each value of ``size`` the ``params`` that it chooses, with their ``mean_test_score``
        (that of the average, if there is one).
    ensemble_ : list of dict
        What was averaged, the largest weight first: the ``params`` and the ``weight`` of each
        model, and the ``Cs`` whose coefficients were averaged. ``Cs`` is empty if the coefficients
        are for the C that the centres were chosen with. The list is empty if the model is a single
        fit with its own C.
    best_estimator_ : SparseKernelAUC
        The model fitted to all rows, with its scores lowered so that 0 has a probability of 0.5.
        This estimator has its attributes, too (``basis_vectors_``, ``dual_coef_``, ``path_`` and so
        on). Its parameters are ``best_params_``. An average of Cs is the last model of ``path_``.
        An average of several models has a path of its own, in which smaller models approximate it.
        Its records have no objective.
    cv_results_ : dict of ndarrays
        One entry per setting and size, as in scikit-learn: ``params``, ``param_C`` and so on,
        ``split0_test_score`` and so on (NaN on folds where it was not tried),
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``. ``param_whole_curve`` is True
        for models without the limits ``max_fpr`` and ``min_tpr``. Cs that were tried with the
        centres of a fit are not in it.
    n_splits_ : int
        Number of folds.
    calibrator_ : object
        Maps scores to probabilities: a logistic function, or isotonic regression if both classes
        have at least 1,000 rows in the folds that the model, or all that are averaged, were tried
        on.
    balanced_threshold_ : float
        The probability at which the shares of positive and of negative training rows that are
        predicted correctly are equal in weight, as in `SparseKernelAUC`. Use it with
        `sklearn.model_selection.FixedThresholdClassifier` to predict rare classes.

    See Also
    --------
    SparseKernelAUC : One setting.

    Notes
    -----
    The usual setting has normal scores of the features (screened if the rarer class has 500 rows),
    one width, the linear term, refinement, and an estimated C. It is scored on all folds. Then
    other Cs are tried with it, and with the best C one other structure at a time. If another
    structure is better, Cs are tried with it, too. All these settings are compared on two folds
    (three if the folds are drawn twice), and the best two of a round on all folds unless they are
    behind. Another setting than the usual one is chosen if its mean is better by more than one
    standard error of the difference, fold by fold, or by two for ridges and models without a linear
    term. Models have half of the centres in this comparison. If they are better than models of a
    quarter, the best setting is then tried in full size, and models with centres of other shapes
    are scored last. Both are tried on the first folds only, unless the rarer class has fewer than
    300 rows. Means over these folds are shifted by what the usual setting loses or gains on the
    others. A model that is behind the best one by a tenth of 1 - AUC has 1/e of its weight in the
    average. The sum of the models is approximated on the training rows by least squares: centres
    are added until 0.2% of its variance is left, and then moved.

    Folds of more than 80,000 rows are sampled. With more than 8,000 rows, the last fit refines
    centres on samples of 32,000 rows instead of 4,000, with twice as many steps, and has the mean C
    of the folds. With round centres, a C of at least 5 and at least 300 rows of the rarer class, it
    takes three times as many steps, six times with more than 8,000 rows.

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
        shapes="auto",
        refine="auto",
        size="best",
        ensemble=True,
        effort="default",
        time_limit=None,
        selection="orthogonal",
        scoring=None,
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
        self.shapes = shapes
        self.refine = refine
        self.size = size
        self.ensemble = ensemble
        self.effort = effort
        self.time_limit = time_limit
        self.selection = selection
        self.scoring = scoring
        self.cv = cv
        self.tol = tol
        self.max_fpr = max_fpr
        self.min_tpr = min_tpr
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the parameters and fit to all rows.

        If the search is interrupted from the keyboard, the estimator is fitted with the best
        parameters so far, and the interrupt is raised again. That fit ends half a second after
        its first centre with the model it has reached, which may have fewer centres than
        ``n_basis`` or fewer steps of refinement. If there are more than 80,000 rows, it uses a
        sample of 40,000. If it is interrupted, too, the estimator keeps the model it had reached.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels: two different numbers, booleans or texts. Floats must be whole numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows that belong together, such as the rows of one customer. No group is in
            both the training rows and the test rows of a fold.

        Returns
        -------
        self : SparseKernelAUCCV
            The fitted estimator.
        """
        base = self._base()
        check_search(self)
        with fitting(self):
            rows = read_training(self.engine, self, X, y, sample_weight)
            log = SearchLog(self)
            search, grid = self._make_search(base.for_rows(rows), rows, groups, log)
            report = partial(self._start_reporting, X=X, y=y, sample_weight=sample_weight)
            log.begin(expected_jobs(search, grid), report)
            try:
                decision, average = self._decide(search, grid)
            except KeyboardInterrupt as interrupt:
                if log.scores.best_so_far() is None:
                    raise
                log.hurry(LAST_SECONDS)
                decision = make_decision(search.comparison, log.scores, self.size)
                fits = self._last_fits(search, search.few_rows(), log, hurries=True)
                path = self._refit(search, decision, None, fits)
                raise FitInterruptedError(path) from interrupt
            self._refit(search, decision, average, self._last_fits(search, search.rows, log))
        return self

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> LazyArray:
        """Return the probabilities of both classes.

        The probability rises with the score. It is calibrated on the scores of the test rows of the
        folds, by models of the other folds. A score of 0 has a probability of 0.5. Scores far
        beyond those of the test rows all have the probability 0 or 1, so use `decision_function` to
        rank rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            One column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        scores: Any = self.decision_function(X)
        if is_on_cluster(X):
            positive = scores.map_blocks(self.calibrator_.predict, dtype=np.float64)
        else:
            positive = self.calibrator_.predict(scores)
        return np.stack((1.0 - positive, positive), axis=1)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> LazyArray:
        """Return the logarithms of the probabilities of both classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, 2)
            One column per class, in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def truncate(self, n_basis: int) -> Self:
        """Return a fitted copy of the model that the path had at a size, without probabilities.

        Parameters
        ----------
        n_basis : int
            Size of the copy, as in `SparseKernelAUC`.

        Returns
        -------
        model : SparseKernelAUCCV
            The smaller model. Search with a smaller ``n_basis`` for probabilities.
        """
        smaller = super().truncate(n_basis)
        if n_basis < self.n_basis_:
            smaller.__dict__.pop("calibrator_", None)
            smaller.ensemble_ = []
        return smaller

    def _make_search(
        self, base: Parameters, rows: TrainingData, groups: ArrayLike | None, log: SearchLog
    ) -> tuple[Search, SearchGrid]:
        """Return the search, and the grid that it tries."""
        effort, counts = EFFORTS[self.effort], class_counts(rows)
        seed = _as_seed(self.random_state)
        groups, n_repeats = check_groups(groups, rows.n_rows), effort.n_repeats(sum(counts))
        folds = make_folds(rows, self.cv, groups, effort.n_folds, n_repeats, seed)
        rows = rows.counted()
        grid = search_grid(self, base, rows)
        self._warn_if_unscaled(grid, rows)
        usual, n_tests = grid.for_comparison().settings[0], tests_per_row(folds)
        search = Search(
            base=base,
            rows=rows,
            folds=folds,
            comparison=FoldComparison(usual, len(folds), n_tests, is_few(counts)),
            seed=seed,
            n_jobs=self.n_jobs if _gains_by_threads(rows) else 1,
            n_kept=effort.n_kept,
            metric=make_metric(self.scoring, base),
            near=partial(grid.around, n_near=N_NEAR),
            watch=log.record,
            expect=log.expect,
            deadline=time.monotonic() + (self.time_limit or np.inf),
        )
        return search, grid

    def _decide(self, search: Search, grid: SearchGrid) -> tuple[Decision, Average | None]:
        """Search; return the setting to use, and the average that takes its place, if any."""
        scores = try_all_centres(search, grid, run_search(search, grid))
        decision = make_decision(search.comparison, scores, self.size)
        if not (self.ensemble and self.size == "best" and are_here(search.rows)):
            return decision, None
        others, scores = try_shapes(search, grid, decision.setting, scores)
        return decision, average_of(search, decision.setting, others, scores)

    def _warn_if_unscaled(self, grid: SearchGrid, rows: TrainingData) -> None:
        """Warn about features of very different spreads, if no other scaling is tried."""
        if {setting.scaling for setting in grid.settings} != {None}:
            return
        mean, variance = feature_statistics(rows)
        spread = np.sqrt(variance)
        has_linear_term = any(setting.linear_term for setting in grid.settings)
        warn_if_far_from_zero(
            "rbf", mean, spread, is_sparse=rows.is_sparse, has_linear_term=has_linear_term
        )
        if not rows.is_sparse:
            warn_if_unscaled(mean, spread, getattr(self, "feature_names_in_", None))

    def _last_fits(
        self, search: Search, rows: TrainingData, log: SearchLog, *, hurries: bool = False
    ) -> LastFits:
        return LastFits(
            search=search,
            rows=rows,
            n_basis=search.base.n_basis,
            n_rows=EFFORTS[self.effort].last_rows,
            n_jobs=self.n_jobs,
            log=log,
            takes_more_steps=is_auto(self.refine),
            hurries=hurries,
        )

    def _refit(
        self, search: Search, decision: Decision, average: Average | None, fits: LastFits
    ) -> Path:
        """Fit what was decided, or all that is averaged; interrupted, keep the best model."""
        log = fits.log
        self.best_score_, self.size_choices_ = decision.score, decision.sizes
        self.cv_results_ = log.scores.as_results(len(search.folds))
        self.n_splits_, self.classes_ = len(search.folds), search.rows.classes
        self.ensemble_: list[dict] = []
        last = fits.fit(decision, average)
        if last.average is not None:
            self.ensemble_, self.best_score_ = last.average.description(), last.average.corrected
            best = {"params": last.setting.parameters(), "mean_test_score": last.average.mean}
            self.size_choices_ = {**decision.sizes, "best": best}
        elif last.setting != decision.setting:
            # Of several models that were to be averaged, another one is used alone.
            self.best_score_ = search.comparison.mean(last.setting, log.scores)
        self._keep(last, search, log)
        if last.interrupt is not None:
            raise FitInterruptedError(last.path) from last.interrupt
        return last.path

    def _keep(self, last: LastFit, search: Search, log: SearchLog) -> None:
        """Set the attributes of the model, here and in ``best_estimator_``."""
        parameters = last.plan.parameters
        self.best_params_ = {name: getattr(parameters, name) for name in last.setting.parameters()}
        self.feature_spread_ = last.plan.spread
        self.background_ = summarise(
            search.rows, getattr(last.plan.feature_map, "by_feature", None)
        )
        tested = search.tested(last.factors, log.scores)
        calibrator = calibrate(*tested, scores_per_row=search.comparison.tests_per_row)
        # A score of 0 is to have a probability of 0.5.
        middle = calibrator.middle
        path, self.calibrator_ = last.path.lowered(middle), calibrator.lowered(middle)
        self.balanced_threshold_ = float(calibrator.predict(np.zeros(1))[0])
        self.__dict__.update(path.attributes())
        best = SparseKernelAUC(
            **{**self._shared(), "selection": parameters.selection},
            engine=self.engine,
            n_jobs=self.n_jobs,
            random_state=search.seed,
        )
        best.set_params(**self.best_params_)
        own = (
            *("n_features_in_", "feature_names_in_", "classes_"),
            *("feature_spread_", "background_", "ensemble_"),
        )
        inherited = {name: vars(self)[name] for name in own if name in vars(self)}
        best.__dict__.update({**inherited, **path.attributes()})
        self.best_estimator_ = best
        log.end(path)

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


def _gains_by_threads(rows: TrainingData) -> bool:
    """Return whether threads pay; fits that share a cluster would only wait for each other."""
    return isinstance(rows, TrainingData) and threads_pay(rows.n_rows, rows.n_features)


def _as_seed(random_state) -> int:
    """Return an integer, so that all folds and processes draw the same."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
