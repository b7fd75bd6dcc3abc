"""The network view: a chain of so many steps is a Bayesian network, and gives the same answers.

    state 0 → state 1 → … → state T−1        each with its observation

Observations that are symbols have a node each; others are what is seen of a state, and enter a network as likelihoods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bayeslearn import validation
from bayeslearn.capacity import require_room

if TYPE_CHECKING:
    from bayeslearn.hmm.model import HiddenMarkovModel


class Unrolled(NamedTuple):
    """What ``BayesianNetwork.from_tables(structure, tables, states=states)`` takes."""

    structure: str
    tables: dict[str, Any]
    states: dict[str, tuple[Any, ...]]


def unrolled(model: HiddenMarkovModel, steps: int) -> Unrolled:
    """The parts of a network: ``BayesianNetwork.from_tables(**model.unrolled(5)._asdict())``.

    Nodes are called ``state 0``, ``state 1``, … and, for symbols, by the observed column: ``roll 0``, ``roll 1``, …
    """
    validation.integer("steps", steps, min_value=1)
    require_room(f"a network of {steps:,} steps", 1000 * steps)
    symbols = model.emissions.symbol_table()
    nodes, tables, states = [], {}, {}
    for t in range(steps):
        name = f"state {t}"
        nodes.append(f"[{name}]" if t == 0 else f"[{name}|state {t - 1}]")
        tables[name] = model.start if t == 0 else model.transitions
        states[name] = model.states
        if symbols is not None:
            variable, theta = symbols
            seen = f"{variable.name} {t}"
            nodes.append(f"[{seen}|{name}]")
            tables[seen] = theta
            states[seen] = variable.states
    return Unrolled("".join(nodes), tables, states)
