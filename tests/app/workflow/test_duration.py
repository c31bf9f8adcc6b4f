"""How long a fit is said to take."""

from dataclasses import replace

import pytest

from skauc.app.workflow import Recipe, estimate_seconds

# Seconds of one core that searches with 64 centres and 20 features took: rows, seconds.
MEASURED = [
    (150, 3.7),
    (200, 2.5),
    (400, 1.9),
    (900, 3.0),
    (1500, 2.9),
    (3000, 5.7),
    (10_000, 23.0),
    (30_000, 30.8),
]


@pytest.mark.parametrize(("n_rows", "seconds"), MEASURED)
def test_the_estimate_is_near_what_was_measured(n_rows, seconds):
    found = estimate_seconds(n_rows, Recipe(n_jobs=1))
    assert seconds / 3 < found < 3 * seconds


def test_less_effort_and_fewer_centres_take_less():
    recipe = Recipe(n_jobs=1)
    seconds = estimate_seconds(3000, recipe)
    assert estimate_seconds(3000, replace(recipe, effort="quick")) < seconds / 3
    assert estimate_seconds(3000, replace(recipe, effort="thorough")) > 1.5 * seconds
    assert estimate_seconds(3000, replace(recipe, n_basis=8)) < seconds / 4
    assert estimate_seconds(3000, replace(recipe, time_limit=1.0)) == 1.0
    assert estimate_seconds(10**7, recipe) == estimate_seconds(10**5, recipe)
