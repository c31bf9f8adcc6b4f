"""The model inside a file: skops writes it, and nothing is built before every part is audited.

skops stores a tree of nodes in ``schema.json`` and arrays in ``.npy`` files. The audit lets pass
only the nodes and types that models are made of, no shared ones (a tree whose branches share leaves
can be exponentially large), a bounded number and depth of them, and arrays that are exactly as
large as their bytes.
"""

from __future__ import annotations

import io
import json
import math
import warnings
import zipfile
from dataclasses import dataclass

import numpy as np

from skauc.exceptions import MissingPackageError, ModelFileError
from skauc.persistence.archive import SCHEMA
from skauc.persistence.building import build, is_trusted_function, is_trusted_object

_MOST_NODES = 20_000
_DEEPEST = 60
_DTYPE_KINDS = "biufUSMm"

_BUILTINS = {f"builtins.{name}" for name in ("int", "float", "str", "bool", "NoneType")}
_SCALARS = {
    f"numpy.{name}"
    for name in ("bool", "bool_", "int32", "int64", "float32", "float64", "str_", "datetime64")
}
# The types of each kind of node.
_NODES = {
    "DTypeNode": {"numpy.dtype"},
    "DictNode": {"builtins.dict", "collections.OrderedDict"},
    "JsonNode": _BUILTINS,
    "ListNode": {"builtins.list"},
    "NdArrayNode": {"numpy.ndarray", *_SCALARS},
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "SliceNode": {"builtins.slice"},
    "TupleNode": {"builtins.tuple"},
    "TypeNode": _BUILTINS | _SCALARS,
}
# Those of which there are too many to list.
_TRUSTED = {"FunctionNode": is_trusted_function, "ObjectNode": is_trusted_object}


def dump_payload(tree) -> dict[str, bytes]:
    """Return the members that hold the object."""
    skops_io = _import_skops()
    try:
        content = skops_io.dumps(tree)
    except Exception as error:  # whatever a foreign type does when it is taken apart
        raise ModelFileError(
            f"The model holds something that cannot be stored: {error}. Use steps from "
            "scikit-learn or skauc, without functions of your own."
        ) from error
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    numbers: dict[str, str] = {}
    schema = _simplified(json.loads(members.pop(SCHEMA)), numbers)
    arrays = {new: members[old] for old, new in numbers.items()}
    return {SCHEMA: json.dumps(schema, separators=(",", ":")).encode(), **arrays}


def _simplified(node, numbers: dict[str, str]):
    """Return the tree without the addresses that objects had in memory."""
    if isinstance(node, list):
        return [_simplified(value, numbers) for value in node]
    if not isinstance(node, dict):
        return node
    plain = {key: _simplified(node[key], numbers) for key in node if key != "__id__"}
    if node.get("__loader__") == "NdArrayNode" and "file" in node:
        plain["file"] = numbers.setdefault(node["file"], f"{len(numbers) + 1}.npy")
    return plain


def load_payload(members: dict[str, bytes], max_bytes: int):
    """Audit the members, then build the object; errors say what was found."""
    try:
        if SCHEMA not in members:
            raise ModelFileError("it lacks the member 'schema.json'")
        arrays = {name: content for name, content in members.items() if name != SCHEMA}
        for name, content in arrays.items():
            _check_array(name, content)
        schema = json.loads(members[SCHEMA])
        _Audit(arrays, max_bytes).visit(schema, 0)
        return build(schema, arrays)
    except ModelFileError:
        raise
    except Exception as error:  # a hostile tree can fail in any way
        raise ModelFileError(f"{type(error).__name__}: {str(error)[:200]}") from error


def _import_skops():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its look at all of scikit-learn and SciPy
            import skops.io
    except ImportError as error:
        raise MissingPackageError(
            "Saving models needs skops, which is not installed. "
            "Install it with: pip install 'skauc[files]'"
        ) from error
    return skops.io


def _check_array(name: str, content: bytes) -> None:
    """Raise an error unless the array is as large as its header says, and plain."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    if dtype.kind not in _DTYPE_KINDS or len(shape) > 4 or any(n < 0 for n in shape):
        raise ModelFileError(f"the array {name!r} is of type {str(dtype)[:40]!r}, shape {shape}")
    if math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ModelFileError(f"the array {name!r} is not as large as it says")


@dataclass
class _Audit:
    """A walk over the nodes that counts what building them takes."""

    arrays: dict[str, bytes]
    max_bytes: int
    n_nodes: int = 0
    n_bytes: int = 0

    def visit(self, part, depth: int) -> None:
        """Look at a node, or at a list or dictionary of nodes."""
        self.n_nodes += 1
        if depth > _DEEPEST or self.n_nodes > _MOST_NODES:
            raise ModelFileError("it has too many parts, or parts within parts")
        if isinstance(part, list):
            for value in part:
                self.visit(value, depth + 1)
        elif isinstance(part, dict):
            if "__loader__" in part:
                self._check_node(part)
            for value in part.values():
                self.visit(value, depth + 1)

    def _check_node(self, node: dict) -> None:
        loader, module, name = node["__loader__"], node["__module__"], node["__class__"]
        is_text = all(isinstance(word, str) for word in (loader, module, name))
        if not is_text or not (loader in _NODES or loader in _TRUSTED) or "__id__" in node:
            raise ModelFileError(f"it holds a part of an unknown kind: {str(loader)[:40]!r}")
        path = f"{module}.{name}"
        is_listed = loader in _NODES and path in _NODES[loader]
        if not (is_listed or (loader in _TRUSTED and _TRUSTED[loader](module, name))):
            raise ModelFileError(f"it holds a type that is not trusted: {path[:80]!r}")
        if "file" in node:
            self.n_bytes += len(self.arrays[node["file"]])
            if self.n_bytes > self.max_bytes:
                raise ModelFileError("it repeats an array too often")
