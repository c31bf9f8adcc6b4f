"""Choose a setting of the search on one half of the development tables, and report it on the other.

    python -m benchmarks.quality.ablation docs/results/halves_settings.json --out halves.jsonl
    python -m benchmarks.quality.halves halves.jsonl --json docs/results/halves.json

The halves are the tables at odd and at even places in the order of names. The setting with the best
mean AUC on one half is compared with other classifiers on the other half. Their AUCs are those of
docs/results/peers_development.json, on the same folds.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from statistics import mean

PEERS = Path("docs/results/peers_development.json")
COMPARED = ("CatBoost", "LightGBM tuned", "xRFM")
# Peers that are tuned, or that get features of ours.
NOT_UNTUNED = ("LightGBM tuned", "LightGBM, our preprocessor")
# An AUC this close to the best counts as level with it.
NEAR = 0.005

Scores = dict[str, dict[str, float]]


def read_scores(path: Path) -> Scores:
    """Return the mean AUC over folds, by setting and table."""
    folds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in map(json.loads, path.read_text().splitlines()):
        folds[line["setting"]][line["table"]].append(line["auc"])
    return {
        setting: {table: round(mean(found), 4) for table, found in sorted(tables.items())}
        for setting, tables in folds.items()
    }


def report(scores: Scores, peers: Scores) -> str:
    """Return a Markdown table with a line for each half that is reported on."""
    tables = sorted(set.intersection(*(set(found) for found in scores.values())) & set(peers))
    halves = {"odd": tables[::2], "even": tables[1::2]}
    lines = [
        "| chosen on | setting | reported on | mean AUC | near the best | "
        + " | ".join(f"{name} (tables)" for name in COMPARED)
        + " |",
        "| --- " * (5 + len(COMPARED)) + "|",
    ]
    for chosen, reported in (("odd", "even"), ("even", "odd")):
        means = {name: mean(found[t] for t in halves[chosen]) for name, found in scores.items()}
        best = max(means, key=lambda name: means[name])
        own = {table: scores[best][table] for table in halves[reported]}
        near = sum(auc >= _best_untuned(peers[table]) - NEAR for table, auc in own.items())
        beside = [_beside(own, peers, name) for name in COMPARED]
        cells = [chosen, best, reported, f"{mean(own.values()):.4f}", f"{near} of {len(own)}"]
        lines.append(f"| {' | '.join(cells + beside)} |")
    return "\n".join(lines)


def _best_untuned(peers: dict[str, float]) -> float:
    return max(
        auc
        for name, auc in peers.items()
        if name not in NOT_UNTUNED and not name.startswith("skauc") and auc is not None
    )


def _beside(own: dict[str, float], peers: Scores, name: str) -> str:
    """Return the mean AUC of a peer beside ours, on the tables that the peer was run on."""
    tables = [table for table in own if peers[table].get(name) is not None]
    theirs, ours = (mean(found[t] for t in tables) for found in (_column(peers, name), own))
    return f"{theirs:.4f}, ours {ours:.4f} ({len(tables)})"


def _column(peers: Scores, name: str) -> dict[str, float]:
    return {table: found.get(name) for table, found in peers.items()}


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="the output of benchmarks.quality.ablation")
    parser.add_argument("--json", type=Path, help="where to write the AUC by setting and table")
    arguments = parser.parse_args()
    scores = read_scores(arguments.results)
    print(report(scores, json.loads(PEERS.read_text())["auc"]))
    if arguments.json:
        arguments.json.write_text(json.dumps(scores, indent=0) + "\n")


if __name__ == "__main__":
    main()
