"""The RankSVM problem in function space against its definition over all pairs."""

import warnings

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from skauc.engines.gram_matrix import GramMatrix
from skauc.kernels import RBF
from skauc.losses.graded_pairs import Preferences
from skauc.rank_svm.problem import POLISHING_LOSS, RankingProblem, fit_ranking, solve
from skauc.rank_svm.queries import make_queries

GAMMA = 0.4


class Case:
    """Graded rows in queries, with weights; the definitions are by beta, over all pairs."""

    def __init__(self, C_pair=0.5, n_rows=60, n_grades=4, n_queries=3, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n_rows, 3))
        self.qid = np.sort(np.arange(n_rows) % n_queries)
        noisy = self.X[:, 0] + 0.3 * rng.normal(size=n_rows)
        self.grades = np.digitize(noisy, np.linspace(-1, 1, n_grades - 1))
        self.weights = rng.uniform(0.5, 2.0, n_rows)
        self.gram = rbf_kernel(self.X, gamma=GAMMA)
        self.C_pair = C_pair
        queries = make_queries(self.grades, self.weights, self.qid)
        assert len(queries.indices) == n_rows
        self.queries = queries
        self.preferences = Preferences(queries.bounds, queries.grades, queries.weights)
        self.problem = RankingProblem(
            GramMatrix(RBF(GAMMA), self.X, cache_size=10), self.preferences, C_pair
        )

    def value(self, beta):
        scores = self.gram @ beta
        loss = oracles.graded_loss(scores, self.grades, self.qid, self.weights)
        return 0.5 * beta @ scores + 0.5 * self.C_pair * loss

    def derivative(self, beta):
        scores = self.gram @ beta
        residual = oracles.graded_residual(scores, self.grades, self.qid, self.weights)
        return self.gram @ (beta + self.C_pair * residual)

    def hessian(self, beta):
        scores = self.gram @ beta
        inner = oracles.graded_hessian(scores, self.grades, self.qid, self.weights)
        return self.gram + self.C_pair * self.gram @ inner @ self.gram


@pytest.fixture(params=[0, 1, 2])
def beta(request):
    return request.param * np.random.default_rng(request.param).normal(size=60)


def test_value_and_gradient_by_beta(beta):
    case = Case()
    point = case.problem.at(case.problem.function(beta))
    assert_allclose(point.value, case.value(beta), rtol=1e-10)
    assert_allclose(point.gradient[1], case.derivative(beta), rtol=1e-8, atol=1e-9)


def test_hessian_product_by_beta(beta):
    case = Case()
    direction = np.random.default_rng(9).normal(size=60)
    point = case.problem.at(case.problem.function(beta))
    product = case.problem.hessian_product(point, case.problem.function(direction))
    assert_allclose(product[1], case.hessian(beta) @ direction, rtol=1e-8, atol=1e-8)
    slope, curvature = case.problem.slopes(point, case.problem.function(direction))
    assert_allclose(slope, case.derivative(beta) @ direction, rtol=1e-8)
    assert_allclose(curvature, direction @ case.hessian(beta) @ direction, rtol=1e-8)


@pytest.mark.parametrize("C_pair", [0.01, 0.3, 10.0])
def test_the_solution_is_the_one_that_scipy_finds(C_pair):
    case = Case(C_pair)
    solution = solve(case.problem, tol=1e-3, max_iter=100)
    # SciPy walks in the space of an orthonormal basis, where the problem is well conditioned.
    values, vectors = np.linalg.eigh(case.gram)
    to_beta = vectors / np.sqrt(np.maximum(values, 1e-12))
    expected = minimize(
        lambda w: case.value(to_beta @ w),
        np.zeros(60),
        jac=lambda w: to_beta.T @ case.derivative(to_beta @ w),
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9},
    )
    assert_allclose(solution.point.value, expected.fun, rtol=3e-5)
    assert_allclose(case.value(solution.point.coef), solution.point.value, rtol=1e-8)


@pytest.mark.parametrize("C_pair", [0.01, 1.0, 100.0, 1e3])
def test_polishing_gives_exact_zeros_and_does_no_harm(C_pair):
    solution = solve(Case(C_pair).problem, tol=1e-3, max_iter=100)
    polished, before = solution.point, solution.unpolished
    assert polished.value <= (1 + POLISHING_LOSS) * before.value
    in_pairs = before.pairs.partner_weights > 0
    assert_array_equal(polished.coef != 0, in_pairs)
    assert np.count_nonzero(before.coef) == 60
    assert in_pairs.all() == (C_pair == 0.01)


def test_polished_scores_are_those_of_the_polished_coefficients():
    case = Case(10.0)
    point = solve(case.problem, tol=1e-3, max_iter=100).point
    assert_allclose(point.scores, case.gram @ point.coef, rtol=1e-9, atol=1e-9)


def test_the_gradient_bounds_the_distance_from_the_minimum():
    """In this inner product the Hessian is at least the identity."""
    problem = Case(10.0).problem
    least = solve(problem, tol=1e-10, max_iter=200).unpolished.value
    rough = solve(problem, tol=1e-1, max_iter=200).unpolished
    assert rough.value - least <= 0.5 * problem.inner(rough.gradient, rough.gradient) + 1e-9


def test_a_warning_says_what_to_change():
    message = (
        r"did not converge in max_iter=1 iterations: the gradient is .* times its first length "
        r"\(tol=0\.001\), .*Raise `max_iter`, lower `C`, or scale the features"
    )
    with pytest.warns(ConvergenceWarning, match=message):
        solution = solve(Case(100.0).problem, tol=1e-3, max_iter=1)
    assert solution.n_iter == 1
    assert solution.point.value <= (1 + POLISHING_LOSS) * solution.unpolished.value


def test_a_goal_beyond_rounding_ends_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(Case(1.0).problem, tol=1e-300, max_iter=1000)


def test_the_weight_of_a_pair_comes_from_the_scale_free_parameter():
    case = Case()
    pairs = np.outer(case.weights, case.weights) * oracles.preferred(case.grades, case.qid)
    found = fit_ranking(
        RBF(GAMMA), case.X, case.queries, C=2.0, tol=1e-3, max_iter=100, cache_size=10
    )
    expected = 2.0 * case.weights.sum() / pairs.sum()
    problem = found.point.problem
    unit = problem.preferences.weights / case.weights
    assert len(set(unit)) == 1
    assert_allclose(problem.C_pair * unit[0] ** 2, expected, rtol=1e-12)
