"""Compare the speed of skauc with its peers and with a committed baseline.

    python -m benchmarks run [--only NAME ...] [--out FOLDER] [--threads 1 2] [--repeats 5]
    python -m benchmarks guard [--update]

``run`` measures workloads, alternating ours with those of peers, and writes ``speed.md`` and
``speed.json``. It finds ijcnn1 through SKAUC_DATA. ``guard`` compares ratios with the baseline.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import Line, Options, machine, to_markdown, write
from benchmarks.speed import curves, everyday, guard, layers, marks, starting, thread_curves

WORKLOADS: dict[str, Callable[[Options], list[Line]]] = {
    "kernel-block": layers.kernel_block,
    "pair-statistics": layers.pair_statistics,
    "passes": layers.passes,
    "few-rows": everyday.few_rows,
    "fit-default": marks.fit_default,
    "fit-paper": marks.fit_paper,
    "fit-greedy": marks.fit_greedy,
    "fit-refined": marks.fit_refined,
    "fit-peers": marks.fit_peers,
    "predict": marks.predict,
    "predict-one": marks.predict_one,
    "feature-maps": marks.feature_maps,
    "model-size": marks.model_size,
    "import": starting.imports,
    "first-fit": starting.first_fit,
    "search": everyday.searches,
    "large-search": everyday.large_searches,
    "program": everyday.command,
    "rows": curves.rows,
    "features": curves.features,
    "sparse-features": curves.sparse_features,
    "centres": curves.centres,
    "candidates": curves.candidates,
    "thread-layers": thread_curves.thread_layers,
    "thread-fits": thread_curves.thread_fits,
    "memory-mapped": curves.memory_mapped,
}
# These take minutes each and run only by name.
LONG = (
    "large-search",
    "rows",
    "features",
    "sparse-features",
    "centres",
    "candidates",
    "thread-layers",
    "thread-fits",
    "memory-mapped",
)


def run(arguments: argparse.Namespace) -> None:
    """Measure the workloads and write the results after each of them."""
    options = Options(
        tuple(arguments.threads), arguments.repeats, arguments.scale, arguments.scratch
    )
    facts = machine(options)
    found = []
    for name in arguments.only or [name for name in WORKLOADS if name not in LONG]:
        found += WORKLOADS[name](options)
        write(found, facts, arguments.out)
    print(to_markdown(found, facts))
    if any(line.workload == "growth" for line in found):
        curves.draw(found, arguments.out / "growth.png")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run", help="measure workloads")
    runner.add_argument("--only", nargs="+", choices=WORKLOADS, metavar="NAME")
    runner.add_argument("--out", type=Path, default=Path("benchmark-results"))
    runner.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    runner.add_argument("--repeats", type=int, default=5)
    runner.add_argument("--scale", type=float, default=1.0, help="fraction of the rows to use")
    runner.add_argument("--scratch", type=Path, default=Path("/tmp"), help="for mapped files")
    runner.set_defaults(run=run)
    watcher = commands.add_parser("guard", help="compare ratios with the baseline")
    guard.add_arguments(watcher)
    watcher.set_defaults(run=guard.run)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    arguments = parse()
    arguments.run(arguments)
