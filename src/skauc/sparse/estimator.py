"""SparseKernelAUC: the paper's method, as a scikit-learn classifier."""

from __future__ import annotations

from functools import partial

from skauc.base import unchanged_on_error, with_callbacks
from skauc.data.statistics import warn_if_unscaled
from skauc.data.training import TrainingData
from skauc.engines import ENGINES, make_engine, read_training
from skauc.exceptions import FitInterruptedError
from skauc.sparse.checkpoint import Checkpoint, check_checkpoint
from skauc.sparse.path import NO_CHECKPOINT, Keeper, fit_path
from skauc.sparse.path_classifier import PathClassifier
from skauc.sparse.plan import Parameters, make_plan
from skauc.sparse.progress import PathPrinter
from skauc.sparse.state import Path
from skauc.validation import check_choice, check_n_jobs


class SparseKernelAUC(PathClassifier):
    """Binary classifier that maximises AUC with a small number of kernel basis functions.

    Over a basis J of centres z_k that grows greedily it minimises

        1/2 |f|^2 + C_pair/2 * sum over positives i, negatives j of max(0, 1 - f_i + f_j)^2,

    f(x) = sum_k coef_k k(z_k, x), with C_pair = C * l / (p * n) for l rows, p of them positive
    and n negative (sums of weights where there are weights). The larger of the two labels, in
    sorted order, is the positive one.

    Parameters
    ----------
    n_basis : int, default=64
        Number of basis functions (the paper's d_max). Fewer are used when no independent row is
        left.
    C : float, default=1.0
        Weight of the loss against the regulariser, free of the number of rows. Between 0.1 and
        100 on most data.
    kernel : {"rbf", "laplacian", "polynomial", "linear"} or callable, default="rbf"
        exp(-gamma |x - z|^2), exp(-gamma |x - z|_1), (gamma x.z + coef0)^degree, x.z, or a
        function of two blocks of rows that returns their kernel matrix.
    gamma : {"scale", "auto"}, float or sequence of floats, default="scale"
        "scale" is 1 / (n_features * variance of X), with the standard deviation in place of the
        variance for "laplacian"; "auto" is 1 / n_features. The paper's sigma is
        gamma = 1 / (2 sigma^2). With several widths (a factor of 5 apart, say) a candidate is
        a pair of a row and a width, and the pursuit picks the width itself; "rbf" only.
    degree : int, default=3
        Power of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    linear_term : bool, default=False
        Add a linear part, f(x) = w.x + kernel part, penalised like the rest. For data whose truth
        is nearly linear.
    scaling : {None, "rank", "normal"}, default=None
        "rank" replaces every feature by its standardised rank among the training rows, by a
        piecewise linear map, before the kernel sees it; "normal" by what a normal variable has at
        that rank, which keeps more of the tails. For tables as they come, with heavy tails and odd
        units; dense rows only.
    rotate : bool, default=False
        Turn the features, as they come out of ``scaling``, to their principal axes. It changes
        nothing for an "rbf" kernel by itself; ``refine`` then learns one length scale per axis
        instead of one per feature, which is better where features go together. Dense rows only.
    selection : {"orthogonal", "greedy", "exact", "exhaustive", "random", "kmeans"}, \
            default="orthogonal"
        How the next centre is chosen among the candidates: by the gain of one Newton step over
        all coefficients, its own included ("orthogonal"), or along its own column alone
        ("greedy", the paper's Method 2; "exact" solves that one-dimensional problem), by
        optimising all coefficients with it ("exhaustive", the paper's Method 1), at random; or
        k-means landmarks instead of rows.
    n_candidates : int, default=100
        Rows drawn as candidates for each centre (the paper's kappa). All rows are candidates
        when there are no more than these.
    retrain : {"geometric", "doubling", "always"}, default="geometric"
        When all coefficients are optimised: at sizes floor(2^(j/4)), 2^j, or after every centre;
        at the last size in any case.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        How the Newton system is solved; "auto" forms it for up to a thousand basis functions.
    refine : bool or int, default=False
        Move the centres and learn one length scale per feature, by descent on the same objective;
        "rbf" only. With True a stratified part of the rows is held out to stop the descent and to
        choose between the refined and the unrefined model, and joins the others in the last fit
        of the coefficients. A number is that of the steps, half as many on the way, with no row
        held out: better where rows are few, if `SparseKernelAUCCV` or you know that refinement
        helps. The basis is refined at 4 centres or so and whenever it has doubled,
        on a sample of the rows where there are many; in the end on a sample of those that have
        most part in the loss. The coefficients are then fitted to all rows.
    early_stopping : bool, default=False
        Hold out a stratified part of the rows, end when its AUC stops improving, and keep the
        smallest model whose validation AUC is within ``tol`` of the best.
    validation_fraction : float, default=0.1
        Part of the rows that is held out for early stopping or refinement.
    n_iter_no_change : int, default=5
        Retrainings without an improvement of the validation AUC of more than ``tol`` after which
        the fit ends.
    tol : float, default=1e-4
        The smallest change that counts: of the validation AUC, and, relatively, of the objective
        in one Newton step. A refinement that gains no more than this in 20 steps ends, so that a
        larger one makes it quicker.
    max_iter : int, default=100
        Most Newton iterations in one retraining.
    engine : {"auto", "cpu", "gpu", "cluster"}, default="auto"
        Where the work is done; "auto" is where the data already are. "gpu" is a GPU that torch can
        use; rows are copied to it, and all of their passes are done there but for the descents of
        `refine`, which are over a sample of a few thousand rows. "cluster" is the dask cluster of
        the current client (`distributed.Client`), and takes dask arrays and dataframes. See the
        guide for both.
    n_jobs : int or None, default=None
        Threads, for BLAS and everything else together; None is 1 unless in a
        `joblib.parallel_config` context, -1 is all. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Draws the candidates and the validation rows.
    checkpoint : str, path or None, default=None
        A file to which a fit writes what it has found at each retraining, and from which the next
        `fit` with the same parameters and data goes on to the same model, should this one not come
        to its end. It is deleted when the fit is finished. Needs a whole number as
        ``random_state``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the positive one last.
    n_basis_ : int
        Number of basis functions.
    basis_vectors_ : ndarray or CSR array of shape (n_basis_, n_features)
        The centres, in the order in which they were chosen; in the units of ``scaling_`` where
        there is one, whose ``inverse`` gives them in those of X.
    basis_indices_ : ndarray of shape (n_basis_,)
        Their rows in the training data; for k-means landmarks the nearest row, for refined
        centres the row they started from.
    dual_coef_ : ndarray of shape (n_basis_,)
        The coefficients of the basis functions.
    intercept_ : float
        Minus the threshold: added to the scores so that their sign is the prediction of best
        balanced accuracy on the training rows. It has no part in the ranking.
    linear_coef_ : ndarray of shape (n_features_in_,)
        The linear part, zeros without one; it multiplies the images of ``scaling_`` where there
        is one.
    gamma_ : float or ndarray of shape (n_basis_,)
        The kernel's gamma as a number; with several widths, that of each centre.
    length_scales_ : ndarray of shape (n_features_in_,)
        Learnt length scales, ones without refinement: the kernel compares x / length_scales_,
        with x in the units of ``scaling_`` where there is one, along its axes with ``rotate``.
    scaling_ : FeatureMap or None
        What is done to the features before the kernel sees them: the maps of ``scaling`` in
        ``scaling_.ranks``, the axes of ``rotate`` in the columns of ``scaling_.axes``.
    feature_spread_ : ndarray of shape (n_features_in_,)
        Standard deviations of the features, after ``scaling``.
    feature_relevance_ : ndarray of shape (n_features_in_,)
        ``feature_spread_`` in length scales; see `rank_features` for what it means.
    n_iter_ : int
        Newton iterations in all.
    path_ : list of PathRecord
        One record per retraining: ``n_basis``, ``objective``, ``train_auc``, ``validation_auc``
        (None where no rows are held out), ``seconds`` since the start, ``n_iter``,
        ``is_refined``, and the ``model`` itself.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    skauc.plotting.BasisSizeDisplay : AUC against the number of basis functions.
    sklearn.calibration.CalibratedClassifierCV : Probabilities that agree with the ranking.
    sklearn.model_selection.TunedThresholdClassifierCV : A threshold for a cost or a recall.

    Notes
    -----
    Time is O(l * n_basis * (n_candidates * n_features + n_basis)) for l rows, memory
    4 * l * n_basis bytes (8 up to ten thousand rows) besides X, which is not copied. Scale the
    features first: `StandardScaler` in a pipeline is the usual way.

    With sample weights a row of weight 2 counts as two rows. When there are more rows than
    ``n_candidates`` the random draws differ between weights and repetition, and so do the models.

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
        C=1.0,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1.0,
        linear_term=False,
        scaling=None,
        rotate=False,
        selection="orthogonal",
        n_candidates=100,
        retrain="geometric",
        solver="auto",
        refine=False,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        tol=1e-4,
        max_iter=100,
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
        self.selection = selection
        self.n_candidates = n_candidates
        self.retrain = retrain
        self.solver = solver
        self.refine = refine
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.max_iter = max_iter
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.scaling is None and not self.rotate
        return tags

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Grow the basis and fit the coefficients.

        Interrupted from the keyboard, the estimator keeps the model it had reached.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. float32 and float64 are used as they are, the rest becomes float64.
        y : array-like of shape (n_samples,)
            Labels, two different ones of any kind.
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
        check_checkpoint(self.checkpoint, self.random_state)
        with unchanged_on_error(self):
            rows = read_training(self.engine, self, X, y, sample_weight)
            plan, mapped = make_plan(parameters, rows)
            if self.scaling is None and not rows.is_sparse:
                warn_if_unscaled(plan.mean, plan.spread, getattr(self, "feature_names_in_", None))
            self.classes_, self.feature_spread_ = rows.classes, plan.spread
            reporter = self._start_reporting(self.n_basis, X, y, sample_weight)
            printer = PathPrinter(type(self).__name__, self.verbose)
            try:
                path = fit_path(
                    mapped,
                    plan,
                    open_engine=partial(make_engine, n_jobs=self.n_jobs),
                    random_state=self.random_state,
                    watch=lambda path: printer(path) or reporter.task("centre", path.attributes),
                    checkpoint=self._checkpoint(parameters, rows),
                )
            except FitInterruptedError as interrupt:
                self._keep(interrupt.path, reporter)
                raise
            printer(path)
            self._keep(path, reporter)
        return self

    def _checkpoint(self, parameters: Parameters, rows: TrainingData) -> Keeper:
        if self.checkpoint is None:
            return NO_CHECKPOINT
        return Checkpoint(self.checkpoint, parameters, self.random_state, rows)

    def _keep(self, path: Path, reporter) -> None:
        """Set the attributes of the model of the best size."""
        vars(self).update(path.attributes())
        reporter.end(path.attributes)
