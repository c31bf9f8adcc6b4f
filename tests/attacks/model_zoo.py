"""Fitted models of every kind that a model file can hold, with rows to score."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skauc
from skauc import SparseKernelAUC

Entry = tuple[str, object, object, bool]


def models() -> Iterator[Entry]:
    """Yield name, fitted model, rows to score, and whether to store the history."""
    X, y = make_classification(60, 4, weights=[0.6], flip_y=0.1, random_state=0)
    for name in ("KernelRankSVM", "StructuralAUC", "OAM", "AdaOAM", "SAdaOAM", "OPAUC", "OILK"):
        yield name, getattr(skauc, name)().fit(X, y), X, False
    yield "OPAUC of rank 2", skauc.OPAUC(rank=2, random_state=0).fit(X, y), X, False
    for kernel in ("polynomial", "laplacian"):
        yield f"{kernel} RankSVM", skauc.KernelRankSVM(kernel=kernel).fit(X, y), X, False
    yield "rbf StructuralAUC", skauc.StructuralAUC(kernel="rbf").fit(X, y), X, False
    yield from _sparse_kernel_models(X, y)
    yield from _wrapped(X, y)


def _sparse_kernel_models(X, y) -> Iterator[Entry]:
    plain = SparseKernelAUC(6, random_state=0, n_jobs=2)
    yield "SparseKernelAUC", plain.fit(X, y), X, False
    rich = SparseKernelAUC(
        8, gamma=[0.05, 0.5], linear_term=True, scaling="rank", rotate=True, refine=3
    )
    yield "refined ranks", rich.set_params(random_state=0).fit(X, y), X, True
    labels = np.array(["no", "yes"])[y]
    yield "text labels", SparseKernelAUC(3, random_state=0).fit(X, labels), X, True
    rows = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    yield "sparse rows", SparseKernelAUC(8, random_state=0).fit(rows, y), rows, True
    wide = sparse.csr_array((rows.data, rows.indices * 5000, rows.indptr), shape=(60, 20_000))
    yield "wide sparse rows", SparseKernelAUC(8, random_state=0).fit(wide, y), wide, True
    search = skauc.SparseKernelAUCCV(
        n_basis=3, Cs=[1.0], gammas=["scale"], cv=2, refine=False, rotate=False, random_state=0
    )
    yield "SparseKernelAUCCV", search.fit(X, y), X, True


def _wrapped(X, y) -> Iterator[Entry]:
    import pandas as pd

    final = SparseKernelAUC(4, random_state=0)
    pipeline = make_pipeline(StandardScaler(), final)
    yield "pipeline", pipeline.fit(X, y), X, False
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        town=np.array(["Oslo", "Bern", None], dtype=object)[np.arange(60) % 3]
    )
    table = make_pipeline(skauc.TablePreprocessor(), SparseKernelAUC(4, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "table", table.fit(frame, y), frame, False
        calibrated = CalibratedClassifierCV(make_pipeline(StandardScaler(), final), cv=2)
        yield "calibrated", calibrated.fit(X, y), X, False
