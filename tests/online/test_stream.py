"""Streams: AUC before learning, over a window and over all rows, from files and arrays."""

import gzip
import subprocess
import sys
import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.metrics import auc
from skauc.online import OPAUC, AdaOAM, array_chunks, csv_chunks, prequential_auc
from skauc.online.stream import BinnedAUC, WindowAUC

X, y = make_classification(1000, 6, class_sep=0.5, flip_y=0.1, random_state=0)
NAMES = [f"x{i}" for i in range(6)]


def slow_scores(learner, size):
    """Each row's score by the learner that has seen the chunks before it."""
    scores = []
    for start in range(0, 1000, size):
        rows = slice(start, start + size)
        if start:
            scores.append(learner.decision_function(X[rows]))
        learner.partial_fit(X[rows], y[rows], [0, 1])
    return np.concatenate(scores)


@pytest.mark.parametrize("make", [AdaOAM, lambda: SGDClassifier(random_state=0)])
def test_each_chunk_is_scored_before_it_is_learnt(make):
    scores = slow_scores(make(), 150)
    records = list(prequential_auc(make(), array_chunks(X, y, 150)))
    assert [record.n_rows for record in records] == [150, 300, 450, 600, 750, 900, 1000]
    assert [record.n_scored for record in records] == [0, 150, 300, 450, 600, 750, 850]
    assert records[0].chunk_auc is records[0].auc is None
    for record in records[1:]:
        stop = record.n_scored
        start = stop - (150 if record.n_rows < 1000 else 100)
        assert record.chunk_auc == auc(y[150 + start : 150 + stop], scores[start:stop])
        exact = auc(y[150 : 150 + stop], scores[:stop])
        assert abs(record.auc - exact) <= record.auc_error + 1e-12 < 1e-3
    assert all(before.seconds <= after.seconds for before, after in pairwise(records))


@pytest.mark.parametrize("window", [2, 200, 5000])
def test_a_window_is_exact(window):
    scores = slow_scores(AdaOAM(), 150)
    *_, record = prequential_auc(AdaOAM(), array_chunks(X, y, 150), window=window)
    assert record.auc_error == 0
    labels = y[150:][-window:]
    expected = auc(labels, scores[-window:]) if len(set(labels)) == 2 else None
    assert record.auc == expected


def test_a_fitted_model_is_scored_from_the_first_chunk():
    model = OPAUC().fit(X[:500], y[:500])
    first = next(prequential_auc(model, array_chunks(X[500:], y[500:], 250)))
    assert first.n_scored == 250
    assert first.chunk_auc > 0.7


def test_the_model_is_the_one_of_a_single_pass():
    model = AdaOAM()
    list(prequential_auc(model, array_chunks(X, y, 77)))
    assert_array_equal(model.coef_, AdaOAM().partial_fit(X, y, [0, 1]).coef_)


def test_a_chunk_of_one_class():
    order = np.argsort(y, kind="stable")
    chunks = array_chunks(X[order], y[order], 100)
    records = list(prequential_auc(AdaOAM(), chunks, classes=[0, 1]))
    assert records[1].chunk_auc is None
    assert records[1].auc is None
    assert records[-1].auc is not None


def test_an_empty_stream():
    assert list(prequential_auc(AdaOAM(), [])) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 1}, r"`window` must be an integer of at least 2; got 1\. None uses"),
        ({"classes": [0]}, r"`classes` must hold two different labels; got \[0\]\. Pass both"),
    ],
    ids=str,
)
def test_bad_options(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        list(prequential_auc(AdaOAM(), array_chunks(X, y), **options))


def test_the_first_chunk_must_tell_the_classes():
    message = r"first chunk must contain both classes; got the labels \[1\]\. Pass both"
    with pytest.raises(InvalidDataError, match=message):
        list(prequential_auc(AdaOAM(), [(X[:3], np.ones(3, int))]))


# -- the running AUC --------------------------------------------------------------------------

scores_and_labels = st.lists(
    st.tuples(st.floats(allow_nan=False), st.booleans()), min_size=2, max_size=60
).filter(lambda rows: len({label for _, label in rows}) == 2)


@settings(max_examples=30, deadline=None)
@given(scores_and_labels)
def test_bins_keep_their_bound(rows):
    scores, positive = np.array([s for s, _ in rows]), np.array([p for _, p in rows])
    binned = BinnedAUC()
    binned.add(scores[:5], positive[:5])
    binned.add(scores[5:], positive[5:])
    value, error = binned.value()
    wins = np.greater.outer(scores[positive], scores[~positive])
    ties = np.equal.outer(scores[positive], scores[~positive])
    assert abs(value - np.mean(wins + ties / 2)) <= error + 1e-12


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_bins_are_fine_at_any_scale(scale):
    rng = np.random.default_rng(0)
    positive = rng.random(20_000) < 0.2
    scores = scale * (rng.normal(size=20_000) + positive)
    binned = BinnedAUC()
    binned.add(scores, positive)
    value, error = binned.value()
    assert error < 1e-3
    assert_allclose(value, auc(positive, scores), atol=1e-5)


def test_memory_does_not_grow():
    for running in (BinnedAUC(), WindowAUC(100)):
        for _ in range(20):
            running.add(np.linspace(-1, 1, 1000), np.arange(1000) % 2 == 0)
    assert running.scores.shape == running.positive.shape == (100,)


# -- files and arrays -------------------------------------------------------------------------


def write_csv(path, n_copies=1):
    lines = [
        ",".join([*map(repr, map(float, row)), f"{label}\n"])
        for row, label in zip(X, y, strict=True)
    ]
    text = "".join([",".join([*NAMES, "event\n"]), *n_copies * lines])
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_csv_files(tmp_path, name):
    pytest.importorskip("pandas")
    chunks = list(csv_chunks(write_csv(tmp_path / name), "event", 300))
    assert [len(labels) for _, labels in chunks] == [300, 300, 300, 100]
    assert chunks[0][0].columns.tolist() == NAMES
    # Before pandas 3, the last digit may differ.
    assert_allclose(np.concatenate([rows.to_numpy() for rows, _ in chunks]), X, rtol=1e-12)
    model = AdaOAM()
    list(prequential_auc(model, chunks))
    assert_allclose(model.coef_, AdaOAM().partial_fit(X, y, [0, 1]).coef_, rtol=1e-9)
    assert model.feature_names_in_.tolist() == NAMES


def test_a_large_file_is_never_in_memory(tmp_path):
    pytest.importorskip("pandas")
    path = write_csv(tmp_path / "rows.csv", n_copies=20)
    list(prequential_auc(AdaOAM(), array_chunks(X, y)))  # compiles
    tracemalloc.start()
    *_, record = prequential_auc(AdaOAM(), csv_chunks(path, "event", 1000), window=500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert record.n_rows == 20_000
    assert peak < 0.6 * path.stat().st_size


def test_options_of_read_csv(tmp_path):
    pytest.importorskip("pandas")
    path = write_csv(tmp_path / "rows.csv")
    rows, _ = next(csv_chunks(path, "event", usecols=["x1", "x4", "event"]))
    assert rows.columns.tolist() == ["x1", "x4"]


def test_a_column_that_is_not_there(tmp_path):
    pytest.importorskip("pandas")
    with pytest.raises(
        InvalidDataError,
        match=r"`target` must be a column of the file; got 'label', .* 'x0', .*'event'\.",
    ):
        next(csv_chunks(write_csv(tmp_path / "rows.csv"), "label"))


def test_memory_mapped_arrays(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    first, _ = next(array_chunks(rows, y, 100))
    assert isinstance(first, np.memmap)
    model = AdaOAM()
    list(prequential_auc(model, array_chunks(rows, y, 100)))
    assert_array_equal(model.coef_, AdaOAM().partial_fit(X, y, [0, 1]).coef_)


@pytest.mark.parametrize("convert", [list, lambda part: part.tolist(), pd.DataFrame])
def test_chunks_of_any_rows(convert):
    labels = y if convert is pd.DataFrame else convert(y)
    chunks = list(array_chunks(convert(X), labels, 300))
    assert [len(rows) for rows, _ in chunks] == [300, 300, 300, 100]
    assert_array_equal(np.concatenate([rows for rows, _ in chunks]), X)
    assert_array_equal(np.concatenate([part for _, part in chunks]), y)


def test_chunks_of_bad_arrays():
    with pytest.raises(InvalidDataError, match=r"must have the same length; got 1000 and 9"):
        next(array_chunks(X, y[:9]))
    for chunks in (array_chunks(X, y, 0), csv_chunks("none.csv", "event", 0)):
        with pytest.raises(
            InvalidParameterError, match=r"`chunk_rows` must be an integer of at least 1; got 0"
        ):
            next(chunks)


def test_without_pandas_the_error_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from skauc.online.stream import csv_chunks\n"
        "next(csv_chunks('rows.csv', 'event'))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "MissingPackageError" in answer.stderr
    assert "pip install 'skauc[stream]'" in answer.stderr
