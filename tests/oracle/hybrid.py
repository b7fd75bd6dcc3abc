"""Networks of states and numbers by enumeration: every configuration, and the joint normal of all numbers."""

from __future__ import annotations

import itertools

import numpy as np

from bayeslearn.network import CPT


def joint_normal(network, states):
    """Mean and covariance of all numbers, in the order of the nodes, given the states of all discrete variables."""
    names = [name for name in network.dag.order if not isinstance(network[name], CPT)]
    mean, cov = np.zeros(len(names)), np.zeros((len(names), len(names)))
    for j, name in enumerate(names):
        node = network[name]
        row = tuple(v.states.index(states[v.name]) for v in node.discrete_parents)
        at = [names.index(v.name) for v in node.numeric_parents]
        b = node.coef[row]
        mean[j] = node.intercept[row] + b @ mean[at]
        cov[j, :j] = cov[:j, j] = b @ cov[at, :j]
        cov[j, j] = node.var[row] + b @ cov[np.ix_(at, at)] @ b
    return names, mean, cov


def posterior(network, evidence):
    """ln p(evidence), and for each configuration P(states | evidence), names, mean and covariance of the rest."""
    cpts = [node for node in network.cpts if isinstance(node, CPT)]
    free = [[evidence[cpt.name]] if cpt.name in evidence else list(cpt.variable.states) for cpt in cpts]
    found = []
    for combination in itertools.product(*free):
        states = dict(zip([cpt.name for cpt in cpts], combination, strict=True))
        p = 1.0
        for cpt in cpts:
            index = tuple(v.states.index(states[v.name]) for v in (*cpt.parents, cpt.variable))
            p *= cpt.probabilities[index]
        names, mean, cov = joint_normal(network, states)
        o = [i for i, name in enumerate(names) if name in evidence]
        h = [i for i, name in enumerate(names) if name not in evidence]
        x = np.array([evidence[names[i]] for i in o])
        with np.errstate(divide="ignore"):
            log_p = np.log(p)
        if o:
            S = cov[np.ix_(o, o)]
            r = x - mean[o]
            log_p += -0.5 * (len(o) * np.log(2 * np.pi) + np.linalg.slogdet(S)[1] + r @ np.linalg.solve(S, r))
            gain = cov[np.ix_(h, o)] @ np.linalg.inv(S)
            mean_h, cov_h = mean[h] + gain @ r, cov[np.ix_(h, h)] - gain @ cov[np.ix_(o, h)]
        else:
            mean_h, cov_h = mean[h], cov[np.ix_(h, h)]
        found.append((states, log_p, [names[i] for i in h], mean_h, cov_h))
    logs = np.array([f[1] for f in found])
    top = logs.max()
    total = top + np.log(np.exp(logs - top).sum())
    return total, [(f[0], np.exp(f[1] - total), *f[2:]) for f in found]


def marginals(network, evidence):
    """ln p(evidence), P(state | evidence) of every variable, and mean and variance of every number."""
    log_p, parts = posterior(network, evidence)
    states, moments = {}, {}
    for cpt in network.cpts:
        if isinstance(cpt, CPT):
            states[cpt.name] = {s: sum(p for c, p, *_ in parts if c[cpt.name] == s) for s in cpt.variable.states}
    for i, name in enumerate(parts[0][2]):
        mean = sum(p * m[i] for _, p, _, m, _ in parts)
        moments[name] = (mean, sum(p * (V[i, i] + (m[i] - mean) ** 2) for _, p, _, m, V in parts))
    return log_p, states, moments
