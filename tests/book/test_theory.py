"""Figures of computational learning theory (T1 to T7, H6)."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given

from bayeslearn.hypotheses import Attributes
from bayeslearn.theory import (
    KCNF,
    BooleanConcepts,
    ConceptClass,
    MistakeGame,
    Size,
    agnostic,
    bayes_versus_gibbs,
    exhaustion,
    find_s_mistakes,
    find_s_worst_case,
    mistake_bounds,
    network_dimension,
    pac,
    perceptrons_dimension,
    simulate,
    standard,
    vc,
    vc_lower,
)
from tests.properties import trials
from tests.theory.oracle import concept_classes

CUBE = np.array(list(itertools.product([0, 1], repeat=3)))


def test_t1_version_space_is_exhausted():
    concepts = standard("conjunctions", 3).labellings(CUBE)
    found = exhaustion(concepts, "00000011", epsilon=0.2, m=[5, 10, 20, 30], runs=2000, rng=0)
    assert (found.measured <= found.bounds).all()
    assert found.measured[0] > 0.5
    assert found.bounds[-1] == pytest.approx(28 * math.exp(-0.2 * 30), rel=1e-12)


def test_t2_ten_literals_need_140_examples():
    assert pac(Size.conjunctions(10), epsilon=0.1, delta=0.05).value == 140


def test_t3_agnostic_learner():
    found = agnostic(Size.conjunctions(10), epsilon=0.1, delta=0.05)
    assert found.value == math.ceil((10 * math.log(3) + math.log(20)) / (2 * 0.1**2)) == 700


def test_t4_sizes_of_classes():
    assert Size.unbiased(3).exact == 2 ** (2**3)
    assert Size.k_term_dnf(10, 3).exact == 3**30
    assert pac(Size.unbiased(10), epsilon=0.1, delta=0.05).value == math.ceil((2**10 * math.log(2) + math.log(20)) * 10)
    assert pac(Size.unbiased(30), epsilon=0.1, delta=0.05).value == math.ceil((2**30 * math.log(2) + math.log(20)) * 10)
    assert Size.k_cnf(20, 3).log < Size.unbiased(20).log / 100


def test_t4_k_term_dnf_is_learned_by_k_cnf():
    found = simulate("k-cnf:2", BooleanConcepts(6, terms=2, literals=None), m=[300], epsilon=0.1, runs=10, rng=0)
    assert found.failures[0] == 0
    assert KCNF.start(Attributes.literals("abcdef"), 2).size.exact == Size.k_cnf(6, 2).exact


@pytest.mark.parametrize(("name", "n", "d"), [("intervals", 1, 2), ("half-spaces", 2, 3), ("conjunctions", 3, 3)])
def test_t5_known_dimensions(name, n, d):
    known = standard(name, n)
    assert known.dimension == d
    assert known.labellings(known.witness).vc_dimension == d


@pytest.mark.parametrize("r", [1, 2, 3])
def test_t5_half_spaces_have_one_more_than_their_dimensions(r):
    assert standard("half-spaces", r).dimension == r + 1


def test_t5_three_points_on_a_line_are_not_shattered():
    half_planes = standard("half-spaces", 2)
    assert half_planes.labellings([[0, 0], [1, 1], [2, 2]]).vc_dimension == 2
    assert half_planes.labellings([[0, 0], [1, 1], [2, 0]]).vc_dimension == 3


def test_t6_sample_sizes_by_dimension():
    log2 = math.log2
    assert vc(3, epsilon=0.1, delta=0.05).value == math.ceil((4 * log2(40) + 8 * 3 * log2(130)) / 0.1)
    assert vc_lower(100, epsilon=0.01, delta=0.005).value == math.ceil(100 * math.log(200))
    assert vc_lower(1000, epsilon=0.01, delta=0.005).value == math.ceil(999 / 0.32)
    assert network_dimension(4, 3).value == math.floor(2 * 3 * 4 * log2(4 * math.e))
    assert perceptrons_dimension(4, 2).value == network_dimension(4, 3).value


@given(concept_classes(hypotheses=24, points=7))
@trials(300)
def test_t7_four_numbers_in_order(concepts):
    found = mistake_bounds(concepts)
    assert found.vc <= found.optimal <= found.halving <= found.log2


@pytest.mark.parametrize("n", [1, 4, 10])
def test_t7_find_s_is_driven_to_its_bound(n):
    attributes = Attributes.literals(f"l{i}" for i in range(n))
    assert find_s_worst_case(attributes).mistakes == find_s_mistakes(n).value == n + 1


def test_t7_halving_is_driven_to_its_bound():
    everything = ConceptClass.of(CUBE)
    game = MistakeGame(everything)
    assert game.worst_case("halving").mistakes == game.halving == game.optimal == everything.vc_dimension == 3


def test_h6_gibbs_errs_at_most_twice_as_often():
    concepts = standard("conjunctions", 3).labellings(CUBE)
    found = bayes_versus_gibbs(concepts, m=4, runs=300, rng=0)
    assert found.measured["Bayes optimal"] < found.measured["Gibbs"] <= 2 * found.measured["Bayes optimal"]
    assert found.expected["Gibbs"] <= 2 * found.expected["Bayes optimal"]
