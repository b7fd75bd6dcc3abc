"""Tables learned from cases: against enumeration, laws of EM, and what it refuses."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import read_network
from bayeslearn.distributions import Dirichlet
from bayeslearn.errors import (
    ConvergenceWarning,
    ImpossibleDataError,
    MismatchError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.network import CPT, BayesianNetwork, NetworkPrior, fit_parameters
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters import training_cases as folding
from bayeslearn.network.parameters.em_steps import Tables, expected_families
from bayeslearn.network.parameters.training_cases import FoldedCases
from bayeslearn.tables import Table
from tests.oracle import networks as slow

seeds = st.integers(0, 100_000)


def with_holes(network, rows, seed, share=0.3, *, hide=()):
    """Rows drawn from the network, cells missing at random, whole columns when hidden; random weights."""
    full = network.sample(rows, random_state=seed)
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(full.codes.shape) < share, -1, full.codes)
    for name in hide:
        codes[network.variables.index(name)] = -1
    return Table(full.schema, codes, full.values, rng.integers(1, 4, rows).astype(float))


def expected_counts(network, table, likelihoods=None):
    """Expected counts of every table and the log likelihood, row by row from the joint."""
    counts = {cpt.name: np.zeros(cpt.shape) for cpt in network}
    log_p = 0.0
    for i, row in enumerate(table.rows()):
        soft = {name: values[i] for name, values in (likelihoods or {}).items()}
        p = slow.given(network, {name: s for name, s in row.items() if s is not None}, soft)
        log_p += table.sample_weight[i] * np.log(p.sum())
        for cpt in network:
            axes = [network.variables.index(v.name) for v in (*cpt.parents, cpt.variable)]
            summed = p.sum(axis=tuple(a for a in range(p.ndim) if a not in axes)) / p.sum()
            counts[cpt.name] += table.sample_weight[i] * np.transpose(summed, [sorted(axes).index(a) for a in axes])
    return counts, log_p


def flat(network, tables):
    return np.concatenate([tables[cpt.name].reshape(-1) for cpt in network])


### the E step


@given(seed=seeds, n=st.integers(1, 5), rows=st.integers(1, 12), share=st.sampled_from([0.1, 0.5, 1.0]))
def test_expected_counts_are_those_of_enumeration(seed, n, rows, share):
    network = slow.random_network(seed, n)
    table = with_holes(network, rows, seed, share)
    model = Tables(Compiled(network))

    statistics, log_p = model.expected_statistics(FoldedCases.of(model.compiled, table))

    counts, expected = expected_counts(network, table)
    np.testing.assert_allclose(statistics.n, flat(network, counts), rtol=0, atol=1e-11)
    assert log_p == pytest.approx(expected, rel=1e-11, abs=1e-11)


@given(seed=seeds, n=st.integers(1, 4), rows=st.integers(1, 6))
def test_soft_evidence_in_rows(seed, n, rows):
    network = slow.random_network(seed, n)
    name = network.variables[seed % n]
    table = with_holes(network, rows, seed, 0.3, hide=[name])
    soft = {name: np.random.default_rng(seed).random((rows, len(network.states(name)))) + 0.1}
    soft[name][::2] = 1.0  # every other row has none
    model = Tables(Compiled(network))

    statistics, log_p = model.expected_statistics(FoldedCases.of(model.compiled, table, likelihoods=soft))

    counts, expected = expected_counts(network, table, soft)
    np.testing.assert_allclose(statistics.n, flat(network, counts), rtol=0, atol=1e-11)
    assert log_p == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_equal_groups_are_inferred_once():
    network = read_network("asia")
    table = Table(network.schema, np.tile(with_holes(network, 10, 0).codes, 50), np.empty((0, 500)))
    model = Tables(Compiled(network))
    once = FoldedCases.of(model.compiled, table.take(np.arange(10)))
    many = FoldedCases.of(model.compiled, table)
    assert len(many.items) == len(once.items)
    assert many.items.sample_weight.sum() == pytest.approx(50 * once.items.sample_weight.sum())
    np.testing.assert_allclose(
        expected_families(model.compiled, many)[0], 50 * expected_families(model.compiled, once)[0], rtol=1e-12
    )
    assert len(many.record_item) == many.record_start[-1] == 50 * once.record_start[-1]


def test_groups_that_do_not_touch_are_apart():
    network = BayesianNetwork.from_tables(
        "[A][B|A][C|B][D|C]", {n: [0.5, 0.5] if n == "A" else np.full((2, 2), 0.5) for n in "ABCD"},
        states={n: ["x", "y"] for n in "ABCD"},
    )  # fmt: skip
    table = Table(network.schema, np.array([[-1, -1], [0, -1], [-1, 0], [0, 0]]), np.empty((0, 2)))
    items = FoldedCases.of(Compiled(network), table).items
    members = [{network.variables[v] for v in range(4) if int(g[0]) >> v & 1} for g in items.groups]
    assert sorted(map(sorted, members)) == [["A"], ["A", "B"], ["C"]]


def test_many_items_of_one_group_are_split_and_add_up(monkeypatch):
    network = slow.random_network(5, 5)
    hidden = max(network, key=lambda cpt: len(network.dag.children(cpt.name))).name
    table = with_holes(network, 300, 1, 0.0, hide=[hidden])
    whole = expected_families(Compiled(network), FoldedCases.of(Compiled(network), table))[0]
    monkeypatch.setattr(folding, "MOST_ITEMS", 3)
    parts = FoldedCases.of(Compiled(network), table)
    assert len(parts.items.groups) > 1
    np.testing.assert_allclose(expected_families(Compiled(network), parts)[0], whole, rtol=1e-12, atol=1e-12)


### the climb


@given(
    seed=seeds,
    n=st.integers(2, 5),
    prior=st.sampled_from([None, "laplace", "bdeu:4", "m:2"]),
    hide=st.booleans(),
)
def test_the_objective_never_falls(seed, n, prior, hide):
    network = slow.random_network(seed, n)
    hidden = {network.variables[0]: network.states(network.variables[0])} if hide else {}
    table = with_holes(network, 30, seed, 0.3, hide=hidden)
    never = [name for name, cells in table.missing().items() if cells == table.n_rows]
    hidden |= {name: network.states(name) for name in never}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = fit_parameters(network, table, prior=prior, hidden=hidden, max_iter=15)
    objectives = [step.objective for step in fit.fit_info.history]
    assert all(b >= a - 1e-9 * (1 + abs(a)) for a, b in itertools.pairwise(objectives))
    assert fit.fit_info.objective == objectives[-1]


@given(seed=seeds, n=st.integers(1, 5))
def test_complete_cases_are_counted(seed, n):
    network = slow.random_network(seed, n)
    table = with_holes(network, 40, seed, 0.0)
    fit = fit_parameters(network, table, prior="m:2")
    assert (fit.fit_info.converged, fit.fit_info.n_iter) == (True, 1)
    counts, _ = expected_counts(network, table)
    for cpt in fit:
        n_k = counts[cpt.name] + 2 / cpt.variable.n_states
        np.testing.assert_allclose(cpt.counts.n, counts[cpt.name], rtol=0, atol=1e-12)
        np.testing.assert_allclose(cpt.probabilities, n_k / n_k.sum(axis=-1, keepdims=True), rtol=0, atol=1e-12)


def test_em_at_its_fixed_point_estimates_itself():
    network = slow.random_network(3, 5)
    table = with_holes(network, 200, 0, 0.2)
    fit = fit_parameters(network, table, prior="laplace", tol=1e-10, max_iter=2000)
    for cpt in fit:
        posterior = cpt.counts.n + cpt.prior.alpha
        np.testing.assert_allclose(
            cpt.probabilities, posterior / posterior.sum(axis=-1, keepdims=True), rtol=0, atol=1e-5
        )


def test_threads_rows_and_columns_do_not_matter(monkeypatch):
    network = slow.random_network(11, 6)
    table = with_holes(network, 300, 0, 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one = fit_parameters(network, table, prior="laplace", max_iter=5)
        monkeypatch.setattr("bayeslearn.kernels.thread_count", lambda: 1)
        same = fit_parameters(network, table, prior="laplace", max_iter=5)
        turned = table.take(np.arange(300)[::-1]).select(network.variables[::-1])
        other = fit_parameters(network, turned, prior="laplace", max_iter=5)
    assert one == same
    assert one.isclose(other, rtol=1e-9)


### hidden variables, starts, frozen tables


def clusters(rows=600):
    """Three binary columns that agree with each other, for a cause that nobody saw."""
    rng = np.random.default_rng(0)
    cause = rng.random(rows) < 0.4
    p = np.where(cause, 0.9, 0.2)
    return {name: np.where(rng.random(rows) < p, "yes", "no").tolist() for name in ("X", "Y", "Z")}


def test_a_hidden_variable_is_found():
    fit = fit_parameters("[H][X|H][Y|H][Z|H]", clusters(), hidden={"H": 2}, tol=1e-6, max_iter=2000, prior=None)
    assert fit.states("H") == ("H0", "H1")
    yes = fit["X"].probabilities[:, 1]
    assert yes.max() == pytest.approx(0.9, abs=0.07)
    assert yes.min() == pytest.approx(0.2, abs=0.07)
    assert fit.fit_info.missing["H"] == fit.fit_info.n_rows == 600


def test_symmetry_is_broken_and_a_uniform_answer_not_returned():
    data = clusters()
    flat_out = fit_parameters(
        "[H][X|H][Y|H][Z|H]", data, hidden={"H": 1}, prior=None
    ).fit_info.log_likelihood  # one state: independence
    fit = fit_parameters("[H][X|H][Y|H][Z|H]", data, hidden={"H": 2}, tol=1e-6, max_iter=2000, prior=None)
    assert fit.fit_info.log_likelihood > flat_out + 20


def test_restarts_keep_the_best_and_are_reproducible():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [
            fit_parameters(
                "[H][X|H][Y|H][Z|H]", clusters(), hidden={"H": 3}, n_init=4, random_state=5, max_iter=30, prior=None
            )
            for _ in range(2)
        ]
    assert fits[0] == fits[1]
    assert len(fits[0].fit_info.starts) == 4
    assert fits[0].fit_info.objective == max(fits[0].fit_info.starts)


def test_frozen_tables_stay():
    network = read_network("asia")
    table = with_holes(network, 300, 0, 0.2)
    fit = fit_parameters(network, table, frozen=["smoke", "dysp"], prior="laplace")
    for name in ("smoke", "dysp"):
        assert fit[name] is network[name]
    assert not np.allclose(fit["asia"].probabilities, network["asia"].probabilities)
    assert fit["asia"].counts is not None


def test_a_given_start_is_used():
    network = read_network("asia")
    table = with_holes(network, 100, 0, 0.2)
    model = Tables(Compiled(network))
    expected = model.expected_statistics(FoldedCases.of(model.compiled, table))[1]
    fit = fit_parameters(network, table, init=network, prior="bdeu:1")
    assert fit.fit_info.history[0].log_likelihood == pytest.approx(expected, rel=1e-12)


def test_a_start_may_have_parents_and_states_in_another_order_and_keeps_its_frozen_tables():
    states = {"a": ["y", "x"], "b": ["v", "u"], "c": ["t", "s"]}
    tables = {"a": [0.8, 0.2], "b": [0.4, 0.6], "c": [[[0.1, 0.9], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]]]}
    start = BayesianNetwork.from_tables("[a][b][c|a:b]", tables, states=states)
    cases = {"a": ["x", "y", "y"], "b": ["u", None, "v"], "c": ["s", "t", None]}

    fit = fit_parameters("[a][b][c|b:a]", cases, init=start, frozen=["a", "c"], prior=None)

    assert fit.states("a") == ("x", "y")
    np.testing.assert_allclose(fit["a"].probabilities, [0.2, 0.8])
    np.testing.assert_allclose(fit["c"].probabilities[0, 1], [0.8, 0.2])  # b=u, a=y; the states are s, t
    assert fit["c"].counts is None
    with pytest.raises(MismatchError, match="the states of 'a' differ: 'x', 'z' in one network"):
        fit_parameters("[a][b][c|b:a]", cases | {"a": ["x", "z", "z"]}, init=start, prior=None)


def test_not_converged_is_warned_of_with_numbers():
    table = with_holes(read_network("asia"), 100, 0, 0.3)
    with pytest.warns(ConvergenceWarning, match="EM stopped after 2 iterations, last gain"):
        fit_parameters(read_network("asia"), table, max_iter=2, tol=1e-12, prior=None)


def test_progress_may_stop_the_climb():
    def stop(now):
        if now.detail.iteration == 2:
            raise StopIteration

    fit = fit_parameters(
        read_network("asia"), with_holes(read_network("asia"), 100, 0, 0.3), progress=stop, tol=0, prior=None
    )
    assert fit.fit_info.n_iter == 2


### priors


@pytest.mark.parametrize(
    ("prior", "alpha"),
    [
        (None, [[0, 0], [0, 0]]),
        ("none", [[0, 0], [0, 0]]),
        ("k2", [[1, 1], [1, 1]]),
        ("jeffreys", [[0.5, 0.5], [0.5, 0.5]]),
        ("bdeu:8", [[2, 2], [2, 2]]),
        ("m:3", [[1.5, 1.5], [1.5, 1.5]]),
        (Dirichlet.m_estimate(2, [0.75, 0.25]), [[1.5, 0.5], [1.5, 0.5]]),
        ({"B": [[1, 2], [3, 4]]}, [[1, 2], [3, 4]]),
        ({"A": "k2"}, [[0, 0], [0, 0]]),
    ],
)
def test_priors(prior, alpha):
    data = {"A": ["x", "y", "x"], "B": ["u", "v", "v"]}
    fit = fit_parameters("[A][B|A]", data, prior=prior)
    np.testing.assert_allclose(fit["B"].prior.alpha, alpha, rtol=1e-12)
    n = np.array([[1, 1], [0, 1]]) + np.array(alpha, dtype=float)
    np.testing.assert_allclose(fit["B"].probabilities, n / n.sum(axis=-1, keepdims=True), rtol=1e-12)


def test_another_network_as_prior():
    network = slow.random_network(8, 4)
    prior = NetworkPrior(network, equivalent_sample_size=25)
    fit = fit_parameters(network, with_holes(network, 5, 0, 0.0), prior=prior)
    p = slow.joint(network)
    for cpt in fit:
        axes = [network.variables.index(v.name) for v in (*cpt.parents, cpt.variable)]
        summed = np.transpose(
            p.sum(axis=tuple(a for a in range(4) if a not in axes)), [sorted(axes).index(a) for a in axes]
        )
        np.testing.assert_allclose(cpt.prior.alpha, 25 * summed, rtol=1e-10)


def test_rows_without_support_are_uniform_and_reported():
    fit = fit_parameters("[A][B|A]", {"A": ["x", "x"], "B": ["u", "v"]}, states={"A": ["x", "y"]}, prior=None)
    np.testing.assert_allclose(fit["B"].probabilities, 0.5)
    worst = fit.fit_info.thin_rows(1)[0]
    assert (worst.variable, worst.given, worst.n_observed, worst.prior) == ("B", {"A": "y"}, 0.0, 0.0)


### numbers, weights


def test_numeric_columns_are_cut_and_evidence_may_be_a_number():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    data = {"x": x.tolist(), "y": np.where(x > 0, "high", "low").tolist()}
    network = fit_parameters("[x][y|x]", data, prior="laplace")
    assert network["x"].variable.cuts is not None
    assert network.query({"x": 2.5})["y"]["high"] > 0.9
    assert network.query({"x": -2.5})["y"]["high"] < 0.1
    assert network.predict({"x": [3.0, -3.0]}, "y").tolist() == ["high", "low"]


def test_weight_two_is_twice_the_row():
    table = with_holes(read_network("asia"), 50, 0, 0.2)
    twice = Table(table.schema, np.repeat(table.codes, 2, axis=1), np.empty((0, 100)))
    double = table.with_weights(np.full(50, 2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        a, b = (fit_parameters(read_network("asia"), t, prior="k2", max_iter=10) for t in (twice, double))
    assert a.isclose(b, rtol=1e-9)
    assert a.fit_info.log_likelihood == pytest.approx(b.fit_info.log_likelihood, rel=1e-12)


### what is refused


def small():
    a = CPT(read_network("asia")["smoke"].variable, (), [1.0, 0.0])
    return BayesianNetwork((a,))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (
            lambda: fit_parameters(small(), {"smoke": ["maybe"]}, handle_unknown="error"),
            UnknownStateError,
            "'smoke'.*'maybe'",
        ),
        (lambda: fit_parameters(small(), {"drink": ["yes"]}, prior=None), UnknownColumnError, "smoke"),
        (lambda: fit_parameters("[A][B|A]", {"A": ["x"], "C": ["y"]}, prior=None), UnknownColumnError, "'B'"),
        (
            lambda: fit_parameters(small(), {"smoke": [None, "?"]}, prior=None),
            MissingValuesError,
            "no row has a value for 'smoke'",
        ),
        (
            lambda: fit_parameters("[A]", {"A": ["x"]}, hidden={"Q": 2}, prior=None),
            ParameterError,
            "'Q' is not in the graph",
        ),
        (
            lambda: fit_parameters(small(), {"smoke": [None]}, hidden={"smoke": 3}, prior=None),
            ParameterError,
            "hidden variable 'smoke' has the states 'yes', 'no' already",
        ),
        (lambda: fit_parameters("[A]", {"A": ["x"]}, prior="bayes"), ParameterError, "there is no prior 'bayes'"),
        (
            lambda: fit_parameters("[A]", {"A": ["x"]}, prior={"B": "k2"}),
            UnknownColumnError,
            "a prior is given for 'B'",
        ),
        (lambda: fit_parameters("[A]", {"A": ["x"]}, frozen=["A"], prior=None), ParameterError, "a graph has none"),
        (lambda: fit_parameters("[A]", {"A": ["x"]}, init="luck", prior=None), ParameterError, "init"),
        (lambda: fit_parameters("[A]", {"A": ["x"]}, n_init=0, prior=None), ParameterError, "n_init"),
        (
            lambda: fit_parameters(
                small(), {"smoke": ["yes", None]}, virtual_evidence={"smoke": [[1, 0.5], [1, 0.5]]}, prior=None
            ),
            ParameterError,
            "row 0 has a value and a likelihood for 'smoke'",
        ),
        (
            lambda: fit_parameters(
                small(), {"smoke": ["yes", None]}, virtual_evidence={"smoke": [[1, 1], [0, 0]]}, prior=None
            ),
            ParameterError,
            "likelihood of 'smoke' in row 1 allows no state",
        ),
        (
            lambda: fit_parameters(small(), {"smoke": ["yes", None]}, virtual_evidence={"smoke": [[1, 1]]}, prior=None),
            ShapeError,
            "a row for each case",
        ),
    ],
)
def test_bad_input_is_named(call, error, match):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize("seen", [{"smoke": ["yes", "yes", "no"]}, {"smoke": ["yes", None, "no"]}])
def test_rows_of_probability_zero_are_named_by_their_number(seen):
    with pytest.raises(ImpossibleDataError, match="row 2 has probability zero") as caught:
        fit_parameters(small(), seen, frozen=["smoke"], prior=None)
    assert caught.value.details["row"] == 2
