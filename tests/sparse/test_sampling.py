"""Samples: balanced or of hard rows, and weights that make up for the chances."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skauc.data.sampling import class_counts
from skauc.data.training import TrainingData
from skauc.kernels import RBF
from skauc.model import Model
from skauc.sparse.sampling import Slopes, draw_hard_rows, hold_out, hold_out_none

RANDOM = partial(np.random.RandomState, 0)
NOBODY = (lambda data: np.zeros(data.n_rows, dtype=bool),) * 2


def make_data(n_rows, seed=0, *, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    positive = X[:, 0] + 0.5 * rng.normal(size=n_rows) > 1.0
    weights = rng.integers(0, 4, n_rows).astype(float) if weighted else np.ones(n_rows)
    return TrainingData(X, positive, weights, np.array([0, 1]))


def make_model():
    centres = np.array([[1.5, 0.0], [-1.0, 0.0]])
    return Model(RBF(0.5), centres, np.arange(2), np.array([2.0, -1.0]), None, 0.3, 0)


def test_slopes_are_sums_of_hinges():
    data, model = make_data(200, weighted=True), make_model()
    scores = model.scores(data.X)
    slopes = Slopes.of(scores, data)(scores, data.positive)
    for row, slope in enumerate(slopes):
        partners = data.positive != data.positive[row]
        gaps = scores - scores[row] if data.positive[row] else scores[row] - scores
        hinges = np.maximum(1 + gaps[partners], 0)
        assert_allclose(slope, data.weights[partners] @ hinges, rtol=1e-10, atol=1e-10)


def test_sums_over_the_sample_are_those_of_the_rows():
    """Their mean over many draws is the sum over all rows, for any function of a row."""
    data, model = make_data(2000, weighted=True), make_model()
    values = np.stack((np.ones(2000), data.X[:, 0] ** 2), axis=1)
    expected = [data.weights[side] @ values[side] for side in (data.positive, ~data.positive)]
    found = []
    for seed in range(200):
        drawn = draw_hard_rows(data, model, data, class_counts(data), (400, 100), *NOBODY, seed)
        rows = values[drawn.row_numbers]
        sides = (drawn.positive, ~drawn.positive)
        found.append([drawn.weights[side] @ rows[side] for side in sides])
    assert_allclose(np.mean(found, axis=0), expected, rtol=0.03)


# -- samples of a fit -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [300, 1600, 4000])
def test_a_sample_has_half_of_each_class_and_stands_for_all_rows(size):
    data = make_data(5000)
    (n_negative, n_positive), rows = np.bincount(data.positive), hold_out_none(data, RANDOM())
    sample = rows.sample(data, size)
    expected = min(size // 2, n_positive)
    assert_array_equal(np.bincount(sample.positive), [size - expected, expected])
    for side, n_rows in ((~sample.positive, n_negative), (sample.positive, n_positive)):
        assert_allclose(sample.weights[side].sum(), n_rows)
        assert_allclose(sample.weights[side], sample.weights[side][0])
    assert_array_equal(sample.X, data.X[sample.row_numbers])


def test_weights_multiply_those_of_the_sample():
    data = make_data(5000, weighted=True)
    sample = hold_out_none(data, RANDOM()).sample(data, 1000)
    own = data.weights[sample.row_numbers]
    assert own.min() > 0
    for side in (sample.positive, ~sample.positive):
        assert_allclose(np.ptp(sample.weights[side] / own[side]), 0, atol=1e-12)
    # The totals are right on average.
    for side, of_all in ((sample.positive, data.positive), (~sample.positive, ~data.positive)):
        assert_allclose(sample.weights[side].sum(), data.weights[of_all].sum(), rtol=0.1)


@pytest.mark.parametrize(("fraction", "pool_rows"), [(None, 10**6), (0.3, 10**6), (0.3, 6000)])
def test_hard_samples_have_about_the_size_of_the_sample(fraction, pool_rows, monkeypatch):
    monkeypatch.setattr("skauc.sparse.sampling.POOL_ROWS", pool_rows)
    data, model = make_data(20_000, weighted=True), make_model()
    rows = hold_out_none(data, RANDOM()) if fraction is None else hold_out(data, fraction, RANDOM())
    sample = rows.sample(data, 2000)
    is_held_out = rows.rows(sample)
    assert is_held_out.any() == (fraction is not None)
    seen = set()
    for number in (4, 8):
        drawn = rows.hard_sample(rows.pool(data), model, sample, 2000, number)
        learning = ~rows.rows(drawn)
        of_all = ~rows.rows(data)
        for of_class in (False, True):
            found = drawn.weights[learning & (drawn.positive == of_class)].sum()
            expected = data.weights[of_all & (data.positive == of_class)].sum()
            assert_allclose(found, expected, rtol=0.15)
        assert_allclose(np.bincount(drawn.positive[learning]), [1000, 1000], rtol=0.12)
        # The same validation rows as in the sample, and other rows for each number.
        kept = drawn.row_numbers[~learning]
        assert_array_equal(kept, sample.row_numbers[is_held_out])
        seen.add(tuple(drawn.row_numbers[learning]))
    assert len(seen) == 2


def test_a_class_that_fits_into_the_sample_is_taken_whole():
    data, model = make_data(20_000), make_model()
    data = data.part(np.flatnonzero(~data.positive | (np.arange(20_000) % 20 == 0)))
    rows = hold_out_none(data, RANDOM())
    n_positive = int(data.positive.sum())
    assert n_positive < 500
    drawn = rows.hard_sample(data, model, rows.sample(data, 2000), 2000, 4)
    assert drawn.positive.sum() == n_positive
    assert_array_equal(drawn.weights[drawn.positive], 1.0)
    assert_allclose((~drawn.positive).sum(), 2000 - n_positive, rtol=0.12)


def test_all_rows_come_when_there_are_no_more():
    data, model = make_data(300), make_model()
    drawn = draw_hard_rows(data, model, data, class_counts(data), (30_000, 30_000), *NOBODY, 1)
    assert_array_equal(drawn.X, data.X)
    assert_array_equal(drawn.weights, data.weights)


def test_rows_held_out_come_only_where_they_are_kept():
    data, model = make_data(3000), make_model()

    def held_out(part):
        return part.row_numbers % 3 == 0

    def kept(part):
        return part.row_numbers % 6 == 0

    drawn = draw_hard_rows(data, model, data, class_counts(data), (300, 100), held_out, kept, 1)
    is_kept = held_out(drawn)
    assert_array_equal(drawn.row_numbers[is_kept], np.arange(0, 3000, 6))
    assert_array_equal(drawn.weights[is_kept], 1)
    assert (~is_kept).sum() > 200


def test_rows_that_matter_come_more_often():
    data, model = make_data(20_000), make_model()
    scores = model.scores(data.X)
    slopes = Slopes.of(scores, data)(scores, data.positive)
    negative = ~data.positive
    drawn = draw_hard_rows(data, model, data, class_counts(data), (1000, 500), *NOBODY, 1)
    taken = drawn.row_numbers[~drawn.positive]
    assert slopes[taken].mean() > 1.5 * slopes[negative].mean()
