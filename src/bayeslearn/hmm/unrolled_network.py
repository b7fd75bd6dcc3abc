"""A chain of n steps as a Bayesian network, which gives the same answers.

    state 0 → state 1 → … → state n−1        each with its observation

Symbols have a node in each step. Other observations enter the network as virtual evidence on the states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn import lazy_imports, validation
from bayeslearn.capacity import require_room

if TYPE_CHECKING:
    from bayeslearn.hmm.model import HiddenMarkovModel

network: Any = lazy_imports.Deferred("bayeslearn.network")


def unrolled(model: HiddenMarkovModel, n_steps: int) -> Any:
    """Return the network of a number of steps.

    Nodes are named ``state 0``, ``state 1``, … and, for symbols, by the observed column: ``roll 0``, ``roll 1``, …
    """
    validation.integer("n_steps", n_steps, min_value=1)
    require_room(f"a network of {n_steps:,} steps", 1000 * n_steps)
    symbols = model.emissions.symbol_table()
    nodes, tables, states = [], {}, {}
    for t in range(n_steps):
        name = f"state {t}"
        nodes.append(f"[{name}]" if t == 0 else f"[{name}|state {t - 1}]")
        tables[name] = model.startprob if t == 0 else model.transmat
        states[name] = model.states
        if symbols is not None:
            variable, theta = symbols
            observed = f"{variable.name} {t}"
            nodes.append(f"[{observed}|{name}]")
            tables[observed] = theta
            states[observed] = variable.states
    return network.BayesianNetwork.from_tables("".join(nodes), tables, states=states)
