"""Rules, covers against a slow twin, designs that hold what they say, and bounds."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.case_based import (
    CONTRACTIONS,
    EXPANSIONS,
    Case,
    CaseBase,
    FunctionGraph,
    Rule,
    design,
    design_search,
    retrieve,
)
from bayeslearn.case_based.design_search import cover
from bayeslearn.case_based.designs import CaseUse, agreeing
from bayeslearn.case_based.rewrite_rules import rewrites
from bayeslearn.case_based.subgraph_matching import isomorphic
from bayeslearn.errors import ConflictingInfluenceError, EmptyTableError, ParameterError
from tests.case_based.strategies import bases, graphs
from tests.properties import trials

### rules


def results(rule, graph):
    return sorted(str(made) for _, made in rewrites(rule, graph))


def test_chain_expansion_multiplies_signs():
    plus, minus = FunctionGraph("a ->+ b"), FunctionGraph("a ->- b")
    expanded = {text for rule in EXPANSIONS for text in results(rule, plus)}
    assert expanded == {"a →+ x1; x1 →+ b", "a →− x1; x1 →− b"}
    expanded = {text for rule in EXPANSIONS for text in results(rule, minus)}
    assert expanded == {"a →+ x1; x1 →− b", "a →− x1; x1 →+ b"}


def test_steps_tell_what_went_and_what_came():
    step, _ = next(rewrites(EXPANSIONS[0], FunctionGraph("A ->+ B")))
    assert str(step) == "chain + = +·+: A →+ B becomes A →+ x1, x1 →+ B"


@given(graphs(nodes=3, arcs=3), st.integers(0, 3))
@trials(40)
def test_what_was_expanded_can_be_shortened(graph, which):
    for _, longer in rewrites(EXPANSIONS[which], graph):
        assert len(longer) == len(graph) + 1
        assert graph in [shorter for _, shorter in rewrites(CONTRACTIONS[which], longer)]


def test_what_something_else_touches_is_not_left_out():
    assert not list(rewrites(CONTRACTIONS[0], FunctionGraph("a ->+ x; x ->+ b; x ->- c")))


def test_a_rule_does_not_contradict_what_stands_there():
    back = Rule("and back", "A ->+ B", "A ->+ B; B ->+ A")
    assert results(back, FunctionGraph("a ->+ b")) == ["a →+ b; b →+ a"]
    assert not list(rewrites(back, FunctionGraph("a ->+ b; b ->- a")))


def test_rules_heed_kinds():
    rule = Rule("heat by flow", "A:flow ->+ B:heat", "A ->+ x:pressure; x ->+ B")
    assert not list(rewrites(rule, FunctionGraph("a:heat ->+ b:flow")))
    (_, made), *_ = rewrites(rule, FunctionGraph("a:flow ->+ b:heat"))
    assert made.kinds == {"a": "flow", "b": "heat", "x1": "pressure"}


def test_bad_rules():
    with pytest.raises(ParameterError, match="rule 'r' changes nothing"):
        Rule("r", "A ->+ B", "A ->+ B")
    with pytest.raises(ParameterError, match="rule 'r' changes the kind of 'A'"):
        Rule("r", "A:flow ->+ B", "A:heat ->- B")
    with pytest.raises(ConflictingInfluenceError, match="rule 'r': A →\\+ B contradicts"):
        Rule("r", "A ->+ B", "A ->+ B; A ->- B")
    with pytest.raises(ParameterError, match="the name of a rule is text"):
        Rule("", "A ->+ B", "A ->- B")


### covers


@given(st.data())
@trials(60)
def test_covers_are_the_best_of_all_sets(data):
    graph = FunctionGraph([(f"a{i}", f"a{i + 1}", 1) for i in range(5)])
    parts = data.draw(
        st.lists(st.tuples(st.integers(1, 31), st.integers(0, 2), st.sampled_from(["", "x", "y"])), max_size=6)
    )
    uses = []
    for i, (mask, extra, kind) in enumerate(parts):
        arcs = [arc for j, arc in enumerate(graph.arcs) if mask >> j & 1]
        function = FunctionGraph(arcs, {arcs[0].source: kind} if kind else {})
        mapping = {node: node for node in function.nodes}
        uses.append(CaseUse(Case(f"c{i}", function, 1), mapping, tuple(arcs), graph.arcs[:extra]))
    origins = [1, 1, 2, 4, 4]
    found = cover(graph, uses, origins)
    assert found.is_optimal
    assert found.cost == min(cost(graph, chosen, origins) for chosen in subsets(uses) if can_be(graph, chosen))
    assert cost(graph, found.uses, origins) == found.cost


def subsets(items):
    return chain.from_iterable(combinations(items, n) for n in range(len(items) + 1))


def can_be(graph, chosen):
    told = {}
    for use in chosen:
        if not agreeing(told, use.added_kinds(graph)):
            return False
        told |= use.added_kinds(graph)
    return True


def cost(graph, chosen, origins):
    done = {arc for use in chosen for arc in use.covered}
    left = [i for i, arc in enumerate(graph.arcs) if arc not in done]
    bits = 0
    for i in left:
        bits |= origins[i]
    return bits.bit_count(), len(left), len(chosen), sum(len(use.extra) for use in chosen)


### designs


@given(bases(), graphs(), st.booleans())
@trials(40)
def test_designs_hold_what_they_say(base, spec, whole):
    found = design(base, spec, max_rewrites=1, max_states=15, whole=whole)
    for one in found:
        done = {arc for use in one.uses for arc in use.covered}
        assert done <= set(one.function.arcs)
        assert set(one.uncovered) <= set(spec.arcs)
        for use in one.uses:
            images = {(use.mapping.get(a), use.mapping.get(b), s) for a, b, s in use.case.function.arcs}
            assert {tuple(arc) for arc in use.covered} <= images
            assert len(use.covered) + len(use.extra) == len(use.case.function)
            assert not (whole and use.extra)
            for own, node in use.mapping.items():
                assert use.case.function.kinds.get(own) in {None, one.function.kinds.get(node)}
        if not one.steps:
            assert one.function.arcs == spec.arcs
            assert set(one.uncovered) == set(spec.arcs) - done
    ranks = [one.rank for one in found]
    assert ranks == sorted(ranks)
    if found.best.uncovered:
        assert found.near
    else:
        assert found.stop_reason is None


@given(bases(), graphs(), st.randoms(use_true_random=False))
@trials(25)
def test_order_does_not_matter(base, spec, rnd):
    shuffled = CaseBase(rnd.sample(list(base), len(base)))
    again = FunctionGraph(rnd.sample(spec.arcs, len(spec)), spec.kinds)
    assert design(shuffled, again, max_rewrites=1, max_states=10) == design(base, spec, max_rewrites=1, max_states=10)


@given(graphs(nodes=4, arcs=4), st.integers(0, 3))
@trials(40)
def test_what_was_rewritten_is_matched(graph, which):
    longer = [made for _, made in rewrites(EXPANSIONS[which], graph)]
    for made in longer:
        found = design(CaseBase([Case("longer", made, 1)]), graph, whole=True, max_rewrites=1)
        assert found.best.coverage == 1
        assert len(found.best.uses) == len(found.best.steps) == 1
        assert isomorphic(FunctionGraph(found.best.function.arcs), FunctionGraph(made.arcs))
        assert retrieve(CaseBase([Case("longer", made, 1)]), found.best.function).best.kind == "exact"


def test_cases_are_combined_and_meet():
    base = CaseBase([Case("one", "p ->+ q", "first"), Case("two", "q ->- r; r ->+ s", "second")])
    best = design(base, "a ->+ b; b ->- c; c ->+ d").best
    assert [str(use) for use in best.uses] == ["one: p→a, q→b", "two: q→b, r→c, s→d"]
    assert best.shared == {"b": ["one q", "two q"]}
    assert best.structure == {
        "parts": [
            {"case": "one", "mapping": {"p": "a", "q": "b"}, "structure": "first"},
            {"case": "two", "mapping": {"q": "b", "r": "c", "s": "d"}, "structure": "second"},
        ],
        "joints": {"b": ["one q", "two q"]},
        "uncovered": [],
    }
    kept = best.as_case("both")
    assert retrieve(base + CaseBase([kept]), best.function).best.case == kept


def test_one_quantity_is_not_of_two_kinds():
    base = CaseBase([Case("one", "p ->+ q:flow", 1), Case("two", "q:heat ->- r", 1)])
    best = design(base, "a ->+ b; b ->- c", rules=()).best
    assert len(best.uses) == 1
    assert best.coverage == 0.5


def test_a_case_that_does_more_is_used_unless_it_must_not():
    base = CaseBase([Case("tee", "Q1, Q2 ->+ Q3; T1 ->- T3", 1)])
    found = design(base, "a, b ->+ c")
    assert found.best.coverage == 1
    assert [str(arc) for arc in found.best.uses[0].extra] == ["T1 →− T3"]
    strict = design(base, "a, b ->+ c", whole=True, max_rewrites=1)
    assert strict.best.uses == ()
    assert strict.best.uncovered == strict.specification.function.arcs
    assert strict.near[0].kind == "whole"


def test_user_rules_come_with_the_base():
    rule = Rule("twice the other way", "A ->+ B", "A ->- x; x ->- y; y ->+ B")
    base = CaseBase([Case("chain", "p ->- q; q ->- r; r ->+ s", "a chain")], [rule])
    best = design(base, "in ->+ out", whole=True, max_rewrites=1).best
    assert best.coverage == 1
    assert [step.rule for step in best.steps] == ["twice the other way"]
    longer = design(CaseBase([Case("short", "p ->+ q", 1)]), "a ->+ x; x ->+ b", rules=CONTRACTIONS, whole=True)
    assert (len(longer.best.steps), len(longer.best.uses)) == (0, 2)


### bounds


def test_rules_that_would_run_forever_are_bounded_and_it_is_said():
    grow = Rule("grow", "A ->+ B", "A ->+ B; B ->+ x")
    base = CaseBase([Case("c", "p ->- q", 1)], [grow])
    found = design(base, "a ->+ b", rules=[grow], max_rewrites=5, max_states=1000)
    assert found.stop_reason == "the bound of 5 rewrites was reached"
    found = design(base, "a ->+ b", rules=[grow], max_rewrites=50, max_states=12)
    assert (found.n_states, found.stop_reason) == (12, "the bound of 12 rewritten forms was reached")
    assert found.best.uses == ()
    assert [match.kind for match in found.near] == ["similar"]
    assert design(base, "a ->+ b", rules=(), max_rewrites=5).stop_reason is None


def test_forms_that_differ_in_names_only_are_looked_at_once():
    spin = Rule("turn round", "A ->+ B; B ->+ C; C ->+ A", "A ->- B; B ->- C; C ->- A")
    spun = Rule("and back", "A ->- B; B ->- C; C ->- A", "A ->+ B; B ->+ C; C ->+ A")
    base = CaseBase([Case("c", "p:flow ->+ q:flow", 1)])
    found = design(base, FunctionGraph("a:heat ->+ b:heat; b ->+ c:heat; c ->+ a"), rules=[spin, spun], max_rewrites=9)
    assert (found.n_states, found.stop_reason) == (2, None)


def test_a_large_function_is_covered_within_bounds():
    spec = FunctionGraph([(f"n{i}", f"n{i + 1}", 1) for i in range(150)])
    best = design(CaseBase([Case("link", "p ->+ q", 1)]), spec).best
    assert (best.coverage, len(best.uses)) == (1, 150)


def test_what_is_not_certain_is_said(monkeypatch):
    monkeypatch.setattr(design_search, "MAX_WORK", 40)
    spec = "a ->+ b; b ->+ c; c ->+ d; d ->+ e; a ->+ c; b ->+ d; c ->+ e"
    best = design(CaseBase([Case("link", "p ->+ q", 1), Case("two", "p ->+ q; q ->+ r", 1)]), spec).best
    assert best.coverage == 1
    assert not best.is_optimal


def test_stopping_and_time():
    base = CaseBase([Case("c", "p:flow ->- q:flow", 1)])

    def stop(step):
        if step.detail.n_done == 3:
            raise StopIteration

    found = design(base, "a:heat ->+ b:heat; b ->- c; d:flow ->- e:flow", progress=stop)
    assert (found.n_states, found.stop_reason) == (3, "stopped by the callback")
    assert found.best.coverage == pytest.approx(1 / 3, rel=1e-12)
    assert design(base, "a:heat ->+ b:heat; b ->- c; d:flow ->- e:flow", time_limit=0).stop_reason == "time limit"


def test_bad_questions():
    with pytest.raises(EmptyTableError, match="holds no case with a structure"):
        design(CaseBase(), "a ->+ b")
    base = CaseBase([Case("c", "p ->- q", 1)])
    with pytest.raises(ParameterError, match="`max_rewrites` must be at least 0"):
        design(base, "a ->+ b", max_rewrites=-1)
    with pytest.raises(ParameterError, match="`max_states` must be at least 1"):
        design(base, "a ->+ b", max_states=0)
