"""The GPU engine against the CPU engine, on torch's CPU device where there is no GPU."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from toys import KERNEL, grow, make_toy

from skauc import Selection, SparseKernelAUC, SparseKernelAUCCV, load_model, save_model
from skauc.data.training import TrainingData
from skauc.engines import OrthonormalColumns, make_engine, read_training
from skauc.engines.passes import Derivatives, Gradient
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.kernels import RBF, CallableKernel, Laplacian, Linear, Polynomial

torch = pytest.importorskip("torch", reason='needs pip install "skauc[gpu]"')

SMALL_PARTS = {"exact_rows": 1000, "gpu_part_numbers": 1 << 18, "gpu_segment_rows": 256}


@pytest.fixture(autouse=True)
def small_parts(use_sizes, device):
    """Binned pairs and float32 columns for few rows already, in many parts."""
    use_sizes(**SMALL_PARTS)


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(4000, 8, weights=[0.8], flip_y=0.05, random_state=0)
    return X[:3000], y[:3000], X[3000:], y[3000:]


def fit_both(model, X, y, **extra):
    return [clone(model).set_params(engine=engine).fit(X, y, **extra) for engine in ("cpu", "gpu")]


@pytest.mark.parametrize(
    "parameters",
    [
        {"refine": False, "linear_term": False},
        {"selection": Selection("greedy", solver="cg"), "refine": False},
        {"selection": Selection("exact", n_candidates=5), "n_basis": 3, "refine": False},
        {"selection": Selection("exhaustive", n_candidates=3), "n_basis": 3, "refine": False},
        {"selection": "random", "kernel": "laplacian"},
        {"selection": "kmeans", "refine": False},
        {"refine": False, "gamma": [0.02, 0.1]},
        {"refine": False, "early_stopping": True, "scaling": "rank"},
        {"refine": False, "selection": Selection(n_rows=2000)},
        {"kernel": "polynomial", "degree": 2},
        {"kernel": "linear", "n_basis": 4},
        {},
        {"refine": 5, "rotate": True, "scaling": "screened"},
    ],
    ids=str,
)
def test_a_fit_is_that_of_the_cpu_engine(rows, parameters):
    X, y, X_test, y_test = rows
    weights = np.where(np.arange(len(y)) % 5, 1.0, 0.5)
    model = SparseKernelAUC(**{"n_basis": 6, "random_state": 0, **parameters})
    expected, found = fit_both(model, X, y, sample_weight=weights)
    assert_array_equal(found.basis_indices_, expected.basis_indices_)
    for record, other in zip(found.path_, expected.path_, strict=True):
        # A descent magnifies differences in the last digits of float32.
        tolerance = 1e-3 if record.is_refined else 1e-5
        assert_allclose(record.objective, other.objective, rtol=tolerance)
        assert record.is_refined == other.is_refined
    assert_allclose(found.score(X_test, y_test), expected.score(X_test, y_test), atol=1e-4)


def test_few_rows_are_fitted_to_the_last_digits(rows):
    X, y, X_test, _ = rows
    expected, found = fit_both(SparseKernelAUC(6, random_state=0), X[:900], y[:900])
    assert_allclose(found.decision_function(X_test), expected.decision_function(X_test), rtol=1e-9)


def test_a_fit_is_the_same_to_the_last_bit_every_time(rows):
    X, y, X_test, _ = rows
    model = SparseKernelAUC(6, engine="gpu", random_state=0)
    one, two = (clone(model).fit(X, y).decision_function(X_test) for _ in range(2))
    assert_array_equal(one, two)


def test_sparse_rows_are_fitted_like_dense_ones(rows):
    X, y, X_test, _ = rows
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    model = SparseKernelAUC(5, scaling=None, engine="gpu", random_state=0)
    dense, other = (clone(model).fit(rows, y) for rows in (X, sparse.csr_array(X)))
    assert sparse.issparse(other.basis_vectors_)
    assert_allclose(other.decision_function(X_test), dense.decision_function(X_test), rtol=1e-4)


def test_cross_validation_chooses_as_the_cpu_engine_does(rows):
    X, y, X_test, y_test = rows
    one = {"gammas": ["scale"], "scaling": "rank", "linear_term": False, "refine": False}
    model = SparseKernelAUCCV(n_basis=4, Cs=[1.0, 10.0], cv=2, random_state=0, **one)
    expected, found = fit_both(model, X[:1500], y[:1500])
    assert found.best_params_ == expected.best_params_
    assert_allclose(found.best_score_, expected.best_score_, atol=1e-4)
    assert_allclose(found.score(X_test, y_test), expected.score(X_test, y_test), atol=1e-4)


def test_the_fitted_model_knows_nothing_of_torch(rows, tmp_path):
    X, y, X_test, _ = rows
    model = SparseKernelAUC(3, engine="gpu", random_state=0).fit(X, y)
    assert b"torch" not in pickle.dumps(model)
    save_model(model, tmp_path / "model.skauc")
    loaded = load_model(tmp_path / "model.skauc")
    assert_array_equal(loaded.decision_function(X_test), model.decision_function(X_test))
    assert type(model.decision_function(X_test)) is np.ndarray


def test_a_fit_that_broke_off_goes_on_with_another_engine(rows, tmp_path, monkeypatch):
    X, y, X_test, _ = rows
    plain = SparseKernelAUC(8, refine=False, random_state=0)
    model = clone(plain).set_params(engine="gpu", checkpoint=tmp_path / "fit.npz")

    def interrupted(question, *arguments):
        if question.n_columns >= 8 + 5:  # after the linear term and the first checkpoint
            raise RuntimeError("the power went")
        return derivatives(question, *arguments)

    derivatives = Derivatives.gpu
    monkeypatch.setattr(Derivatives, "gpu", interrupted)
    with pytest.raises(RuntimeError, match="the power went"):
        model.fit(X, y)
    assert (tmp_path / "fit.npz").exists()
    whole = plain.fit(X, y).decision_function(X_test)
    resumed = clone(model).set_params(engine="cpu").fit(X, y).decision_function(X_test)
    assert_allclose(resumed, whole, rtol=1e-4, atol=1e-6)


# Kernels, and scores of any size


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.5),
        RBF(0.5, np.array([1.0, 0.2, 3.0])),
        RBF(np.array([0.1, 2.0])),
        RBF(2e3),
        RBF(2e5),
        Laplacian(0.7),
        Polynomial(0.5, 3, 1.0),
        Linear(),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_have_the_values_that_they_have_elsewhere(kernel, dtype, device):
    from skauc.engines.gpu.kernels import make_columns

    toy = make_toy(dtype=dtype)
    centres = toy.X[[3, 17]]
    expected = kernel.columns(centres, dtype)(toy.X)
    columns = make_columns(kernel, centres, dtype, device)
    found = columns(torch.tensor(toy.X, device=device)).cpu().numpy()
    assert found.dtype == expected.dtype
    precise = dtype == np.float64
    assert_allclose(
        found, expected, rtol=1e-9 if precise else 2e-4, atol=1e-12 if precise else 1e-6
    )


@pytest.mark.parametrize("scale", [1e-7, 300.0, 1e9])
def test_scores_of_any_size(device, scale):
    toy = make_toy(1500)
    weights = scale * np.array([0.9, -1.1, 0.4])
    answers = []
    for name in (None, device):
        data = TrainingData(toy.X, toy.positive, toy.weights, np.array([0, 1]), device=name)
        with make_engine(data, capacity=3, n_jobs=1) as engine:
            grow(engine, toy.X, KERNEL, [3, 17, 40], capacity=3)
            state = engine.at(weights)
            gradient = engine.ask(Gradient(3), state)
            answers.append((state.loss, engine.quality(state).train_auc, *gradient))
    assert_allclose(answers[1], answers[0], rtol=1e-5)


def test_auc_and_threshold_of_many_rows_are_found_by_places(device, use_sizes):
    toy = make_toy(1500)
    answers = []
    for most_sorted in (0, 10**6):
        use_sizes(**SMALL_PARTS, most_sorted=most_sorted)
        data = TrainingData(toy.X, toy.positive, toy.weights, np.array([0, 1]), device=device)
        with make_engine(data, capacity=3, n_jobs=1) as engine:
            grow(engine, toy.X, KERNEL, [3, 17, 40], capacity=3)
            state = engine.at(np.array([0.9, -1.1, 0.4]))
            answers.append((engine.quality(state).train_auc, engine.quality(state).threshold))
    assert_allclose(answers[0], answers[1], atol=1e-4)


def test_overflow_is_an_error(device):
    toy = make_toy(1500)
    data = TrainingData(toy.X, toy.positive, toy.weights, np.array([0, 1]), device=device)
    with make_engine(data, capacity=1, n_jobs=1) as engine:
        kernel = Polynomial(1e200, 3, 1.0)
        huge = np.array([[1e300]])
        engine.append(OrthonormalColumns(kernel, np.ones((1, 3)), np.zeros((0, 1)), huge))
        with pytest.raises(InvalidDataError, match=r"overflow\. Scale the features"):
            engine.at(np.ones(1))


def test_products_are_precise_whatever_the_program_around_them_asks_for(rows):
    X, y, *_ = rows
    torch.set_float32_matmul_precision("medium")
    try:
        data = read_training("gpu", SparseKernelAUC(), X, y)
        with make_engine(data, capacity=1, n_jobs=1):
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")


# Tensors


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("engine", ["auto", "gpu"])
def test_tensors_are_rows_like_others(rows, device, dtype, engine):
    X, y = (torch.tensor(part[:500], device=device) for part in rows[:2])
    X = X.to(dtype)
    as_array = X.double().cpu().numpy()
    as_array = as_array.astype(np.float64 if dtype == torch.float64 else np.float32)
    model = SparseKernelAUC(3, random_state=0)
    expected = clone(model).fit(as_array, y.cpu().numpy())
    model.set_params(engine=engine).fit(X, y, sample_weight=torch.ones(500, device=device))
    assert_allclose(model.decision_function(X), expected.decision_function(as_array), rtol=1e-6)
    assert_array_equal(model.predict(X), expected.predict(as_array))
    assert_allclose(model.score(X, y), expected.score(as_array, y.cpu().numpy()), atol=1e-9)


def test_auto_works_where_the_rows_are(rows, device):
    X, y, *_ = rows
    assert read_training("auto", SparseKernelAUC(), X, y).device is None
    on_device = read_training("auto", SparseKernelAUC(), torch.tensor(X, device=device), y)
    assert on_device.device == (
        None if device == "cpu" else str(torch.empty(1, device=device).device)
    )


# What cannot be


def test_a_function_as_kernel_is_refused_before_any_work(rows, device):
    X, y, *_ = rows
    message = r"engine='gpu' does not support a function as `kernel`\. Use .*engine='cpu'"
    with pytest.raises(InvalidParameterError, match=message):
        SparseKernelAUC(3, kernel=rbf_kernel, engine="gpu").fit(X, y)
    from skauc.engines.gpu.kernels import make_columns

    with pytest.raises(InvalidParameterError, match=message):
        make_columns(CallableKernel(rbf_kernel), X[:2], np.float32, device)


def test_a_device_that_is_not_there_is_named(rows, monkeypatch):
    X, y, *_ = rows
    monkeypatch.setenv("SKAUC_GPU_DEVICE", "abacus")
    with pytest.raises(InvalidParameterError, match=r"SKAUC_GPU_DEVICE must name.*got 'abacus'"):
        SparseKernelAUC(3, engine="gpu").fit(X, y)


def test_more_columns_than_the_device_holds_are_an_error(device):
    toy = make_toy(1500)
    data = TrainingData(toy.X, toy.positive, toy.weights, np.array([0, 1]), device=device)
    message = rf"{device}.* cannot hold 1500 rows and 10{{12}} columns of the basis, 6000000\.0 GB"
    with pytest.raises(InvalidParameterError, match=message):
        make_engine(data, capacity=10**12, n_jobs=1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_error_says_what_to_do(rows, monkeypatch):
    X, y, *_ = rows
    monkeypatch.delenv("SKAUC_GPU_DEVICE")
    message = r"engine='gpu' needs a GPU, and torch .* finds none\..*engine='cpu'"
    with pytest.raises(InvalidParameterError, match=message):
        SparseKernelAUC(3, engine="gpu").fit(X, y)


WITHOUT_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, *rest):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'")

sys.meta_path.insert(0, NoTorch())
from skauc import SparseKernelAUC
SparseKernelAUC(1, engine="gpu").fit([[0.0], [1.0]], [0, 1])
"""


def test_without_torch_the_error_says_what_to_install():
    answer = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True)
    assert "MissingPackageError: Work on a GPU needs torch" in answer.stderr
    assert 'pip install "skauc[gpu]"' in answer.stderr
