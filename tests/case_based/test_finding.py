"""Matching against slow twins, ranking, bounds, and answers that do not depend on order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.case_based import Case, CaseBase, FunctionGraph, retrieve, subgraph_matching
from bayeslearn.case_based.subgraph_matching import BoundMet, common_part, embeddings
from bayeslearn.errors import EmptyTableError, ParameterError
from tests.case_based.strategies import all_embeddings, bases, fits, graphs, most_shared, shared
from tests.properties import trials

### slow twins


@given(graphs(nodes=3, arcs=3), graphs(nodes=5, arcs=7))
@trials(30)
def test_embeddings_are_all_there_are(part, whole):
    found = [tuple(sorted(mapping.items())) for mapping in embeddings(part, whole)]
    assert len(found) == len(set(found))
    assert set(found) == all_embeddings(part, whole)


@given(graphs(nodes=4, arcs=5), graphs(nodes=4, arcs=6))
@trials(30)
def test_the_common_part_is_the_largest(case, whole):
    found = common_part(case, whole)
    full = {node: found.mapping.get(node) for node in case.nodes}
    assert found.is_optimal
    assert found.covered == shared(case, whole, full) == most_shared(case, whole)
    assert fits(case, whole, full)
    assert common_part(case, whole, min_arcs=found.covered + 1).covered == 0


@given(bases(max_results=5, nodes=3), graphs(nodes=4, arcs=5), st.integers(1, 6))
@trials(30)
def test_matches_are_the_best_of_all(base, spec, most):
    found = retrieve(base, spec, max_results=most)
    covers = sorted((most_shared(case.function, spec) for case in base), reverse=True)
    wanted = [n for n in covers if n][:most]
    assert found.is_complete
    if not wanted:
        assert {match.kind for match in found} == {"similar"}
        return
    assert [len(match.covered) for match in found] == wanted
    order = [(len(m.uncovered), len(m.extra), -m.similarity, m.case.name) for m in found]
    assert order == sorted(order)
    everything = retrieve(base, spec, max_results=10)
    assert found.matches == everything.matches[:most]


@trials(30)
@given(bases(max_results=6), graphs())
def test_bounds_are_never_too_low(base, spec):
    bounds = base.index.bounds(spec)
    assert all(
        bound >= common_part(case.function, spec).covered for bound, case in zip(bounds, base.cases, strict=True)
    )


### laws


@trials(30)
@given(bases(), st.integers(0, 4), st.randoms(use_true_random=False))
def test_a_renamed_case_is_exact(base, which, rnd):
    case = base.cases[which % len(base)]
    names = rnd.sample([f"z{i}" for i in range(9)], len(case.function.nodes))
    spec = case.function.rename(dict(zip(case.function.nodes, names, strict=True)))
    best = retrieve(base, spec).best
    assert (best.kind, best.score) == ("exact", 1)
    mapped = best.case.function.rename(best.mapping)
    assert mapped.arcs == spec.arcs


@trials(30)
@given(graphs(nodes=3, arcs=3), graphs(nodes=3, arcs=2))
def test_a_part_is_found_in_a_larger_specification(part, more):
    spec = FunctionGraph([*part.arcs, *more.rename({n: f"m{n}" for n in more.nodes}).arcs], part.kinds)
    match = retrieve(CaseBase([Case("part", part, 1)]), spec).best
    assert match.kind == "part"
    assert len(match.covered) == len(part)
    assert match.score == len(part) / len(spec)
    turned = retrieve(CaseBase([Case("all", spec, 1)]), part).best
    assert turned.kind == "whole"
    assert turned.uncovered == ()
    assert len(turned.extra) == len(more)


@trials(30)
@given(bases(), graphs(), st.randoms(use_true_random=False))
def test_order_does_not_matter(base, spec, rnd):
    shuffled = [
        Case(c.name, FunctionGraph(rnd.sample(c.function.arcs, len(c.function)), c.function.kinds), c.structure)
        for c in rnd.sample(list(base), len(base))
    ]
    again = FunctionGraph(rnd.sample(spec.arcs, len(spec)), spec.kinds)
    assert retrieve(CaseBase(shuffled), again) == retrieve(base, spec)


@trials(30)
@given(bases(), graphs())
def test_likeness(base, spec):
    asked = Case("x", spec, 1)
    similarity = base.index.similarity(asked)
    assert ((similarity >= 0) & (similarity <= 1)).all()
    assert CaseBase([asked]).index.similarity(asked)[0] == 1


### kinds, signs, and what nothing matches


def test_kinds_and_signs_are_kept_apart():
    base = CaseBase([Case("warm", "a:heat ->+ b:heat", 1), Case("less", "a:flow ->- b:flow", 1)])
    found = retrieve(base, "x:flow ->+ y:flow")
    assert [(match.case.name, match.kind) for match in found] == [("less", "similar"), ("warm", "similar")]
    assert found.best.uncovered == found.specification.function.arcs
    assert found.best.score == 0
    assert retrieve(base, "x ->+ y").best.case.name == "warm"


def test_a_match_never_turns_an_influence_into_its_opposite():
    case = Case("c", "a ->+ b; b ->+ c; a ->+ c", 1)
    match = retrieve(CaseBase([case]), "x ->+ y; y ->+ z; x ->- z").best
    assert len(match.covered) == 1  # two would put a →+ c on x →− z


def test_attributes_settle_ties():
    cases = [Case("a", "p ->+ q", 1, {"made of": "steel"}), Case("b", "p ->+ q", 1, {"made of": "brass"})]
    assert retrieve(CaseBase(cases), Case("?", "x ->+ y", None, {"made of": "brass"})).best.case.name == "b"


def test_specifications_answer_nothing():
    with pytest.raises(EmptyTableError, match="holds no case with a structure"):
        retrieve(CaseBase([Case("open", "a ->+ b")]), "a ->+ b")


def test_bad_questions():
    base = CaseBase([Case("c", "a ->+ b", 1)])
    with pytest.raises(ParameterError, match="`max_results` must be at least 1"):
        retrieve(base, "a ->+ b", max_results=0)
    with pytest.raises(ParameterError, match="`time_limit` must be at least 0"):
        retrieve(base, "a ->+ b", time_limit=-1)


### bounds


def test_a_search_that_is_told_to_stop_has_the_best_so_far():
    base = CaseBase(Case(f"c{i:02}", f"a ->+ b; b ->+ c{i}; c{i} ->- d", 1) for i in range(20))
    steps = []

    def stop(step):
        steps.append(step)
        if len(steps) == 4:
            raise StopIteration

    found = retrieve(base, "a ->+ b; b ->- c; c ->+ d", progress=stop)
    assert (len(found), found.stop_reason, found.is_complete) == (3, "stopped by the callback", False)
    assert [step.detail.n_done for step in steps] == [0, 1, 2, 3]
    assert retrieve(base, "a ->+ b", time_limit=0).stop_reason == "time limit"


def test_what_is_not_certain_is_said(monkeypatch):
    rnd = random.Random(0)
    nodes = [f"n{i}" for i in range(9)]
    pairs = [(a, b) for a in nodes for b in nodes if a != b]
    one, two = (FunctionGraph([(a, b, rnd.choice([1, -1])) for a, b in rnd.sample(pairs, 20)]) for _ in range(2))
    monkeypatch.setattr(subgraph_matching, "MAX_STEPS", 50)
    found = retrieve(CaseBase([Case("c", one, 1)]), two)
    assert not found.best.is_optimal
    assert not found.is_complete
    with pytest.raises(BoundMet, match="more than 20 comparisons"):
        list(embeddings(FunctionGraph("a ->+ b; c ->+ d"), one, max_compared=20))
    assert retrieve(CaseBase([Case("c", one, 1)]), one).best.kind == "exact"


def test_few_of_many_cases_are_looked_at():
    rnd = random.Random(0)

    def drawn(n, m):
        nodes = [f"n{i}" for i in range(n)]
        pairs = rnd.sample([(a, b) for a in nodes for b in nodes if a != b], m)
        ends = sorted({node for pair in pairs for node in pair})
        kinds = {node: rnd.choice(["flow", "heat", "control", "pressure"]) for node in ends}
        return FunctionGraph([(a, b, rnd.choice([1, -1])) for a, b in pairs], kinds)

    base = CaseBase(Case(f"c{i}", drawn(5, 5), i) for i in range(1000))
    spec, steps = drawn(8, 10), []
    found = retrieve(base, spec, progress=steps.append)
    assert found.is_complete
    assert len(steps) < 200
    best = max(common_part(case.function, spec).covered for case in base)
    assert len(found.best.covered) == best
