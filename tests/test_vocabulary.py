"""Public names follow the naming rules: one name for each thing, and the field's name for it."""

from __future__ import annotations

import pytest

from tests import vocabulary


@pytest.fixture(scope="module")
def found():
    return vocabulary.violations()


def test_no_new_name_breaks_the_rules(found):
    assert sorted(found.keys() - vocabulary.listed().keys()) == []


def test_names_that_are_right_leave_the_list(found):
    assert sorted(vocabulary.listed().keys() - found.keys()) == [], "run python -m tests.vocabulary"


@pytest.mark.parametrize(
    "name",
    ["max_parents", "least", "left_said", "Neighbours", "centre", "discretise", "standardised", "doubtful", "told"],
)
def test_names_that_are_wrong(name):
    assert vocabulary.is_wrong(name)


@pytest.mark.parametrize(
    "name",
    ["most_probable", "MostProbableExplanation", "NeighborsModel", "semi_supervised", "noise", "otherwise", "at_least"],
)
def test_names_that_are_right(name):
    assert not vocabulary.is_wrong(name)


def test_everything_public_is_looked_at():
    assert len(vocabulary.public_objects()) > 200
    assert len(list(vocabulary.callables())) > 1000
    assert len(list(vocabulary.options())) > 300
    assert ("fit parameters", "prior") in set(vocabulary.options())
