"""Tables and networks as values: laws, probabilities of cases, and what they say about mistakes."""

import copy
import pickle
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.distributions import Counts, Dirichlet
from bayeslearn.errors import (
    CycleError,
    DuplicateColumnError,
    EmptyTableError,
    MissingValuesError,
    ParameterError,
    ProbabilityError,
    ShapeError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.network import CPT, DAG, BayesianNetwork
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, as_table

A, B, C = (
    DiscreteVariable("A", ("yes", "no")),
    DiscreteVariable("B", ("low", "mid", "high")),
    DiscreteVariable("C", (0, 1)),
)
P_A = [0.25, 0.75]
P_B = [0.2, 0.3, 0.5]
P_C = [[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], [[0.4, 0.6], [1, 0], [0.5, 0.5]]]
STATES = {v.name: v.states for v in (A, B, C)}


def network(structure="[A][B][C|A:B]", tables=None, states=STATES, **options):
    tables = {"A": P_A, "B": P_B, "C": P_C} if tables is None else tables
    return BayesianNetwork.from_tables(structure, tables, states=states, **options)


@st.composite
def networks(draw, most=4):
    """Random arcs, sizes and tables, some of their entries zero."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    variables = [DiscreteVariable(f"v{i}", tuple(f"s{k}" for k in range(size))) for i, size in enumerate(sizes)]
    cpts = []
    for i, variable in enumerate(variables):
        parents = [p for p in variables[:i] if draw(st.booleans())]
        p = rng.random([v.n_states for v in (*parents, variable)]) * (rng.random(variable.n_states) < 0.8)
        p[..., 0] += 1e-3
        cpts.append(CPT(variable, parents, p / p.sum(axis=-1, keepdims=True)))
    return BayesianNetwork(cpts)


def every_case(net):
    return [dict(zip(net.variables, case, strict=True)) for case in product(*(net.states(n) for n in net.variables))]


### laws


@given(networks())
def test_the_joint_is_the_product_and_sums_to_one(net):
    cases = every_case(net)
    expected = []
    for case in cases:
        rows = [tuple(v.code_of(case[v.name]) for v in (*cpt.parents, cpt.variable)) for cpt in net]
        expected.append(np.prod([cpt.probabilities[row] for cpt, row in zip(net, rows, strict=True)]))
    joint = np.exp(net.log_joint(cases))
    np.testing.assert_allclose(joint, expected, rtol=1e-12)
    np.testing.assert_allclose(joint.sum(), 1, rtol=1e-12)


@given(networks(), st.randoms(use_true_random=False))
def test_the_order_of_variables_and_parents_is_irrelevant(net, random):
    turned = []
    for cpt in random.sample(net.cpts, len(net)):
        parents = random.sample(cpt.parents, len(cpt.parents))
        turned.append(CPT(cpt.variable, parents, cpt.reorder_parents([v.name for v in parents])))
    other = BayesianNetwork(turned)
    assert other == net
    assert net.isclose(other)
    cases = every_case(net)
    np.testing.assert_allclose(other.log_joint(cases), net.log_joint(cases), rtol=1e-12)


@given(st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_a_table_made_of_a_table_is_the_same_to_the_last_bit(size, seed):
    p = np.random.default_rng(seed).random((4, size)).round(3) + 1e-3
    first = CPT(
        DiscreteVariable("X", range(size)), (DiscreteVariable("Y", range(4)),), p / p.sum(axis=-1, keepdims=True)
    )
    second = CPT(first.variable, first.parents, first.probabilities)
    np.testing.assert_array_equal(second.probabilities, first.probabilities)


@given(networks())
def test_networks_can_be_copied_and_sent(net):
    net.log_joint(every_case(net))  # whatever it keeps goes along
    for twin in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert twin == net
        assert twin.dag == net.dag


### one table


def test_what_a_table_knows():
    cpt = CPT(C, (A, B), P_C)
    assert repr(cpt) == "CPT(C | A, B)"
    assert repr(CPT(A, (), P_A)) == "CPT(A)"
    assert (cpt.name, cpt.shape, cpt.n_parameters) == ("C", (2, 3, 2), 6)
    assert CPT(B, (), P_B).n_parameters == 2
    np.testing.assert_array_equal(cpt.reorder_parents(("B", "A")), np.swapaxes(P_C, 0, 1))


def test_a_table_is_frozen_and_apart_from_what_was_given():
    given_array = np.array(P_A)
    cpt = CPT(A, (), given_array)
    given_array[0] = 9
    np.testing.assert_array_equal(cpt.probabilities, P_A)
    with pytest.raises(ValueError, match="read-only"):
        cpt.probabilities[0] = 1


def test_a_learned_table_keeps_what_it_rests_on():
    cpt = CPT(A, (), P_A, counts=Counts([1.0, 3.0]), prior=Dirichlet([1.0, 3.0]))
    assert cpt.counts.total == 4
    with pytest.raises(ShapeError, match=r"the counts of 'A' must have shape \(2,\), that is 2 \(A\), got \(3,\)"):
        CPT(A, (), P_A, counts=Counts([1.0, 2.0, 3.0]))
    with pytest.raises(ShapeError, match=r"the prior of 'A' must have shape \(2,\), that is 2 \(A\), got \(1,\)"):
        CPT(A, (), P_A, prior=Dirichlet([1.0]))


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([[[0.5, 0.5]] * 3, [[0.5, 0.5], [0.5, 0.4], [0.5, 0.5]]], "for A=no, B=mid must be .* got 0.5, 0.4"),
        ([[[0.5, 0.5]] * 3, [[0.5, 0.5], [0.5, 0.5], [1.5, -0.5]]], "for A=no, B=high must be .* got 1.5, -0.5"),
        ([[[np.nan, 1], [0.5, 0.5], [1, 0]], [[0.5, 0.5]] * 3], "for A=yes, B=low must be .* got nan, 1.0"),
        ([[[np.inf, -np.inf], [1, 0], [1, 0]], [[0.5, 0.5]] * 3], "for A=yes, B=low must be .* got inf, -inf"),
    ],
)
def test_the_row_that_is_no_distribution_is_named(p, message):
    with pytest.raises(ProbabilityError, match=f"the row of 'C' {message}") as caught:
        CPT(C, (A, B), p)
    assert "divide each row by its sum" in caught.value.hint
    assert caught.value.details["row"].keys() == {"A", "B"}


def test_a_root_that_is_no_distribution_is_named():
    with pytest.raises(ProbabilityError, match=r"the row of 'A' must be probabilities that sum to 1, got 0.5, 0.6"):
        CPT(A, (), [0.5, 0.6])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: CPT(C, (A, B), P_B),
            ShapeError,
            r"the table of 'C' must have shape \(2, 3, 2\), that is 2 \(A\) x 3 \(B\) x 2 \(C\), got \(3,\)",
        ),
        (lambda: CPT(A, (), ["x", "y"]), ParameterError, "`table of A` must be numbers, got"),
        (lambda: CPT(C, (A,), [[0.5, 0.5], [1]]), ParameterError, "`table of C` must be numbers, got"),
        (lambda: CPT(A, (A,), [P_A, P_A]), ParameterError, "the table of 'A' names 'A' twice"),
        (lambda: CPT(C, (A, A), [[P_A, P_A]] * 2), ParameterError, "the table of 'C' names 'A' twice"),
        (
            lambda: CPT(C, (NumericVariable("x"),), [P_A]),
            ParameterError,
            "a table is over Discrete variables, got Numeric",
        ),
        (
            lambda: CPT(C, (A, B), P_C).reorder_parents(["A"]),
            ParameterError,
            "the parents of 'C' are 'A', 'B', got 'A'",
        ),
        (lambda: CPT(A, (), P_A).reorder_parents(["B"]), ParameterError, "the parents of 'A' are none, got 'B'"),
    ],
)
def test_bad_tables(make, error, message):
    with pytest.raises(error, match=message):
        make()


### a network


def test_what_a_network_knows():
    net = network(name="abc")
    assert repr(net) == "BayesianNetwork('abc': 3 variables, 2 arcs)"
    assert (len(net), net.variables, net.n_parameters) == (3, ("A", "B", "C"), 1 + 2 + 6)
    assert net.dag == DAG.parse("[A][B][C|A:B]")
    assert net.states("B") == ("low", "mid", "high")
    assert net["C"] is net.cpts[2]
    assert [cpt.name for cpt in net] == ["A", "B", "C"]
    assert "A" in net
    assert "Z" not in net
    assert net.schema == Schema([A, B, C])
    assert net.notes == ()


def test_ways_to_give_the_structure_and_the_states():
    net = network()
    assert network(DAG.parse("[B][A][C|A:B]")) == net
    assert network([("A", "C"), ("B", "C")]) == net
    assert network(states=Schema([C, B, A, NumericVariable("unused")])) == net
    assert network(DAG.parse("[A][B][C|B:A]"), {"A": P_A, "B": P_B, "C": np.swapaxes(P_C, 0, 1)}) == net
    assert BayesianNetwork(iter([CPT(C, (A, B), P_C), CPT(B, (), P_B), CPT(A, (), P_A)])) == net


def test_rounded_rows_are_divided_by_their_sum_and_noted():
    net = network("[A][B]", {"A": [0.33333, 0.66666], "B": P_B})
    assert net.notes == ("rows that did not sum to 1 exactly were divided by their sum: 'A'",)
    np.testing.assert_allclose(net["A"].probabilities, [1 / 3, 2 / 3], rtol=1e-12)
    assert network("[A]", {"A": [0.1 + 0.2, 0.7]}).notes == ()
    with pytest.raises(ProbabilityError, match="the row of 'A' must be"):
        network("[A]", {"A": [0.333, 0.666]})


### probabilities of cases


def test_the_joint_of_a_case():
    net = network()
    np.testing.assert_allclose(net.joint({"A": "no", "B": "high", "C": 0}), 0.75 * 0.5 * 0.5, rtol=1e-12)
    np.testing.assert_allclose(net.joint({"C": 1, "B": "mid", "A": "yes"}), 0.25 * 0.3 * 0.8, rtol=1e-12)


def test_an_impossible_case_has_log_probability_minus_infinity():
    net = network()
    impossible = {"A": "no", "B": "mid", "C": 1}
    assert net.joint(impossible) == 0
    assert net.log_joint([impossible])[0] == -np.inf


def test_log_joint_of_every_kind_of_data(tmp_path):
    net = network()
    columns = {"C": [0, 1, 1], "extra": ["x", "y", "z"], "B": ["high", "mid", "mid"], "A": ["no", "yes", "no"]}
    expected = np.append(np.log([0.75 * 0.5 * 0.5, 0.25 * 0.3 * 0.8]), -np.inf)
    pd.DataFrame(columns).to_csv(tmp_path / "cases.csv", index=False)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    kinds = [columns, rows, pd.DataFrame(columns), pl.DataFrame(columns), tmp_path / "cases.csv"]
    kinds += [as_table(columns, states=STATES), as_table(columns, schema=net.schema)]
    for data in kinds:
        np.testing.assert_allclose(net.log_joint(data), expected, rtol=1e-12)


def test_log_joint_of_many_states():
    big = DiscreteVariable("big", tuple(range(300)))
    p = np.random.default_rng(0).dirichlet(np.ones(300))
    net = BayesianNetwork([CPT(big, (), p), CPT(C, (big,), np.tile(P_A, (300, 1)))])
    expected = np.log(p) + np.log(0.75)
    np.testing.assert_allclose(net.log_joint({"big": range(300), "C": [1] * 300}), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"A": ["no"], "B": ["mid"]}, UnknownColumnError, "there is no column 'C'"),
        ({"A": ["no"], "B": ["mid"], "C": [2]}, UnknownStateError, "column 'C' has state 2 in row 0"),
        ({"A": ["no"] * 2, "B": ["mid", "?"], "C": [1, 1]}, MissingValuesError, "row 1 has no value for 'B'"),
        ({"A": [], "B": [], "C": []}, EmptyTableError, "the table has no rows"),
    ],
)
def test_cases_that_have_no_joint_probability(data, error, message):
    with pytest.raises(error, match=message):
        network().log_joint(data)


### as a value


def test_small_differences():
    net = network()
    near = network(tables={"A": [0.25 + 1e-13, 0.75 - 1e-13], "B": P_B, "C": P_C})
    assert net.isclose(near)
    assert net != near
    assert not net.isclose(network(tables={"A": [0.2501, 0.7499], "B": P_B, "C": P_C}))
    assert net.isclose(network(tables={"A": [0.2501, 0.7499], "B": P_B, "C": P_C}), atol=1e-3)


def test_different_arcs_states_and_things():
    net = network("[A][C]", {"A": P_A, "C": P_A})
    assert net != network("[A][C|A]", {"A": P_A, "C": [P_A, P_A]})
    assert net != network("[A][C]", {"A": P_A, "C": P_A}, states=STATES | {"A": ("no", "yes")})
    assert net != network("[A][C]", {"A": P_A, "C": P_A}, states=STATES | {"C": (False, True)})
    assert net != network("[A]", {"A": P_A})
    assert net != "a network"
    with pytest.raises(TypeError, match="unhashable"):
        hash(net)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BayesianNetwork(()), EmptyTableError, "a network needs at least one variable"),
        (lambda: BayesianNetwork([P_A]), ParameterError, r"a network is made of CPT tables, got \[0.25, 0.75\]"),
        (
            lambda: BayesianNetwork([CPT(A, (), P_A), CPT(A, (), P_A)]),
            DuplicateColumnError,
            "variable 'A' has two tables",
        ),
        (
            lambda: BayesianNetwork([CPT(C, (A,), [P_A, P_A])]),
            UnknownColumnError,
            "node 'C' has the parent 'A', which is not a node",
        ),
        (
            lambda: BayesianNetwork([CPT(A, (C,), [P_A, P_A]), CPT(C, (A,), [P_A, P_A])]),
            CycleError,
            "the arcs form a cycle: A → C → A",
        ),
        (
            lambda: BayesianNetwork([CPT(DiscreteVariable("A", ("no", "yes")), (), P_A), CPT(C, (A,), [P_A, P_A])]),
            ParameterError,
            "'C' sees its parent 'A' with the states 'yes', 'no', but these are 'no', 'yes'\n\nhint: give a variable",
        ),
        (
            lambda: BayesianNetwork([CPT(DiscreteVariable("C", (False, True)), (), P_A), CPT(A, (C,), [P_A, P_A])]),
            ParameterError,
            "'A' sees its parent 'C' with the states 0, 1, but these are False, True",
        ),
        (lambda: network("[A][Z]"), ParameterError, "no states given for 'Z'\n\nhint: every node of the graph"),
        (lambda: network("[A][B]", {"A": P_A}), ParameterError, "no table given for 'B'"),
        (lambda: network("[A]"), UnknownColumnError, "a table is given for 'B', 'C', not in the graph"),
        (lambda: network("[A]", 7), ParameterError, "`tables` must map names of variables to tables, got 7"),
        (lambda: network("[A]", {"A": P_A}, {"A": "yn"}), ParameterError, "states of column 'A' must be a list"),
        (lambda: network("[A]", {"A": P_A}, ["A"]), ParameterError, "`states` must map names"),
        (lambda: network()["a"], UnknownColumnError, "there is no variable 'a'\n\nhint: did you mean 'A'"),
    ],
)
def test_bad_networks(make, error, message):
    with pytest.raises(error, match=message):
        make()
