"""The EM loop, on the smallest model with something hidden: tosses of coins, when nobody says which coin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from bayeslearn import em
from bayeslearn.distributions import Categorical, Counts, Dirichlet, StatisticsBundle
from bayeslearn.errors import (
    BayeslearnWarning,
    ConvergenceWarning,
    EvidenceError,
    ImpossibleDataError,
    ParameterError,
)

COIN = Categorical(2)


@dataclass(frozen=True)
class Coins:
    """A mixture of coins: a case is one row of tosses (0 or 1) with a coin drawn by `share`."""

    share: np.ndarray
    theta: np.ndarray

    def expected_statistics(self, tosses):
        log_prob = sum(COIN.log_prob(self.theta, column) for column in tosses.T) + np.log(self.share)
        evidence = logsumexp(log_prob, axis=1)
        responsibility = np.exp(log_prob - evidence[:, None])
        seen = sum((COIN.collect(column, sample_weight=responsibility) for column in tosses.T), start=COIN.zero((2,)))
        return StatisticsBundle(share=Counts(responsibility.sum(0)), theta=seen), float(evidence.sum())

    def estimate(self, prior, statistics):
        prior = prior or Dirichlet.laplace()  # the mode under α = 1 is maximum likelihood
        return Coins(*(COIN.update(prior, statistics[part]).mode() for part in ("share", "theta")))

    def log_prior(self, prior):
        if prior is None:
            return 0.0
        return float(prior.of((2,)).log_pdf(self.share) + prior.of((2, 2)).log_pdf(self.theta).sum())


@dataclass(frozen=True)
class Rows:
    """A source that folds in batches of a given size."""

    tosses: np.ndarray
    batch: int

    def fold(self, collect):
        parts = [collect(self.tosses[i : i + self.batch]) for i in range(0, len(self.tosses), self.batch)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total


def start(seed=0):
    rng = np.random.default_rng(seed)
    return Coins(rng.dirichlet([5, 5]), rng.dirichlet([5, 5], size=2))


def tosses(n, m, seed=0):
    rng = np.random.default_rng(seed)
    coin = rng.integers(0, 2, n)
    return (rng.random((n, m)) < np.where(coin, 0.85, 0.2)[:, None]).astype(np.int64)


### laws


@given(
    n=st.integers(1, 30),
    m=st.integers(1, 6),
    seed=st.integers(0, 10_000),
    alpha=st.one_of(st.none(), st.floats(1.05, 5)),
)
def test_objective_never_falls(n, m, seed, alpha):
    data = Rows(np.random.default_rng(seed).integers(0, 2, (n, m)), batch=n)
    prior = None if alpha is None else Dirichlet([alpha, alpha])

    result = em.run(start(seed), data, prior=prior, max_iter=5000, tol=1e-4)

    gains = np.diff([step.objective for step in result.history])
    assert gains.min() >= -1e-9
    assert result.converged


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_batches_equal_the_whole(batch):
    data = tosses(100, 5)

    whole, parts = (em.run(start(), Rows(data, size)) for size in (100, batch))

    np.testing.assert_allclose(parts.model.theta, whole.model.theta, rtol=1e-9)
    assert parts.objective == pytest.approx(whole.objective, rel=1e-12)


### what it finds and remembers


def test_finds_the_coins():
    result = em.run(start(), Rows(tosses(4000, 10), batch=4000))

    assert sorted(result.model.theta[:, 1]) == pytest.approx([0.2, 0.85], abs=0.01)
    assert result.statistics["share"].total == pytest.approx(4000)


def test_history_belongs_to_the_model_returned():
    data = Rows(tosses(50, 4), batch=50)

    result = em.run(start(), data)

    _, log_likelihood = result.model.expected_statistics(data.tosses)
    assert result.log_likelihood == pytest.approx(log_likelihood, rel=1e-14)
    assert [step.iteration for step in result.history] == list(range(result.n_iter + 1))
    assert result.history[-1].gain <= 1e-6


def test_best_of_keeps_the_highest_start():
    data = Rows(tosses(60, 4), batch=60)
    level = Coins(np.array([0.5, 0.5]), np.full((2, 2), 0.5))  # a saddle: EM cannot leave it

    result = em.run_best_of([level, start(1), start(2)], data)

    assert len(result.starts) == 3
    assert result.objective == max(result.starts) > result.starts[0] + 1


### how it ends


def test_warns_with_the_numbers_when_not_converged():
    with pytest.warns(ConvergenceWarning, match=r"after 2 iterations, last gain \d\.\de[-+]\d\d, asked for 1e-06"):
        result = em.run(start(), Rows(tosses(50, 4), batch=50), max_iter=2)

    assert not result.converged
    assert result.n_iter == 2


def test_progress_sees_every_step_and_may_stop():
    seen, shares = [], []

    def progress(now):
        seen.append(now.detail)
        shares.append(now.fraction)
        if now.detail.iteration == 3:
            raise StopIteration

    result = em.run(start(), Rows(tosses(50, 4), batch=50), progress=progress)

    assert tuple(seen) == result.history
    assert 0 == shares[0] < shares[1] <= shares[2] <= shares[3] < 1
    assert result.n_iter == 3
    assert not result.converged


### checkpoints


def test_a_climb_goes_on_from_what_was_written():
    data, written = Rows(tosses(50, 4), batch=50), []
    whole = em.run(start(), data)

    with pytest.warns(ConvergenceWarning):
        em.run(start(), data, max_iter=7, checkpoint=em.CheckpointEvery(3, written.append))
    again = em.run(written[-1], data)

    assert len(written) == 3  # iterations 3, 6 and the last one, 7
    assert again.n_iter == whole.n_iter - 7
    np.testing.assert_array_equal(again.model.theta, whole.model.theta)


def test_nothing_is_written_twice():
    written = []
    with pytest.warns(ConvergenceWarning):
        result = em.run(
            start(), Rows(tosses(50, 4), batch=50), max_iter=4, checkpoint=em.CheckpointEvery(2, written.append)
        )

    assert len(written) == 2
    assert written[-1] is result.model


def test_what_is_written_last_is_the_best_start():
    data, written = Rows(tosses(60, 4), batch=60), []
    level = Coins(np.array([0.5, 0.5]), np.full((2, 2), 0.5))

    result = em.run_best_of([start(1), level], data, checkpoint=em.CheckpointEvery(1, written.append))

    assert written[-1] is result.model


@dataclass(frozen=True)
class Scripted:
    """A model whose log likelihoods are given beforehand."""

    script: tuple[float, ...]

    def expected_statistics(self, batch):
        return Counts([1.0]), self.script[0]

    def estimate(self, prior, statistics):
        return Scripted(self.script[1:])

    def log_prior(self, prior):
        return 0.0


def test_a_fall_is_reported_and_the_better_model_kept():
    with pytest.warns(BayeslearnWarning, match=r"before iteration 2, whose objective would fall by 0.5"):
        result = em.run(Scripted((-3.0, -2.0, -2.5, -1.0)), Rows(tosses(5, 1), batch=5))

    assert result.objective == -2.0
    assert not result.converged


def test_impossible_data():
    with pytest.raises(ImpossibleDataError, match="probability zero under the model of iteration 1"):
        em.run(Scripted((-3.0, -np.inf)), Rows(tosses(5, 1), batch=5))


def test_not_a_number_is_never_returned():
    with pytest.raises(EvidenceError, match="log likelihood of iteration 1 is nan"):
        em.run(Scripted((-3.0, np.nan)), Rows(tosses(5, 1), batch=5))


@pytest.mark.parametrize(("wrong", "match"), [({"tol": -1}, "`tol` must be at least 0"), ({"max_iter": 0}, "max_iter")])
def test_bad_settings(wrong, match):
    with pytest.raises(ParameterError, match=match):
        em.run(start(), Rows(tosses(5, 1), batch=5), **wrong)


def test_no_start():
    with pytest.raises(ParameterError, match="at least one model to start from"):
        em.run_best_of([], Rows(tosses(5, 1), batch=5))
