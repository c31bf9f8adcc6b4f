"""SparseKernelAUC: the paper's method as a scikit-learn classifier."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

from numpy.typing import ArrayLike

from skauc.background import summarise
from skauc.base import fitting, with_callbacks
from skauc.data.training import TrainingData
from skauc.data.unit_warnings import warn_if_far_from_zero, warn_if_unscaled
from skauc.engines import ENGINES, make_engine, read_training
from skauc.exceptions import FewCentresWarning, FitInterruptedError, warn_user
from skauc.sparse.checkpoint import Checkpoint, check_checkpoint
from skauc.sparse.parameters import Parameters
from skauc.sparse.path import NO_CHECKPOINT, Keeper, fit_path
from skauc.sparse.path_classifier import PathClassifier
from skauc.sparse.plan import Plan, make_plan
from skauc.sparse.progress import FitLog
from skauc.sparse.state import Path
from skauc.validation import check_choice, check_n_jobs, check_verbose


class SparseKernelAUC(PathClassifier):
    """Binary classifier that maximises AUC with a small number of centres.

    Over a basis J of centres z_k that grows greedily it minimises

        1/2 |f|^2 + C_pair/2 * sum over positives i, negatives j of max(0, 1 - f_i + f_j)^2,

    f(x) = sum_k coef_k k(z_k, x) + a linear part, with C_pair = C / (p + n) for p positives and n
    negatives (sums of weights if there are weights). With an RBF kernel the centres are then moved
    and one length scale per feature is learnt. ``max_fpr`` and ``min_tpr`` give more weight to the
    pairs of a part of the ROC curve. The larger of the two labels, in sorted order, is
    the positive one.

    Parameters
    ----------
    n_basis : int, default=64
        Number of centres (the paper's d_max). Fewer are used if no independent row is left, and
        at most one per row if there are more rows than candidates.
    C : {"auto"} or float, default="auto"
        Weight of the loss relative to the regulariser, per row of the rarer class. It depends
        neither on the number of rows nor on the imbalance; values between 0.1 and 10 suit most
        data. "auto" starts with 1. When a refined basis has a quarter of its size, C is
        estimated: up to 10 for clear classes, down to 0.1 for noisy ones. With fewer than 31
        centres this is done at half of the size, and with fewer than 16 at the end. C stays 1
        without refinement, and with the solver "cg".
    kernel : {"rbf", "laplacian", "polynomial", "linear"} or callable, default="rbf"
        exp(-gamma |x - z|^2), exp(-gamma |x - z|_1), (gamma x.z + coef0)^degree, x.z, or a
        function that returns the kernel matrix of two blocks of rows.
    gamma : {"scale", "auto"}, float or sequence of floats, default="scale"
        "scale" is 1 / (n_features * variance of X), with the standard deviation instead of the
        variance for "laplacian"; "auto" is 1 / n_features. The paper's sigma is
        gamma = 1 / (2 sigma^2). With several widths (for instance a factor of 5 apart) a candidate
        is a pair of a row and a width, and the pursuit chooses the width; "rbf" only.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    linear_term : {"auto"} or bool, default="auto"
        Whether to add a linear part, f(x) = w.x + kernel part. Its part of |f|^2 is V |w|^2, where
        V is the sum of the variances of the mapped features. "auto" adds it to RBF kernels. If
        there are more than 256 features, the linear part lies in the span of their 256 leading
        principal axes.
    scaling : {"auto", None, "rank", "normal", "screened", "clip", "log"}, default="auto"
        Replace every dense feature by its rank among the training rows ("rank"), by the normal
        quantile of this rank ("normal"), which keeps more of the tails, by its distance from the
        median in interquartile ranges, bent smoothly so that it stays below 3 ("clip"), or by its
        standardised value, after a logarithm if it is positive and skewed ("log"). With ranks and
        quantiles, a rare level of a category is no further from the others than a rare number.
        "screened" is "normal", with a smaller weight for features that seem unrelated to the labels
        on their own. All of them together count less than a third of the others, so that many
        irrelevant features do not hide a few relevant ones. It needs about 500 rows of each class.
        None takes features as they are. "auto" is "normal" for an RBF kernel on dense rows, if the
        rarer class has fewer than 1,000 rows (by weight) and ``gamma`` is "scale" or "auto";
        otherwise None.
    rotate : bool, default=False
        Rotate the scaled, dense features to their principal axes, so that `refine` learns one
        length scale per axis instead of one per feature.
    shapes : {"round", "local", "ridge", "additive"}, default="round"
        The shapes of RBF centres. "round": all centres share one learnt length scale per feature.
        "local": each centre also learns its own scales. "ridge": centres may also be ridges
        exp(-(a.x - b)^2) along one to four features, mostly differences and sums of two. Ridges
        see which features are equal; selection chooses from both kinds. "local" and "ridge" are
        better on tables with little noise and worse on others, so choose by validation.
        "additive": all centres are wide ridges along one feature each, so that the model is a sum
        of smooth curves, one per feature.
    selection : str or Selection, default="orthogonal"
        How centres are chosen: a rule ("orthogonal", "greedy", "exact", "exhaustive", "random" or
        "kmeans") or a `Selection`, which also holds the number of candidates, the retraining
        schedule, the solver and its maximum number of iterations.
    refine : {"auto"}, bool or int, default="auto"
        Number of steps by which the centres move and one length scale per feature is learnt,
        descending the same objective with a penalty on the shape. True is 10 steps, or 20 if
        ``shapes`` is not "round"; False is none, and "auto" is True for RBF kernels, the only ones
        that can be refined, unless ``shapes`` is "additive".
    early_stopping : bool, default=False
        Hold out validation rows, stop when their AUC has not improved by more than ``tol`` since
        the basis had a quarter of its size, and keep the smallest model within ``tol`` of the best.
    validation_fraction : float, default=0.1
        Fraction of the rows that early stopping holds out, stratified by class.
    tol : float, default=1e-4
        The smallest improvement that counts: of the validation AUC, and of the objective relative
        to its value.
    max_fpr : float in (0, 1] or None, default=None
        Rank for the part of the ROC curve with false positive rates up to ``max_fpr``. The highest
        negatives, this fraction of their weight, count in full. Other negatives count less, the
        more of them are above. None and 1 are the whole curve.
    min_tpr : float in [0, 1) or None, default=None
        Rank for the part of the ROC curve with true positive rates above ``min_tpr``. The lowest
        positives, the fraction 1 - ``min_tpr`` of their weight, count in full, and other positives
        count less. None and 0 are the whole curve.
    engine : {"auto", "cpu", "gpu", "cluster"}, default="auto"
        Where the work is done; "auto" is where the data are. "gpu" is a GPU that torch can use.
        Rows are copied to it, and the passes over all rows run there. The descents of `refine` run
        on the CPU if there are more than 8,000 rows, because they use samples. "cluster" is the
        dask cluster of the current `distributed.Client`, and takes dask arrays and dataframes.
    n_jobs : int or None, default=None
        Number of threads. None is 1 unless in a `joblib.parallel_config` context, -1 is all cores.
        The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Random seed of the candidates and the validation rows.
    checkpoint : str, path or None, default=None
        File to which the state of the fit is written at each retraining. After a fit that did not
        end, the next `fit` with the same parameters and data continues from it, to the same model.
        The file is deleted at the end of a fit. Needs an integer as ``random_state``.
    verbose : int, default=0
        If positive, print a line per retraining, and a line every few seconds while centres are
        refined.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the positive one last.
    C_ : float
        The C of the coefficients. If ``C`` is "auto", small models of ``path_`` have another one.
        None for models from files of earlier versions.
    n_basis_ : int
        Number of centres.
    basis_vectors_ : ndarray or CSR array of shape (n_basis_, n_features)
        The centres, in the order in which they were chosen. With ``scaling`` or ``rotate`` they
        are mapped; ``scaling_.inverse`` maps them back.
    basis_indices_ : ndarray of shape (n_basis_,)
        Their rows in the training data: the nearest row for k-means landmarks, the row that they
        started from for refined centres.
    dual_coef_ : ndarray of shape (n_basis_,)
        The coefficients of the centres.
    intercept_ : float
        Minus the threshold. It is added to the scores, so that their sign is the prediction of
        best balanced accuracy on the training rows. It does not change the ranking.
    linear_coef_ : ndarray of shape (n_features_in_,)
        The linear part, zeros without one. It multiplies the mapped features, as ``scaling_``
        returns them.
    gamma_ : float or ndarray of shape (n_basis_,)
        The gamma of the kernel; with several widths, the gamma of each centre.
    length_scales_ : ndarray of shape (n_features_in_,)
        Learnt length scales, ones without refinement. The kernel compares x / length_scales_, with
        mapped features x. If centres have their own scales, this is one over their root mean
        square over the centres, and ``gamma_`` is 1.
    metric_ : ndarray of shape (n_basis_, n_features_in_) or None
        The scales of each centre if they have their own, None if they share ``length_scales_``. A
        round centre z has k(x) = exp(-|m * (x - z)|^2) with its row m, a ridge exp(-(m.(x - z))^2).
    is_ridge_ : ndarray of shape (n_basis_,)
        Which centres are ridges.
    scaling_ : FeatureMap or None
        How features are mapped before the kernel is evaluated: ``scaling_.by_feature`` holds the
        maps of ``scaling``, the columns of ``scaling_.axes`` hold the axes of ``rotate``.
    feature_spread_ : ndarray of shape (n_features_in_,)
        Standard deviations of the features, after ``scaling``.
    feature_relevance_ : ndarray of shape (n_features_in_,)
        ``feature_spread_`` divided by the length scales; see `rank_features`.
    background_ : Background
        A few weighted training rows that stand for all of them; see `shapley_values`.
    n_iter_ : int
        Total number of Newton iterations.
    path_ : list of PathRecord
        One record per retraining: ``n_basis``, ``objective``, ``train_auc``, ``validation_auc``
        (None if no rows are held out), ``seconds`` since the start, ``n_iter``, ``is_refined``,
        ``C``, and the ``model``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has names that are all strings.

    See Also
    --------
    Selection : How centres are chosen.
    skauc.plotting.BasisSizeDisplay : AUC against the number of centres.
    sklearn.calibration.CalibratedClassifierCV : Probabilities that agree with the ranking.
    sklearn.model_selection.TunedThresholdClassifierCV : A threshold for a cost or a recall.

    Notes
    -----
    Time is O(l * n_basis * (n_features + n_basis)) for the coefficients on l rows, besides that of
    choosing and refining centres on samples. Memory is 4 * l * n_basis bytes (8 up to ten thousand
    rows) besides X. X is not copied unless features are scaled or rotated, or rows have weight 0.

    Where ``scaling`` is None, which "auto" can mean, scale the features first, for instance with
    `StandardScaler` in a pipeline. `fit` warns (`UnscaledFeaturesWarning`) then if the standard
    deviations of dense features differ by more than a factor of 1,000, or if the rows are so far
    from zero that the inner products of the linear and polynomial kernels lose their digits.

    The basis is refined at ``n_basis`` centres, and before at a half, a quarter and so on of them,
    down to 8. If there are more than 8,000 rows, each of these steps works on a new sample of 4,000
    rows, drawn by how much they contribute to the loss. Without refinement, centres are chosen on a
    sample of 100 rows per centre, at least 8,000. The coefficients are then fitted to all rows,
    including those held out.

    With ``max_fpr`` or ``min_tpr``, centres are chosen and refined for the whole ROC curve, and the
    coefficients of the last model are fitted for the part; smaller models of ``path_`` are for the
    whole curve. With ``max_fpr=b``, a negative row with a fraction q > b of the negatives above it
    counts with the share sqrt(b / q) of its weight, and positives are treated alike. The loss is
    still convex, because shares fall with the order of the rows. p and n in C_pair are the weights
    that count: (2 sqrt(b) - b) n negatives. Rows outside of the part keep some weight, because
    without them a constant model is the solution wherever the hardest rows of both classes overlap.

    A row of weight 2 counts as two rows, also in refinement. If there are more rows than
    candidates, if centres are ridges, or if there are so many rows that samples are drawn, the
    random draws for weighted and for repeated rows differ, and so do the models.

    References
    ----------
    V. Kakkar, S. K. Shevade, S. Sundararajan, D. Garg. A Sparse Non-linear Classifier Design
    Using AUC Optimization.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import SparseKernelAUC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), SparseKernelAUC(n_basis=16, random_state=0))
    >>> model.fit(X_train, y_train).score(X_test, y_test) > 0.99
    True
    >>> model[-1].basis_vectors_.shape
    (16, 30)
    """

    def __init__(
        self,
        n_basis=64,
        *,
        C="auto",
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1.0,
        linear_term="auto",
        scaling="auto",
        rotate=False,
        shapes="round",
        selection="orthogonal",
        refine="auto",
        early_stopping=False,
        validation_fraction=0.1,
        tol=1e-4,
        max_fpr=None,
        min_tpr=None,
        engine="auto",
        n_jobs=None,
        random_state=None,
        checkpoint=None,
        verbose=0,
    ):
        self.n_basis = n_basis
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.linear_term = linear_term
        self.scaling = scaling
        self.rotate = rotate
        self.shapes = shapes
        self.selection = selection
        self.refine = refine
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.max_fpr = max_fpr
        self.min_tpr = min_tpr
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.scaling in (None, "auto") and not self.rotate
        return tags

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the basis and fit the coefficients.

        If it is interrupted from the keyboard, the estimator keeps the model it had reached, and
        the interrupt is raised again.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. float32 and float64 are used as they are; other types become float64.
        y : array-like of shape (n_samples,)
            Labels: two different numbers, booleans or texts. Floats must be whole numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : SparseKernelAUC
            The fitted estimator.
        """
        parameters = Parameters.of(self)
        check_choice("engine", self.engine, ENGINES)
        check_n_jobs(self.n_jobs)
        check_verbose(self.verbose)
        check_checkpoint(self.checkpoint, self.random_state)
        with fitting(self):
            rows = read_training(self.engine, self, X, y, sample_weight).counted()
            parameters = parameters.for_rows(rows)
            plan, mapped = make_plan(parameters, rows, n_jobs=self.n_jobs)
            self._warn_if_unscaled(plan, rows)
            self.classes_, self.feature_spread_ = rows.classes, plan.spread
            self.background_ = summarise(rows, getattr(plan.feature_map, "by_feature", None))
            report = partial(self._start_reporting, X=X, y=y, sample_weight=sample_weight)
            log = FitLog(self, plan.grown_sizes(), plan.most_steps, report)
            try:
                path = fit_path(
                    mapped,
                    plan,
                    open_engine=partial(make_engine, n_jobs=self.n_jobs),
                    random_state=self.random_state,
                    watch=log.centre,
                    on_step=log.step,
                    checkpoint=self._checkpoint(parameters, rows),
                )
            except FitInterruptedError as interrupt:
                self._keep(interrupt.path, log)
                raise
            self._keep(path, log)
            # Linear and polynomial kernels have few independent rows by nature.
            if path.is_exhausted and self.kernel in ("rbf", "laplacian"):
                self._warn_if_few_centres(max(path.models), rows)
        return self

    def _warn_if_unscaled(self, plan: Plan, rows: TrainingData) -> None:
        """Warn about features of very different spreads, and about rows that are far from zero."""
        if plan.parameters.scaling is None and not rows.is_sparse:
            warn_if_unscaled(plan.mean, plan.spread, getattr(self, "feature_names_in_", None))
        warn_if_far_from_zero(
            self.kernel,
            plan.mean,
            plan.spread,
            is_sparse=rows.is_sparse,
            has_linear_term=plan.linear is not None,
        )

    def _warn_if_few_centres(self, n_found: int, rows: TrainingData) -> None:
        """Warn if there are rows enough for the centres, and they depend on each other."""
        if n_found < self.n_basis <= rows.n_rows:
            warn_user(
                f"The basis has {n_found} centres, and `n_basis` is {self.n_basis}: to the kernel, "
                "every other row is a combination of these. Rows are repeated, or gamma is too "
                f"small for them. Use n_basis={n_found}, or a larger `gamma` (with a number, also "
                "give `scaling`).",
                FewCentresWarning,
            )

    def _checkpoint(self, parameters: Parameters, rows: TrainingData) -> Keeper:
        if self.checkpoint is None:
            return NO_CHECKPOINT
        return Checkpoint(self.checkpoint, parameters, self.random_state, rows)

    def _keep(self, path: Path, log: FitLog) -> None:
        """Set the attributes of the model of the best size."""
        self.__dict__.update(path.attributes())
        log.end(path)
