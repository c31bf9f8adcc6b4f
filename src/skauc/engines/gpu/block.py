"""A block of rows on a device: the passes of `skauc.engines.block.RowBlock`, in torch.

What a pass returns is a tensor, or a tuple of them, and stays on the device until it is fetched,
but for vectors as short as the basis: these are NumPy arrays.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch

from skauc.data.training import TrainingData
from skauc.engines import block, tables
from skauc.engines.gpu import scores as on_device
from skauc.engines.gpu.kernels import Columns, make_columns
from skauc.engines.gpu.rows import put, put_rows
from skauc.engines.gpu.state import DeviceState, cut
from skauc.engines.gpu.sums import sums_above, sums_by_key, transposed_product
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.kernels import Kernel, Rows
from skauc.losses import pairs
from skauc.losses.pairs import BINS_PER_MARGIN, WIDEST_RANGE, Cells


class DeviceBlock:
    """Rows, which of them are positive, what each counts, and their columns of the basis."""

    sums_above = staticmethod(sums_above)

    def __init__(self, data: TrainingData, weights: np.ndarray, device: str):
        self.X, self.device = put_rows(data.X, device), device
        self.n_rows, self.n_features = data.X.shape
        self._host_positive = data.positive
        self.positive = put(data.positive, device)
        self.columns: torch.Tensor | None = None
        # The last state for which columns were added up by cell, and these sums.
        self._known_sums: tuple[DeviceState, torch.Tensor] | None = None
        self.weigh(weights)

    def with_columns(self, columns: torch.Tensor | None) -> DeviceBlock:
        """Return the same rows with other columns."""
        other = copy.copy(self)
        other.columns, other._known_sums = columns, None
        return other

    def no_columns(self, capacity: int, dtype: np.dtype) -> torch.Tensor:
        """Return room for columns."""
        size = self.n_rows, capacity
        return torch.empty(size, dtype=getattr(torch, np.dtype(dtype).name), device=self.device)

    @property
    def dtype(self) -> np.dtype:
        """The type of the columns."""
        return np.dtype(str(self.columns.dtype).removeprefix("torch."))

    @cached_property
    def signs(self) -> torch.Tensor:
        """1 for a negative row, -1 for a positive one."""
        return 1.0 - 2.0 * self.positive

    def weigh(self, weights: np.ndarray) -> None:
        """Let rows count what these weights say."""
        self._host_weights, self._known_sums = weights, None
        self.weights = self._put(weights)

    def fetch(self, values: torch.Tensor) -> np.ndarray:
        """Return numbers of rows where the program that asks can read them."""
        return values.cpu().numpy()

    # -- columns -----------------------------------------------------------------------------

    def column(self, kernel: Kernel, centre: Rows) -> torch.Tensor:
        """Return k(., centre)."""
        out = self.weights.new_empty(self.n_rows)
        columns = self._columns_of(kernel, centre)
        for rows in cut(self.n_rows, 2 * self.n_features + 2):
            out[rows] = columns(self.X.take(rows))[:, 0]
        return out

    def set_column(self, column: torch.Tensor, projection: np.ndarray, norm: float) -> None:
        """Make the column after those of the projection (column - Phi projection) / norm."""
        self._forget_sums(len(projection))
        explained = self.direction(projection)
        self.columns[:, len(projection)] = explained.neg_().add_(column).div_(norm)

    def set_linear(self, first: int, origin: np.ndarray, scale: float) -> None:
        """Make as many columns as features, from the given one on, scale * (x - origin)."""
        self._forget_sums(first)
        last, origin = first + self.n_features, self._put(origin)
        for rows in cut(self.n_rows, 2 * self.n_features):
            self.columns[rows, first:last] = (self.X.take(rows) - origin).mul_(scale)

    def set_expansion(
        self, first: int, kernel: Kernel, centres: Rows, transform: np.ndarray
    ) -> None:
        """Make the columns from the given one on K_.Z transform."""
        self._forget_sums(first)
        last = first + transform.shape[1]
        columns, transform = self._columns_of(kernel, centres), self._put(transform)
        for rows in cut(self.n_rows, self.n_features + 2 * transform.shape[1]):
            values = columns(self.X.take(rows))
            self.columns[rows, first:last] = values @ transform.to(values.dtype)

    def shift(self, n_columns: int) -> np.ndarray:
        """Return a constant to take off each column, in the sums of all blocks the same."""
        return self.columns[: block.SHIFT_ROWS, :n_columns].mean(dim=0).cpu().numpy()

    # -- scores ------------------------------------------------------------------------------

    def state(self, scores: torch.Tensor) -> DeviceState:
        """Return the state of scores, where this block holds all rows."""
        ranges = on_device.score_ranges(scores, self.positive)
        if not np.isfinite(list(vars(ranges).values())).all():
            raise InvalidDataError(KERNEL_OVERFLOW)
        grid = pairs.contested_grid(ranges, BINS_PER_MARGIN)
        if self.dtype == np.float64 or grid.n_cells > WIDEST_RANGE * BINS_PER_MARGIN:
            rows = self.fetch(scores), self._host_positive, self._host_weights
            return DeviceState(self, scores, on_device.sorted_statistics(*rows, self.device))
        cells = Cells(on_device.assign(grid, scores, self.positive), grid.n_cells, ranges.middle)
        moments = on_device.score_moments(
            grid, cells.cell, scores, self.positive, self.weights, cells.origin
        )
        return DeviceState(self, scores, on_device.statistics_of(cells, moments))

    def shared_state(self, scores: torch.Tensor, shared: tables.SharedStatistics) -> DeviceState:
        """Return the state of scores against the rows of all blocks."""
        statistics = on_device.put_statistics(shared.statistics, self.device)
        cell = on_device.assign(shared.grid, scores, self.positive)
        cells = replace(statistics.cells, cell=cell)
        return DeviceState(self, scores, replace(statistics, cells=cells))

    def tabulate(self, scores: torch.Tensor, origin: float) -> tables.ScoreTable:
        """Return the table of the scores, to be added to those of other blocks."""
        ranges = on_device.score_ranges(scores, self.positive)
        if not torch.isfinite(scores).all():
            return tables.table_of_no_number(ranges, origin)
        grid = tables.covering_grid(ranges)
        cell = on_device.assign(grid, scores, self.positive)
        moments = on_device.score_moments(grid, cell, scores, self.positive, self.weights, origin)
        return tables.ScoreTable(grid, origin, ranges, self.fetch(moments))

    def rank_sums(self, axis: tables.RankAxis, scores: torch.Tensor, weights) -> np.ndarray:
        """Return the weight of each class in each place of an axis."""
        weights = self.weights if weights is self._host_weights else self._put(weights)
        return self.fetch(on_device.rank_sums(axis, scores, self.positive, weights))

    # -- products ----------------------------------------------------------------------------

    def direction(self, weights: np.ndarray) -> torch.Tensor:
        """Return Phi w."""
        out, weights = self.weights.new_empty(self.n_rows), self._rounded(self._put(weights))
        for rows in cut(self.n_rows, len(weights)):
            out[rows] = self.columns[rows, : len(weights)] @ weights
        return out

    def transposed_product(self, values: torch.Tensor, size: int) -> np.ndarray:
        """Return the sums Phi^T values over the first ``size`` columns."""
        total, values = self.weights.new_zeros((size, 1)), self._rounded(values)
        for rows in cut(self.n_rows, size):
            total += transposed_product(self.columns[rows, :size], values[rows, None])
        return self.fetch(total[:, 0])

    def line_sums(self, state: DeviceState, line: torch.Tensor) -> np.ndarray:
        """Return the sums of a line by class and coarse cell."""
        n_cells = state.coarse.n_cells
        sums = sums_by_key(state.keys, line * self.weights, 2 * n_cells)
        return self.fetch(sums.view(2, n_cells, 1))

    def curve(self, state: DeviceState, line: torch.Tensor, tables: np.ndarray) -> torch.Tensor:
        """Return half the Hessian times a line, given its `pairs.partner_sums`."""
        partners = self._put(tables).view(-1).index_select(0, state.keys)
        return state.curvature(0, self.n_rows).mul_(line).sub_(partners.mul_(self.weights))

    # -- sums for the derivatives ------------------------------------------------------------

    def hessian_sums(
        self, state: DeviceState, size: int, shift: np.ndarray
    ) -> tuple[torch.Tensor, ...]:
        """Return the sums of L phi phi^T over the rows that violate, and of phi by cell."""
        shift = self._rounded(self._put(shift))
        curvature = self._rounded(state.curvature(0, self.n_rows))
        squares = self.weights.new_zeros((size, size))
        sums = self.weights.new_zeros((2 * state.coarse.n_cells, size))
        for part in state.order.parts(3 * size):
            basis = self.columns[part.rows, :size].sub_(shift)
            members = part.members(self.weights, basis.dtype)
            sums[part.span] += transposed_product(members, basis)
            squares += transposed_product(basis, basis * curvature[part.rows, None])
        self._known_sums = state, sums
        return (squares + squares.T) / 2, sums.unflatten(0, (2, -1))

    def candidate_sums(
        self,
        state: DeviceState,
        curved: DeviceState,
        kernel: Kernel,
        centres: Rows,
        shift: np.ndarray,
    ) -> tuple[torch.Tensor, ...]:
        """Stream the candidates' columns once; rows without a violating partner are not visited."""
        n_centres, n_columns, new_zeros = centres.shape[0], len(shift), self.weights.new_zeros
        columns, shift = self._columns_of(kernel, centres), self._rounded(self._put(shift))
        curvature = curved.curvature(0, self.n_rows)
        sums = new_zeros((2 * curved.coarse.n_cells, n_centres))
        cross, squares = new_zeros((n_columns, n_centres)), new_zeros(n_centres)
        slopes = self._slopes_without_partners(state, curved, columns, n_centres)
        for part in curved.order.parts(3 * n_centres + n_columns + self.n_features):
            values = columns(self.X.take(part.rows))
            curves, steepness = (
                each[part.rows, None].to(values.dtype) for each in (curvature, state.residual)
            )
            members = part.members(self.weights, values.dtype)
            found = transposed_product(torch.cat((members, steepness), dim=1), values)
            sums[part.span] += found[:-1]
            slopes += found[-1]
            weighted = values * curves
            if n_columns:
                basis = self.columns[part.rows, :n_columns].sub_(shift).to(values.dtype)
                cross += transposed_product(basis, weighted)
            squares += weighted.mul_(values).sum(0, dtype=torch.float64)
        basis_sums = self._column_sums(curved, n_columns, shift)
        tables = (each.unflatten(0, (2, -1)) for each in (sums, basis_sums))
        return (*tables, slopes, squares, cross)

    def _column_sums(self, state: DeviceState, n_columns: int, shift: torch.Tensor) -> torch.Tensor:
        """Return the sums of columns by cell; of one state after the other, each is found once."""
        n_keys = 2 * state.coarse.n_cells
        known = self.weights.new_zeros((n_keys, 0))
        if self._known_sums is not None and self._known_sums[0] is state:
            known = self._known_sums[1]
        new = slice(known.shape[1], n_columns)
        if new.start < new.stop:
            sums = self.weights.new_zeros((n_keys, new.stop - new.start))
            for part in state.order.parts(2 * sums.shape[1]):
                basis = self.columns[part.rows, new].sub_(shift[new])
                members = part.members(self.weights, basis.dtype)
                sums[part.span] += transposed_product(members, basis)
            known = torch.cat((known, sums), dim=1)
            self._known_sums = state, known
        return known[:, :n_columns]

    def _forget_sums(self, first: int) -> None:
        """Forget what is known of the columns from the given one on."""
        if self._known_sums is not None:
            self._known_sums = self._known_sums[0], self._known_sums[1][:, :first]

    def _slopes_without_partners(
        self, state: DeviceState, curved: DeviceState, columns: Columns, n_centres: int
    ) -> torch.Tensor:
        """Return the part in the slopes of rows that have partners in the first state alone."""
        rows = curved.order.partnerless
        rows = rows[state.residual[rows] != 0]
        slopes = self.weights.new_zeros((n_centres, 1))
        for part in cut(len(rows), n_centres + self.n_features):
            values = columns(self.X.take(rows[part]))
            steepness = state.residual[rows[part], None].to(values.dtype)
            slopes += transposed_product(values, steepness)
        return slopes[:, 0]

    def moment_sums(
        self, state: DeviceState, size: int, origin: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return the sums of r phi x, r phi and r f x^2, with f = phi w, x measured from origin.

        Only as many columns count as there are weights, the last of the first ``size``.
        """
        n_centres, n_features = len(weights), self.n_features
        weights, origin = self._rounded(self._put(weights)), self._put(origin)
        first = self.weights.new_zeros((n_centres, n_features + 1))
        second = self.weights.new_zeros((n_features, 1))
        for rows in cut(self.n_rows, n_centres + 3 * n_features):
            columns = self.columns[rows, size - n_centres : size]
            moved = self._rounded(self.X.take(rows) - origin)
            slopes = self._rounded(state.residual[rows, None])
            ones = torch.ones_like(slopes)
            first += transposed_product(columns * slopes, torch.cat((moved, ones), dim=1))
            second += transposed_product(moved.square_(), slopes * (columns @ weights)[:, None])
        first, second = self.fetch(first), self.fetch(second)
        return first[:, :-1], first[:, -1], second[:, 0]

    def _columns_of(self, kernel: Kernel, centres: Rows) -> Columns:
        return make_columns(kernel, centres, self.dtype, self.device)

    def _put(self, values: np.ndarray) -> torch.Tensor:
        """Return numbers of the host on the device, in float64."""
        return put(values, self.device, torch.float64)

    def _rounded(self, values: torch.Tensor) -> torch.Tensor:
        """Return numbers in the type of the columns."""
        return values.to(self.columns.dtype)
