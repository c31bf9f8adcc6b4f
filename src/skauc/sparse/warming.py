"""warm_up: compile the code of fits before it is needed."""

from __future__ import annotations

import time
from typing import Literal

import numpy as np

from skauc.sparse.estimator import SparseKernelAUC

# Up to 5,000 rows and above 10,000 rows there are other compiled functions.
_FEW, _MIDDLE, _MANY, _N_FEATURES = 300, 5_100, 10_500, 3
# Number of rows, type, order in memory, and whether the rows can be written to.
_CASES: tuple[tuple[int, type, Literal["C", "F"], bool], ...] = (
    (_FEW, np.float64, "C", True),
    (_FEW, np.float64, "F", True),
    (_FEW, np.float32, "C", True),
    (_MANY, np.float64, "C", True),
    (_MANY, np.float64, "F", True),
    (_MANY, np.float64, "F", False),
    (_MANY, np.float32, "C", True),
    # Frames and memory maps may be read-only, which numba takes for another type.
    (_FEW, np.float64, "C", False),
    (_FEW, np.float64, "F", False),
    (_MIDDLE, np.float64, "C", True),
    (_MIDDLE, np.float64, "F", True),
    (_MIDDLE, np.float64, "C", False),
    (_MIDDLE, np.float64, "F", False),
    (_MANY, np.float64, "C", False),
    (_MANY, np.float32, "C", False),
)


def warm_up() -> float:
    """Compile the code of fits, predictions and explanations, or load it from numba's cache.

    The first fit of a new installation takes about 20 seconds longer than later ones, because numba
    compiles its functions. The machine code is stored on disk, beside the package or in the folder
    named by the environment variable ``NUMBA_CACHE_DIR``. Call this function once after the
    installation, for example when an image of a container is built, or at the start of a service.
    It fits small models to random rows of all types.

    Returns
    -------
    seconds : float
        The time it took: half a minute of one core on a new installation, a few seconds later.

    Notes
    -----
    The cache belongs to the installed files and to the type of processor. Another processor
    compiles again. Online learners, `KernelRankSVM` and `StructuralAUC` have functions of their
    own, which are compiled by their first fits.

    Examples
    --------
    >>> import skauc
    >>> seconds = skauc.warm_up()
    """
    started = time.perf_counter()
    random = np.random.default_rng(0)
    for n_rows, dtype, order, is_writable in _CASES:
        X: np.ndarray = random.normal(size=(n_rows, _N_FEATURES)).astype(dtype, order=order)
        y = X[:, 0] * X[:, 1] > 1
        X.flags.writeable = is_writable
        for scaling in (None, "screened"):  # which computes normal scores, too
            model = SparseKernelAUC(4, scaling=scaling, random_state=0).fit(X, y)
            model.predict(X[:2])
    model.shapley_values(X[:2])
    # Searches try other shapes. The last rows are so far apart that only differences are precise.
    for n_rows, spread in ((_FEW, 1.0), (_MANY, 1.0), (_FEW, 1e4)):
        X = random.normal(size=(n_rows, _N_FEATURES))
        X[0] *= spread
        model = SparseKernelAUC(8, scaling=None, shapes="ridge", random_state=0)
        model.fit(X, X[:, 0] * X[:, 1] > 1)
    return time.perf_counter() - started
