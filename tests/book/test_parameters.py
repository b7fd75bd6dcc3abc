"""Figures of parameter estimation: H2 (closed form), H8 and N2 of the specification."""

from fractions import Fraction

import numpy as np
import pytest

from bayeslearn.distributions import Bernoulli, Beta, Categorical, Dirichlet

TACK = [1] * 80 + [0] * 20


def test_h2_coin_two_heads_of_three():
    coin = Bernoulli()
    assert coin.estimate(coin.fit([1, 1, 0], prior=Beta.none())) == pytest.approx(2 / 3, rel=1e-15)
    assert coin.estimate(coin.fit([1, 1, 0], prior=Beta.uniform()), how="mode") == pytest.approx(2 / 3, rel=1e-15)


def test_h2_thumb_tack_in_closed_form():
    tack = Bernoulli()
    ml = tack.estimate(tack.fit(TACK, prior=Beta.none()))
    assert ml == pytest.approx(0.8, rel=1e-15)
    grid = np.arange(1, 10) / 10
    log_likelihood = tack.log_prob(grid, TACK).sum(axis=0)
    assert grid[log_likelihood.argmax()] == pytest.approx(ml, rel=1e-15)


def test_h8_thumb_tack_with_a_uniform_prior():
    tack = Bernoulli()
    posterior = tack.fit(TACK, prior=Beta(1, 1))
    assert repr(posterior) == "Beta(a=81, b=21)"
    assert tack.predictive(posterior).mean() == pytest.approx(float(Fraction(81, 102)), rel=1e-15)
    np.testing.assert_allclose(np.exp(tack.predictive(posterior).log_prob([1, 0])), [81 / 102, 21 / 102], rtol=1e-14)


def test_h8_is_the_dirichlet_of_two_states():
    coded = [0] * 80 + [1] * 20
    posterior = Categorical(2).fit(coded, prior=Dirichlet.laplace())
    np.testing.assert_array_equal(posterior.alpha, [81, 21])
    np.testing.assert_allclose(posterior.mean(), [81 / 102, 21 / 102], rtol=1e-15)


@pytest.mark.parametrize("m", [0, 1, 2, 10, 0.5])
def test_n2_m_estimate_of_strong_given_no(m):
    """Three of five: (3 + m/2) / (5 + m)."""
    wind = [1, 1, 1, 0, 0]
    expected = (3 + m / 2) / (5 + m)
    assert Bernoulli().fit(wind, prior=Beta.m_estimate(m, p=1 / 2)).mean() == pytest.approx(expected, rel=1e-15)
    assert Categorical(2).fit(wind, prior=Dirichlet.m_estimate(m, p=[0.5, 0.5])).mean()[1] == pytest.approx(
        expected, rel=1e-15
    )
    assert Categorical(2).fit(wind, prior=Dirichlet.m_estimate(m)).mean()[1] == pytest.approx(expected, rel=1e-15)


def test_n2_no_cases_is_the_fraction():
    assert Bernoulli().fit([1, 1, 1, 0, 0], prior=Beta.m_estimate(0, p=0.9)).mean() == pytest.approx(3 / 5, rel=1e-15)
