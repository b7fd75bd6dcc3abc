"""Probabilities from 1e-320 to 1: answers as by enumeration in fractions, and only the impossible is impossible."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import ConvergenceWarning, ImpossibleEvidenceError
from bayeslearn.network import BayesianNetwork
from bayeslearn.network.inference.junction_tree import ExactInference
from bayeslearn.network.inference.loopy_propagation import LoopyPropagation
from bayeslearn.network.parameters.fit import fit_parameters
from bayeslearn.network.parameters.imputation import impute
from tests.oracle import networks as slow
from tests.properties import trials

seeds = st.integers(0, 100_000)
AB = ["a", "b"]


### the oracle: enumeration in fractions


def wide_network(seed, n, *, zeros=0.1, least=-320, tree=False):
    """A network whose probabilities go down to the smallest that there are."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(n)]
    states = {name: [f"s{k}" for k in range(rng.choice([2, 2, 3]))] for name in names}
    arcs, tables = [], {}
    for i, name in enumerate(names):
        parents = rng.choice(names[:i], size=min(i, rng.integers(0, 2 if tree else 4)), replace=False).tolist()
        arcs += [(p, name) for p in parents]
        shape = [len(states[p]) for p in parents] + [len(states[name])]
        table = 10.0 ** rng.uniform(least, 0, shape) * (rng.random(shape) >= zeros)
        np.put_along_axis(table, rng.integers(0, shape[-1], (*shape[:-1], 1)), 0.0, axis=-1)
        table = np.where(table == 0, 0.0, table / (1 + table.sum(axis=-1, keepdims=True)))
        rest = 1 - table.sum(axis=-1, keepdims=True)
        np.put_along_axis(table, table.argmin(axis=-1)[..., None], rest, axis=-1)
        tables[name] = table
    return BayesianNetwork.from_tables(arcs, tables, states=states)


def weights_of(network, evidence, likelihoods=None):
    """The exact probability of every case that agrees with the evidence, by its codes."""
    sizes, place = (
        [len(network.states(name)) for name in network.variables],
        {n: i for i, n in enumerate(network.variables)},
    )
    seen = {place[name]: network.states(name).index(state) for name, state in evidence.items()}
    found = {}
    for case in itertools.product(*map(range, sizes)):
        if any(case[v] != code for v, code in seen.items()):
            continue
        p = Fraction(1)
        for cpt in network:
            p *= Fraction(
                float(cpt.probabilities[(*(case[place[v.name]] for v in cpt.parents), case[place[cpt.name]])])
            )
        for name, numbers in (likelihoods or {}).items():
            p *= Fraction(float(numbers[case[place[name]]]))
        if p:
            found[case] = p
    return found


def log_of(p):
    return math.log(p.numerator) - math.log(p.denominator) if p else -np.inf


def believed(network, sample_weight, name):
    axis, total = network.variables.index(name), sum(sample_weight.values())
    return [
        float(sum(p for case, p in sample_weight.items() if case[axis] == k) / total)
        for k in range(len(network.states(name)))
    ]


def close(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-300)


### exact inference


@trials(60)
@given(seed=seeds, n=st.integers(1, 6), data=st.data())
def test_beliefs_and_evidence_over_the_whole_range(seed, n, data):
    network = wide_network(seed, n, least=data.draw(st.sampled_from([-320, -100, -30])))
    evidence = slow.random_evidence(network, seed, share=0.5)
    hidden = [name for name in network.variables if name not in evidence]
    likelihoods = {}
    if hidden and data.draw(st.booleans()):
        numbers = data.draw(st.sampled_from([[1.0, 1e-300], [5e-324, 1e-320], [0.0, 1e-200], [1e300, 1.0]]))
        likelihoods[hidden[0]] = np.resize(numbers, len(network.states(hidden[0])))
    weights = weights_of(network, evidence, likelihoods)
    if not weights:
        with pytest.raises(ImpossibleEvidenceError, match="the evidence is impossible"):
            ExactInference(network).query(evidence, virtual_evidence=likelihoods)
        return
    answer = ExactInference(network).query(evidence, virtual_evidence=likelihoods)
    assert answer.log_evidence == pytest.approx(log_of(sum(weights.values())), rel=1e-10, abs=1e-12)
    for name in hidden:
        assert list(answer[name].values()) == close(believed(network, weights, name))
    best = ExactInference(network).most_probable(evidence, virtual_evidence=likelihoods)
    assert best.log_joint == pytest.approx(log_of(max(weights.values())), rel=1e-10, abs=1e-12)
    chosen = tuple(network.states(name).index(best.case[name]) for name in network.variables)
    assert log_of(weights[chosen]) == pytest.approx(best.log_joint, rel=1e-10, abs=1e-12)


@trials(30)
@given(seed=seeds, n=st.integers(2, 5))
def test_joints_families_and_marginal_explanations_over_the_whole_range(seed, n):
    network = wide_network(seed, n)
    evidence = slow.random_evidence(network, seed, share=0.4)
    weights = weights_of(network, evidence)
    if not weights:
        return
    total, pair = sum(weights.values()), list(network.variables[:2])
    joint = ExactInference(network).joint(pair, evidence)
    for i, j in np.ndindex(joint.probabilities.shape):
        expected = sum((p for case, p in weights.items() if case[:2] == (i, j)), Fraction(0)) / total
        assert joint.probabilities[i, j] == close(float(expected))
    families = ExactInference(network).families(evidence)
    for cpt in network:
        places = [network.variables.index(name) for name in (*(v.name for v in cpt.parents), cpt.name)]
        for cell in np.ndindex(cpt.shape):
            agree = (p for case, p in weights.items() if tuple(case[i] for i in places) == cell)
            assert families[cpt.name][cell] == close(float(sum(agree, Fraction(0)) / total))
    best = ExactInference(network).most_probable(evidence, variables=pair)
    sums = [sum((p for case, p in weights.items() if case[:2] == key), Fraction(0)) for key in {c[:2] for c in weights}]
    assert best.log_joint == pytest.approx(log_of(max(sums)), rel=1e-10, abs=1e-12)


@trials(15)
@given(seed=seeds, n=st.integers(2, 5))
def test_rows_of_a_table_over_the_whole_range(seed, n):
    network = wide_network(seed, n, zeros=0.0)
    rows = []
    for k in range(20):
        seen = slow.random_evidence(network, seed + k, share=0.5)
        rows.append({name: seen.get(name) for name in network.variables})
    found = network.predict_proba(rows)
    scored = network.score(rows)
    for i, row in enumerate(rows):
        weights = weights_of(network, {name: state for name, state in row.items() if state is not None})
        log_p = log_of(sum(weights.values()))
        assert found.log_evidence[i] == pytest.approx(log_p, rel=1e-10, abs=1e-12)
        assert scored.per_row[i] == pytest.approx(log_p, rel=1e-10, abs=1e-12)
        for name in network.variables:
            assert found[name][i].tolist() == close(believed(network, weights, name))


def meeting(t=1e-155):
    """Numbers of 1e-155 that meet in one clique."""
    return BayesianNetwork.from_tables(
        "[A][B|A][C|A]",
        {"A": [0.5, 0.5], "B": [[t, 1 - t], [t / 2, 1 - t / 2]], "C": [[t, 1 - t], [6 * t, 1 - 6 * t]]},
        states=dict.fromkeys("ABC", AB),
    )


@pytest.mark.parametrize("t", [1e-155, 1e-160, 1e-200, 1e-300, 1e-320])
def test_small_numbers_that_meet_in_a_clique(t):
    network = meeting(t)
    seen = {"B": "a", "C": "a"}
    expected = float(
        network["B"].probabilities[0, 0]
        / network["B"].probabilities[1, 0]
        * (network["C"].probabilities[0, 0] / network["C"].probabilities[1, 0])
    )
    answer = network.query(seen)
    assert answer["A"]["a"] / answer["A"]["b"] == pytest.approx(expected, rel=1e-9)
    many = network.predict_proba([{"A": None, "B": "a", "C": "a"}] * 17)
    assert many["A"].tolist() == [pytest.approx(list(answer["A"].values()), rel=1e-12)] * 17
    assert network.most_probable(seen).case["A"] == "b"


@pytest.mark.parametrize("order", list(itertools.permutations("xyw")), ids="".join)
def test_opposed_messages_meet_in_one_clique_side_by_side(order, monkeypatch):
    """Each product of two messages is 1e-140 or less, and a table of 1e-100 comes after them."""
    about = dict(zip(order, [(0.5, 1e-140), (1e-140, 0.5), (0.5, 0.5)], strict=True))
    tables = {"r": [0.25, 0.75], "s": [[0.5, 0.5]] * 2, "t": [[[1e-100, 1.0]] * 2] * 2}
    tables |= {name: [[[p, 1 - p]] * 2, [[q, 1 - q]] * 2] for name, (p, q) in about.items()}
    network = BayesianNetwork.from_tables(
        "[r][s|r][t|r:s][x|r:s][y|r:t][w|s:t]", tables, states=dict.fromkeys("rstxyw", AB)
    )
    monkeypatch.setattr(type(network.inference.compiled), "side_by_side", lambda *_: True)
    seen = dict.fromkeys("xyw", "a")
    weights = weights_of(network, seen)
    found = network.predict_proba([dict.fromkeys("rst") | seen] * 9)
    assert found.log_evidence.tolist() == [pytest.approx(log_of(sum(weights.values())), rel=1e-12)] * 9
    for name in "rst":
        assert found[name].tolist() == [close(believed(network, weights, name))] * 9


def test_evidence_that_is_impossible_stays_so_among_small_numbers():
    tables = {"A": [1e-300, 1.0], "B": [[1e-300, 1.0], [0.0, 1.0]], "C": [[0.0, 1.0], [1e-300, 1.0]]}
    network = BayesianNetwork.from_tables("[A][B|A][C|A]", tables, states=dict.fromkeys("ABC", AB))
    assert network.query({"B": "a"}).log_evidence == pytest.approx(-1381.5510557964274, rel=1e-12)
    with pytest.raises(ImpossibleEvidenceError, match="B=a, C=a cannot be together"):
        network.query({"B": "a", "C": "a"})
    with pytest.raises(ImpossibleEvidenceError, match="of row 9 is impossible"):
        network.predict_proba([{"B": "a", "C": None}] * 9 + [{"B": "a", "C": "a"}])


def leaves(n, turn):
    """A root and n leaves; the first `turn` speak for one of its states, the others against it."""
    tables = {"root": [0.25, 0.75]}
    for i in range(n):
        p, q = (1e-3, 2e-3) if i < turn else (2e-3, 1e-3)
        tables[f"x{i}"] = [[p, 1 - p], [q, 1 - q]]
    return BayesianNetwork.from_tables([("root", f"x{i}") for i in range(n)], tables, states=dict.fromkeys(tables, AB))


@pytest.mark.thorough
@pytest.mark.compiled
def test_twelve_hundred_leaves():
    network = leaves(1200, 600)
    seen = {f"x{i}": "a" for i in range(1200)}
    answer = network.query(seen)
    assert answer.log_evidence == pytest.approx(1200 * math.log(1e-3) + 600 * math.log(2), rel=1e-12)
    assert answer["root"]["a"] == pytest.approx(0.25, rel=1e-9)
    many = network.predict_proba([{"root": None} | seen] * 9)
    assert many["root"][:, 0].tolist() == [pytest.approx(0.25, rel=1e-9)] * 9
    assert LoopyPropagation(network).query(seen, variables=["root"])["root"]["a"] == pytest.approx(0.25, rel=1e-9)


### learning


def test_expected_counts_of_small_numbers():
    network = meeting()
    rows = [{"A": None, "B": "a", "C": "a"}] * 3 + [{"A": "a", "B": "b", "C": "b"}]
    expected = network.query({"B": "a", "C": "a"})["A"]["a"]
    assert expected == pytest.approx(0.25, rel=1e-9)
    with pytest.warns(ConvergenceWarning, match="EM stopped after 1 iterations"):
        fit = fit_parameters(network, rows, init=network, max_iter=1, prior=None)
    assert fit["A"].probabilities[0] == pytest.approx((1 + 3 * expected) / 4, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e120])
def test_expected_counts_do_not_depend_on_the_scale_of_likelihoods(scale):
    network = meeting(0.1)
    rows = [{"A": None, "B": None, "C": None}, {"A": "a", "B": "b", "C": "b"}]
    fits = []
    for factor in (1.0, scale):
        scaled = {name: np.array([[0.2 * factor, 0.7 * factor], [1.0, 1.0]]) for name in "ABC"}
        with pytest.warns(ConvergenceWarning, match="EM stopped after 1 iterations"):
            fits.append(fit_parameters(network, rows, init=network, max_iter=1, prior=None, virtual_evidence=scaled))
    for name in "ABC":
        np.testing.assert_allclose(fits[1][name].probabilities, fits[0][name].probabilities, rtol=1e-9)
    assert fits[1].fit_info.log_likelihood - fits[0].fit_info.log_likelihood == pytest.approx(
        3 * math.log(scale), rel=1e-9
    )


@pytest.mark.parametrize("how", ["most_probable", "sample"])
def test_cells_are_filled_where_numbers_are_small(how):
    network = meeting(1e-200)
    rows = [{"A": None, "B": "a", "C": "a"}] * 400
    full = impute(network, rows, method=how, random_state=0)
    share = sum(row["A"] == "a" for row in full) / 400
    assert share == (0 if how == "most_probable" else pytest.approx(0.25, abs=0.07))


### messages and targets


@trials(25)
@given(seed=seeds, n=st.integers(1, 6))
def test_messages_over_the_whole_range(seed, n):
    network = wide_network(seed, n, tree=True, zeros=0.0)
    evidence = slow.random_evidence(network, seed, share=0.4)
    weights = weights_of(network, evidence)
    answer = LoopyPropagation(network).query(evidence)
    assert answer.log_evidence == pytest.approx(log_of(sum(weights.values())), rel=1e-7, abs=1e-7)
    for name in answer.beliefs:
        assert list(answer[name].values()) == pytest.approx(believed(network, weights, name), rel=1e-6, abs=1e-9)


def test_targets_of_improbable_states():
    network = meeting()
    answer = network.inference.query({"C": "a"}, soft_evidence={"B": [0.5, 0.5]})
    assert answer["B"]["a"] == pytest.approx(0.5, abs=1e-12)
    given_a, given_b = (network.query({"B": state, "C": "a"})["A"]["a"] for state in AB)
    assert answer["A"]["a"] == pytest.approx((given_a + given_b) / 2, rel=1e-9)
