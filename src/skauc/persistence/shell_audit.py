"""What a shell that skops has stored may hold, checked before skops reads it.

skops checks the type of each object. In addition, this bounds the memory and the time that
reading takes, and refuses objects that no model consists of.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

from skauc.archive import ArchiveError, check_array_header, require

_SCHEMA = "schema.json"
_MEMBER = re.compile(r"schema\.json|\d{1,20}\.npy")
_DEEPEST = 150
_DTYPE_KINDS = "biufUSMm"

# Metrics by which TunedThresholdClassifierCV or a search may have tuned.
_METRICS = (
    *("accuracy_score", "balanced_accuracy_score", "f1_score", "fbeta_score", "precision_score"),
    *("recall_score", "jaccard_score", "matthews_corrcoef", "cohen_kappa_score"),
    *("log_loss", "brier_score_loss"),
)
_FUNCTIONS = {f"sklearn.metrics._classification.{metric}" for metric in _METRICS} | {
    "sklearn.metrics._ranking.average_precision_score",
    "sklearn.metrics._ranking.roc_auc_score",
}
# Types that are trusted in addition to scikit-learn's estimators and NumPy's functions.
TRUSTED = _FUNCTIONS | {
    "numpy.dtype",
    "skauc.persistence.foreign.Part",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.calibration._TemperatureScaling",
    "sklearn.metrics._scorer._CurveScorer",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.model_selection._classification_threshold._CurveScorer",
    "sklearn.model_selection._split.GroupKFold",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.RepeatedStratifiedKFold",
    "sklearn.model_selection._split.StratifiedGroupKFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.model_selection._split.TimeSeriesSplit",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
}
_BUILTINS = {f"builtins.{name}" for name in ("int", "float", "str", "bool")}
_SCALARS = {
    f"numpy.{name}"
    for name in ("bool", "bool_", "int32", "int64", "float32", "float64", "str_", "datetime64")
}
# The types of each kind of node. skops checks those of functions and objects.
_NODES: dict[str, set[str] | None] = {
    "DTypeNode": {"numpy.dtype"},
    "DictNode": {"builtins.dict", "collections.OrderedDict"},
    "FunctionNode": None,
    "JsonNode": None,
    "ListNode": {"builtins.list"},
    "NdArrayNode": {"numpy.ndarray", *_SCALARS},
    "ObjectNode": None,
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "SliceNode": {"builtins.slice"},
    "TupleNode": {"builtins.tuple"},
    "TypeNode": _BUILTINS | _SCALARS,
}


def audit_shell(content: bytes) -> None:
    """Raise an error for a shell that takes too much to read, or holds what models do not."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = archive.infolist()
        require(sum(info.file_size for info in infos) <= len(content), "the size of its steps is")
        for info in infos:
            require(info.compress_type == zipfile.ZIP_STORED, "the compression of its steps is")
            require(bool(_MEMBER.fullmatch(info.filename)), f"its member {info.filename[:40]!r} is")
            if info.filename != _SCHEMA:
                with archive.open(info) as stream:
                    check_array_header(stream, info.file_size, info.filename, _DTYPE_KINDS)
        text = archive.read(_SCHEMA)
    # Parsed JSON takes memory per value. Nodes of skops are long and have few values.
    n_values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    require(n_values <= len(text) // 8 + 1000, "the number of values in its steps is")
    _audit(json.loads(text), 0, {}, {})


def _audit(part: Any, depth: int, sizes: dict[int, int], files: dict[str, int]) -> int:
    """Check a part of the tree and return how many parts it has.

    Nodes with the same number are the same object. They must be of the same size, or a small
    tree could stand for an exponentially large one. Each array belongs to one object.
    """
    require(depth < _DEEPEST, "the depth of its steps is")
    if not isinstance(part, dict | list):
        return 1
    content = part.values() if isinstance(part, dict) else part
    size = 1 + sum(_audit(each, depth + 1, sizes, files) for each in content)
    if isinstance(part, dict) and "__loader__" in part:
        _check_node(part)
        number = part["__id__"]
        require(sizes.setdefault(number, size) == size, "the number of an object is")
        if "file" in part:
            require(files.setdefault(part["file"], number) == number, "an array is")
    return size


def _check_node(node: dict) -> None:
    loader, module, name = (node.get(key) for key in ("__loader__", "__module__", "__class__"))
    is_text = all(isinstance(word, str) for word in (loader, module, name))
    if not is_text or loader not in _NODES:
        raise ArchiveError(f"it holds a part of an unknown kind ({str(loader)[:40]!r})")
    types = _NODES[loader]
    if types is not None and f"{module}.{name}" not in types:
        raise ArchiveError(f"it holds types that are not trusted ({module}.{name})"[:200])
    number = node.get("__id__")
    require(type(number) is int and number > 0, "the number of an object is")
    require("file" not in node or isinstance(node["file"], str), "an array is")
    if loader == "ObjectNode" and isinstance(node.get("content"), dict):
        _check_attribute_names(node["content"].get("content"))


def _check_attribute_names(attributes: Any) -> None:
    if isinstance(attributes, dict):
        hidden = [name for name in attributes if name.startswith("__")]
        require(not hidden, f"the attribute {str(hidden)[:40]} is")
