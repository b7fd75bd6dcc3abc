"""Random small networks, and every answer by enumerating the joint distribution."""

from __future__ import annotations

import itertools

import numpy as np

from bayeslearn.network import BayesianNetwork


def random_network(seed, n, *, max_parents=3, zeros=0.0):
    """A network over n variables of 1 to 4 states, some of its probabilities zero."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in rng.permutation(n)]
    states = {name: [f"s{k}" for k in range(rng.choice([1, 2, 2, 3, 4]))] for name in names}
    families, tables = {}, {}
    for i, name in enumerate(names):
        parents = rng.choice(names[:i], size=min(i, rng.integers(0, max_parents + 1)), replace=False).tolist()
        shape = [len(states[p]) for p in parents] + [len(states[name])]
        table = rng.gamma(1.0, size=shape) * (rng.random(shape) >= zeros)
        table[..., 0] += table.sum(axis=-1) == 0
        families[name] = parents
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    arcs = [(p, name) for name, parents in families.items() for p in parents]
    shown = rng.permutation(names).tolist()
    return BayesianNetwork.from_tables(arcs, tables, states={name: states[name] for name in shown})


def random_evidence(network, seed, share=0.3):
    rng = np.random.default_rng(seed)
    return {name: rng.choice(network.states(name)).item() for name in network.variables if rng.random() < share}


def joint(network):
    """P of every full case, one axis per variable in the order of the network."""
    shape = [len(network.states(name)) for name in network.variables]
    p = np.empty(shape)
    place = {name: i for i, name in enumerate(network.variables)}
    for case in itertools.product(*map(range, shape)):
        p[case] = np.prod(
            [cpt.probabilities[(*(case[place[v.name]] for v in cpt.parents), case[place[cpt.name]])] for cpt in network]
        )
    return p


def given(network, evidence, likelihoods=None):
    """The joint with the evidence multiplied in: its sum is P(e)."""
    p = joint(network)
    for axis, name in enumerate(network.variables):
        weight = np.ones(len(network.states(name)))
        if name in evidence:
            weight = np.array([float(state == evidence[name]) for state in network.states(name)])
        if name in (likelihoods or {}):
            weight = weight * np.asarray(likelihoods[name])
        p = p * weight.reshape([-1 if a == axis else 1 for a in range(p.ndim)])
    return p


def marginal(p, axis):
    """The distribution of one variable."""
    return p.sum(axis=tuple(a for a in range(p.ndim) if a != axis)) / p.sum()


def projected(p, targets, *, rounds=300):
    """Of all joints with these marginals (by axis) the nearest to p; None when so many rounds do not reach it."""
    q = p
    for _ in range(rounds):
        for axis, target in targets.items():
            now = marginal(q, axis)
            ratio = np.divide(target, now, out=np.zeros(len(now)), where=now > 0)
            q = q * ratio.reshape([-1 if a == axis else 1 for a in range(q.ndim)])
            if q.sum() == 0:
                return None
        if all(np.abs(marginal(q, axis) - target).max() < 1e-14 for axis, target in targets.items()):
            return q
    return None
