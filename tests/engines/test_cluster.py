"""The cluster engine against the CPU engine on the same rows, on real worker processes."""

import time
from dataclasses import replace

import numpy as np
import pytest
from clusters import put_on
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from toys import KERNEL, grow, make_toy, those

from skauc import Selection, SparseKernelAUC, SparseKernelAUCCV, load_model, save_model
from skauc.data.training import TrainingData
from skauc.engines import (
    KernelColumn,
    LinearColumns,
    OrthonormalColumns,
    SizePolicy,
    make_engine,
)
from skauc.engines.passes import (
    CandidateGains,
    Centres,
    Derivatives,
    Gradient,
    HessianProduct,
    LineSlopes,
    Moments,
)
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.kernels import RBF, Polynomial

da = pytest.importorskip("dask.array", reason='needs pip install "skauc[cluster]"')

CENTRES = [3, 17, 40, 71, 90]
WEIGHTS = np.array([0.9, -1.1, 0.4, 0.7, -0.3])
# Uneven blocks; one of a single row, and one of one class only.
ENDS = {"one": [0, 240], "even": [0, 120, 240], "odd": [0, 1, 31, 90, 240]}


@pytest.fixture
def toy():
    """Rows of which the first thirty, but one, are negative."""
    toy = make_toy(240)
    order = np.argsort(toy.positive[:60], kind="stable")
    rows = np.concatenate((order, np.arange(60, 240)))
    weights = toy.weights.copy()
    weights[[5, 77]] = 0.0
    return replace(toy, X=toy.X[rows], positive=toy.positive[rows], weights=weights)


@pytest.fixture
def engines(client, toy):
    """The CPU engine with binned pairs, and the cluster engine with the same columns."""
    policy = SizePolicy(exact_rows=0)

    def build(ends="odd", capacity=12, device=None):
        data = TrainingData(toy.X, toy.positive, toy.weights, np.array([0, 1]))
        return [
            make_engine(rows, capacity=capacity, n_jobs=1, policy=policy)
            for rows in (data, put_on(client, toy, ENDS[ends], device))
        ]

    return build


def everything(engine, X, held_out=None):
    """All that an engine answers."""
    engine.hold_out(those(held_out))
    start = engine.at(WEIGHTS)
    state = engine.step(start, engine.direction(0.5 * WEIGHTS[::-1]), 0.7)
    candidates = Centres(KERNEL, X[[5, 11]])
    along = engine.ask(CandidateGains(candidates), state)
    column = engine.line(KernelColumn(KERNEL, X[[6]]))
    factor = np.tril(np.full((3, 3), 0.5)) + np.eye(3)
    moments = engine.ask(Moments(5, np.full(3, 0.1), factor, np.ones(3)), state)
    gradient, hessian = engine.ask(Derivatives(5), state)
    slopes, curvatures = engine.ask(Derivatives(4, candidates), state)
    return {
        "weights": (engine.positive_weight, engine.negative_weight, *engine.class_counts),
        "losses": (start.loss, state.loss, engine.step(state, column, 0.3).loss),
        "gradient": engine.ask(Gradient(5), state),
        "gradient over fewer columns": engine.ask(Gradient(3), state),
        "gradient with the Hessian": gradient,
        "hessian": hessian,
        "gradient with candidates": slopes,
        "hessian with candidates": curvatures,
        "product": engine.ask(HessianProduct(engine.direction(WEIGHTS), 5), state),
        "line": engine.ask(LineSlopes(column), state),
        "slopes": along.slopes,
        "curvatures": along.curvatures,
        "first": moments.first,
        "total": moments.total,
        "second": moments.second,
        "auc": engine.quality(state).train_auc,
        "validation": engine.quality(state).validation_auc or 0.0,
        "drawn": engine.draw(9, [0, 3], np.random.RandomState(0))[0],
    }


def assert_same(one, other, rtol=1e-9):
    for name, value in one.items():
        expected = np.asarray(other[name], dtype=float)
        scale = np.abs(expected).max(initial=1e-300)
        assert_allclose(value, expected, rtol=0, atol=rtol * scale, err_msg=name)


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("held_out", [False, True])
def test_it_answers_like_the_cpu_engine(engines, toy, ends, held_out):
    mask = np.random.default_rng(0).random(240) < 0.3
    held_out = mask & (toy.weights > 0) if held_out else None
    answers = []
    for engine in engines(ends):
        grow(engine, toy.X, KERNEL, CENTRES)
        answers.append(everything(engine, toy.X, held_out))
    # Single precision columns are the same, and sums differ in their order only.
    assert_same(*answers, rtol=2e-6)


@pytest.mark.parametrize("held_out", [False, True])
def test_blocks_on_devices_answer_like_the_cpu_engine(engines, toy, device, held_out):
    mask = np.random.default_rng(0).random(240) < 0.3
    held_out = mask & (toy.weights > 0) if held_out else None
    answers = []
    for engine in engines("odd", device=device):
        grow(engine, toy.X, KERNEL, CENTRES)
        answers.append(everything(engine, toy.X, held_out))
    assert_same(*answers, rtol=2e-5)


@pytest.mark.parametrize("on_device", [False, True])
def test_linear_columns_and_refined_centres(engines, toy, device, on_device):
    rng = np.random.default_rng(1)
    transform = np.triu(rng.normal(size=(4, 4)))
    centres = rng.normal(size=(4, 3))
    answers = []
    for engine in engines(device=device if on_device else None):
        engine.append(LinearColumns(toy.X.mean(axis=0), 0.5))
        # The columns of other centres take the place of the first ones.
        for kernel in (RBF(0.3), RBF(0.2, np.array([1.0, 0.5, 2.0]))):
            engine.append(OrthonormalColumns(kernel, centres, np.zeros((3, 4)), transform))
        state = engine.at(np.linspace(-1, 1, 7))
        answers.append((state.loss, *engine.ask(Gradient(7), state)))
    assert_allclose(*answers, rtol=1e-5)


def test_a_column_can_be_taken_back_and_another_put_in_its_place(engines, toy):
    answers = []
    for engine in engines():
        basis = grow(engine, toy.X, KERNEL, CENTRES)
        for index in (100, 120):
            centre = toy.X[[index]]
            projection = basis.project(KERNEL, centre)
            transform = np.array([[projection.residuals[0] ** -0.5]])
            columns = OrthonormalColumns(KERNEL, centre, projection.coordinates, transform)
            engine.append(columns)
            answers.append(engine.at(np.append(WEIGHTS, 1.0)).loss)
            assert np.isfinite(engine.at(WEIGHTS).loss)
    assert_allclose(answers[:2], answers[2:], rtol=1e-6)


def test_a_threshold_that_is_as_good(engines, toy):
    from skauc.metrics.area import best_threshold

    cpu, cluster = engines()
    for engine in (cpu, cluster):
        grow(engine, toy.X, KERNEL, CENTRES)
    state = cpu.at(WEIGHTS)
    threshold = cluster.quality(cluster.at(WEIGHTS)).threshold

    def accuracy(threshold):
        block, above = cpu.block, state.scores > threshold
        return sum(
            np.average(above[rows] == label, weights=block.weights[rows])
            for rows, label in ((block.positive, True), (~block.positive, False))
        )

    best = best_threshold(state.scores, cpu.block.positive, cpu.block.weights)
    assert accuracy(threshold) >= accuracy(best) - 1e-9


@pytest.mark.parametrize("scale", [1e-7, 300.0, 1e9])
def test_scores_of_any_size(engines, toy, scale):
    cpu, cluster = engines()
    for engine in (cpu, cluster):
        grow(engine, toy.X, KERNEL, CENTRES)
    one, other = cpu.at(WEIGHTS * scale), cluster.at(WEIGHTS * scale)
    assert_allclose(other.loss, one.loss, rtol=1e-4)
    assert_allclose(
        cluster.quality(other).train_auc,
        cpu.quality(one).train_auc,
        atol=1e-3 if scale > 1e3 else 1e-5,
    )
    gradients = (engine.ask(Gradient(5), state) for engine, state in ((cluster, other), (cpu, one)))
    assert_allclose(*gradients, rtol=2e-3)


def test_overflow_is_an_error(engines):
    _, cluster = engines()
    kernel = Polynomial(1e200, 3, 1.0)
    huge = np.array([[1e300]])
    cluster.append(OrthonormalColumns(kernel, np.ones((1, 3)), np.zeros((0, 1)), huge))
    with pytest.raises(InvalidDataError, match=r"overflow\. Scale the features"):
        cluster.at(np.ones(1))


# -- estimators ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(14_000, 8, weights=[0.8], flip_y=0.05, random_state=0)
    return X[:12_000], y[:12_000], X[12_000:], y[12_000:]


def as_dask(X, y, n_partitions):
    size = -(-len(X) // n_partitions)
    return da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)


PLAIN = SparseKernelAUC(
    4, refine=False, linear_term=False, selection=Selection(n_rows=None), random_state=0
)


@pytest.fixture(scope="module")
def on_cpu(rows):
    return clone(PLAIN).fit(*rows[:2])


@pytest.mark.parametrize("n_partitions", [1, 7])
def test_a_fit_does_not_depend_on_the_partitions(client, rows, on_cpu, n_partitions):
    X, y, X_test, y_test = rows
    model = clone(PLAIN).fit(*as_dask(X, y, n_partitions))
    assert_array_equal(model.basis_indices_, on_cpu.basis_indices_)
    for record, expected in zip(model.path_, on_cpu.path_, strict=True):
        assert_allclose(record.objective, expected.objective, rtol=1e-6)
        assert_allclose(record.train_auc, expected.train_auc, atol=1e-6)
    assert_allclose(model.score(X_test, y_test), on_cpu.score(X_test, y_test), atol=1e-4)


@pytest.mark.parametrize(
    "parameters",
    [
        {"gamma": [0.02, 0.1], "scaling": "rank", "early_stopping": True, "refine": False},
        {"selection": Selection("greedy", solver="cg", n_rows=None), "kernel": "laplacian"},
        {"selection": "kmeans", "refine": False},
    ],
    ids=lambda parameters: "-".join(parameters),
)
def test_options_do_what_they_do_elsewhere(client, rows, parameters):
    X, y, X_test, y_test = rows
    weights = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    model = SparseKernelAUC(3, random_state=0, **parameters)
    expected = clone(model).fit(X, y, sample_weight=weights)
    dask_weights = da.from_array(weights, chunks=5000)
    model.fit(*as_dask(X, y, 3), sample_weight=dask_weights)
    assert_array_equal(model.basis_indices_, expected.basis_indices_)
    assert_allclose(model.path_[-1].objective, expected.path_[-1].objective, rtol=1e-6)
    assert_allclose(model.score(X_test, y_test), expected.score(X_test, y_test), atol=1e-4)


@pytest.mark.parametrize(
    "parameters",
    [
        {"scaling": "rank"},
        {"refine": 6, "rotate": True, "scaling": "screened", "early_stopping": True},
    ],
    ids=str,
)
def test_a_refined_model(client, rows, parameters):
    X, y, X_test, y_test = rows
    model = SparseKernelAUC(6, random_state=0, **parameters)
    expected = clone(model).fit(X, y)
    model.fit(*as_dask(X, y, 3))
    # The same rows to the last bit: a descent would turn any difference into another model.
    for record, other in zip(model.path_, expected.path_, strict=True):
        assert record.is_refined == other.is_refined
        assert_allclose(record.objective, other.objective, rtol=1e-6)
    assert_allclose(model.score(X_test, y_test), expected.score(X_test, y_test), atol=1e-4)


def test_cross_validation(client, rows):
    X, y, X_test, y_test = rows
    X, y = X[:3000], y[:3000]
    one = {"gammas": ["scale"], "scaling": "rank", "linear_term": False, "refine": False}
    model = SparseKernelAUCCV(n_basis=4, Cs=[1.0], cv=2, random_state=0, **one)
    expected = clone(model).fit(X, y)
    model.fit(*as_dask(X, y, 3))
    assert model.n_splits_ == 2
    assert set(model.best_params_) == set(expected.best_params_)
    # Folds are others, of the same size.
    assert_allclose(model.best_score_, expected.best_score_, atol=0.02)
    assert_allclose(model.score(X_test, y_test), expected.score(X_test, y_test), atol=0.02)


def test_folds_by_number_only(client, rows):
    X, y, *_ = rows
    with pytest.raises(InvalidParameterError, match="`cv` must be None or an integer, and"):
        SparseKernelAUCCV(n_basis=4, cv=StratifiedKFold(2)).fit(*as_dask(X, y, 2))


def test_the_fitted_model_is_the_same_small_object(client, rows, tmp_path):
    X, y, X_test, _ = rows
    model = clone(PLAIN).set_params(n_basis=2).fit(*as_dask(X, y, 2))
    save_model(model, tmp_path / "model.skauc")
    loaded = load_model(tmp_path / "model.skauc")
    assert_array_equal(loaded.decision_function(X_test), model.decision_function(X_test))


def test_predictions_of_dask_arrays_are_lazy(client, rows, on_cpu):
    X_test = rows[2]
    lazy = da.from_array(X_test, chunks=(700, 3))
    scores, labels = on_cpu.decision_function(lazy), on_cpu.predict(lazy)
    assert isinstance(scores, da.Array)
    assert scores.chunks == ((700, 700, 600),)
    assert labels.dtype == on_cpu.classes_.dtype
    assert_allclose(scores.compute(), on_cpu.decision_function(X_test), rtol=1e-12)
    assert_array_equal(labels.compute(), on_cpu.predict(X_test))


def test_tasks_have_names_and_are_removed_from_the_workers(client, rows):
    X, y, *_ = rows
    clone(PLAIN).set_params(n_basis=2).fit(*as_dask(X, y, 2))
    names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    expected = ("read", "append", "scores", "tables", "gradient", "derivatives")
    expected += ("rows", "rankedquality")
    assert {f"skauc-{name}" for name in expected} <= set(names)

    def count(dask_scheduler):
        return sum(key.startswith("skauc") for key in map(str, dask_scheduler.tasks))

    deadline = time.monotonic() + 20
    while client.run_on_scheduler(count):
        assert time.monotonic() < deadline
        time.sleep(0.1)
