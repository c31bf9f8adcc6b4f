"""A block of rows in memory: threads over parts of it, numba for loops, BLAS for products."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from skauc.compiling import compiled, compiled_fast
from skauc.engines.blocks.base import Block
from skauc.engines.few_rows import FewRows
from skauc.engines.passes.base import Sums
from skauc.engines.policy import SizePolicy
from skauc.kernels import CentredRBF, Kernel, KernelColumns, Rows, centred_rbf, densified
from skauc.losses.cells import Task, coarsening
from skauc.rbf_columns import write_columns
from skauc.scratch import CompiledScratch
from skauc.support import row_slices, rows_per_block
from skauc.threads import RowThreads


class CPUBlock(Block):
    """Rows stay where the user has them; columns are kept row by row in one array."""

    kind = "cpu"

    def __init__(
        self,
        X: Rows,
        positive: np.ndarray,
        *weightings: np.ndarray,
        threads: RowThreads,
        policy: SizePolicy,
        columns: np.ndarray | None = None,
    ):
        self.X, self.positive, self.columns = X, positive, columns
        self.n_rows, self.n_features = X.shape
        self.threads, self.policy = threads, policy
        self.scratch = CompiledScratch()
        self._prepared: tuple[Kernel, Rows, KernelColumns] | None = None
        self.weigh(*weightings)

    def with_columns(self, columns: np.ndarray | None) -> CPUBlock:
        other = copy.copy(self)
        other.columns, other._prepared = columns, None
        return other

    def no_columns(self, capacity: int, dtype: np.dtype) -> np.ndarray:
        return np.empty((self.n_rows, capacity), dtype)

    @property
    def dtype(self) -> np.dtype:
        return self.columns.dtype

    def weigh(self, *weightings: np.ndarray) -> None:
        self.weights, self.weightings = weightings[0], weightings

    def fetch(self, answer):
        return answer

    def few_rows(self) -> FewRows | None:
        policy, n_numbers = self.policy, self.n_rows * self.n_features
        is_few = self.n_rows <= policy.few_rows and n_numbers <= policy.few_numbers
        if not is_few or self.dtype != np.float64 or sparse.issparse(self.X):
            return None
        n_cells = int(np.count_nonzero(self.positive)) + 1
        # A copy is writable. Numba would compile a second version for read-only arrays.
        rows = self.X, self.positive, self.weights.copy(), self.columns
        return FewRows(*rows, coarsening(n_cells, policy.coarse_cells), self.scratch)

    # -- tasks and their arrays --------------------------------------------------------------

    def run(self, task: Task, n_rows: int) -> Iterator:
        """Run a pass over vectors of the length of the block."""
        return self.threads.map(task, n_rows, self.policy.vector_block)

    def run_matrix(self, task: Task, width: int) -> Iterator:
        """Run a pass over ``width`` numbers per row."""
        if self.n_rows * width <= self.policy.matrix_block:
            return self.threads.map(task, self.n_rows, self.n_rows)
        n_blocks = -(-self.n_rows * max(width, 1) // self.policy.matrix_block)
        n_tasks = min(self.policy.n_tasks(self.n_rows), n_blocks)
        return self.threads.map(task, self.n_rows, -(-self.n_rows // n_tasks))

    def cache_blocks(self, stop: int, width: int, start: int = 0) -> Iterator[slice]:
        """Cut a range of rows into slices whose blocks of ``width`` numbers fit the L2 cache."""
        block_rows = rows_per_block(2 * max(width, 1), self.policy.matrix_block)
        if start < stop <= start + block_rows:
            return iter((slice(start, stop),))
        return row_slices(stop, block_rows, start)

    def scratch_array(self, name: str, n_rows: int, width: int) -> np.ndarray:
        """Return an array for a part of a task; it lasts until the next one of its name."""
        return self.scratch.array(name, (n_rows, width), self.columns.dtype)

    def take(self, rows: np.ndarray) -> Rows:
        """Return some rows; they last until the next ones are taken."""
        if sparse.issparse(self.X):
            return self.X[rows]
        taken = self.scratch.array("rows", (len(rows), self.n_features), self.X.dtype)
        # NumPy's own function would first copy all rows if they are not contiguous.
        _take(self.X, rows, taken)
        return taken

    def dense_rows(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a dense array and the indices of the rows in it."""
        if sparse.issparse(self.X):
            return self.X[rows].toarray(), np.arange(len(rows))
        return self.X, rows

    # -- columns and lines -------------------------------------------------------------------

    def kernel_columns(self, kernel: Kernel, centres: Rows) -> KernelColumns:
        """Return the function that maps rows to the block k(row, centre).

        The last one is kept, because a pass and the one before it use the same centres.
        """
        last = self._prepared
        if last is None or last[0] is not kernel or last[1] is not centres:
            last = kernel, centres, kernel.columns(centres, self.dtype, self.scratch)
            self._prepared = last
        return last[2]

    def column(self, kernel: Kernel, centre: Rows) -> np.ndarray:
        out = np.empty(self.n_rows)
        columns = kernel.columns(centre, self.columns.dtype, self.scratch)
        width = self.n_features + 2

        def fill(start, stop):
            for rows in self.cache_blocks(stop, width, start):
                out[rows] = columns(self.X[rows])[:, 0]

        list(self.run_matrix(fill, width))
        return out

    def set_linear(self, origin: np.ndarray, scale: float, axes: np.ndarray | None) -> None:
        n_columns = self.n_features if axes is None else axes.shape[1]
        shift = None if axes is None else origin @ axes

        def fill(start, stop):
            for rows in self.cache_blocks(stop, self.n_features, start):
                if axes is None:
                    values = densified(self.X[rows]) - origin
                else:
                    values = self.X[rows] @ axes - shift
                self.columns[rows, :n_columns] = values * scale

        list(self.run_matrix(fill, self.n_features))

    def set_columns(
        self, kernel: Kernel, centres: Rows, projection: np.ndarray, transform: np.ndarray
    ) -> None:
        first, n_new = projection.shape
        width = self.n_features + first + 2 * n_new
        # In double precision, because the transform magnifies the errors of kernel values.
        centred = centred_rbf(kernel, centres, self.X, self.scratch)
        if centred is not None:
            self._set_rbf_columns(centred, projection, transform, width)
            return
        columns = kernel.columns(centres, np.float64, self.scratch)
        is_projected = projection.any()

        def fill(start, stop):
            for rows in self.cache_blocks(stop, width, start):
                values = columns(self.X[rows])
                if is_projected:
                    values -= self.columns[rows, :first] @ projection
                out = self.columns[rows, first : first + n_new]
                np.matmul(values, transform, out=out, casting="same_kind")

        list(self.run_matrix(fill, width))

    def _set_rbf_columns(
        self, centred: CentredRBF, projection: np.ndarray, transform: np.ndarray, width: int
    ) -> None:
        """Set columns of an RBF basis, in one compiled call per task."""
        n_before = len(projection)
        if not projection.any():
            projection = projection[:0]
        projection, transform = map(np.ascontiguousarray, (projection, transform))
        n_block = rows_per_block(2 * width, self.policy.matrix_block)

        def fill(start, stop):
            n_rows = min(n_block, stop - start)
            room = self.scratch.array("columns", (n_rows * (width + 2),), np.float64)
            write_columns(
                self.X,
                start,
                stop,
                n_rows,
                centred.origin,
                centred.roots,
                centred.right,
                self.columns,
                n_before,
                projection,
                transform,
                room,
            )

        list(self.run_matrix(fill, width))

    def direction(self, weights: np.ndarray) -> np.ndarray:
        out = np.empty(self.n_rows)

        def multiply(start, stop):
            _multiply(self.columns, weights, start, stop, out)

        list(self.run_matrix(multiply, len(weights)))
        return out

    def transposed_products(self, values: np.ndarray, n_columns: int) -> Iterator[Sums]:
        def multiply(start, stop):
            out = np.zeros(n_columns)
            _add_transposed(self.columns, values, start, stop, out)
            return (out,)

        return self.run_matrix(multiply, n_columns)


@compiled
def _take(X, rows, out):
    for r in range(len(rows)):
        for j in range(X.shape[1]):
            out[r, j] = X[rows[r], j]


@compiled_fast
def _multiply(columns, weights, start, stop, out):
    """Write Phi w of a range of rows."""
    for i in range(start, stop):
        total = 0.0
        for k in range(len(weights)):
            total += columns[i, k] * weights[k]
        out[i] = total


@compiled_fast
def _add_transposed(columns, values, start, stop, out):
    """Add Phi^T values of a range of rows. Rows of value zero are not read."""
    for i in range(start, stop):
        value = values[i]
        if value != 0.0:
            for k in range(len(out)):
                out[k] += value * columns[i, k]
