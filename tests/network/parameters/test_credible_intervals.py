"""How sure tables and answers are: against Beta quantiles, against enumeration, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from bayeslearn import read_network
from bayeslearn.distributions import Counts, Dirichlet
from bayeslearn.errors import EvidenceError, ImpossibleEvidenceError, ParameterError, UnknownStateError
from bayeslearn.network import CPT, BayesianNetwork, fit_parameters, query_interval
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.credible_intervals import drawn_tables, supports
from bayeslearn.tables import DiscreteVariable
from tests.oracle import networks as slow
from tests.properties import trials

AB = {"A": ["x", "y"], "B": ["u", "v"]}


def tack():
    """SPEC H8: a thumb tack on its head 80 times of 100, one imagined case of each kind before."""
    return fit_parameters("[Side]", {"Side": ["head"] * 80 + ["point"] * 20}, prior="laplace")


def learned(rows, *, prior="laplace", **options):
    frame = BayesianNetwork.from_tables("[A][B|A]", {"A": [0.5, 0.5], "B": np.full((2, 2), 0.5)}, states=AB)
    return fit_parameters(frame, [dict(zip("AB", row, strict=True)) for row in rows], prior=prior, **options)


ROWS = [("x", "u")] * 6 + [("x", "v")] * 2 + [("y", "v")] * 3


### tables


def test_the_thumb_tack_of_the_book():
    cpt = tack()["Side"]
    assert cpt.posterior.alpha.tolist() == [81, 21]
    assert cpt.probabilities[0] == pytest.approx(81 / 102, rel=1e-15)
    low, high = cpt.interval()
    np.testing.assert_allclose([low[0], high[0]], beta(81, 21).ppf([0.025, 0.975]), rtol=1e-12)
    assert str(cpt.support()) == "P(Side): 100 observed and 2 prior rows"


def test_every_cell_has_the_bounds_of_its_beta():
    cpt = learned(ROWS)["B"]
    low, high = cpt.interval(0.8)
    for i, k in np.ndindex(2, 2):
        a, rest = cpt.posterior.alpha[i, k], cpt.posterior.alpha[i, 1 - k]
        np.testing.assert_allclose([low[i, k], high[i, k]], beta(a, rest).ppf([0.1, 0.9]), rtol=1e-10)
    assert ((low < cpt.probabilities) & (cpt.probabilities < high)).all()


def test_a_row_that_rests_on_nothing_may_be_anything():
    low, high = learned([("x", "u"), ("x", "v")], prior=None)["B"].interval()
    assert (low[1].tolist(), high[1].tolist()) == ([0, 0], [1, 1])
    assert (low[0] > 0).all()
    one = CPT(DiscreteVariable("C", ["only"]), (), [1.0], Counts([0.0]))
    assert (one.interval()[0].tolist(), one.interval()[1].tolist()) == ([1], [1])


def test_what_rows_rest_on():
    network = learned(ROWS, prior="m:1")
    assert str(network["B"].support({"A": "y"})) == "P(B | A=y): 3 observed and 1 prior rows"
    found = {(row.variable, *row.given.values()): (row.n_observed, row.prior) for row in supports(network)}
    assert found == {("A",): (11, 1), ("B", "x"): (8, 1), ("B", "y"): (3, 1)}
    assert network["B"].support({"A": "y"}) in list(supports(network))
    fit = fit_parameters(network, [{"A": "x", "B": "v"}], prior="m:1")
    assert str(fit.fit_info.thin_rows(1)[0]) == "P(B | A=y): 0 observed and 1 prior rows"


def test_expected_cases_count_as_cases():
    network = learned(ROWS).update([{"A": "x", "B": "u"}, {"A": None, "B": "u"}])
    row = network["B"].support({"A": "x"})
    assert 9 < row.n_observed < 10
    assert row.n_observed + network["B"].support({"A": "y"}).n_observed == pytest.approx(13, rel=1e-12)


### answers


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_root_has_the_bounds_of_its_beta(level):
    n, tails = 4000, [(1 - level) / 2, (1 + level) / 2]
    found = query_interval(tack(), level=level, n_samples=n, random_state=1)["Side"]["head"]
    truth = beta(81, 21)
    assert abs(found.mean - 81 / 102) < 5 * truth.std() / np.sqrt(n)
    for bound, q in zip((found.low, found.high), tails, strict=True):
        x = truth.ppf(q)
        assert abs(bound - x) < 5 * np.sqrt(q * (1 - q) / n) / truth.pdf(x)  # the error of a sample quantile


def test_a_child_of_what_is_observed_has_the_bounds_of_its_row():
    n, truth = 4000, beta(7, 3)
    found = query_interval(learned(ROWS), {"A": "x"}, ["B"], n_samples=n, random_state=2)["B"]["u"]
    for bound, q in ((found.low, 0.025), (found.high, 0.975)):
        assert abs(bound - truth.ppf(q)) < 5 * np.sqrt(q * (1 - q) / n) / truth.pdf(truth.ppf(q))


@trials(25)
@given(seed=st.integers(0, 100_000), size=st.integers(1, 5))
def test_answers_are_those_of_every_drawn_network_by_enumeration(seed, size):
    truth = slow.random_network(seed, size)
    network = fit_parameters(truth, truth.sample(12, random_state=seed), prior="jeffreys")
    evidence = slow.random_evidence(network, seed)
    ask = [name for name in network.variables if name not in evidence] or list(network.variables)
    found = query_interval(network, evidence, ask, level=0.6, n_samples=7, random_state=seed)
    compiled = Compiled(network)
    codes = np.array([network.states(v).index(evidence[v]) if v in evidence else -1 for v in network.variables])
    kept = compiled.relevant([network.variables.index(v) for v in ask], codes >= 0)
    joints = [
        slow.given(renumbered(network, p), evidence)
        for p in drawn_tables(network, compiled, kept, 7, np.random.default_rng(seed))
    ]
    for name in ask:
        p = np.array([slow.marginal(joint, network.variables.index(name)) for joint in joints])
        got = np.array([[i.mean, i.low, i.high] for i in found[name].values()])
        np.testing.assert_allclose(got, np.vstack([p.mean(0), np.quantile(p, [0.2, 0.8], axis=0)]).T, atol=1e-12)


def renumbered(network, p):
    """The network with other numbers in its tables."""
    parts = np.split(p, np.cumsum([cpt.probabilities.size for cpt in network])[:-1])
    cpts = [CPT(c.variable, c.parents, part.reshape(c.shape)) for c, part in zip(network, parts, strict=True)]
    return BayesianNetwork(tuple(cpts))


def test_drawn_tables_have_the_mean_and_the_spread_of_the_posterior():
    network, n = learned(ROWS), 4000
    compiled = Compiled(network)
    tables = np.array(list(drawn_tables(network, compiled, compiled.all, n, np.random.default_rng(3))))
    np.testing.assert_allclose(tables[:, ::2] + tables[:, 1::2], 1.0, rtol=1e-12)
    alpha = np.concatenate([cpt.posterior.alpha.reshape(-1) for cpt in network])
    spread = beta(alpha, alpha[[1, 0, 3, 2, 5, 4]]).std()
    assert (
        np.abs(tables.mean(axis=0) - np.concatenate([c.probabilities.reshape(-1) for c in network])) < 5 * spread / 63
    ).all()
    np.testing.assert_allclose(tables.std(axis=0), spread, rtol=5 / np.sqrt(n))
    rows = np.corrcoef(tables[:, ::2].T) - np.eye(3)
    assert np.abs(rows).max() < 5 / np.sqrt(n)  # rows do not see each other


def test_the_same_seed_gives_the_same_answer():
    network = learned(ROWS)
    first, second = (query_interval(network, {"B": "u"}, random_state=seed) for seed in (5, np.random.default_rng(5)))
    assert first == second
    assert first != query_interval(network, {"B": "u"}, random_state=6)
    assert (first.level, first.n_samples, list(first.intervals)) == (0.95, 200, ["A"])
    assert first.to_dict()["intervals"]["A"]["x"].keys() == {"mean", "low", "high"}


def test_more_cases_make_surer_and_a_higher_level_less_so():
    few, many = learned(ROWS), learned(ROWS * 50)
    widths = [width(query_interval(network, {"B": "u"}, random_state=0)["A"]["x"]) for network in (few, many)]
    assert widths[1] < widths[0] / 4
    levels = [
        width(query_interval(few, {"B": "u"}, level=level, random_state=0)["A"]["x"]) for level in (0.5, 0.9, 0.99)
    ]
    assert levels == sorted(levels)


def width(interval):
    assert interval.low <= interval.mean <= interval.high
    return interval.high - interval.low


def test_virtual_evidence():
    network = learned(ROWS)
    hard = query_interval(network, {"B": "u"}, ["A"], random_state=4)["A"]["x"]
    virtual = query_interval(network, None, ["A"], virtual_evidence={"B": {"u": 1e-200, "v": 0.0}}, random_state=4)[
        "A"
    ]["x"]
    assert virtual.mean == pytest.approx(hard.mean, rel=1e-12)
    assert virtual.high == pytest.approx(hard.high, rel=1e-12)


def test_one_plan_serves_all_draws(monkeypatch):
    alarm = read_network("alarm")
    network = fit_parameters(alarm, alarm.sample(500, random_state=0), prior="bdeu:10")
    planned, made = [], Compiled._made
    monkeypatch.setattr(Compiled, "_made", lambda self, *given: planned.append(1) or made(self, *given))
    found = query_interval(network, {"CVP": "HIGH", "BP": "LOW"}, ["HYPOVOLEMIA"], n_samples=50, random_state=0)
    assert len(planned) == 1
    belief = network.query({"CVP": "HIGH", "BP": "LOW"})["HYPOVOLEMIA"]
    assert found["HYPOVOLEMIA"]["TRUE"].low < belief["TRUE"] < found["HYPOVOLEMIA"]["TRUE"].high


def test_what_is_given_is_certain():
    before = BayesianNetwork.from_tables("[A][B|A]", {"A": [0.3, 0.7], "B": np.full((2, 2), 0.5)}, states=AB)
    network = fit_parameters(before, [{"A": "x", "B": "u"}], frozen=["A"], prior="laplace")
    found = query_interval(network, random_state=0)
    certain = found["A"]["x"]
    assert [certain.mean, certain.low, certain.high] == pytest.approx([0.3] * 3, rel=1e-12)
    assert width(found["B"]["u"]) > 0.2
    seen = query_interval(network, {"B": "u"}, ["B"], random_state=0)["B"]["u"]
    assert (seen.mean, seen.low, seen.high) == (1, 1, 1)


def test_draws_under_which_the_evidence_is_impossible_are_left_out():
    """α so small that drawn probabilities are often zero: ln θ ~ −1/α, far below the smallest float."""
    a = DiscreteVariable("A", ("x", "y"))
    network = BayesianNetwork((CPT(a, (), [0.5, 0.5], prior=Dirichlet([1e-4, 1e-4])),))
    found = query_interval(network, {"A": "x"}, ["A"], n_samples=40, random_state=0)
    assert 0 < found.n_samples < 40


### what is refused


def test_a_row_that_matters_must_rest_on_something():
    network = learned([("x", "u"), ("x", "v")], prior=None)
    with pytest.raises(EvidenceError, match="the CPT row P\\(B \\| A=y\\) has neither data nor prior") as error:
        query_interval(network, variables=["B"])
    assert error.value.details["given"] == {"A": "y"}
    assert query_interval(network, variables=["A"], random_state=0)["A"]["x"].mean == 1  # B does not matter for it


def test_given_tables_say_nothing_of_how_sure_they_are():
    asia = read_network("asia")
    with pytest.raises(EvidenceError, match="the tables of network 'asia' were given, not learned"):
        query_interval(asia, {"smoke": "yes"}, ["lung"])
    for ask in (lambda cpt: cpt.posterior, lambda cpt: cpt.interval(), lambda cpt: cpt.support({"smoke": "yes"})):
        with pytest.raises(EvidenceError, match="the table of 'lung' was given, not learned"):
            ask(asia["lung"])
    assert list(supports(asia)) == []


def test_bad_questions():
    network = learned(ROWS)
    with pytest.raises(ParameterError, match="`level` must be below 1, got 95"):
        query_interval(network, level=95)
    with pytest.raises(ParameterError, match="`n_samples` must be at least 1, got 0"):
        query_interval(network, n_samples=0)
    with pytest.raises(ParameterError, match="no interval for 'A': it is not among the queried variables"):
        query_interval(network, variables=["B"], n_samples=2, random_state=0)["A"]
    with pytest.raises(UnknownStateError, match="has no state 'w'"):
        query_interval(network, {"B": "w"})
    with pytest.raises(ParameterError, match="a row of 'B' is named by the states of 'A', got none"):
        network["B"].support()
    with pytest.raises(UnknownStateError, match="has no state 'w'"):
        network["B"].support({"A": "w"})
    with pytest.raises(ImpossibleEvidenceError, match="B=v cannot be together"):
        query_interval(learned([("x", "u"), ("y", "u")], prior=None), {"B": "v"})
