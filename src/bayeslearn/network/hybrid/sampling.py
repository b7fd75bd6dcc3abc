"""Likelihood weighting in a network of states and numbers: states are drawn, numbers are integrated out exactly.

s ~ Π P(s_i | parents) over the unobserved states        w(s) = Π P(observed states | parents) · Π_components φ(s)

P(x | e) ≈ Σ w(s) p(x | s, e) / Σ w(s)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.network.hybrid.layout import Rows
from bayeslearn.network.hybrid.results import HybridPosterior, NumericPosterior
from bayeslearn.network.inference.evidence import as_evidence, as_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.hybrid.layout import Layout
    from bayeslearn.network.hybrid.network import HybridBayesianNetwork
    from bayeslearn.network.hybrid.plan import RowsPosterior


def weighted_query(
    network: HybridBayesianNetwork,
    evidence: Mapping[str, Any] | None,
    variables: Iterable[str] | str | None,
    n_samples: int,
    random_state: Any,
) -> HybridPosterior:
    """Posterior distributions by likelihood weighting."""
    n = validation.integer("n_samples", n_samples, min_value=1)
    random, evidence = validation.generator(random_state), as_evidence(network, evidence)
    asked = [v for v in network.variables if v not in evidence] if variables is None else as_names(variables)
    for name in asked:
        network[name]
    engine, row, offset = network.inference.observed(evidence, {})
    layout = engine.layout
    codes, log_w = drawn_states(layout, row, [v for v in engine.network.dag.order if v in layout.discrete], n, random)
    rows = Rows(codes, np.repeat(row.numbers, n, axis=0))
    found = engine.plan(rows).posterior(rows)
    for part in range(len(found.plan.parts)):
        log_w += log_factor(found, part)
    top = float(log_w.max())
    if top == -np.inf:
        raise network.inference.conflict(evidence)
    w = np.exp(log_w - top)
    log_p = top + float(np.log(w.mean())) + offset + float(layout.log_jacobian(row)[0])
    share = w / w.sum()
    numbers = {node: (found.plan.parts[part].conditional, part, j) for part in range(len(found.plan.parts))
               for j, node in enumerate(found.plan.parts[part].conditional.hidden)}  # fmt: skip
    beliefs: dict[str, Any] = {}
    for name in asked:
        if name in layout.discrete:
            i = layout.discrete[name]
            p = np.bincount(codes[:, i], share, minlength=layout.sizes[i])
            beliefs[name] = dict(zip(layout.cpts[i].variable.states, p.tolist(), strict=True))
        else:
            beliefs[name] = number_of(layout, found, layout.numeric[name], numbers, share)
    return HybridPosterior(dict(evidence), log_p, beliefs)


def drawn_states(
    layout: Layout, row: Rows, order: list[str], n: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """States drawn parents first, observed ones kept, with the log probability of the observed ones."""
    codes, log_w = np.repeat(row.codes, n, axis=0), np.zeros(n)
    for name in order:
        i = layout.discrete[name]
        table = layout.cpts[i].probabilities[tuple(codes[:, parent] for parent in layout.scopes[i][:-1])]
        p = np.broadcast_to(table, (n, layout.sizes[i]))
        if row.codes[0, i] >= 0:
            with np.errstate(divide="ignore"):
                log_w += np.log(p[:, row.codes[0, i]])
        else:
            cumulated = p.cumsum(axis=1)
            u = random.random(n)[:, None] * cumulated[:, -1:]
            codes[:, i] = np.minimum((cumulated <= u).sum(axis=1), layout.sizes[i] - 1)
    return codes, log_w


def log_factor(found: RowsPosterior, part: int) -> NDArray[np.float64]:
    """ln φ of a component in every row, all states being known."""
    conditional = found.plan.parts[part].conditional
    return conditional.given(found.rows, found.found[part][0])[0][:, 0]


def number_of(
    layout: Layout, found: RowsPosterior, i: int, numbers: Mapping[int, Any], share: NDArray[np.float64]
) -> NumericPosterior:
    """The mixture of a number: a part for each configuration that was drawn."""
    node = layout.nodes[i]
    if i not in numbers:  # observed
        return NumericPosterior(np.ones(1), found.rows.numbers[:1, i], np.zeros(1), node.scale, node.name)
    conditional, part, j = numbers[i]
    at, m = found.found[part]
    kinds, first, which = np.unique(at[:, 0], return_index=True, return_inverse=True)
    weights = np.bincount(which, share, minlength=len(kinds)).astype(np.float64)
    return NumericPosterior(
        weights, m[first, 0, j], np.sqrt(conditional.covariance[kinds, j, j]), node.scale, node.name
    )
