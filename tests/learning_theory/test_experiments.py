"""Simulations keep to the bounds they are drawn beside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from bayeslearn import FindSClassifier, plots
from bayeslearn.errors import CapacityError, ParameterError, ProbabilityError, ShapeError
from bayeslearn.learning_theory import (
    BooleanConcepts,
    ConceptClass,
    HypothesisCount,
    compare_bayes_gibbs,
    find_s_learner,
    pac_bound,
    simulate_exhaustion,
    simulate_pac,
    standard_class,
)
from tests.learning_theory.oracle import concept_classes
from tests.properties import trials

CUBE = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
CONJUNCTIONS = standard_class("conjunctions", 3).labelings(CUBE)


### simulate


@pytest.mark.parametrize(
    ("learner", "concepts"),
    [("find-s", BooleanConcepts(6, n_literals=1)), ("k-cnf:2", BooleanConcepts(5, n_terms=2))],
    ids=str,
)
def test_consistent_learners_keep_to_the_bound(learner, concepts):
    found = simulate_pac(learner, concepts, n_examples=[5, 20, 80, 150], epsilon=0.3, n_runs=40, random_state=0)
    assert (found.failures <= found.bounds).all()
    assert found.failures[0] > 0
    assert found.failures[-1] == 0
    assert found.bounds[-1] < 1
    assert (np.diff(found.errors) <= 0).all()
    assert len(str(found).splitlines()) == 4 + 4


def test_bound_is_that_of_pac():
    found = simulate_pac("find-s", BooleanConcepts(4), n_examples=[80], epsilon=0.2, n_runs=1, random_state=0)
    assert found.bounds[0] == pytest.approx(
        float(pac_bound(HypothesisCount.conjunctions(4), epsilon=0.2, n_examples=80)), rel=1e-12
    )


@given(st.integers(0, 10**6))
@trials(20)
def test_find_s_in_one_step_is_find_s(seed):
    rng = np.random.default_rng(seed)
    concepts = BooleanConcepts(4)
    rows = concepts.sample_rows(12, rng)
    labels = concepts.sample(rng).covers(rows)
    if labels.all() or not labels.any():
        return
    every = concepts.every_row()
    theirs = FindSClassifier(positive=True).fit(rows, labels).predict(every)
    seen = [set(column) for column in rows.T.tolist()]
    known = np.array([all(value in s for value, s in zip(row, seen, strict=True)) for row in every.tolist()])
    assert (find_s_learner(rows, labels)(every)[known] == theirs[known]).all()


def test_any_classifier_or_function_can_be_tried():
    tree = simulate_pac(
        DecisionTreeClassifier(random_state=0), BooleanConcepts(4), n_examples=[2, 60], n_runs=5, random_state=0
    )
    assert np.isnan(tree.bounds).all()
    assert tree.learner == "DecisionTreeClassifier"
    assert tree.errors[-1] < tree.errors[0]
    sized = simulate_pac(
        DecisionTreeClassifier(),
        BooleanConcepts(3),
        n_examples=[20],
        n_runs=2,
        n_hypotheses=HypothesisCount.unbiased(3),
        random_state=0,
    )
    assert np.isfinite(sized.bounds).all()
    never = simulate_pac(
        lambda rows, labels: lambda new: ~new.any(axis=1), BooleanConcepts(3), n_examples=[5], n_runs=3, random_state=0
    )
    assert never.errors[0] > 0


def test_concepts_have_the_literals_they_should():
    for seed in range(20):
        concept = BooleanConcepts(6, n_terms=3, n_literals=2).sample(seed)
        assert [sum(sign >= 0 for sign in term) for term in concept.terms] == [2, 2, 2]
    rows = BooleanConcepts(3).every_row()
    assert rows.shape == (8, 3)
    assert str(BooleanConcepts(3, n_literals=0).sample(0)) == "⊤"


### version spaces


@given(concept_classes(hypotheses=30), st.integers(0, 10**6))
@trials(30)
def test_version_spaces_are_exhausted_as_often_as_promised(concepts, seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(len(concepts.points)))
    target = concepts.hypotheses[seed % len(concepts)]
    found = simulate_exhaustion(
        concepts, target, epsilon=0.3, n_examples=[1, 4, 16], n_runs=200, distribution=p, random_state=seed
    )
    noise = 4 * np.sqrt(np.maximum(found.bounds * (1 - found.bounds), 0) / found.n_runs)  # of the measurement
    assert (found.measured <= found.bounds + noise).all()


def test_exhaustion_of_one_bad_hypothesis_is_exact():
    """One hypothesis, wrong on half of the points, survives m examples with probability 2^-m."""
    concepts = ConceptClass.from_matrix([[0, 0], [0, 1]])
    found = simulate_exhaustion(concepts, 0, epsilon=0.5, n_examples=[1, 2, 3], n_runs=20_000, random_state=0)
    assert found.bad == 1
    assert found.measured == pytest.approx([0.5, 0.25, 0.125], abs=0.015)
    assert "0.5-exhausted" in str(found)


### Bayes, Gibbs and MAP


@given(concept_classes(), st.integers(1, 8), st.sampled_from([0.0, 0.2]), st.integers(0, 10**6))
@trials(25)
def test_gibbs_errs_at_most_twice_as_often(concepts, m, noise, seed):
    found = compare_bayes_gibbs(concepts, n_examples=m, noise=noise, n_runs=5, random_state=seed)
    assert found.expected["Bayes optimal"] <= found.expected["MAP"] + 1e-12
    assert found.expected["Gibbs"] <= 2 * found.expected["Bayes optimal"] + 1e-12
    assert 1 - 1e-9 <= found.ratio <= 2 + 1e-9


def test_measured_errors_are_as_expected():
    found = compare_bayes_gibbs(CONJUNCTIONS, n_examples=3, n_runs=1500, random_state=0)
    for name, error in found.expected.items():
        assert found.measured[name] == pytest.approx(error, abs=0.02)
    assert "Bayes optimal" in str(found)


def test_prior_counts():
    sure = compare_bayes_gibbs(
        CONJUNCTIONS, n_examples=1, n_runs=5, prior=[1.0] + [0.0] * (len(CONJUNCTIONS) - 1), random_state=0
    )
    assert sure.measured == {"Bayes optimal": 0, "Gibbs": 0, "MAP": 0}
    assert sure.ratio == 1


### bad input


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: simulate_pac("find-s", BooleanConcepts(3), epsilon=1.5), ParameterError, "`epsilon` must be below 1"),
        (lambda: simulate_pac("find-s", BooleanConcepts(3), n_examples=[]), ParameterError, "no number of examples"),
        (lambda: simulate_pac("find-s", BooleanConcepts(3), n_runs=0), ParameterError, "`n_runs` must be at least 1"),
        (lambda: simulate_pac("magic", BooleanConcepts(3)), ParameterError, "unexpected value for `learner`"),
        (lambda: simulate_pac("k-cnf", BooleanConcepts(3)), ParameterError, "k-CNF needs its k"),
        (
            lambda: simulate_pac("find-s", BooleanConcepts(3), n_examples=[10**9]),
            ParameterError,
            "`n_examples` must be at most 1000000",
        ),
        (lambda: simulate_pac(3, BooleanConcepts(3)), ParameterError, "a learner is find-s"),
        (lambda: BooleanConcepts(0), ParameterError, "`n_variables` must be at least 1"),
        (lambda: BooleanConcepts(40), CapacityError, "40 variables"),
        (lambda: BooleanConcepts(3, n_literals=4), ParameterError, "at most 3 literals, got 4"),
        (lambda: simulate_exhaustion(CONJUNCTIONS, "?"), ParameterError, "no hypothesis is called"),
        (lambda: simulate_exhaustion(CONJUNCTIONS, "0" * 8, distribution=[1]), ShapeError, "probabilities of 8 points"),
        (lambda: simulate_exhaustion(CONJUNCTIONS, "0" * 8, distribution=[0.5] * 8), ProbabilityError, "sum to 1"),
        (lambda: compare_bayes_gibbs(CONJUNCTIONS, n_examples=0), ParameterError, "`n_examples` must be at least 1"),
        (
            lambda: compare_bayes_gibbs(CONJUNCTIONS, n_examples=1, noise=0.5),
            ParameterError,
            "`noise` must be below 0.5",
        ),
    ],
)
def test_bad_input(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


### pictures


def test_failures_are_drawn_beside_the_bound():
    found = simulate_pac("find-s", BooleanConcepts(3), n_examples=[5, 20], n_runs=3, random_state=0)
    measured, bound = plots.plot_pac_simulation(found).axes[0].lines
    assert measured.get_ydata().tolist() == found.failures.tolist()
    assert bound.get_ydata().tolist() == found.bounds.tolist()
    exhausted = simulate_exhaustion(CONJUNCTIONS, "0" * 8, n_examples=[2, 9], n_runs=10, random_state=0)
    assert plots.plot_pac_simulation(exhausted).axes[0].lines[0].get_ydata().tolist() == exhausted.measured.tolist()
    tree = simulate_pac(DecisionTreeClassifier(), BooleanConcepts(3), n_examples=[5, 20], n_runs=2, random_state=0)
    assert len(plots.plot_pac_simulation(tree).axes[0].lines) == 1


def test_growth_is_drawn():
    lines = plots.plot_growth_function(CONJUNCTIONS, 5).axes[0].lines
    assert lines[2].get_ydata().tolist() == [CONJUNCTIONS.growth_function(m) for m in range(6)]


def test_sample_sizes_are_drawn():
    figure = plots.plot_sample_complexity(pac_bound(1000, epsilon=0.1, delta=0.05))
    assert figure.axes[0].lines[1].get_xydata().tolist() == [[0.1, 100.0]]
