"""Fitted models as ONNX graphs, for any runtime."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skauc.exceptions import MissingPackageError
from skauc.validation import check_choice

PRECISIONS = ("float32", "float64")


def to_onnx(model: Any, X: Any = None, *, precision: str | None = None) -> Any:
    """Convert a fitted model, or a pipeline around one, to an ONNX graph.

    The graph has the outputs ``label`` and ``scores``, the decision function as one column; a
    model with probabilities has ``label`` and ``probabilities``, one of more than two grades
    ``scores`` alone. Everything is computed in double precision whatever that of the input.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skauc, or a scikit-learn pipeline or wrapper around one.
    X : array-like or DataFrame, default=None
        Some rows, for their columns and types. They are needed where a pipeline begins with a
        step that takes columns of several types and is not a `TablePreprocessor`.
    precision : {"float32", "float64"}, default=None
        Type of the numbers that go in and of the scores that come out. None is float64 after a
        `TablePreprocessor`, for dates in seconds do not fit into float32, and float32 elsewhere.

    Returns
    -------
    onnx_model : onnx.ModelProto
        The graph. ``onnx_model.SerializeToString()`` is the content of an ``.onnx`` file.

    See Also
    --------
    register_converters : Make skl2onnx itself convert pipelines of your own.

    Notes
    -----
    A table has one input a column, of shape (n, 1): strings for categories and text (empty where
    missing), numbers for the rest, with NaN where missing, 0 and 1 for truth values and seconds
    since 1970 in UTC for dates. Graphs are of ONNX 17, those with text of ONNX 20. A kernel of
    your own, the mean of several calibrated models, and scores that are calibrated twice cannot be
    converted.

    Examples
    --------
    >>> from skauc import SparseKernelAUC, to_onnx
    >>> model = SparseKernelAUC(1).fit([[0.0], [1.0]], [0, 1])
    >>> [output.name for output in to_onnx(model).graph.output]
    ['label', 'scores']
    """
    check_is_fitted(model)
    if precision is not None:
        check_choice("precision", precision, PRECISIONS)
    return _graph_tools().convert(model, X, precision)


def register_converters() -> None:
    """Tell skl2onnx how to convert estimators and steps of skauc.

    `to_onnx` does it by itself. Call it to use ``skl2onnx.to_onnx`` or ``convert_sklearn`` on
    pipelines of your own.

    Examples
    --------
    >>> from skauc.onnx import register_converters
    >>> register_converters()
    """
    _graph_tools().register()


def _graph_tools() -> ModuleType:
    """Return the module that needs skl2onnx, or say how to install it."""
    try:
        from skauc.onnx import graphs
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("skl2onnx", "onnx"):
            raise
        raise MissingPackageError(
            f"Converting to ONNX needs the package {error.name}, which is not installed. "
            "Install it with: pip install 'skauc[onnx]'"
        ) from error
    return graphs
