"""Fits that are cut off and go on from a file."""

import numpy as np
import pytest
from listeners import Listener, interrupt_at
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from skauc import Selection, SparseKernelAUC
from skauc.archive import read_archive, write_archive
from skauc.data.sampling import digest_of
from skauc.data.training import check_training
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.sparse.checkpoint import Checkpoint

X, y = make_classification(400, 6, weights=[0.6], class_sep=0.5, flip_y=0.2, random_state=0)


class CutOffError(Exception):
    """The end of a process, say."""


def cut_off(model, n_reports, *data):
    """Fit until that many models are reported, and leave nothing but the file."""

    def react(fitted):
        if len(listener.models) == n_reports:
            raise CutOffError

    listener = Listener(react)
    with pytest.raises(CutOffError):
        clone(model).set_callbacks(listener).fit(*data)


X_MANY, Y_MANY = make_classification(
    9000, 6, weights=[0.8], class_sep=0.5, flip_y=0.2, random_state=0
)
SMALL, MANY = (X, y), (X_MANY, Y_MANY)
OFTEN = Selection(retrain="geometric")
NOT_REFINED = {"refine": False, "linear_term": False}
CASES = {
    "defaults": (SMALL, {}),
    "not refined": (SMALL, NOT_REFINED),
    "widths": (SMALL, {"gamma": [0.02, 0.2], "C": 3.0, "refine": 3}),
    "greedy": (SMALL, {"selection": "greedy", "kernel": "polynomial"}),
    "no row left": (
        SMALL,
        {"selection": Selection("greedy", retrain="geometric"), "kernel": "linear"},
    ),
    "ranks": (SMALL, {"scaling": "rank", "kernel": "laplacian"}),
    "function": (SMALL, {"kernel": rbf_kernel, "scaling": "normal", "rotate": True}),
    "landmarks": (SMALL, {**NOT_REFINED, "selection": "kmeans"}),
    "early stopping": (SMALL, {"early_stopping": True, "selection": OFTEN}),
    "hard rows": (MANY, {}),
    "hard rows, early stopping": (
        MANY,
        {"early_stopping": True, "refine": 2, "tol": 2e-2, "selection": OFTEN},
    ),
    "samples": (SMALL, {"n_basis": 32, "refine": 2, "selection": Selection(n_rows=200)}),
    "samples, early stopping": (
        SMALL,
        {
            "n_basis": 64,
            "refine": 2,
            "early_stopping": True,
            "tol": 2e-2,
            "selection": Selection(n_rows=200),
        },
    ),
    "a number of NumPy": (SMALL, {"C": np.float32(2), "refine": 2}),
    "local scales": (SMALL, {"shapes": "local", "gamma": [0.02, 0.2], "refine": 3}),
    "ridges": (SMALL, {"shapes": "ridge", "selection": Selection(n_candidates=20), "refine": 2}),
    "a sample": (MANY, {**NOT_REFINED, "selection": Selection(n_candidates=20)}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_fit_goes_on_from_every_file_to_the_same_bits(tmp_path, monkeypatch, case):
    data, parameters = CASES[case]
    parameters = {"n_basis": 16, "random_state": 0, **parameters}
    model = SparseKernelAUC(checkpoint=tmp_path / "fit.npz", **parameters)
    files, save = [], Checkpoint.save

    def save_and_keep(checkpoint, state):
        save(checkpoint, state)
        files.append(checkpoint.path.read_bytes())

    with monkeypatch.context() as patched:
        patched.setattr(Checkpoint, "save", save_and_keep)
        expected = clone(model).fit(*data)
    assert len(files) >= 4
    if model.early_stopping:  # it keeps a smaller model than the last one
        assert expected.n_basis_ < model.n_basis
    for file in files:
        model.checkpoint.write_bytes(file)
        resumed = clone(model).fit(*data)
        assert not model.checkpoint.exists()
        assert_array_equal(resumed.basis_indices_, expected.basis_indices_)
        assert_array_equal(resumed.basis_vectors_, expected.basis_vectors_)
        assert_array_equal(resumed.dual_coef_, expected.dual_coef_)
        assert_array_equal(resumed.linear_coef_, expected.linear_coef_)
        for record, other in zip(resumed.path_, expected.path_, strict=True):
            same = ("n_basis", "objective", "train_auc", "validation_auc", "n_iter", "C")
            assert all(getattr(record, name) == getattr(other, name) for name in same)
            assert_array_equal(record.model.coef, other.model.coef)


def test_it_can_be_cut_off_again_and_again(tmp_path):
    expected = SparseKernelAUC(16, selection=OFTEN, random_state=0).fit(X, y)
    model = clone(expected).set_params(checkpoint=tmp_path / "fit.npz")
    for _ in range(3):
        cut_off(model, 2, X, y)
    assert_array_equal(model.fit(X, y).dual_coef_, expected.dual_coef_)


def test_sparse_rows(tmp_path):
    rows = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    model = SparseKernelAUC(32, random_state=0)
    expected = clone(model).fit(rows, y)
    model.set_params(checkpoint=tmp_path / "fit.npz")
    cut_off(model, 3, rows, y)
    assert_array_equal(model.fit(rows, y).dual_coef_, expected.dual_coef_)
    assert sparse.issparse(model.basis_vectors_)


def test_time_is_counted_on(tmp_path):
    model = SparseKernelAUC(32, random_state=0, checkpoint=tmp_path / "fit.npz")
    cut_off(model, 3, X, y)
    model.fit(X, y)
    seconds = [record.seconds for record in model.path_]
    assert seconds == sorted(seconds)


def test_an_interrupted_fit_leaves_its_file(tmp_path):
    model = SparseKernelAUC(32, random_state=0, checkpoint=tmp_path / "fit.npz")
    with pytest.raises(KeyboardInterrupt):
        clone(model).set_callbacks(Listener(interrupt_at(16))).fit(X, y)
    assert model.fit(X, y).n_basis_ == 32


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """The file of a fit that was cut off."""
    path = tmp_path_factory.mktemp("cut off") / "fit.npz"
    cut_off(SparseKernelAUC(32, random_state=0, checkpoint=path), 3, X, y)
    assert [file.name for file in path.parent.iterdir()] == ["fit.npz"]
    return path.read_bytes()


@pytest.fixture
def left_behind(tmp_path, checkpoint):
    """An estimator that goes on from a copy of that file."""
    model = SparseKernelAUC(32, random_state=0, checkpoint=tmp_path / "fit.npz")
    model.checkpoint.write_bytes(checkpoint)
    return model


def test_other_parameters_are_refused(left_behind):
    left_behind.set_params(C=2.0)
    with pytest.raises(
        InvalidParameterError, match=r"belongs to a fit with C=auto; got 2\.0\. Use the"
    ):
        left_behind.fit(X, y)


def test_other_threads_are_not(left_behind):
    assert left_behind.set_params(n_jobs=2, engine="cpu").fit(X, y).n_basis_ == 32


OTHER_DATA = {
    "fewer rows": (X[:399], y[:399], None),
    "other rows": (2 * X, y, None),
    "one other cell": (np.where(X[7, 3] == X, 0.0, X), y, None),
    "other labels": (X, 1 - y, None),
    "two labels swapped": (
        X,
        np.where(np.isin(np.arange(400), [np.argmin(y), np.argmax(y)]), 1 - y, y),
        None,
    ),
    "other order": (X[::-1], y[::-1], None),
    "weights": (X, y, np.linspace(0.5, 1.5, 400)),
}


@pytest.mark.parametrize("case", OTHER_DATA)
def test_other_data_are_refused(left_behind, case):
    message = (
        r"belongs to a fit to other rows, labels or weights, with 400 rows and 6 features; got"
    )
    with pytest.raises(InvalidDataError, match=message):
        left_behind.fit(*OTHER_DATA[case])


def test_other_blocks_of_the_same_rows_have_the_same_digest():
    rows = check_training(SparseKernelAUC(), X, y)
    first, second = np.arange(150), np.arange(150, 400)

    class Divided:
        def add_up(self, sums, *arguments):
            return sum(sums(rows.part(part), *arguments) for part in (first, second))

    assert digest_of(rows) == digest_of(Divided())


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04nonsense", b'{"format": 1}'])
def test_other_files_are_refused(left_behind, content):
    left_behind.checkpoint.write_bytes(content)
    with pytest.raises(InvalidDataError, match=r"is not a checkpoint of this version: it "):
        left_behind.fit(X, y)


@pytest.mark.parametrize("damage", ["a changed bit", "missing bytes", "repeated bytes"])
def test_damaged_files_are_refused(left_behind, checkpoint, damage):
    """Anywhere in the file; tests/attacks damages many more."""
    rng = np.random.default_rng(0)
    for _ in range(8):
        content = bytearray(checkpoint)
        place, length = int(rng.integers(len(content))), int(rng.integers(1, 200))
        if damage == "a changed bit":
            content[place] ^= 1 << int(rng.integers(8))
        elif damage == "missing bytes":
            del content[place : place + length]
        else:
            content[place:place] = content[place : place + length]
        left_behind.checkpoint.write_bytes(content)
        message = r"is not a checkpoint of this version: .* Delete"
        with pytest.raises(InvalidDataError, match=message):
            left_behind.fit(X, y)


def test_files_of_numpy_are_refused(left_behind):
    np.savez(left_behind.checkpoint, header=np.array([object()]))
    with pytest.raises(InvalidDataError, match="is not a checkpoint of this version"):
        left_behind.fit(X, y)


def test_another_format_is_refused(left_behind):
    header, arrays = read_archive(left_behind.checkpoint)
    write_archive(left_behind.checkpoint, {**header, "format": 99}, arrays)
    with pytest.raises(InvalidDataError, match="its format is 99, not 6"):
        left_behind.fit(X, y)


def test_a_file_that_lacks_an_array_is_refused(left_behind):
    header, arrays = read_archive(left_behind.checkpoint)
    del arrays["factor"]
    write_archive(left_behind.checkpoint, header, arrays)
    with pytest.raises(InvalidDataError, match="is not a checkpoint of this version: its content"):
        left_behind.fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"checkpoint": 3}, r"`checkpoint` must be None or the path of a file; got 3"),
        ({"checkpoint": "nowhere/fit"}, r"in a directory that exists; got 'nowhere/fit'"),
        ({"checkpoint": "."}, r"in a directory that exists; got '\.'"),
        ({"checkpoint": "fit", "random_state": None}, r"an integer as `random_state`.*got None"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        SparseKernelAUC(**{"random_state": 0, **parameters}).fit(X, y)
