"""Gradient ascent on tables: laws, cells that are zero, how it ends, and mistakes; its figures are in tests/book."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayeslearn import BayesianNetwork
from bayeslearn.errors import ConvergenceWarning, ImpossibleDataError, ParameterError
from bayeslearn.network import fit_parameters
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.gradient_ascent import nearest_rows
from bayeslearn.tables import Table
from tests.oracle.networks import random_network

METHODS = ["gradient", "lbfgs"]
COIN = {"y": ["a", "b", "b", None], "x": ["u", "v", None, "v"]}


def with_holes(network, n, seed, share=0.3):
    cases, rng = network.sample(n, random_state=seed), np.random.default_rng(seed)
    codes = np.where(rng.random(cases.codes.shape) < share, -1, cases.codes)
    codes[:, 0] = cases.codes[:, 0]
    return Table(cases.schema, codes, cases.values)


def pair(y, x):
    """A network of two variables, y → x."""
    return BayesianNetwork.from_tables("[y][x|y]", {"y": y, "x": x}, states={"y": ["a", "b"], "x": ["u", "v"]})


### laws


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::bayeslearn.errors.ConvergenceWarning")
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 5),
    share=st.floats(0, 0.6),
    prior=st.sampled_from([None, "laplace", "jeffreys", "bdeu:3"]),
    method=st.sampled_from(METHODS),
    step=st.one_of(st.none(), st.floats(1e-4, 100)),
    start=st.sampled_from(["prior", "random"]),
)
def test_the_objective_never_falls(seed, n, share, prior, method, step, start):
    network = random_network(seed, n)
    settings = {"step": step} if method == "gradient" else {}

    fit = fit_parameters(
        network,
        with_holes(network, 20, seed, share),
        prior=prior,
        algorithm=method,
        init=start,
        max_iter=25,
        **settings,
    )

    objectives = [step.objective for step in fit.fit_info.history]
    assert np.isfinite(objectives).all()
    assert np.diff(objectives, append=objectives[-1]).min() >= -1e-9
    assert [step.iteration for step in fit.fit_info.history] == list(range(fit.fit_info.n_iter + 1))
    assert fit.fit_info.objective == objectives[-1]
    for cpt in fit:
        np.testing.assert_allclose(cpt.probabilities.sum(axis=-1), 1, rtol=1e-12)
        assert cpt.probabilities.min() >= 0


@example(seed=9986, n=2, far=1e-8)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 4), far=st.floats(0, 100))
def test_nearest_rows_are_nearer_than_any_other(seed, n, far):
    compiled, rng = Compiled(random_network(seed, n, zeros=0.2)), np.random.default_rng(seed)
    before = compiled.cpt
    v = before + far * rng.random(len(before))

    found = nearest_rows(compiled, v, before)

    np.testing.assert_allclose(np.add.reduceat(found, compiled.row_start), 1, rtol=1e-12)
    assert (found[before == 0] == 0).all()
    assert (found >= 0.1 * before - 1e-12).all()
    away = np.linalg.norm(found - v)
    for share in rng.random(10):  # other rows that sum to one and keep a tenth
        q = rng.gamma(1.0, size=len(v)) * (before > 0)
        q = 0.1 * before + 0.9 * q / np.add.reduceat(q, compiled.row_start)[compiled.row_of]
        other = np.linalg.norm((1 - share) * found + share * q - v)
        assert other >= away * (1 - 5e-10) - 1e-15  # numbers near one are rounded by 1e-16


@pytest.mark.parametrize("method", METHODS)
def test_weight_two_is_a_row_twice(method):
    network = random_network(3, 4)
    cases = with_holes(network, 30, 3)
    twice = Table.concat([cases, cases])

    heavy, double = (
        fit_parameters(network, data, prior="laplace", algorithm=method, tol=1e-9, max_iter=2000)
        for data in (cases.with_weights(np.full(30, 2.0)), twice)
    )

    assert heavy.isclose(double, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_frozen_tables_stay_to_the_last_bit(method):
    network = random_network(5, 5)
    cases = with_holes(network, 40, 5)

    fit = fit_parameters(network, cases, prior="laplace", frozen=["v0", "v3"], algorithm=method, max_iter=500)
    by_em = fit_parameters(network, cases, prior="laplace", frozen=["v0", "v3"])

    for name in ("v0", "v3"):
        assert fit[name] is network[name]
    assert fit.fit_info.objective == pytest.approx(by_em.fit_info.objective, abs=1e-3)
    everything = fit_parameters(network, cases, frozen=network.variables, algorithm=method, prior=None)
    assert (everything.fit_info.n_iter, everything.fit_info.converged) == (0, True)


@pytest.mark.parametrize("method", METHODS)
def test_restarts_keep_the_best(method):
    network = random_network(7, 4)
    cases = with_holes(network, 40, 7).mask([network.variables[0]])
    hidden = {network.variables[0]: network.states(network.variables[0])}

    fit = fit_parameters(network, cases, prior="laplace", hidden=hidden, algorithm=method, n_init=4, max_iter=1000)

    assert len(fit.fit_info.starts) == 4
    assert fit.fit_info.objective == max(fit.fit_info.starts)


### cells that are zero


@pytest.mark.parametrize("method", METHODS)
def test_a_zero_stays_zero_as_in_em(method):
    start = pair([0.5, 0.5], [[1.0, 0.0], [0.5, 0.5]])

    by_em = fit_parameters(start, COIN, init=start, tol=1e-9, prior=None)
    fit = fit_parameters(start, COIN, init=start, algorithm=method, tol=1e-9, max_iter=1000, prior=None)

    assert fit["x"].probabilities[0].tolist() == [1, 0]
    assert fit.isclose(by_em, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_prior_moves_cells_off_zero(method):
    start = pair([0.5, 0.5], [[1.0, 0.0], [0.5, 0.5]])

    by_em = fit_parameters(start, COIN, init=start, prior="laplace", tol=1e-10)
    fit = fit_parameters(start, COIN, init=start, prior="laplace", algorithm=method, tol=1e-10, max_iter=1000)

    assert np.isfinite([step.objective for step in fit.fit_info.history]).all()
    assert fit.isclose(by_em, rtol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_cells_that_belong_at_zero_come_near_it(method):
    fit = fit_parameters(
        "[y][x|y]", {"y": ["a", "b", "b"], "x": ["u", "v", "v"]}, algorithm=method, tol=1e-9, max_iter=1000, prior=None
    )

    np.testing.assert_allclose(fit["x"].probabilities, np.eye(2), atol=1e-8)
    assert fit.fit_info.log_likelihood == pytest.approx(3 * np.log([1, 2, 2]).mean() - 3 * np.log(3), abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_an_impossible_row_is_named(method):
    start = pair([1.0, 0.0], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ImpossibleDataError, match="row 1 has probability zero"):
        fit_parameters(start, COIN, init=start, algorithm=method, prior=None)


### how it ends


@pytest.mark.parametrize(("method", "what"), [("gradient", "gradient ascent"), ("lbfgs", "L-BFGS")])
def test_warns_with_the_numbers_when_not_converged(method, what):
    network = random_network(1, 5)
    numbers = rf"{what} stopped after 2 iterations, where an EM step would still gain \d\.\de[-+]\d\d, asked for 1e-04"
    with pytest.warns(ConvergenceWarning, match=numbers):
        fit = fit_parameters(network, with_holes(network, 50, 1), algorithm=method, max_iter=2, prior=None)
    assert (fit.fit_info.n_iter, fit.fit_info.converged) == (2, False)


@pytest.mark.parametrize("method", METHODS)
def test_progress_sees_every_step_and_may_stop(method):
    network, seen = random_network(1, 5), []

    def progress(now):
        seen.append(now.detail)
        if now.detail.iteration == 3:
            raise StopIteration

    fit = fit_parameters(network, with_holes(network, 50, 1), algorithm=method, progress=progress, prior=None)

    assert tuple(seen[:-1]) == fit.fit_info.history[:-1]
    assert fit.fit_info.objective >= seen[-1].objective  # the end is the estimate from the last expected counts
    assert (fit.fit_info.n_iter, fit.fit_info.converged) == (3, False)


def test_a_step_too_long_is_halved():
    network = random_network(2, 4)
    cases = with_holes(network, 50, 2)
    fit = fit_parameters(network, cases, prior="laplace", algorithm="gradient", step=1e6, max_iter=5000)
    assert fit.fit_info.converged


### mistakes


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"algorithm": "newton"}, "unexpected value for `algorithm`: 'newton'"),
        ({"step": 0.1}, "`step` is the η of gradient ascent, but the algorithm is 'em'"),
        ({"algorithm": "lbfgs", "step": 0.1}, "but the algorithm is 'lbfgs'"),
        ({"algorithm": "gradient", "step": 0}, "`step` must be above 0, got 0"),
        ({"algorithm": "gradient", "step": float("inf")}, "`step` must be finite"),
        ({"algorithm": "gradient", "tol": -1}, "`tol` must be at least 0"),
        ({"algorithm": "lbfgs", "max_iter": 0}, "`max_iter` must be at least 1"),
    ],
)
def test_bad_settings(wrong, match):
    with pytest.raises(ParameterError, match=match):
        fit_parameters("[y][x|y]", COIN, **wrong)
