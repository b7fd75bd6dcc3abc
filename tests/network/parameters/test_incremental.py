"""Evidence that comes, goes and fades: rows with holes against enumeration, what stays, and what is refused.

The laws for complete cases stand in tests/laws/test_networks.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayeslearn import read_network
from bayeslearn.distributions import Counts, Dirichlet
from bayeslearn.errors import (
    EvidenceError,
    ImpossibleDataError,
    MismatchError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.network import CPT, BayesianNetwork, NetworkPrior, fit_parameters
from bayeslearn.network.parameters.incremental import taken_back
from bayeslearn.tables import DiscreteVariable, Table
from tests.network.parameters.test_fit import expected_counts, with_holes
from tests.oracle import networks as slow

RAIN = {"Rain": ["yes", "no", "no", "yes", "no"], "Wet": ["yes", "no", "yes", "yes", "no"]}


def learned(data=RAIN, *, prior="laplace", structure="[Rain][Wet|Rain]", **options):
    return fit_parameters(structure, data, prior=prior, **options)


### rows with holes


@given(seed=st.integers(0, 100_000), n=st.integers(1, 5), rows=st.integers(1, 8), share=st.sampled_from([0.2, 1.0]))
def test_holes_add_what_the_present_tables_expect(seed, n, rows, share):
    truth = slow.random_network(seed, n)
    network = fit_parameters(truth, truth.sample(9, random_state=seed), prior="laplace")
    more = with_holes(truth, rows, seed + 1, share)
    after = network.update(more, forgetting_factor=0.5)
    counts, _ = expected_counts(network, more)
    for cpt in after:
        n_cells = 0.5 * network[cpt.name].counts.n + counts[cpt.name]
        np.testing.assert_allclose(cpt.counts.n, n_cells, rtol=0, atol=1e-11)
        np.testing.assert_allclose(cpt.probabilities, Dirichlet(n_cells + cpt.prior.alpha).mean(), rtol=1e-10)


def test_rows_that_em_learned_from_can_be_taken_back():
    """What is left is what was there less what the tables expect of the rows, whether EM had converged or not."""
    truth = read_network("asia")
    table = with_holes(truth, 60, 1)
    network = fit_parameters(truth, table, prior="laplace")
    left = network.remove(table.take(range(20)))
    every, gone, rest = (expected_counts(network, table.take(rows))[0] for rows in map(range, (0, 0, 20), (60, 20, 60)))
    for cpt in left:
        before = network[cpt.name].counts.n
        np.testing.assert_allclose(cpt.counts.n, before - gone[cpt.name], rtol=1e-12, atol=1e-12)
        last_step = before - every[cpt.name]  # how far the last step of EM moved the counts
        np.testing.assert_allclose(cpt.counts.n - rest[cpt.name], last_step, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(cpt.probabilities, Dirichlet(cpt.counts.n + cpt.alpha).mean(), rtol=1e-12)
    with pytest.raises(EvidenceError, match="more evidence on 'asia' removed than had been added"):
        left.remove(table)


@pytest.mark.filterwarnings("ignore::bayeslearn.errors.ConvergenceWarning")
def test_where_em_no_longer_moves_the_rest_is_what_the_tables_expect_of_it():
    truth = read_network("asia")
    table = with_holes(truth, 60, 1)
    network = fit_parameters(truth, table, prior="laplace", tol=0)
    for _ in range(80):  # gains are lost in rounding long before the counts come to rest
        network = fit_parameters(truth, table, prior="laplace", init=network, tol=0, max_iter=1)
    left = network.remove(table.take(range(20)))
    rest, _ = expected_counts(network, table.take(range(20, 60)))
    for cpt in left:
        np.testing.assert_allclose(cpt.counts.n, rest[cpt.name], rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(
    seed=st.integers(0, 100_000),
    n=st.integers(1, 5),
    share=st.sampled_from([0.0, 0.3, 0.6]),
    max_iter=st.integers(1, 4),
    prior=st.sampled_from(["laplace", None]),
)
@pytest.mark.filterwarnings("ignore::bayeslearn.errors.ConvergenceWarning")
def test_all_that_was_learned_can_be_taken_back(seed, n, share, max_iter, prior):
    truth = slow.random_network(seed, n)
    table, more = with_holes(truth, 12, seed, share), with_holes(truth, 5, seed + 1, share)
    assume((table.codes >= 0).any(axis=1).all())
    network = fit_parameters(truth, table, prior=prior, max_iter=max_iter)
    for taken, left in (([*range(12)], 0), ([*range(7)], table.sample_weight[7:].sum())):
        after = network.remove(table.take(taken))
        for cpt in after:
            assert cpt.counts.n.sum() == pytest.approx(left, rel=1e-12, abs=0)
            np.testing.assert_allclose(cpt.probabilities, table_of(cpt), rtol=1e-12, atol=1e-300)
    if prior is None:
        return  # rows that are new may be impossible
    back = network.update(more).remove(more)
    for cpt in back:
        assert cpt.counts.n.sum() == pytest.approx(table.sample_weight.sum(), rel=1e-12)
    if share == 0:
        assert back.isclose(network, rtol=1e-12)
    with pytest.raises(EvidenceError, match="removed than had been added"):
        network.remove(table).remove(more)


def table_of(cpt):
    """(n + α) / Σ (n + α), and what stands there where that is 0 / 0."""
    n = cpt.counts.n + cpt.alpha
    total = n.sum(axis=-1, keepdims=True)
    return np.where(total > 0, n / np.where(total > 0, total, 1), cpt.probabilities)


def test_rows_take_what_cells_have():
    """Cells that have too little give all of it, the others the rest; what rows show is never replaced."""
    before, none = Counts([[4.0, 1.0], [3.0, 0.0]]), Counts(np.zeros((2, 2)))
    gone = taken_back(before, none, Counts([[1.0, 2.0], [0.0, 1.0]]))
    np.testing.assert_allclose(gone.n, [[2.0, 1.0], [1.0, 0.0]], rtol=1e-12)
    exact = Counts([[1.5, 0.5], [1.0, 0.0]])
    assert taken_back(before, none, exact) == exact
    assert taken_back(before, Counts([[0.0, 2.0], [0.0, 0.0]]), none).n[0, 1] == 2  # an error in what follows
    assert taken_back(before, none, Counts(np.full((2, 2), 3.0))).n.tolist() == [[3, 3], [3, 3]]


def test_a_variable_that_is_never_shown():
    rng = np.random.default_rng(0)
    data = {name: rng.choice(["yes", "no"], 40) for name in "AB"}
    network = learned(data, structure="[H][A|H][B|H]", hidden={"H": 2})
    after = network.update(data, hidden=["H"])
    counts, _ = expected_counts(network, Table(network.schema, coded(network, data), np.empty((0, 40)), np.ones(40)))
    np.testing.assert_allclose(after["A"].counts.n, network["A"].counts.n + counts["A"], rtol=1e-10)
    assert after["H"].counts.total == pytest.approx(80, rel=1e-12)
    assert after.remove(data, hidden={"H": 2})["H"].counts.total == pytest.approx(40, rel=1e-12)
    with pytest.raises(UnknownColumnError, match="'H'"):
        network.update(data)


def coded(network, data):
    """Codes of columns in the order of the network, −1 where there is none."""
    n = len(next(iter(data.values())))
    return np.array(
        [[network.states(v).index(s) for s in data[v]] if v in data else [-1] * n for v in network.variables]
    )


def test_an_impossible_row_is_named():
    network = learned({"A": ["x", "x"], "B": ["u", "u"], "C": ["s", "t"]}, structure=three(), prior=None)
    rows = [{"A": "x", "B": None, "C": "s"}, {"A": "x", "B": None, "C": None}, {"A": "y", "B": "v", "C": "s"}]
    assert network.update(rows)["B"].counts.n.tolist() == [[4, 0], [0, 1]]
    with pytest.raises(ImpossibleDataError, match="row 1 has probability zero under the present tables") as error:
        network.update([rows[0], {"A": None, "B": "v", "C": "s"}])
    assert error.value.details["row"] == 1


def three():
    """A → B → C, with states of which the data will show some only."""
    tables = {"A": [0.5, 0.5], "B": np.full((2, 2), 0.5), "C": np.full((2, 2), 0.5)}
    return BayesianNetwork.from_tables(
        "[A][B|A][C|B]", tables, states={"A": ["x", "y"], "B": ["u", "v"], "C": ["s", "t"]}
    )


### what rests on nothing, and what was given


def test_a_row_without_evidence_stays_and_one_that_lost_it_is_even():
    before = BayesianNetwork.from_tables("[A][B|A]", {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]}, states=AB)
    network = fit_parameters(before, [{"A": "x", "B": "u"}], init=before, prior=None)
    assert network["B"].probabilities.tolist() == [[1.0, 0.0], [0.2, 0.8]]
    again = network.update([{"A": "x", "B": "v"}])
    assert again["B"].probabilities.tolist() == [[0.5, 0.5], [0.2, 0.8]]
    assert again.discount(0.0)["B"].probabilities.tolist() == [[0.5, 0.5], [0.2, 0.8]]
    assert network.remove([{"A": "x", "B": "u"}])["A"].probabilities.tolist() == [0.5, 0.5]


AB = {"A": ["x", "y"], "B": ["u", "v"]}


def test_given_tables_stay_as_they_are():
    before = BayesianNetwork.from_tables("[A][B|A]", {"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.2, 0.8]]}, states=AB)
    rows = [{"A": "x", "B": "v"}, {"A": "y", "B": "v"}]
    network = fit_parameters(before, rows, frozen=["A"], prior="laplace")
    after = network.update(rows) + network
    assert after["A"].probabilities.tolist() == [0.3, 0.7]
    assert not after["A"].is_learned
    assert after["B"].counts.n.tolist() == [[0, 2], [0, 2]]  # the network that was updated counts once
    assert (after + fit_parameters(network, rows[:1], frozen=["A"]))["B"].counts.n.tolist() == [[0, 3], [0, 2]]


def test_a_prior_alone_is_a_network_that_has_seen_nothing_yet():
    states = learned()["Rain"].variable
    network = BayesianNetwork((CPT(states, (), [0.8, 0.2], prior=Dirichlet([8.0, 2.0])),))
    assert network.update({"Rain": ["yes"] * 10})["Rain"].probabilities.tolist() == [0.4, 0.6]


def test_a_given_network_counts_as_cases_by_a_prior():
    asia, rows = read_network("asia"), read_network("asia").sample(50, random_state=0)
    prior = NetworkPrior(asia, 100)
    first, second = (
        fit_parameters(asia, part, prior=prior) for part in (rows.take(range(30)), rows.take(range(30, 50)))
    )
    whole = fit_parameters(asia, rows, prior=prior)
    assert (first + second).isclose(whole, rtol=1e-12)


### data as people have them


def test_files_weights_by_column_and_cuts(tmp_path):
    hours, late = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5, 8.5], ["no", "yes"] * 4
    network = fit_parameters("[hours][late|hours]", {"hours": hours, "late": late}, prior=None)
    (tmp_path / "more.csv").write_text("late,times,hours,note\nyes,3,0.5,a\nno,0.5,100,b\n")
    after = network.update(tmp_path / "more.csv", sample_weight="times")
    gained = after["hours"].counts.n - network["hours"].counts.n
    assert (gained[0], gained[-1], gained.sum()) == (3, 0.5, 3.5)


def test_the_network_itself_does_not_change():
    network = learned()
    p, n = network["Wet"].probabilities.copy(), network["Wet"].counts.n.copy()
    network.update(RAIN), network.remove(RAIN), network + network, network.discount(0.1)
    assert (network["Wet"].probabilities == p).all()
    assert (network["Wet"].counts.n == n).all()


def test_names_and_notes_are_those_of_the_first():
    a = BayesianNetwork(learned().cpts, "monday", ("by hand",))
    assert ((a + learned()).name, (a + learned()).notes, a.update(RAIN).name) == ("monday", ("by hand",), "monday")


### what is refused


def test_a_given_network_has_no_evidence_to_add_to():
    asia = read_network("asia")
    for act in (lambda: asia.update({}), lambda: asia.remove({}), lambda: asia.discount(0.5), lambda: asia + asia):
        with pytest.raises(
            EvidenceError, match=r"tables of network 'asia' were given, not learned[\s\S]*fit_parameters"
        ):
            act()
    with pytest.raises(EvidenceError, match="were given, not learned"):
        learned() - asia


def test_bad_rows():
    network = learned()
    with pytest.raises(UnknownStateError, match="state 'perhaps'"):
        network.update({"Rain": ["perhaps"], "Wet": ["no"]}, handle_unknown="error")
    with pytest.raises(UnknownStateError, match="state 'perhaps'"):
        network.remove({"Rain": ["perhaps"], "Wet": ["no"]})
    with pytest.raises(UnknownColumnError, match="'Wet'"):
        network.update({"Rain": ["yes"]})
    with pytest.raises(UnknownColumnError, match="there is no variable 'Snow'"):
        network.update(RAIN, hidden=["Snow"])
    with pytest.raises(ParameterError, match="`forgetting_factor` must be at most 1, got 90"):
        network.update(RAIN, forgetting_factor=90)
    with pytest.raises(ParameterError, match="`forgetting_factor` must be at least 0, got -1"):
        network.discount(-1)


def test_only_networks_add():
    with pytest.raises(TypeError, match="unsupported operand"):
        learned() + 1
    with pytest.raises(TypeError, match="unsupported operand"):
        1 + learned()
    with pytest.raises(TypeError, match="unsupported operand"):
        learned() - {}


@pytest.mark.parametrize(
    ("other", "differs", "message"),
    [
        (lambda: learned(structure="[Rain|Wet][Wet]"), "graph", "one of them has the arc 'Rain → Wet', 'Wet → Rain'"),
        (lambda: learned(RAIN | {"Sun": RAIN["Wet"]}, structure="[Rain][Wet|Rain][Sun]"), "graph", "variable 'Sun'"),
        (lambda: learned(RAIN | {"Wet": [0.5, 1.5, 2.5, 3.5, 4.5]}), "cuts", "the cuts of 'Wet' differ: none in one"),
        (lambda: learned(prior="jeffreys"), "prior", r"the priors of 'Rain' differ: Dirichlet\(α=\[1, 1\]\) and"),
        (lambda: learned(prior=None), "prior", "the priors of 'Rain' differ"),
        (lambda: learned(structure=learned(), frozen=["Wet"]), None, None),
        (lambda: given_wet(0.5), "tables", "the table of 'Wet' was learned in one of the networks and given in the"),
    ],
)  # fmt: skip
def test_networks_that_do_not_fit(other, differs, message):
    if differs is None:  # a frozen table keeps what it rests on
        assert (learned() + other())["Wet"].counts.n.sum() == 10
        return
    for act in (lambda: learned() + other(), lambda: learned() - other()):
        with pytest.raises(MismatchError, match=message) as error:
            act()
        assert error.value.details["differs"] == differs


def given_wet(p):
    """A network whose table of Wet was given, that of Rain learned."""
    network = learned()
    wet = CPT(network["Wet"].variable, network["Wet"].parents, [[p, 1 - p], [p, 1 - p]])
    return BayesianNetwork((network["Rain"], wet))


def test_given_tables_must_be_the_same():
    assert (given_wet(0.3) + given_wet(0.3))["Wet"].probabilities[0, 0] == 0.3
    with pytest.raises(MismatchError, match="the tables of 'Wet' were given, not learned, and differ"):
        given_wet(0.3) + given_wet(0.4)


def test_cuts_must_be_the_same():
    a, b = (fit_parameters("[x]", {"x": np.arange(40.0) + shift}, prior=None) for shift in (0, 0.5))
    variable = DiscreteVariable("x", a.states("x"), b["x"].variable.cuts)
    relabeled = BayesianNetwork((CPT(variable, (), a["x"].probabilities, a["x"].counts),))
    with pytest.raises(MismatchError, match="the cuts of 'x' differ"):
        a + relabeled


### two sites

NORTH = {"ward": ["er", "icu", "er", "er", "icu"], "ill": ["yes", "no", "yes", "no", "no"]}
SOUTH = {"ward": ["day", "icu", "er", "day"], "ill": ["no", "perhaps", "yes", "no"]}
ALL = {name: NORTH[name] + SOUTH[name] for name in NORTH}
ADDED = pytest.mark.filterwarnings("ignore:.*added to them")


@ADDED
@pytest.mark.parametrize("prior", ["auto", "bdeu:4", "laplace", "m:2", "jeffreys", None])
def test_fitted_apart_and_merged_is_fitted_together(prior):
    north = fit_parameters("[ward][ill|ward]", NORTH, prior=prior)
    south = fit_parameters(north, SOUTH)
    both = north + south
    assert both.states("ward") == ("er", "icu", "day")
    assert both.states("ill") == ("no", "yes", "perhaps")
    for together in (fit_parameters(north, ALL), fit_parameters(both, ALL), north.update(SOUTH)):
        assert together.schema == both.schema
        for cpt in both:
            other = together[cpt.name]
            np.testing.assert_allclose(cpt.counts.n, other.counts.n, rtol=0, atol=0)
            np.testing.assert_allclose(cpt.alpha, other.alpha, rtol=1e-12)
            np.testing.assert_allclose(cpt.probabilities, other.probabilities, rtol=1e-12)
    left = both - south
    assert left["ward"].counts.n.tolist() == [*north["ward"].counts.n.tolist(), 0]
    assert (left + south).isclose(both, rtol=1e-12)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("uvw")), min_size=1), st.integers(0, 30))
@ADDED
def test_any_split_of_the_rows_merges_to_the_whole(rows, cut):
    first, second = rows[: cut % len(rows) + 1], rows[cut % len(rows) :]
    one, two = ({"A": [a for a, _ in part], "B": [b for _, b in part]} for part in (first, second))
    a = fit_parameters("[A][B|A]", one)
    b = fit_parameters("[A][B|A]", two)  # without the network of the first: states in an order of their own
    both = a + b
    rows = {name: one[name] + two[name] for name in one}
    whole = fit_parameters("[A][B|A]", rows, states={name: both.states(name) for name in both.variables})
    for cpt in both:
        np.testing.assert_allclose(cpt.counts.n, whole[cpt.name].counts.n, rtol=0, atol=0)
        np.testing.assert_allclose(cpt.probabilities, whole[cpt.name].probabilities, rtol=1e-12)


def test_states_that_are_numbers_here_and_words_there():
    a = fit_parameters("[A]", {"A": [1, 2, 2]}, states={"A": [1, 2]})
    b = fit_parameters("[A]", {"A": ["1", "2", "x"]})
    assert (a + b).states("A") == (1, 2, "x")
    assert (a + b)["A"].counts.n.tolist() == [2, 3, 1]


def test_a_network_keeps_its_prior_unless_another_is_given():
    north = fit_parameters("[ward][ill|ward]", NORTH, prior="m:3")
    assert repr(fit_parameters(north, NORTH)["ill"].prior) == "Dirichlet(α₀=3 per row)"
    assert repr(fit_parameters(north, NORTH, prior="laplace")["ill"].prior) == "Dirichlet(α=1 per state)"
    assert repr(fit_parameters("[ward]", NORTH)["ward"].prior) == "Dirichlet(α₀=1 per table)"
    assert repr(fit_parameters(read_network("asia"), read_network("asia").sample(5, random_state=0))["tub"].prior) == (
        "Dirichlet(α₀=1 per table)"
    )
    counts_only = BayesianNetwork(tuple(CPT(c.variable, c.parents, c.probabilities, c.counts) for c in north))
    assert fit_parameters(counts_only, NORTH)["ill"].alpha.sum() == 0


@ADDED
def test_unseen_states_are_added_left_out_or_refused():
    north = fit_parameters("[ward][ill|ward]", NORTH)
    assert fit_parameters(north, SOUTH, handle_unknown="add").states("ward") == ("er", "icu", "day")
    with pytest.warns(match="treated as missing"):
        missing = fit_parameters(north, SOUTH, handle_unknown="missing")
    assert (missing.states("ward"), missing.fit_info.missing["ward"]) == (("er", "icu"), 2)
    with pytest.raises(UnknownStateError, match="'day'"):
        fit_parameters(north, SOUTH, handle_unknown="error")
    with pytest.warns(match=r"3 values of 'ward' \('day'\), 'ill' \('perhaps'\)"):
        north.update(SOUTH)


@ADDED
def test_unseen_states_in_many_files(tmp_path):
    north = fit_parameters("[ward][ill|ward]", NORTH)
    for name, rows in (("north", NORTH), ("south", SOUTH)):
        lines = [",".join(row) for row in zip(*rows.values(), strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["ward,ill", *lines]) + "\n")
    together = fit_parameters(north, [tmp_path / "north.csv", tmp_path / "south.csv"])
    assert together.isclose(north + fit_parameters(north, SOUTH), rtol=1e-12)
    assert north.update([tmp_path / "south.csv"]).isclose(together, rtol=1e-12)
