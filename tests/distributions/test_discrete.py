"""Categorical, Bernoulli, Poisson and finite families: examples, forms of prior, and what is refused."""

import numpy as np
import pytest

from bayeslearn.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    FiniteHypotheses,
    FinitePrior,
    Gamma,
    LogLikelihoods,
    Poisson,
    PoissonStatistics,
)
from bayeslearn.errors import (
    DataError,
    EvidenceError,
    ImpossibleDataError,
    ImproperPriorError,
    ParameterError,
    ProbabilityError,
    ShapeError,
)

### Dirichlet


@pytest.mark.parametrize(
    ("prior", "text", "alpha"),
    [
        (Dirichlet.laplace(), "Dirichlet(α=1 per state)", [[1, 1], [1, 1]]),
        (Dirichlet.jeffreys(), "Dirichlet(α=0.5 per state)", [[0.5, 0.5], [0.5, 0.5]]),
        (Dirichlet.none(), "Dirichlet(α=0 per state)", [[0, 0], [0, 0]]),
        (Dirichlet.m_estimate(3), "Dirichlet(α₀=3 per row)", [[1.5, 1.5], [1.5, 1.5]]),
        (
            Dirichlet.m_estimate(4, p=[0.25, 0.75]),
            "Dirichlet(α₀=4 per row, spread as [0.25, 0.75])",
            [[1, 3], [1, 3]],
        ),
        (Dirichlet.bdeu(10), "Dirichlet(α₀=10 per table)", [[2.5, 2.5], [2.5, 2.5]]),
    ],
)
def test_rules_wait_for_a_shape(prior, text, alpha):
    assert repr(prior) == text
    np.testing.assert_array_equal(prior.of((2, 2)).alpha, alpha)
    assert prior != Dirichlet.laplace()


def test_rules_with_a_shape_are_priors():
    assert repr(Dirichlet.laplace(3)) == "Dirichlet(α=[1, 1, 1])"
    assert Dirichlet.bdeu(6, shape=(3, 2)).alpha.tolist() == [[1, 1]] * 3
    assert Dirichlet.bdeu(6, shape=(0, 2)).alpha.shape == (0, 2)
    assert Dirichlet([2, 3]).strength == 5


def test_dirichlet_mode_and_its_borders():
    np.testing.assert_allclose(Dirichlet([3, 2, 1]).mode(), [2 / 3, 1 / 3, 0], rtol=1e-15)
    np.testing.assert_allclose(Dirichlet([0.5, 3]).mode(), [0, 1], rtol=1e-15)
    with pytest.raises(EvidenceError, match=r"no single most probable value: no entry of α is above 1 \(row 1\)"):
        Dirichlet([[2, 2], [1, 1]]).mode()


def test_dirichlet_without_cases():
    empty = Dirichlet.none((2, 3))
    for ask in (empty.mean, empty.draw, empty.interval):
        with pytest.raises(EvidenceError, match=r"is undefined: it is based on no rows \(row 0\)"):
            ask()
    with pytest.raises(ImproperPriorError, match="its density and evidence are undefined"):
        Dirichlet([1, 0]).log_pdf([0.5, 0.5])
    with pytest.raises(ImproperPriorError, match=r"evidence are undefined \(row 0\)"):
        Categorical(3).log_evidence(Dirichlet.none(), Categorical(3).zero((2,)))


def test_dirichlet_is_sure_where_it_saw_one_state_only():
    low, high = Dirichlet([5, 0]).interval()
    assert low.tolist() == high.tolist() == [1, 0]
    np.testing.assert_array_equal(Dirichlet([5, 0]).draw(1), [1, 0])


def test_a_tiny_alpha_does_not_underflow():
    assert np.isfinite(Dirichlet(np.full((100, 3), 1e-4)).draw(2)).all()


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: Dirichlet(1.0), ShapeError, "one entry per state, got a single number"),
        (
            lambda: Dirichlet([1, -0.5]),
            ParameterError,
            "`alpha` must be finite and not negative, got -0.5 at position 1",
        ),
        (lambda: Dirichlet("ab"), ParameterError, "`alpha` must be numbers"),
        (lambda: Dirichlet.m_estimate(-1), ParameterError, "`m` must be at least 0, got -1"),
        (lambda: Dirichlet.m_estimate(1, p=[0.5, 0.6]), ProbabilityError, "`p` must sum to 1, got a sum of 1.1"),
        (lambda: Dirichlet.m_estimate(1, p=[0.5, 0.5]).of((2, 3)), ShapeError, r"a prior of shape \(2,\) does not fit"),
        (lambda: Dirichlet([1, 1]).of((1,)), ShapeError, r"a prior of shape \(2,\) does not fit parameters of shape"),
        (lambda: Dirichlet.bdeu(0), ParameterError, "`equivalent_sample_size` must be above 0, got 0"),
        (lambda: Dirichlet([1, 1]).log_pdf([0.5, 0.4]), ProbabilityError, "`theta` must sum to 1"),
        (lambda: Dirichlet([1, 1]).interval(0), ParameterError, "`level` must be above 0, got 0"),
        (lambda: Categorical(0), ParameterError, "`n_states` must be at least 1, got 0"),
        (lambda: Categorical(2).collect([0, 2]), ParameterError, r"codes must lie within -1..1, got 0..2"),
        (lambda: Categorical(2).collect([0, -2]), ParameterError, r"got -2..0"),
        (lambda: Categorical(2).collect([0.5]), ShapeError, r"whole-number codes, got shape \(1,\) of float64"),
        (lambda: Categorical(2).collect([[0]]), ShapeError, r"got shape \(1, 1\)"),
        (lambda: Categorical(2).log_prob([0.2, 0.3, 0.5], [0]), ShapeError, r"shape \(\*rows, 2\), got \(3,\)"),
        (lambda: Categorical(2).log_prob([-0.2, 1.2], [0]), ParameterError, "`theta` must be finite and not negative"),
        (lambda: Categorical(2).draw(0.5, 3), ShapeError, r"shape \(\*rows, 2\), got \(\)"),
        (lambda: Categorical(2).draw([0.5, 0.5], 3, random_state="x"), ParameterError, "`random_state` must be a seed"),
    ],
)
def test_categorical_refuses(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


def test_categorical_by_hand():
    family = Categorical(3)
    counts = family.collect([0, 2, 2, -1], groups=[0, 1, 1, 0], n_groups=2)
    assert counts.n.tolist() == [[1, 0, 0], [0, 0, 2]]
    np.testing.assert_array_equal(family.log_prob([1.0, 0.0, 0.0], [0, 1]), [0.0, -np.inf])
    assert family.draw([0.0, 1.0, 0.0], 4, random_state=1).tolist() == [1] * 4
    # of 3 cases in the order they came: 1/3 · 1/4 · 2/5
    np.testing.assert_allclose(
        np.exp(family.log_evidence(Dirichlet.laplace(), family.collect([0, 1, 1]))), 1 / 30, rtol=1e-12
    )


### Beta and Bernoulli


def test_beta_constructors():
    assert repr(Beta.laplace()) == repr(Beta.uniform()) == "Beta(a=1, b=1)"
    assert repr(Beta.jeffreys()) == "Beta(a=0.5, b=0.5)"
    assert repr(Beta.none()) == repr(Beta.haldane()) == "Beta(a=0, b=0)"
    assert repr(Beta.m_estimate(4, p=0.75)) == "Beta(a=3, b=1)"
    assert repr(Beta.m_estimate(4, p=[0.75, 0.5])) == "Beta(a=[3, 2], b=[1, 2])"
    assert Beta(3, 1).strength == 4


def test_beta_reads_off_the_dirichlet():
    beta = Beta(3, 2)
    assert beta.mean() == pytest.approx(0.6, rel=1e-15)
    assert beta.mode() == pytest.approx(2 / 3, rel=1e-15)
    assert np.shape(beta.draw(1)) == ()
    assert beta.of((4,)).draw(1).shape == (4,)
    assert beta.dirichlet.alpha.tolist() == [2, 3]


@pytest.mark.parametrize("x", [[True, False, None, True], [1, 0, -1, 1], [1.0, 0.0, np.nan, 1.0]])
def test_bernoulli_takes_yes_and_no(x):
    assert Bernoulli().collect(x).n.tolist() == [1, 2]
    np.testing.assert_allclose(Bernoulli().log_prob(0.25, x), np.log([0.25, 0.75, 1.0, 0.25]), rtol=1e-15)


def test_bernoulli_rows():
    family = Bernoulli()
    posterior = family.fit([1, 0, 1], prior=Beta.laplace(), groups=[0, 1, 1], n_groups=3)
    assert repr(posterior) == "Beta(a=[2, 2, 1], b=[1, 2, 1])"
    assert family.predictive(posterior).log_prob([1, 0]).shape == (2, 3)
    assert family.predictive(posterior).draw(5, 1).shape == (5, 3)
    np.testing.assert_allclose(family.log_evidence(Beta.laplace(), family.collect([1, 0])), np.log(1 / 6), rtol=1e-12)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: Beta(-1, 1), ParameterError, "`a` must be finite and not negative, got -1.0"),
        (lambda: Beta([1, 2], [1, 2, 3]), ShapeError, r"do not fit each other: a \(2,\), b \(3,\)"),
        (lambda: Beta.m_estimate(2, p=1.5), ProbabilityError, "`p` must be finite and not negative, got -0.5"),
        (lambda: Beta.m_estimate(-2, p=0.5), ParameterError, "`m` must be at least 0, got -2"),
        (lambda: Beta.none().mean(), EvidenceError, "it is based on no rows"),
        (lambda: Beta.none().log_pdf(0.5), ImproperPriorError, "its density and evidence are undefined"),
        (lambda: Beta(1, 1).mode(), EvidenceError, "no single most probable value"),
        (lambda: Beta(1, 1).log_pdf(1.5), ProbabilityError, "`theta` must be finite and not negative, got -0.5"),
        (lambda: Bernoulli().collect([0, 2]), DataError, "expected 0, 1, True or False, got 2 at position 1"),
        (lambda: Bernoulli().collect([[0, 1]]), ShapeError, r"got shape \(1, 2\)"),
        (lambda: Bernoulli().log_prob(1.5, [1]), ParameterError, "`theta` must be finite and not negative"),
        (
            lambda: Bernoulli().log_evidence(Beta.none(), Bernoulli().zero()),
            ImproperPriorError,
            "its density and evidence are undefined",
        ),
    ],
)
def test_bernoulli_refuses(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


### Gamma and Poisson


def test_gamma_constructors():
    assert repr(Gamma.none()) == "Gamma(a=0, b=0)"
    assert repr(Gamma.flat()) == "Gamma(a=1, b=0)"
    assert repr(Gamma.jeffreys()) == "Gamma(a=0.5, b=0)"
    assert repr(Gamma.m_estimate(m=2, p=[1.5, 3])) == "Gamma(a=[3, 6], b=[2, 2])"


def test_poisson_by_hand():
    family = Poisson()
    assert family.collect([2, 0, np.nan, 4]).isclose(PoissonStatistics(3, 6, np.log(2) + np.log(24)))
    assert family.fit([2, 0, 4], prior=Gamma.none()).mean() == 2
    assert family.fit([2, 0, 4], prior=Gamma.flat()).mode() == 2
    assert family.fit([0, 0], prior=Gamma.none()).mode() == 0
    np.testing.assert_array_equal(family.log_prob(0.0, [0, 1]), [0.0, -np.inf])
    assert family.draw([1.0, 5.0], 3, random_state=1).shape == (3, 2)


def test_no_event_in_some_cases_is_rate_zero_without_a_prior():
    posterior = Poisson().fit([0, 0], prior=Gamma.none())
    predictive = Poisson().predictive(posterior)
    assert posterior.mean() == posterior.draw(1) == 0
    assert posterior.interval() == (0, 0)
    np.testing.assert_array_equal(predictive.log_prob([0, 1]), [0.0, -np.inf])
    assert predictive.interval() == (0, 0)
    assert predictive.draw(3, 1).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: Poisson().collect([1, 2.5]), DataError, "whole and not negative, got 2.5 at position 1"),
        (lambda: Poisson().collect([-1]), DataError, "whole and not negative, got -1 at position 0"),
        (lambda: Poisson().collect([np.inf]), DataError, "cells must be finite, got inf at 0"),
        (lambda: Poisson().collect([[1]]), ShapeError, r"expected cases of shape \(n,\), got \(1, 1\)"),
        (lambda: Poisson().collect("ab"), ParameterError, "`x` must be numbers"),
        (lambda: Poisson().log_prob(-1.0, [1]), ParameterError, "`rate` must be finite and not negative"),
        (lambda: Poisson().draw(-1.0, 2), ParameterError, "`rate` must be finite and not negative"),
        (lambda: Poisson().predictive(Gamma.jeffreys()), EvidenceError, "a prediction is undefined: it is based on no"),
        (
            lambda: Poisson().log_evidence(Gamma.jeffreys(), Poisson().zero((2,))),
            ImproperPriorError,
            r"improper: its density and evidence are undefined \(row 0\)",
        ),
        (lambda: Gamma.none().log_pdf(1.0), ImproperPriorError, "a = 0 or b = 0 is improper"),
        (lambda: Gamma(1, 1).log_pdf(-1.0), ParameterError, "`rate` must be finite and not negative"),
        (lambda: Gamma.none().mean(), EvidenceError, "the mean is undefined: it is based on no rows"),
        (lambda: Gamma.none().mode(), EvidenceError, "the mode is undefined"),
        (lambda: Gamma.none().draw(), EvidenceError, "a draw is undefined"),
        (lambda: Gamma.none().interval(), EvidenceError, "an interval is undefined"),
        (lambda: Gamma(1, -1), ParameterError, "`rate` must be finite and not negative, got -1.0"),
        (lambda: Gamma([1, 1], [1, 1, 1]), ShapeError, r"do not fit each other: shape \(2,\), rate \(3,\)"),
        (lambda: Gamma.m_estimate(m=-1, p=2), ParameterError, "`m` must be at least 0"),
        (lambda: Gamma.m_estimate(m=1, p=-2), ParameterError, "`p` must be finite and not negative"),
        (lambda: Poisson().predictive(Gamma(1, 1)).interval(2), ParameterError, "`level` must be below 1, got 2"),
    ],
)
def test_poisson_refuses(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


### finite hypotheses


def test_finite_by_hand():
    family = FiniteHypotheses(2)
    posterior = family.fit(np.log([[0.98, 0.03]]), prior=FinitePrior.given([0.008, 0.992]))
    assert repr(posterior) == "FinitePrior(p=[0.208511, 0.791489])"
    assert posterior.mode() == 1
    assert posterior.modes().tolist() == [False, True]
    assert posterior.interval(0.5).tolist() == [False, True]
    assert posterior.interval(0.95).tolist() == [True, True]
    np.testing.assert_allclose(family.predictive(posterior).mean(), posterior.mean(), rtol=1e-15)


def test_impossible_cases_can_be_taken_back():
    family = FiniteHypotheses(2)
    possible, impossible = family.collect([[-1.0, -2.0]]), family.collect([[-np.inf, -1.0]])
    both = possible + impossible
    assert both.total.tolist() == [-np.inf, -3.0]
    assert (both - impossible).isclose(possible)
    with pytest.raises(ImpossibleDataError, match="probability zero under every hypothesis"):
        family.update(FinitePrior.given([1.0, 0.0]), both)


def test_finite_ties_codes_and_uniform():
    assert FinitePrior.uniform(4).modes().all()
    assert FinitePrior.uniform(4).mode() == 0
    np.testing.assert_allclose(FinitePrior.code_lengths([1, 2, 2]).mean(), [0.5, 0.25, 0.25], rtol=1e-15)
    assert FinitePrior.uniform(3).of((2, 3)).draw(1).shape == (2,)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: FinitePrior(0.0), ShapeError, r"expected one log probability per hypothesis, got shape \(\)"),
        (lambda: FinitePrior([]), ShapeError, r"got shape \(0,\)"),
        (lambda: FinitePrior([np.nan, 0.0]), ParameterError, "numbers below infinity"),
        (lambda: FinitePrior([-np.inf, -np.inf]), ParameterError, "not all -inf"),
        (lambda: FinitePrior.given([0.5, 0.6]), ProbabilityError, "`prior` must sum to 1"),
        (lambda: FinitePrior.code_lengths([-1, 2]), ParameterError, "`bits` must be finite and not negative"),
        (lambda: FinitePrior.uniform(0), ParameterError, "`size` must be at least 1"),
        (lambda: FiniteHypotheses(0), ParameterError, "`size` must be at least 1"),
        (
            lambda: FiniteHypotheses(2).collect([[0.0]]),
            ShapeError,
            r"expected log likelihoods of shape \(n, 2\), got \(1, 1\)",
        ),
        (lambda: FiniteHypotheses(2).collect([[0.0, np.nan]]), ParameterError, r"got nan at \(0, 1\)"),
        (lambda: FiniteHypotheses(2).log_prob([1.0], [[0.0, 0.0]]), ShapeError, r"shape \(\*rows, 2\), got \(1,\)"),
        (lambda: FiniteHypotheses(2).draw([-1.0, 2.0], 3), ParameterError, "`p` must be finite and not negative"),
        (
            lambda: LogLikelihoods([0.0], [0.0]) - LogLikelihoods([0.0], [1.0]),
            EvidenceError,
            "more evidence removed",
        ),
    ],
)
def test_finite_refuses(ask, error, message):
    with pytest.raises(error, match=message):
        ask()
