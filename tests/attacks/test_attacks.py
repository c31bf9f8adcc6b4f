"""A short slice of every attack; ``python -m tests.attacks --all`` runs them at full size.

SKAUC_ATTACK_SECONDS is the time per attack, 10 seconds by default.
"""

import json
import os

import pytest

from tests.attacks.__main__ import main, parse, run
from tests.attacks.registry import ATTACKS, SELF_TEST
from tests.attacks.supervisor import command, run_cases

SECONDS = float(os.environ.get("SKAUC_ATTACK_SECONDS", "10"))


pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits as POSIX has them")


@pytest.mark.parametrize("name", ATTACKS)
def test_a_slice_of_the_attack(name):
    records = run_cases(name, range(ATTACKS[name].count), seed=0, seconds=SECONDS)
    failures = [record for record in records if record["failure"] is not None]
    lines = [f"[{each['kind']}] {each['failure']}\n  {command(each)}" for each in failures]
    assert not failures, "\n".join(lines)
    assert records


def test_the_harness_notices_failures_hangs_crashes_and_memory():
    records = run_cases(SELF_TEST.name, range(SELF_TEST.count), seed=0)
    outcomes = [record["outcome"] for record in sorted(records, key=lambda each: each["case"])]
    failed = ["broken promise", "raw error", "hang", "crash", "raw error"]
    assert outcomes == ["passed", *failed, "passed"]
    failures = [record["failure"] for record in records if record["failure"]]
    assert failures[0] == "a promise"
    assert failures[1].startswith("IndexError: pop from empty list")
    assert failures[2].startswith("no answer within 2 s")
    assert failures[3].startswith("the process died with -11")
    assert "MemoryError" in failures[4]


def test_finished_cases_are_not_repeated(tmp_path):
    path = tmp_path / "out.jsonl"
    record = {"attack": "discrete_searches", "seed": 0, "case": 0, "kind": "", "seconds": 0.0}
    lines = [{**record, "outcome": "passed", "failure": None}, {**record, "seed": 1}]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"cut off')
    options = parse(["--attack", "discrete_searches", "--count", "1", "--out", str(path)])
    assert [each["outcome"] for each in run("discrete_searches", options)] == ["passed"]


def test_one_case_is_repeated(capsys):
    assert main(["--attack", "discrete_searches", "--case", "1"]) == 0
    assert capsys.readouterr().out.startswith("passed: ")
