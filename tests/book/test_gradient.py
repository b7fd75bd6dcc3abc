"""Figures of the specification: tables by gradient ascent (B7)."""

import math

import numpy as np
import pytest

from bayeslearn import BayesianNetwork
from bayeslearn.network import fit_parameters
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.em_steps import Tables
from bayeslearn.network.parameters.gradient_ascent import Climb, Coordinates
from bayeslearn.network.parameters.training_cases import FoldedCases
from bayeslearn.tables import Table
from tests.oracle.networks import random_network

YES_NO = ["yes", "no"]


def with_holes(network, n, seed, *, share=0.3, hidden=()):
    """Cases of a network as it draws them, some cells missing and some variables in every row."""
    cases, rng = network.sample(n, random_state=seed), np.random.default_rng(seed)
    codes = np.where(rng.random(cases.codes.shape) < share, -1, cases.codes)
    return Table(cases.schema, codes, cases.values).mask(hidden)


def log_likelihood(network, w, table):
    """ln P(D | w) by enumerating the joint; rows of w need not sum to one, so that each cell moves by itself."""
    joint, start = np.ones([len(network.states(name)) for name in network.variables]), 0
    place = {name: i for i, name in enumerate(network.variables)}
    for cpt in network:
        axes = [place[v.name] for v in (*cpt.parents, cpt.variable)]
        factor = w[start : start + cpt.probabilities.size].reshape(cpt.shape).transpose(np.argsort(axes))
        joint = joint * factor.reshape([joint.shape[i] if i in axes else 1 for i in range(joint.ndim)])
        start += cpt.probabilities.size
    rows = table.codes.T.tolist()
    return sum(math.log(joint[tuple(slice(None) if k < 0 else k for k in row)].sum()) for row in rows)


def slopes(f, x, h=1e-5):
    """Central differences."""
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


def climb_at_random(seed, hidden):
    """A network with random tables, cases with holes that another one drew, and the foot of a climb."""
    network = random_network(seed, 5)
    table = with_holes(network, 12, seed, hidden=network.variables[:hidden])
    model = Tables(Compiled(network))
    rng = np.random.default_rng(seed)
    w = rng.gamma(2.0, size=len(model.p)) + 0.1
    model = model.with_p(w / np.add.reduceat(w, model.compiled.row_start)[model.compiled.row_of])
    alpha = rng.gamma(1.0, size=len(w))
    return network, table, alpha, Climb(model, FoldedCases.of(model.compiled, table), prior=alpha)


### the gradient


@pytest.mark.parametrize("hidden", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_is_expected_counts_over_tables(seed, hidden):
    network, table, alpha, climb = climb_at_random(seed, hidden)
    w = climb.here.model.p

    numeric = slopes(lambda v: log_likelihood(network, v, table), w)

    np.testing.assert_allclose(climb.here.statistics.n / w, numeric, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(climb.here.gradient, numeric + alpha / w, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_in_softmax_coordinates(seed):
    network, table, alpha, climb = climb_at_random(seed, 1)
    coordinates = Coordinates.at(climb.here)

    def objective(x):
        w = coordinates.tables(x)
        return log_likelihood(network, w, table) + alpha @ np.log(w)

    numeric = slopes(objective, coordinates.start)

    np.testing.assert_allclose(coordinates.tables(coordinates.start), climb.here.model.p, rtol=1e-12)
    np.testing.assert_allclose(coordinates.gradient(climb.here), numeric, rtol=1e-6, atol=1e-6)


### the optimum


def table(*yes):
    p = np.array(yes)
    return np.stack([p, 1 - p], axis=-1).reshape([2] * int(np.log2(len(yes))) + [2])


@pytest.fixture(scope="module")
def forest():
    tables = {
        "Storm": table(0.3),
        "BusTourGroup": table(0.4),
        "Lightning": table(0.7, 0.05),
        "Campfire": table(0.4, 0.1, 0.8, 0.2),
        "Thunder": table(0.95, 0.1),
    }
    structure = "[Storm][BusTourGroup][Lightning|Storm][Campfire|Storm:BusTourGroup][Thunder|Lightning]"
    return BayesianNetwork.from_tables(structure, tables, states=dict.fromkeys(tables, YES_NO))


@pytest.mark.parametrize("method", ["gradient", "lbfgs"])
@pytest.mark.parametrize("prior", [None, "laplace"])
def test_the_optimum_of_em_with_holes(forest, method, prior):
    cases = with_holes(forest, 300, 1)

    by_em = fit_parameters(forest, cases, prior=prior, tol=1e-10, max_iter=5000)
    found = fit_parameters(forest, cases, prior=prior, algorithm=method, tol=1e-10, max_iter=5000)

    assert found.fit_info.converged
    assert found.fit_info.objective == pytest.approx(by_em.fit_info.objective, abs=1e-7)
    assert found.isclose(by_em, rtol=1e-4, atol=1e-4)
    for cpt in found:
        np.testing.assert_allclose(cpt.counts.n, by_em[cpt.name].counts.n, atol=1e-2)


@pytest.mark.parametrize("method", ["gradient", "lbfgs"])
def test_the_optimum_of_em_with_a_hidden_variable(forest, method):
    cases = with_holes(forest, 500, 2, share=0.1, hidden=["Lightning"])
    settings = {"prior": "laplace", "hidden": {"Lightning": YES_NO}, "init": forest, "max_iter": 20_000}

    by_em = fit_parameters(forest, cases, tol=1e-10, **settings)
    found = fit_parameters(forest, cases, algorithm=method, tol=1e-9, **settings)

    assert found.fit_info.objective == pytest.approx(by_em.fit_info.objective, abs=1e-6)
    assert found.isclose(by_em, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("step", [0.001, 0.01])
def test_a_constant_step_as_in_the_book(forest, step):
    cases = with_holes(forest, 100, 3)

    by_em = fit_parameters(forest, cases, prior="laplace", tol=1e-9)
    found = fit_parameters(forest, cases, prior="laplace", algorithm="gradient", step=step, tol=1e-8, max_iter=20_000)

    assert found.fit_info.objective == pytest.approx(by_em.fit_info.objective, abs=1e-6)


@pytest.mark.parametrize("method", ["gradient", "lbfgs"])
def test_complete_cases_are_counted_by_climbing_too(forest, method):
    cases = forest.sample(200, random_state=4)

    counted = fit_parameters(forest, cases, prior="laplace")
    found = fit_parameters(forest, cases, prior="laplace", algorithm=method, tol=1e-10, max_iter=1000)

    assert found.isclose(counted, rtol=1e-5, atol=1e-5)
    assert found.fit_info.objective == pytest.approx(counted.fit_info.objective, abs=1e-8)


def test_rows_divided_by_their_sums_come_to_rest_elsewhere():
    n = np.array([3.0, 1.0])  # three heads and a tail: the best w is n / 4
    w = np.array([0.5, 0.5])
    for _ in range(5000):
        w = w + 0.01 * n / w
        w = w / w.sum()

    np.testing.assert_allclose(w, np.sqrt(n) / np.sqrt(n).sum(), rtol=1e-6)
    tosses = {"side": ["head"] * 3 + ["tail"]}
    found = fit_parameters("[side]", tosses, algorithm="gradient", step=0.01, tol=1e-10, max_iter=5000, prior=None)
    np.testing.assert_allclose(found["side"].probabilities, n / 4, rtol=1e-4)
