"""Models as values: files, sums, updates, filters, networks, samples; and the paths that few data take."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayeslearn import kernels
from bayeslearn.distributions import Dirichlet
from bayeslearn.errors import (
    BayeslearnWarning,
    ConvergenceWarning,
    EvidenceError,
    FormatError,
    ImpossibleDataError,
    MismatchError,
    ParameterError,
    ShapeError,
)
from bayeslearn.hmm import (
    CategoricalEmissions,
    GaussianEmissions,
    HiddenMarkovModel,
    MixtureEmissions,
    PoissonEmissions,
    fit_hmm,
    forward_backward,
    sequences,
)
from bayeslearn.tables import DiscreteVariable
from tests.hmm.models import KINDS, model, with_holes
from tests.properties import trials


def close(one, other, atol=1e-12):
    same = [np.allclose(a, b, rtol=1e-9, atol=atol) for a, b in zip(parameters(one), parameters(other), strict=True)]
    return all(same) and one.states == other.states


def parameters(hmm):
    emissions = [hmm.emissions]
    if isinstance(hmm.emissions, MixtureEmissions):
        emissions = [hmm.emissions, hmm.emissions.parts]
    fields = ("theta", "rate", "mean", "var", "covariance", "mixing_weights")
    return [hmm.startprob, hmm.transmat, *(getattr(e, f) for e in emissions for f in fields if hasattr(e, f))]


def few(kind, rng, n=2, **options):
    lengths = rng.integers(1, 9, 12)
    x = with_holes(model(kind, n, rng).draw(lengths, rng)[0], rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit_hmm(x, init=model(kind, n, rng), lengths=lengths, max_iter=3, **options), x, lengths


### files


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["m.json", "m.json.gz"])
def test_files_keep_all(tmp_path, kind, name):
    hmm, x, lengths = few(kind, np.random.default_rng(0))
    hmm.save(tmp_path / name)
    again = HiddenMarkovModel.load(tmp_path / name)
    assert close(hmm, again, atol=0)
    assert again.statistics.isclose(hmm.statistics, rtol=0, atol=0)
    assert close(hmm.update(x, lengths=lengths), again.update(x, lengths=lengths), atol=0)
    plain = model(kind, 2, np.random.default_rng(1))
    plain.save(tmp_path / name)
    assert HiddenMarkovModel.load(tmp_path / name).statistics is None


SPOILT = [
    ({"startprob": [0.5, 0.6]}, "sum to 1"),
    ({"states": ["a"]}, "states need"),
    ({"states": ["a", "a"]}, "more than once"),
    ({"states": [["a"], "b"]}, "'states' of a model is"),
    ({"transmat": [[1, 0], [0, "x"]]}, "not finite numbers"),
    ({"emissions": {"kind": "os.system"}}, "no emissions"),
    ({"emissions": {"kind": "poisson", "name": "n", "rate": [1]}}, "states need"),
    ({"prior": {"startprob": {}}}, "expected a prior"),
    ({"statistics": {"startprob": {"n": [-1, 2]}, "transmat": {"n": [[1, 1], [1, 1]]}, "emissions": {}}}, "below zero"),
    ({"frozen": ["hope"]}, "cannot freeze"),
    ({"version": 4}, "version 4"),
    ({"format": "other"}, "expected"),
    ({"more": 1}, "expected a model"),
]


@pytest.mark.parametrize(("change", "message"), SPOILT)
def test_spoilt_files(tmp_path, change, message):
    few("poisson", np.random.default_rng(0))[0].save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps(document | change))
    with pytest.raises(FormatError, match=message):
        HiddenMarkovModel.load(tmp_path / "m.json")


### evidence adds


@trials(15)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS))
def test_parts_add_up(seed, kind):
    rng = np.random.default_rng(seed)
    hmm = model(kind, 2, rng)
    lengths = rng.integers(1, 7, 11)
    x = with_holes(hmm.draw(lengths, rng)[0], rng)
    cut = int(lengths[:4].sum())
    one, other = (hmm.update(part, lengths=n) for part, n in ((x[:cut], lengths[:4]), (x[cut:], lengths[4:])))
    whole = hmm.update(x, lengths=lengths)
    assert (one.statistics + other.statistics).isclose(whole.statistics, rtol=1e-8, atol=1e-9)
    assert close(one.estimate(whole.prior, one.statistics + other.statistics), whole, atol=1e-8)
    assert (one + other).statistics.isclose(whole.statistics, rtol=1e-8, atol=1e-9)
    faded = one.update(x[:cut], lengths=lengths[:4], forgetting_factor=0.0)
    assert faded.statistics["startprob"].n.sum() == pytest.approx(4)


def test_only_like_models_add():
    rng = np.random.default_rng(0)
    one, other = few("poisson", rng)[0], few("gaussian", rng)[0]
    with pytest.raises(MismatchError, match="emissions differ"):
        _ = one + other
    empty = model("poisson", 2, rng)
    assert one + empty is one
    with pytest.raises(EvidenceError, match="no statistics"):
        _ = one - empty
    with pytest.raises(MismatchError, match="states differ"):
        _ = one + model("poisson", 3, rng)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_nothing(kind, monkeypatch):
    monkeypatch.setattr(sequences, "TASK_ROWS", 20)
    rng = np.random.default_rng(0)
    hmm = model(kind, 3, rng)
    lengths = rng.integers(1, 20, 30)
    x = hmm.draw(lengths, rng)[0]
    found = []
    for n in ("1", "2", "3"):
        monkeypatch.setenv("BAYESLEARN_THREADS", n)
        given = hmm.sequences(x, lengths=lengths)
        found.append(hmm.expected_statistics(given))
        assert len(given.stretches) > 5
        path = hmm.decode(given)
        for i in (0, 17, 29):  # a sequence by itself
            np.testing.assert_array_equal(hmm.decode(x[given.rows(i)]).codes, path.codes[given.rows(i)])
    assert found[0][1] == found[1][1] == found[2][1]
    assert found[0][0].isclose(found[1][0], rtol=0, atol=0)
    assert found[0][0].isclose(found[2][0], rtol=0, atol=0)


### far from what floats can hold


@trials(15)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), told=st.booleans())
def test_blocks_change_nothing(seed, kind, told):
    rng = np.random.default_rng(seed)
    hmm = model(kind, 2, rng)
    lengths = rng.integers(1, 9, 10)
    x, states = hmm.draw(lengths, rng)
    given = hmm.sequences(x, lengths=lengths, known_states=states if told else None)
    whole = hmm.expected_statistics(given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forward_backward, "BLOCK_BYTES", 8 * 2 * 8 * 3)  # three steps
        parts = hmm.expected_statistics(given)
    assert parts[1] == pytest.approx(whole[1], rel=1e-12)
    assert parts[0].isclose(whole[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("blocks", [False, True])
def test_what_is_too_improbable_for_floats(blocks, monkeypatch):
    """The first state must be left before the second explains what is seen: e^−5000 on the way, and yet exact."""
    if blocks:
        monkeypatch.setattr(forward_backward, "BLOCK_BYTES", 8 * 2 * 8)
    emissions = GaussianEmissions(("x",), [[0.0], [100.0]], [[1.0], [1.0]])
    hmm = HiddenMarkovModel(("a", "b"), [1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], emissions)
    x = [[100.0], [100.0], [0.0], [100.0]]
    got = hmm.posterior([x, [[0.0]], [[0.0], [100.0]]])
    logs = hmm.emissions.log_prob(np.array(x))
    paths = [logs[:k, 0].sum() + logs[k:, 1].sum() + np.log(0.5) * min(k, 3) for k in range(1, 5)]
    assert got.log_likelihood[0] == pytest.approx(np.logaddexp.reduce(paths), rel=1e-12)
    np.testing.assert_allclose(got.probabilities[:4, 1], [0, 0.8, 0.8, 1], atol=1e-11)
    assert hmm.log_likelihood([x])[0] == pytest.approx(got.log_likelihood[0], rel=1e-12)
    found, log_p = hmm.expected_statistics(hmm.sequences([x, [[0.0]], [[0.0], [100.0]]]))
    assert log_p == pytest.approx(got.log_likelihood.sum(), rel=1e-12)
    np.testing.assert_allclose(found["transmat"].n, [[0.4, 2], [0, 1.6]], atol=1e-9)
    assert found["emissions"].n.sum() == pytest.approx(7)


def test_long_sequences_keep_their_scale():
    rng = np.random.default_rng(0)
    hmm = model("categorical", 3, rng)
    x, _ = hmm.draw(2000, rng)
    halves = hmm.filter()
    for symbol in x:
        halves.update(symbol)
    assert hmm.log_likelihood(x)[0] == pytest.approx(halves.log_likelihood, rel=1e-10)


### impossible


CERTAIN = HiddenMarkovModel(
    ("a", "b"), [1, 0], [[0, 1], [1, 0]], CategoricalEmissions(DiscreteVariable("s", ("x", "y")), [[1, 0], [0, 1]])
)


def test_the_impossible_is_named():
    assert CERTAIN.log_likelihood([["x", "y"], ["x", "x"]]).tolist() == [0, -np.inf]
    for question in (CERTAIN.posterior, CERTAIN.decode, CERTAIN.update):
        with pytest.raises(ImpossibleDataError, match="sequence 1 is impossible at position 2"):
            question([["x", "y"], ["x", "y", "y"]])
    live = CERTAIN.filter()
    live.update("x")
    with pytest.raises(ImpossibleDataError, match="position 1"):
        live.update("x")
    assert live.update("y") == {"a": 0, "b": 1}
    assert live.predict(2) == {"a": 0, "b": 1}


### live


@trials(15)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS))
def test_filtering_is_smoothing_of_what_is_there(seed, kind):
    rng = np.random.default_rng(seed)
    hmm = model(kind, 3, rng)
    x = with_holes(hmm.draw(5, rng)[0], rng)
    live = hmm.filter()
    assert list(live.posterior.values()) == hmm.startprob.tolist()
    for t in range(5):
        beliefs = live.update(x[t])
        so_far = hmm.posterior(x[: t + 1])
        np.testing.assert_allclose(list(beliefs.values()), so_far.probabilities[-1], atol=1e-10)
        assert live.log_likelihood == pytest.approx(so_far.log_likelihood[0], rel=1e-9, abs=1e-9)
    blind = live.predict()
    np.testing.assert_allclose(list(live.update(None).values()), list(blind.values()), atol=1e-12)


@example([0.0, -0.5, -1.0, -10.0, -100.0, -366.0, -699.5, -720.0])
@given(st.lists(st.floats(-720, 0), min_size=8, max_size=8))
def test_exponentials(logs):
    b, log_p = np.empty((2, 8)), np.zeros(8)
    rows = np.stack([np.zeros(8), np.array(logs)], axis=1)
    kernels.lay_logs(rows, np.arange(8), np.ones(8, np.int64), b, log_p)
    np.testing.assert_allclose(b[0], 1, rtol=0)
    np.testing.assert_allclose(b[1], np.where(np.array(logs) < -700, 0, np.exp(logs)), rtol=1e-15)
    np.testing.assert_array_equal(log_p, 0)


### the network view


def test_the_network_says_the_same():
    rng = np.random.default_rng(0)
    hmm = model("categorical", 3, rng)
    net = hmm.to_network(5)
    x = ["a", None, "c", "b", "a"]
    seen = {f"symbol {t}": s for t, s in enumerate(x) if s is not None}
    beliefs, posterior = net.query(seen), hmm.posterior(x)
    for t in range(5):
        p = [beliefs[f"state {t}"][s] for s in hmm.states]
        np.testing.assert_allclose(p, posterior.probabilities[t], atol=1e-12)
    assert net.inference.log_evidence(seen) == pytest.approx(posterior.log_likelihood[0], rel=1e-12)


def test_numbers_enter_a_network_as_likelihoods():
    rng = np.random.default_rng(0)
    hmm = model("gaussian", 3, rng)
    x, _ = hmm.draw(4, rng)
    net = hmm.to_network(4)
    seen = np.exp(hmm.emissions.log_prob(x))
    beliefs = net.query(virtual_evidence={f"state {t}": list(p) for t, p in enumerate(seen)})
    posterior = hmm.posterior(x)
    for t in range(4):
        p = [beliefs[f"state {t}"][s] for s in hmm.states]
        np.testing.assert_allclose(p, posterior.probabilities[t], atol=1e-12)
    assert beliefs.log_evidence == pytest.approx(posterior.log_likelihood[0], rel=1e-12)


### dead states, structures, priors


def test_dead_states_are_told_of():
    x = np.array([0.0, 0.1, -0.1, 0.05] * 5)
    begin = HiddenMarkovModel(
        ("here", "far"), [1, 0], [[1, 0], [0.5, 0.5]], GaussianEmissions(("x",), [[0.0], [50.0]], [[1.0], [1.0]])
    )
    with pytest.warns(BayeslearnWarning, match="states 'far' received no data"):
        found = fit_hmm(x, init=begin, prior="none")
    assert found.states_without_data == ("far",)
    assert all(np.isfinite(p).all() for p in parameters(found))
    assert found.emissions.mean[1, 0] == 50


def test_left_right_stays_so():
    rng = np.random.default_rng(0)
    x = [np.concatenate([rng.normal(m, 0.3, 6) for m in (0, 5, -5)]) for _ in range(10)]
    found = fit_hmm(x, 3, topology="left_right", n_init=3)
    assert (found.transmat[np.tril_indices(3, -1)] == 0).all()
    assert found.transmat[0, 2] == 0
    assert found.startprob.tolist() == [1, 0, 0]
    np.testing.assert_allclose(found.emissions.mean[:, 0], [0, 5, -5], atol=0.5)


def test_some_states_known():
    rng = np.random.default_rng(0)
    truth = HiddenMarkovModel(
        ("low", "high"), [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], PoissonEmissions("calls", [3.0, 6.0])
    )
    x, states = truth.draw([100] * 5, rng)
    known = np.where(rng.random(500) < 0.3, states, None)
    found = fit_hmm(x, lengths=[100] * 5, known_states=known, emissions="poisson")
    assert found.states == ("high", "low")
    np.testing.assert_allclose(found.emissions.rate, [6, 3], atol=0.5)
    as_codes = [-1 if k is None else found.states.index(k) for k in known]
    again = found.posterior(x, lengths=[100] * 5, known_states=known)
    rows = [i for i, k in enumerate(as_codes) if k >= 0]
    np.testing.assert_array_equal(again.probabilities[rows].argmax(axis=1), [as_codes[i] for i in rows])


def test_priors_of_every_table():
    x = ["a", "b", "a", "a"]
    prior = {"startprob": Dirichlet([3, 1]), "transmat": "laplace", "emissions": "m:2"}
    found = fit_hmm(x, 2, prior=prior, symbols=["a", "b", "c"])
    assert (found.emissions.theta > 0).all()
    assert found.prior.startprob.alpha.tolist() == [3, 1]
    for told, message in (
        ({"hope": 1}, "no prior of 'hope'"), ("hope", "no prior 'hope'"), ("m:x", "no prior 'm:x'"),
        ({"emissions": "evidence"}, "prior .evidence. of emissions"),
        ({"startprob": "pooled:1"}, "of these probabilities"),
        ({"emissions": Dirichlet([1, 1])}, "no prior of a poisson"),
        ({"startprob": Dirichlet([1, 1, 1])}, "does not fit"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=message):
            fit_hmm([1, 2, 3], 2, emissions="poisson", prior=told)


def test_models_are_checked():
    rates = PoissonEmissions("n", [1.0, 2.0])
    with pytest.raises(ShapeError, match="2 states need"):
        HiddenMarkovModel(("a", "b"), [1.0], [[1.0]], rates)
    with pytest.raises(ParameterError, match="cannot freeze 'hope'"):
        HiddenMarkovModel(("a", "b"), [1, 0], [[1, 0], [0, 1]], rates, frozen={"hope"})
    with pytest.raises(ParameterError, match="sum to 1"):
        HiddenMarkovModel(("a", "b"), [1, 1], [[1, 0], [0, 1]], rates)


def test_what_a_model_says():
    hmm = HiddenMarkovModel(("a", "b"), [1, 0], [[0.75, 0.25], [0.5, 0.5]], PoissonEmissions("n", [1.0, 2.0]))
    assert hmm.expected_durations().tolist() == [4, 2]
    np.testing.assert_allclose(hmm.stationary_distribution(), [2 / 3, 1 / 3], rtol=1e-12)
    np.testing.assert_allclose(CERTAIN.stationary_distribution(), [0.5, 0.5], rtol=1e-12)
    assert "2 states: a, b; poisson" in repr(hmm)
    x, states = hmm.draw([3, 4], random_state=0)
    assert x.shape == states.shape == (7,)
    assert states[0] == states[3] == "a"
