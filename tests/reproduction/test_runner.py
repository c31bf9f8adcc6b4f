"""The runner: what is done is kept, what was cut is done again, nothing is mixed."""

import json
from functools import partial

import pytest
from errands import count

from reproduction.runner import Store, Task, run_tasks
from skauc.exceptions import InvalidDataError, InvalidParameterError

SETTINGS = {"experiment": "made up", "grid": (1, 2)}


def interrupt():
    raise KeyboardInterrupt


def fail():
    raise ZeroDivisionError("made up")


def tasks_of(path, numbers):
    return [Task(("count", number), partial(count, path, number)) for number in numbers]


def quiet(n_done, n_tasks, last):
    pass


@pytest.fixture
def marks(tmp_path):
    return tmp_path / "marks"


def test_lines_of_tasks(tmp_path, marks):
    store = Store(tmp_path / "out", SETTINGS)
    told = []
    run_tasks(
        tasks_of(marks, [1, 2]), store, n_jobs=1, progress=lambda *numbers: told.append(numbers)
    )
    assert told == [(0, 2, ""), (1, 2, "count 1"), (2, 2, "count 2")]
    finished = store.finished()
    assert list(finished) == [("count", 1), ("count", 2)]
    first, last = finished["count", 2]
    assert first == {"task": ["count", 2], "half": 2, "versions": last["versions"]}
    assert last["whole"] == 2
    assert last["done"] is True
    assert last["seconds"] >= 0
    assert last["cpu_seconds"] >= 0
    assert {"skauc", "numpy", "scikit-learn", "python"} <= set(last["versions"])


def test_versions_of_all_machines_each_once(tmp_path):
    store = Store(tmp_path / "out", SETTINGS)
    for number, python in enumerate(("3.11", "3.12", "3.11")):
        store.append([{"task": [number], "done": True, "n_lines": 1, "versions": {"py": python}}])
    assert store.versions() == [{"py": "3.11"}, {"py": "3.12"}]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupted_it_goes_on(tmp_path, marks, n_jobs):
    store = Store(tmp_path / "out", SETTINGS)
    stopped = [*tasks_of(marks, [1, 2]), Task(("stop",), interrupt)]
    with pytest.raises(KeyboardInterrupt):
        run_tasks(stopped, store, n_jobs=1, progress=quiet)
    again = Store(tmp_path / "out", SETTINGS)
    assert set(again.finished()) == {("count", 1), ("count", 2)}
    run_tasks(tasks_of(marks, [1, 2, 3, 4]), again, n_jobs=n_jobs, progress=quiet)
    assert sorted(marks.read_text().split()) == ["1", "2", "3", "4"]
    assert len(again.finished()) == 4


def test_a_failure_keeps_what_was_done(tmp_path, marks):
    store = Store(tmp_path / "out", SETTINGS)
    with pytest.raises(ZeroDivisionError):
        run_tasks([*tasks_of(marks, [1]), Task(("x",), fail)], store, n_jobs=1, progress=quiet)
    assert set(store.finished()) == {("count", 1)}


@pytest.mark.parametrize("n_cut", [1, 5, 30, 90, 150])
def test_what_was_cut_off_is_done_again(tmp_path, marks, n_cut):
    """Wherever a crash cut the file, whole tasks are there and the cut one is run once more."""
    store = Store(tmp_path / "out", SETTINGS)
    run_tasks(tasks_of(marks, [1, 2]), store, n_jobs=1, progress=quiet)
    whole = store.finished()
    store.path.write_bytes(store.path.read_bytes()[:-n_cut])
    left = store.finished()
    assert left["count", 1] == whole["count", 1]
    run_tasks(tasks_of(marks, [1, 2]), store, n_jobs=1, progress=quiet)
    again = store.finished()
    assert set(again) == set(whole)
    for key in whole:
        assert len(again[key]) == len(whole[key])
        assert again[key][-1]["whole"] == whole[key][-1]["whole"]


def test_other_settings_are_never_mixed_in(tmp_path, marks):
    run_tasks(tasks_of(marks, [1]), Store(tmp_path / "out", SETTINGS), n_jobs=1, progress=quiet)
    before = (tmp_path / "out" / "lines.jsonl").read_bytes()
    with pytest.raises(
        InvalidParameterError,
        match=r"out holds results of other settings \(grid, seed\), .* another",
    ):
        Store(tmp_path / "out", {**SETTINGS, "grid": [1, 3], "seed": 0})
    assert (tmp_path / "out" / "lines.jsonl").read_bytes() == before
    assert json.loads((tmp_path / "out" / "settings.json").read_text())["grid"] == [1, 2]


def test_folders_that_are_none_of_ours(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameterError, match=r"file is a file. Use the name"):
        Store(tmp_path / "file", SETTINGS)
    (tmp_path / "lines.jsonl").write_text("{}\n")
    with pytest.raises(InvalidDataError, match=r"has results but no settings.json"):
        Store(tmp_path, SETTINGS)
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(InvalidDataError, match=r"settings.json is not JSON: .* another folder"):
        Store(tmp_path, SETTINGS)
