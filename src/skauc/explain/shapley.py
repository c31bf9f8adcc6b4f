"""Shapley values of the scores of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.explain.columns import UserColumns, as_array, find_columns, pick_rows
from skauc.explain.explanation import Explanation
from skauc.explain.products import ProductForm, ridges_of, why_no_product
from skauc.explain.quadrature import add_shapley_values, rules
from skauc.explain.ridges import MOST_JOINT_COLUMNS
from skauc.explain.sampling import FeatureMixer, TableMixer, sampled_values
from skauc.kernels import as_dense
from skauc.model import Model, without_ridges
from skauc.support import row_slices, rows_per_block
from skauc.threads import RowThreads
from skauc.unwrapping import UnwrappedModel, unwrap
from skauc.validation import check_choice, check_integer, check_n_jobs, check_rows

METHODS = ("auto", "exact", "sampling")
# Rows of one task.
_ROWS_PER_TASK = 16
# Numbers in one block of rows, or of factors of background rows: 64 MB in float64.
_BLOCK = 1 << 23


def shapley_values(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    background_weight: ArrayLike | None = None,
    method: str = "auto",
    n_permutations: int = 400,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> Explanation:
    """Explain scores by the Shapley values of the columns.

    The contribution of a column is its Shapley value in the game whose value for a set S of columns
    is the mean score of rows with the columns in S taken from the explained row and the others
    from a background row (the interventional game). The RBF and Laplacian kernels are products over
    columns, and ridge centres use few columns, so their values are exact.

    Parameters
    ----------
    model : estimator
        A fitted skauc classifier, or a pipeline, calibration, threshold or search around one.
        The explained score is the `decision_function` of the classifier inside.
    X : {array-like, dataframe} of shape (n_samples, n_columns)
        Rows to explain, as passed to ``model``.
    background : {array-like, dataframe} of shape (n_background, n_columns), default=None
        Rows that stand for "any row", as passed to ``model``. The cost is proportional to their
        number. None is the summary of the training rows that the classifier keeps in
        ``background_``.
    background_weight : array-like of shape (n_background,), default=None
        Weights of the background rows.
    method : {"auto", "exact", "sampling"}, default="auto"
        "exact" raises an error if the model is not a product over columns. "sampling" averages over
        random permutations of the columns and returns standard errors. "auto" is exact if possible.
    n_permutations : int, default=400
        Number of permutations per row for "sampling".
    n_jobs : int or None, default=None
        Number of threads.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.

    Returns
    -------
    explanation : Explanation
        Contributions, base values, data and column names. ``values.sum(axis=1) + base_values`` are
        the scores.

    Notes
    -----
    With m centres, b background rows and n columns, one row costs O(m b n^2) operations at most
    and usually O(m b n).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import SparseKernelAUC
    >>> from skauc.explain import shapley_values
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SparseKernelAUC(8, random_state=0)).fit(X, y)
    >>> explanation = shapley_values(model, X[:3])
    >>> explanation.values.shape
    (3, 30)
    >>> scores = explanation.values.sum(axis=1) + explanation.base_values
    >>> bool(abs(scores - model.decision_function(X[:3])).max() < 1e-10)
    True
    """
    check_choice("method", method, METHODS)
    check_integer("n_permutations", n_permutations, 2, "400 is a good choice.")
    check_n_jobs(n_jobs)
    random: np.random.RandomState = check_random_state(random_state)
    unwrapped = unwrap_own(model)
    X = as_table(X)
    reference = Reference.of(unwrapped, background, background_weight, X)
    columns = find_columns(unwrapped, X, reference.table, random)
    problem = why_inexact(unwrapped, columns)
    if method == "exact" and problem is not None:
        raise InvalidParameterError(
            f"method='exact' is not possible: {problem}. Use method='auto' or 'sampling'."
        )
    errors = None
    if method != "sampling" and problem is None:
        values, base = _exact_values(unwrapped, columns, X, reference, n_jobs)
    else:
        mixer = _mixer(unwrapped, columns, X, reference, n_jobs)
        values, errors, base = sampled_values(mixer, reference.shares, n_permutations, random)
    bases = np.full(len(values), base)
    return Explanation(values, bases, as_array(X), columns.names, errors)


def unwrap_own(model: Any) -> UnwrappedModel:
    """Unwrap a model, or raise an error if there is no skauc classifier inside."""
    unwrapped = unwrap(model)
    if unwrapped.model is None:
        raise InvalidParameterError(
            f"`model` must hold one fitted skauc classifier; got {type(model).__name__}. Use the "
            "package shap for other models."
        )
    return unwrapped


def as_table(X: Any, name: str = "X") -> Any:
    """Return a dataframe as it is, and anything else as a dense array of rows."""
    if hasattr(X, "columns"):
        return X
    try:
        rows = as_dense(X)
    except ValueError as error:
        raise InvalidDataError(
            f"`{name}` must be a dataframe if it holds more than numbers: {error}. If the model "
            "was fitted to an array, call its columns 'x0', 'x1' and so on."
        ) from error
    if rows.ndim != 2:
        raise InvalidDataError(
            f"`{name}` must have two dimensions, with one row per sample; got shape {rows.shape}. "
            "Pass a table of rows, X[:1] for a single one."
        )
    return rows


def features_of(unwrapped: UnwrappedModel, X: Any) -> np.ndarray:
    """Return the dense rows that the classifier inside a model takes."""
    return as_dense(check_rows(unwrapped.classifier, unwrapped.transform(X)))


@dataclass(frozen=True, eq=False)
class Reference:
    """Background rows with shares that add up to 1.

    ``rows`` has the features of the classifier. ``table`` has the columns that were passed; it is
    None for the summary that the classifier keeps.
    """

    rows: np.ndarray
    shares: np.ndarray
    table: Any = None

    @classmethod
    def of(
        cls, unwrapped: UnwrappedModel, background: Any, weight: ArrayLike | None, X: Any
    ) -> Reference:
        """Return the background that was passed, or the one of the classifier."""
        if background is None:
            return cls._kept(unwrapped.classifier, weight)
        table = as_table(background, "background")
        if table.shape[0] == 0 or table.shape[1] != X.shape[1]:
            features_of(unwrapped, X)  # a wrong column of X has its own error
            raise InvalidDataError(
                f"`background` must have at least one row and the {X.shape[1]} columns of `X`; got "
                f"shape {tuple(table.shape)}."
            )
        shares = _check_weight(weight, table.shape[0])
        return cls(features_of(unwrapped, table), shares, table)

    @classmethod
    def _kept(cls, classifier: Any, weight: ArrayLike | None) -> Reference:
        kept = getattr(classifier, "background_", None)
        if kept is None:
            raise InvalidParameterError(
                f"`background` must be rows to compare with, because this "
                f"{type(classifier).__name__} keeps no summary of its training rows; got None. "
                "Pass about 100 training rows."
            )
        if weight is not None:
            raise InvalidParameterError(
                "`background_weight` needs `background`; got weights without rows. Pass both."
            )
        return cls(as_dense(kept.rows), kept.weights)


def _check_weight(weight: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Return the share of each background row."""
    if weight is None:
        return np.full(n_rows, 1.0 / n_rows)
    weight = np.asarray(weight, dtype=np.float64)
    is_valid = weight.shape == (n_rows,) and np.isfinite(weight).all() and (weight >= 0).all()
    if not is_valid or not weight.any():
        raise InvalidDataError(
            "`background_weight` must have one finite weight of at least 0 per background row and "
            f"a positive sum; got shape {weight.shape}."
        )
    relative = weight / weight.max()  # a sum of huge weights would overflow
    return relative / relative.sum()


def why_inexact(unwrapped: UnwrappedModel, columns: UserColumns) -> str | None:
    """Return why values have to be sampled, None if they are exact."""
    if columns.of_feature is None:
        return "a preprocessing step computes a feature from several columns"
    model = cast(Model, unwrapped.model)
    ridges = ridges_of(model, columns.of_feature, len(columns.names))
    if ridges is not None and ridges.most_columns() > MOST_JOINT_COLUMNS:
        return f"a ridge centre uses {ridges.most_columns()} columns"
    return why_no_product(without_ridges(model))


def _mixer(
    unwrapped: UnwrappedModel,
    columns: UserColumns,
    X: Any,
    reference: Reference,
    n_jobs: int | None,
) -> FeatureMixer | TableMixer:
    if columns.of_feature is None:
        return TableMixer(unwrapped, X, reference.table)
    model = cast(Model, unwrapped.model)
    return FeatureMixer(
        lambda rows: model.scores(rows, n_jobs),
        features_of(unwrapped, X),
        reference.rows,
        columns.of_feature,
        len(columns.names),
    )


def _exact_values(
    unwrapped: UnwrappedModel,
    columns: UserColumns,
    X: Any,
    reference: Reference,
    n_jobs: int | None,
) -> tuple[np.ndarray, float]:
    """Return the values and the mean score of the background, block by block."""
    model = cast(Model, unwrapped.model)
    of_feature = cast(np.ndarray, columns.of_feature)
    form = ProductForm.of(without_ridges(model), of_feature, n_columns=len(columns.names))
    ridges = ridges_of(model, of_feature, form.n_columns)
    others = as_dense(model.scaled(reference.rows))
    values = np.empty((X.shape[0], form.n_columns))
    base_parts = reference.shares @ form.linear_parts(others)
    for block in row_slices(X.shape[0], rows_per_block(len(form.columns), _BLOCK, _ROWS_PER_TASK)):
        part = pick_rows(X, np.arange(block.start, block.stop))
        rows = as_dense(model.scaled(features_of(unwrapped, part)))
        values[block] = form.linear_parts(rows) - base_parts
        _add_products(form, rows, others, reference.shares, values[block], n_jobs)
        if ridges is not None:
            ridges.add_values(rows, others, reference.shares, values[block])
    base = form.scores(others)
    if ridges is not None:
        base += ridges.scores(others)
    return values, float(reference.shares @ base)


def _add_products(
    form: ProductForm,
    rows: np.ndarray,
    others: np.ndarray,
    shares: np.ndarray,
    values: np.ndarray,
    n_jobs: int | None,
) -> None:
    """Add the values of the kernel part, in parallel over the rows."""
    rule = rules(form.n_columns)
    width = max(len(form.coef) * form.n_columns, 1)
    with RowThreads(n_jobs) as threads:
        for part in row_slices(len(others), rows_per_block(width, _BLOCK, 1)):
            background, weights = form.factors(others[part]), shares[part]

            def explain(start: int, stop: int) -> None:
                add_shapley_values(
                    form.factors(rows[start:stop]),
                    background,  # noqa: B023 - the tasks end within the iteration
                    weights,  # noqa: B023
                    form.coef,
                    *rule,
                    values[start:stop],
                )

            list(threads.map(explain, len(rows), _ROWS_PER_TASK))
