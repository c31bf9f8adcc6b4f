"""Which rows a fit holds out for validation, and which rows centres are chosen and refined on.

Centres are chosen on a sample, half of each class if possible. Refinement starts on one, and goes
on with a new sample of *hard* rows for each size. At a good model most rows contribute little to
the loss, so rows are drawn with a probability that grows with their part in the derivative, and
their weights are divided by that probability. Sums over such a sample have a fraction of the error
of a uniform sample of the same size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from skauc.data.sampling import (
    N_BITS,
    AnyOf,
    Counts,
    HashOrder,
    HashRange,
    as_counts,
    balanced_counts,
    hash_rows,
)
from skauc.data.training import TrainingData
from skauc.engines import Chosen
from skauc.exceptions import InvalidDataError
from skauc.model import Model
from skauc.support import cached_property
from skauc.threads import map_blocks

# Rows of each sample that refinement works on.
REFINED_ROWS = 4_000
# This many rows or fewer are refined on without a sample.
MOST_REFINED_ROWS = 8_000
# Hard rows are drawn from this many rows at most, so that not all of many rows are scored.
POOL_ROWS = 200_000
# Part of the hard rows that is drawn uniformly, so that no weight is huge.
UNIFORM_SHARE = 0.3
# Rows per task while their probabilities are computed.
_BLOCK_ROWS = 16_384
# Corrections of the probabilities for rows that are certain to be drawn.
_MOST_CORRECTIONS = 10


@dataclass(frozen=True)
class HeldOut:
    """The rows held out for validation: the first ``counts`` rows of each class by hash."""

    order: HashOrder
    counts: Counts

    @cached_property
    def rows(self) -> HashRange:
        """The rows held out; there may be none."""
        return self.order.between((0, 0), self.counts)

    @property
    def validation(self) -> HashRange | None:
        """The rows held out, or None if there are none."""
        return self.rows if any(self.counts) else None

    @property
    def learning(self) -> Counts:
        """Number of rows of each class that are not held out."""
        return as_counts(np.subtract(self.order.counts, self.counts))

    def kept(self, size: int) -> HashRange:
        """Return the validation rows that are included in a sample, at most a third of its size."""
        share = min(size // 3 / max(sum(self.counts), 1), 1.0)
        negative, positive = (math.ceil(share * n) for n in self.counts)
        return self.order.between((0, 0), (negative, positive))

    def sample(self, data: TrainingData, size: int) -> TrainingData:
        """Return a sample of rows, half of each class if possible, and its validation rows.

        The weights make up for the rows that are left out.
        """
        counts = balanced_counts(self.learning, size)
        last = as_counts(np.add(self.counts, counts))
        drawn = data.take(AnyOf(self.kept(size), self.order.between(self.counts, last)))
        factors = np.array(self.learning) / np.maximum(counts, 1)
        return replace(drawn, weights=drawn.weights * factors[drawn.positive.view(np.int8)])

    def pool(self, data: TrainingData) -> TrainingData:
        """Return the rows that hard rows are drawn from: a sample if they are many."""
        return data if self._pool_counts == self.learning else self.sample(data, POOL_ROWS)

    @property
    def _pool_counts(self) -> Counts:
        """Number of rows of each class in the pool, without those held out."""
        return balanced_counts(self.learning, min(sum(self.learning), POOL_ROWS))

    def hard_sample(
        self,
        pool: TrainingData,
        model: Model,
        sample: TrainingData,
        size: int,
        number: int,
        n_threads: int = 1,
    ) -> TrainingData:
        """Return a sample of rows that are hard for ``model``, and its validation rows.

        The model is applied to the features of the `pool`, which are mapped already. ``number``
        tells the samples of one fit apart.
        """
        learning = self._pool_counts
        counts = balanced_counts(learning, size)
        seed = int(hash_rows(np.array([number]), self.order.seed)[0] >> 32)
        return draw_hard_rows(
            pool, model, sample, learning, counts, self.rows, self.kept(size), seed, n_threads
        )


def hold_out_none(data: TrainingData, random_state) -> HeldOut:
    """Return the order that samples are drawn by, with no row held out."""
    return HeldOut(_order(data, random_state), (0, 0))


def hold_out(data: TrainingData, fraction: float, random_state) -> HeldOut:
    """Hold out a stratified part of the rows of positive weight, at least one of each class."""
    order = _order(data, random_state)
    counts = order.counts
    n_rows = sum(counts)
    n_held_out = max(math.ceil(n_rows * fraction), 2)
    if min(counts) < 2 or not 2 <= n_held_out <= n_rows - 2:
        raise InvalidDataError(
            "`early_stopping` holds out rows of both classes; the smaller class has "
            f"{min(counts)} of {n_rows} rows and validation_fraction={fraction} takes "
            f"{n_held_out} rows. Change `validation_fraction`, or use early_stopping=False."
        )
    n_positive = min(max(round(n_held_out * counts[1] / n_rows), 1), counts[1] - 1)
    n_negative = min(max(n_held_out - n_positive, 1), counts[0] - 1)
    return HeldOut(order, (n_negative, n_positive))


def _order(data: TrainingData, random_state) -> HashOrder:
    return HashOrder(data, random_state.randint(np.iinfo(np.int32).max))


def balanced_sample(positive: np.ndarray, rows: np.ndarray, size: int, random_state) -> np.ndarray:
    """Return up to ``size`` of the row indices, half of each class if possible."""
    shuffled = random_state.permutation(rows)
    of_class = [shuffled[~positive[shuffled]], shuffled[positive[shuffled]]]
    counts = balanced_counts((len(of_class[0]), len(of_class[1])), size)
    return np.sort(
        np.concatenate([rows[:count] for rows, count in zip(of_class, counts, strict=True)])
    )


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivative of the loss with respect to the score of one more row of either class.

    A negative row of score f adds the sum over positives i of max(0, 1 - f_i + f), times their
    weights; a positive row adds the same with the signs reversed. ``ends`` holds the scores of the
    other class in ascending order, ``totals`` the cumulative sums of its weights and of weights
    times scores.
    """

    ends: tuple[np.ndarray, np.ndarray]
    totals: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, scores: np.ndarray, data: TrainingData) -> Slopes:
        """Return the slopes against rows that have these scores."""
        parts = []
        # Negative rows are compared with positives, and positive rows with negatives, reversed.
        for side, sign in ((data.positive, 1.0), (~data.positive, -1.0)):
            seen, weights = sign * scores[side], data.weights[side]
            order = np.argsort(seen)
            weighted = np.stack((weights[order], weights[order] * seen[order]))
            totals = np.zeros((2, len(order) + 1))
            np.cumsum(weighted, axis=1, out=totals[:, 1:])
            parts.append((seen[order], totals))
        (negative_ends, negative_totals), (positive_ends, positive_totals) = parts
        return cls((negative_ends, positive_ends), (negative_totals, positive_totals))

    def __call__(self, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """Return the absolute slope of each row, for a weight of one."""
        slopes = np.empty(len(scores))
        for side, sign, ends, totals in zip(
            (~positive, positive), (1.0, -1.0), self.ends, self.totals, strict=True
        ):
            reach = 1.0 + sign * scores[side]
            weight, weighted = totals[:, np.searchsorted(ends, reach)]
            slopes[side] = weight * reach - weighted
        return slopes


@dataclass(frozen=True, eq=False)
class HardRows:
    """A mask that draws each learning row with its own probability, and keeps some others."""

    model: Model
    slopes: Slopes
    held_out: Chosen
    kept: Chosen
    seed: int
    # Per class, negative first: the least probability, and how it grows with the slope.
    least: np.ndarray
    growth: np.ndarray
    n_threads: int = 1

    def probabilities(self, data: TrainingData) -> np.ndarray:
        """Return the probability of each row; it is 1 for validation rows that are kept."""
        scores = self.model.scores_in_fit(data.X, self.n_threads)
        probabilities = np.empty(data.n_rows)

        def fill(start, stop):
            rows = slice(start, stop)
            positive, weights = data.positive[rows], data.weights[rows]
            slopes = self.slopes(scores[rows], positive) * weights
            of_class = positive.view(np.int8)
            probabilities[rows] = self.least[of_class] + self.growth[of_class] * slopes

        map_blocks(fill, data.n_rows, _BLOCK_ROWS, self.n_threads)
        probabilities *= (data.weights > 0) & ~self.held_out(data)
        probabilities[self.kept(data)] = 1.0
        return np.minimum(probabilities, 1.0)

    def __call__(self, data: TrainingData) -> np.ndarray:
        """Return a mask of the rows drawn, by their hash."""
        return hash_rows(data.places, self.seed) < self.probabilities(data) * 2.0**N_BITS


def draw_hard_rows(
    data: TrainingData,
    model: Model,
    against: TrainingData,
    n_learning: Counts,
    counts: Counts,
    held_out: Chosen,
    kept: Chosen,
    seed: int,
    n_threads: int = 1,
) -> TrainingData:
    """Return about ``counts`` rows of each class, weighted by their inverse probability.

    ``against`` is a uniform sample of the ``n_learning`` rows of each class that are not held out;
    the slopes of rows are computed against it. Validation rows in it are ignored. They come along
    in the result if they are ``kept``.
    """
    against = against.part(np.flatnonzero(~held_out(against)))
    scores = model.scores_in_fit(against.X)
    slopes = Slopes.of(scores, against)
    hardness = slopes(scores, against.positive)
    least, growth = np.ones(2), np.zeros(2)
    for of_class, side in enumerate((~against.positive, against.positive)):
        n_all, n_wanted = n_learning[of_class], counts[of_class]
        # A class that fits into the sample is taken whole.
        if n_wanted < n_all:
            # A row of the uniform sample stands for several: its weight contains their number.
            n_alike = n_all / np.count_nonzero(side)
            own = hardness[side] * against.weights[side] / n_alike
            least[of_class] = UNIFORM_SHARE * n_wanted / n_all
            growth[of_class] = _growth(own, least[of_class], n_wanted / n_alike)
    rows = HardRows(model, slopes, held_out, kept, seed, least, growth, n_threads)
    drawn = data.take(rows)
    return replace(drawn, weights=drawn.weights / rows.probabilities(drawn))


def _growth(hardness: np.ndarray, least: float, n_wanted: float) -> float:
    """Return g so that the probabilities min(1, least + g hardness) add up to ``n_wanted``."""
    total = hardness.sum()
    if not total > 0:
        return 0.0
    growth = (n_wanted - least * len(hardness)) / total
    for _ in range(_MOST_CORRECTIONS):
        expected = np.minimum(least + growth * hardness, 1.0).sum()
        if expected > 0.98 * n_wanted:
            break
        growth *= n_wanted / expected
    return growth
