"""Figures of computational learning theory (T1 to T7, H6)."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given

from bayeslearn.hypotheses import AttributeSpace
from bayeslearn.learning_theory import (
    KCNF,
    BooleanConcepts,
    ConceptClass,
    HypothesisCount,
    MistakeGame,
    agnostic_bound,
    compare_bayes_gibbs,
    exact_mistake_bounds,
    find_s_mistake_bound,
    find_s_worst_case,
    network_dimension,
    pac_bound,
    perceptrons_dimension,
    simulate_exhaustion,
    simulate_pac,
    standard_class,
    vc_bound,
    vc_lower_bound,
)
from tests.learning_theory.oracle import concept_classes
from tests.properties import trials

CUBE = np.array(list(itertools.product([0, 1], repeat=3)))


def test_t1_version_space_is_exhausted():
    concepts = standard_class("conjunctions", 3).labelings(CUBE)
    found = simulate_exhaustion(
        concepts, "00000011", epsilon=0.2, n_examples=[5, 10, 20, 30], n_runs=2000, random_state=0
    )
    assert (found.measured <= found.bounds).all()
    assert found.measured[0] > 0.5
    assert found.bounds[-1] == pytest.approx(28 * math.exp(-0.2 * 30), rel=1e-12)


def test_t2_ten_literals_need_140_examples():
    assert pac_bound(HypothesisCount.conjunctions(10), epsilon=0.1, delta=0.05).value == 140


def test_t3_agnostic_learner():
    found = agnostic_bound(HypothesisCount.conjunctions(10), epsilon=0.1, delta=0.05)
    assert found.value == math.ceil((10 * math.log(3) + math.log(20)) / (2 * 0.1**2)) == 700


def test_t4_sizes_of_classes():
    assert HypothesisCount.unbiased(3).exact == 2 ** (2**3)
    assert HypothesisCount.k_term_dnf(10, 3).exact == 3**30
    assert pac_bound(HypothesisCount.unbiased(10), epsilon=0.1, delta=0.05).value == math.ceil(
        (2**10 * math.log(2) + math.log(20)) * 10
    )
    assert pac_bound(HypothesisCount.unbiased(30), epsilon=0.1, delta=0.05).value == math.ceil(
        (2**30 * math.log(2) + math.log(20)) * 10
    )
    assert HypothesisCount.k_cnf(20, 3).log < HypothesisCount.unbiased(20).log / 100


def test_t4_k_term_dnf_is_learned_by_k_cnf():
    found = simulate_pac(
        "k-cnf:2",
        BooleanConcepts(6, n_terms=2, n_literals=None),
        n_examples=[300],
        epsilon=0.1,
        n_runs=10,
        random_state=0,
    )
    assert found.failures[0] == 0
    assert (
        KCNF.from_attributes(AttributeSpace.from_literals("abcdef"), 2).size.exact == HypothesisCount.k_cnf(6, 2).exact
    )


@pytest.mark.parametrize(("name", "n", "d"), [("intervals", 1, 2), ("half-spaces", 2, 3), ("conjunctions", 3, 3)])
def test_t5_known_dimensions(name, n, d):
    known = standard_class(name, n)
    assert known.dimension == d
    assert known.labelings(known.witness).vc_dimension == d


@pytest.mark.parametrize("r", [1, 2, 3])
def test_t5_half_spaces_have_one_more_than_their_dimensions(r):
    assert standard_class("half-spaces", r).dimension == r + 1


def test_t5_three_points_on_a_line_are_not_shattered():
    half_planes = standard_class("half-spaces", 2)
    assert half_planes.labelings([[0, 0], [1, 1], [2, 2]]).vc_dimension == 2
    assert half_planes.labelings([[0, 0], [1, 1], [2, 0]]).vc_dimension == 3


def test_t6_sample_sizes_by_dimension():
    log2 = math.log2
    assert vc_bound(3, epsilon=0.1, delta=0.05).value == math.ceil((4 * log2(40) + 8 * 3 * log2(130)) / 0.1)
    assert vc_lower_bound(100, epsilon=0.01, delta=0.005).value == math.ceil(100 * math.log(200))
    assert vc_lower_bound(1000, epsilon=0.01, delta=0.005).value == math.ceil(999 / 0.32)
    assert network_dimension(4, 3).value == math.floor(2 * 3 * 4 * log2(4 * math.e))
    assert perceptrons_dimension(4, 2).value == network_dimension(4, 3).value


@given(concept_classes(hypotheses=24, points=7))
@trials(300)
def test_t7_four_numbers_in_order(concepts):
    found = exact_mistake_bounds(concepts)
    assert found.vc <= found.optimal <= found.halving <= found.log2


@pytest.mark.parametrize("n", [1, 4, 10])
def test_t7_find_s_is_driven_to_its_bound(n):
    attributes = AttributeSpace.from_literals(f"l{i}" for i in range(n))
    assert find_s_worst_case(attributes).mistakes == find_s_mistake_bound(n).value == n + 1


def test_t7_halving_is_driven_to_its_bound():
    everything = ConceptClass.from_matrix(CUBE)
    game = MistakeGame(everything)
    assert game.worst_case("halving").mistakes == game.halving == game.optimal == everything.vc_dimension == 3


def test_h6_gibbs_errs_at_most_twice_as_often():
    concepts = standard_class("conjunctions", 3).labelings(CUBE)
    found = compare_bayes_gibbs(concepts, n_examples=4, n_runs=300, random_state=0)
    assert found.measured["Bayes optimal"] < found.measured["Gibbs"] <= 2 * found.measured["Bayes optimal"]
    assert found.expected["Gibbs"] <= 2 * found.expected["Bayes optimal"]
