"""Converters of our estimators and steps to ONNX operators, which compute in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce

import numpy as np
from onnx import TensorProto
from skl2onnx import update_registered_converter
from skl2onnx.algebra.complex_functions import onnx_cdist
from skl2onnx.algebra.onnx_ops import (
    OnnxAbs,
    OnnxAdd,
    OnnxCast,
    OnnxConcat,
    OnnxCos,
    OnnxDiv,
    OnnxExp,
    OnnxFloor,
    OnnxGather,
    OnnxGreater,
    OnnxIdentity,
    OnnxIsNaN,
    OnnxLessOrEqual,
    OnnxLog,
    OnnxMatMul,
    OnnxMax,
    OnnxMin,
    OnnxMul,
    OnnxNeg,
    OnnxOneHotEncoder,
    OnnxPow,
    OnnxRegexFullMatch,
    OnnxReshape,
    OnnxSign,
    OnnxSin,
    OnnxSqrt,
    OnnxSub,
    OnnxWhere,
)
from skl2onnx.common.data_types import (
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)

from skauc.base import RankingClassifier
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.feature_map import FeatureMap, RankScaling
from skauc.kernels import RBF, Laplacian, Linear, Polynomial, is_sparse
from skauc.model import Model
from skauc.online import OAM, OILK, OPAUC, AdaOAM, SAdaOAM
from skauc.onnx.contributions import MAPPED_ROWS
from skauc.onnx.words import word_pattern
from skauc.preprocessing import ArcSinh, DateFeatures, TablePreprocessor
from skauc.preprocessing.parts import (
    BooleanPart,
    DatePart,
    LevelsPart,
    MissingPart,
    NumericPart,
    TargetPart,
    WordsPart,
    build_parts,
)
from skauc.preprocessing.steps import DAY, PERIODS
from skauc.rank_svm import KernelRankSVM
from skauc.shaped_rbf import ShapedRBF
from skauc.sparse import SparseKernelAUC, SparseKernelAUCCV
from skauc.structural import StructuralAUC
from skauc.support import quiet_overflow

ESTIMATORS = (
    *(SparseKernelAUC, SparseKernelAUCCV, StructuralAUC, KernelRankSVM),
    *(OAM, OPAUC, AdaOAM, SAdaOAM, OILK),
)
# The version of ONNX that brought regular expressions.
OPSET_OF_WORDS = 20


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
    for kind, steps in ((ArcSinh, _arcsinh), (DateFeatures, _date_features)):
        update_registered_converter(
            kind, f"Skauc{kind.__name__}", _step_shapes, _step_converter(steps)
        )
    update_registered_converter(
        TablePreprocessor, "SkaucTablePreprocessor", _step_shapes, _convert_table
    )


class _Builder:
    """Operators of one version of ONNX, over float64."""

    def __init__(self, container):
        self.version = container.target_opset

    def __call__(self, operator, *inputs, **attributes):
        return operator(*inputs, op_version=self.version, **attributes)

    def double(self, value):
        """Return the value as float64."""
        return self(OnnxCast, value, to=TensorProto.DOUBLE)

    def affine(self, value, shift, scale):
        """Return (value - shift) / scale, column by column."""
        return self(OnnxDiv, self(OnnxSub, value, _numbers(shift)), _numbers(scale))


def _numbers(values) -> np.ndarray:
    return np.atleast_1d(np.asarray(values, dtype=np.float64))


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
    build = _Builder(container)
    model: RankingClassifier = operator.raw_operator
    options = container.get_options(model, {"contributions": False})
    name = scope.get_unique_variable_name(MAPPED_ROWS) if options["contributions"] else None
    scores = _scores(build, model._model, build.double(operator.inputs[0]), name)
    is_positive = build(OnnxGreater, scores, _numbers(0.0))
    code = build(OnnxReshape, build(OnnxCast, is_positive, to=TensorProto.INT64), np.array([-1]))
    label = build(OnnxGather, label_values(model.classes_), code, output_names=operator.outputs[:1])
    columns = build(OnnxConcat, build(OnnxNeg, scores), scores, axis=1)
    is_double = isinstance(operator.outputs[1].type, DoubleTensorType)
    kind = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
    out = build(OnnxCast, columns, to=kind, output_names=operator.outputs[1:])
    for part in (label, out):
        part.add_to(scope, container)


def _scores(build: _Builder, model: Model, rows, name: str | None = None):
    """Return linear.x + sum_k coef_k k(z_k, x) + intercept, as a column.

    ``name`` is the name that the rows get as the kernel sees them.
    """
    rows = rows if model.scaling is None else _mapped(build, model.scaling, rows)
    if name is not None:  # skl2onnx removes identities, and their names
        rows = build(OnnxAdd, rows, _numbers(0.0), output_names=[name])
    parts = []
    if model.linear_coef is not None:
        parts.append(build(OnnxMatMul, rows, model.linear_coef[:, None]))
    if len(model.coef) > 0:
        centres = model.centres.toarray() if is_sparse(model.centres) else model.centres
        values = _kernel_values(build, model.kernel, centres.astype(np.float64), rows)
        parts.append(build(OnnxMatMul, values, model.coef[:, None]))
    return build(OnnxAdd, reduce(partial(build, OnnxAdd), parts), _numbers(model.intercept))


def _mapped(build: _Builder, scaling: FeatureMap, rows):
    """Return the rows as the kernel sees them."""
    if scaling.ranks is not None:
        rows = _ranks(build, scaling.ranks, rows)
    return rows if scaling.axes is None else build(OnnxMatMul, rows, scaling.axes)


def _ranks(build: _Builder, scaling: RankScaling, rows):
    """Find the last knot at or below each value by bisection, and interpolate from there.

    No array is larger than the rows. The tables of all features are concatenated in one vector.
    The knots of a feature are padded with infinity up to a power of two. The slope between two
    knots may overflow, and so may the distance, so the share of the distance is computed first.
    """
    knots, levels = scaling.knots.T, scaling.levels.T
    rows = build(OnnxMin, build(OnnxMax, rows, knots[:, 0].copy()), knots[:, -1].copy())
    if not np.isfinite(_ranges(knots)).all():
        units = np.where(np.isfinite(_ranges(knots)), 1.0, 0.25)
        knots, rows = knots * units[:, None], build(OnnxMul, rows, units)
    n_features, n_knots = knots.shape
    width = 1 << n_knots.bit_length()
    # The map is flat at the last knot, and where knots are repeated.
    runs, rises = (np.pad(np.diff(table), ((0, 0), (0, 1))) for table in (knots, levels))
    runs[runs == 0] = 1.0
    place = np.arange(n_features) * width

    def look_up(table, places):
        padding = (0, 0), (0, width - table.shape[1])
        return build(OnnxGather, np.pad(table, padding, constant_values=np.inf).ravel(), places)

    for step in (width >> halving for halving in range(1, width.bit_length())):
        ahead = build(OnnxAdd, place, np.array([step]))
        is_past = build(OnnxLessOrEqual, look_up(knots, ahead), rows)
        place = build(OnnxWhere, is_past, ahead, place)
    distance = build(OnnxSub, rows, look_up(knots, place))
    share = build(OnnxDiv, distance, look_up(runs, place))
    climb = build(OnnxMul, look_up(rises, place), share)
    return build(OnnxAdd, look_up(levels, place), climb)


@quiet_overflow()
def _ranges(knots: np.ndarray) -> np.ndarray:
    """Return the distance of the last knot of each feature from its first."""
    return knots[:, -1] - knots[:, 0]


def _kernel_values(build: _Builder, kernel, centres: np.ndarray, rows):
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
        return build(OnnxExp, build(OnnxMul, distances, _numbers(-kernel.gamma)))
    if isinstance(kernel, Linear):
        return build(OnnxMatMul, rows, centres.T)
    if isinstance(kernel, Polynomial):
        products = build(OnnxMatMul, rows, kernel.gamma * centres.T)
        base = build(OnnxAdd, products, _numbers(kernel.coef0))
        return build(OnnxPow, base, _numbers(kernel.degree))
    raise InvalidParameterError(
        "A model whose `kernel` is a function cannot be converted to ONNX. Use one of the kernels "
        "rbf, laplacian, polynomial and linear."
    )


def _rbf(build: _Builder, kernel: RBF, centres: np.ndarray, rows):
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
    return build(OnnxExp, build(OnnxMin, exponent, _numbers(0.0)))


def _shaped(build: _Builder, kernel: ShapedRBF, centres: np.ndarray, rows):
    """Subtract the square of u = m.(x - z) of ridges from the exponent of round centres.

    Each kind of centre has zeros in the part of the other.
    """
    origin, is_round = centres.mean(axis=0), ~kernel.is_ridge[:, None]
    centres = centres - origin
    moved = build(OnnxSub, rows, origin)
    squares = np.where(is_round, kernel.metric**2, 0.0)
    directions = np.where(is_round, 0.0, kernel.metric)
    exponent = build(OnnxMatMul, build(OnnxMul, moved, moved), -squares.T)
    exponent = build(OnnxAdd, exponent, build(OnnxMatMul, moved, 2 * (squares * centres).T))
    exponent = build(OnnxSub, exponent, np.einsum("kj,kj->k", squares, centres**2))
    along = build(OnnxMatMul, moved, directions.T)
    along = build(OnnxSub, along, np.einsum("kj,kj->k", directions, centres))
    exponent = build(OnnxSub, exponent, build(OnnxMul, along, along))
    return build(OnnxExp, build(OnnxMin, exponent, _numbers(0.0)))


def _step_shapes(operator) -> None:
    n_rows = operator.inputs[0].get_first_dimension()
    n_columns = len(operator.raw_operator.get_feature_names_out())
    operator.outputs[0].set_type(DoubleTensorType([n_rows, n_columns]))


def _step_converter(steps):
    def convert(scope, operator, container):
        build = _Builder(container)
        out = steps(build, operator.raw_operator, build.double(operator.inputs[0]))
        build(OnnxIdentity, out, output_names=operator.outputs).add_to(scope, container)

    return convert


def _arcsinh(build: _Builder, step: ArcSinh | None, rows):
    """Return sign(x) log(|x| + sqrt(x^2 + 1)), whose operators runtimes have in float64."""
    size = build(OnnxAbs, rows)
    root = build(OnnxSqrt, build(OnnxAdd, build(OnnxMul, rows, rows), _numbers(1.0)))
    return build(OnnxMul, build(OnnxSign, rows), build(OnnxLog, build(OnnxAdd, size, root)))


def _date_features(build: _Builder, step: DateFeatures, seconds):
    return _phases(build, step.phases_, seconds)


def _phases(build: _Builder, phases_by_column: list[list[str]], seconds):
    parts = []
    for number, phases in enumerate(phases_by_column):
        column = build(OnnxGather, seconds, np.array([number]), axis=1)
        parts.append(build(OnnxDiv, column, _numbers(DAY)))
        for phase in phases:
            turns = build(OnnxDiv, column, _numbers(PERIODS[phase]))
            turns = build(OnnxSub, turns, build(OnnxFloor, turns))
            angle = build(OnnxMul, turns, _numbers(2 * np.pi))
            parts += [build(OnnxSin, angle), build(OnnxCos, angle)]
    return build(OnnxConcat, *parts, axis=1)


def _convert_table(scope, operator, container) -> None:
    build = _Builder(container)
    inputs = {variable.raw_name: variable for variable in operator.inputs}
    parts = []
    for part in build_parts(operator.raw_operator.parts_):
        columns = [_column(build, inputs, name) for name in part.columns]
        parts.append(_PARTS[type(part)](build, part, build(OnnxConcat, *columns, axis=1)))
    out = build(OnnxConcat, *parts, axis=1)
    build(OnnxIdentity, out, output_names=operator.outputs).add_to(scope, container)


def _column(build: _Builder, inputs: dict, name: str):
    if name not in inputs:
        raise InvalidDataError(
            f"The graph has no input {name!r}. Name the inputs as the columns of the table are."
        )
    variable = inputs[name]
    is_text = isinstance(variable.type, StringTensorType)
    return variable if is_text else build.double(variable)


def _imputed(build: _Builder, part, rows):
    return build(OnnxWhere, build(OnnxIsNaN, rows), _numbers(part.fill), rows)


def _scaled(build: _Builder, scaling: np.ndarray, rows):
    """Apply the robust scaling, arcsinh and the standardisation."""
    median, spread, mean, deviation = scaling
    return build.affine(
        _arcsinh(build, ArcSinh(), build.affine(rows, median, spread)), mean, deviation
    )


def _numeric(build: _Builder, part: NumericPart, rows):
    return _scaled(build, part.scaling, _imputed(build, part, rows))


def _dates(build: _Builder, part: DatePart, rows):
    features = _phases(build, part.phases, _imputed(build, part, rows))
    return _scaled(build, part.scaling, features)


def _missing(build: _Builder, part: MissingPart, rows):
    return build.double(build(OnnxIsNaN, rows))


def _levels(build: _Builder, part: LevelsPart, strings):
    parts = _one_hot(build, part.levels, strings)
    return reduce(lambda left, right: build(OnnxConcat, left, right, axis=1), parts)


def _one_hot(build: _Builder, categories: list[np.ndarray], strings) -> list:
    """Return a matrix of 0 and 1 per column. The row of an unknown level is 0."""
    parts = []
    for number, levels in enumerate(categories):
        column = build(OnnxGather, strings, np.array([number]), axis=1)
        flags = build.double(build(OnnxOneHotEncoder, column, cats_strings=list(levels), zeros=1))
        parts.append(build(OnnxReshape, flags, np.array([-1, len(levels)])))
    return parts


def _words(build: _Builder, part: WordsPart, strings):
    """Return 1 for each word that the text contains."""
    if build.version < OPSET_OF_WORDS:
        raise InvalidParameterError(
            f"Text is searched for words by an operator of ONNX {OPSET_OF_WORDS}; got "
            f"target_opset={build.version}. Set it to {OPSET_OF_WORDS}, or leave columns of text "
            "out and fit again."
        )
    flags = []
    for number, words in enumerate(part.words):
        column = build(OnnxGather, strings, np.array([number]), axis=1)
        flags += [build(OnnxRegexFullMatch, column, pattern=word_pattern(word)) for word in words]
    return build(OnnxConcat, *map(build.double, flags), axis=1)


def _by_target(build: _Builder, part: TargetPart, strings):
    parts = []
    for known, encodings in zip(_one_hot(build, part.levels, strings), part.encodings, strict=True):
        parts.append(build(OnnxMatMul, known, (encodings - part.mean)[:, None]))
    means = build(OnnxConcat, *parts, axis=1)
    return _scaled(build, part.scaling, build(OnnxAdd, means, _numbers(part.mean)))


_PARTS: dict[type, Callable] = {
    NumericPart: _numeric,
    BooleanPart: _imputed,
    DatePart: _dates,
    MissingPart: _missing,
    LevelsPart: _levels,
    TargetPart: _by_target,
    WordsPart: _words,
}
