"""Missing cells filled: the most probable completion, draws and distributions, against the enumerated joint."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import BayesianNetwork, as_table, fit_parameters, kernels, read_network
from bayeslearn.errors import CapacityError, EmptyTableError, ImpossibleEvidenceError, ParameterError, UnknownStateError
from bayeslearn.network import missing_beliefs
from bayeslearn.network.inference.junction_tree import ExactInference
from bayeslearn.network.parameters import em_steps
from bayeslearn.tables import DiscreteVariable, Schema, Table
from tests.oracle import networks as slow

ASIA = read_network("asia")


def with_holes(network, n, seed, share=0.4):
    """Cases of a network as it draws them, some cells missing."""
    cases, rng = network.sample(n, random_state=seed), np.random.default_rng(seed)
    return Table(cases.schema, np.where(rng.random(cases.codes.shape) < share, -1, cases.codes), cases.values)


def shown(row):
    return {name: state for name, state in row.items() if state is not None}


### laws and the slow twin


@given(seed=st.integers(0, 100_000), n=st.integers(1, 7), zeros=st.sampled_from([0.0, 0.3]))
def test_no_completion_is_more_probable(seed, n, zeros):
    network = slow.random_network(seed, n, zeros=zeros)
    table = with_holes(network, 12, seed)
    full = network.impute(table)
    assert (full.schema, (full.codes >= 0).all()) == (network.schema, True)
    for before, codes in zip(table.rows(), full.codes.T, strict=True):
        joint = slow.given(network, shown(before))
        assert joint[tuple(codes)] == pytest.approx(joint.max(), rel=1e-9)


@given(seed=st.integers(0, 100_000), how=st.sampled_from(["most_probable", "sample"]), n=st.integers(1, 20))
def test_what_is_shown_stays_and_what_is_missing_is_possible(seed, how, n):
    network = slow.random_network(seed, n, zeros=0.3)
    table = with_holes(network, 8, seed)
    full = network.impute(table, method=how, random_state=seed)
    np.testing.assert_array_equal(full.codes[table.codes >= 0], table.codes[table.codes >= 0])
    assert np.isfinite(network.log_joint(full)).all()


@pytest.mark.parametrize("seed", range(8))
def test_draws_are_from_the_joint_posterior_of_all_that_is_missing(seed):
    """Frequencies of whole completions, each within five standard errors √(p (1 − p) / n)."""
    network = slow.random_network(seed, 5, zeros=0.2 * (seed % 2))
    row = with_holes(network, 1, seed, share=0.7)
    n = 20_000 if not kernels_are_slow() else 2000
    full = network.impute(row.take(np.zeros(n, int)), method="sample", random_state=seed)
    joint = slow.given(network, shown(row.row(0)))
    for case in itertools.product(*map(range, joint.shape)):
        p = joint[case] / joint.sum()
        found = (full.codes.T == case).all(axis=1).mean()
        assert abs(found - p) <= 5 * np.sqrt(p * (1 - p) / n)


def test_groups_of_one_row_are_drawn_apart():
    """Two coins that nothing joins: all four outcomes come up, equal rows or not."""
    coin = ["head", "tail"]
    network = BayesianNetwork.from_tables([], {"a": [0.5, 0.5], "b": [0.5, 0.5]}, states={"a": coin, "b": coin})
    n = 4000
    full = as_table(
        network.impute({"a": [None] * n, "b": [None] * n}, method="sample", random_state=1), schema=network.schema
    )
    counts = np.bincount(full.codes[0] * 2 + full.codes[1], minlength=4)
    assert np.abs(counts - n / 4).max() <= 5 * np.sqrt(n * 3 / 16)


def test_more_variables_than_bits_in_a_word():
    """A chain of 150 coins that each show what the one before shows: one of them tells all."""
    same = [[1.0, 0.0], [0.0, 1.0]]
    names = [f"x{i}" for i in range(150)]
    network = BayesianNetwork.from_tables(
        itertools.pairwise(names),
        {name: same if i else [0.5, 0.5] for i, name in enumerate(names)},
        states={name: ["head", "tail"] for name in names},
    )
    for how in ("most_probable", "sample"):
        shown = [{"x70": "tail"}, {"x149": "head", "x3": "head"}]
        full = network.impute(as_table(shown, schema=network.schema, missing_columns="missing"), method=how)
        assert full.codes.T.tolist() == [[1] * 150, [0] * 150]


@pytest.mark.parametrize("seed", range(6))
def test_beliefs_of_cells_are_those_of_the_joint(seed):
    network = slow.random_network(seed, 6, zeros=0.2 * (seed % 2))
    table = with_holes(network, 15, seed)
    rows, found = list(table.rows()), missing_beliefs(network, table)
    assert len(found) == (table.codes < 0).sum()
    assert {(cell.row, cell.variable) for cell in found} == {
        (i, name) for i, row in enumerate(rows) for name, state in row.items() if state is None
    }
    for cell in found:
        expected = slow.marginal(slow.given(network, shown(rows[cell.row])), network.variables.index(cell.variable))
        assert tuple(cell.p) == network.states(cell.variable)
        np.testing.assert_allclose(list(cell.p.values()), expected, rtol=1e-10, atol=1e-14)
    order = [(cell.row, network.variables.index(cell.variable)) for cell in found]
    assert order == sorted(order)


def kernels_are_slow():
    return not hasattr(kernels.complete_items, "signatures")


### same seed, same answer


def test_a_seed_draws_the_same_on_any_number_of_threads(monkeypatch):
    table = with_holes(ASIA, 300, 2)
    first = ASIA.impute(table, method="sample", random_state=5)
    assert ASIA.impute(table, method="sample", random_state=5) == first
    assert ASIA.impute(table, method="sample", random_state=6) != first
    for threads in ("1", "3"):
        monkeypatch.setenv("BAYESLEARN_THREADS", threads)
        assert ASIA.impute(table, method="sample", random_state=5) == first


def test_batches_are_the_whole(monkeypatch):
    table = with_holes(ASIA, 700, 3)
    whole = [ASIA.impute(table), ASIA.impute(table, method="sample", random_state=5)]
    monkeypatch.setattr(em_steps, "MOST_CELLS", 0)
    assert [ASIA.impute(table), ASIA.impute(table, method="sample", random_state=5)] == whole


def test_a_row_does_not_depend_on_those_beside_it():
    table = with_holes(ASIA, 200, 4)
    alone = Table.concat(ASIA.impute(row) for row in table.batches(1))
    together = ASIA.impute(table)
    assert (ASIA.log_joint(alone) - ASIA.log_joint(together)).max() == pytest.approx(0, abs=1e-12)


### kinds of data


def test_a_frame_with_missing_cells_and_a_column_of_no_interest():
    frame = pd.DataFrame({"smoke": ["yes", None], "xray": ["?", "yes"], "town": ["X", None]}, index=[7, 7])
    full = ASIA.impute(frame)
    first, second = ASIA.most_probable({"smoke": "yes"}).case, ASIA.most_probable({"xray": "yes"}).case
    wanted = {"smoke": ["yes", second["smoke"]], "xray": [first["xray"], "yes"], "town": ["X", None]}
    pd.testing.assert_frame_equal(full, pd.DataFrame(wanted, index=[7, 7]))
    table = ASIA.impute(as_table(frame, schema=ASIA.schema, missing_columns="missing"))
    assert (table.schema, table.row(0), table.row(1)) == (ASIA.schema, first, second)


def test_numbers_come_back_as_intervals_on_demand():
    hours = DiscreteVariable.from_cuts("hours", [2.0, 4.0])
    network = BayesianNetwork.from_tables(
        "[play][hours|play]",
        {"play": [0.5, 0.5], "hours": [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]},
        states=Schema([DiscreteVariable("play", ["no", "yes"]), hours]),
    )
    full = network.impute({"play": ["no", None, "yes"], "hours": [1.5, 9, None]}, as_intervals=True)
    assert full == {"play": ["no", "yes", "yes"], "hours": [hours.states[0], hours.states[2], hours.states[2]]}


def test_a_hidden_variable_is_filled_and_weights_stay():
    data = {"A": ["x", "x", "y", "y"] * 5, "B": ["u", "u", "v", "v"] * 5}
    network = fit_parameters("[H][A|H][B|H]", data, hidden={"H": 2}, prior="laplace")
    full = network.impute(Table(network.schema, with_holes(network, 9, 1).codes, np.empty((0, 9)), np.arange(9.0)))
    assert (full.codes >= 0).all()
    np.testing.assert_array_equal(full.sample_weight, np.arange(9.0))
    assert len(set(network.impute(as_table(data, schema=network.schema, missing_columns="missing")).column("H"))) == 2


def test_nothing_missing_and_nothing_there():
    cases = ASIA.sample(5, random_state=0)
    assert ASIA.impute(cases) == ASIA.impute(cases, method="sample") == cases
    assert len(missing_beliefs(ASIA, cases)) == 0
    none = cases.take([])
    assert ASIA.impute(none) == none
    assert len(missing_beliefs(ASIA, none)) == 0


### mistakes


@pytest.mark.parametrize("how", ["most_probable", "sample"])
def test_an_impossible_row_is_numbered_in_the_whole_table(how, monkeypatch):
    monkeypatch.setattr(em_steps, "MOST_CELLS", 0)
    rows = [{"tub": "yes", "either": "yes"}] * 600 + [{"tub": "yes", "either": "no"}]
    message = "the evidence of row 600 is impossible: tub=yes, either=no cannot be together"
    with pytest.raises(ImpossibleEvidenceError, match=message) as caught:
        ASIA.impute(rows, method=how)
    assert caught.value.details["row"] == 600
    known = {"tub": "yes", "lung": "no", "either": "no"}  # one family, shown altogether
    with pytest.raises(ImpossibleEvidenceError, match="of row 1 is impossible: tub=yes, either=no"):
        ASIA.impute([{"tub": "no"}, known], method=how)
    with pytest.raises(ImpossibleEvidenceError, match=message):
        missing_beliefs(ASIA, rows)


def test_mistakes_are_named():
    with pytest.raises(ParameterError, match="unexpected value for `method`: 'mean'"):
        ASIA.impute({"smoke": ["yes"]}, method="mean")
    with pytest.raises(UnknownStateError, match="column 'smoke' has state 'maybe' in row 0"):
        ASIA.impute({"smoke": ["maybe"]}, handle_unknown="error")
    with pytest.raises(EmptyTableError, match="the table has no rows"):
        ASIA.impute({"smoke": []})
    with pytest.raises(ParameterError, match="`random_state` must be a seed"):
        ASIA.impute({"smoke": ["yes"]}, method="sample", random_state="luck")


def test_what_does_not_fit_in_memory_is_refused(monkeypatch):
    init = ExactInference.__init__
    monkeypatch.setattr(ExactInference, "__init__", lambda self, network: init(self, network, memory_limit=64))
    with pytest.raises(CapacityError, match="exact inference would need"):
        read_network("alarm").impute([{"CVP": "HIGH"}])
