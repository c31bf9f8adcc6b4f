"""The benchmark of rare events: which rows it draws, and how it counts."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.quality import rare_events


def test_training_sets_grow_and_test_rows_stay():
    y = np.random.default_rng(0).random(3000) < 0.3
    few, test = rare_events.draw(y, 10, seed=1)
    many, same_test = rare_events.draw(y, 300, seed=1)
    assert [int(y[rows].sum()) for rows in (few, many)] == [10, 300]
    assert set(few) < set(many)
    assert np.array_equal(test, same_test)
    assert not set(many) & set(test)


def test_lines_are_compared_over_seeds_that_all_classifiers_have():
    names = (rare_events.SEARCH, rare_events.SINGLE, *rare_events.PEERS)
    aucs = dict(zip(names, (0.9, 0.88, 0.91, 0.7, 0.7, 0.904, 0.7), strict=True))
    line = {"part": "positives", "case": "adult 20"}
    lines = [{**line, "seed": 0, "name": name, "auc": auc} for name, auc in aucs.items()]
    lines.append({**line, "seed": 1, "name": names[0], "auc": 0.5})
    text, summary = rare_events.show(lines)
    assert "| adult | 20 | 1 | 0.9000 | 0.8800 | **0.9100** |" in text
    search, single = (summary["positives"][name] for name in names[:2])
    assert search["share within .005 of the best"] == single["share within .005 of the best"] == 0
    assert search["most behind logistic regression"] == pytest.approx(0.01)
    assert (search["lines .02 behind logistic regression"], single["lines"]) == (0, 1)
    assert single["lines .02 behind logistic regression"] == 1


def test_finished_lines_are_not_computed_again_and_none_starts_after_the_time(tmp_path):
    out, done = tmp_path / "lines.jsonl", rare_events.Job("rows", "case", 0, "10000")
    out.write_text(json.dumps({**done._asdict(), "auc": 0.5, "centres": 1}) + "\n")
    rare_events.run_all([done, done._replace(seed=1)], out, n_jobs=1, seconds=-1.0)
    assert len(out.read_text().splitlines()) == 1
