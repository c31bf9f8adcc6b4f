"""skauc: rank rare events with sparse kernel classifiers that maximise AUC.

Names are imported when they are first used, so ``import skauc`` is fast.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "KernelRankSVM": "skauc.rank_svm",
    "Selection": "skauc.sparse",
    "SparseKernelAUC": "skauc.sparse",
    "SparseKernelAUCCV": "skauc.sparse",
    "StructuralAUC": "skauc.structural",
    "OAM": "skauc.online",
    "OILK": "skauc.online",
    "OPAUC": "skauc.online",
    "AdaOAM": "skauc.online",
    "SAdaOAM": "skauc.online",
    "inspect_model": "skauc.persistence",
    "load_model": "skauc.persistence",
    "save_model": "skauc.persistence",
    "to_onnx": "skauc.onnx",
    "to_source": "skauc.export",
    "TablePreprocessor": "skauc.preprocessing",
    "read_table": "skauc.app.tables",
    "make_report": "skauc.report",
    "warm_up": "skauc.sparse",
}
_SUBPACKAGES = ("explain", "metrics", "online", "persistence", "plotting", "report")

__all__ = [*_HOMES, *_SUBPACKAGES, "__version__"]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"skauc.{name}")
    raise AttributeError(f"module 'skauc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
