"""Weights with log loss are the posterior of Bayes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import BernoulliNB

from bayeslearn.errors import ImpossibleDataError, MismatchError, ParameterError, ProbabilityError, ShapeError
from bayeslearn.hypotheses import FiniteSpace
from bayeslearn.online import BayesMixture

SIDES = ["head", "tail", "edge"]


@st.composite
def coins(draw):
    """Experts that give fixed probabilities, a prior, and throws."""
    n = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.dirichlet([1, 1, 1], n), rng.dirichlet(np.ones(n)), rng.choice(SIDES, draw(st.integers(1, 8))).tolist()


def mixture_of(p, prior):
    return BayesMixture([(f"h{i}", lambda _, row=row: row) for i, row in enumerate(p)], classes=SIDES, prior=prior)


@given(coins())
def test_weights_are_the_posterior(coin):
    p, prior, throws = coin
    space = FiniteSpace.from_table(p, names=[f"h{i}" for i in range(len(p))], outcomes=SIDES)
    posterior, mixture, loss = space.posterior(prior.tolist()), mixture_of(p, prior), 0.0
    for side in throws:
        given = mixture.predict_proba_one(None)
        assert given == pytest.approx(posterior.predictive(), rel=1e-9)
        loss -= math.log(given[side])
        posterior, mixture = posterior.update(side), mixture.learn_one(None, side)
    assert mixture.weights == pytest.approx(posterior.probabilities, rel=1e-9)
    assert mixture.statistics.isclose(posterior.statistics)
    assert mixture.log_loss == pytest.approx(loss, rel=1e-9)
    assert mixture.log_loss == pytest.approx(-posterior.log_marginal_likelihood, rel=1e-9)


@given(coins())
def test_regret_is_at_most_the_code_length_of_the_best(coin):
    p, prior, throws = coin
    mixture = mixture_of(p, prior).partial_fit([None] * len(throws), throws)
    assert mixture.regret <= mixture.bound + 1e-9


@given(coins(), st.integers(0, 8))
def test_mixtures_add(coin, at):
    p, prior, throws = coin
    parts = [mixture_of(p, prior).partial_fit([None] * len(t), t) for t in (throws[:at], throws[at:])]
    whole = mixture_of(p, prior).partial_fit([None] * len(throws), throws)
    merged = parts[0] + parts[1]
    assert merged.statistics.isclose(whole.statistics)
    assert merged.weights == pytest.approx(whole.weights, rel=1e-9)
    assert merged.regret <= merged.bound + 1e-9


def test_classifiers_and_streams():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), np.array(["a", "a", "b", "b"] * 5)
    good, poor = BernoulliNB().fit(X[:, :1], y), BernoulliNB().fit(X[:, 1:], y)
    asked = {"good": lambda x: good.predict_proba([x[:1]])[0], "poor": lambda x: poor.predict_proba([x[1:]])[0]}
    mixture = BayesMixture(asked, classes=["a", "b"]).partial_fit(X, y)
    assert mixture.best == "good"
    assert mixture.predict(X).tolist() == y.tolist()
    stream = BayesMixture(["good", "poor"], classes=["a", "b"])
    stream.partial_fit([{"good": asked["good"](x), "poor": {"a": 0.5, "b": 0.5}} for x in X], y)
    assert stream.weights == pytest.approx(mixture.weights, rel=1e-9)
    whole = BayesMixture([BernoulliNB().fit(X, y)], classes=["b", "a"])
    assert whole.predict_proba(X)[:, ::-1] == pytest.approx(BernoulliNB().fit(X, y).predict_proba(X))


def test_bad_input():
    coin = {"fair": lambda _: [0.5, 0.5], "sure": lambda _: [1.0, 0.0]}
    mixture = BayesMixture(coin, classes=[0, 1])
    with pytest.raises(ImpossibleDataError, match="probability zero under every expert"):
        BayesMixture({"sure": coin["sure"]}, classes=[0, 1]).learn_one(None, 1)
    with pytest.raises(ProbabilityError, match=r"'off' gives \[0.5, 0.6\] in round 0"):
        BayesMixture({"off": lambda _: [0.5, 0.6]}, classes=[0, 1]).predict_one(None)
    with pytest.raises(ProbabilityError, match="no probabilities"):
        BayesMixture({"nan": lambda _: [math.nan, 1]}, classes=[0, 1]).predict_one(None)
    with pytest.raises(ShapeError, match="not a probability for each"):
        BayesMixture({"label": lambda _: 1}, classes=[0, 1]).predict_one(None)
    with pytest.raises(ShapeError, match="expected advice of 2 experts, got 1 in round 0"):
        BayesMixture(2, classes=[0, 1]).predict_one([[0.5, 0.5]])
    with pytest.raises(ShapeError, match="a label for each of 1 rounds, got 2"):
        mixture.partial_fit([None], [0, 1])
    with pytest.raises(MismatchError, match="same experts and labels"):
        mixture + BayesMixture(coin, classes=[1, 0])
    with pytest.raises(MismatchError, match="same prior"):
        mixture + BayesMixture(coin, classes=[0, 1], prior=[1, 2])
    with pytest.raises(ParameterError, match="not a table of labels"):
        BayesMixture(np.zeros((2, 2)), classes=[0, 1])
