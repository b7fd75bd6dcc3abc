"""Figures of chapter two: concept learning and its Bayesian reading (C1 to C3, H3, H4)."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayeslearn.errors import InconsistentDataError
from bayeslearn.hypotheses import (
    AttributeSpace,
    Conjunction,
    Examples,
    VersionSpace,
    concept_space,
    find_s,
    list_then_eliminate,
)
from tests.hypotheses.strategies import consistent_examples
from tests.properties import trials

WEATHER = AttributeSpace.parse(
    {
        "sky": ["sunny", "cloudy", "rainy"],
        "air": ["warm", "cold"],
        "humidity": ["normal", "high"],
        "wind": ["strong", "weak"],
        "water": ["warm", "cool"],
        "forecast": ["same", "change"],
    }
)
DAYS = [
    ("sunny", "warm", "normal", "strong", "warm", "same"),
    ("sunny", "warm", "high", "strong", "warm", "same"),
    ("rainy", "cold", "high", "strong", "warm", "change"),
    ("sunny", "warm", "high", "strong", "cool", "change"),
]
ENJOYED = [True, True, False, True]
CASES = list(zip(DAYS, ENJOYED, strict=True))


@pytest.fixture
def examples():
    return Examples.from_rows(DAYS, ENJOYED, attributes=WEATHER)


### C1  Find-S


def test_find_s_on_enjoy_sport(examples):
    assert str(find_s(examples)) == "⟨sunny, warm, ?, strong, ?, ?⟩"


def test_find_s_step_by_step(examples):
    steps = [str(find_s(examples.only(slice(i)))) for i in range(5)]
    assert steps == [
        "⟨∅, ∅, ∅, ∅, ∅, ∅⟩",
        "⟨sunny, warm, normal, strong, warm, same⟩",
        "⟨sunny, warm, ?, strong, warm, same⟩",
        "⟨sunny, warm, ?, strong, warm, same⟩",
        "⟨sunny, warm, ?, strong, ?, ?⟩",
    ]


def test_find_s_over_boolean_literals_starts_from_the_contradiction():
    literals = AttributeSpace.from_literals(["a", "b", "c"])
    start = Conjunction.nothing(literals)  # a ∧ ¬a ∧ b ∧ ¬b ∧ c ∧ ¬c
    assert start.summary() == "⊥"
    first = start.generalize([True, False, True])
    assert first.summary() == "a ∧ ¬b ∧ c"
    assert first.generalize([True, True, True]).summary() == "a ∧ c"
    assert first.generalize([False, True, False]).summary() == "⊤"
    assert literals.n_conjunctions == 3**3 + 1


@trials(50)
@given(consistent_examples(), st.integers(0, 2**32 - 1))
def test_find_s_is_map_under_any_prior_that_favors_the_more_specific(examples, seed):
    """P(h1) ≥ P(h2) whenever h1 is more specific: here a random such prior, by adding up what lies above."""
    assume(examples.attributes.n_conjunctions <= 150)
    space = concept_space(examples.attributes)
    above = np.random.default_rng(seed).random(len(space))
    weight = {h: 1 + sum(x for k, x in zip(space.names, above, strict=True) if k >= h) for h in space.names}
    posterior = space.fit(list(examples), prior=weight.__getitem__)
    assert posterior.map_hypotheses == [find_s(examples)]


### C2  candidate elimination


def test_candidate_elimination_on_enjoy_sport(examples):
    space = VersionSpace.fit(examples)
    assert str(space.specific) == "⟨sunny, warm, ?, strong, ?, ?⟩"
    assert {str(g) for g in space.general} == {"⟨sunny, ?, ?, ?, ?, ?⟩", "⟨?, warm, ?, ?, ?, ?⟩"}
    assert space.size == 6
    assert {str(h) for h in space.members()} == {
        "⟨sunny, warm, ?, strong, ?, ?⟩",
        "⟨sunny, ?, ?, strong, ?, ?⟩",
        "⟨sunny, warm, ?, ?, ?, ?⟩",
        "⟨?, warm, ?, strong, ?, ?⟩",
        "⟨sunny, ?, ?, ?, ?, ?⟩",
        "⟨?, warm, ?, ?, ?, ?⟩",
    }
    assert set(space.members()) == set(list_then_eliminate(examples))


def test_candidate_elimination_step_by_step(examples):
    steps = list(VersionSpace.from_attributes(WEATHER).steps(examples))
    assert [len(space.general) for space in steps] == [1, 1, 3, 2]
    assert {str(g) for g in steps[2].general} == {
        "⟨sunny, ?, ?, ?, ?, ?⟩",
        "⟨?, warm, ?, ?, ?, ?⟩",
        "⟨?, ?, ?, ?, ?, same⟩",
    }


@pytest.mark.parametrize(
    ("day", "yes", "unanimous", "majority"),
    [
        (("sunny", "warm", "normal", "strong", "cool", "change"), 6, True, True),
        (("rainy", "cold", "normal", "weak", "warm", "same"), 0, False, False),
        (("sunny", "warm", "normal", "weak", "warm", "same"), 3, None, None),
        (("sunny", "cold", "normal", "strong", "warm", "same"), 2, None, False),
    ],
)
def test_votes_on_four_new_days(examples, day, yes, unanimous, majority):
    vote = VersionSpace.fit(examples).vote(day)
    assert (vote.yes, vote.no, vote.total) == (yes, 6 - yes, 6)
    assert vote.unanimous is unanimous
    assert vote.majority is majority


def test_the_space_of_enjoy_sport_has_973_hypotheses():
    assert WEATHER.n_conjunctions == 1 + 4 * 3**5 == 973
    assert VersionSpace.from_attributes(WEATHER).size == 973


def test_a_wrong_label_empties_the_space_and_is_named(examples):
    space = VersionSpace.fit(examples)
    with pytest.raises(
        InconsistentDataError, match=r"is consistent with example 0 \(sunny, warm, normal, strong, warm, same; n"
    ):
        space.update(DAYS[0], False)


### H3, H4  brute-force MAP, without and with noise


def test_every_consistent_hypothesis_has_posterior_one_sixth(examples):
    posterior = concept_space(WEATHER).fit(CASES)
    assert set(posterior.map_hypotheses) == set(VersionSpace.fit(examples).members())
    assert sum(p > 0 for p in posterior.probabilities.values()) == 6
    np.testing.assert_allclose([posterior[h] for h in posterior.map_hypotheses], 1 / 6, rtol=1e-12)
    np.testing.assert_allclose(posterior.marginal_likelihood, 6 / 973, rtol=1e-12)


@pytest.mark.parametrize("noise", [1e-4, 1e-8, 1e-12])
def test_as_noise_vanishes_the_posterior_is_that_of_no_noise(noise):
    noisy, exact = (concept_space(WEATHER, noise=rate).fit(CASES) for rate in (noise, 0.0))
    apart = [abs(noisy[h] - exact[h]) for h in exact.space.names]
    assert max(apart) <= 973 * noise
    np.testing.assert_allclose(noisy.marginal_likelihood, exact.marginal_likelihood, rtol=1e3 * noise + 1e-12)


def test_with_noise_no_hypothesis_is_ruled_out():
    posterior = concept_space(WEATHER, noise=0.1).fit([*CASES, (DAYS[0], False)])
    assert min(posterior.probabilities.values()) > 0
    assert set(posterior.map_hypotheses) >= set(concept_space(WEATHER).fit(CASES).map_hypotheses)


def test_the_vote_is_the_bayes_optimal_classification(examples):
    posterior, space = concept_space(WEATHER).fit(CASES), VersionSpace.fit(examples)
    for day in [*DAYS, ("sunny", "cold", "normal", "strong", "warm", "same")]:
        np.testing.assert_allclose(posterior.predictive(day)[True], space.vote(day).share, rtol=1e-12, atol=1e-15)


### C3  every consistent learner is a MAP learner


@trials(50)
@given(consistent_examples())
def test_consistent_learners_output_map_hypotheses(examples):
    posterior = concept_space(examples.attributes).fit(list(examples))
    space = VersionSpace.fit(examples)
    assert find_s(examples) in posterior.map_hypotheses
    assert set(space.general) <= set(posterior.map_hypotheses)
    assert set(posterior.map_hypotheses) == set(space.members())
    np.testing.assert_allclose(posterior[find_s(examples)], 1 / space.size, rtol=1e-10)
    np.testing.assert_allclose(
        posterior.marginal_likelihood, space.size / examples.attributes.n_conjunctions, rtol=1e-10
    )
