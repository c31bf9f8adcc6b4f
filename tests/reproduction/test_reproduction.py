"""The function behind ``skauc reproduce``, on real data."""

import json
from dataclasses import replace
from importlib.util import find_spec
from itertools import product

import pytest

from reproduction import EXPERIMENT_NAMES, METHOD_NAMES, reproduce
from reproduction.methods import make_methods
from reproduction.protocol import QUICK
from reproduction.runner import versions
from skauc.exceptions import InvalidDataError, InvalidParameterError, MissingPackageError


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"what": "table4"}, r"`what` must be one of 'table1', .*'figure3'; got 'table4'"),
        ({"datasets": ["iris"]}, r"`datasets` must be one of 'sonar', .*'magic04'; got 'iris'"),
        ({"datasets": ["poker"]}, r"`datasets` must be one of .*; got 'poker'"),
        (
            {"datasets": "sonar"},
            r"`datasets` must be a list of names; got 'sonar'. Choose from son",
        ),
        ({"methods": ["SVM"]}, r"`methods` must be one of 'SparseKernelAUC', .*; got 'SVM'"),
        ({"methods": []}, r"`methods` must be a list of names; got \[\]"),
        ({"n_runs": 0}, r"`n_runs` must be an integer of at least 1; got 0"),
        ({"nested_runs": -1}, r"`nested_runs` must be an integer of at least 0; got -1"),
        ({"seed": -1}, r"`seed` must be an integer of at least 0; got -1"),
        ({"n_jobs": 0}, r"`n_jobs` must be"),
        ({"only": "look"}, r"`only` must be one of 'measure', 'draw'; got 'look'"),
    ],
)
def test_what_is_not_known_lists_what_is(tmp_path, wrong, message):
    with pytest.raises(InvalidParameterError, match=message):
        reproduce(**{"what": "table2", "out": tmp_path / "out", **wrong})
    assert not (tmp_path / "out").exists()


def test_a_device_that_is_not_there(tmp_path):
    pytest.importorskip("torch")
    for device in ("abacus", "meta", "cuda:99"):
        message = rf"`device` must name a torch device with 64-bit .*; got '{device}': "
        with pytest.raises(InvalidParameterError, match=message):
            reproduce("table2", device=device, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_a_device_without_torch(tmp_path):
    message = r'needs torch, which cannot be imported .* pip install "skauc\[gpu\]"'
    with pytest.raises(MissingPackageError, match=message):
        reproduce("table2", device="cuda", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("data_folder")
def test_results_do_not_depend_on_the_device(tmp_path):
    """ "cpu:0" is torch's own name of the processor."""
    pytest.importorskip("torch")
    asked = {"datasets": ["glass"], "methods": ["KernelRankSVM"], "quick": True}
    for device in ("cpu", "cpu:0"):
        reproduce("table2", device=device, out=tmp_path / device, **asked)
    head, other = ((tmp_path / device / "settings.json").read_text() for device in ("cpu", "cpu:0"))
    assert head == other
    here, there = (
        json.loads((tmp_path / device / "results.jsonl").read_text().splitlines()[1])
        for device in ("cpu", "cpu:0")
    )
    assert here["best"]["parameters"] == there["best"]["parameters"]
    assert here["best"]["auc"] == pytest.approx(there["best"]["auc"], abs=1e-4)


def test_names():
    assert EXPERIMENT_NAMES == ("table1", "table2", "table3", "figure1", "figure2", "figure3")
    assert "LightGBM" in METHOD_NAMES


@pytest.mark.usefixtures("data_folder")
def test_table_2_quick_goes_on_and_is_not_mixed(tmp_path):
    asked = {"datasets": ["sonar"], "quick": True, "out": tmp_path}
    told = []
    files = reproduce(
        "table2", methods=["SVC"], progress=lambda *numbers: told.append(numbers), **asked
    )
    n_tasks = told[-1][1]
    assert told[-1][:2] == (n_tasks, n_tasks)
    tables = [f"{name}.{s}" for name in ("table2", "table2-goal") for s in FORMATS]
    assert [path.name for path in files] == ["results.jsonl", *tables]
    head, *lines = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    assert head["settings"]["protocol"]["most_rows"] == 1000
    assert [sorted(found) for found in head["versions"]] == [sorted(versions())]
    assert [line["fold"] for line in lines] == [0, 1, 2, 3, 4]
    # Another method joins the same folder; the first one is not run again.
    told.clear()
    reproduce("table2", methods=["SVC", "AdaOAM"], progress=lambda *n: told.append(n), **asked)
    assert told[0][0] == n_tasks
    text = (tmp_path / "table2.md").read_text()
    assert "| sonar | SVC |" in text
    assert "| sonar | AdaOAM |" in text
    assert "Quick: at most 1000 training rows" in text
    assert "Not run" not in text
    raw = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text().splitlines()]
    assert {tuple(line["task"][:5]) for line in raw} == {
        ("sonar", method, 0, fold, part)
        for method, fold, part in product(("SVC", "AdaOAM"), range(5), range(3))
    }
    assert all("seed" in line for line in raw)
    with pytest.raises(InvalidParameterError, match=r"other settings \(grids, protocol\)"):
        reproduce("table2", datasets=["sonar"], methods=["SVC"], out=tmp_path)
    with pytest.raises(InvalidParameterError, match=r"other settings \(.*protocol"):
        reproduce("table2", methods=["SVC"], seed=1, **asked)


@pytest.mark.usefixtures("data_folder")
def test_lines_alone_and_the_table_later(tmp_path):
    asked = {"datasets": ["sonar"], "methods": ["AdaOAM"], "quick": True, "out": tmp_path}
    assert reproduce("table2", only="measure", **asked) == [tmp_path / "lines.jsonl"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines.jsonl", "settings.json"]
    told = []
    reproduce("table2", progress=lambda *numbers: told.append(numbers[:2]), **asked)
    assert len(told) == 1
    assert "| sonar | AdaOAM |" in (tmp_path / "table2.md").read_text()


@pytest.mark.usefixtures("data_folder")
def test_nested_choices_are_added_later(tmp_path):
    asked = {"datasets": ["sonar"], "methods": ["AdaOAM"], "quick": True, "out": tmp_path}
    n_slices = len(make_methods(QUICK)["AdaOAM"].slices())
    told = []
    for n_runs, nested_runs in ((2, 0), (2, 1)):
        reproduce(
            "table2",
            n_runs=n_runs,
            nested_runs=nested_runs,
            progress=lambda *numbers: told.append(numbers[:2]),
            **asked,
        )
        words = f"({5 * nested_runs} of 10 folds)"
        assert words in (tmp_path / "table2.md").read_text()
    assert told[0] == (0, 10 * n_slices)
    assert (10 * n_slices, 20 * n_slices) in told


@pytest.mark.usefixtures("data_folder")
def test_drawing_measures_nothing(tmp_path):
    asked = {"datasets": ["sonar"], "quick": True, "out": tmp_path}
    with pytest.raises(InvalidDataError, match=r"Nothing to draw: .*lines.jsonl does not exist"):
        reproduce("figure2", only="draw", **asked)
    with pytest.raises(KeyboardInterrupt):
        reproduce("figure2", only="measure", progress=lambda *told: stop_at(told[0], 2), **asked)
    kept = (tmp_path / "lines.jsonl").read_bytes()
    files = reproduce("figure2", only="draw", **asked)
    assert [path.name for path in files] == ["results.jsonl", "figure2.png", "figure2.svg"]
    assert (tmp_path / "lines.jsonl").read_bytes() == kept


def stop_at(n_done, n_most):
    if n_done == n_most:
        raise KeyboardInterrupt


FORMATS = ("md", "tex", "html")


@pytest.mark.usefixtures("data_folder")
def test_table_1(tmp_path):
    files = reproduce("table1", datasets=["sonar", "poker"], out=tmp_path)
    assert [path.name for path in files] == ["results.jsonl", *(f"table1.{s}" for s in FORMATS)]
    assert "| poker | 25,010 | 99,999 (printed 1,000,000) |" in (tmp_path / "table1.md").read_text()


@pytest.mark.usefixtures("data_folder")
def test_table_3_on_the_official_test_part(tmp_path):
    reproduce("table3", datasets=["segment"], methods=["AdaOAM"], quick=True, out=tmp_path)
    _, line = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    assert (line["run"], line["fold"]) == (0, 0)
    assert line["best"]["auc"] >= line["nested"]["auc"]


@pytest.mark.usefixtures("data_folder")
def test_an_interrupt_leaves_tables_of_what_is_done(tmp_path):
    per_fold = 3 * len(make_methods(QUICK)["AdaOAM"].slices())

    def stop_after_two_folds(n_done, n_tasks, last):
        if n_done == 2 * per_fold:
            raise KeyboardInterrupt

    asked = {"datasets": ["glass"], "methods": ["AdaOAM"], "quick": True, "out": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        reproduce("table2", progress=stop_after_two_folds, **asked)
    table = (tmp_path / "table2.md").read_text()
    assert "| 2 of 1 × 5, incomplete |\n" in table
    told = []
    reproduce("table2", progress=lambda *numbers: told.append(numbers[:2]), **asked)
    assert told[0] == (2 * per_fold, 5 * per_fold)
    assert "| 1 × 5 |\n" in (tmp_path / "table2.md").read_text()


def without_lightgbm(protocol, n_rows=0):
    methods = make_methods(protocol, n_rows)
    return {**methods, "LightGBM": replace(methods["LightGBM"], package="no_such_package")}


@pytest.mark.usefixtures("data_folder")
def test_a_package_that_is_not_installed_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("reproduction.experiments.make_methods", without_lightgbm)
    asked = {"datasets": ["segment"], "quick": True, "out": tmp_path}
    said = []
    reproduce("table3", methods=["LightGBM", "AdaOAM"], say=said.append, **asked)
    assert said == [
        "LightGBM is skipped because no_such_package is not installed. Install it with: "
        "pip install no_such_package"
    ]
    assert "LightGBM" not in (tmp_path / "table3.md").read_text()
    with pytest.raises(InvalidParameterError, match=r"None of `methods` is installed; got Light"):
        reproduce("table3", methods=["LightGBM"], **asked)


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("what", ["table2", "figure1", "figure3"])
def test_an_interrupt_before_anything_is_done(what, tmp_path):
    def stop(n_done, n_tasks, last):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(what, datasets=["sonar"], quick=True, out=tmp_path, progress=stop)
    assert (tmp_path / "settings.json").exists()


@pytest.mark.usefixtures("data_folder")
def test_figures_take_one_task_at_a_time_and_say_so(tmp_path):
    said = []
    reproduce("figure2", datasets=["sonar"], quick=True, n_jobs=2, out=tmp_path, say=said.append)
    assert said == ["Figures are timed, so tasks run one at a time."]
    assert (tmp_path / "figure2.png").stat().st_size > 10_000
