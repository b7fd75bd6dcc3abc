"""Function graphs at random, and slow twins that try every mapping."""

from __future__ import annotations

from itertools import permutations

from hypothesis import strategies as st

from bayeslearn.case_based import Case, CaseBase, FunctionGraph

KINDS, TOLD = ["flow", "heat"], st.booleans()


@st.composite
def graphs(draw, nodes=4, arcs=5, told=TOLD):
    """A graph whose quantities have a kind, or not."""
    names = [f"n{i}" for i in range(draw(st.integers(2, nodes)))]
    pairs = [(a, b) for a in names for b in names if a != b]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=arcs, unique=True))
    triples = [(a, b, draw(st.sampled_from([1, -1]))) for a, b in chosen]
    ends = sorted({node for pair in chosen for node in pair})
    return FunctionGraph(triples, {node: draw(st.sampled_from(KINDS)) for node in ends if draw(told)})


@st.composite
def bases(draw, max_results=5, **how):
    """A few cases."""
    return CaseBase(
        Case(f"c{i}", graph, {"number": i})
        for i, graph in enumerate(draw(st.lists(graphs(**how), min_size=1, max_size=max_results)))
    )


def mappings(case, whole):
    """Every injective mapping of all quantities of a case, to quantities of the whole or to none (None)."""
    places = [*whole.nodes, *[None] * len(case.nodes)]
    seen = set()
    for chosen in permutations(places, len(case.nodes)):
        if chosen not in seen:
            seen.add(chosen)
            yield dict(zip(case.nodes, chosen, strict=True))


def fits(case, whole, mapping):
    """Whether kinds agree, and no arc is put on its opposite."""
    pairs = [(case.kinds.get(a), whole.kinds.get(b)) for a, b in mapping.items() if b is not None]
    if any(a and b and a != b for a, b in pairs):
        return False
    signs = {arc[:2]: arc.sign for arc in whole.arcs}
    return all(signs.get((mapping[a], mapping[b]), sign) == sign for a, b, sign in case.arcs)


def shared(case, whole, mapping):
    return sum((mapping[a], mapping[b], sign) in set(map(tuple, whole.arcs)) for a, b, sign in case.arcs)


def most_shared(case, whole):
    """The largest common part, by trying everything."""
    return max(shared(case, whole, m) for m in mappings(case, whole) if fits(case, whole, m))


def all_embeddings(part, whole):
    """Every embedding, by trying everything."""
    full = (m for m in mappings(part, whole) if None not in m.values() and fits(part, whole, m))
    return {tuple(sorted(m.items())) for m in full if shared(part, whole, m) == len(part)}
