"""Nodes and constants that are appended to a graph which skl2onnx has made."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, helper, numpy_helper


class GraphNodes:
    """Appends nodes and constants, whose names begin with ``prefix``."""

    def __init__(self, model: ModelProto, prefix: str):
        self.graph = model.graph
        self._prefix, self._n_names = prefix, 0

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        """Append a node and return the name of its output."""
        output = self.new_name()
        self.graph.node.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant and return its name."""
        name, array = self.new_name(), np.asarray(value, dtype=dtype)
        array = array.astype(object) if array.dtype.kind == "U" else array
        self.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def new_name(self) -> str:
        """Return a name that is not in use."""
        self._n_names += 1
        return f"{self._prefix} {self._n_names}"
