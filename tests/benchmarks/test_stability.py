"""The benchmark of seeds and random labels: what it runs, and how it counts."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.quality import stability


def test_standard_deviations_are_compared_by_table():
    aucs = {"search": (0.8, 0.82), "LightGBM": (0.8, 0.81)}
    lines = [
        {"key": [table, name, seed], "auc": auc, "rarer": 50}
        for table, by_name in (("a", aucs), ("b", dict.fromkeys(aucs, (0.7, 0.7))))
        for name, found in by_name.items()
        for seed, auc in enumerate(found)
    ]
    text = stability.show_seeds(lines)
    assert "| 0 to 100 | 2 | 0.0071 | 0.0035 | 1 |" in text
    assert "a: +0.0071" in text


def test_labels_are_drawn_once_and_not_again(tmp_path, monkeypatch):
    monkeypatch.setattr(stability, "DRAWS", ((40, 20, 2),))
    out = tmp_path / "labels.jsonl"
    stability.run("labels", "dev", out, n_jobs=1)
    written = out.read_text()
    stability.run("labels", "dev", out, n_jobs=1)
    assert out.read_text() == written
    lines = [json.loads(line) for line in written.splitlines()]
    assert sorted(line["key"] for line in lines) == [[40, 20, 0], [40, 20, 1]]
    mean = sum(line["best_score"] for line in lines) / 2
    assert f"| 40 | 20 | 2 | {mean:.3f}" in stability.show_labels(lines)
