"""Converters of our estimators to ONNX operators, which compute in float64."""

from __future__ import annotations

import math
from functools import partial, reduce

import numpy as np
from onnx import TensorProto
from skl2onnx import update_registered_converter
from skl2onnx.algebra.complex_functions import onnx_cdist
from skl2onnx.algebra.onnx_ops import (
    OnnxAdd,
    OnnxCast,
    OnnxConcat,
    OnnxExp,
    OnnxGather,
    OnnxGreater,
    OnnxMatMul,
    OnnxMax,
    OnnxMin,
    OnnxMul,
    OnnxNeg,
    OnnxPow,
    OnnxReshape,
    OnnxSub,
)
from skl2onnx.common.data_types import (
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)

from skauc.base import RankingClassifier
from skauc.exceptions import InvalidParameterError
from skauc.feature_map import FeatureMap
from skauc.kernels import RBF, Laplacian, Linear, Polynomial, densified
from skauc.model import Model
from skauc.online import OAM, OILK, OPAUC, AdaOAM, SAdaOAM
from skauc.onnx.building import Builder, numbers
from skauc.onnx.contributions import MAPPED_ROWS
from skauc.onnx.scalings import by_feature
from skauc.onnx.steps import register_steps
from skauc.rank_svm import KernelRankSVM
from skauc.shaped_rbf import ShapedRBF
from skauc.sparse import SparseKernelAUC, SparseKernelAUCCV
from skauc.structural import StructuralAUC

ESTIMATORS = (
    *(SparseKernelAUC, SparseKernelAUCCV, StructuralAUC, KernelRankSVM),
    *(OAM, OPAUC, AdaOAM, SAdaOAM, OILK),
)


# The square of this is finite, and no centre reaches so far.
_FARTHEST = 1e150


def register() -> None:
    """Tell skl2onnx about every class of ours."""
    for kind in ESTIMATORS:
        update_registered_converter(
            kind,
            f"Skauc{kind.__name__}",
            _classifier_shapes,
            _convert_classifier,
            options={
                "zipmap": [False, True],
                "nocl": [False, True],
                "contributions": [False, True],
            },
        )
    register_steps()


def label_type(classes: np.ndarray):
    """Return the ONNX type of labels: strings, or integers for all other labels."""
    is_text = all(isinstance(label, str) for label in classes.tolist())
    return StringTensorType if is_text else Int64TensorType


def label_values(classes: np.ndarray) -> np.ndarray:
    """Return the labels as ONNX has them."""
    is_text = label_type(classes) is StringTensorType
    return np.array(classes.tolist()) if is_text else classes.astype(np.int64)


def _float_type(operator):
    is_double = isinstance(operator.inputs[0].type, DoubleTensorType)
    return DoubleTensorType if is_double else FloatTensorType


def _classifier_shapes(operator) -> None:
    n_rows = operator.inputs[0].get_first_dimension()
    model = operator.raw_operator
    operator.outputs[0].set_type(label_type(model.classes_)([n_rows]))
    operator.outputs[1].set_type(_float_type(operator)([n_rows, 2]))


def _convert_classifier(scope, operator, container) -> None:
    """Write the label, and -score and score, where skl2onnx's wrappers look for them."""
    build = Builder(container)
    model: RankingClassifier = operator.raw_operator
    options = container.get_options(model, {"contributions": False})
    name = scope.get_unique_variable_name(MAPPED_ROWS) if options["contributions"] else None
    scores = _scores(build, model._model, build.double(operator.inputs[0]), name)
    is_positive = build(OnnxGreater, scores, numbers(0.0))
    code = build(OnnxReshape, build(OnnxCast, is_positive, to=TensorProto.INT64), np.array([-1]))
    label = build(OnnxGather, label_values(model.classes_), code, output_names=operator.outputs[:1])
    columns = build(OnnxConcat, build(OnnxNeg, scores), scores, axis=1)
    is_double = isinstance(operator.outputs[1].type, DoubleTensorType)
    kind = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
    out = build(OnnxCast, columns, to=kind, output_names=operator.outputs[1:])
    for part in (label, out):
        part.add_to(scope, container)


def _scores(build: Builder, model: Model, rows, name: str | None = None):
    """Return linear.x + sum_k coef_k k(z_k, x) + intercept, as a column.

    ``name`` is the name that the rows get as the kernel sees them.
    """
    rows = rows if model.scaling is None else _mapped(build, model.scaling, rows)
    if name is not None:  # skl2onnx removes identities, and their names
        rows = build(OnnxAdd, rows, numbers(0.0), output_names=[name])
    parts = []
    if model.linear_coef is not None:
        parts.append(build(OnnxMatMul, rows, model.linear_coef[:, None]))
    if len(model.coef) > 0:
        centres = densified(model.centres)
        values = _kernel_values(build, model.kernel, centres.astype(np.float64), rows)
        parts.append(build(OnnxMatMul, values, model.coef[:, None]))
    return build(OnnxAdd, reduce(partial(build, OnnxAdd), parts), numbers(model.intercept))


def _mapped(build: Builder, scaling: FeatureMap, rows):
    """Return the rows as the kernel sees them."""
    if scaling.by_feature is not None:
        rows = by_feature(build, scaling.by_feature, rows)
    return rows if scaling.axes is None else build(OnnxMatMul, rows, scaling.axes)


def _kernel_values(build: Builder, kernel, centres: np.ndarray, rows):
    if isinstance(kernel, RBF):
        return _rbf(build, kernel, centres, rows)
    if isinstance(kernel, ShapedRBF):
        return _shaped(build, kernel, centres, rows)
    if isinstance(kernel, Laplacian):
        distances = onnx_cdist(
            rows,
            centres,
            metric="cityblock",
            dtype=np.float64,
            op_version=build.version,
        )
        return build(OnnxExp, build(OnnxMul, distances, numbers(-kernel.gamma)))
    if isinstance(kernel, Linear):
        return build(OnnxMatMul, rows, centres.T)
    if isinstance(kernel, Polynomial):
        products = build(OnnxMatMul, rows, kernel.gamma * centres.T)
        base = build(OnnxAdd, products, numbers(kernel.coef0))
        return build(OnnxPow, base, numbers(kernel.degree))
    raise InvalidParameterError(
        "A model whose `kernel` is a function cannot be converted to ONNX. Use one of the kernels "
        "rbf, laplacian, polynomial and linear."
    )


def _rbf(build: Builder, kernel: RBF, centres: np.ndarray, rows):
    """Take one matrix product around the mean of the centres, as `skauc.kernels` does."""
    largest = np.max(kernel.gamma)
    ratios = np.broadcast_to(kernel.gamma / largest, len(centres))
    root = np.full(centres.shape[1], math.sqrt(largest))
    if kernel.scales is not None:
        root = root * kernel.scales
    origin = centres.mean(axis=0)
    centres = (centres - origin) * root
    scaled = build(OnnxMul, build(OnnxSub, rows, origin), root)
    squares = build(
        OnnxMatMul, build(OnnxMul, scaled, scaled), np.outer(np.ones(len(root)), -ratios)
    )
    products = build(OnnxMatMul, scaled, 2 * ratios * centres.T)
    offsets = -ratios * np.einsum("kd,kd->k", centres, centres)
    exponent = build(OnnxAdd, build(OnnxAdd, products, squares), offsets)
    return build(OnnxExp, build(OnnxMin, exponent, numbers(0.0)))


def _shaped(build: Builder, kernel: ShapedRBF, centres: np.ndarray, rows):
    """Subtract the square of u = m.(x - z) of ridges from the exponent of round centres.

    Each kind of centre has zeros in the part of the other. An infinite square times zero would not
    be a number, so distances end where their squares are still finite.
    """
    origin, is_round = centres.mean(axis=0), ~kernel.is_ridge[:, None]
    centres = centres - origin
    moved = build(OnnxMin, build(OnnxSub, rows, origin), numbers(_FARTHEST))
    moved = build(OnnxMax, moved, numbers(-_FARTHEST))
    squares = np.where(is_round, kernel.metric**2, 0.0)
    directions = np.where(is_round, 0.0, kernel.metric)
    exponent = build(OnnxMatMul, build(OnnxMul, moved, moved), -squares.T)
    exponent = build(OnnxAdd, exponent, build(OnnxMatMul, moved, 2 * (squares * centres).T))
    exponent = build(OnnxSub, exponent, np.einsum("kj,kj->k", squares, centres**2))
    along = build(OnnxMatMul, moved, directions.T)
    along = build(OnnxSub, along, np.einsum("kj,kj->k", directions, centres))
    exponent = build(OnnxSub, exponent, build(OnnxMul, along, along))
    return build(OnnxExp, build(OnnxMin, exponent, numbers(0.0)))
