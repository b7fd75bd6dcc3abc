"""Max-min parents and children, and the climb among them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayeslearn.errors import ParameterError
from bayeslearn.network import DAG
from bayeslearn.network.structure.constraint_based.independence_tests import IndependenceTest, least_of
from bayeslearn.network.structure.constraint_based.mmhc import mmhc, mmpc
from bayeslearn.network.structure.score_based.hill_climbing import ranks
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget
from bayeslearn.tables import as_table
from tests.network.structure.test_pc import by_separation, named, random_dag
from tests.oracle import networks as slow

SEEDS = st.integers(0, 100_000)


def sample(seed, n=6, rows=300):
    return slow.random_network(seed, n).sample(rows, random_state=seed)


def candidates(table, knowledge=None, **options):
    counts = FamilyCounts(table)
    allowed = (knowledge or BackgroundKnowledge()).of(counts.names)
    return mmpc(IndependenceTest(counts, least=least_of("adjusted")), allowed, ranks(counts.names), **options)


def learned(table, knowledge=None, **options):
    cache = ScoreCache(FamilyCounts(table), StructureScore.parse("bic"))
    arcs = mmhc(cache, (knowledge or BackgroundKnowledge()).of(cache.counts.names), **options)
    return DAG.from_arcs(named(cache.counts.names, arcs), cache.counts.names)


@given(seed=SEEDS, n=st.integers(1, 7), density=st.sampled_from([0.2, 0.4, 0.7]))
def test_with_perfect_answers_the_skeleton_is_found(seed, n, density):
    dag = random_dag(seed, n, density)
    found = mmpc(by_separation(dag), BackgroundKnowledge().of(dag.nodes), ranks(dag.nodes))
    assert {frozenset(pair) for pair in named(dag.nodes, found.edges)} == dag.skeleton
    assert not found.stopped


@given(seed=SEEDS)
def test_the_order_of_columns_and_rows_does_not_matter(seed):
    table = sample(seed, 4, rows=60)
    rng = np.random.default_rng(seed)
    turned = table.select(rng.permutation(table.schema.names).tolist()).take(rng.permutation(table.n_rows))
    one, other = candidates(table), candidates(turned)
    assert named(table.schema.names, one.edges) == named(turned.schema.names, other.edges)
    assert one.tests == other.tests
    assert learned(table) == learned(turned)


@example(seed=82)
@given(seed=SEEDS)
def test_arcs_are_among_the_candidates(seed):
    table = sample(seed, 4, rows=60)
    pairs = {frozenset(pair) for pair in named(table.schema.names, candidates(table).edges)}
    assert learned(table).skeleton <= pairs


def test_learning_test_is_the_true_class(shared_data):
    dag = learned(as_table(shared_data / "samples" / "bnlearn-learning.test.csv"))
    assert dag.equivalent(DAG.parse("[A][C][F][B|A][D|A:C][E|B:F]"))


def test_knowledge_is_kept_to():
    table = sample(5)
    a, b, c, d, e, f = sorted(table.schema.names)
    knowledge = BackgroundKnowledge(
        required=[(a, f)], forbidden=[(c, d), (d, c)], tiers=[[b], [c, d]], roots=[e], max_parents=2
    )
    dag = learned(table, knowledge, significance_level=0.5)
    assert (a, f) in dag.arcs
    assert not set(dag.arcs) & {(c, d), (d, c), (c, b), (d, b)}
    assert not dag.parents(e)
    assert max(len(dag.parents(x)) for x in dag) <= 2
    found = candidates(table, knowledge)
    names = table.schema.names
    assert (a, f) in named(names, found.edges)
    assert (c, d) not in named(names, found.edges)


def test_sets_have_a_largest_size():
    table = sample(2)
    few, more = candidates(table, most_given=0), candidates(table)
    assert (more.edges & ~few.edges).sum() == 0
    assert few.tests <= more.tests


def test_limits_end_the_tests_and_what_is_not_tested_may_be_joined():
    table = sample(3)
    late = candidates(table, budget=Budget(deadline=time.monotonic() - 1))
    assert late.stopped
    assert late.tests == 0
    assert late.edges.sum() == 6 * 5
    told = []
    assert not candidates(table, budget=Budget(progress=told.append)).stopped
    assert told[0].steps == 0
    assert not learned(table, budget=Budget(deadline=0.0)).arcs


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"significance_level": 0}, "`significance_level` must be above 0"),
        ({"kind": "t"}, "unexpected value for `kind`"),
        ({"most_given": -1}, "`most_given` must be at least 0"),
    ],
)
def test_bad_input_is_named(options, match):
    with pytest.raises(ParameterError, match=match):
        learned(sample(0), **options)
