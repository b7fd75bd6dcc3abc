"""Concepts: the laws of version spaces, conjunctions, examples from tables and frames, bad inputs."""

import pickle
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import (
    CapacityError,
    DataError,
    EvidenceError,
    InconsistentDataError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.hypotheses import (
    AttributeSpace,
    Conjunction,
    Examples,
    VersionSpace,
    Vote,
    all_conjunctions,
    concept_space,
    find_positive_label,
    find_s,
    keep_consistent,
    list_then_eliminate,
)
from bayeslearn.hypotheses.concept_learning import generality_lattice
from bayeslearn.tables import as_table
from tests.hypotheses.strategies import consistent_examples

SKY = {"sky": ["sunny", "cloudy", "rainy"], "air": ["warm", "cold"]}

### laws of the version space


@given(consistent_examples(), st.randoms(use_true_random=False))
def test_order_and_batches_do_not_matter(examples, order):
    whole = VersionSpace.fit(examples)
    positions = order.sample(range(len(examples)), len(examples))
    assert VersionSpace.fit(examples.only(positions)) == whole
    *_, last = [
        VersionSpace.from_attributes(examples.attributes),
        *VersionSpace.from_attributes(examples.attributes).steps(examples),
    ]
    assert last == whole


@given(consistent_examples(), st.integers(0, 8))
def test_parts_add_and_are_taken_back(examples, cut):
    first, second = (VersionSpace.fit(examples.only(part)) for part in (slice(cut), slice(cut, None)))
    whole = VersionSpace.fit(examples)
    assert first + second == whole == second + first
    assert whole - second == first
    assert whole.remove_many(examples.only(slice(cut, None))) == first
    assert first + VersionSpace.from_attributes(examples.attributes) == first


@given(consistent_examples())
def test_an_example_twice_changes_nothing_that_is_learned(examples):
    once, twice = VersionSpace.fit(examples), VersionSpace.fit(examples).update_many(examples)
    assert (once.specific, once.general, once.size) == (twice.specific, twice.general, twice.size)
    assert twice.remove_many(examples) == once


@given(consistent_examples())
def test_members_lie_between_the_boundaries(examples):
    space = VersionSpace.fit(examples)
    for h in space.members():
        assert h in space
        assert space.contains(h)
        assert space.specific <= h
        assert any(h <= g for g in space.general)


def test_taking_back_more_than_was_added():
    space = VersionSpace.from_attributes(SKY).update(["sunny", "warm"], True)
    assert space.remove(["sunny", "warm"], True) == VersionSpace.from_attributes(SKY)
    with pytest.raises(EvidenceError, match="more evidence removed than had been added"):
        space.remove(["rainy", "warm"], True)
    with pytest.raises(EvidenceError, match="a negative example was removed that had not been added"):
        space.remove(["rainy", "warm"], False)


def test_spaces_without_a_common_member():
    a = VersionSpace.from_attributes(SKY).update(["sunny", "warm"], True)
    b = VersionSpace.from_attributes(SKY).update(["sunny", "warm"], False)
    with pytest.raises(InconsistentDataError, match="no hypothesis in common"):
        _ = a + b
    with pytest.raises(ParameterError, match="only over the same attributes"):
        _ = a + VersionSpace.from_attributes({"sky": ["sunny"]})


def test_collapse_names_the_example_and_its_opponent():
    space = VersionSpace.from_attributes(SKY).update(["sunny", "warm"], True).update(["rainy", "warm"], False)
    assert space.update(["sunny", "cold"], True).converged
    with pytest.raises(
        InconsistentDataError, match=r"example 1 \(cloudy, warm; positive\).*negative example \(rainy, warm\)"
    ):
        space.update_many([["sunny", "warm"], ["cloudy", "warm"]], [True, True])
    with pytest.raises(
        InconsistentDataError,
        match=r"⟨sunny, warm⟩, the most specific for the positive examples, covers it\n\nhint: drop such",
    ):
        space.update(["sunny", "warm"], False)


def test_a_space_survives_pickling():
    space = VersionSpace.from_attributes(SKY).update(["sunny", "warm"], True).update(["rainy", "warm"], False)
    assert pickle.loads(pickle.dumps(space)) == space
    assert repr(space) == "VersionSpace(s=⟨sunny, warm⟩, 1 negative examples)"


### votes


def test_votes_with_missing_and_unknown_cells():
    space = VersionSpace.from_attributes(SKY).update(["sunny", "warm"], True).update(["rainy", "cold"], False)
    # members ⟨sunny, warm⟩, ⟨sunny, ?⟩, ⟨?, warm⟩
    assert space.vote(["sunny", None]) == Vote(yes=1, no=0, total=3)
    assert space.vote(["sunny", "?"]).undecided == 2
    assert space.vote({"sky": "sunny", "air": float("nan")}).majority is None
    assert space.vote(["rainy", None]) == Vote(yes=0, no=2, total=3)
    assert space.vote(["foggy", "warm"]) == Vote(yes=1, no=2, total=3)
    assert space.vote(["sunny", "warm"]).unanimous is True
    assert space.vote(["rainy", "cold"]).unanimous is False


def test_before_any_positive_example_the_empty_concept_votes_no():
    start = VersionSpace.from_attributes({"a": [0, 1]})
    assert [str(h) for h in start.members()] == ["⟨∅⟩", "⟨0⟩", "⟨1⟩", "⟨?⟩"]
    assert start.vote([0]) == Vote(yes=2, no=2, total=4)
    after = start.update([0], False)
    assert [str(h) for h in after.members()] == ["⟨∅⟩", "⟨1⟩"]
    assert [str(g) for g in after.general] == ["⟨1⟩"]
    assert after.update([1], False).general == (Conjunction.nothing({"a": [0, 1]}),)


def test_a_prior_for_the_specific_moves_the_vote():
    space = VersionSpace.from_attributes(SKY).update(["sunny", "warm"], True)
    shares = [space.vote(["sunny", "cold"], favor=favor).share for favor in (0.01, 1, 100)]
    assert shares[0] > shares[1] == 0.5 > shares[2]
    with pytest.raises(ParameterError, match="`favor` must be above 0"):
        space.vote(["sunny", "cold"], favor=0)


### conjunctions


def test_conjunctions_read_and_compare():
    h, k = (
        Conjunction.from_constraints(SKY, ["sunny", "?"]),
        Conjunction.from_constraints(SKY, {"sky": "sunny", "air": "warm"}),
    )
    assert (str(h), repr(k)) == ("⟨sunny, ?⟩", "⟨sunny, warm⟩")
    assert (h.summary(), k.required) == ("sky=sunny", {"sky": "sunny", "air": "warm"})
    assert h > k
    assert h >= k
    assert k < h
    assert not h.more_general_than(h)
    assert h.join(Conjunction.from_constraints(SKY, ["rainy", "warm"])) == Conjunction.anything(SKY)
    nothing = Conjunction.nothing(SKY)
    assert Conjunction.from_constraints(SKY, ["sunny", "∅"]) == nothing
    assert nothing < k
    assert nothing.join(k) == k.join(nothing) == k
    assert not nothing.covers([["sunny", "warm"]]).any()
    assert len({h, k, Conjunction.from_constraints(SKY, ["sunny", "?"])}) == 2


def test_covers_takes_rows_in_any_form():
    h = Conjunction.from_constraints(SKY, ["sunny", "?"])
    columns = {"air": ["warm", "cold", "cold"], "sky": ["sunny", "rainy", None]}
    dicts = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    expected = [True, False, False]
    for rows in (
        dicts,
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        as_table(columns),
        [("sunny", 0), ("x", 1), ["?", "?"]],
    ):
        assert h.covers(rows).tolist() == expected
    assert h.covers(np.array([["sunny", "warm"], ["rainy", "cold"]], dtype=object)).tolist() == [True, False]
    assert h({"sky": "sunny", "air": "cold"})


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (
            lambda: Conjunction.from_constraints(SKY, ["foggy", "?"]),
            ParameterError,
            "attribute 'sky' has no state 'foggy'",
        ),
        (lambda: Conjunction.from_constraints(SKY, {"wind": "weak"}), ParameterError, "no attribute is called 'wind'"),
        (lambda: Conjunction.from_constraints(SKY, ["?"]), ShapeError, "expected 2 constraints, got 1"),
        (lambda: Conjunction(AttributeSpace.parse(SKY), (7, 0)), ParameterError, "'sky' has 3 states, got code 7"),
        (lambda: Conjunction(AttributeSpace.parse(SKY), (0,)), ShapeError, "expected 2 constraints, got 1"),
        (lambda: Conjunction.anything(SKY) <= Conjunction.anything({"a": [1]}), ParameterError, "same attributes"),
        (lambda: AttributeSpace.parse({}), ParameterError, "expected attributes of different names"),
        (lambda: AttributeSpace.parse({"a": [1, 1]}), ParameterError, "attribute 'a' needs states that differ"),
        (lambda: AttributeSpace.parse([("a", [1]), ("a", [2])]), ParameterError, "different names"),
    ],
)
def test_bad_conjunctions(make, error, match):
    with pytest.raises(error, match=match):
        make()


### examples


def test_examples_from_a_table():
    columns = {
        "sky": ["sunny", "rainy", "sunny"],
        "enjoy": ["yes", "no", "yes"],
        "air": ["warm", "cold", "cold"],
    }
    table = as_table(columns, states={"sky": ["sunny", "cloudy", "rainy"]})
    examples = Examples.from_table(table, "enjoy")
    assert examples.attributes.names == ("sky", "air")
    assert examples.attributes.n_conjunctions == 13
    assert find_s(examples) == Conjunction.from_constraints(examples.attributes, ["sunny", "?"])
    assert list(examples)[1] == ({"sky": "rainy", "air": "cold"}, False)
    other = Examples.from_table(table, "enjoy", positive="no")
    assert str(find_s(other)) == "⟨rainy, cold⟩"
    weighted = Examples.from_table(table.with_weights([1, 1, 0]), "enjoy")
    assert str(find_s(weighted)) == "⟨sunny, warm⟩"


def test_bad_tables():
    table = as_table({"sky": ["sunny", "rainy", None], "y": ["yes", "no", "no"], "hours": [1.5, 2.5, 3.5]})
    with pytest.raises(UnknownColumnError, match="no column is called 'enjoy'"):
        Examples.from_table(table, "enjoy")
    with pytest.raises(ParameterError, match="needs discrete attributes, and 'hours' has no states"):
        Examples.from_table(table, "y")
    with pytest.raises(UnknownColumnError, match="'hours' is numeric"):
        Examples.from_table(table, "hours")
    with pytest.raises(ParameterError, match="no example is labeled 'perhaps'"):
        Examples.from_table(table.drop(["hours"]), "y", positive="perhaps")
    with pytest.raises(MissingValuesError, match="row 2 has no label in column 'sky'"):
        Examples.from_table(table.drop(["hours"]), "sky")
    with pytest.raises(MissingValuesError, match="example 2 has no value for attribute 'sky'") as caught:
        VersionSpace.fit(Examples.from_table(table.drop(["hours"]), "y"))
    assert caught.value.details == {"row": 2, "column": "sky"}
    with pytest.raises(UnknownColumnError, match="no column is called 'air'"):
        Conjunction.anything(SKY).covers(table)


def test_find_s_does_not_mind_holes_in_negative_examples():
    examples = Examples.from_rows([["sunny", "warm"], ["rainy", None]], [True, False], attributes=SKY)
    assert str(find_s(examples)) == "⟨sunny, warm⟩"
    with pytest.raises(MissingValuesError, match="example 1 has no value for attribute 'air'"):
        keep_consistent(examples)
    with pytest.raises(MissingValuesError, match="row 0 has a missing value"):
        concept_space(SKY).posterior().update((["sunny", None], True))


@pytest.mark.parametrize(
    ("rows", "labels", "error", "match"),
    [
        ([["sunny", "warm"]], [True, False], ShapeError, "expected a label for each of 1 rows, got 2"),
        ([["sunny", "warm"]], ["yes"], ParameterError, "a label must be True or False, got 'yes' for example 0"),
        ([["foggy", "warm"]], [True], UnknownStateError, "attribute 'sky' has value 'foggy' in row 0"),
        ([["sunny"]], [True], ShapeError, "expected 2 attribute values in row 0"),
        ([{"sky": "sunny"}], [True], UnknownColumnError, "row 0 has no attribute 'air'"),
        (
            [{"sky": "sunny", "air": "warm"}, ["sunny", "warm"]],
            [True] * 2,
            ShapeError,
            "row 1 is not given by attribute",
        ),
        (pd.DataFrame({"sky": ["sunny"]}), [True], UnknownColumnError, "no column is called 'air'"),
    ],
)
def test_bad_examples(rows, labels, error, match):
    with pytest.raises(error, match=match):
        Examples.from_rows(rows, labels, attributes=SKY)


def test_attributes_are_found_in_the_rows_when_not_declared():
    examples = Examples.from_rows([[1, "a"], [2, "a"]], [True, False])
    assert examples.attributes == AttributeSpace.parse({"x0": [1, 2], "x1": ["a"]})
    with pytest.raises(MissingValuesError, match="attribute 'x1' has no value in any row"):
        Examples.from_rows([[1, None]], [True])
    with pytest.raises(ShapeError, match="expected codes of 1 examples by 1 attributes"):
        Examples(AttributeSpace.parse({"a": [1]}), np.zeros((2, 1), dtype=np.intp), np.array([True]))


@pytest.mark.parametrize(
    ("labels", "chosen"),
    [(["no", "yes"], "yes"), (["+", "-"], "+"), ([0, 1], 1), ([False, True], True), (["a", "b"], "b")],
)
def test_the_positive_label_when_not_named(labels, chosen):
    assert find_positive_label(labels) == chosen


def test_a_concept_has_two_labels():
    with pytest.raises(DataError, match="a concept has two labels, got 3: 'a', 'b', 'c'"):
        find_positive_label(["a", "b", "c"])


def test_rows_need_labels_and_the_same_attributes():
    with pytest.raises(ParameterError, match="rows need labels"):
        VersionSpace.from_attributes(SKY).update_many([["sunny", "warm"]])
    with pytest.raises(ParameterError, match="the examples have other attributes"):
        VersionSpace.from_attributes(SKY).update_many(Examples.from_rows([[1]], [True]))
    assert "something else" not in VersionSpace.from_attributes(SKY)


### too much


def test_listing_too_many_hypotheses_is_refused_with_the_number():
    literals = AttributeSpace.from_literals([f"x{i}" for i in range(30)])
    with pytest.raises(CapacityError, match=f"there are {1 + 3**30} conjunctions over 30 attributes") as caught:
        all_conjunctions(literals)
    assert caught.value.details["hypotheses"] == 1 + 3**30
    with pytest.raises(CapacityError, match="more than the 5 that may be listed"):
        list_then_eliminate(Examples.from_rows([["sunny", "warm"]], [True], attributes=SKY), max_hypotheses=5)


def test_a_boundary_too_large_is_refused_but_the_space_is_still_counted():
    # the classic bad case: 13 negative examples that differ from s in two attributes each, 2^13 in G
    n = 13
    negatives = [[not 2 * i <= j < 2 * i + 2 for j in range(2 * n)] for i in range(n)]
    literals = AttributeSpace.from_literals([f"x{i}" for i in range(2 * n)])
    examples = Examples.from_rows([[True] * 2 * n, *negatives], [True] + [False] * n, attributes=literals)
    space = VersionSpace.fit(examples)
    with pytest.raises(CapacityError, match="general boundary has more than 5000 members"):
        _ = space.general
    assert space.size == 3**n


def test_counting_gives_up_with_a_message(monkeypatch):
    monkeypatch.setattr(generality_lattice, "MAX_STEPS", 10)
    rng = random.Random(1)
    negatives = [[rng.random() < 0.6 for _ in range(12)] for _ in range(30)]
    literals = AttributeSpace.from_literals([f"x{i}" for i in range(12)])
    rows = [[True] * 12, *(row for row in negatives if not all(row))]
    space = VersionSpace.fit(Examples.from_rows(rows, [True] + [False] * (len(rows) - 1), attributes=literals))
    with pytest.raises(CapacityError, match="takes more than 10 steps"):
        _ = space.size
