"""Record the numbers that fits give, and compare them after a change of the code.

Record before the change, compare after it::

    python tools/record_fits.py record tools/recorded_fits.json
    python tools/record_fits.py compare tools/recorded_fits.json
    python tools/record_fits.py compare tools/recorded_fits.json --only "^cv"

Each configuration of `FITS` is fitted, and its scores of held-out rows, centres, coefficients,
objectives and AUCs are written to a file of JSON. ``compare`` fits again and prints, for each
configuration, the largest relative difference from the file and where it is, or "identical" where
everything is the same to the last bit. A difference of 0 says that numbers beyond those written are
not: they are compared by a digest. It exits with 1 where a difference exceeds 1e-10, a fit fails,
or the file has a configuration that the table lacks.

Only the public interface is used. Where a parameter, a value or a fitted attribute gets another
name, edit the tables of this file. The names of configurations, and of what is recorded of each,
are those of the file of JSON and stay.

Everything runs on one thread, unless a configuration says otherwise. The same numbers to the last
bit can be expected on the same machine with the same packages; the file says on which it was
recorded. Most configurations use made-up rows. The others need the archives of the paper's data
sets, in the folder named by the environment variable SKAUC_DATA or else in
``../shared/data``, and are left out where there is none.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import metadata
from pathlib import Path

# Read when NumPy and torch are loaded, here and in the processes that are started from here.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ.pop("SKAUC_GPU_DEVICE", None)

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.metrics.pairwise import euclidean_distances  # noqa: E402
from sklearn.model_selection import StratifiedKFold  # noqa: E402

import skauc  # noqa: E402
from skauc import Selection  # noqa: E402

# -- what is fitted ----------------------------------------------------------------------------

# The largest relative difference that is none.
TOLERANCE = 1e-10
# Numbers that are written: scores of held-out rows, whole numbers and others of any other array.
# Of what is beyond them there is a digest.
N_SCORES = 36
N_WHOLE = 64
N_VALUES = 12
# Rows in a call of `partial_fit` and in a chunk of a dask array.
CHUNK_ROWS = 170
# Fitted attributes that are recorded where an estimator has them: the name in the file, and the
# name on the estimator.
ATTRIBUTES = {
    "basis_indices": "basis_indices_",
    "dual_coef": "dual_coef_",
    "linear_coef": "linear_coef_",
    "coef": "coef_",
    "intercept": "intercept_",
    "support": "support_",
    "n_support_unpolished": "n_support_unpolished_",
    "gamma": "gamma_",
    "length_scales": "length_scales_",
    "objective": "objective_",
    "dual_gap": "dual_gap_",
    "n_iter": "n_iter_",
    "n_samples_seen": "n_samples_seen_",
    "n_splits": "n_splits_",
    "best_score": "best_score_",
}
CENTRES = {"basis_vectors": "basis_vectors_", "support_vectors": "support_vectors_"}
# The same of each record of a path.
PATH_COLUMNS = {
    "n_basis": "n_basis",
    "objective": "objective",
    "train_auc": "train_auc",
    "validation_auc": "validation_auc",
    "n_iter": "n_iter",
    "is_refined": "is_refined",
}
# Parameters of SparseKernelAUC that have another name than in the file: the name now, and there.
RENAMED: dict[str, str] = {}
# What an engine takes, by where the work is to be done.
PLACES = {
    None: {},
    "cpu": {"engine": "cpu"},
    "gpu": {"engine": "gpu"},
    "cluster": {"engine": "cluster"},
    "cluster of gpus": {"engine": "cluster"},
}


@dataclass(frozen=True)
class Fit:
    """One configuration.

    Parameters
    ----------
    estimator : str
        Name of the class.
    data : str
        Name of the rows, one of `DATA`.
    parameters : dict
        Arguments of the constructor. ``random_state`` is 0 where there is one and it is not named.
    rows : {"dense", "float32", "csr", "dask", "frame"}
        The form in which the training rows are passed.
    is_weighted : bool
        Whether there are sample weights, some of them zero.
    place : str or None
        Where the work is done, one of `PLACES`.
    how : {"fit", "partial_fit", "both", "resumed"}
        Calls by which the rows are learnt.
    also : tuple of str
        What is recorded besides: members of `EXTRAS`.
    """

    estimator: str
    data: str
    parameters: dict = field(default_factory=dict)
    rows: str = "dense"
    is_weighted: bool = False
    place: str | None = None
    how: str = "fit"
    also: tuple[str, ...] = ()


def inverse_quadratic(rows, centres):
    """Return a kernel matrix, 1 / (1 + |x - z|^2 / n_features), dense or sparse rows alike."""
    return 1.0 / (1.0 + euclidean_distances(rows, centres, squared=True) / rows.shape[1])


class InterruptedKernel:
    """The same kernel, which fails once, at a call of that number."""

    def __init__(self, n_calls: int):
        self.n_left = n_calls

    def __call__(self, rows, centres):
        """Return the kernel matrix."""
        self.n_left -= 1
        if self.n_left == 0:
            raise InterruptedError("as asked")
        return inverse_quadratic(rows, centres)


# Neither refined nor with a linear term, and centres chosen on all rows, unless they are named.
PLAIN = {
    "refine": False,
    "linear_term": False,
    "selection": Selection(n_rows=None),
    "scaling": None,
}


def sparse_auc(data: str, parameters: dict | None = None, *options, **more) -> Fit:
    """Return a fit of `SparseKernelAUC`. Without parameters it has the defaults."""
    own = {} if parameters is None else {**PLAIN, **parameters}
    return Fit("SparseKernelAUC", data, own, *options, **more)


search = partial(Fit, "SparseKernelAUCCV")
rank_svm = partial(Fit, "KernelRankSVM")
structural = partial(Fit, "StructuralAUC")

FEW = {"n_basis": 12}
# A search that takes a second or two.
SMALL_SEARCH = {
    "n_basis": 8,
    "Cs": [0.3, 3.0, 30.0],
    "gammas": ["scale", 0.5],
    "linear_term": False,
    "scaling": None,
    "refine": False,
    "rotate": False,
    "selection": Selection(n_candidates=40),
    "cv": 3,
}

FITS: dict[str, Fit] = {
    # SparseKernelAUC: selections.
    "sparse: defaults": sparse_auc("bends", also=("function", "formats")),
    "sparse: orthogonal": sparse_auc("bends", {**FEW, "selection": "orthogonal", "C": 10.0}),
    "sparse: greedy": sparse_auc("bends", {**FEW, "selection": "greedy"}),
    "sparse: exact": sparse_auc("bends", {**FEW, "selection": "exact"}),
    "sparse: exhaustive": sparse_auc(
        "bends", {"n_basis": 6, "selection": Selection("exhaustive", n_candidates=15)}
    ),
    "sparse: random": sparse_auc("bends", {**FEW, "selection": "random"}),
    "sparse: kmeans": sparse_auc("bends", {**FEW, "selection": "kmeans"}),
    "sparse: all rows are candidates": sparse_auc(
        "bends", {"n_basis": 6, "selection": Selection(n_candidates=1000)}
    ),
    "sparse: ties": sparse_auc("counts", {"n_basis": 20, "C": 3.0}, also=("stages",)),
    "sparse: words as labels": sparse_auc("named", FEW),
    "sparse: another seed": sparse_auc("bends", {**FEW, "random_state": 17}),
    # Schedules and solvers.
    "sparse: geometric": sparse_auc(
        "bends", {**FEW, "selection": Selection(retrain="geometric")}, also=("stages",)
    ),
    "sparse: doubling": sparse_auc(
        "bends", {**FEW, "selection": Selection(retrain="doubling")}, also=("stages",)
    ),
    "sparse: always": sparse_auc(
        "bends", {**FEW, "selection": Selection("greedy", retrain="always")}
    ),
    "sparse: cholesky": sparse_auc("bends", {**FEW, "selection": Selection(solver="cholesky")}),
    "sparse: cg": sparse_auc("bends", {**FEW, "selection": Selection(solver="cg")}),
    "sparse: cg, greedy, linear term": sparse_auc(
        "bends", {**FEW, "selection": Selection("greedy", solver="cg"), "linear_term": True}
    ),
    "sparse: loose": sparse_auc("bends", {**FEW, "tol": 1e-2, "selection": Selection(max_iter=2)}),
    # Kernels.
    "sparse: laplacian": sparse_auc("bends", {**FEW, "kernel": "laplacian"}),
    "sparse: polynomial": sparse_auc(
        "bends", {**FEW, "kernel": "polynomial", "degree": 2, "coef0": 0.5, "gamma": 0.2}
    ),
    "sparse: linear": sparse_auc("bends", {"n_basis": 4, "kernel": "linear"}),
    "sparse: callable": sparse_auc("bends", {**FEW, "kernel": inverse_quadratic}),
    "sparse: gamma auto": sparse_auc("bends", {**FEW, "gamma": "auto"}),
    "sparse: three widths": sparse_auc("bends", {**FEW, "gamma": [0.02, 0.1, 0.5]}),
    "sparse: three widths, greedy": sparse_auc(
        "bends", {**FEW, "gamma": [0.02, 0.1, 0.5], "selection": "greedy"}
    ),
    "sparse: linear term": sparse_auc("bends", {**FEW, "linear_term": True}, also=("stages",)),
    "sparse: widths and linear term": sparse_auc(
        "bends", {**FEW, "gamma": (0.05, 0.5), "linear_term": True, "C": 0.3}
    ),
    # Features before the kernel.
    "sparse: raw tails": sparse_auc("tails", FEW),
    "sparse: ranks": sparse_auc("tails", {**FEW, "scaling": "rank"}, also=("function",)),
    "sparse: normal": sparse_auc("tails", {**FEW, "scaling": "normal", "linear_term": True}),
    "sparse: axes": sparse_auc("bends", {**FEW, "rotate": True}, also=("stages",)),
    "sparse: ranks, axes, refined": sparse_auc(
        "tails",
        {"n_basis": 8, "scaling": "rank", "rotate": True, "refine": 10},
        also=("stages",),
    ),
    # Refinement and early stopping.
    "sparse: refined": sparse_auc(
        "bends", {**FEW, "refine": True}, also=("stages", "function", "formats")
    ),
    "sparse: refined, ten steps": sparse_auc("bends", {**FEW, "refine": 10}, also=("stages",)),
    "sparse: refined, widths, linear term": sparse_auc(
        "bends", {"n_basis": 8, "refine": 10, "gamma": [0.05, 0.5], "linear_term": True}
    ),
    "sparse: early stopping": sparse_auc(
        "bends", {"n_basis": 64, "early_stopping": True, "C": 10.0}
    ),
    "sparse: early stopping, refined": sparse_auc(
        "bends",
        {"n_basis": 24, "early_stopping": True, "refine": True, "validation_fraction": 0.2},
    ),
    "sparse: resumed": sparse_auc(
        "bends", {**FEW, "kernel": InterruptedKernel(120)}, how="resumed"
    ),
    # Weights and formats of rows.
    "sparse: weights": sparse_auc("bends", FEW, is_weighted=True),
    "sparse: weights, ranks, axes": sparse_auc(
        "tails", {**FEW, "scaling": "rank", "rotate": True}, is_weighted=True
    ),
    "sparse: weights, refined": sparse_auc("bends", {**FEW, "refine": True}, is_weighted=True),
    "sparse: weights, kmeans": sparse_auc(
        "bends", {**FEW, "selection": "kmeans"}, is_weighted=True
    ),
    "sparse: csr": sparse_auc("holes", FEW, rows="csr", also=("formats",)),
    "sparse: csr, refined": sparse_auc("holes", {"n_basis": 8, "refine": 10}, rows="csr"),
    "sparse: csr, laplacian, weights": sparse_auc(
        "holes", {"n_basis": 8, "kernel": "laplacian"}, rows="csr", is_weighted=True
    ),
    "sparse: csr, polynomial, linear term": sparse_auc(
        "holes", {"n_basis": 8, "kernel": "polynomial", "linear_term": True}, rows="csr"
    ),
    "sparse: csr, kmeans": sparse_auc("holes", {**FEW, "selection": "kmeans"}, rows="csr"),
    "sparse: float32": sparse_auc("bends", FEW, rows="float32", also=("formats",)),
    "sparse: float32, refined": sparse_auc("bends", {**FEW, "refine": 10}, rows="float32"),
    "sparse: float32, ranks": sparse_auc("tails", {**FEW, "scaling": "normal"}, rows="float32"),
    # More than 10,000 rows: pairs in bins, columns in single precision.
    "many: orthogonal": sparse_auc("ijcnn1", FEW, also=("stages", "formats")),
    "many: greedy": sparse_auc("ijcnn1", {**FEW, "selection": "greedy"}),
    "many: exact": sparse_auc(
        "ijcnn1", {"n_basis": 6, "selection": Selection("exact", n_candidates=30, n_rows=None)}
    ),
    "many: kmeans": sparse_auc("ijcnn1", {"n_basis": 8, "selection": "kmeans"}),
    "many: polynomial": sparse_auc(
        "ijcnn1", {"n_basis": 8, "kernel": "polynomial", "selection": "greedy"}
    ),
    "many: laplacian": sparse_auc(
        "ijcnn1",
        {"n_basis": 4, "kernel": "laplacian", "selection": Selection(n_candidates=20, n_rows=None)},
    ),
    "many: widths and linear term": sparse_auc(
        "ijcnn1", {"n_basis": 8, "gamma": [0.2, 1.0, 5.0], "linear_term": True}
    ),
    "many: weights": sparse_auc("ijcnn1", {"n_basis": 8, "C": 10.0}, is_weighted=True),
    "many: cg": sparse_auc(
        "ijcnn1", {"n_basis": 8, "selection": Selection(solver="cg", n_rows=None)}
    ),
    "many: csr": sparse_auc("ijcnn1", {"n_basis": 8}, rows="csr"),
    "many: float32": sparse_auc("ijcnn1", {"n_basis": 8}, rows="float32"),
    "many: ranks and axes": sparse_auc("ijcnn1", {"n_basis": 8, "scaling": "rank", "rotate": True}),
    "many: early stopping": sparse_auc("ijcnn1", {"n_basis": 24, "early_stopping": True}),
    "many: refined": sparse_auc("ijcnn1", {"n_basis": 8, "refine": True, "tol": 1e-3}),
    "many: refined, ten steps": sparse_auc("ijcnn1", {"n_basis": 8, "refine": 10}),
    "many: two threads": sparse_auc("ijcnn1", {"n_basis": 8, "n_jobs": 2}),
    "many: a sample": sparse_auc("crowd", {"n_basis": 6, "selection": "orthogonal"}),
    "many: a sample, weights": sparse_auc(
        "crowd", {"n_basis": 4, "selection": "greedy", "C": 10.0}, is_weighted=True
    ),
    "many: scores in bins": sparse_auc(
        "multitude", {"n_basis": 3, "selection": Selection(n_candidates=10, n_rows=None)}
    ),
    # The other engines.
    "cpu: named": sparse_auc("bends", FEW, place="cpu"),
    "gpu: orthogonal": sparse_auc("bends", FEW, place="gpu"),
    "gpu: greedy, widths, linear term": sparse_auc(
        "bends",
        {**FEW, "selection": "greedy", "gamma": [0.05, 0.5], "linear_term": True},
        place="gpu",
    ),
    "gpu: exact": sparse_auc("bends", {"n_basis": 6, "selection": "exact"}, place="gpu"),
    "gpu: laplacian": sparse_auc("bends", {"n_basis": 8, "kernel": "laplacian"}, place="gpu"),
    "gpu: polynomial": sparse_auc("bends", {"n_basis": 8, "kernel": "polynomial"}, place="gpu"),
    "gpu: linear": sparse_auc("bends", {"n_basis": 4, "kernel": "linear"}, place="gpu"),
    "gpu: exhaustive": sparse_auc(
        "bends", {"n_basis": 4, "selection": Selection("exhaustive", n_candidates=8)}, place="gpu"
    ),
    "gpu: kmeans, cg": sparse_auc(
        "bends", {"n_basis": 8, "selection": Selection("kmeans", solver="cg")}, place="gpu"
    ),
    "gpu: float32, axes": sparse_auc(
        "bends", {"n_basis": 8, "rotate": True}, rows="float32", place="gpu"
    ),
    "gpu: refined": sparse_auc("bends", {"n_basis": 8, "refine": 10}, place="gpu"),
    "gpu: ranks, early stopping": sparse_auc(
        "tails", {**FEW, "scaling": "rank", "early_stopping": True}, place="gpu"
    ),
    "gpu: csr, weights": sparse_auc("holes", FEW, rows="csr", is_weighted=True, place="gpu"),
    "gpu: many": sparse_auc("ijcnn1", {"n_basis": 8}, place="gpu"),
    "gpu: many, refined": sparse_auc("ijcnn1", {"n_basis": 4, "refine": 10}, place="gpu"),
    "gpu: search": search("bends", SMALL_SEARCH, place="gpu"),
    "gpu: search, refined": search("bends", {**SMALL_SEARCH, "refine": 10}, place="gpu"),
    "cluster: orthogonal": sparse_auc(
        "bends", FEW, rows="dask", place="cluster", also=("dask", "stages")
    ),
    "cluster: greedy, widths, linear term": sparse_auc(
        "bends",
        {"n_basis": 6, "selection": "greedy", "gamma": [0.05, 0.5], "linear_term": True},
        rows="dask",
        place="cluster",
    ),
    "cluster: kmeans, weights": sparse_auc(
        "bends", {"n_basis": 6, "selection": "kmeans"}, "dask", is_weighted=True, place="cluster"
    ),
    "cluster: callable": sparse_auc(
        "bends", {"n_basis": 4, "kernel": inverse_quadratic}, rows="dask", place="cluster"
    ),
    "cluster: ranks, axes": sparse_auc(
        "tails",
        {"n_basis": 6, "scaling": "rank", "rotate": True},
        rows="dask",
        place="cluster",
    ),
    "cluster: early stopping": sparse_auc(
        "bends", {"n_basis": 16, "early_stopping": True}, rows="dask", place="cluster"
    ),
    "cluster: refined": sparse_auc(
        "bends", {"n_basis": 6, "refine": 10}, rows="dask", place="cluster"
    ),
    "cluster: dataframe": sparse_auc("bends", {"n_basis": 4}, rows="frame", place="cluster"),
    "cluster: csr": sparse_auc("holes", {"n_basis": 6}, rows="csr", place="cluster"),
    "cluster: many": sparse_auc("ijcnn1", {"n_basis": 6}, rows="dask", place="cluster"),
    "cluster: many, refined": sparse_auc(
        "ijcnn1", {"n_basis": 4, "refine": 10}, rows="dask", place="cluster"
    ),
    "cluster: search": search(
        "bends",
        {**SMALL_SEARCH, "n_basis": 4, "Cs": [1.0, 10.0], "gammas": ["scale"], "cv": 2},
        rows="dask",
        place="cluster",
    ),
    "cluster: search, refined": search(
        "bends",
        {**SMALL_SEARCH, "n_basis": 4, "Cs": 3.0, "gammas": ["scale"], "refine": 10, "cv": 2},
        rows="dask",
        place="cluster",
    ),
    "cluster of gpus: orthogonal": sparse_auc(
        "bends", {"n_basis": 6}, rows="dask", place="cluster of gpus"
    ),
    # SparseKernelAUCCV.
    "cv: small": search("bends", SMALL_SEARCH),
    "cv: widths together, linear term": search(
        "bends",
        {**SMALL_SEARCH, "gammas": ["auto", (0.05, 0.2, 1.0)], "linear_term": "auto"},
        also=("stages",),
    ),
    "cv: scalings": search("tails", {**SMALL_SEARCH, "scaling": "auto"}),
    "cv: refined or not": search("bends", {**SMALL_SEARCH, "refine": "auto"}),
    "cv: refined, turned or not": search(
        "bends", {**SMALL_SEARCH, "refine": 10, "rotate": "auto"}, also=("stages",)
    ),
    "cv: weights": search("bends", SMALL_SEARCH, is_weighted=True),
    "cv: weights, refined": search(
        "bends", {**SMALL_SEARCH, "refine": 10, "gammas": ["scale"]}, is_weighted=True
    ),
    "cv: csr": search("holes", {**SMALL_SEARCH, "scaling": "auto", "refine": "auto"}, rows="csr"),
    "cv: folds of its own, two jobs": search(
        "bends", {**SMALL_SEARCH, "cv": StratifiedKFold(2), "n_jobs": 2}
    ),
    "cv: default grid": search("bends", {"n_basis": 8, "refine": False, "cv": 2}),
    "cv: defaults": search("sonar", {"n_jobs": 2}),
    "cv: a thousand rows": search(
        "thousand", {**SMALL_SEARCH, "refine": "auto", "cv": None, "n_basis": 6}
    ),
    "cv: two thousand rows": search(
        "thousands", {**SMALL_SEARCH, "refine": "auto", "cv": 2, "n_basis": 4}
    ),
    "cv: many rows": search(
        "throng",
        {**SMALL_SEARCH, "refine": "auto", "cv": 2, "n_basis": 4, "gammas": ["scale"]},
    ),
    # KernelRankSVM.
    "rank svm: two classes": rank_svm("bends", also=("function", "formats")),
    "rank svm: C and tol": rank_svm("bends", {"C": 10.0, "tol": 1e-5}),
    "rank svm: weights": rank_svm("bends", is_weighted=True),
    "rank svm: few iterations": rank_svm("bends", {"C": 100.0, "max_iter": 3}),
    "rank svm: small cache": rank_svm("bends", {"cache_size": 1.3}),
    "rank svm: small cache, two threads": rank_svm("bends", {"cache_size": 1.3, "n_jobs": 2}),
    "rank svm: laplacian": rank_svm("bends", {"kernel": "laplacian"}),
    "rank svm: polynomial": rank_svm("bends", {"kernel": "polynomial", "degree": 2}),
    "rank svm: linear": rank_svm("bends", {"kernel": "linear"}),
    "rank svm: callable": rank_svm("bends", {"kernel": inverse_quadratic}),
    "rank svm: csr": rank_svm("holes", rows="csr"),
    "rank svm: float32": rank_svm("bends", rows="float32"),
    "rank svm: grades in queries": rank_svm("grades", {"C": 3.0}),
    "rank svm: grades, weights": rank_svm("grades", {"cache_size": 0.8}, is_weighted=True),
    "rank svm: more than 5,000 rows": rank_svm("six thousand", {"tol": 1e-2, "cache_size": 60}),
    # StructuralAUC.
    "structural: linear": structural("bends", {"C": 0.1}, also=("function", "formats")),
    "structural: weights": structural("bends", {"C": 0.1}, is_weighted=True),
    "structural: csr": structural("holes", {"C": 0.1, "tol": 1e-2}, rows="csr"),
    "structural: float32": structural("bends", {"C": 0.1}, rows="float32"),
    "structural: rbf": structural("bends", {"C": 0.1, "kernel": "rbf", "tol": 1e-2}),
    "structural: rbf, not kept": structural(
        "bends", {"C": 0.1, "kernel": "rbf", "tol": 5e-2, "cache_size": 1.5}
    ),
    "structural: rbf, weights": structural(
        "bends", {"C": 0.1, "kernel": "rbf", "tol": 5e-2}, is_weighted=True
    ),
    "structural: laplacian, csr": structural(
        "holes", {"C": 0.03, "kernel": "laplacian", "tol": 5e-2}, rows="csr"
    ),
    "structural: polynomial": structural(
        "bends", {"C": 0.01, "kernel": "polynomial", "degree": 2, "gamma": 0.1, "tol": 5e-2}
    ),
    "structural: callable": structural(
        "bends", {"C": 0.1, "kernel": inverse_quadratic, "tol": 5e-2}
    ),
    # Online learners.
    "oam: sequential": Fit("OAM", "bends", also=("function", "formats")),
    "oam: gradient": Fit("OAM", "bends", {"update": "gradient", "C": 0.01}),
    "oam: fifo, last weights": Fit(
        "OAM", "bends", {"buffer": "fifo", "buffer_size": 20, "average": False}
    ),
    "oam: rsx, one pass in order": Fit(
        "OAM", "bends", {"buffer": "rsx", "buffer_size": 20, "n_epochs": 1, "shuffle": False}
    ),
    "oam: pieces": Fit("OAM", "bends", {"buffer_size": 30}, how="partial_fit"),
    "oam: pieces, csr": Fit("OAM", "holes", {"update": "gradient"}, rows="csr", how="partial_fit"),
    "adaoam: defaults": Fit("AdaOAM", "bends"),
    "adaoam: last weights": Fit(
        "AdaOAM", "bends", {"average": False, "eta": 0.5, "lam": 0.01, "delta": 0.1}
    ),
    "adaoam: pieces": Fit("AdaOAM", "bends", how="partial_fit"),
    "adaoam: fit, then pieces": Fit("AdaOAM", "bends", {"n_epochs": 2}, how="both"),
    "sadaoam: defaults": Fit("SAdaOAM", "bends"),
    "sadaoam: average, theta": Fit("SAdaOAM", "bends", {"average": True, "theta": 0.3}),
    "sadaoam: pieces": Fit("SAdaOAM", "bends", {"theta": 0.3}, how="partial_fit"),
    "opauc: defaults": Fit("OPAUC", "bends"),
    "opauc: last weights": Fit("OPAUC", "bends", {"average": False, "eta": 0.1, "lam": 0.01}),
    "opauc: rank": Fit("OPAUC", "bends", {"rank": 3}),
    "opauc: pieces": Fit("OPAUC", "bends", how="partial_fit"),
    "opauc: rank, pieces, csr": Fit("OPAUC", "holes", {"rank": 5}, rows="csr", how="partial_fit"),
    "opauc: float32": Fit("OPAUC", "bends", rows="float32"),
    "oilk: reservoir": Fit("OILK", "bends", {"buffer_size": 30}, also=("function", "formats")),
    "oilk: fifo, violators": Fit(
        "OILK", "bends", {"buffer": "fifo", "buffer_size": 20, "n_violators": 5, "gamma": 0.2}
    ),
    "oilk: rsx": Fit("OILK", "bends", {"buffer": "rsx", "buffer_size": 20, "C": 10.0}),
    "oilk: no compensation": Fit(
        "OILK", "bends", {"buffer_size": 20, "compensate": False, "eta": 0.01}
    ),
    "oilk: pieces": Fit("OILK", "bends", {"buffer_size": 30}, how="partial_fit"),
    "oilk: fit, then pieces, csr": Fit(
        "OILK", "holes", {"buffer_size": 30, "n_epochs": 1}, rows="csr", how="both"
    ),
}


# -- rows --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows to learn from and rows to score, weights of the former, and queries where there are."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    weights: np.ndarray
    qid: np.ndarray | None = None
    qid_test: np.ndarray | None = None


def split(X, y, n_train: int, n_test: int = 400, queries=None) -> Rows:
    """Return the first rows to learn from, with weights 0, 1, 2 or 0.5, and the next to score."""
    weights = np.array([1.0, 2.0, 0.0, 0.5, 1.0])[np.arange(n_train) * 7 % 5]
    test = slice(n_train, n_train + n_test)
    qid = (None, None) if queries is None else (queries[:n_train], queries[test])
    return Rows(X[:n_train], y[:n_train], X[test], y[test], weights, *qid)


def bends(n_train: int = 600, n_features: int = 6, n_test: int = 400) -> Rows:
    """Return rows whose classes a product and squares tell apart, with noise; a third positive."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_train + n_test, n_features))
    truth = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] * X[:, 2] - 0.4 * X[:, -1]
    y = truth + 0.5 * rng.normal(size=len(X)) > 0.8
    return split(X, y.astype(int), n_train, n_test)


def tails() -> Rows:
    """Return the same with heavy tails and odd units."""
    rows = bends()
    units = np.array([1.0, 100.0, 1e-3, 1.0, 5.0, 1.0])
    return Rows(units * rows.X**3, rows.y, units * rows.X_test**3, rows.y_test, rows.weights)


def named() -> Rows:
    """Return the same with words as labels."""
    rows = bends()
    words = np.array(["common", "rare"])
    return Rows(rows.X, words[rows.y], rows.X_test, words[rows.y_test], rows.weights)


def counts() -> Rows:
    """Return rows of few different whole numbers, many of them more than once."""
    rng = np.random.default_rng(8)
    X = rng.integers(0, 4, size=(900, 3)).astype(float)
    y = (X[:, 0] - 1.5) * (X[:, 1] - 1.5) + rng.normal(size=len(X)) > 1.0
    return split(X, y.astype(int), 500)


def holes() -> Rows:
    """Return rows of 40 features, nine numbers of ten zero."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(800, 40)) * (rng.random(size=(800, 40)) < 0.1)
    truth = X[:, :8].sum(axis=1) + 2.0 * np.abs(X[:, 8:16]).sum(axis=1)
    y = truth + 0.5 * rng.normal(size=len(X)) > 1.5
    return split(X, y.astype(int), 500, 300)


def grades() -> Rows:
    """Return rows in queries of thirty, with grades from 0 to 3."""
    rows = bends(420, 5, 180)
    X = np.concatenate((rows.X, rows.X_test))
    rng = np.random.default_rng(10)
    value = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=len(X))
    y = np.digitize(value, [-1.0, 0.2, 1.2])
    return split(X, y, 420, 180, np.arange(len(X)) // 30)


class MissingDataError(Exception):
    """The rows of a configuration are not on this machine."""


def from_archive(name: str, n_train: int, n_test: int, *, is_shuffled: bool = False) -> Rows:
    """Return the first rows of one of the paper's data sets, those to score from its test part."""
    path = find_folder() / f"{name}.npz"
    if not path.exists():
        raise MissingDataError(f"there is no {path}; set SKAUC_DATA")
    with np.load(path) as arrays:
        X, y = arrays["X_train"].astype(float), arrays["y_train"]
        if is_shuffled:
            order = np.random.RandomState(0).permutation(len(y))
            X, y = X[order], y[order]
        if "X_test" in arrays:
            X = np.concatenate((X[:n_train], arrays["X_test"][:n_test].astype(float)))
            y = np.concatenate((y[:n_train], arrays["y_test"][:n_test]))
    return split(X, y, n_train, n_test)


def find_folder() -> Path:
    """Return the folder where the archives should be."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("SKAUC_DATA") or beside)


DATA: dict[str, Callable[[], Rows]] = {
    "bends": bends,
    "tails": tails,
    "named": named,
    "counts": counts,
    "holes": holes,
    "grades": grades,
    "thousand": partial(bends, 1200),
    "thousands": partial(bends, 2400),
    "six thousand": partial(bends, 5200),
    "throng": partial(bends, 17_000, 4),
    "crowd": partial(bends, 130_000, 4),
    "multitude": partial(bends, 270_000, 3),
    "sonar": partial(from_archive, "sonar", 150, 58, is_shuffled=True),
    "ijcnn1": partial(from_archive, "ijcnn1", 12_000, 2_000),
}


@cache
def load(name: str) -> Rows:
    """Return the rows of that name."""
    return DATA[name]()


# -- fitting -----------------------------------------------------------------------------------


class Places:
    """The clusters that fits run on, started when first asked for; ended with the ``with``."""

    def __init__(self):
        self._stack, self._clusters = ExitStack(), {}

    def __enter__(self) -> Places:
        return self

    def __exit__(self, *exception) -> None:
        self._stack.close()

    @contextmanager
    def at(self, place: str | None):
        """Make a place the current one."""
        if place == "gpu":
            os.environ["SKAUC_GPU_DEVICE"] = "cpu"
            try:
                yield
            finally:
                del os.environ["SKAUC_GPU_DEVICE"]
        elif place in ("cluster", "cluster of gpus"):
            with self._client(place).as_current():
                yield
        else:
            yield

    def _client(self, place: str):
        if place not in self._clusters:
            from distributed import Client, LocalCluster

            env = {"SKAUC_GPU_DEVICE": "cpu"} if place == "cluster of gpus" else {}
            cluster = LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=":0", env=env
            )
            self._stack.enter_context(cluster)
            client = Client(cluster, set_as_default=False)
            self._clusters[place] = self._stack.enter_context(client)
        return self._clusters[place]


def as_format(X: np.ndarray, rows: str):
    """Return rows in the form of that name."""
    if rows == "csr":
        return sparse.csr_array(X)
    if rows == "float32":
        return X.astype(np.float32)
    return on_cluster(X, rows) if rows in ("dask", "frame") else X


def on_cluster(array: np.ndarray, rows: str):
    """Return a dask array of at most ten chunks, or a dataframe of its columns."""
    import dask.array as da

    chunk_rows = max(CHUNK_ROWS, -(-len(array) // 10))
    chunks = da.from_array(array, chunks=(chunk_rows, *array.shape[1:]))
    if rows != "frame" or array.ndim == 1:
        return chunks
    return chunks.to_dask_dataframe([f"feature {i}" for i in range(array.shape[1])])


def make(fit: Fit):
    """Return the estimator, not fitted."""
    estimator = getattr(skauc, fit.estimator)(**fit.parameters, **PLACES[fit.place])
    has_seed = "random_state" in estimator.get_params(deep=False)
    if has_seed and "random_state" not in fit.parameters:
        estimator.set_params(random_state=0)
    return estimator


def learn(fit: Fit, rows: Rows):
    """Return the fitted estimator."""
    estimator, X, y = make(fit), as_format(rows.X, fit.rows), rows.y
    if fit.how in ("fit", "both"):
        more = {}
        if fit.is_weighted:
            more["sample_weight"] = rows.weights
        if rows.qid is not None:
            more["qid"] = rows.qid
        if fit.rows in ("dask", "frame"):
            y = on_cluster(y, fit.rows)
            more = {name: on_cluster(value, fit.rows) for name, value in more.items()}
        estimator.fit(X, y, **more)
    if fit.how in ("partial_fit", "both"):
        for start in range(0, len(y), CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            estimator.partial_fit(X[chunk], y[chunk], classes=np.unique(y))
    if fit.how == "resumed":
        resume(estimator, X, y)
    return estimator


def resume(estimator, X, y) -> None:
    """Fit until the kernel fails, and go on from the file that is left."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.npz"
        estimator.set_params(checkpoint=path)
        try:
            estimator.fit(X, y)
        except InterruptedError:
            if not path.exists():
                raise
            estimator.fit(X, y)
            return
    raise RuntimeError("the fit ended before it was to be interrupted")


# -- recording ---------------------------------------------------------------------------------


def record(fit: Fit, places: Places) -> dict:
    """Fit, and return everything that is to be compared, as JSON has it."""
    rows = load(fit.data)
    with places.at(fit.place):
        estimator = learn(fit, rows)
        found = {
            "scores": summarise(estimator.decision_function(rows.X_test), N_SCORES),
            "test_auc": held_out_auc(estimator, rows),
            **describe_model(estimator),
        }
        for name in fit.also:
            found[name] = EXTRAS[name](estimator, rows)
    return json.loads(json.dumps(found))


def held_out_auc(estimator, rows: Rows) -> float:
    """Return the AUC of the rows to score, or the share of their pairs in order."""
    more = {} if rows.qid is None else {"qid": rows.qid_test}
    return plain(estimator.score(rows.X_test, rows.y_test, **more))


def describe_model(estimator) -> dict:
    """Return the fitted attributes, the path and the search, where there are such."""
    found = {
        name: describe(getattr(estimator, attribute))
        for name, attribute in ATTRIBUTES.items()
        if hasattr(estimator, attribute)
    }
    for name, attribute in CENTRES.items():
        if hasattr(estimator, attribute):
            found[name] = describe_centres(getattr(estimator, attribute))
    if hasattr(estimator, "path_"):
        found["path"] = {
            name: [plain(getattr(entry, column)) for entry in estimator.path_]
            for name, column in PATH_COLUMNS.items()
        }
    if hasattr(estimator, "cv_results_"):
        found["best_params"] = {
            RENAMED.get(name, name): plain(value) for name, value in estimator.best_params_.items()
        }
        found["cv_results"] = describe_search(estimator.cv_results_)
    return found


def describe_centres(centres) -> dict:
    """Return one number a centre, the product with a fixed vector; the digest is of all numbers."""
    centres = centres.toarray() if sparse.issparse(centres) else np.asarray(centres)
    direction = 1.0 / np.arange(1, centres.shape[1] + 1)
    found = summarise(centres, 0)
    found["values"] = (centres.astype(float) @ direction)[:N_VALUES].tolist()
    return found


def describe_search(results: dict) -> dict:
    """Return the first mean scores, and a digest of all columns."""
    renamed = {f"param_{new}": f"param_{old}" for new, old in RENAMED.items()}
    columns = {renamed.get(name, name): list(map(plain, results[name])) for name in results}
    return {
        "means": summarise(results["mean_test_score"], N_VALUES),
        "sha256": digest(repr(sorted(columns.items())).encode()),
    }


def describe(value):
    """Return a scalar as it is, and a summary of an array."""
    if np.ndim(value) == 0:
        return plain(value)
    return summarise(value, N_WHOLE if np.asarray(value).dtype.kind in "iu" else N_VALUES)


def summarise(values, n_values: int) -> dict:
    """Return the first numbers of an array, one if all are the same, and a digest of them all."""
    array = np.ascontiguousarray(values)
    first = array.ravel()[:n_values].tolist()
    is_constant = array.size > 0 and bool((array == array.flat[0]).all())
    return {
        "shape": [array.dtype.name, *array.shape],
        "sha256": digest(array.tobytes()),
        "values": plain(first[:1] if is_constant else first),
    }


def digest(content: bytes) -> str:
    """Return the first quarter of the SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]


def plain(value):
    """Return a value as JSON can have it; not a number and infinity as words."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def describe_stages(estimator, rows: Rows) -> dict:
    """Return scores of every model on the path and of smaller copies, and the features' part."""
    stages = list(estimator.staged_decision_function(rows.X_test))
    sizes = [entry.n_basis for entry in estimator.path_]
    copies = {size: estimator.truncate(size) for size in {sizes[0], sizes[len(sizes) // 2]}}
    return {
        "relevance": summarise(estimator.feature_relevance_, N_VALUES),
        "staged": [summarise(scores, 3) for scores in stages],
        "truncated": {
            str(size): {
                "scores": summarise(copy.decision_function(rows.X_test), 5),
                "dual_coef": summarise(copy.dual_coef_, 5),
                "intercept": plain(copy.intercept_),
                "path_sizes": [entry.n_basis for entry in copy.path_],
            }
            for size, copy in copies.items()
        },
    }


def describe_formats(estimator, rows: Rows) -> dict:
    """Return scores of the same rows in other formats."""
    formats = {
        "float32": rows.X_test.astype(np.float32),
        "csr": sparse.csr_array(rows.X_test),
        "csr float32": sparse.csr_array(rows.X_test.astype(np.float32)),
        "columns": np.asfortranarray(rows.X_test),
        "one row": rows.X_test[:1],
    }
    return {name: summarise(estimator.decision_function(X), 8) for name, X in formats.items()}


def describe_function(estimator, rows: Rows) -> dict:
    """Return scores of the plain function, and predictions."""
    predicted = estimator.predict(rows.X_test) == estimator.classes_[1]
    return {
        "scores": summarise(estimator.make_decision_function()(rows.X_test), 8),
        "predicted": summarise(predicted.astype(np.int64), 8),
        "n_predicted": int(predicted.sum()),
    }


def describe_dask(estimator, rows: Rows) -> dict:
    """Return scores and predictions of rows on the cluster."""
    X_test = on_cluster(rows.X_test, "dask")
    predicted = estimator.predict(X_test).compute() == estimator.classes_[1]
    return {
        "scores": summarise(estimator.decision_function(X_test).compute(), 8),
        "n_predicted": int(predicted.sum()),
    }


EXTRAS: dict[str, Callable] = {
    "stages": describe_stages,
    "formats": describe_formats,
    "function": describe_function,
    "dask": describe_dask,
}


def describe_machine() -> dict:
    """Return what the last bits may depend on."""
    packages = ("numpy", "scipy", "scikit-learn", "numba", "torch", "dask")
    versions = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    return {"python": platform.python_version(), "processor": find_processor(), **versions}


def find_processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


# -- comparing ---------------------------------------------------------------------------------


def find_difference(old, new, place: str = "") -> tuple[float, str]:
    """Return the largest relative difference of two records and where it is.

    Of vectors it is relative to their largest number, of the numbers of a path to each of them.
    Digests are left out, and infinity stands for anything else that differs.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        if set(old) != set(new):
            return math.inf, f"{place} has {sorted(set(old) ^ set(new))} on one side only".strip()
        parts = (
            find_difference(old[name], new[name], f"{place}.{name}".lstrip("."))
            for name in old
            if name != "sha256"
        )
        return max(parts, key=lambda part: part[0], default=(0.0, place))
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        if place.endswith("values") and all(map(is_number, old + new)):
            return relative(old, new), place
        parts = (
            find_difference(a, b, f"{place}[{i}]")
            for i, (a, b) in enumerate(zip(old, new, strict=True))
        )
        return max(parts, key=lambda part: part[0], default=(0.0, place))
    if is_number(old) and is_number(new):
        return relative([old], [new]), place
    return (0.0 if old == new else math.inf), place


def find_digest(old, new, place: str = "") -> str:
    """Return where the digests of two records of the same form differ first."""
    if isinstance(old, list):
        old, new = dict(enumerate(old)), dict(enumerate(new))
    if not isinstance(old, dict):
        return ""
    if old.get("sha256") != new.get("sha256"):
        return place
    places = (find_digest(old[name], new[name], f"{place}.{name}".lstrip(".")) for name in old)
    return next(filter(None, places), "")


def is_number(value) -> bool:
    """Tell whether this is a number and not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def relative(old: list, new: list) -> float:
    """Return the largest difference over the largest number."""
    largest = max((abs(value) for value in (*old, *new)), default=0.0)
    difference = max((abs(a - b) for a, b in zip(old, new, strict=True)), default=0.0)
    return difference / largest if difference else 0.0


# -- the command -------------------------------------------------------------------------------


def fit_all(names: list[str]):
    """Yield each name with its record, None where rows are missing or the fit fails; and a word."""
    with Places() as places:
        for name in names:
            started = time.perf_counter()
            try:
                found, word = record(FITS[name], places), ""
            except MissingDataError as error:
                found, word = None, f"left out: {error}"
            except Exception as error:  # one fit that fails should not hide the others
                found, word = None, f"failed: {type(error).__name__}: {error}".splitlines()[0]
            yield name, found, word, time.perf_counter() - started


def run_record(path: Path, names: list[str]) -> int:
    """Fit, and write the file; what it holds of other configurations stays."""
    content = {"made_with": describe_machine(), "fits": {}}
    if path.exists():
        content["fits"] = json.loads(path.read_text())["fits"]
    n_failed = 0
    for name, found, word, seconds in fit_all(names):
        print(f"{name:<42}{seconds:7.1f} s  {word}", flush=True)
        n_failed += word.startswith("failed")
        if found is not None:
            content["fits"][name] = found
    content["fits"] = {name: content["fits"][name] for name in FITS if name in content["fits"]}
    write(path, content)
    print(f"{path} holds {len(content['fits'])} configurations, {path.stat().st_size} bytes.")
    return 1 if n_failed else 0


def write(path: Path, content: dict) -> None:
    """Write JSON, one line a configuration."""
    compact = partial(json.dumps, separators=(",", ":"), allow_nan=False)
    fits = ",\n".join(f"{compact(name)}:{compact(fit)}" for name, fit in content["fits"].items())
    path.write_text(f'{{"made_with":{compact(content["made_with"])},\n"fits":{{\n{fits}\n}}}}\n')


def run_compare(path: Path, names: list[str], *, is_whole: bool) -> int:
    """Fit, print a table of differences, and return the exit code."""
    content = json.loads(path.read_text())
    warn_of_machine(content["made_with"])
    counted = dict.fromkeys(("identical", "within", "different", "left out"), 0)
    for name, found, word, _ in fit_all(names):
        old = content["fits"].get(name)
        if found is None:
            kind = "left out" if word.startswith("left out") else "different"
        elif old is None:
            kind, word = "left out", "not in the file"
        elif old == found:
            kind, word = "identical", "identical"
        else:
            difference, place = find_difference(old, found)
            kind = "within" if difference <= TOLERANCE else "different"
            word = f"{difference:9.2e}  {place if difference else find_digest(old, found)}"
        counted[kind] += 1
        print(f"{name:<42}{'TOO FAR  ' if kind == 'different' else '         '}{word}", flush=True)
    lost = [name for name in content["fits"] if name not in FITS] if is_whole else []
    for name in lost:
        print(f"{name:<42}TOO FAR  in the file, but not in the table of this program")
    print(
        f"{counted['identical']} identical, {counted['within']} within {TOLERANCE:g}, "
        f"{counted['different'] + len(lost)} too far, {counted['left out']} left out."
    )
    return 1 if counted["different"] or lost else 0


def warn_of_machine(made_with: dict) -> None:
    """Say where this machine is not that of the file."""
    for name, value in describe_machine().items():
        if made_with.get(name) != value:
            print(f"Note: recorded with {name} {made_with.get(name)}, this is {value}.")


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("command", choices=("record", "compare", "list"))
    parser.add_argument("file", type=Path, nargs="?", default=None, help="the file of JSON")
    parser.add_argument(
        "--only", metavar="PATTERN", default="", help="configurations that match this expression"
    )
    arguments = parser.parse_args()
    names = [name for name in FITS if re.search(arguments.only, name)]
    if arguments.command == "list":
        print("\n".join(names))
        return 0
    if arguments.file is None:
        parser.error("name the file of JSON")
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    print(f"skauc from {Path(skauc.__file__).parent}, {len(names)} configurations")
    if arguments.command == "record":
        code = run_record(arguments.file, names)
    else:
        code = run_compare(arguments.file, names, is_whole=not arguments.only)
    print(f"{time.perf_counter() - started:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
