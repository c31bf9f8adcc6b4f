"""Frames, sparse rows, precisions and memory layouts: the same model from all of them."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification

from skauc import Selection, SparseKernelAUC

X, y = make_classification(200, 5, class_sep=0.6, flip_y=0.1, n_redundant=0, random_state=0)
NAMES = ["age", "weight", "height", "pulse", "dose"]


def make(n_basis=6, **parameters):
    """An estimator without scaling, which is the same for sparse and for dense rows."""
    return SparseKernelAUC(n_basis, random_state=0, **{"scaling": None, **parameters})


def pandas_frame(rows, names=NAMES):
    return pytest.importorskip("pandas").DataFrame(rows, columns=names)


def polars_frame(rows, names=NAMES):
    pytest.importorskip("sklearn", "1.9", reason="reads no names from the polars of today")
    return pytest.importorskip("polars").DataFrame(rows, schema=names)


frames = pytest.mark.parametrize("frame", [pandas_frame, polars_frame])


@pytest.fixture(scope="module")
def reference():
    """Scores of the training rows by the model of the plain float64 array."""
    return make().fit(X, y).decision_function(X)


# -- frames -----------------------------------------------------------------------------------


@frames
def test_a_frame_gives_the_model_of_its_array_and_leaves_its_names(frame, reference):
    model = make().fit(frame(X), y)
    assert model.feature_names_in_.tolist() == NAMES
    # Frames are stored by columns, and sums over them are added in another order.
    assert_allclose(model.decision_function(frame(X)), reference, atol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("labels", [(0, 1), (False, True), ("ham", "spam")], ids=str)
def test_labels_in_a_series(library, labels, reference):
    series = pytest.importorskip(library).Series([labels[code] for code in y])
    model = make().fit(X, series)
    assert_array_equal(model.decision_function(X), reference)
    assert set(model.predict(X).tolist()) == set(labels)
    assert model.score(X, series) == make().fit(X, y).score(X, y)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "string", "category"])
def test_labels_of_pandas_extension_types(dtype, reference):
    series = pytest.importorskip("pandas").Series(y == 1 if dtype == "boolean" else y)
    model = make().fit(X, series.astype(dtype))
    assert_array_equal(model.decision_function(X), reference)


@pytest.mark.parametrize("labels", [(0, 1), (False, True), (1.0, 2.0), ("ham", "spam")], ids=str)
def test_labels_that_are_objects_have_their_own_type(labels, reference):
    """scikit-learn takes objects that are no text for numbers on a continuous scale."""
    model = make().fit(X, np.array([labels[code] for code in y], dtype=object))
    assert_array_equal(model.decision_function(X), reference)
    assert model.classes_.tolist() == list(labels)
    assert all(
        type(one) is type(other) for one, other in zip(model.classes_.tolist(), labels, strict=True)
    )


@pytest.mark.parametrize(("dtype", "kind"), [("Int64", "i"), ("boolean", "b")])
def test_labels_of_nullable_types_are_no_floats(dtype, kind):
    series = pytest.importorskip("pandas").Series(y).astype(dtype)
    assert make().fit(X, series).predict(X).dtype.kind == kind


def test_weights_in_a_series(reference):
    weights = pytest.importorskip("pandas").Series(np.ones(200))
    assert_array_equal(make().fit(X, y, weights).decision_function(X), reference)


@frames
def test_other_names_are_an_error(frame):
    model = make().fit(frame(X), y)
    other = frame(X, [*NAMES[:4], "salary"])
    with pytest.raises(ValueError, match=r"(?s)names unseen at fit time:\n- salary.*\n- dose"):
        model.decision_function(other)


@frames
def test_another_order_of_names_is_an_error(frame):
    model = make().fit(frame(X), y)
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        model.predict(frame(X[:, ::-1], NAMES[::-1]))


@frames
def test_rows_without_names_get_a_warning_and_scores(frame, reference):
    model = make().fit(frame(X), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        scores = model.decision_function(X)
    assert_allclose(scores, reference, atol=1e-12)


# -- sparse rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial", "linear"])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
def test_sparse_rows_give_the_model_of_dense_ones(container, kernel):
    rows = np.where(np.abs(X) > 0.7, X, 0.0)
    model, dense = make(kernel=kernel).fit(container(rows), y), make(kernel=kernel).fit(rows, y)
    assert sparse.issparse(model.basis_vectors_)
    assert_array_equal(model.basis_indices_, dense.basis_indices_)
    assert_allclose(model.basis_vectors_.toarray(), dense.basis_vectors_, atol=1e-9)
    expected = dense.decision_function(rows)
    for fitted in (model, dense):
        assert_allclose(fitted.decision_function(container(rows)), expected, atol=1e-9)
        assert_allclose(fitted.decision_function(rows), expected, atol=1e-9)


@pytest.mark.parametrize("selection", ["greedy", "exact", "exhaustive", "random", "kmeans"])
def test_every_selection_takes_sparse_rows(selection):
    options = {"selection": Selection(selection, n_candidates=10), "n_basis": 4}
    model, dense = make(**options).fit(sparse.csr_array(X), y), make(**options).fit(X, y)
    assert_allclose(model.decision_function(X), dense.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial", "linear"])
def test_sparse_rows_may_have_64_bit_indices(kernel):
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    scores = make(kernel=kernel).fit(rows, y).decision_function(rows)
    assert_allclose(scores, make(kernel=kernel).fit(X, y).decision_function(X), atol=1e-9)


# -- precision and layout ---------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial", "linear"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_float32_stays_float32_and_agrees_with_float64(container, kernel):
    single = container(X.astype(np.float32))
    model = make(kernel=kernel, refine=False).fit(single, y)
    double = make(kernel=kernel, refine=False)
    double.fit(container(X.astype(np.float32).astype(np.float64)), y)
    assert model.basis_vectors_.dtype == np.float32
    assert double.basis_vectors_.dtype == np.float64
    assert_array_equal(model.basis_indices_, double.basis_indices_)
    assert_allclose(model.decision_function(single), double.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_refined_float32_agrees_with_float64(container):
    single = X.astype(np.float32)
    model = make().fit(container(single), y)
    double = make().fit(container(single.astype(np.float64)), y)
    assert_array_equal(model.basis_indices_, double.basis_indices_)
    assert_allclose(model.decision_function(single), double.decision_function(single), atol=1e-3)


@pytest.mark.parametrize("n_rows", [9_000, 11_000])
def test_float32_rows_are_not_copied(n_rows):
    rows = np.random.default_rng(0).standard_normal((n_rows, 1000), dtype=np.float32)
    labels = rows[:, 0] > 0
    model = make(2, selection=Selection(n_candidates=4, n_rows=None), refine=False)
    model.fit(rows[:100], labels[:100])
    assert peak_memory(model.fit, rows, labels) < rows.nbytes
    assert peak_memory(model.predict, rows) < rows.nbytes


def peak_memory(call, *arguments):
    tracemalloc.start()
    call(*arguments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    "convert",
    [np.asfortranarray, lambda rows: np.repeat(rows, 2, axis=1)[:, ::2], np.ndarray.tolist],
    ids=["F-ordered", "strided", "nested lists"],
)
def test_the_layout_does_not_matter(convert, reference):
    assert_allclose(make().fit(convert(X), y).decision_function(convert(X)), reference, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_, np.float16])
def test_other_numbers_become_float64(dtype):
    rows = np.clip(20 * X, 0, 100).astype(dtype)
    model = make().fit(rows, y)
    assert model.basis_vectors_.dtype == np.float64
    expected = make().fit(rows.astype(np.float64), y).decision_function(rows)
    assert_array_equal(model.decision_function(rows), expected)


def test_memory_mapped_and_read_only_rows(tmp_path, reference):
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "labels.npy", y)
    rows, labels = (np.load(tmp_path / f"{n}.npy", mmap_mode="r") for n in ("rows", "labels"))
    model = make().fit(rows, labels, np.broadcast_to(1.0, 200))
    assert_array_equal(model.decision_function(rows), reference)
    assert not isinstance(model.basis_vectors_, np.memmap)


def test_frames_of_mixed_numbers():
    pandas = pytest.importorskip("pandas")
    columns = {"single": X[:, 0].astype(np.float32), "whole": np.arange(200), "flag": X[:, 1] > 0}
    frame = pandas.DataFrame({**columns, "nullable": pandas.array(y, dtype="Int8")})
    model, plain = make().fit(frame, y), make().fit(frame.to_numpy(np.float64), y)
    assert_array_equal(model.basis_vectors_, plain.basis_vectors_)
