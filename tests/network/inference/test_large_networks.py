"""Networks of very many variables: plans of the same answers, in time that grows with the number of tables."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bayeslearn import read_network
from bayeslearn.errors import CapacityError
from bayeslearn.kernels import junction_tree, python_fallback
from bayeslearn.network import BayesianNetwork, ExactInference, fit_parameters
from bayeslearn.network.cpt import CPT
from bayeslearn.network.formats import write_network
from bayeslearn.network.inference import compiled_network
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters import em_steps
from bayeslearn.tables import DiscreteVariable, Table
from tests.oracle.networks import random_evidence, random_network

#: The parents of variable i, by the shape of the network.
SHAPES = {
    "chain": lambda i: [i - 1] if i else [],
    "star": lambda i: [0] if i else [],
    "tree": lambda i: [(i - 1) // 2] if i else [],
    "ladder": lambda i: [i - 1] * (i % 2) + [i - 2] * (i > 1),
    "two hubs": lambda i: [0, 1] if i > 1 else [0] * i,
    "islands": lambda i: [i - 1] if i % 3 else [],
}


def network_of(shape, n):
    rng = np.random.default_rng(n)
    variables = [DiscreteVariable(f"v{i}", ("a", "b")) for i in range(n)]
    sparse = {k: rng.dirichlet([1, 1], 2**k) for k in range(3)}
    cpts = []
    for i in range(n):
        parents = SHAPES[shape](i)
        p = np.roll(sparse[len(parents)], i, axis=0).reshape((2,) * (len(parents) + 1))
        cpts.append(CPT(variables[i], tuple(variables[j] for j in parents), p))
    return BayesianNetwork(tuple(cpts), shape)


@pytest.fixture
def all_large(monkeypatch):
    monkeypatch.setattr(compiled_network, "LARGE", 0)
    monkeypatch.setattr(em_steps, "LARGE", 0)


### the same answers


@pytest.mark.parametrize("seed", range(25))
def test_a_plan_gives_the_beliefs_of_the_other_planner(seed, monkeypatch):
    network = random_network(seed, 3 + seed)
    evidence = random_evidence(network, seed)
    expected = ExactInference(network).query(evidence)
    asked = list(network.variables)[:2]
    some = ExactInference(network).query(evidence, variables=asked)
    monkeypatch.setattr(compiled_network, "LARGE", 0)
    found = ExactInference(network).query(evidence)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-9, abs=1e-12)
    for name, belief in expected.beliefs.items():
        assert found[name] == pytest.approx(belief, rel=1e-9, abs=1e-12)
    for name, belief in ExactInference(network).query(evidence, variables=asked).beliefs.items():
        assert belief == pytest.approx(some[name], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("few", [1, 3, 32])
def test_variables_of_many_neighbors_wait_and_the_tables_stay_small(few, monkeypatch, all_large):
    monkeypatch.setattr(compiled_network, "FEW_NEIGHBORS", few)
    monkeypatch.setattr(compiled_network, "CANDIDATES", few)
    for shape in SHAPES:
        network = network_of(shape, 60)
        assert ExactInference(network).compiled.whole.entries <= 8 * 60
        monkeypatch.setattr(compiled_network, "LARGE", 1000)
        expected = ExactInference(network).query({"v3": "a", "v40": "b"})
        monkeypatch.setattr(compiled_network, "LARGE", 0)
        found = ExactInference(network).query({"v3": "a", "v40": "b"})
        assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-9)
        for name, belief in expected.beliefs.items():
            assert found[name] == pytest.approx(belief, rel=1e-9, abs=1e-12)


def test_plans_are_as_small_as_those_of_the_other_planner_on_a_published_network():
    network = read_network("alarm")
    usual = ExactInference(network).compiled.plan(np.ones(37, np.bool_), np.ones(37, np.bool_)).entries
    compiled = ExactInference(network).compiled
    entries, _ = compiled_network.best_plan(
        compiled.scope_start, compiled.scope, compiled.scope_stride, compiled.sizes, compiled.log_size,
        compiled.all, compiled.all, compiled.limit,
    )  # fmt: skip
    assert entries <= 1.2 * usual


@pytest.mark.usefixtures("all_large")
@pytest.mark.filterwarnings("ignore::bayeslearn.errors.ConvergenceWarning")
def test_cases_missing_values_and_most_probable_states():
    network = read_network("asia")
    table = network.sample(50, random_state=0)
    codes = table.codes.copy()
    codes[np.random.default_rng(0).random(codes.shape) < 0.3] = -1
    holes = Table(table.schema, codes, table.values)
    found, fitted = (
        network.predict_proba(holes),
        fit_parameters(network.dag, holes, max_iter=3, tol=0, prior=None),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_network, "LARGE", 1000)
        other = read_network("asia").predict_proba(holes)
        wanted = fit_parameters(network.dag, holes, max_iter=3, tol=0, prior=None)
    np.testing.assert_allclose(found.log_evidence, other.log_evidence, rtol=1e-9)
    for name in network.variables:
        np.testing.assert_allclose(found[name], other[name], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(fitted[name].probabilities, wanted[name].probabilities, rtol=1e-7)


### time and room


@pytest.mark.compiled
@pytest.mark.thorough
@pytest.mark.parametrize("shape", ["star", "ladder", "two hubs"])
def test_time_grows_with_the_number_of_variables(shape):
    """Four times as many variables take about four times as long, not sixteen."""

    def seconds(n):
        compiled = ExactInference(network_of(shape, n)).compiled
        found = []
        for _ in range(2):
            start = time.process_time()
            compiled.best(compiled.all, compiled.all)
            found.append(time.process_time() - start)
        return min(found)

    assert seconds(16_400) < 10 * seconds(4_100)


@pytest.mark.compiled
@pytest.mark.thorough
def test_a_chain_of_a_hundred_thousand_is_built_written_read_and_asked(tmp_path):
    n = 100_000
    network = network_of("chain", n)
    write_network(network, tmp_path / "chain.bif")
    again = read_network(tmp_path / "chain.bif")
    assert len(again) == n
    found = again.query({"v0": "a"}, variables=[f"v{n - 1}", "v1"])
    assert found["v1"]["a"] == pytest.approx(network["v1"].probabilities[0, 0])
    assert sum(found[f"v{n - 1}"].values()) == pytest.approx(1)
    belief, moves = np.array([1.0, 0.0]), np.array([again[f"v{i}"].probabilities for i in range(1, n)])
    for move in moves:
        belief = belief @ move
    assert found[f"v{n - 1}"]["a"] == pytest.approx(belief[0], rel=1e-6)


@pytest.mark.compiled
@pytest.mark.thorough
def test_a_network_without_a_small_tree_is_refused_at_once():
    """A grid of 64 x 64: the first table beyond the limit ends the search for a plan."""
    side = 64
    variables = [DiscreteVariable(f"v{i}", ("a", "b")) for i in range(side * side)]
    cpts = []
    for i, variable in enumerate(variables):
        parents = [variables[i - side]] * (i >= side) + [variables[i - 1]] * (i % side > 0)
        cpts.append(CPT(variable, tuple(parents), np.full((2,) * (len(parents) + 1), 0.5)))
    with pytest.raises(CapacityError, match=r"exact inference would need .* table entries"):
        BayesianNetwork(tuple(cpts)).query()


### few active variables among many


@pytest.mark.parametrize("shape", ["ladder", "two hubs"])
def test_variables_that_are_not_active_are_left_out_of_a_plan(shape, monkeypatch):
    network = network_of(shape, junction_tree.MANY + 8)
    rng = np.random.default_rng(0)
    evidence = {name: "ab"[rng.integers(2)] for name in network.variables if rng.random() < 0.7}
    found = ExactInference(network).query(evidence)
    monkeypatch.setattr(compiled_network, "LARGE", 0)
    expected = ExactInference(network).query(evidence)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-9)
    for name, belief in expected.beliefs.items():
        assert found[name] == pytest.approx(belief, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_a_plan_of_few_variables_is_that_of_all(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    compiled = Compiled(random_network(seed, 6 + seed))
    n = len(compiled.names)
    active, kept = rng.random(n) < 0.4, rng.random(n) < 0.9
    kernel = python_fallback.twin("bayeslearn.kernels.junction_tree")
    given = (
        compiled.scope_start, compiled.scope, compiled.scope_stride, compiled.sizes, compiled.log_size, active, kept,
        rng.random(n), 1.0, 1e9,
    )  # fmt: skip
    expected, wanted = kernel.plan(*given)
    monkeypatch.setattr(kernel, "MANY", 0)
    entries, steps = kernel.plan(*given)
    assert entries == pytest.approx(expected, rel=1e-12)
    for found, array in zip(steps, wanted, strict=True):
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype
