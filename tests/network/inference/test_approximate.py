"""Sampled inference against enumeration: answers within their stated errors, and errors that are what they say."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayeslearn.errors import (
    BayeslearnWarning,
    ConvergenceWarning,
    ImpossibleEvidenceError,
    ParameterError,
    UnknownColumnError,
)
from bayeslearn.kernels.sampling import uniform
from bayeslearn.network import BayesianNetwork
from bayeslearn.network.formats import read_network
from bayeslearn.network.inference import approximate, forward_sampling, gibbs_sampling
from bayeslearn.network.inference.approximate import METHODS, Limits, SampledInference
from bayeslearn.network.inference.likelihood_weighting import WeightedCounts
from tests.oracle import networks as slow
from tests.properties import trials

seeds = st.integers(0, 100_000)
YES_NO = ["yes", "no"]


def rain(rain=0.2):
    return BayesianNetwork.from_tables(
        "[Rain][Sprinkler|Rain][Wet|Rain:Sprinkler]",
        {
            "Rain": [rain, 1 - rain],
            "Sprinkler": [[0.1, 0.9], [0.4, 0.6]],
            "Wet": [[[0.99, 0.01], [0.8, 0.2]], [[0.9, 0.1], [0.05, 0.95]]],
        },
        states=dict.fromkeys(("Rain", "Sprinkler", "Wet"), YES_NO),
    )


def scores(answer, exact):
    """How many standard errors each belief is off."""
    return np.array(
        [
            (p - exact[name][state]) / answer.errors[name][state]
            for name, belief in answer.beliefs.items()
            for state, p in belief.items()
            if answer.errors[name][state] > 0
        ]
    )


### uniform numbers


def words(seed, n):
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


def test_uniform_numbers_are_those_of_splitmix64():
    """The first outputs for the seed 1234567, as its authors publish them (counter 0 is the seed itself, mixed)."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    found = [uniform(np.uint64(1234567), i) for i in (1, 2, 3)]
    assert found == [(word >> 11) * 2.0**-53 for word in expected]


def test_uniform_numbers_are_uniform_and_independent():
    u = np.array([[uniform(key, i) for i in range(4000)] for key in words(0, 3)])
    assert ((u >= 0) & (u < 1)).all()
    for line in u:
        assert stats.kstest(line, "uniform").pvalue > 1e-3
        pairs = np.histogram2d(line[:-1], line[1:], bins=8, range=[[0, 1]] * 2)[0]
        assert stats.chisquare(pairs.reshape(-1)).pvalue > 1e-3
    assert abs(np.corrcoef(u) - np.eye(3)).max() < 4 / np.sqrt(4000)


### forward sampling


def chi_square(table, network):
    """The p-value of the frequencies of whole cases under a network."""
    p = slow.joint(network).reshape(-1)
    place = np.ravel_multi_index(table.codes.astype(int), [len(network.states(name)) for name in network.variables])
    counts = np.bincount(place, minlength=len(p))
    assert counts[p == 0].sum() == 0
    often = p * len(table) >= 5
    observed, expected = counts[often], p[often] * len(table)
    observed, expected = np.append(observed, counts[~often].sum()), np.append(expected, p[~often].sum() * len(table))
    seen = expected > 0
    return stats.chisquare(observed[seen], expected[seen] * observed[seen].sum() / expected[seen].sum()).pvalue


@pytest.mark.parametrize(("seed", "zeros"), [(1, 0.0), (2, 0.3), (3, 0.3), (4, 0.0)])
def test_frequencies_of_whole_cases(seed, zeros):
    network = slow.random_network(seed, 5, zeros=zeros)
    assert chi_square(network.sample(8000, random_state=seed), network) > 1e-3


def test_a_wrong_network_is_detected():
    table = rain(0.25).sample(8000, random_state=0)
    assert chi_square(table, rain(0.25)) > 1e-3
    assert chi_square(table, rain(0.2)) < 1e-6


def test_a_table_of_cases():
    network = read_network("asia")
    table = network.sample(100, random_state=0)
    assert (table.schema, table.n_rows, table.sample_weight, table.codes.dtype) == (network.schema, 100, None, np.int8)
    assert np.isfinite(network.log_joint(table)).all()
    assert network.sample(0, random_state=0).n_rows == 0


def test_the_seed_alone_decides(monkeypatch):
    network = slow.random_network(5, 6)
    monkeypatch.setenv("BAYESLEARN_THREADS", "1")
    one = network.sample(9000, random_state=7)
    answers = [
        SampledInference(network).query({"v1": "s0"}, method=m, n_samples=5000, random_state=3)
        for m in ("likelihood_weighting", "rejection")
    ]
    monkeypatch.setenv("BAYESLEARN_THREADS", "3")
    assert network.sample(9000, random_state=7) == one
    assert network.sample(9000, random_state=8) != one
    assert answers == [
        SampledInference(network).query({"v1": "s0"}, method=m, n_samples=5000, random_state=3)
        for m in ("likelihood_weighting", "rejection")
    ]


def test_batches_are_the_whole():
    network = rain()
    whole = network.sample(5000, random_state=1)
    parts = list(network.sample_batches(5000, random_state=1, batch_size=1999))
    assert [len(part) for part in parts] == [1999, 1999, 1002]
    assert type(whole).concat(parts) == whole


def test_many_states():
    p = np.random.default_rng(0).dirichlet(np.ones(300))
    network = BayesianNetwork.from_tables([], {"x": p}, states={"x": list(range(300))})
    table = network.sample(20_000, random_state=0)
    assert table.codes.dtype == np.int16
    assert chi_square(table, network) > 1e-3


def test_rounding_never_picks_an_impossible_state():
    p = np.array([[0.1] * 10 + [0.0], [0.0, 1.0] + [0.0] * 9])
    cdf = forward_sampling.cumulative(p)
    assert cdf[0, 9] == cdf[0, 10] == 1
    assert cdf[1].tolist() == [0.0] + [1.0] * 10


### weighted counts add

log_weights = st.lists(st.floats(-800, 800) | st.just(-np.inf), max_size=6)


def counted(logs):
    return WeightedCounts.of(np.array(logs, float), np.arange(len(logs))[None] % 2, starts=[0, 2])


@given(a=log_weights, b=log_weights)
def test_batch_is_whole(a, b):
    b = b[:-1] if len(a) % 2 else b  # so that the parity of a row is the same in both
    a = a[:-1] if len(a) % 2 else a
    assert (counted(a) + counted(b)).isclose(counted(a + b))
    assert (counted(b) + counted(a)).isclose(counted(a) + counted(b))
    assert (2 * counted(a)).isclose(counted(a) + counted(a))


def test_formulas_by_hand():
    w = np.array([1.0, 2.0, 3.0, 4.0])
    total = WeightedCounts.of(np.log(w), np.array([[0, 1, 0, 1]]), starts=[0, 2])
    p = np.array([0.4, 0.6])
    assert total.p == pytest.approx(p)
    assert total.effective_size == pytest.approx(100 / 30)
    assert total.log_evidence == pytest.approx(np.log(2.5))
    assert total.log_evidence_error == pytest.approx(w.std() / 2 / w.mean())
    x = np.array([1, 0, 1, 0])
    assert total.errors[0] == pytest.approx(np.sqrt((w**2 * (x - 0.4) ** 2).sum()) / 10)


### against enumeration


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_within_five_standard_errors(method, seed):
    network = slow.random_network(seed, 5)
    evidence = dict(itertools.islice(slow.random_evidence(network, seed, share=0.5).items(), 2))
    hidden = next(name for name in network.variables if name not in evidence and len(network.states(name)) > 1)
    likelihoods = {hidden: np.linspace(0.2, 0.9, len(network.states(hidden)))}
    exact = network.query(evidence, virtual_evidence=likelihoods)

    answer = SampledInference(network).query(
        evidence, virtual_evidence=likelihoods, method=method, n_samples=8000, random_state=seed
    )

    assert set(answer.beliefs) == set(network.variables) - set(evidence)
    assert abs(scores(answer, exact)).max(initial=0) < 5
    assert answer.precision < 0.1
    for belief in answer.beliefs.values():
        assert sum(belief.values()) == pytest.approx(1, rel=1e-9)
    if method != "gibbs":
        assert answer.log_evidence == pytest.approx(exact.log_evidence, abs=5 * answer.log_evidence_error)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("method", "runs", "n"), [("likelihood_weighting", 120, 600), ("rejection", 120, 600), ("gibbs", 40, 2048)]
)
def test_standard_errors_are_calibrated(method, runs, n, monkeypatch):
    """Scores of many runs are standard normal: χ² of their squares within its 99.98 % interval."""
    monkeypatch.setattr(gibbs_sampling, "BURN_IN", 50)
    network, evidence = rain(), {"Wet": "yes"}
    exact = network.query(evidence)
    engine = SampledInference(network)
    answers = [engine.query(evidence, method=method, n_samples=n, random_state=seed) for seed in range(runs)]
    for name in ("Rain", "Sprinkler"):
        z = np.array([(a[name]["yes"] - exact[name]["yes"]) / a.errors[name]["yes"] for a in answers])
        assert abs(z.mean()) < 4 / np.sqrt(runs)
        low, high = stats.chi2(runs).ppf([1e-4, 1 - 1e-4]) / runs
        assert low < (z**2).mean() < high * 1.1  # a little more, for the errors are estimates themselves
    if method != "gibbs":
        z = np.array([(a.log_evidence - exact.log_evidence) / a.log_evidence_error for a in answers])
        assert 0.6 < (z**2).mean() < 1.6


@pytest.mark.parametrize("method", METHODS)
def test_a_wrong_answer_is_detected(method):
    answer = SampledInference(rain()).query({"Wet": "yes"}, method=method, n_samples=8000, random_state=0)
    assert abs(scores(answer, rain().query({"Wet": "yes"}))).max() < 5
    assert abs(scores(answer, rain(0.3).query({"Wet": "yes"}))).max() > 5


def test_gibbs_is_the_same_on_any_number_of_threads(monkeypatch):
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BAYESLEARN_THREADS", threads)
        found.append(SampledInference(rain()).query({"Wet": "yes"}, method="gibbs", n_samples=1024, random_state=5))
    assert found[0] == found[1]
    assert found[0] != SampledInference(rain()).query({"Wet": "yes"}, method="gibbs", n_samples=1024, random_state=6)


def test_gibbs_joins_batches_without_losing_any(monkeypatch):
    monkeypatch.setattr(gibbs_sampling, "KEPT_BATCHES", 16)
    monkeypatch.setattr(approximate, "ROUND", 512)
    seen = []
    with pytest.warns(ConvergenceWarning, match="stopped after .* draws"):
        answer = SampledInference(rain()).query(
            {"Wet": "yes"},
            method="gibbs",
            precision=1e-6,
            n_samples=5000,
            random_state=0,
            progress=lambda now: seen.append(now.detail),
        )
    assert [step.draws for step in seen][-1] == answer.draws >= 5000
    assert len(seen) > 3
    assert sum(answer["Rain"].values()) == pytest.approx(1, rel=1e-9)
    assert abs(scores(answer, rain().query({"Wet": "yes"}))).max() < 5


@trials(15)
@given(seed=seeds)
def test_asking_for_a_few_draws_only_what_matters(seed):
    network = slow.random_network(seed, 5)
    name = network.dag.order[0]
    answer = SampledInference(network).query(variables=[name], n_samples=200, random_state=seed)
    assert set(answer.beliefs) == set(answer.errors) == {name}
    p = network[name].probabilities
    assert np.abs(np.array(list(answer[name].values())) - p).max() < 0.25


def test_weights_do_not_underflow():
    names = [f"c{i}" for i in range(300)]
    tables = {"root": [0.5, 0.5]} | {name: [[0.0011, 0.9989], [0.001, 0.999]] for name in names}
    network = BayesianNetwork.from_tables([("root", n) for n in names], tables, states={n: ["a", "b"] for n in tables})
    seen = dict.fromkeys(names, "a")
    logs = np.log(0.5) + 300 * np.log([0.0011, 0.001])
    answer = SampledInference(network).query(seen, n_samples=500, random_state=0)
    assert answer.log_evidence < -2000
    assert answer.log_evidence == pytest.approx(np.logaddexp(*logs), abs=0.5)
    chains = SampledInference(network).query(seen, method="gibbs", n_samples=512, random_state=0)
    assert chains["root"]["a"] == pytest.approx(1 / (1 + np.exp(logs[1] - logs[0])), rel=1e-9)


### when it stops


def test_stops_at_the_precision():
    answer = SampledInference(rain()).query({"Wet": "yes"}, precision=0.02, random_state=0)
    assert answer.precision <= 0.02
    assert answer.draws == approximate.ROUND


def test_stops_at_n_and_says_when_it_is_not_precise():
    with pytest.warns(ConvergenceWarning, match=r"stopped after 500 draws at a standard error of .* asked for 0\.001"):
        answer = SampledInference(rain()).query({"Wet": "yes"}, precision=0.001, n_samples=500, random_state=0)
    assert answer.draws == 500


def test_stops_in_time():
    assert SampledInference(rain()).query({"Wet": "yes"}, time_limit=1e-6, random_state=0).draws == approximate.ROUND


def test_progress_may_stop_it():
    seen = []

    def watch(now):
        seen.append(now.detail)
        raise StopIteration

    answer = SampledInference(rain()).query(precision=1e-6, random_state=0, progress=watch)
    assert [step.draws for step in seen] == [answer.draws] == [approximate.ROUND]
    assert seen[0].error == answer.precision


def test_the_nearest_limit_moves_the_bar():
    assert Limits.of(4000, None, None).share(1000, 0.02) == pytest.approx(0.25, rel=1e-12)
    assert Limits.of(4000, 0.01, None).share(1000, 0.02) == pytest.approx(0.25, rel=1e-12)
    assert Limits.of(None, 0.016, None).share(1000, 0.02) == pytest.approx(0.64, rel=1e-12)
    assert Limits.of(None, None, None).share(1000, 0.01) == pytest.approx(0.25, rel=1e-12)
    assert Limits.of(None, 0.1, None).share(1000, 0.0) == pytest.approx(0.001, rel=1e-12)
    late = Limits(None, None, 2.0, time.perf_counter() - 1.5)
    assert late.share(1000, np.inf) == pytest.approx(0.75, abs=0.1)


def test_what_was_seen_is_certain_and_nothing_hidden_is_no_question():
    answer = SampledInference(rain()).query({"Rain": "yes"}, variables=["Rain"], n_samples=100, random_state=0)
    assert answer["Rain"] == {"yes": 1.0, "no": 0.0}
    assert answer.precision == 0
    for method in METHODS:
        everything = {"Rain": "yes", "Sprinkler": "no", "Wet": "yes"}
        assert SampledInference(rain()).query(everything, method=method, n_samples=2000, random_state=0).beliefs == {}


def test_an_unseen_state_is_not_certain_not_to_be():
    network = BayesianNetwork.from_tables([], {"x": [1e-7, 1 - 1e-7]}, states={"x": YES_NO})
    answer = SampledInference(network).query(n_samples=1000, random_state=0)
    assert answer["x"]["yes"] == 0
    assert answer.errors["x"]["yes"] == pytest.approx(1 / 1002)


### how it fails


@pytest.mark.filterwarnings("ignore:the tables of 'either' hold zeros")
@pytest.mark.parametrize("method", METHODS)
def test_impossible_evidence(method, monkeypatch):
    monkeypatch.setattr(gibbs_sampling, "START_TRIES", 4096)
    engine, evidence = SampledInference(read_network("asia")), {"tub": "no", "lung": "no", "either": "yes"}
    expected = r"none of \d+ draws agrees with the evidence: tub=no, lung=no, either=yes"
    with pytest.raises(ImpossibleEvidenceError, match=expected) as caught:
        engine.query(evidence, method=method, n_samples=2000, random_state=0)
    assert caught.value.details["conflict"] == ["tub", "lung", "either"]
    assert "exact inference" in caught.value.hint


def test_gibbs_warns_of_zeros_and_of_chains_that_disagree():
    copy = BayesianNetwork.from_tables(
        "[A][B|A]", {"A": [0.5, 0.5], "B": [[1.0, 0.0], [0.0, 1.0]]}, states={"A": YES_NO, "B": YES_NO}
    )
    with (
        pytest.warns(BayeslearnWarning, match="the tables of 'B' hold zeros"),
        pytest.warns(BayeslearnWarning, match="the 4 Gibbs chains disagree after 1024 sweeps: split R̂ is inf"),
    ):
        answer = SampledInference(copy).query(method="gibbs", n_samples=1024, random_state=0)
    assert answer.rhat == np.inf
    assert answer.precision > 0.1


def test_gibbs_does_not_warn_of_zeros_that_evidence_takes_out():
    copy = BayesianNetwork.from_tables(
        "[A][B|A]", {"A": [0.5, 0.5], "B": [[1.0, 0.0], [0.0, 1.0]]}, states={"A": YES_NO, "B": YES_NO}
    )
    answer = SampledInference(copy).query({"B": "yes"}, method="gibbs", n_samples=512, random_state=0)
    assert answer["A"]["yes"] == 1
    assert answer.rhat == 1


@pytest.mark.parametrize(
    ("ask", "error", "match"),
    [
        (
            lambda: SampledInference(rain()).query(method="guess"),
            ParameterError,
            "unexpected value for `method`: 'guess'",
        ),
        (lambda: SampledInference(rain()).query(n_samples=0), ParameterError, "`n_samples` must be at least 1, got 0"),
        (lambda: SampledInference(rain()).query(precision=0), ParameterError, "`precision` must be above 0"),
        (lambda: SampledInference(rain()).query(time_limit=-1), ParameterError, "`time_limit` must be above 0"),
        (
            lambda: SampledInference(rain()).query(random_state="x"),
            ParameterError,
            "`random_state` must be a seed or a numpy Generator",
        ),
        (lambda: SampledInference(rain()).query(variables=["Snow"]), UnknownColumnError, "there is no variable 'Snow'"),
        (
            lambda: SampledInference(rain()).query(variables=["Wet"], n_samples=9)["Rain"],
            ParameterError,
            "no posterior for 'Rain'",
        ),
        (lambda: rain().sample(-1), ParameterError, "`n_samples` must be at least 0, got -1"),
    ],
)
def test_bad_questions(ask, error, match):
    with pytest.raises(error, match=match):
        ask()
