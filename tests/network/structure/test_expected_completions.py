"""Completed tables: their counts are the expected ones, by enumeration and by inference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import ImpossibleDataError, ParameterError
from bayeslearn.network import fit_parameters
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.em_steps import Tables
from bayeslearn.network.parameters.training_cases import FoldedCases
from bayeslearn.network.structure.missing_data.incomplete_rows import Completions, threshold
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.tables import Table
from tests.oracle import networks as slow

seeds = st.integers(0, 10_000)


def with_holes(network, rows, seed, share=0.3, *, weighted=True):
    rng = np.random.default_rng(seed)
    table = network.sample(rows, random_state=seed)
    codes = np.where(rng.random(table.codes.shape) < share, -1, table.codes)
    return Table(table.schema, codes, table.values, rng.integers(0, 4, rows) / 2 if weighted else None)


def slow_counts(network, table):
    """Expected counts of all variables together: Σ_d w_d P(case | what d shows), one axis for each."""
    total = np.zeros([v.n_states for v in table.schema.discrete])
    for row, weight in zip(table.rows(), table.sample_weight, strict=True):
        p = slow.given(network, {name: state for name, state in row.items() if state is not None})
        total += weight * p / p.sum()
    return total


@given(seed=seeds, zeros=st.sampled_from([0.0, 0.4]))
def test_every_family_has_its_expected_counts(seed, zeros):
    network = slow.random_network(seed, 4, zeros=zeros)
    table = with_holes(network, 12, seed)
    joint = slow_counts(network, table)
    counts = FamilyCounts(Completions.of(table).under(network))
    for child, parent in itertools.permutations(range(4), 2):
        others = tuple(v for v in range(4) if v not in {child, parent})
        expected = np.moveaxis(joint.sum(axis=others), 0, 0 if parent < child else 1)
        np.testing.assert_allclose(counts.family(child, (parent,)), expected, rtol=1e-6, atol=1e-6)


@given(seed=seeds)
def test_families_of_the_network_have_what_inference_expects(seed):
    network = slow.random_network(seed, 6)
    table = with_holes(network, 40, seed)
    model = Tables(Compiled(network))
    inferred, _ = model.expected_statistics(FoldedCases.of(model.compiled, table))
    completed = fit_parameters(network, Completions.of(table, most=4**6).under(network), prior=None)
    counted = np.concatenate([cpt.observed_counts.n.reshape(-1) for cpt in completed])
    np.testing.assert_allclose(counted, inferred.n, rtol=1e-6, atol=1e-6)


def test_what_is_complete_stays_and_equal_rows_are_folded():
    table = slow.random_network(3, 5).sample(200, random_state=3)
    completions = Completions.of(table)
    assert completions.exact
    assert completions.under(slow.random_network(3, 5)) == table.distinct()


@given(seed=seeds)
def test_rows_with_many_completions_are_drawn(seed):
    network = slow.random_network(seed, 6)
    table = with_holes(network, 60, seed, 0.5)
    completions = Completions.of(table, most=3, draws=2, seed=seed)
    completed = completions.under(network)
    assert (completed.codes >= 0).all()
    assert completed.total_weight == pytest.approx(table.total_weight, rel=1e-9)
    assert completed == completions.under(network)
    shuffled = table.take(np.random.default_rng(seed).permutation(table.n_rows))
    again = Completions.of(shuffled, most=3, draws=2, seed=seed).under(network)
    assert rows_of(again) == pytest.approx(rows_of(completed), rel=1e-9)


def rows_of(table):
    return {tuple(codes): weight for codes, weight in zip(table.codes.T.tolist(), table.sample_weight, strict=True)}


def test_draws_are_on_average_what_is_expected():
    network = slow.random_network(11, 6)
    table = with_holes(network, 40, 11, 0.6)
    exact = FamilyCounts(Completions.of(table, most=4**6).under(network))
    drawn = [Completions.of(table, most=1, draws=1, seed=seed) for seed in range(100)]
    assert not any(completions.exact for completions in drawn)
    many = [FamilyCounts(completions.under(network)) for completions in drawn]
    for child, parent in itertools.permutations(range(6), 2):
        mean = np.mean([counts.family(child, (parent,)) for counts in many], axis=0)
        np.testing.assert_allclose(mean, exact.family(child, (parent,)), atol=1.5)


def test_a_row_is_listed_while_there_is_room():
    count = np.array([1.0, 1, 2, 2, 8, 64, 512])
    assert threshold(count, most=256, room=1000, draws=1) == 64
    assert threshold(count, most=256, room=20, draws=1) == 8
    assert threshold(count, most=256, room=13, draws=1) == 2
    assert threshold(count, most=256, room=0, draws=8) == 8  # to draw as many would be no cheaper
    assert threshold(np.array([2.0**80]), most=256, room=1000, draws=1) == 1


def test_impossible_rows_and_bad_numbers_are_named():
    network = fit_parameters("[a][b|a]", {"a": ["x", "y"], "b": ["x", "y"]}, prior=None)
    table = Table(network.schema, [[0, 0], [0, 1]], [])
    with pytest.raises(ImpossibleDataError, match="row 1"):
        Completions.of(table).under(network)
    with pytest.raises(ParameterError, match="`draws` must be at least 1"):
        Completions.of(table, draws=0)


def test_no_rows_are_no_completions():
    network = slow.random_network(1, 3)
    table = network.sample(5, random_state=1).with_weights(np.zeros(5))
    assert Completions.of(table).under(network).n_rows == 0
