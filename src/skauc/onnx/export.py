"""Fitted models as ONNX graphs, for any runtime."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skauc.exceptions import MissingPackageError
from skauc.validation import check_choice

PRECISIONS = ("float32", "float64")


def to_onnx(
    model: Any, X: Any = None, *, precision: str | None = None, contributions: Any = None
) -> Any:
    """Convert a fitted model, or a pipeline around one, to an ONNX graph.

    The graph has the outputs ``label`` and ``scores``, which is the decision function as one
    column. For a model with probabilities the outputs are ``label`` and ``probabilities``. For a
    model of more than two grades the output is ``scores``. All computations are in double
    precision.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skauc, or a scikit-learn pipeline or wrapper around one.
    X : array-like or DataFrame, default=None
        Some rows, which give the names and types of the columns. They are needed if a pipeline
        starts with a step that takes columns of several types and is not a `TablePreprocessor`.
    precision : {"float32", "float64"}, default=None
        Type of the inputs and of the scores. None means float64 for a model with a
        `TablePreprocessor`, because dates in seconds do not fit into float32, and float32 for all
        other models.

    contributions : True, or {array-like, dataframe} of shape (1, n_columns), default=None
        If given, the graph has one more output, ``contributions``: the exact Shapley values of the
        columns, compared with this row. True is the most typical row of the summary that the model
        keeps of its training rows. The metadata of the graph have the names of the columns
        (``columns``, one per line) and the score of the row (``base_value``). The contributions of
        a row and the base value add up to its score, before any calibration.

    Returns
    -------
    onnx_model : onnx.ModelProto
        The graph. ``onnx_model.SerializeToString()`` is the content of an ``.onnx`` file.

    See Also
    --------
    register_converters : Use skl2onnx directly.

    Notes
    -----
    A graph with a `TablePreprocessor` has one input per column, of shape (n, 1). Categories and
    text are strings, with an empty string for a missing value. All other columns are numbers, with
    NaN for a missing value: truth values are 0 and 1, and dates are seconds since 1970 in UTC.
    Levels have one spelling: times of the day are written as HH:MM:SS, and numbers that were chosen
    as categories without zeros at either end, "7" instead of "007".
    Graphs use ONNX 17, or ONNX 20 if there are columns of text. A kernel that is a function, the
    mean of several calibrated models, and scores that are calibrated twice cannot be converted.

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
    return _graph_tools().convert(model, X, precision, contributions)


def register_converters() -> None:
    """Tell skl2onnx how to convert estimators and steps of skauc.

    Call it before you use ``skl2onnx.to_onnx`` or ``convert_sklearn``. `skauc.to_onnx` does not
    need it.

    Examples
    --------
    >>> from skauc.onnx import register_converters
    >>> register_converters()
    """
    _graph_tools().register()


def _graph_tools() -> ModuleType:
    """Import the module that needs skl2onnx."""
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
