"""The laws of evidence for learned networks: rows come, go and fade, networks merge, and a file keeps it all."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import read_network, write_network
from bayeslearn.errors import EvidenceError
from bayeslearn.network import DAG, BayesianNetwork, fit_parameters
from bayeslearn.tables import Table
from tests.laws.strategies import LAWS, weights
from tests.oracle.networks import random_network

PRIORS = [None, "laplace", "jeffreys", "bdeu:3", "m:2"]


@dataclass(frozen=True)
class Lesson:
    """A structure with its states, a prior, and two bodies of complete cases."""

    structure: BayesianNetwork
    prior: Any
    a: Table
    b: Table

    def learned(self, table):
        return fit_parameters(self.structure, table, prior=self.prior)


@st.composite
def lessons(draw):
    structure = random_network(draw(st.integers(0, 10_000)), draw(st.integers(1, 5)))
    tables = [draw(cases(structure.schema)) for _ in "ab"]
    return Lesson(structure, draw(st.sampled_from(PRIORS)), *tables)


@st.composite
def cases(draw, schema):
    n = draw(st.integers(1, 6))
    codes = [draw(st.lists(st.integers(0, v.n_states - 1), min_size=n, max_size=n)) for v in schema.discrete]
    return Table(schema, np.array(codes), np.empty((0, n)), draw(weights(n)))


any_lesson = given(lesson=lessons())


def assert_same(one, other, *, rtol=1e-12):
    """The same tables, resting on the same evidence, however variables and parents are ordered."""
    assert one.isclose(other, rtol=rtol)
    for cpt in one:
        names = [v.name for v in (*other[cpt.name].parents, cpt.variable)]
        axes = [names.index(v.name) for v in (*cpt.parents, cpt.variable)]
        for mine, theirs in ((cpt.counts.n, other[cpt.name].counts.n), (cpt.alpha, other[cpt.name].alpha)):
            np.testing.assert_allclose(mine, np.transpose(theirs, axes), rtol=rtol, atol=1e-12)


def shuffled(network, rng):
    """The same network with its variables, parents and states in another order, on the same evidence."""
    states = {name: rng.permutation(network.states(name)).tolist() for name in network.variables}
    names = rng.permutation(network.variables).tolist()
    dag = DAG({name: tuple(rng.permutation(network.dag.parents(name)).tolist()) for name in names})
    shapes = {name: [len(states[v]) for v in (*dag.parents(name), name)] for name in names}
    return BayesianNetwork.from_tables(dag, {name: np.full(s, 1 / s[-1]) for name, s in shapes.items()}, states=states)


### rows


@LAWS
@any_lesson
def test_all_rows_at_once_one_body_after_the_other_or_merged(lesson):
    whole = lesson.learned(Table.concat([lesson.a, lesson.b]))
    assert_same(lesson.learned(lesson.a).update(lesson.b), whole)
    assert_same(lesson.learned(lesson.a) + lesson.learned(lesson.b), whole)
    assert_same(sum([lesson.learned(lesson.a), lesson.learned(lesson.b)]), whole)


@LAWS
@any_lesson
def test_what_was_added_can_be_taken_back(lesson):
    a, b = lesson.learned(lesson.a), lesson.learned(lesson.b)
    assert_same((a + b) - b, a)
    assert_same(a.update(lesson.b).remove(lesson.b), a)
    assert_same((a + b).remove(lesson.b), a)
    assert_same(a.update(lesson.b) - b, a)


@LAWS
@any_lesson
def test_weight_two_is_a_row_twice(lesson):
    a, twice = lesson.learned(lesson.a), Table.concat([lesson.b, lesson.b])
    double = np.ones(lesson.b.n_rows) * 2 * lesson.b.sample_weight
    assert_same(a.update(lesson.b, sample_weight=double), a.update(twice))
    assert_same(a.update(twice).remove(lesson.b, sample_weight=double), a)


@LAWS
@given(lesson=lessons(), seed=st.integers(0, 1000))
def test_the_order_of_rows_and_columns_does_not_matter(lesson, seed):
    rng = np.random.default_rng(seed)
    rows, names = rng.permutation(lesson.b.n_rows), rng.permutation(lesson.structure.variables).tolist()
    a = lesson.learned(lesson.a)
    assert_same(a.update(lesson.b.take(rows).select(names)), a.update(lesson.b))


@LAWS
@any_lesson
def test_nothing_is_the_identity(lesson):
    a, nothing = lesson.learned(lesson.a), lesson.a.take([])
    assert_same(a.update(nothing), a)
    assert_same(a.remove(nothing), a)
    assert_same(a + (a - a), a)
    assert_same(a.update(lesson.b, sample_weight=np.zeros(lesson.b.n_rows)), a)


@LAWS
@any_lesson
def test_no_more_than_is_there_can_be_taken_back(lesson):
    a = lesson.learned(lesson.a)
    more = np.ones(lesson.a.n_rows) * (lesson.a.sample_weight + 1)
    with pytest.raises(EvidenceError, match=r"more evidence on 'v\d' removed than had been added: -[\d.]+ would be"):
        a.remove(lesson.a, sample_weight=more)
    with pytest.raises(EvidenceError, match=r"more evidence on 'v\d' removed"):
        a - a.update(lesson.a, sample_weight=more)


### networks


@LAWS
@any_lesson
def test_addition_is_commutative_and_associative(lesson):
    a, b = lesson.learned(lesson.a), lesson.learned(lesson.b)
    assert_same(a + b, b + a)
    assert_same((a + b) + a, a + (b + a))


@LAWS
@given(lesson=lessons(), seed=st.integers(0, 1000))
def test_the_order_of_variables_parents_and_states_does_not_matter(lesson, seed):
    other = shuffled(lesson.structure, np.random.default_rng(seed))
    b = fit_parameters(other, lesson.b.to_dict(), prior=lesson.prior, sample_weight=lesson.b.sample_weight)
    a, whole = lesson.learned(lesson.a), lesson.learned(Table.concat([lesson.a, lesson.b]))
    assert_same(a + b, whole)
    assert_same((a + b) - b, a)
    assert_same((b + a) - b, b.update(lesson.a.to_dict(), sample_weight=lesson.a.sample_weight) - b)
    assert (b + a).variables == b.variables


### fading


@LAWS
@given(lesson=lessons(), factor=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_fading_multiplies_what_was_before(lesson, factor):
    a, b = lesson.learned(lesson.a), lesson.learned(lesson.b)
    assert_same(a.update(lesson.b, forgetting_factor=factor), a.discount(factor) + b)
    light = lesson.a.with_weights(factor * lesson.a.sample_weight)
    assert_same(a.discount(factor), lesson.learned(light))
    assert_same((a + b).discount(factor), a.discount(factor) + b.discount(factor))
    assert_same(a.discount(0.5).discount(factor), a.discount(0.5 * factor))


### files


@LAWS
@any_lesson
def test_a_file_keeps_the_evidence(lesson, tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks", numbered=True)
    a, b = lesson.learned(lesson.a), lesson.learned(lesson.b)
    write_network(a, folder / "a.json")
    write_network(b, folder / "b.json.gz")
    c, d = read_network(folder / "a.json"), read_network(folder / "b.json.gz")
    exactly = functools.partial(assert_same, rtol=0)
    exactly(c, a)
    exactly(c + d, a + b)
    exactly((c + d) - b, (a + b) - d)
    exactly(c.update(lesson.b), a.update(lesson.b))
    exactly(c.discount(0.5), a.discount(0.5))
    exactly(c.update(lesson.b).remove(lesson.b), a.update(lesson.b).remove(lesson.b))
