"""What the cluster engine takes, and what it says to the rest."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

from skauc import SparseKernelAUC
from skauc.exceptions import InvalidDataError, InvalidParameterError, PositiveLabelWarning

dask = pytest.importorskip("dask", reason='needs pip install "skauc[cluster]"')
da = pytest.importorskip("dask.array", reason='needs pip install "skauc[cluster]"')
dd = pytest.importorskip("dask.dataframe", reason='needs pip install "skauc[cluster]"')

X, y = make_classification(600, 5, weights=[0.7], flip_y=0.1, random_state=0)
NAMES = [f"feature {i}" for i in range(5)]
MODEL = SparseKernelAUC(2, refine=False, random_state=0)


def dask_rows(chunks=200):
    return da.from_array(X, chunks=(chunks, -1)), da.from_array(y, chunks=chunks)


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame(X, columns=NAMES).assign(label=np.where(y, "yes", "no"))


@pytest.fixture(scope="module")
def on_cpu():
    return clone(MODEL).fit(X, y)


def assert_like(model, expected):
    assert_allclose(model.path_[-1].objective, expected.path_[-1].objective, rtol=0.02)
    assert_allclose(model.score(X, y), expected.score(X, y), atol=0.01)


# -- collections -----------------------------------------------------------------------------


def test_unknown_chunk_sizes(client, on_cpu):
    rows, labels = dask_rows()
    kept = labels >= 0
    model = clone(MODEL).fit(rows[kept], labels[kept])
    assert np.isnan(rows[kept].shape[0])
    assert_like(model, on_cpu)


def test_columns_in_several_chunks_and_labels_in_others(client, on_cpu):
    rows, labels = da.from_array(X, chunks=(150, 2)), da.from_array(y, chunks=170)
    assert_like(clone(MODEL).fit(rows, labels), on_cpu)


def test_uneven_empty_and_one_class_partitions(client, on_cpu):
    order = np.argsort(y[:300], kind="stable")
    rows, labels = np.vstack((X[:300][order], X[300:])), np.append(y[:300][order], y[300:])
    chunks = (100, 0, 1, 199, 250, 0, 50)
    model = clone(MODEL).fit(
        da.from_array(rows, chunks=(chunks, -1)), da.from_array(labels, chunks=(chunks,))
    )
    assert_like(model, clone(MODEL).fit(rows, labels))


@pytest.mark.filterwarnings("ignore:[\\s\\S]*inplace keyword in DataFrame:Warning")  # dask's
def test_a_directory_of_parquet_files(client, table, tmp_path):
    dd.from_pandas(table, npartitions=3).to_parquet(tmp_path / "rows")
    read = dd.read_parquet(tmp_path / "rows")
    model = clone(MODEL).fit(read[NAMES], read["label"])
    assert model.feature_names_in_.tolist() == NAMES
    assert model.classes_.tolist() == ["no", "yes"]
    labels, scores = model.predict(read[NAMES]), model.decision_function(read[NAMES])
    assert isinstance(scores, da.Array)
    assert_array_equal(labels.compute(), model.predict(table[NAMES]))
    assert_allclose(scores.compute(), model.decision_function(table[NAMES]), rtol=1e-12)
    expected = clone(MODEL).fit(table[NAMES], table["label"])
    auc = model.score(table[NAMES], table["label"])
    assert_allclose(auc, expected.score(table[NAMES], table["label"]), atol=0.01)


def test_rows_of_single_precision_stay_so(client):
    rows, labels = dask_rows()
    assert clone(MODEL).fit(rows.astype(np.float32), labels).basis_vectors_.dtype == np.float32


def test_other_byte_orders(client, on_cpu):
    rows, labels = dask_rows()
    assert_like(clone(MODEL).fit(rows.astype(">f8"), labels.astype(">i8")), on_cpu)


def test_sparse_rows_with_duplicates(client):
    def doubled(block):
        halves = sparse.csr_array(block / 2)
        indptr, order = 2 * halves.indptr, np.repeat(np.arange(halves.nnz), 2)
        parts = halves.data[order], halves.indices[order].astype(np.int64), indptr.astype(np.int64)
        return sparse.csr_array(parts, shape=block.shape)

    rows, labels = dask_rows()
    model = clone(MODEL).fit(rows.map_blocks(doubled, dtype=float), labels)
    assert_like(model, clone(MODEL).fit(sparse.csr_array(X), y))


def test_rare_words_that_sort_first_are_reported(client):
    labels = np.where(np.arange(600) % 5 == 0, "fraud", "legit")
    message = "'fraud' is much rarer: 120 of 600 rows"
    with pytest.warns(PositiveLabelWarning, match=message):
        clone(MODEL).fit(dask_rows()[0], labels_of(labels))


def test_labels_on_the_client_are_cut_like_the_rows(client, on_cpu):
    assert_like(clone(MODEL).fit(dask_rows()[0], y), on_cpu)


def test_data_of_the_client_are_sent_with_a_warning(client, on_cpu):
    model = clone(MODEL).set_params(engine="cluster")
    for rows in (X, sparse.csr_array(X)):
        with pytest.warns(UserWarning, match=r"got [\d.]+ kiB in the client's memory and sends"):
            model.fit(rows, y)
        assert_like(model, on_cpu)


# -- bad input -------------------------------------------------------------------------------


def spoiled(row, value):
    rows = X.copy()
    rows[row] = value
    return da.from_array(rows, chunks=(200, -1))


def disagreeing():
    def widen(block, block_info=None):
        is_last = block_info[0]["chunk-location"][0] == 2
        return np.hstack((block, block[:, :1])) if is_last else block

    return dask_rows()[0].map_blocks(widen, dtype=float)


def other_columns(table):
    """Three files of a directory, say, of which one has another column."""
    parts = np.array_split(np.arange(600), 3)
    tables = [table.loc[part, NAMES] for part in parts]
    tables[1] = tables[1].rename(columns={"feature 1": "other"})
    parts = [dask.delayed(part) for part in tables]
    return dd.from_delayed(parts, meta=table.loc[:0, NAMES], verify_meta=False)


def labels_of(values):
    return da.from_array(np.asarray(values), chunks=200)


def weights_of(value, row=450):
    weights = np.ones(600)
    weights[row] = value
    return da.from_array(weights, chunks=200)


ROWS = dask_rows()[0]
LABELS = dask_rows()[1]
THREE = np.where(np.arange(600) < 590, y, 2)
CASES = {
    "NaN": (lambda: spoiled(250, np.nan), LABELS, None, r"Partition 1: Input X contains NaN"),
    "infinity": (lambda: spoiled(0, np.inf), LABELS, None, r"Partition 0: Input X contains inf"),
    "object": (
        lambda: ROWS.astype(object),
        LABELS,
        None,
        r"`X` must be numeric; got a dask array of type object\. Use X\.astype",
    ),
    "more columns": (
        disagreeing,
        LABELS,
        None,
        r"Partition 2: `X` has 6 columns; expected 5\. Give all",
    ),
    "one dimension": (lambda: ROWS[:, 0], LABELS, None, r"`X` must have two dimensions; got .* 1"),
    "three classes, one in the last partition": (
        lambda: ROWS,
        labels_of(THREE),
        None,
        r"Only binary classification.*`y` has 3 classes",
    ),
    "one class": (lambda: ROWS, labels_of(np.ones(600)), None, r"`y` has one class only: 1\.0"),
    "missing label": (
        lambda: ROWS,
        labels_of(np.where(np.arange(600) == 590, np.nan, y)),
        None,
        r"Partition 2: `y` has missing labels",
    ),
    "continuous labels": (
        lambda: ROWS,
        labels_of(X[:, 0]),
        None,
        r"Partition \d: Unknown label type: continuous",
    ),
    "too few labels": (
        lambda: ROWS,
        labels_of(y[:500]),
        None,
        r"`y` must be as long as `X`; got 500 and 600",
    ),
    "negative weight": (
        lambda: ROWS,
        LABELS,
        weights_of(-1.0),
        r"`sample_weight` must not be negative; got -1\.0 in partition 2",
    ),
    "infinite weight": (
        lambda: ROWS,
        LABELS,
        weights_of(np.inf),
        r"Partition 2: `sample_weight` must be finite",
    ),
    "no weight in a class": (
        lambda: ROWS,
        LABELS,
        da.from_array(np.where(y, 0.0, 1.0), chunks=200),
        r"`sample_weight` is 0 in every row of class 1",
    ),
    "tiny weights": (
        lambda: ROWS,
        LABELS,
        da.full(600, 1e-200, chunks=200),
        r"`sample_weight` sums up to .*e-198, which is too large or too small to compute with",
    ),
    "no rows": (
        lambda: da.zeros((0, 5), chunks=(1, 5)),
        da.zeros(0, chunks=1),
        None,
        r"`X` has no rows in any of its \d+ partitions",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_rows_are_refused(client, case):
    make_rows, labels, weights, message = CASES[case]
    with pytest.raises(InvalidDataError, match=message):
        clone(MODEL).fit(make_rows(), labels, sample_weight=weights)


def test_columns_of_words_are_named(client, table):
    frame = dd.from_pandas(table, npartitions=2)
    with pytest.raises(InvalidDataError, match=r"numeric columns; got 'label' \(str"):
        clone(MODEL).fit(frame, frame["label"])


def test_partitions_with_other_columns_are_named(client, table):
    labels = dd.from_pandas(table["label"], npartitions=3).clear_divisions()
    with pytest.raises(InvalidDataError, match=r"Partition 1: `X` has the columns .*'other'"):
        clone(MODEL).fit(other_columns(table), labels)


def test_labels_in_other_partitions(client, table):
    frame = dd.from_pandas(table[NAMES], npartitions=3)
    labels = dd.from_pandas(table["label"], npartitions=2)
    with pytest.raises(InvalidDataError, match=r"`y` must have the same partitions as `X`; got 2"):
        clone(MODEL).fit(frame, labels)


def test_labels_with_another_index(client, table):
    frame = dd.from_pandas(table[NAMES], npartitions=2)
    labels = dd.from_pandas(table["label"].set_axis(table.index + 1), npartitions=2)
    with pytest.raises(InvalidDataError, match=r"`y` must have the same index as `X`\. Take both"):
        clone(MODEL).fit(frame, labels)


def test_partitions_of_another_length(client, table):
    frame = dd.from_pandas(table[NAMES], npartitions=2)
    labels = da.from_array(y, chunks=((290, 310),))
    with pytest.raises(InvalidDataError, match=r"`y` has (290|310) rows and `X` has 300 in one"):
        clone(MODEL).fit(frame, labels)


def test_labels_of_a_dataframe_on_the_client(client, table):
    with pytest.raises(InvalidDataError, match=r"`y` must be a dask series .*; got ndarray"):
        clone(MODEL).fit(dd.from_pandas(table[NAMES], npartitions=2), y)


def test_a_dataframe_with_labels_in_a_dask_array(client, table, on_cpu):
    frame = dd.from_pandas(table[NAMES], npartitions=3)
    model = clone(MODEL).fit(frame, da.from_array(y, chunks=200), da.ones(600, chunks=200))
    assert_allclose(model.path_[-1].objective, on_cpu.path_[-1].objective, rtol=0.02)


def test_labels_in_memory_need_known_rows(client):
    rows, labels = dask_rows()
    with pytest.raises(InvalidDataError, match="`y` must be a dask array or series with the"):
        clone(MODEL).fit(rows[labels >= 0], y)


def test_unknown_columns_are_refused_in_predictions(client, on_cpu, table):
    model = clone(MODEL).fit(table[NAMES], table["label"])
    frame = dd.from_pandas(table[NAMES].rename(columns={NAMES[0]: "other"}), npartitions=2)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- other"):
        model.decision_function(frame)
    with pytest.raises(InvalidDataError, match="`X` must have 5 columns, as in `fit`; got"):
        on_cpu.predict(dask_rows()[0][:, :3])


def test_the_cpu_engine_takes_no_dask_collection(client):
    with pytest.raises(InvalidParameterError, match="engine='cpu' needs rows in memory; got a"):
        clone(MODEL).set_params(engine="cpu").fit(*dask_rows())


def test_without_a_client_it_says_what_to_do():
    with pytest.raises(InvalidParameterError, match="needs a dask client; there is"):
        clone(MODEL).set_params(engine="cluster").fit(X, y)


def test_workers_without_this_version_are_named(tmp_path):
    """Real workers with all packages of this process but skauc, or with another skauc."""
    from distributed import Client, LocalCluster

    without, other = tmp_path / "without", tmp_path / "other"
    for packages in (without, other):
        packages.mkdir()
        for entry in Path(pd.__file__).parents[1].iterdir():
            if "skauc" not in entry.name.lower() and entry.suffix != ".pth":
                (packages / entry.name).symlink_to(entry)
    info = other / "skauc-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: skauc\nVersion: 9.9\n")
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster, Client(cluster) as client:
        workers = [start_worker(cluster.scheduler_address, each) for each in (without, other)]
        try:
            client.wait_for_workers(2, timeout=60)
            with pytest.raises(InvalidParameterError, match="Workers must have") as error:
                clone(MODEL).fit(*dask_rows())
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
    assert re.search(r"tcp://\S+ has no skauc", str(error.value))
    assert re.search(r"tcp://\S+ has skauc 9\.9", str(error.value))


def start_worker(scheduler, packages):
    """Start a worker process that sees the packages of one folder only."""
    options = ["--no-dashboard", "--no-nanny", "--nthreads", "1"]
    return subprocess.Popen(
        [sys.executable, "-S", "-m", "distributed.cli.dask_worker", *options, scheduler],
        env={**os.environ, "PYTHONPATH": str(packages)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
