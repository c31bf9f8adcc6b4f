"""A short slice of every attack; ``python -m tests.attacks --all`` runs them at full size.

SKAUC_ATTACK_SECONDS is the time per attack, 10 seconds by default.
"""

import os

import pytest

from tests.attacks.registry import ATTACKS
from tests.attacks.supervisor import command, run_cases

SECONDS = float(os.environ.get("SKAUC_ATTACK_SECONDS", "10"))


@pytest.mark.skipif(os.name != "posix", reason="limits of memory as POSIX has them")
@pytest.mark.parametrize("name", ATTACKS)
def test_a_slice_of_the_attack(name):
    records = run_cases(name, range(ATTACKS[name].count), seed=0, seconds=SECONDS)
    failures = [record for record in records if record["failure"] is not None]
    lines = [f"[{each['kind']}] {each['failure']}\n  {command(each)}" for each in failures]
    assert not failures, "\n".join(lines)
    assert records
