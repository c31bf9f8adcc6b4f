"""Which rows a fit holds out for validation, and which rows refinement works on.

Refinement starts on a sample with as many rows of either class as possible. It ends on *hard*
rows: at a good model most rows contribute little to the loss, so rows are drawn with a probability
that grows with their part in the derivative, and their weights are divided by that probability.
Sums over such a sample have a fraction of the error of a uniform sample of the same size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from skauc.data.sampling import N_BITS, AnyOf, Counts, HashOrder, HashRange, hash_rows
from skauc.data.training import TrainingData
from skauc.engines import Chosen
from skauc.exceptions import InvalidDataError
from skauc.model import Model
from skauc.support import cached_property

# Rows of the first sample. They give a good direction at a fraction of the cost of all rows.
SAMPLE_ROWS = 4_000
# Hard rows of the last descent. This many rows or fewer are refined on without a sample.
HARD_ROWS = 8_000
# Part of the hard rows that is drawn uniformly, so that no weight is huge.
UNIFORM_SHARE = 0.3


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

    @cached_property
    def kept(self) -> HashRange:
        """Validation rows included in the sample (at most a third of its size)."""
        return self.order.between((0, 0), self._kept_counts)

    @property
    def _kept_counts(self) -> Counts:
        share = min(HARD_ROWS // 3 / max(sum(self.counts), 1), 1.0)
        negative, positive = (math.ceil(share * n) for n in self.counts)
        return negative, positive

    @property
    def learning(self) -> Counts:
        """Number of rows of each class that are not held out."""
        return _as_counts(np.subtract(self.order.counts, self.counts))

    @property
    def samples_all(self) -> bool:
        """Whether `sample` returns all rows."""
        return sum(self.learning) <= HARD_ROWS and self._kept_counts == self.counts

    def sample(self) -> AnyOf:
        """Return a sample to refine on, as balanced as possible, and its validation rows."""
        size = HARD_ROWS if sum(self.learning) <= HARD_ROWS else SAMPLE_ROWS
        last = np.add(self.counts, balanced_counts(self.learning, size))
        return AnyOf(self.kept, self.order.between(self.counts, _as_counts(last)))

    def hard_sample(self, data: TrainingData, model: Model, sample: TrainingData) -> TrainingData:
        """Return a sample of rows that are hard for ``model``, and its validation rows.

        The model is applied to the features of ``data``, which are mapped already.
        """
        model = replace(model, scaling=None)
        counts = balanced_counts(self.learning, HARD_ROWS)
        seed = int(hash_rows(np.zeros(1), self.order.seed)[0] >> 32)
        return draw_hard_rows(
            data, model, sample, self.learning, counts, self.rows, self.kept, seed
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
            "`early_stopping` and `refine`=True hold out rows of both classes; the smaller class "
            f"has {min(counts)} of {n_rows} rows and validation_fraction="
            f"{fraction} takes {n_held_out} rows. Change `validation_fraction`, set `refine` to a "
            "number of steps, or set both to False."
        )
    n_positive = min(max(round(n_held_out * counts[1] / n_rows), 1), counts[1] - 1)
    n_negative = min(max(n_held_out - n_positive, 1), counts[0] - 1)
    return HeldOut(order, (n_negative, n_positive))


def _order(data: TrainingData, random_state) -> HashOrder:
    return HashOrder(data, random_state.randint(np.iinfo(np.int32).max))


def balanced_counts(counts: Counts, size: int) -> Counts:
    """Return how many rows of each class make up ``size`` rows, half of each if possible.

    The class ratio does not matter to a loss over pairs.
    """
    n_fewer = min(min(counts), size // 2)
    n_more = min(max(counts), size - n_fewer)
    return (n_fewer, n_more) if counts[0] < counts[1] else (n_more, n_fewer)


def balanced_sample(positive: np.ndarray, rows: np.ndarray, size: int, random_state) -> np.ndarray:
    """Return up to ``size`` of the row indices, half of each class if possible."""
    shuffled = random_state.permutation(rows)
    of_class = [shuffled[~positive[shuffled]], shuffled[positive[shuffled]]]
    counts = balanced_counts((len(of_class[0]), len(of_class[1])), size)
    return np.sort(
        np.concatenate([rows[:count] for rows, count in zip(of_class, counts, strict=True)])
    )


def _as_counts(numbers: np.ndarray) -> Counts:
    negative, positive = numbers.tolist()
    return negative, positive


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

    def probabilities(self, data: TrainingData) -> np.ndarray:
        """Return the probability of each row; it is 1 for validation rows that are kept."""
        of_class = data.positive.view(np.int8)
        slopes = self.slopes(self.model.scores(data.X), data.positive) * data.weights
        probabilities = self.least[of_class] + self.growth[of_class] * slopes
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
) -> TrainingData:
    """Return about ``counts`` rows of each class, weighted by their inverse probability.

    ``against`` is a uniform sample of the ``n_learning`` rows of each class that are not held out;
    the slopes of rows are computed against it. Validation rows come along if they are ``kept``.
    """
    scores = model.scores(against.X)
    slopes = Slopes.of(scores, against)
    hardness = slopes(scores, against.positive) * against.weights
    mean = np.array([hardness[side].mean() for side in (~against.positive, against.positive)])
    share = np.array(counts) / np.maximum(n_learning, 1)
    growth = (1 - UNIFORM_SHARE) * share / np.maximum(mean, np.finfo(np.float64).tiny)
    rows = HardRows(model, slopes, held_out, kept, seed, UNIFORM_SHARE * share, growth)
    drawn = data.take(rows)
    return replace(drawn, weights=drawn.weights / rows.probabilities(drawn))
