"""The benchmarks run, on a few rows: what they write, and what the guard says."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.__main__ import WORKLOADS, parse
from benchmarks.harness import Line, Options, interleave, to_lines
from benchmarks.speed import curves, everyday, guard, layers, thread_curves
from benchmarks.speed.growth import Setting, make_data, measure

TINY = Options((1,), repeats=1, scale=0.002)


def test_ratios_are_ours_over_theirs():
    seconds = {"ours": np.array([2.0, 3.0]), "theirs": np.array([4.0, 3.0])}
    (line,) = to_lines("fit", seconds, goals={"theirs": 0.5})
    assert (line.ratio, line.lowest, line.highest) == (2 / 3, 0.5, 1.0)
    assert line.reached == "no"


def test_rounds_take_turns():
    calls = []
    interleave({name: lambda n=name: calls.append(n) for name in "ab"}, 3)
    assert "".join(calls) == "ababab"


def test_a_run_writes_a_table_and_numbers(tmp_path, capsys):
    options = ["--scale", "0.002", "--repeats", "1", "--out", str(tmp_path)]
    arguments = parse(["run", "--only", "kernel-block", "pair-statistics", *options])
    arguments.run(arguments)
    written = json.loads((tmp_path / "speed.json").read_text())
    assert {line["workload"] for line in written["lines"]} == {"kernel block", "pair statistics"}
    assert {"processor", "threads", "versions", "peaks, one thread"} <= set(written["machine"])
    assert (tmp_path / "speed.md").read_text() in capsys.readouterr().out


def test_an_unknown_workload_is_an_error(capsys):
    with pytest.raises(SystemExit):
        parse(["run", "--only", "nothing"])
    assert "invalid choice: 'nothing'" in capsys.readouterr().err
    assert "fit-refined" in WORKLOADS


def test_layers_say_how_near_the_peak_they_are():
    lines = layers.passes(TINY)
    names = {line.workload for line in lines}
    assert names >= {"Hessian", "Newton", "prediction", "gains of 100 candidates"}
    assert all(line.facts["of the peak"].endswith("%") for line in lines)


def test_everyday_work_is_timed_beside_smaller_work():
    lines = [*everyday.few_rows_roof(TINY), *everyday.searches(TINY, ("60 x 20",))]
    assert [line.what for line in lines] == [
        "default, 240 rows",
        "default, 1,000 rows",
        "60 x 20, default",
        "60 x 20, quick",
    ]
    assert all(line.ours > 0 and line.theirs > 0 for line in lines)


def test_layers_are_timed_on_each_number_of_threads():
    lines = thread_curves.thread_layers(Options((1, 2), repeats=1, scale=0.001))
    assert {line.what.removesuffix(", 2") for line in lines} >= {"kernel block", "gains", "Newton"}
    assert all(line.facts["ideal"] == 0.5 and line.ratio > 0 for line in lines)


def test_the_guard_knows_what_got_slower(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(guard, "WORKLOADS", (layers.pair_statistics,))
    path = tmp_path / "baseline.json"
    common = ["--baseline", str(path), "--scale", "0.002", "--repeats", "1"]
    for arguments in (parse(["guard", "--update", *common]), parse(["guard", *common])):
        baseline = json.loads(path.read_text()) if path.exists() else {}
        baseline["tolerance"] = 1000.0
        if "ratios" in baseline:
            path.write_text(json.dumps(baseline))
        arguments.run(arguments)
    assert "| ratio | baseline | now | change |" in capsys.readouterr().out
    baseline["tolerance"] = 1e-6
    path.write_text(json.dumps(baseline))
    arguments = parse(["guard", *common])
    with pytest.raises(SystemExit, match=r"Slower than the baseline .* pair statistics"):
        arguments.run(arguments)


def test_the_committed_baseline_is_of_the_ratios_that_are_measured():
    committed = json.loads(guard.BASELINE.read_text())
    assert len(committed["ratios"]) >= 10
    assert committed["tolerance"] == guard.TOLERANCE


@pytest.mark.parametrize("density", [1.0, 0.1])
def test_data_have_one_row_in_ten_positive(density):
    X, y = make_data(Setting(rows=5000, features=30, density=density))
    assert X.shape == (5000, 30)
    assert 0.08 < np.mean(y) < 0.12


def test_a_fit_of_mapped_rows_is_measured_in_its_own_process(tmp_path, monkeypatch):
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", f"{root / 'src'}:{root}")
    found = measure(Setting(rows=2000, centres=4, threads=1, mapped=str(tmp_path / "rows")))
    assert found["n_finite"] == 2000
    assert found["seconds"] > 0


def test_growth_lines_make_a_figure(tmp_path):
    lines = [
        Line(
            "growth",
            f"rows {low:,} to {10 * low:,}",
            "slope 1",
            2.0 * low,
            2.2 * low,
            0.9,
            0.9,
            0.9,
        )
        for low in (100, 1000)
    ]
    curves.draw(lines, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").stat().st_size > 1000


def test_the_gpu_engine_is_measured_beside_the_cpu_engine(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch", reason='needs pip install "skauc[gpu]"')
    from benchmarks.speed import gpu

    monkeypatch.setenv("SKAUC_GPU_DEVICE", "cpu")
    monkeypatch.setattr(gpu, "PASS_ROWS", 12_000)
    monkeypatch.setattr(gpu, "N_TEST", 2000)
    words = ["gpu", "--rows", "3000x3", "--cpu", "3000x3", "--refine", "0", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    gpu.main()
    written = json.loads((tmp_path / "gpu.json").read_text())
    assert max(written["passes"].values()) < 1e-4
    one, other = written["fits"]
    assert {one["engine"], other["engine"]} == {"cpu", "gpu"}
    assert one["objective"] == pytest.approx(other["objective"], rel=1e-6)
    assert (tmp_path / "gpu.md").read_text().splitlines()[-1] in capsys.readouterr().out
