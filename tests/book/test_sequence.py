"""E5: forward-backward, Viterbi and Baum-Welch, against all paths and published values. E3: EM never falls."""

from __future__ import annotations

import csv
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import BayeslearnWarning, ConvergenceWarning
from bayeslearn.hmm import CategoricalEmissions, HiddenMarkovModel, fit_hmm
from bayeslearn.tables import DiscreteVariable
from tests.hmm.models import KINDS, model, with_holes
from tests.oracle import chains
from tests.properties import trials

### all paths


@trials(30)
@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 3),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=10),
    zeros=st.booleans(),
    told=st.booleans(),
)
def test_all_paths(seed, kind, n, lengths, zeros, told):
    rng = np.random.default_rng(seed)
    hmm = model(kind, n, rng, zeros)
    x, states = hmm.draw(lengths, rng)
    x = with_holes(x, rng)
    known = np.where(rng.random(len(x)) < 0.3, states, None) if told else None
    weights = rng.uniform(0.5, 2, len(lengths))
    data = hmm.sequences(x, lengths=lengths, known_states=known, sample_weight=weights)
    logs = hmm.emissions.log_prob(data.cells)
    if told:
        logs = np.where((data.known_states[:, None] >= 0) & (data.known_states[:, None] != np.arange(n)), -np.inf, logs)
    posterior, path = hmm.posterior(data), hmm.decode(data)
    first, moves, total = np.zeros(n), np.zeros((n, n)), 0.0
    gammas = np.zeros((len(x), n))
    for i, weight in enumerate(weights):
        rows = data.rows(i)
        log_p, gamma, pairs = chains.smooth(hmm.startprob, hmm.transmat, logs[rows])
        assert posterior.log_likelihood[i] == pytest.approx(log_p, rel=1e-10, abs=1e-10)
        np.testing.assert_allclose(posterior.probabilities[rows], gamma, rtol=0, atol=1e-10)
        best, value = chains.best(hmm.startprob, hmm.transmat, logs[rows])
        assert path.log_probability[i] == pytest.approx(value, rel=1e-10, abs=1e-10)
        if not np.isclose(sorted(v for _, v in chains.paths(hmm.startprob, hmm.transmat, logs[rows]))[-2:][0], value):
            assert path.codes[rows].tolist() == list(best)
        first, moves, total = first + weight * gamma[0], moves + weight * pairs, total + weight * log_p
        gammas[rows] = weight * gamma
    found, log_likelihood = hmm.expected_statistics(data)
    assert log_likelihood == pytest.approx(total, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(found["startprob"].n, first, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found["transmat"].n, moves, rtol=0, atol=1e-10)
    assert found["emissions"].isclose(hmm.emissions.gather(data.cells, gammas), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(hmm.log_likelihood(data), posterior.log_likelihood, rtol=1e-12)


### EM never falls


@pytest.mark.thorough
@trials(25)
@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 3),
    prior=st.sampled_from(["none", "m:1", "m:0.1"]),
    zeros=st.booleans(),
    told=st.booleans(),
    frozen=st.sets(st.sampled_from(["startprob", "transmat", "emissions"]), max_size=2),
)
def test_em_never_falls(seed, kind, n, prior, zeros, told, frozen):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, 9)
    x, states = model(kind, n, rng, zeros).draw(lengths, rng)
    x = with_holes(x, rng)
    known = np.where(rng.random(len(x)) < 0.2, states, None) if told else None
    begin = model(kind, n, rng)
    steps = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".*received no data", BayeslearnWarning)
        result = fit_hmm(
            x, init=begin, lengths=lengths, known_states=known, prior=prior, freeze=frozen, max_iter=6, tol=0,
            progress=steps.append,
        )  # fmt: skip
    steps = [now.detail for now in steps]
    assert all(step.gain >= -1e-9 * (1 + abs(step.objective)) for step in steps)
    for part in frozen:
        before, after = getattr(begin, part), getattr(result, part)
        assert (after is before) if part == "emissions" else np.array_equal(after, before)


### published values


def test_the_dishonest_casino(shared_data):
    with (shared_data / "sequences" / "casino.csv").open() as file:
        rows = list(csv.DictReader(file))
    rolls = CategoricalEmissions(DiscreteVariable("roll", tuple("123456")), [[1 / 6] * 6, [0.1] * 5 + [0.5]])
    casino = HiddenMarkovModel(("Fair", "Loaded"), [0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], rolls)
    x = [row["roll"] for row in rows]
    assert casino.log_likelihood(x)[0] == pytest.approx(-516.9277, abs=5e-5)
    path = casino.decode(x)
    assert path.log_probability[0] == pytest.approx(-539.4940, abs=5e-5)
    assert sum(a == row["state"] for a, row in zip(path.states, rows, strict=True)) == 272


@pytest.mark.compiled
@pytest.mark.parametrize(("states", "figure"), [(2, -341.8787), (3, -328.5275)])
def test_earthquakes(shared_data, states, figure):
    found = fit_hmm(
        shared_data / "sequences" / "earthquakes.csv", states, columns=["count"], emissions="poisson", prior="none",
        tol=1e-8, max_iter=2000,
    )  # fmt: skip
    assert found.fit_info.log_likelihood == pytest.approx(figure, abs=5e-5)
