"""Shapley values of the scores of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from skauc.engines.threads import RowThreads
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.explain.columns import UserColumns, as_array, find_columns
from skauc.explain.explanation import Explanation
from skauc.explain.products import ProductForm, why_no_product
from skauc.explain.quadrature import add_shapley_values, rules
from skauc.explain.sampling import sampled_values
from skauc.model import Model
from skauc.unwrapping import UnwrappedModel, as_dense, unwrap
from skauc.validation import check_choice, check_integer, check_n_jobs

METHODS = ("auto", "exact", "sampling")
# Rows of one task.
_ROWS_PER_TASK = 16
# Numbers in the factors of one block of background rows, 64 MB in float64.
_BLOCK = 1 << 23


def shapley_values(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    background_weight: ArrayLike | None = None,
    method: str = "auto",
    n_permutations: int = 100,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> Explanation:
    """Explain scores by the Shapley values of the columns.

    The contribution of a column is its Shapley value in the game whose value for a set S of columns
    is the mean score of rows with the columns in S taken from the explained row and the others
    from a background row (the interventional game). The RBF and Laplacian kernels are products over
    columns, so their values are exact.

    Parameters
    ----------
    model : estimator
        A fitted skauc classifier, or a pipeline, calibration, threshold or search around one.
        The explained score is the `decision_function` of the classifier inside.
    X : {array-like, dataframe} of shape (n_samples, n_columns)
        Rows to explain, as passed to ``model``.
    background : {array-like, dataframe} of shape (n_background, n_columns)
        Rows that stand for "any row", as passed to ``model``. The cost is proportional to their
        number; about 100 training rows are usually enough.
    background_weight : array-like of shape (n_background,), default=None
        Weights of the background rows.
    method : {"auto", "exact", "sampling"}, default="auto"
        "exact" raises an error if the model is not a product over columns. "sampling" averages over
        random permutations of the columns and returns standard errors. "auto" is exact if possible.
    n_permutations : int, default=100
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
    With m centres, b background rows and n columns that differ, one row costs O(m b n^2) operations
    at most, and usually O(m b n).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import SparseKernelAUC
    >>> from skauc.explain import shapley_values
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SparseKernelAUC(8, random_state=0)).fit(X, y)
    >>> explanation = shapley_values(model, X[:3], background=X[::20])
    >>> explanation.values.shape
    (3, 30)
    >>> scores = explanation.values.sum(axis=1) + explanation.base_values
    >>> bool(abs(scores - model.decision_function(X[:3])).max() < 1e-10)
    True
    """
    check_choice("method", method, METHODS)
    check_integer("n_permutations", n_permutations, 2, "100 is a good choice.")
    check_n_jobs(n_jobs)
    random: np.random.RandomState = check_random_state(random_state)
    unwrapped = unwrap(model)
    if unwrapped.model is None:
        raise InvalidParameterError(
            f"`model` must hold one fitted skauc classifier; got {type(model).__name__}. Use the "
            "package shap for other models."
        )
    X, background = _as_table(X), _as_table(background)
    shares = _check_background(background, background_weight, X)
    columns = find_columns(unwrapped, X, background, random)
    problem = _why_inexact(unwrapped.model, columns)
    if method == "exact" and problem is not None:
        raise InvalidParameterError(
            f"method='exact' is not possible: {problem}. Use method='auto' or 'sampling'."
        )
    if method == "sampling" or problem is not None:
        values, errors, base = sampled_values(
            unwrapped, X, background, shares, n_permutations, random
        )
    else:
        form = ProductForm.of(unwrapped.model, columns.of_feature, n_columns=len(columns.names))
        values, base = _exact_values(form, unwrapped, X, background, shares, n_jobs)
        errors = None
    bases = np.full(len(values), base)
    return Explanation(values, bases, as_array(X), columns.names, errors)


def _as_table(X: Any) -> Any:
    return X if X is None or hasattr(X, "columns") else as_dense(X)


def _check_background(background: Any, weight: ArrayLike | None, X: Any) -> np.ndarray:
    """Return the share of each background row."""
    if background is None:
        raise InvalidParameterError(
            "`background` must be rows to compare with; got None. Pass about 100 training rows."
        )
    if background.shape[0] == 0 or background.shape[1] != X.shape[1]:
        raise InvalidDataError(
            f"`background` must have at least one row and the {X.shape[1]} columns of `X`; got "
            f"shape {tuple(background.shape)}."
        )
    if weight is None:
        return np.full(background.shape[0], 1.0 / background.shape[0])
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (background.shape[0],) or not (weight >= 0).all() or weight.sum() <= 0:
        raise InvalidDataError(
            "`background_weight` must have one weight of at least 0 per background row and a "
            f"positive sum; got shape {weight.shape}."
        )
    return weight / weight.sum()


def _why_inexact(model: Model, columns: UserColumns) -> str | None:
    if columns.of_feature is None:
        return "a preprocessing step computes a feature from several columns"
    return why_no_product(model)


def _exact_values(
    form: ProductForm,
    unwrapped: UnwrappedModel,
    X: Any,
    background: Any,
    shares: np.ndarray,
    n_jobs: int | None,
) -> tuple[np.ndarray, float]:
    rows = as_dense(unwrapped.scaled(X))
    others = as_dense(unwrapped.scaled(background))
    linear = form.linear_parts(rows) - shares @ form.linear_parts(others)
    values = np.ascontiguousarray(linear)
    size = max(_BLOCK // max(len(form.coef) * form.n_columns, 1), 1)
    base = float(shares @ form.scores(others))
    for start in range(0, len(others), size):
        part = slice(start, start + size)
        _add_products(form, rows, form.factors(others[part]), shares[part], values, n_jobs)
    return values, base


def _add_products(
    form: ProductForm,
    rows: np.ndarray,
    background: np.ndarray,
    shares: np.ndarray,
    values: np.ndarray,
    n_jobs: int | None,
) -> None:
    """Add the values of the kernel part, in parallel over the rows."""
    ends, nodes, weights = rules(form.n_columns)

    def explain(start: int, stop: int) -> None:
        for number in range(start, stop):
            factors = form.factors(rows[number : number + 1])[0]
            add_shapley_values(
                factors, background, shares, form.coef, ends, nodes, weights, values[number]
            )

    with RowThreads(n_jobs) as threads:
        list(threads.map(explain, len(rows), _ROWS_PER_TASK))
