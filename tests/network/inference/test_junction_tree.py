"""Exact inference against enumeration of the joint, and how it fails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayeslearn.errors import (
    BayeslearnWarning,
    CapacityError,
    ImpossibleEvidenceError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.network import BayesianNetwork, ExactInference
from tests.oracle import networks as slow

seeds = st.integers(0, 100_000)


def rain():
    return BayesianNetwork.from_tables(
        "[Rain][Sprinkler|Rain][Wet|Rain:Sprinkler]",
        {
            "Rain": [0.2, 0.8],
            "Sprinkler": [[0.01, 0.99], [0.4, 0.6]],
            "Wet": [[[0.99, 0.01], [0.8, 0.2]], [[0.9, 0.1], [0.0, 1.0]]],
        },
        states={name: ["yes", "no"] for name in ("Rain", "Sprinkler", "Wet")},
    )


### against enumeration


@given(seed=seeds, n=st.integers(1, 7), zeros=st.sampled_from([0.0, 0.3]))
def test_every_belief_and_the_evidence(seed, n, zeros):
    network = slow.random_network(seed, n, zeros=zeros)
    evidence = slow.random_evidence(network, seed)
    p = slow.given(network, evidence)
    assume(p.sum() > 0)

    answer = ExactInference(network).query(evidence)

    assert answer.log_evidence == pytest.approx(np.log(p.sum()), rel=1e-12, abs=1e-12)
    assert set(answer.beliefs) == set(network.variables) - set(evidence)
    for axis, name in enumerate(network.variables):
        if name not in evidence:
            np.testing.assert_allclose(list(answer[name].values()), slow.marginal(p, axis), rtol=0, atol=1e-12)


@given(seed=seeds, n=st.integers(2, 6))
def test_virtual_evidence(seed, n):
    network = slow.random_network(seed, n)
    rng = np.random.default_rng(seed)
    evidence = slow.random_evidence(network, seed, share=0.2)
    likelihoods = {
        name: rng.random(len(network.states(name))) + 0.01
        for name in network.variables
        if name not in evidence and rng.random() < 0.5
    }
    p = slow.given(network, evidence, likelihoods)

    answer = ExactInference(network).query(evidence, virtual_evidence=likelihoods)

    assert answer.log_evidence == pytest.approx(np.log(p.sum()), rel=1e-12, abs=1e-12)
    for axis, name in enumerate(network.variables):
        if name not in evidence:
            np.testing.assert_allclose(list(answer[name].values()), slow.marginal(p, axis), rtol=0, atol=1e-12)


@given(seed=seeds, n=st.integers(2, 7))
def test_asking_for_a_few_leaves_out_what_does_not_matter(seed, n):
    network = slow.random_network(seed, n)
    evidence = slow.random_evidence(network, seed)
    engine = ExactInference(network)
    whole = engine.query(evidence)
    for name in whole.beliefs:
        few = engine.query(evidence, variables=[name])
        np.testing.assert_allclose(list(few[name].values()), list(whole[name].values()), rtol=0, atol=1e-12)
        assert few.log_evidence == pytest.approx(whole.log_evidence, rel=1e-11, abs=1e-12)
    assert engine.log_evidence(evidence) == pytest.approx(whole.log_evidence, rel=1e-11, abs=1e-12)


@given(seed=seeds, n=st.integers(2, 6), k=st.integers(1, 4))
def test_joint_of_several(seed, n, k):
    network = slow.random_network(seed, n)
    evidence = slow.random_evidence(network, seed, share=0.25)
    p = slow.given(network, evidence)
    wanted = np.random.default_rng(seed).permutation(network.variables)[:k].tolist()

    found = ExactInference(network).joint(wanted, evidence)

    places = [network.variables.index(name) for name in wanted]
    summed = p.sum(axis=tuple(a for a in range(n) if a not in places)) / p.sum()
    expected = np.transpose(summed, [sorted(places).index(a) for a in places])
    np.testing.assert_allclose(found.probabilities, expected, rtol=0, atol=1e-12)
    top = {
        name: network.states(name)[i]
        for name, i in zip(wanted, np.argwhere(expected == expected.max())[0], strict=True)
    }
    assert found[top] == pytest.approx(expected.max(), rel=1e-12)


@given(seed=seeds, n=st.integers(1, 7), zeros=st.sampled_from([0.0, 0.3]))
def test_most_probable_explanation(seed, n, zeros):
    network = slow.random_network(seed, n, zeros=zeros)
    evidence = slow.random_evidence(network, seed)
    p = slow.given(network, evidence)
    assume(p.sum() > 0)

    found = ExactInference(network).most_probable(evidence)

    assert all(found.case[name] == state for name, state in evidence.items())
    assert network.joint(found.case) == pytest.approx(p.max(), rel=1e-12)
    assert found.log_joint == pytest.approx(np.log(p.max()), rel=1e-12, abs=1e-12)
    assert found.probability == pytest.approx(p.max() / p.sum(), rel=1e-11)


@given(seed=seeds, n=st.integers(2, 7), zeros=st.sampled_from([0.0, 0.3]))
def test_marginal_map_sums_over_the_others(seed, n, zeros):
    network = slow.random_network(seed, n, zeros=zeros)
    evidence = slow.random_evidence(network, seed)
    p = slow.given(network, evidence)
    assume(p.sum() > 0)
    rng = np.random.default_rng(seed)
    wanted = rng.choice(network.variables, size=rng.integers(1, n + 1), replace=False).tolist()
    summed = p.sum(axis=tuple(a for a, name in enumerate(network.variables) if name not in wanted))

    found = ExactInference(network).most_probable(evidence, variables=wanted)

    assert list(found.case) == wanted
    here = tuple(network.states(name).index(found.case[name]) for name in network.variables if name in wanted)
    assert summed[here] == pytest.approx(summed.max(), rel=1e-12)
    assert found.log_joint == pytest.approx(np.log(summed.max()), rel=1e-12, abs=1e-12)
    assert found.probability == pytest.approx(summed.max() / p.sum(), rel=1e-11)


def test_marginal_map_is_not_the_most_probable_case():
    network = BayesianNetwork.from_tables(
        "[A][B|A]",
        {"A": [0.4, 0.6], "B": [[1.0, 0.0, 0.0], [0.3, 0.3, 0.4]]},
        states={"A": ["a", "b"], "B": ["x", "y", "z"]},
    )
    assert network.most_probable().case == {"A": "a", "B": "x"}
    assert network.most_probable(variables=["A"]).case == {"A": "b"}
    assert network.most_probable(variables=["A"]).probability == pytest.approx(0.6, rel=1e-12)


@given(seed=seeds, n=st.integers(1, 6), zeros=st.sampled_from([0.0, 0.3]))
def test_families_are_joint_beliefs_of_a_variable_and_its_parents(seed, n, zeros):
    network = slow.random_network(seed, n, zeros=zeros)
    evidence = slow.random_evidence(network, seed)
    likelihoods = {network.variables[0]: np.linspace(0.2, 1, len(network.states(network.variables[0])))}
    likelihoods = {name: given for name, given in likelihoods.items() if name not in evidence}
    p = slow.given(network, evidence, likelihoods)
    assume(p.sum() > 0)

    found = ExactInference(network).families(evidence, virtual_evidence=likelihoods)

    for cpt in network:
        axes = [network.variables.index(v.name) for v in (*cpt.parents, cpt.variable)]
        summed = np.transpose(
            p.sum(axis=tuple(a for a in range(n) if a not in axes)), [sorted(axes).index(a) for a in axes]
        )
        np.testing.assert_allclose(found[cpt.name], summed / p.sum(), rtol=0, atol=1e-12)


def test_likelihoods_may_be_tiny():
    network = rain()
    tiny = {name: [3e-308, 1e-308] for name in ("Rain", "Sprinkler")}
    plain = {name: [3.0, 1.0] for name in ("Rain", "Sprinkler")}
    answer, expected = (network.query({"Wet": "yes"}, virtual_evidence=given) for given in (tiny, plain))
    assert answer["Rain"]["yes"] == pytest.approx(expected["Rain"]["yes"], rel=1e-9)
    assert answer.log_evidence == pytest.approx(expected.log_evidence + 2 * np.log(1e-308), rel=1e-12)
    best = network.most_probable({"Wet": "yes"}, virtual_evidence=tiny)
    assert best.log_evidence == pytest.approx(answer.log_evidence, rel=1e-12)
    assert 0 < best.probability <= 1


@given(seed=seeds, n=st.integers(2, 6))
def test_intervention_cuts_the_arcs_into_what_is_set(seed, n):
    network = slow.random_network(seed, n)
    name = network.variables[seed % n]
    state = network.states(name)[0]
    after = network.do({name: state})
    assert after.dag.parents(name) == ()
    p = slow.joint(network)
    axis = network.variables.index(name)
    own = network[name]
    places = [network.variables.index(v.name) for v in own.parents] + [axis]
    factor = np.ones([1] * n) * np.expand_dims(
        np.transpose(own.probabilities, np.argsort(places)), tuple(a for a in range(n) if a not in places)
    )
    mask = np.arange(len(network.states(name))).reshape([-1 if a == axis else 1 for a in range(n)]) == 0
    expected = np.where(mask, p / factor, 0.0)  # the truncated product
    np.testing.assert_allclose(slow.joint(after), expected, rtol=1e-9, atol=1e-14)


def test_a_barren_part_costs_nothing():
    engine = ExactInference(rain())
    assert engine.cost(variables=["Rain"]).entries == pytest.approx(2)
    assert engine.cost(variables=["Sprinkler"]).entries == pytest.approx(4)
    assert engine.cost().entries == pytest.approx(8)
    assert engine.cost({"Rain": "yes"}).bytes == pytest.approx(32)


@pytest.mark.parametrize("small", [True, False])
@given(seed=seeds, n=st.integers(1, 6), rows=st.integers(1, 20))
def test_a_table_of_cases_equals_one_by_one(small, seed, n, rows):
    network = slow.random_network(seed, n)
    cases = [slow.random_evidence(network, seed + i, share=0.4) for i in range(rows)]
    engine = ExactInference(network)
    engine.compiled.__dict__["side_by_side"] = lambda _: small

    found = engine.predict_proba([{**dict.fromkeys(network.variables), **case} for case in cases])

    for i, case in enumerate(cases):
        one = engine.query(case, variables=network.variables)
        assert found.log_evidence[i] == pytest.approx(one.log_evidence, rel=1e-11, abs=1e-12)
        for name in network.variables:
            np.testing.assert_allclose(found[name][i], list(one[name].values()), rtol=0, atol=1e-12)


def test_order_of_variables_and_states_is_irrelevant():
    network = slow.random_network(3, 6)
    turned = BayesianNetwork.from_tables(
        network.dag,
        {c.name: np.flip(c.probabilities) for c in network},
        states={name: network.states(name)[::-1] for name in network.variables[::-1]},
    )
    evidence = slow.random_evidence(network, 1)
    one, other = ExactInference(network).query(evidence), ExactInference(turned).query(evidence)
    for name, belief in one.beliefs.items():
        assert other[name] == pytest.approx(belief, rel=1e-12)


def test_log_evidence_stays_finite_for_hundreds_of_variables():
    n = 600
    chain = BayesianNetwork.from_tables(
        [(f"x{i}", f"x{i + 1}") for i in range(n - 1)],
        {f"x{i}": [[0.001, 0.999]] * 2 if i else [0.001, 0.999] for i in range(n)},
        states={f"x{i}": ["yes", "no"] for i in range(n)},
    )
    seen = {f"x{i}": "yes" for i in range(0, n, 2)}
    assert ExactInference(chain).query(seen).log_evidence == pytest.approx(300 * np.log(0.001), rel=1e-12)


def star(n, *, hidden):
    """A root with n branches; each ends in an observed leaf that is rare under either state of the root."""
    arcs, tables = [], {"root": [0.5, 0.5]}
    for i in range(n):
        rare = [[0.001, 0.999], [0.002, 0.998]] if i % 2 else [[0.002, 0.998], [0.001, 0.999]]
        above = f"mid{i}" if hidden else "root"
        if hidden:
            arcs.append(("root", above))
            tables[above] = [[0.999, 0.001], [0.001, 0.999]]
        arcs.append((above, f"leaf{i}"))
        tables[f"leaf{i}"] = rare
    return BayesianNetwork.from_tables(arcs, tables, states={name: ["a", "b"] for name in tables})


@pytest.mark.compiled
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("small", [True, False])
def test_hundreds_of_factors_in_one_table_do_not_underflow(hidden, small):
    n = 300
    network = star(n, hidden=hidden)
    seen = {f"leaf{i}": "a" for i in range(n)}
    per_pair = np.array([0.001 * 0.002, 0.002 * 0.001])
    if hidden:
        flip = np.array([[0.999, 0.001], [0.001, 0.999]])
        per_pair = (flip @ [0.001, 0.002]) * (flip @ [0.002, 0.001])
    expected = np.log(np.sum(0.5 * (per_pair / per_pair[0]) ** (n // 2))) + n // 2 * np.log(per_pair[0])
    engine = network.inference
    engine.compiled.__dict__["side_by_side"] = lambda _: small

    one, many = engine.query(seen, variables=["root"]), engine.predict_proba([seen] * 3, variables=["root"])

    assert one.log_evidence == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(many.log_evidence, expected, rtol=1e-12)
    np.testing.assert_allclose(list(one["root"].values()), [0.5, 0.5], rtol=1e-9)
    np.testing.assert_allclose(many["root"], 0.5, rtol=1e-9)
    assert engine.most_probable(seen).log_joint < expected


### what a person gets


def test_states_come_back_by_name():
    answer = ExactInference(rain()).query({"Wet": "yes"}, variables=["Rain"])
    p = slow.given(rain(), {"Wet": "yes"})
    assert answer["Rain"] == pytest.approx({"yes": p[0].sum() / p.sum(), "no": p[1].sum() / p.sum()}, rel=1e-12)
    assert answer.most_probable("Rain") == "no"
    assert answer.to_dict()["evidence"] == {"Wet": "yes"}


def test_the_network_answers_itself():
    assert rain().query({"Wet": "yes"}).beliefs == ExactInference(rain()).query({"Wet": "yes"}).beliefs


def test_an_observed_variable_is_certain_when_asked_for():
    assert ExactInference(rain()).query({"Rain": "yes"}, variables=["Rain"])["Rain"] == {"yes": 1.0, "no": 0.0}


### how it fails


def test_impossible_evidence_names_a_smallest_conflict():
    with pytest.raises(ImpossibleEvidenceError, match="Rain=no, Sprinkler=no, Wet=yes cannot be together") as caught:
        ExactInference(rain()).query({"Rain": "no", "Sprinkler": "no", "Wet": "yes"})
    assert caught.value.details["conflict"] == ["Rain", "Sprinkler", "Wet"]


def test_impossible_evidence_leaves_out_pieces_that_do_not_matter():
    network = BayesianNetwork.from_tables(
        "[A][B][C|A]",
        {"A": [1.0, 0.0], "B": [0.5, 0.5], "C": [[0.5, 0.5], [0.5, 0.5]]},
        states={name: ["yes", "no"] for name in "ABC"},
    )
    with pytest.raises(ImpossibleEvidenceError, match="impossible: A=no cannot be together") as caught:
        ExactInference(network).query({"B": "yes", "A": "no", "C": "yes"})
    assert caught.value.details["conflict"] == ["A"]


@pytest.mark.parametrize("small", [True, False])
def test_an_impossible_row_is_named(small):
    engine = ExactInference(rain())
    engine.compiled.__dict__["side_by_side"] = lambda _: small
    rows = [{"Wet": "yes"}] * 9 + [{"Rain": "no", "Sprinkler": "no", "Wet": "yes"}]
    with pytest.raises(ImpossibleEvidenceError, match="the evidence of row 9 is impossible"):
        engine.predict_proba(rows)


def test_too_large_is_refused_with_the_estimate():
    n = 12
    arcs = [(f"p{i}", "child") for i in range(n)]
    tables = {f"p{i}": [0.5, 0.5] for i in range(n)} | {"child": np.full((2,) * (n + 1), 0.5)}
    network = BayesianNetwork.from_tables(arcs, tables, states={name: ["a", "b"] for name in tables})
    engine = ExactInference(network, memory_limit=1000)
    assert engine.cost().entries == pytest.approx(2**13)
    with pytest.raises(CapacityError, match=r"would need 8.19e\+03 table entries"):
        engine.query()
    with pytest.raises(CapacityError, match=r"would need 8.19e\+03 table entries"):
        engine.predict_proba([{"p0": None}] * 3)
    assert engine.query({f"p{i}": "a" for i in range(8)})["child"]["a"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("ask", "error", "match"),
    [
        (lambda e: e.query({"Snow": "yes"}), UnknownColumnError, "there is no variable 'Snow'"),
        (lambda e: e.query({"Rain": "maybe"}), UnknownStateError, "'Rain' has no state 'maybe'"),
        (lambda e: e.query(variables=["Snow"]), UnknownColumnError, "there is no variable 'Snow'"),
        (
            lambda e: e.query(virtual_evidence={"Rain": [1, 2, 3]}),
            ParameterError,
            "needs a number for each of 'yes', 'no'",
        ),
        (lambda e: e.query(virtual_evidence={"Rain": [-1, 2]}), ParameterError, "must be finite and not negative"),
        (lambda e: e.query({"Rain": "yes"}, virtual_evidence={"Rain": [1, 2]}), ParameterError, "observed already"),
        (lambda e: e.query({"Rain": "yes"})["Rain"], ParameterError, "no posterior for 'Rain'"),
        (lambda e: e.joint([]), ParameterError, "a joint needs variables that differ"),
        (lambda e: e.joint(["Rain", "Rain"]), ParameterError, "a joint needs variables that differ"),
        (
            lambda e: e.most_probable({"Rain": "no", "Sprinkler": "no", "Wet": "yes"}),
            ImpossibleEvidenceError,
            "cannot be together",
        ),
        (
            lambda e: e.joint(["Rain"], {"Rain": "no", "Sprinkler": "no", "Wet": "yes"}),
            ImpossibleEvidenceError,
            "cannot be together",
        ),
        (
            lambda e: e.predict_proba([{"Rain": "maybe"}], handle_unknown="error"),
            UnknownStateError,
            "column 'Rain' has state 'maybe' in row 0",
        ),
        (
            lambda e: e.predict_proba([{"Rain": "yes"}], variables=["Wet"])["Rain"],
            ParameterError,
            "no posterior for 'Rain'",
        ),
    ],
)
def test_bad_questions(ask, error, match):
    with pytest.raises(error, match=match):
        ask(ExactInference(rain()))


def test_a_state_that_the_network_does_not_have_is_not_observed():
    engine = ExactInference(rain())
    with pytest.warns(BayeslearnWarning, match=r"1 value of 'Rain' \('maybe'\) not among the states"):
        found = engine.predict_proba([{"Rain": "maybe", "Wet": "yes"}, {"Rain": "yes", "Wet": "yes"}])
    np.testing.assert_allclose(
        found["Rain"], engine.predict_proba([{"Wet": "yes"}, {"Rain": "yes"}])["Rain"], rtol=1e-12
    )
