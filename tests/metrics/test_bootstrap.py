"""Bootstrap intervals of the partial AUC and the average precision."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from skauc.metrics import average_precision_interval, partial_auc, partial_auc_interval

INTERVALS = {
    "partial AUC": lambda y, s, **kw: partial_auc_interval(y, s, max_fpr=0.2, **kw),
    "average precision": average_precision_interval,
}
VALUES = {
    "partial AUC": lambda y, s: partial_auc(y, s, max_fpr=0.2),
    "average precision": average_precision_score,
}


@pytest.mark.parametrize("name", INTERVALS)
def test_intervals_cover_the_true_value(name):
    rng = np.random.default_rng(0)

    def draw(n):
        y = np.arange(n) % 4 == 0
        return y, rng.normal(size=n) + 1.2 * y

    true = VALUES[name](*draw(400_000))
    drawn = [draw(200) for _ in range(60)]
    found = [INTERVALS[name](y, scores, n_draws=100) for y, scores in drawn]
    covered = [each.low <= true <= each.high for each in found]
    assert 0.88 <= np.mean(covered) <= 1
    assert found[0].value == pytest.approx(VALUES[name](*drawn[0]), abs=1e-12)


def test_raw_areas_and_perfect_rankings():
    y, scores = [0] * 30 + [1] * 10, np.arange(40.0)
    raw = partial_auc_interval(y, scores, max_fpr=0.1, standardize=False)
    assert raw.value == pytest.approx(0.1)
    assert 0 < raw.low < raw.value == raw.high
    with pytest.raises(ValueError, match="`n_draws` must be"):
        partial_auc_interval(y, scores, n_draws=0)
