"""Kernels of first questions, which need no compiler, do what the compiled ones do."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from bayeslearn import kernels, read_network
from bayeslearn.kernels import junction_tree, propagation, python_fallback, table_strides
from bayeslearn.kernels import uncompiled_junction_tree as plans
from bayeslearn.kernels import uncompiled_propagation as runs
from bayeslearn.network import BayesianNetwork, ExactInference
from bayeslearn.network.inference import compiled_network as compiling
from bayeslearn.network.inference.compiled_network import Compiled
from tests.oracle.networks import random_evidence, random_network

SEEDS = range(25)


@pytest.fixture
def cold(monkeypatch):
    monkeypatch.setattr(python_fallback, "is_ready", lambda *_: False)
    monkeypatch.setattr(python_fallback, "_spent", 0.0)
    monkeypatch.setattr(python_fallback, "_ready", {})


def planned(planner, compiled, active, kept, *rest):
    return planner(
        compiled.scope_start, compiled.scope, compiled.scope_stride, compiled.sizes, compiled.log_size, active, kept,
        *rest,
    )  # fmt: skip


### plans


def test_the_numbers_are_those_of_the_compiled_kernels():
    names = ("TIE_BREAK", "FACTOR", "MESSAGE", "BELIEF")
    assert [getattr(plans, name) for name in names] == [getattr(junction_tree, name) for name in names]
    assert (runs.EDGE, runs.FAINT) == (table_strides.EDGE, propagation.FAINT)
    assert compiling.WORTH_A_TRY == junction_tree.WORTH_A_TRY


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_is_that_of_the_interpreted_kernel(seed):
    rng = np.random.default_rng(seed)
    compiled = Compiled(random_network(seed, 3 + seed))
    active, kept = rng.random(len(compiled.names)) < 0.8, rng.random(len(compiled.names)) < 0.9
    noise, weight = rng.random(len(active)), float(rng.choice([1e-3, 1.0]))
    entries, steps = planned(plans.plan, compiled, active, kept, noise, weight, 1e9)
    kernel = python_fallback.twin("bayeslearn.kernels.junction_tree").plan
    expected, wanted = planned(kernel, compiled, active, kept, noise, weight, 1e9)
    assert entries == pytest.approx(expected, rel=1e-12)
    for found, array in zip(steps, wanted, strict=True):
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype


def test_a_plan_above_the_limit_is_empty():
    compiled = Compiled(read_network("alarm"))
    entries, steps = planned(plans.best_plan, compiled, compiled.all, compiled.all, 100.0)
    assert entries == pytest.approx(1038, rel=1e-12)
    assert len(steps[1]) == len(steps[8]) == 0


### propagation


@pytest.mark.parametrize("seed", SEEDS)
def test_beliefs_and_families_are_those_of_the_kernel(seed):
    network = random_network(seed, 3 + seed % 12, zeros=0.2 * (seed % 3))
    rng = np.random.default_rng(seed)
    evidence = random_evidence(network, seed)
    weighed = [name for name in network.variables if name not in evidence and rng.random() < 0.3]
    likelihoods = {name: (rng.random(len(network.states(name))) * 3).tolist() for name in weighed}
    engine = ExactInference(network)
    compiled, (codes, likelihood, which) = engine.compiled, engine.read(evidence, likelihoods)
    _, steps = planned(plans.best_plan, compiled, codes < 0, compiled.all, 1e9)

    def run(propagate):
        beliefs, families = np.empty(int(compiled.belief_start[-1])), np.zeros(len(compiled.cpt))
        room = np.empty(steps[4][-1]), np.empty(steps[5][-1])
        log_p = propagate(
            compiled.arrays(compiled.all), steps, compiled.sizes, codes, likelihood, which, *room, beliefs, families,
            0.5,
        )  # fmt: skip
        return log_p, beliefs, families

    log_p, beliefs, families = run(runs.propagate)
    expected, wanted, by_family = run(kernels.propagate)
    assert log_p == pytest.approx(expected, rel=1e-12, abs=1e-12)
    if log_p > -np.inf:
        np.testing.assert_allclose(beliefs, wanted, rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(families, by_family, rtol=1e-11, atol=1e-14)


def faint_chain(n, p):
    """A hidden cause of n effects, each of probability p under one state of the cause and 2p under the other."""
    effects = [f"e{i}" for i in range(n)]
    tables = {"cause": [0.5, 0.5]} | {key: [[p, 1 - p], [2 * p, 1 - 2 * p]] for key in effects}
    states = {key: ["yes", "no"] for key in ["cause", *effects]}
    return BayesianNetwork.from_tables([("cause", e) for e in effects], tables, states=states), dict.fromkeys(
        effects, "yes"
    )


@pytest.mark.parametrize(("n", "p"), [(40, 1e-9), (4, 1e-200), (6, 1e-300)])
@pytest.mark.usefixtures("cold")
def test_products_do_not_underflow(n, p):
    network, evidence = faint_chain(n, p)
    answer = ExactInference(network).query(evidence)
    assert answer.log_evidence == pytest.approx(n * np.log(p) + np.log((1 + 2.0**n) / 2), rel=1e-12)
    assert answer["cause"]["yes"] == pytest.approx(1 / (1 + 2.0**n), rel=1e-9)


def test_rescaling_takes_out_the_largest_entry():
    table = np.array([0.0, 1e-200, 4e-200])
    log_top, least = runs.rescale(table)
    assert log_top == pytest.approx(np.log(4e-200), rel=1e-14)
    assert least == pytest.approx(0.25, rel=1e-14)
    assert runs.rescale(np.zeros(2)) == (-np.inf, 1.0)


### when


@pytest.mark.usefixtures("cold")
def test_patience_ends(monkeypatch):
    assert kernels.soonest("plan").__wrapped__ is plans.plan
    monkeypatch.setattr(python_fallback, "_spent", python_fallback.PATIENCE + 1)
    assert kernels.soonest("plan") is kernels.plan


@pytest.mark.usefixtures("cold")
def test_the_compiler_is_loaded_in_time(monkeypatch):
    compiled = kernels.plan
    monkeypatch.setattr(python_fallback, "is_ready", lambda *_: True)
    monkeypatch.delitem(sys.modules, "bayeslearn.kernels._jit")
    assert kernels.is_sooner("plan")
    monkeypatch.setattr(python_fallback, "_spent", python_fallback.LOADING + 0.1)
    assert kernels.soonest("plan") is compiled
    assert not kernels.is_sooner("plan")


@pytest.mark.usefixtures("cold")
def test_time_without_the_compiler_counts():
    ExactInference(read_network("asia")).query({"dysp": "yes"})
    assert 0 < python_fallback._spent < python_fallback.PATIENCE


@pytest.mark.usefixtures("cold")
def test_a_plan_that_may_be_bettered_is_not_kept(monkeypatch):
    compiled = Compiled(read_network("asia"))
    monkeypatch.setattr(compiling, "WORTH_A_TRY", 10)
    assert compiled.plan(compiled.all, compiled.all).provisional
    monkeypatch.setattr(python_fallback, "is_ready", lambda *_: True)
    kept = compiled.plan(compiled.all, compiled.all)
    assert not kept.provisional
    assert compiled.plan(compiled.all, compiled.all) is kept


@pytest.mark.usefixtures("cold")
def test_large_tables_are_left_to_the_compiler(monkeypatch):
    monkeypatch.setattr(compiling, "ROOM", 10)
    compiled = Compiled(read_network("asia"))
    plan = compiled.plan(compiled.all, compiled.all)
    assert not plan.provisional
    assert compiled.propagate(plan) is kernels.propagate


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled anyway")
def test_a_first_question_to_a_hundred_variables_does_not_load_the_compiler(tmp_path):
    script = """
import sys
from bayeslearn import BayesianNetwork
names = [f"v{i}" for i in range(150)]
tables = {"v0": [0.3, 0.7]} | dict.fromkeys(names[1:], [[0.8, 0.2], [0.4, 0.6]])
arcs = list(zip(names, names[1:]))
net = BayesianNetwork.from_tables(arcs, tables, states=dict.fromkeys(names, ["yes", "no"]))
print(round(net.query({"v1": "yes"})["v0"]["yes"], 4), "numba" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["0.4615", "False"]
