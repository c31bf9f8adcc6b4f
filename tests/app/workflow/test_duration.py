"""How long a fit is said to take."""

from dataclasses import replace

import pytest

from skauc.app.workflow import Recipe, estimate_seconds

# Seconds of one core that searches with 64 centres and 20 features took: rows, seconds.
MEASURED = [
    (150, 1.6),
    (200, 1.5),
    (400, 1.5),
    (900, 3.5),
    (1500, 3.7),
    (3000, 6.7),
    (10_000, 35.5),
]


@pytest.mark.parametrize(("n_rows", "seconds"), MEASURED)
def test_the_estimate_is_near_what_was_measured(n_rows, seconds):
    found = estimate_seconds(n_rows, Recipe(n_jobs=1))
    assert seconds / 3 < found < 3 * seconds


def test_less_effort_and_fewer_centres_take_less():
    recipe = Recipe(n_jobs=1)
    seconds = estimate_seconds(3000, recipe)
    assert estimate_seconds(3000, replace(recipe, effort="quick")) < seconds / 4
    assert estimate_seconds(3000, replace(recipe, effort="thorough")) > 2 * seconds
    assert estimate_seconds(3000, replace(recipe, n_basis=8)) < seconds / 4
    assert estimate_seconds(3000, replace(recipe, time_limit=1.0)) == 1.0
    assert estimate_seconds(10**7, recipe) == estimate_seconds(10**5, recipe)
