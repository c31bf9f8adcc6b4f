"""Exact Shapley values of the scores as a further output of a graph, for one background row.

With a_mg and b_mg the factors of a row and of the background row for centre m and column g, and
nodes t and weights w of a Gauss-Legendre rule, the value of column g is

    sum_m coef_m (a_mg - b_mg) sum_t w_t exp(S_mt - L_mgt),
    L_mgt = log(b_mg + t (a_mg - b_mg)),    S_mt = sum_g L_mgt,

plus the linear part. See `skauc.explain.quadrature`. Ridges have the values of
`skauc.explain.ridges`, from all sets of the few columns that a ridge uses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, helper

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.explain.columns import UserColumns
from skauc.explain.products import ProductForm, ridges_of
from skauc.explain.ridges import RidgeForm
from skauc.explain.shapley import as_table, features_of, why_inexact
from skauc.explain.sources import sources_of_steps
from skauc.kernels import as_dense
from skauc.model import without_ridges
from skauc.onnx.nodes import GraphNodes
from skauc.unwrapping import UnwrappedModel

# The converter gives the rows that the kernel sees a name that begins like this.
MAPPED_ROWS = "skauc_mapped_rows"
# More nodes are not needed: the integrand is smooth.
_MOST_NODES = 32
_TINY = 1e-300


def add_contributions(
    graph: ModelProto, opened: UnwrappedModel, names: list[str], background: Any, tensor: int
) -> None:
    """Append the nodes and the output ``contributions``.

    The metadata of the graph have the names of the columns and the score of the background row.
    """
    columns = sources_of_steps(opened.steps, names)
    if columns is None:
        raise InvalidParameterError(
            "`contributions` needs steps that compute each feature from one column. Leave out "
            "steps such as PCA, or use contributions=None."
        )
    problem = why_inexact(opened, UserColumns(names, columns))
    if problem is not None:
        raise InvalidParameterError(
            f"`contributions` needs a model whose Shapley values are exact: {problem}. Use "
            "contributions=None, and skauc.explain.shapley_values for this model."
        )
    model: Any = opened.model
    form = ProductForm.of(without_ridges(model), columns, n_columns=len(names))
    ridges = ridges_of(model, columns, len(names))
    row = as_dense(model.scaled(_background_row(opened, background)))
    base = form.scores(row)[0] + (0.0 if ridges is None else ridges.scores(row)[0])
    found = [
        name for node in graph.graph.node for name in node.output if name.startswith(MAPPED_ROWS)
    ]
    _Contributions(graph, "skauc contributions").write(form, ridges, row, found[-1], tensor)
    for key, value in (("columns", "\n".join(names)), ("base_value", repr(float(base)))):
        graph.metadata_props.add(key=key, value=value)


def _background_row(opened: UnwrappedModel, background: Any) -> np.ndarray:
    if background is True:
        kept = getattr(opened.classifier, "background_", None)
        if kept is None:
            raise InvalidParameterError(
                "`contributions` must be a row to compare with, because the model keeps no summary "
                "of its training rows; got True."
            )
        return as_dense(kept.rows[[int(np.argmax(kept.weights))]])
    row = as_table(background, "contributions")
    if row.shape[0] != 1:
        raise InvalidDataError(f"`contributions` must be one row; got {row.shape[0]} rows.")
    return features_of(opened, row)


class _Contributions(GraphNodes):
    """The nodes of the contributions, in float64."""

    def write(
        self, form: ProductForm, ridges: RidgeForm | None, row: np.ndarray, rows: str, tensor: int
    ) -> None:
        """Write the formula and its output."""
        members = np.zeros((len(form.columns), form.n_columns))
        members[np.arange(len(form.columns)), form.columns] = 1.0
        parts = [self._linear(form, row, rows, members)]
        if len(form.coef):
            parts.append(self._products(form, row, rows, members))
        if ridges is not None:
            parts.append(self._ridges(ridges, row, rows))
        total = parts[0] if len(parts) == 1 else self.node("Sum", parts)
        name = "contributions"
        self.graph.node.append(helper.make_node("Cast", [total], [name], to=tensor))
        shape = [None, form.n_columns]
        self.graph.output.append(helper.make_tensor_value_info(name, tensor, shape))

    def _linear(self, form: ProductForm, row: np.ndarray, rows: str, members: np.ndarray) -> str:
        product = self.node("MatMul", [rows, self.constant(members * form.linear[:, None])])
        return self.node("Sub", [product, self.constant(form.linear_parts(row))])

    def _products(self, form: ProductForm, row: np.ndarray, rows: str, members: np.ndarray) -> str:
        factors = self._factors(form, rows, members)
        before = form.factors(row)[0]
        steps = self.node("Sub", [factors, self.constant(before)])
        n_nodes = min(-(-form.n_columns // 2), _MOST_NODES)
        nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
        last = self.constant([-1], np.int64)
        paths = self.node(
            "Mul", [self.node("Unsqueeze", [steps, last]), self.constant((nodes + 1) / 2)]
        )
        paths = self.node("Add", [paths, self.constant(before[:, :, None])])
        logs = self.node("Log", [self.node("Max", [paths, self.constant(_TINY)])])
        axis = self.constant([2], np.int64)
        sums = self.node("ReduceSum", [logs, axis], keepdims=1)
        others = self.node("Exp", [self.node("Sub", [sums, logs])])
        integrals = self.node("MatMul", [others, self.constant(weights / 2)])
        values = self.node(
            "Mul", [self.node("Mul", [steps, integrals]), self.constant(form.coef[:, None])]
        )
        return self.node("ReduceSum", [values, self.constant([1], np.int64)], keepdims=0)

    def _ridges(self, ridges: RidgeForm, row: np.ndarray, rows: str) -> str:
        """Take the values of all sets of columns of all ridges, then their weighted sums."""
        slopes, offsets, shares = ridges.enumerated(row[0])
        moved = self.node("Sub", [rows, self.constant(row)])
        along = self.node("MatMul", [moved, self.constant(slopes)])
        along = self.node("Add", [along, self.constant(offsets)])
        values = self.node("Exp", [self.node("Neg", [self.node("Mul", [along, along])])])
        return self.node("MatMul", [values, self.constant(shares)])

    def _factors(self, form: ProductForm, rows: str, members: np.ndarray) -> str:
        """Return a_mg, of shape (rows, centres, columns)."""
        middle = self.node("Unsqueeze", [rows, self.constant([1], np.int64)])
        apart = self.node("Sub", [middle, self.constant(form.centres)])
        apart = self.node("Mul", [apart, self.constant(form.scales)])
        apart = self.node("Abs", [apart]) if form.power == 1 else self.node("Mul", [apart, apart])
        distances = self.node("MatMul", [apart, self.constant(members)])
        return self.node(
            "Exp", [self.node("Mul", [distances, self.constant(-form.gammas[:, None])])]
        )
