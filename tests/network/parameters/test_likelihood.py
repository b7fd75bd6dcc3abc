"""How probable cases are: ln P of what each row shows, against enumeration and against exact inference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import fit_parameters, read_network
from bayeslearn.errors import EmptyTableError, UnknownStateError
from bayeslearn.network import LogLikelihood
from bayeslearn.network.parameters import em_steps as scoring
from bayeslearn.tables import Table
from tests.network.parameters.test_fit import with_holes
from tests.oracle import networks as slow

ASIA = read_network("asia")


### laws and the slow twin


@given(seed=st.integers(0, 100_000), n=st.integers(1, 6), share=st.sampled_from([0.0, 0.3, 1.0]))
def test_rows_are_as_probable_as_the_joint_says(seed, n, share):
    network = slow.random_network(seed, n, zeros=0.2)
    cases = slow.random_network(seed, n).sample(12, random_state=seed)  # other cases, some of them impossible
    holes = np.random.default_rng(seed).random(cases.codes.shape) < share
    table = Table(network.schema, np.where(holes, -1, cases.codes), cases.values)
    found = network.log_likelihood(table)
    for log_p, row in zip(found, table.rows(), strict=True):
        p = slow.given(network, {name: state for name, state in row.items() if state is not None}).sum()
        assert math.exp(log_p) == pytest.approx(p, rel=1e-10, abs=0)


@given(seed=st.integers(0, 100_000))
def test_two_ways_to_the_same_numbers(seed):
    network = slow.random_network(seed, 7)
    table = with_holes(network, 10, seed)
    np.testing.assert_allclose(
        network.log_likelihood(table), network.predict_proba(table).log_evidence, rtol=1e-11, atol=1e-11
    )
    full = network.sample(5, random_state=seed)
    np.testing.assert_allclose(network.log_likelihood(full), network.log_joint(full), rtol=1e-11, atol=1e-13)


def test_em_climbs_to_this_score():
    table = with_holes(ASIA, 80, 1)
    fit = fit_parameters(ASIA, table, prior="laplace")
    assert fit.score(table).log_likelihood == pytest.approx(fit.fit_info.log_likelihood, rel=1e-12)


def test_weight_two_is_the_row_twice():
    table = with_holes(ASIA, 60, 2).with_weights(None)
    weights = np.arange(60) % 3
    twice = ASIA.score(table.take(np.repeat(np.arange(60), weights)))
    weighted = ASIA.score(table.with_weights(weights))
    assert weighted.weight == twice.weight == weights.sum()
    assert weighted.log_likelihood == pytest.approx(twice.log_likelihood, rel=1e-12)
    assert weighted.bits == pytest.approx(twice.bits, rel=1e-12)
    np.testing.assert_allclose(weighted.per_row, ASIA.log_likelihood(table), rtol=1e-12)  # rows of weight zero too


def test_batches_are_the_whole(monkeypatch):
    table = with_holes(ASIA, 700, 3)
    whole = ASIA.log_likelihood(table)
    monkeypatch.setattr(scoring, "MOST_CELLS", 0)
    np.testing.assert_allclose(ASIA.log_likelihood(table), whole, rtol=1e-12)


### what the numbers mean


def test_bits_are_the_length_of_a_code():
    score = LogLikelihood(np.log([0.5, 0.25, 0.125]), np.array([2.0, 1.0, 1.0]))
    assert score.log_likelihood == pytest.approx(-7 * math.log(2), rel=1e-13)
    assert score.mean == pytest.approx(-7 / 4 * math.log(2), rel=1e-13)
    assert score.bits == pytest.approx(7 / 4, rel=1e-13)


def test_missing_cells_and_columns_are_summed_over():
    rows = [{"smoke": "yes", "xray": "yes"}, {"smoke": None}, {"town": "X", "tub": "?"}]
    np.testing.assert_allclose(
        ASIA.log_likelihood(rows), [ASIA.inference.log_evidence({"smoke": "yes", "xray": "yes"}), 0, 0], atol=1e-14
    )


def test_a_row_that_cannot_be_is_minus_infinity():
    rows = [
        {"tub": "yes", "either": "yes"},
        {"tub": "yes", "either": "no"},
        {"tub": "yes", "lung": "no", "either": "no"},
    ]
    score = ASIA.score(rows)
    assert np.isneginf(score.per_row).tolist() == [False, True, True]
    assert (score.impossible.tolist(), score.log_likelihood, score.bits) == ([1, 2], -math.inf, math.inf)
    weighed = LogLikelihood(score.per_row, np.array([1.0, 0.0, 0.0]))
    assert (weighed.impossible.tolist(), weighed.log_likelihood) == ([], score.per_row[0])


def test_no_cases():
    none = ASIA.score(ASIA.sample(3, random_state=0).take([]))
    assert (none.log_likelihood, none.weight, math.isnan(none.mean)) == (0, 0, True)


### mistakes


def test_mistakes_are_named():
    with pytest.raises(UnknownStateError, match="column 'smoke' has state 'maybe' in row 0"):
        ASIA.log_likelihood({"smoke": ["maybe"]}, handle_unknown="error")
    with pytest.raises(EmptyTableError, match="the table has no rows"):
        ASIA.score({"smoke": []})
