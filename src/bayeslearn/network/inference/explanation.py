"""Why a network believes what it believes.

    impact of a piece e_i      P(t | e) against P(t | e without e_i), and the Bayes factor
                               odds(t | e) / odds(t | e without e_i) = P(e_i | t, rest) / P(e_i | not t, rest)
    conflict                   ln Π P(e_i) / P(e): above zero the pieces are less probable together than apart
    value of information       I(T; V | e) = Σ P(t, v | e) ln P(t, v | e) / (P(t | e) P(v | e)), in bits

All of it is read off exact answers to a few more questions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError
from bayeslearn.network.inference.arguments import as_engine, as_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.network import BayesianNetwork
    from bayeslearn.network.inference.exact import Exact


@dataclass(frozen=True)
class Impact:
    """What one piece of evidence does to the belief in the target."""

    name: str
    state: Any
    #: P(target state | all the other evidence)
    without: dict[Any, float]
    #: By target state: how much more probable this piece is if the state holds than if it does not.
    bayes_factor: dict[Any, float]


@dataclass(frozen=True)
class Reasons:
    """Why the target is believed as it is, and what would tell more about it."""

    target: str
    evidence: dict[str, Any]
    before: dict[Any, float]
    belief: dict[Any, float]
    impacts: tuple[Impact, ...]
    #: ln Π P(e_i) / P(e)
    conflict: float
    #: Bits that each unobserved variable would tell about the target, the most telling first.
    information: dict[str, float]


def explain(engine: Exact | BayesianNetwork, evidence: Mapping[str, Any], target: str) -> Reasons:
    """The belief in a target taken apart: by piece of evidence, and by what is not known yet.

    `engine` is a network, or the engine of one (``network.exact``).
    """
    engine = as_engine(engine)
    evidence = as_evidence(engine.network, evidence)
    engine.network[target]  # names the variables that there are
    if target in evidence:
        raise ParameterError(
            f"the target {target!r} is observed, so there is nothing to explain",
            hint=f"leave {target!r} out of the evidence, or name another target",
        )
    whole = engine.query(evidence)
    belief = whole[target]
    return Reasons(
        target,
        evidence,
        engine.query(ask=[target])[target],
        belief,
        tuple(_impact(engine, evidence, target, name, belief) for name in evidence),
        sum(engine.log_evidence({n: s}) for n, s in evidence.items()) - whole.log_evidence,
        _information(engine, evidence, target),
    )


def _impact(engine: Exact, evidence: dict[str, Any], target: str, name: str, belief: dict[Any, float]) -> Impact:
    rest = {n: s for n, s in evidence.items() if n != name}
    without = engine.query(rest, ask=[target])[target]
    factors = {state: _ratio(_odds(p), _odds(without[state])) for state, p in belief.items()}
    return Impact(name, evidence[name], without, factors)


def _information(engine: Exact, evidence: dict[str, Any], target: str) -> dict[str, float]:
    """One propagation for each state of the target tells I(T; V | e) of every V."""
    whole = engine.query(evidence)
    bits = {name: 0.0 for name in whole.beliefs if name != target}
    for state, p in whole[target].items():
        if p > 0:
            given = engine.query({**evidence, target: state})
            for name in bits:
                bits[name] += p * _divergence(given[name], whole[name])
    ranked = sorted(bits.items(), key=lambda item: (-item[1], item[0]))
    return {name: max(value, 0.0) for name, value in ranked}


def _divergence(p: dict[Any, float], q: dict[Any, float]) -> float:
    """Σ p log2 p/q."""
    return sum(x * math.log2(x / q[state]) for state, x in p.items() if x > 0 and q[state] > 0)


def _odds(p: float) -> float:
    return p / (1 - p) if p < 1 else math.inf


def _ratio(a: float, b: float) -> float:
    """a/b of odds; evidence that changes nothing has the factor 1, also where the odds are 0 or infinite."""
    if a == b:
        return 1.0
    return a / b if 0 < b < math.inf else (math.inf if b == 0 else 0.0)
