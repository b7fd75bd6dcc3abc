"""Figures of chapter one of the specification: Bayes over a finite hypothesis space (H1 to H7)."""

import numpy as np
import pytest

from bayeslearn.distributions import FinitePrior
from bayeslearn.hypotheses import (
    FiniteSpace,
    GibbsClassifier,
    HypothesisClassifier,
    description_lengths,
    mistake_bits,
    optimal_lengths,
)

### H1  Bayes' theorem: the cancer test


@pytest.fixture
def cancer():
    space = FiniteSpace.from_table(
        {
            "cancer": {"positive": 0.98, "negative": 0.02},
            "no cancer": {"positive": 0.03, "negative": 0.97},
        }
    )
    return space.posterior({"cancer": 0.008, "no cancer": 0.992})


def test_one_positive_test_leaves_no_cancer_more_probable(cancer):
    posterior = cancer.update("positive")
    joint = {row.name: row.joint for row in posterior.to_rows()}
    np.testing.assert_allclose(joint["cancer"], 0.00784, rtol=1e-12)
    np.testing.assert_allclose(joint["no cancer"], 0.02976, rtol=1e-12)
    np.testing.assert_allclose(posterior["cancer"], 0.00784 / 0.0376, rtol=1e-12)
    assert round(posterior["cancer"], 4) == 0.2085
    np.testing.assert_allclose(posterior.marginal_likelihood, 0.0376, rtol=1e-12)
    assert posterior.map_hypotheses == ["no cancer"]
    assert posterior.ml_hypotheses == ["cancer"]


def test_a_second_positive_test_flips_it(cancer):
    posterior = cancer.update("positive").update("positive")
    assert posterior.map_hypotheses == ["cancer"]
    np.testing.assert_allclose(posterior["cancer"], 0.008 * 0.98**2 / (0.008 * 0.98**2 + 0.992 * 0.03**2), rtol=1e-12)


### H2  maximum likelihood and MAP


def bernoulli(grid, yes, no):
    return FiniteSpace.from_table([[p, 1 - p] for p in grid], names=grid, outcomes=[yes, no])


def test_a_coin_that_showed_two_heads_of_three():
    grid = [0, 1 / 3, 1 / 2, 2 / 3, 1]
    posterior = bernoulli(grid, "head", "tail").fit(["head", "tail", "head"])
    assert posterior.ml_hypotheses == [2 / 3]
    assert posterior[0] == posterior[1] == 0


def test_thumb_tack_80_of_100_over_the_grid():
    grid = [k / 10 for k in range(1, 10)]
    space = bernoulli(grid, "up", "down")
    posterior = space.fit(["up"] * 80 + ["down"] * 20)
    assert posterior.ml_hypotheses == posterior.map_hypotheses == [0.8]
    assert space.posterior().update("up", sample_weight=80).update("down", sample_weight=20).ml_hypotheses == [0.8]
    likelihood = {p: p**80 * (1 - p) ** 20 for p in grid}
    for p in grid:
        np.testing.assert_allclose(posterior[p], likelihood[p] / sum(likelihood.values()), rtol=1e-9)


def test_ties_are_all_reported():
    posterior = bernoulli([0.25, 0.5, 0.75], "head", "tail").fit(["head", "tail"])
    assert posterior.ml_hypotheses == [0.5]
    assert bernoulli([0.25, 0.75], "head", "tail").fit(["head", "tail"]).ml_hypotheses == [0.25, 0.75]


### H5  the Bayes optimal classifier


def test_the_vote_of_all_differs_from_the_most_probable_hypothesis():
    says = {"h1": "⊕", "h2": "⊖", "h3": "⊖"}
    space = FiniteSpace.from_labelers({name: lambda x, v=v: v for name, v in says.items()}, classes=["⊕", "⊖"])
    posterior = space.posterior([0.4, 0.3, 0.3])
    assert posterior.map_hypotheses == ["h1"]
    vote = posterior.predictive("x")
    np.testing.assert_allclose([vote["⊕"], vote["⊖"]], [0.4, 0.6], rtol=1e-12)


### H6  the Gibbs algorithm


@pytest.mark.thorough
def test_gibbs_errs_at_most_twice_as_often_as_the_optimum():
    """Targets drawn from the prior: E[error of Gibbs] ≤ 2 E[error of Bayes optimal], and not less than it."""
    rng = np.random.default_rng(7)
    n_hypotheses, n_instances, n_seen, runs = 12, 30, 4, 250
    table = rng.integers(0, 2, size=(n_hypotheses, n_instances))
    hypotheses = [(f"h{i}", lambda x, i=i: table[i, int(x[0])]) for i in range(n_hypotheses)]
    prior = rng.dirichlet(np.ones(n_hypotheses))
    everything = np.arange(n_instances)[:, None]
    errors = {"optimal": 0.0, "gibbs": 0.0}
    for _ in range(runs):
        target = table[rng.choice(n_hypotheses, p=prior)]
        seen = rng.integers(0, n_instances, size=n_seen)
        optimal = HypothesisClassifier(hypotheses, prior=prior, classes=[0, 1]).fit(seen[:, None], target[seen])
        gibbs = GibbsClassifier(hypotheses, prior=prior, classes=[0, 1], random_state=rng)
        gibbs.fit(seen[:, None], target[seen])
        errors["optimal"] += np.mean(optimal.predict(everything) != target) / runs
        errors["gibbs"] += np.mean(gibbs.predict(everything) != target) / runs
    assert 0.02 < errors["optimal"] <= errors["gibbs"] <= 2 * errors["optimal"]


### H7  minimum description length


def test_a_short_rule_with_few_errors_beats_a_long_exact_one():
    # positive where x > 9, but two of 20 labels are odd; each threshold of an interval list costs 5 bits
    cases = [(x, (x > 9) != (x in {3, 14})) for x in range(20)]
    short = lambda x: x > 9  # noqa: E731 - hypotheses are functions
    exact = lambda x: (x > 9) != (x in {3, 14})  # noqa: E731
    space = FiniteSpace.from_labelers({"short": short, "exact": exact})
    lengths = description_lengths(space, cases, hypothesis_bits={"short": 5, "exact": 25}, data_bits=mistake_bits)
    np.testing.assert_allclose(lengths.data, [np.log2(21) + np.log2(190), np.log2(21)], rtol=1e-12)
    assert lengths.best == ["short"]
    cheap = description_lengths(space, cases, hypothesis_bits={"short": 5, "exact": 12}, data_bits=mistake_bits)
    assert cheap.best == ["exact"]


def test_with_optimal_codes_it_is_map(cancer):
    for posterior in (cancer, cancer.update("positive"), cancer.update_many(["positive"] * 2)):
        assert optimal_lengths(posterior).best == posterior.map_hypotheses


def test_code_lengths_are_a_prior():
    space = bernoulli([0.2, 0.5, 0.8], "head", "tail")
    posterior = space.posterior(bits=[3, 1, 3]).update_many(["head"] * 2)
    by_hand = np.array([2**-3 * 0.2**2, 2**-1 * 0.5**2, 2**-3 * 0.8**2])
    np.testing.assert_allclose(list(posterior.probabilities.values()), by_hand / by_hand.sum(), rtol=1e-12)
    same = space.posterior(FinitePrior.code_lengths([3, 1, 3])).update_many(["head"] * 2)
    assert same.probabilities == posterior.probabilities
