"""Importing: names are there from the start, and packages are loaded when they are needed."""

import json
import subprocess
import sys
from importlib import metadata

import pytest

import skauc

OPTIONAL = {
    *("numba", "llvmlite", "matplotlib", "typer", "rich", "pandas", "polars", "pyarrow", "arff"),
    *("skops", "skl2onnx", "onnx", "onnxruntime", "lightgbm", "dask", "distributed", "torch"),
}


def loaded_by(statement):
    """The packages that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return {name.partition(".")[0] for name in json.loads(answer.stdout)}


def test_import_skauc_loads_next_to_nothing():
    assert not loaded_by("import skauc") & (OPTIONAL | {"numpy", "scipy", "sklearn"})


def test_names_load_no_optional_package_that_scikit_learn_does_not():
    """scikit-learn loads pandas and rich by itself where they are installed."""
    scikit_learn = loaded_by(
        "import sklearn.linear_model, sklearn.cluster, sklearn.model_selection"
    )
    statement = "from skauc import *; from skauc.online import prequential_auc"
    assert not (loaded_by(statement) - scikit_learn) & OPTIONAL


def test_numba_is_loaded_by_the_first_fit():
    statement = "from skauc import SparseKernelAUC; SparseKernelAUC(1).fit([[0.0], [1.0]], [0, 1])"
    assert "numba" in loaded_by(statement)


def test_dir_lists_what_there_is():
    assert set(dir(skauc)) == set(skauc.__all__)
    assert {"SparseKernelAUC", "metrics", "__version__"} <= set(dir(skauc))
    for name in dir(skauc):
        assert getattr(skauc, name) is not None


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'skauc' has no attribute 'SparseAUC'"):
        skauc.SparseAUC  # noqa: B018
    with pytest.raises(ImportError, match="SparseAUC"):
        exec("from skauc import SparseAUC")


def test_the_version_is_that_of_the_distribution():
    try:
        installed = metadata.version("skauc")
    except metadata.PackageNotFoundError:
        pytest.skip("skauc is run from its source")
    assert skauc.__version__ == installed
