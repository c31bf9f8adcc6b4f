"""Build ONNX graphs of whole models, with pipelines and wrappers.

A model is taken apart into transformers, one estimator of skauc, and the functions that wrappers
(calibration, thresholds) apply to its score. skl2onnx converts the transformers and the estimator.
The wrappers are converted here, because skl2onnx rounds isotonic functions to their steps and
ignores thresholds.
"""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, TensorProto, helper
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)
from skl2onnx.sklapi import CastTransformer
from sklearn.pipeline import Pipeline

from skauc.exceptions import InvalidParameterError
from skauc.onnx.contributions import add_contributions
from skauc.onnx.converters import label_values, register
from skauc.onnx.nodes import GraphNodes
from skauc.onnx.steps import OPSET_OF_WORDS
from skauc.preprocessing import TablePreprocessor
from skauc.unwrapping import UnwrappedModel, unwrap_single

__all__ = ["convert", "register"]

# Versions of the operators that every recent runtime has.
_OPSETS = {"": 17, "ai.onnx.ml": 3}
_TENSORS = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}


def convert(model, X, precision: str | None, contributions=None) -> ModelProto:
    """Return the graph of a fitted model."""
    register()
    opened = unwrap_single(
        model, "converted to ONNX", "Use skl2onnx for models of other libraries."
    )
    is_table = bool(opened.steps) and isinstance(opened.steps[0], TablePreprocessor)
    has_text = is_table and "text" in opened.steps[0].columns_.values()
    if precision is None:
        precision = "float64" if is_table else "float32"
    steps = list(opened.steps)
    if is_table:
        inputs = _table_inputs(opened.steps[0], precision)
    elif hasattr(X, "columns"):
        inputs = _frame_inputs(X, precision)
    else:
        inputs = [("X", _tensor_type(precision)([None, len(opened.input_names(model))]))]
        steps = [CastTransformer(dtype=np.float64), *steps]
    named = [(f"step{number}", step) for number, step in enumerate([*steps, opened.classifier])]
    graph = convert_sklearn(
        Pipeline(named),
        initial_types=inputs,
        target_opset=_OPSETS | ({"": OPSET_OF_WORDS} if has_text else {}),
        options={
            id(opened.classifier): {
                "zipmap": False,
                "contributions": contributions is not None,
            }
        },
    )
    given = {
        variable.name: name for variable, (name, _) in zip(graph.graph.input, inputs, strict=True)
    }
    _rename(graph, given)
    _Ending(graph, _TENSORS[precision]).write(opened, model.classes_)
    if contributions is not None:
        has_names = len(inputs) > 1 or is_table
        names = [name for name, _ in inputs] if has_names else opened.input_names(model)
        add_contributions(graph, opened, names, contributions, _TENSORS[precision])
    return graph


def _rename(model: ModelProto, names: dict[str, str]) -> None:
    """Rename values. skl2onnx replaces spaces in the names of columns by underscores."""
    for variable in (*model.graph.input, *model.graph.output):
        variable.name = names.get(variable.name, variable.name)
    for node in model.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]


def _tensor_type(precision: str):
    return DoubleTensorType if precision == "float64" else FloatTensorType


def _table_inputs(step: TablePreprocessor, precision: str) -> list[tuple]:
    """Return one input per column in use."""
    inputs = []
    for name, kind in step.columns_.items():
        if kind == "date" and precision == "float32":
            raise InvalidParameterError(
                f"Column {name!r} holds dates, whose seconds do not fit into float32. "
                "Use precision='float64'."
            )
        tensor = StringTensorType if kind in ("category", "text") else _tensor_type(precision)
        inputs.append((name, tensor([None, 1])))
    return inputs


def _frame_inputs(frame, precision: str) -> list[tuple]:
    """Return one input per column, of the type of the column."""
    tensors = {"f": _tensor_type(precision), "i": Int64TensorType, "u": Int64TensorType}
    tensors["b"] = BooleanTensorType
    inputs = []
    for name in frame.columns:
        kind = np.asarray(frame[name]).dtype.kind
        inputs.append((str(name), tensors.get(kind, StringTensorType)([None, 1])))
    return inputs


class _Ending(GraphNodes):
    """The last nodes of a graph: probabilities, the threshold, and the names of the outputs."""

    def __init__(self, model: ModelProto, tensor: int):
        super().__init__(model, "skauc ending")
        self.model, self.tensor = model, tensor

    def write(self, opened: UnwrappedModel, classes: np.ndarray) -> None:
        """Replace the outputs of the estimator by those of the whole model."""
        pair = self.node("Cast", [self.estimator_scores()], to=TensorProto.DOUBLE)
        scores = self.node("Gather", [pair, self.constant([1], np.int64)], axis=1)
        threshold, name = opened.threshold or 0.0, "scores"
        positive, columns, n_columns = scores, scores, 1
        if opened.calibrator is not None:
            positive = self.calibrated(opened.calibrator, scores)
            threshold = 0.5 if opened.threshold is None else opened.threshold
            negative = self.node("Sub", [self.constant(1.0), positive])
            columns = self.node("Concat", [negative, positive], axis=1)
            name, n_columns = "probabilities", 2
        # Without a wrapper, the score must exceed the threshold. With one, it may be equal.
        operator = "Greater" if opened.threshold is None else "GreaterOrEqual"
        if len(classes) == 2:  # three or more are grades, which are not predicted
            self.write_label(classes, self.node(operator, [positive, self.constant(threshold)]))
        self.output("Cast", [columns], name, self.tensor, [None, n_columns], to=self.tensor)

    def estimator_scores(self) -> str:
        """Remove the outputs of the estimator; return the name of -score and score."""
        inner = {output.name: self.new_name() for output in self.graph.output}
        _rename(self.model, inner)
        del self.graph.output[:]
        return list(inner.values())[1]

    def write_label(self, classes: np.ndarray, is_positive: str) -> None:
        """Write the label of each row."""
        labels = label_values(classes)
        code = self.node("Cast", [is_positive], to=TensorProto.INT64)
        code = self.node("Reshape", [code, self.constant([-1], np.int64)])
        kind = TensorProto.STRING if labels.dtype.kind == "U" else TensorProto.INT64
        choices = self.constant(labels, labels.dtype)
        self.output("Gather", [choices, code], "label", kind, [None])

    def calibrated(self, calibrator, scores: str) -> str:
        """Return the probability of the positive class."""
        if hasattr(calibrator, "X_thresholds_"):
            return self.isotonic(calibrator, scores)
        if hasattr(calibrator, "beta_"):  # a softmax over -score and score
            slope, offset = -2.0 * calibrator.beta_, 0.0
        else:
            slope, offset = calibrator.a_, calibrator.b_
        power = self.node("Mul", [scores, self.constant(slope)])
        power = self.node("Exp", [self.node("Add", [power, self.constant(offset)])])
        below = self.node("Add", [power, self.constant(1.0)])
        return self.node("Div", [self.constant(1.0), below])

    def isotonic(self, calibrator, scores: str) -> str:
        """Add up the rises of the linear pieces below the score."""
        x, y = calibrator.X_thresholds_, calibrator.y_thresholds_
        if len(x) == 1:
            x, y = np.array([x[0], x[0] + 1.0]), np.array([y[0], y[0]])
        part = self.node("Sub", [scores, self.constant(x[:-1])])
        part = self.node("Div", [part, self.constant(np.diff(x))])
        part = self.node("Min", [part, self.constant(1.0)])
        part = self.node("Max", [part, self.constant(0.0)])
        rise = self.node("MatMul", [part, self.constant(np.diff(y)[:, None])])
        return self.node("Add", [rise, self.constant(y[0])])

    def output(
        self, operator: str, inputs: list[str], name: str, tensor: int, shape: list, **attributes
    ) -> None:
        """Append a node with an output of the graph, renamed if an input has the same name."""
        if name in {given.name for given in self.graph.input}:
            name = f"output {name}"
        self.graph.node.append(helper.make_node(operator, inputs, [name], **attributes))
        self.graph.output.append(helper.make_tensor_value_info(name, tensor, shape))
