"""The version space against enumeration of every hypothesis."""

from fractions import Fraction

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
    all_conjunctions,
    concept_space,
    find_s,
    keep_consistent,
    list_then_eliminate,
)
from tests.hypotheses.strategies import any_examples, conjunctions, consistent_examples, plain, rows, spelled
from tests.oracle import concepts as slow
from tests.properties import trials


@given(consistent_examples())
def test_members_and_size_are_those_of_enumeration(examples):
    space = VersionSpace.fit(examples)
    members = [spelled(h) for h in space.members()]
    assert len(members) == len(set(members)) == space.size
    assert set(members) == set(slow.consistent(*plain(examples)))
    assert {spelled(h) for h in list_then_eliminate(examples)} == set(members)


@given(consistent_examples(most=5, states=2))
def test_boundaries_are_the_extremes_of_the_members(examples):
    space = VersionSpace.fit(examples)
    members = slow.consistent(*plain(examples))
    assert {spelled(space.specific)} == slow.minimal(members)
    assert {spelled(g) for g in space.general} == slow.maximal(members)
    assert len(space.general) == len(slow.maximal(members))


@trials(40)
@given(st.data())
def test_boundaries_are_those_of_textbook_candidate_elimination(data):
    examples = data.draw(consistent_examples(most=4))
    assume(examples.attributes.n_conjunctions < 200)
    specific, general = slow.textbook_boundaries(*plain(examples))
    space = VersionSpace.fit(examples)
    assert {spelled(space.specific)} == specific
    assert {spelled(g) for g in space.general} == general


@given(st.data())
def test_votes_are_those_of_the_members(data):
    examples = data.draw(consistent_examples())
    row = data.draw(rows(examples.attributes))
    members = slow.consistent(*plain(examples))
    vote = VersionSpace.fit(examples).vote(row)
    assert vote.yes == sum(slow.covers(h, row) for h in members)
    assert (vote.no, vote.total) == (len(members) - vote.yes, len(members))


@given(st.data(), st.sampled_from([Fraction(1, 3), Fraction(2), Fraction(5, 2)]))
def test_weighted_votes_are_sums_over_the_members(data, favor):
    examples = data.draw(consistent_examples())
    row = data.draw(rows(examples.attributes))
    d = len(examples.attributes)
    members = slow.consistent(*plain(examples))
    weight = {h: favor ** (d if h is None else sum(v != "?" for v in h)) for h in members}
    vote = VersionSpace.fit(examples).vote(row, favor=favor)
    assert vote.yes == sum(weight[h] for h in members if slow.covers(h, row))
    assert vote.total == sum(weight.values())


@given(st.data())
def test_votes_on_rows_with_holes_count_members_that_agree_on_every_completion(data):
    # of an attribute with one state a hole may still be a value that no hypothesis knows
    examples = data.draw(consistent_examples(states=2, fewest=2))
    row = data.draw(rows(examples.attributes))
    holes = data.draw(st.tuples(*[st.booleans()] * len(row)))
    row = tuple(None if hole else value for hole, value in zip(holes, row, strict=True))
    states, *_ = plain(examples)
    said = [{slow.covers(h, r) for r in slow.completions(states, row)} for h in slow.consistent(*plain(examples))]
    vote = VersionSpace.fit(examples).vote(row)
    assert vote.yes == sum(answers == {True} for answers in said)
    assert vote.no == sum(answers == {False} for answers in said)


@given(any_examples())
def test_collapse_is_noticed_exactly_when_no_hypothesis_is_left(examples):
    states, seen, labels = plain(examples)
    left = [len(slow.consistent(states, seen[:i], labels[:i])) for i in range(1, len(seen) + 1)]
    if 0 not in left:
        assert VersionSpace.fit(examples).size == (left[-1] if left else examples.attributes.n_conjunctions)
        assert keep_consistent(examples).all()
        return
    with pytest.raises(InconsistentDataError, match=f"consistent with example {left.index(0)} ") as caught:
        VersionSpace.fit(examples)
    assert caught.value.details["position"] == left.index(0)


@given(any_examples())
def test_what_is_kept_is_consistent_and_what_is_skipped_would_not_be(examples):
    keep = keep_consistent(examples)
    states, seen, labels = plain(examples)
    for i in range(len(examples)):
        chosen = [j for j in range(i) if keep[j]] + [i]
        left = slow.consistent(states, [seen[j] for j in chosen], [labels[j] for j in chosen])
        assert bool(left) == keep[i]


@given(consistent_examples())
def test_find_s_is_the_most_specific_that_covers_the_positive(examples):
    states, seen, labels = plain(examples)
    positive = [row for row, label in zip(seen, labels, strict=True) if label]
    covering = [h for h in slow.every_hypothesis(states) if all(slow.covers(h, row) for row in positive)]
    assert {spelled(find_s(examples))} == slow.minimal(covering)


@given(st.data())
def test_order_of_conjunctions_is_that_of_the_rows_they_cover(data):
    known = data.draw(consistent_examples()).attributes
    assume(all(len(states) > 1 for states in known.states))
    h, k = data.draw(conjunctions(known)), data.draw(conjunctions(known))
    space = slow.completions(known.states, [None] * len(known))
    covered = [{row for row in space if slow.covers(spelled(x), row)} for x in (h, k)]
    assert (h >= k) == (covered[0] >= covered[1])
    assert h.more_general_than(k) == (covered[0] > covered[1])
    assert h.join(k) >= h
    assert h.covers(space).tolist() == [row in covered[0] for row in space]


@trials(40)
@given(any_examples(most=4), st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(2, 5)]))
def test_posterior_with_noise_is_that_of_exact_fractions(examples, noise):
    assume(examples.attributes.n_conjunctions < 300)
    states, seen, labels = plain(examples)
    agree = {
        h: sum(slow.covers(h, row) == label for row, label in zip(seen, labels, strict=True))
        for h in slow.every_hypothesis(states)
    }
    joint = {h: (1 - noise) ** n * noise ** (len(seen) - n) for h, n in agree.items()}
    assume(sum(joint.values()) > 0)
    posterior = concept_space(examples.attributes, noise=float(noise)).fit(list(zip(seen, labels, strict=True)))
    for h, p in posterior.probabilities.items():
        np.testing.assert_allclose(p, float(joint[spelled(h)] / sum(joint.values())), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(posterior.marginal_likelihood, float(sum(joint.values()) / len(agree)), rtol=1e-10)


def test_a_large_space_is_counted_exactly_where_a_formula_is_known():
    # 20 disjoint pairs of attributes, each negative example differs from s in one pair: 3 ways to hit each pair
    names = [f"x{i}" for i in range(40)]
    known = AttributeSpace.from_literals(names)
    negatives = [[not 2 * i <= j < 2 * i + 2 for j in range(40)] for i in range(20)]
    examples = Examples.from_rows([[True] * 40, *negatives], [True] + [False] * 20, attributes=known)
    space = VersionSpace.fit(examples)
    assert space.size == 3**20
    assert space.vote([False] + [True] * 39).yes == 3**19
    assert VersionSpace.from_attributes(known).size == known.n_conjunctions == 1 + 3**40


@pytest.mark.thorough
def test_counting_survives_many_random_negatives():
    rng = np.random.default_rng(0)
    known = AttributeSpace.from_literals([f"x{i}" for i in range(16)])
    negatives = rng.random((60, 16)) < 0.7
    negatives = negatives[~negatives.all(axis=1)]
    examples = Examples.from_rows(
        [[True] * 16, *negatives.tolist()], [True] + [False] * len(negatives), attributes=known
    )
    space = VersionSpace.fit(examples)
    masks = np.array([[h >> i & 1 for i in range(16)] for h in range(2**16)], dtype=bool)  # which literals are required
    leaves_out = np.array([(masks & ~row).any(axis=1) for row in negatives]).all(axis=0)
    assert space.size == leaves_out.sum()
    assert sum(1 for _ in space.members()) == space.size


@given(consistent_examples(states=2))
def test_every_conjunction_is_listed_once(examples):
    known = examples.attributes
    listed = list(all_conjunctions(known))
    assert len(listed) == len(set(listed)) == known.n_conjunctions
    assert Conjunction.nothing(known) in listed
    assert {spelled(h) for h in listed} == set(slow.every_hypothesis(known.states))
