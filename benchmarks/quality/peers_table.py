"""Turn the JSON lines of `benchmarks.quality.peers` into a Markdown table.

python -m benchmarks.quality.peers_table peers.jsonl > peers.md
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

OURS = "SparseKernelAUCCV"
MARGIN = 0.003


def main() -> None:
    rows: dict[str, dict[str, list]] = defaultdict(lambda: defaultdict(list))
    for line in Path(sys.argv[1]).read_text().splitlines():
        entry = json.loads(line)
        rows[entry["data"]][entry["method"]].append(entry)
    methods = list(next(iter(rows.values())))
    print("| data | " + " | ".join(methods) + " | within 0.003 of the best |")
    print("| --- |" + " --- |" * (len(methods) + 1))
    n_good = 0
    for name, by_method in rows.items():
        means = {m: np.mean([e["auc"] for e in by_method[m]]) for m in methods if m in by_method}
        best = max(means.values())
        good = means.get(OURS, 0) >= best - MARGIN
        n_good += good
        cells = [
            f"**{means[m]:.4f}**" if means.get(m) == best else f"{means.get(m, np.nan):.4f}"
            for m in methods
        ]
        print(f"| {name} | " + " | ".join(cells) + f" | {'yes' if good else 'no'} |")
    print(f"\nBest or within {MARGIN} of the best on {n_good} of {len(rows)}.\n")
    print("| data | method | numbers stored | fit seconds | predict seconds |")
    print("| --- | --- | --- | --- | --- |")
    for name, by_method in rows.items():
        for method in by_method:
            entries = by_method[method]
            stored, fit, predict = (
                np.mean([entry[key] for entry in entries])
                for key in ("numbers", "fit_seconds", "predict_seconds")
            )
            print(f"| {name} | {method} | {stored:.0f} | {fit:.2f} | {predict:.4f} |")


if __name__ == "__main__":
    main()
