"""k-CNF: laws of its evidence, k-term DNF learned, brute force over clauses, and bad input."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import find_s
from bayeslearn.errors import CapacityError, EvidenceError, MissingValuesError, ParameterError
from bayeslearn.hypotheses import AttributeSpace, Examples
from bayeslearn.learning_theory import KCNF, BooleanConcepts, KCNFClassifier
from tests.hypotheses.strategies import any_examples, consistent_examples
from tests.properties import trials

SWITCHES = AttributeSpace.from_literals("abc")


def every_row(attributes):
    return list(itertools.product(*attributes.states))


def by_clauses(examples, k, row):
    """Whether a row satisfies every clause of at most k literals "attribute ≠ state" that all positive rows satisfy."""
    positive = examples.codes[examples.labels].tolist()
    code = examples.attributes.encode([row])[0]
    for columns in itertools.combinations(range(len(code)), min(k, len(code))):
        broken = all(any(p[i] != code[i] for i in columns) for p in positive)  # the clause that rules out this row
        if broken:
            return False
    return True


@trials(40)
@given(any_examples(), st.integers(1, 3))
def test_covers_what_every_clause_allows(examples, k):
    h = KCNF.fit(examples, k)
    rows = every_row(examples.attributes)
    assert h.covers(rows).tolist() == [by_clauses(examples, k, row) for row in rows]


@trials(40)
@given(any_examples(), st.integers(1, 3))
def test_clauses_say_what_is_covered(examples, k):
    h = KCNF.fit(examples, k)
    for row in every_row(examples.attributes):
        assert h(row) == (not h.explain(row))
    for shorter, longer in itertools.permutations(h.clauses, 2):
        assert not set(shorter.together) < set(longer.together)


@trials(40)
@given(any_examples(), any_examples(), st.integers(1, 3))
def test_evidence_adds_and_is_taken_back(examples, others, k):
    half = len(examples) // 2
    parts = [examples.only(slice(None, half)), examples.only(slice(half, None))]
    whole = KCNF.fit(examples, k)
    added = KCNF.fit(parts[0], k) + KCNF.fit(parts[1], k)
    back = whole.remove(parts[1])
    assert np.array_equal(added.counts, whole.counts)
    assert added.n_positive == whole.n_positive
    assert np.array_equal(back.counts, KCNF.fit(parts[0], k).counts)


@trials(40)
@given(consistent_examples())
def test_larger_k_is_more_specific_and_find_s_is_coarser(examples):
    rows = every_row(examples.attributes)
    covered = [KCNF.fit(examples, k).covers(rows) for k in (1, 2, 3)]
    assert (covered[1] <= covered[0]).all()
    assert (covered[2] <= covered[1]).all()
    assert (covered[0] <= find_s(examples).covers(rows)).all()


@trials(40)
@given(st.integers(1, 3), st.integers(0, 10**6))
def test_k_term_dnf_is_learned_by_k_cnf(k, seed):
    """The most specific k-CNF agrees with every example of a k-term DNF, and is the target once all rows are seen."""
    rng = np.random.default_rng(seed)
    concepts = BooleanConcepts(5, n_terms=k, n_literals=None)
    target, attributes = concepts.sample(rng), AttributeSpace.from_literals("abcde")
    every = concepts.every_row()
    some = rng.integers(0, len(every), 15)
    for rows in (every[some], every):
        h = KCNF.from_attributes(attributes, k).update(Examples(attributes, rows.astype(np.intp), target.covers(rows)))
        assert (h.covers_codes(rows.astype(np.intp)) == target.covers(rows)).all()
        assert (h.covers_codes(every.astype(np.intp)) <= target.covers(every)).all()


def test_formulas():
    assert str(KCNF.from_attributes(SWITCHES, 2)) == "⊥"
    every = Examples.from_rows(every_row(SWITCHES), [True] * 8, attributes=SWITCHES)
    assert str(KCNF.fit(every, 2)) == "⊤"
    one = KCNF.from_attributes(SWITCHES, 2).update([[True, False, True]], [True])
    assert str(one) == "(a) ∧ (¬b) ∧ (c)"
    assert one.explain([True, True, True])[0].reason == "no positive example has b=True"
    words = Examples.from_rows([["sunny", "warm"], ["rainy", "cold"]], [True, True])
    assert str(KCNF.fit(words, 2)) == "(x0≠sunny ∨ x1≠cold) ∧ (x0≠rainy ∨ x1≠warm)"


def test_values_that_are_missing_or_unknown_are_not_covered():
    h = KCNF.fit(Examples.from_rows([["sunny", "warm"], ["rainy", "cold"]], [True, True]), 2)
    assert h.covers([["sunny", "warm"], ["sunny", None], ["foggy", "warm"]]).tolist() == [True, False, False]


def test_classifier_explains_itself():
    X = np.array(list(itertools.product([0, 1], repeat=4)))
    y = np.where((X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3]), "in", "out")
    model = KCNFClassifier(k=2, positive="in").fit(X, y)
    assert model.consistent_
    assert (model.predict(X) == y).all()
    assert str(model.hypothesis_) == "(x0≠0 ∨ x2≠0) ∧ (x0≠0 ∨ x3≠0) ∧ (x1≠0 ∨ x2≠0) ∧ (x1≠0 ∨ x3≠0)"
    assert not KCNFClassifier(k=1, positive="in").fit(X, y).consistent_


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: KCNF.from_attributes(SWITCHES, 0), ParameterError, "`k` must be at least 1"),
        (
            lambda: KCNF.from_attributes({f"a{i}": range(50) for i in range(50)}, 4),
            CapacityError,
            "4-CNF over 50 attributes",
        ),
        (lambda: KCNF.from_attributes(SWITCHES, 2).update([[True, True, True]]), ParameterError, "rows need labels"),
        (
            lambda: KCNF.from_attributes(SWITCHES, 2).update([[True, None, True]], [True]),
            MissingValuesError,
            "attribute 'b'",
        ),
        (lambda: KCNF.from_attributes(SWITCHES, 2) + KCNF.from_attributes(SWITCHES, 1), ParameterError, "the same k"),
        (lambda: KCNF.from_attributes(SWITCHES, 2).remove([[True] * 3], [True]), EvidenceError, "that was not added"),
        (
            lambda: KCNF.from_attributes(SWITCHES, 2).update(Examples.from_rows([["x"]], [True])),
            ParameterError,
            "other attributes than the hypothesis",
        ),
    ],
)
def test_bad_input(ask, error, message):
    with pytest.raises(error, match=message):
        ask()
