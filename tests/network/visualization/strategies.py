"""Graphs and sizes of boxes for the laws of layouts."""

from __future__ import annotations

from hypothesis import strategies as st

from bayeslearn.network import DAG


@st.composite
def dags(draw, most=12):
    """Graphs of any density, their nodes in any order."""
    n = draw(st.integers(1, most))
    pairs = [(a, b) for b in range(n) for a in range(b)]
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=2 * n)) if pairs else []
    names = draw(st.permutations([f"v{i}" for i in range(n)]))
    return DAG.from_arcs([(names[a], names[b]) for a, b in arcs], sorted(names))


@st.composite
def boxed(draw):
    """A graph and a size for each node."""
    dag = draw(dags())
    sides = st.integers(8, 200)
    return dag, {node: (draw(sides), draw(sides)) for node in dag}
