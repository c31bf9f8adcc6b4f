"""Growth of time and memory, compared with the theoretical slope.

A fit costs l * d_max * (kappa * n + d_max) for l rows, n features, d_max centres and kappa
candidates: slope 1 in rows, at most 1 in features and candidates, and at most 2 in centres. The
ratio of a line is the measured growth divided by the theoretical growth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from benchmarks.harness import Line, Options
from benchmarks.speed.growth import Setting, measure

ROWS = (1_000, 10_000, 100_000, 1_000_000)
FEATURES = (2, 20, 200, 2_000)
CENTRES = (8, 32, 128, 512, 1_024)
CANDIDATES = (10, 30, 100, 300, 1_000)


def rows(options: Options) -> list[Line]:
    """From a thousand to a million rows; ten million is `memory_mapped`."""
    return curve(options, "rows", ROWS, slope=1.0)


def features(options: Options) -> list[Line]:
    """From 2 to 2,000 features, dense."""
    base = Setting(rows=options.rows(50_000))
    return curve(options, "features", FEATURES, slope=1.0, base=base)


def sparse_features(options: Options) -> list[Line]:
    """CSR rows with 20 nonzeros: theory predicts no growth."""
    base = Setting(rows=options.rows(20_000), centres=32)
    return curve(
        options,
        "features",
        FEATURES[1:],
        slope=0.0,
        base=base,
        adapt=lambda setting: replace(setting, density=min(20 / setting.features, 0.999)),
        name="features, CSR",
    )


def centres(options: Options) -> list[Line]:
    """From 8 to 1,024 centres."""
    base = Setting(rows=options.rows(20_000), selection="greedy")
    return curve(options, "centres", CENTRES, slope=2.0, base=base)


def candidates(options: Options) -> list[Line]:
    """From 10 to 1,000 candidates per centre."""
    return curve(
        options, "candidates", CANDIDATES, slope=1.0, base=Setting(rows=options.rows(50_000))
    )


def curve(
    options: Options,
    what: str,
    sizes: Sequence[int],
    *,
    slope: float,
    base: Setting | None = None,
    adapt: Callable[[Setting], Setting] = lambda setting: setting,
    name: str | None = None,
) -> list[Line]:
    """Measure a fit of each size and compare it with the previous one."""
    base = replace(base or Setting(), threads=options.most_threads)
    if what == "rows":
        sizes = sorted({options.rows(size) for size in sizes})
    settings = [adapt(replace(base, **{what: size})) for size in sizes]
    found = [measure(setting) for setting in settings]
    lines = []
    for before, after in pairwise(found):
        growth = (after[what] / before[what]) ** slope
        # CPU time of all threads excludes other programs.
        ours, theirs = after["processor_seconds"], before["processor_seconds"] * growth
        label = f"{name or what} {before[what]:,} to {after[what]:,}"
        lines.append(_line("growth", label, f"slope {slope:g}", ours, theirs, after))
    return lines


def memory_mapped(options: Options) -> list[Line]:
    """Ten million float32 rows in a file against a million: linear is 10, the goal 11."""
    folder = options.scratch / "skauc-mapped"
    found = []
    for n_rows in (options.rows(1_000_000), options.rows(10_000_000)):
        path = folder / f"rows-{n_rows}.float32"
        setting = Setting(
            rows=n_rows, selection="greedy", threads=options.most_threads, mapped=str(path)
        )
        found.append(measure(setting))
        path.unlink()
        path.with_suffix(".labels.npy").unlink()
    few, many = found
    label = f"{many['rows']:,} mapped rows"
    line = _line(
        "memory-mapped",
        label,
        f"{few['rows']:,}",
        many["processor_seconds"],
        few["processor_seconds"],
        many,
    )
    return [replace(line, goal=11.0)]


def _line(workload, what, against, ours, theirs, found: dict) -> Line:
    ratio = ours / theirs if theirs else float("nan")
    facts = {
        "threads": found["threads"],
        "wall s": found["seconds"],
        "predict s": found["predict_seconds"],
        "peak MB": found["peak_mb"],
        "of data and columns": found["memory_ratio"],
    }
    return Line(workload, what, against, ours, theirs, ratio, ratio, ratio, facts=facts)


def draw(lines: list[Line], path: Path) -> None:
    """Draw time and memory of the growth lines, one panel per quantity."""
    import matplotlib.pyplot as plt

    curves: dict[str, list] = {}
    for line in lines:
        if line.workload == "growth":
            name, sizes = line.what.rsplit(" ", 3)[0], line.what.rsplit(" ", 3)[1:]
            low, high = (float(size.replace(",", "")) for size in (sizes[0], sizes[2]))
            slope = float(line.against.split()[1])
            before = line.theirs / (high / low) ** slope
            curves.setdefault(name, []).append((low, before, high, line.ours, slope))
    figure, panels = plt.subplots(
        1, len(curves), figsize=(3.1 * len(curves), 3.2), layout="constrained", squeeze=False
    )
    for panel, (name, segments) in zip(panels[0], curves.items(), strict=True):
        xs = [segments[0][0], *(segment[2] for segment in segments)]
        ys = [segments[0][1], *(segment[3] for segment in segments)]
        panel.loglog(xs, ys, "o-", label="measured")
        slope = segments[0][4]
        panel.loglog(
            xs, [ys[-1] * (x / xs[-1]) ** slope for x in xs], "--", label=f"slope {slope:g}"
        )
        panel.set(xlabel=name, title=name)
        panel.legend(fontsize=8)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("processor seconds of a fit")
    figure.savefig(path, dpi=110)
