"""Networks of states and numbers at random, and those of the reference data."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import strategies as st

from bayeslearn.network import BayesianNetwork, Linear


def random_network(seed, n_discrete=3, n_numeric=4):
    """A network with random arcs and numbers."""
    random = np.random.default_rng(seed)
    names = [f"s{i}" for i in range(n_discrete)] + [f"x{i}" for i in range(n_numeric)]
    states = {name: list("abc")[: random.integers(2, 4)] for name in names[:n_discrete]}
    families, tables = {}, {}
    for i, name in enumerate(names):
        before = names[: min(i, n_discrete)] if i < n_discrete else names[:i]
        parents = tuple(p for p in before if random.random() < 0.5)
        families[name] = parents
        shape = [len(states[p]) for p in parents if p in states]
        if i < n_discrete:
            tables[name] = random.dirichlet(np.ones(len(states[name])), shape)
        else:
            k = sum(p not in states for p in parents)
            coef = random.normal(size=(*shape, k)) if k else ()
            tables[name] = Linear(random.normal(size=shape), coef, random.uniform(0.2, 2.0, size=shape))
    order = random.permutation(names).tolist()
    return BayesianNetwork.from_tables({name: families[name] for name in order}, tables, states=states)


@st.composite
def networks_with_evidence(draw):
    """A random network and a random part of one of its rows."""
    seed = draw(st.integers(0, 10_000))
    network = random_network(seed, draw(st.integers(1, 3)), draw(st.integers(1, 4)))
    row = network.sample(1, random_state=seed).row(0)
    seen = draw(st.lists(st.sampled_from(sorted(row)), unique=True, max_size=len(row) - 1))
    return network, {name: row[name] for name in seen}


def reference_network(folder, title):
    """A network of the reference data: the first discrete parent varies fastest."""
    nodes = json.loads((folder / "nets" / f"{title}.json").read_text())["nodes"]
    states = {name: node["states"] for name, node in nodes.items() if node["kind"] != "numeric"}
    families, tables = {}, {}
    for name, node in nodes.items():
        if name in states:
            families[name] = tuple(node["parents"])
            tables[name] = np.reshape(node["p"], [*(len(states[p]) for p in node["parents"]), len(states[name])])
            continue
        discrete, numeric = node["discrete_parents"], node["numeric_parents"]
        families[name] = (*discrete, *numeric)
        sizes = [len(states[p]) for p in discrete]

        def shaped(flat, sizes=sizes):
            return np.asarray(flat, dtype=float).reshape(sizes[::-1]).transpose()

        coef = np.reshape(np.asarray(node["coef"], dtype=float), (len(node["intercept"]), len(numeric)))
        stacked = np.stack([shaped(coef[:, i]) for i in range(len(numeric))], axis=-1) if numeric else ()
        tables[name] = Linear(shaped(node["intercept"]), stacked, shaped(node["sd"]) ** 2)
    return BayesianNetwork.from_tables(families, tables, states=states)
