"""Loopy belief propagation: beliefs from messages between tables and variables, passed round until they settle.

    variable → table   μ_{v→f}(x_v) ∝ Π_{g ≠ f} μ_{g→v}(x_v)
    table → variable   μ_{f→v}(x_v) ∝ Σ over the others of f(x) Π_{u ≠ v} μ_{u→f}(x_u)
    belief             P(x_v | e) ≈ ∝ Π_f μ_{f→v}(x_v)

Exact where tables and variables form a tree; elsewhere an approximation that needs no more memory than the tables, and
that may not settle. A new message is mixed with the old one, new^(1 − damping) · old^damping, so that a state that is
all but ruled out is so at once. Where products underflow, messages are passed once more in logs. ln P(e) is Bethe's:

    ln P(e) ≈ Σ_f Σ_x b_f ln(f / b_f) + Σ_v (d_v − 1) Σ_x b_v ln b_v         d_v tables hold v
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ImpossibleEvidenceError, NotConvergedWarning, ParameterError, listed
from bayeslearn.network.inference.arguments import as_evidence
from bayeslearn.network.inference.forward import Question
from bayeslearn.network.inference.messages import LogMessages, Messages
from bayeslearn.network.structures import as_network

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from bayeslearn.network.network import BayesianNetwork


@dataclass(frozen=True)
class LoopyBeliefs:
    """Beliefs by name and state, and whether the messages settled."""

    evidence: dict[str, Any]
    beliefs: dict[str, dict[Any, float]]
    #: Bethe's approximation to ln P(e).
    log_evidence: float
    converged: bool
    iterations: int
    #: The largest change of a message in the last iteration, relative to it.
    change: float

    def __getitem__(self, name: str) -> dict[Any, float]:
        if name not in self.beliefs:
            raise ParameterError(f"{name!r} was not asked for", hint=f"there is {listed(self.beliefs)}")
        return self.beliefs[name]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return dict(vars(self))


class Loopy:
    """Questions to one network, answered by messages.

    >>> from bayeslearn.network import BayesianNetwork
    >>> net = BayesianNetwork.of(
    ...     "[Rain][Wet|Rain]", {"Rain": [0.2, 0.8], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ...     states={"Rain": ["yes", "no"], "Wet": ["yes", "no"]},
    ... )
    >>> print(f"{Loopy(net).query({'Wet': 'yes'})['Rain']['yes']:.4f}")          # .18 / (.18 + .16)
    0.5294
    """

    def __init__(self, network: BayesianNetwork) -> None:
        self.network = network = as_network(network)

    def query(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        ask: Iterable[str] | None = None,
        likelihoods: Mapping[str, ArrayLike] | None = None,
        damping: float = 0.2,
        max_iter: int = 500,
        tol: float = 1e-9,
    ) -> LoopyBeliefs:
        """Approximate posterior distributions given evidence.

        Parameters
        ----------
        evidence, ask, likelihoods
            As for :meth:`Exact.query`.
        damping
            The share of the old message in the new, from 0 up to 1: more settles more often, and more slowly.
        max_iter
            The most rounds of messages; stopping there is warned of, with the numbers.
        tol
            The largest relative change of a message at which the messages have settled.
        """
        validation.number("damping", damping, least=0, below=1)
        validation.integer("max_iter", max_iter, least=1)
        validation.number("tol", tol, least=0)
        evidence = as_evidence(self.network, evidence)
        question = Question.read(self.network, evidence, ask, likelihoods or {})
        try:
            try:
                with np.errstate(under="raise"):
                    found = self._settled(Messages(self.network, question, damping), question, max_iter, tol)
            except FloatingPointError:
                found = self._settled(LogMessages(self.network, question, damping), question, max_iter, tol)
        except ZeroDivisionError:
            raise impossible(evidence, likelihoods or {}) from None
        beliefs, log_p, iterations, change = found
        if change > tol:
            warn_not_settled(iterations, change, tol)
        return LoopyBeliefs(evidence, beliefs, log_p, change <= tol, iterations, change)

    def _settled(
        self, messages: Messages, question: Question, max_iter: int, tol: float
    ) -> tuple[dict[str, dict[Any, float]], float, int, float]:
        change, iterations = np.inf, 0
        while change > tol and iterations < max_iter:
            change, iterations = messages.step(), iterations + 1
        beliefs = {self.network.names[v]: self._named(v, messages, question) for v in question.asked}
        return beliefs, messages.log_evidence(), iterations, change

    def _named(self, v: int, messages: Messages, question: Question) -> dict[Any, float]:
        states, code = self.network.cpts[v].variable.states, question.seen[v]
        p = messages.belief(v).tolist() if code < 0 else [float(k == code) for k in range(len(states))]
        return dict(zip(states, p, strict=True))


def impossible(evidence: Mapping[str, Any], likelihoods: Mapping[str, Any]) -> ImpossibleEvidenceError:
    """The error when the messages leave no state to a variable: messages only ever rule out what is impossible."""
    pieces = [
        *(f"{name}={state}" for name, state in evidence.items()),
        *(f"the likelihood of {n}" for n in likelihoods),
    ]
    return ImpossibleEvidenceError(
        f"the evidence is impossible: {', '.join(pieces)} cannot be together",
        hint="`network.query` names the smallest part of it that cannot be",
        conflict=[*evidence, *likelihoods],
    )


def warn_not_settled(iterations: int, change: float, tol: float) -> None:
    """Say that the messages still change."""
    warnings.warn(
        f"loopy belief propagation stopped after {iterations} iterations, messages still change by {change:.1e}, "
        f"asked for {tol:.0e}\n\nhint: raise `damping` or `max_iter`, loosen `tol`, or use sampled or exact inference",
        NotConvergedWarning,
        stacklevel=3,
    )
