"""What all online learners share: pieces and passes, epochs, thresholds, formats, callbacks."""

import copy
import pickle

import numpy as np
import pytest
from listeners import Listener
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import OAM, OILK, OPAUC, AdaOAM, SAdaOAM

X, y = make_classification(300, 5, class_sep=0.6, flip_y=0.1, n_redundant=0, random_state=0)

LEARNERS = [
    OAM(buffer_size=10, random_state=0),
    OAM("gradient", buffer_size=10, buffer="rsx", average=False, random_state=0),
    OPAUC(random_state=0),
    OPAUC(rank=2, average=False, random_state=0),
    AdaOAM(average=True, random_state=0),
    SAdaOAM(random_state=0),
    OILK(buffer_size=10, random_state=0),
    OILK("rsx", buffer_size=10, n_violators=3, compensate=False, random_state=0),
    OILK("fifo", buffer_size=10, random_state=0),
]

all_learners = pytest.mark.parametrize("learner", LEARNERS, ids=str)
one_of_each = pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[2], LEARNERS[6]], ids=str)


def in_pieces(learner, cuts, rows=X, labels=y):
    model = clone(learner)
    for start, stop in zip([0, *cuts], [*cuts, len(labels)], strict=True):
        model.partial_fit(rows[start:stop], labels[start:stop], classes=[0, 1])
    return model


def assert_same(first, second):
    """Everything that the two learners remember is equal, bit by bit."""
    assert pickle.dumps(first._state) == pickle.dumps(second._state)
    assert_array_equal(first.decision_function(X), second.decision_function(X))


# -- pieces, passes and copies ----------------------------------------------------------------


@all_learners
@pytest.mark.parametrize("cuts", [[1, 2, 150, 299], range(1, 300)], ids=len)
def test_pieces_equal_one_pass(learner, cuts):
    assert_same(in_pieces(learner, cuts), in_pieces(learner, []))


@all_learners
def test_the_size_of_blocks_does_not_matter(learner, use_sizes):
    whole = in_pieces(learner, [])
    use_sizes(float64_block=1)
    assert_same(in_pieces(learner, []), whole)


@one_of_each
@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_goes_its_own_way(learner, duplicate):
    model = clone(learner).partial_fit(X[:100], y[:100], [0, 1])
    before = model.decision_function(X)
    other = duplicate(model).partial_fit(X[100:], y[100:])
    assert_array_equal(model.decision_function(X), before)
    assert_same(model.partial_fit(X[100:], y[100:]), other)


@all_learners
def test_fit_is_shuffled_passes_and_starts_afresh(learner):
    model = clone(learner).set_params(n_epochs=3, random_state=5)
    random_state = np.random.RandomState(5)
    expected = clone(model)
    expected.set_params(random_state=5)
    if "buffer" in model.get_params():
        random_state.randint(2**32, dtype=np.uint64)  # the seed of the buffers
    orders = [random_state.permutation(300) for _ in range(3)]
    for order in orders:
        expected.partial_fit(X[order], y[order], [0, 1])
    model.partial_fit(X[:50], y[:50], [0, 1])
    assert_same(model.fit(X, y), expected)
    assert model.n_samples_seen_ == 900


@all_learners
def test_fit_without_shuffling_is_the_same_pass_again(learner):
    model = clone(learner).set_params(n_epochs=2, shuffle=False).fit(X, y)
    assert_same(model, in_pieces(learner, [300], np.r_[X, X], np.r_[y, y]))


@all_learners
def test_partial_fit_goes_on_after_fit(learner):
    model = clone(learner).fit(X, y)
    assert model.partial_fit(X[:7], y[:7]).n_samples_seen_ == 5 * 300 + 7


@all_learners
def test_it_learns(learner):
    model = make_pipeline(StandardScaler(), clone(learner)).fit(X, y)
    assert model.score(X, y) > 0.7
    assert model.score(X, y) == pytest.approx(roc_auc_score(y, model.decision_function(X)))
    assert np.mean(model.predict(X) == y) > 0.6


@all_learners
def test_a_stream_may_start_with_one_class(learner):
    order = np.argsort(y, kind="stable")
    model = clone(learner).partial_fit(X[order[:40]], y[order[:40]], classes=[0, 1])
    assert np.isfinite(model.decision_function(X)).all()
    assert model.partial_fit(X[order[-40:]], y[order[-40:]]).score(X, y) > 0.5


# -- labels, thresholds and formats -----------------------------------------------------------


@one_of_each
@pytest.mark.parametrize("labels", [("ham", "spam"), (False, True), (-1, 1)], ids=str)
def test_labels_of_any_kind(learner, labels):
    named = np.array(labels)[y]
    model = clone(learner).partial_fit(X, named, classes=labels[::-1])
    assert model.classes_.tolist() == sorted(labels)
    assert set(model.predict(X).tolist()) == set(labels)
    assert_array_equal(model.decision_function(X), in_pieces(learner, []).decision_function(X))


@pytest.mark.parametrize("learner", LEARNERS[:6], ids=str)
def test_the_threshold_is_midway_between_the_mean_scores(learner):
    scores = in_pieces(learner, []).decision_function(X)
    assert_allclose(scores[y == 0].mean(), -scores[y == 1].mean(), rtol=1e-9)


@one_of_each
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_are_learnt_like_dense_ones(learner, container):
    rows = np.where(np.abs(X) > 0.7, X, 0.0)
    model, dense = clone(learner).fit(container(rows), y), clone(learner).fit(rows, y)
    assert pickle.dumps(model._state) == pickle.dumps(dense._state)
    scores = model.decision_function(container(rows))
    assert_allclose(scores, dense.decision_function(rows), rtol=1e-9, atol=1e-9)


@all_learners
def test_float32_rows_are_learnt_in_float64(learner):
    single = X.astype(np.float32)
    model, double = clone(learner).fit(single, y), clone(learner).fit(single.astype(np.float64), y)
    assert pickle.dumps(model._state) == pickle.dumps(double._state)
    assert_allclose(model.decision_function(single), double.decision_function(X), atol=1e-3)


@one_of_each
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_their_names(learner, library):
    if library == "polars":
        pytest.importorskip("sklearn", "1.9", reason="reads no names from the polars of today")
    frames = pytest.importorskip(library)
    names = [f"x{i}" for i in range(5)]
    frame = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    model = clone(learner).partial_fit(frame, frames.Series(y), classes=[0, 1])
    assert model.feature_names_in_.tolist() == names
    scores = in_pieces(learner, []).decision_function(X)
    assert_allclose(model.decision_function(frame), scores, rtol=1e-9)
    with pytest.raises(ValueError, match="should match those that were passed during fit"):
        model.partial_fit(frame[names[::-1]], y)


@one_of_each
def test_memory_mapped_rows(learner, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert_same(clone(learner).fit(rows, y), clone(learner).fit(X, y))


# -- callbacks --------------------------------------------------------------------------------


@one_of_each
def test_there_is_one_task_per_epoch(learner):
    listener = Listener()
    model = clone(learner).set_callbacks(listener).fit(X, y)
    seen = [reported.n_samples_seen_ for reported in listener.models]
    assert seen == [300, 600, 900, 1200, 1500]
    scores = listener.models[-1].decision_function(X)
    assert_array_equal(scores, model.decision_function(X))


def test_the_answer_true_ends_the_fit():
    listener = Listener(lambda model: model.n_samples_seen_ == 600)
    assert OPAUC().set_callbacks(listener).fit(X, y).n_samples_seen_ == 600
