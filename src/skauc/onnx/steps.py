"""Converters of preprocessing steps to ONNX operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
from skl2onnx import update_registered_converter
from skl2onnx.algebra.onnx_ops import (
    OnnxAbs,
    OnnxAdd,
    OnnxConcat,
    OnnxCos,
    OnnxDiv,
    OnnxFloor,
    OnnxGather,
    OnnxGreater,
    OnnxIdentity,
    OnnxIsNaN,
    OnnxLog,
    OnnxMatMul,
    OnnxMul,
    OnnxOneHotEncoder,
    OnnxRegexFullMatch,
    OnnxReshape,
    OnnxSign,
    OnnxSin,
    OnnxSqrt,
    OnnxSub,
    OnnxWhere,
)
from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.onnx.building import Builder, numbers
from skauc.onnx.words import word_pattern
from skauc.preprocessing import ArcSinh, DateFeatures, TablePreprocessor
from skauc.preprocessing.parts import (
    BooleanPart,
    DatePart,
    LevelsPart,
    MissingPart,
    NumericPart,
    StepsPart,
    TargetPart,
    WordsPart,
    build_parts,
)
from skauc.preprocessing.steps import DAY, PERIODS

# The version of ONNX that brought regular expressions.
OPSET_OF_WORDS = 20


def register_steps() -> None:
    """Tell skl2onnx about the preprocessing steps."""
    for kind, steps in ((ArcSinh, _arcsinh), (DateFeatures, _date_features)):
        update_registered_converter(
            kind, f"Skauc{kind.__name__}", _step_shapes, _step_converter(steps)
        )
    update_registered_converter(
        TablePreprocessor, "SkaucTablePreprocessor", _step_shapes, _convert_table
    )


def _step_shapes(operator) -> None:
    n_rows = operator.inputs[0].get_first_dimension()
    n_columns = len(operator.raw_operator.get_feature_names_out())
    operator.outputs[0].set_type(DoubleTensorType([n_rows, n_columns]))


def _step_converter(steps):
    def convert(scope, operator, container):
        build = Builder(container)
        out = steps(build, operator.raw_operator, build.double(operator.inputs[0]))
        build(OnnxIdentity, out, output_names=operator.outputs).add_to(scope, container)

    return convert


def _arcsinh(build: Builder, step: ArcSinh | None, rows):
    """Return sign(x) log(|x| + sqrt(x^2 + 1)), whose operators runtimes have in float64."""
    size = build(OnnxAbs, rows)
    root = build(OnnxSqrt, build(OnnxAdd, build(OnnxMul, rows, rows), numbers(1.0)))
    return build(OnnxMul, build(OnnxSign, rows), build(OnnxLog, build(OnnxAdd, size, root)))


def _date_features(build: Builder, step: DateFeatures, seconds):
    return _phases(build, step.phases_, seconds)


def _phases(build: Builder, phases_by_column: list[list[str]], seconds):
    parts = []
    for number, phases in enumerate(phases_by_column):
        column = build(OnnxGather, seconds, np.array([number]), axis=1)
        parts.append(build(OnnxDiv, column, numbers(DAY)))
        for phase in phases:
            period = numbers(PERIODS[phase])
            begun = build(OnnxMul, build(OnnxFloor, build(OnnxDiv, column, period)), period)
            turns = build(OnnxDiv, build(OnnxSub, column, begun), period)
            angle = build(OnnxMul, turns, numbers(2 * np.pi))
            parts += [build(OnnxSin, angle), build(OnnxCos, angle)]
    return build(OnnxConcat, *parts, axis=1)


def _convert_table(scope, operator, container) -> None:
    build = Builder(container)
    inputs = {variable.raw_name: variable for variable in operator.inputs}
    parts = []
    for part in build_parts(operator.raw_operator.parts_):
        columns = [_column(build, inputs, name) for name in part.columns]
        parts.append(_PARTS[type(part)](build, part, build(OnnxConcat, *columns, axis=1)))
    out = build(OnnxConcat, *parts, axis=1)
    build(OnnxIdentity, out, output_names=operator.outputs).add_to(scope, container)


def _column(build: Builder, inputs: dict, name: str):
    if name not in inputs:
        raise InvalidDataError(
            f"The graph has no input {name!r}. Name the inputs as the columns of the table are."
        )
    variable = inputs[name]
    is_text = isinstance(variable.type, StringTensorType)
    return variable if is_text else build.double(variable)


def _imputed(build: Builder, part, rows):
    return build(OnnxWhere, build(OnnxIsNaN, rows), numbers(part.fill), rows)


def _scaled(build: Builder, scaling: np.ndarray, rows):
    """Apply the robust scaling, arcsinh and the standardisation."""
    median, spread, mean, deviation = scaling
    return build.affine(
        _arcsinh(build, ArcSinh(), build.affine(rows, median, spread)), mean, deviation
    )


def _numeric(build: Builder, part: NumericPart, rows):
    return _scaled(build, part.scaling, _imputed(build, part, rows))


def _dates(build: Builder, part: DatePart, rows):
    features = _phases(build, part.phases, _imputed(build, part, rows))
    return _scaled(build, part.scaling, features)


def _missing(build: Builder, part: MissingPart, rows):
    return build.double(build(OnnxIsNaN, rows))


def _steps(build: Builder, part: StepsPart, rows):
    """Return the first number of each column, plus the changes at all edges below the value."""
    parts = []
    for number, steps in enumerate(part.functions().values()):
        column = build(OnnxGather, rows, np.array([number]), axis=1)
        is_above = build.double(build(OnnxGreater, column, numbers(steps.edges)))
        changes = build(OnnxMatMul, is_above, np.diff(steps.numbers)[:, None])
        known = build(OnnxAdd, changes, numbers(steps.numbers[:1]))
        is_missing = build(OnnxIsNaN, column)
        parts.append(build(OnnxWhere, is_missing, numbers([steps.missing]), known))
    return build(OnnxConcat, *parts, axis=1)


def _levels(build: Builder, part: LevelsPart, strings):
    parts = _one_hot(build, part.levels, strings)
    return reduce(lambda left, right: build(OnnxConcat, left, right, axis=1), parts)


def _one_hot(build: Builder, categories: list[np.ndarray], strings) -> list:
    """Return a matrix of 0 and 1 per column. The row of an unknown level is 0."""
    parts = []
    for number, levels in enumerate(categories):
        column = build(OnnxGather, strings, np.array([number]), axis=1)
        flags = build.double(build(OnnxOneHotEncoder, column, cats_strings=list(levels), zeros=1))
        parts.append(build(OnnxReshape, flags, np.array([-1, len(levels)])))
    return parts


def _words(build: Builder, part: WordsPart, strings):
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


def _by_target(build: Builder, part: TargetPart, strings):
    parts = []
    for known, encodings in zip(_one_hot(build, part.levels, strings), part.encodings, strict=True):
        parts.append(build(OnnxMatMul, known, (encodings - part.mean)[:, None]))
    means = build(OnnxConcat, *parts, axis=1)
    return _scaled(build, part.scaling, build(OnnxAdd, means, numbers(part.mean)))


_PARTS: dict[type, Callable] = {
    NumericPart: _numeric,
    BooleanPart: _imputed,
    DatePart: _dates,
    MissingPart: _missing,
    StepsPart: _steps,
    LevelsPart: _levels,
    TargetPart: _by_target,
    WordsPart: _words,
}
