"""Loopy belief propagation: beliefs from messages between tables and variables, passed round until they settle.

    variable → table   μ_{v→f}(x_v) ∝ Π_{g ≠ f} μ_{g→v}(x_v)
    table → variable   μ_{f→v}(x_v) ∝ Σ over the others of f(x) Π_{u ≠ v} μ_{u→f}(x_u)
    belief             P(x_v | e) ≈ ∝ Π_f μ_{f→v}(x_v)

Exact where tables and variables form a tree; elsewhere an approximation that needs no more memory than the tables, and
that may not settle. A new message is mixed with the old one: (1 − damping)·new + damping·old. ln P(e) is Bethe's:

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
from bayeslearn.network.structures import as_network

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.network import BayesianNetwork

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class LoopyBeliefs:
    """Beliefs by name and state, and whether the messages settled."""

    evidence: dict[str, Any]
    beliefs: dict[str, dict[Any, float]]
    #: Bethe's approximation to ln P(e).
    log_evidence: float
    converged: bool
    iterations: int
    #: The largest change of a message in the last iteration.
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
            The largest change of a message at which the messages have settled.
        """
        validation.number("damping", damping, least=0, below=1)
        validation.integer("max_iter", max_iter, least=1)
        validation.number("tol", tol, least=0)
        evidence = as_evidence(self.network, evidence)
        question = Question.read(self.network, evidence, ask, likelihoods or {})
        messages = Messages(self.network, question, damping)
        change, iterations = np.inf, 0
        try:
            while change > tol and iterations < max_iter:
                change, iterations = messages.step(), iterations + 1
            beliefs = {self.network.names[v]: self._named(v, messages, question) for v in question.asked}
            log_p = messages.log_evidence()
        except ZeroDivisionError:
            raise impossible(evidence, likelihoods or {}) from None
        if change > tol:
            warn_not_settled(iterations, change, tol)
        return LoopyBeliefs(evidence, beliefs, log_p, change <= tol, iterations, change)

    def _named(self, v: int, messages: Messages, question: Question) -> dict[Any, float]:
        states, code = self.network.cpts[v].variable.states, question.seen[v]
        p = messages.belief(v).tolist() if code < 0 else [float(k == code) for k in range(len(states))]
        return dict(zip(states, p, strict=True))


class Messages:
    """The tables with the evidence in them, and a message each way along every edge."""

    def __init__(self, network: BayesianNetwork, question: Question, damping: float) -> None:
        self.damping = damping
        self.tables, self.scopes = tables(network, question)
        sizes = [cpt.variable.size for cpt in network]
        self.edges: dict[int, list[tuple[int, int]]] = {}
        for f, scope in enumerate(self.scopes):
            for axis, v in enumerate(scope):
                self.edges.setdefault(v, []).append((f, axis))
        self.to_table = [[np.full(sizes[v], 1 / sizes[v]) for v in scope] for scope in self.scopes]
        self.to_variable = [[np.full(sizes[v], 1 / sizes[v]) for v in scope] for scope in self.scopes]

    def step(self) -> float:
        """Every message once; returns the largest change."""
        change = 0.0
        for f, table in enumerate(self.tables):
            for axis, old in enumerate(self.to_variable[f]):
                new = normalised(summed(table, self.to_table[f], axis))
                mixed = (1 - self.damping) * new + self.damping * old
                change = max(change, float(np.abs(mixed - old).max()))
                self.to_variable[f][axis] = mixed
        for edges in self.edges.values():
            incoming = np.array([self.to_variable[f][axis] for f, axis in edges])
            for i, (f, axis) in enumerate(edges):
                self.to_table[f][axis] = normalised(product(np.delete(incoming, i, axis=0)))
        return change

    def belief(self, v: int) -> Array:
        """∝ the product of the messages to a variable."""
        return normalised(product(np.array([self.to_variable[f][axis] for f, axis in self.edges[v]])))

    def log_evidence(self) -> float:
        """Bethe's approximation."""
        total = 0.0
        for table, incoming in zip(self.tables, self.to_table, strict=True):
            b = normalised(weighted(table, incoming))
            seen = b > 0
            total += float((b[seen] * np.log(table[seen] / b[seen])).sum())
        for v, edges in self.edges.items():
            b = self.belief(v)
            total += (len(edges) - 1) * float((b[b > 0] * np.log(b[b > 0])).sum())
        return total


def tables(network: BayesianNetwork, question: Question) -> tuple[list[Array], list[list[int]]]:
    """The tables that matter with the observed axes taken out, and virtual evidence as tables of one variable."""
    place = {name: i for i, name in enumerate(network.names)}
    found, scopes = [], []
    for f in np.flatnonzero(question.kept):
        cpt = network.cpts[f]
        scope = [place[v.name] for v in (*cpt.parents, cpt.variable)]
        found.append(cpt.p[tuple(question.seen[v] if question.seen[v] >= 0 else slice(None) for v in scope)])
        scopes.append([v for v in scope if question.seen[v] < 0])
    starts = network.exact.compiled.belief_start
    for v in np.flatnonzero(question.weighed).tolist():
        found.append(question.likelihood[starts[v] : starts[v + 1]])
        scopes.append([v])
    return [np.asarray(table) for table in found], scopes


def weighted(table: Array, messages: list[Array], but: int = -1) -> Array:
    """A table times the messages along its axes, but one."""
    for axis, message in enumerate(messages):
        if axis != but:
            table = table * message.reshape([-1 if a == axis else 1 for a in range(table.ndim)])
    return table


def summed(table: Array, messages: list[Array], axis: int) -> Array:
    """Σ over the other axes of the table times their messages."""
    return weighted(table, messages, axis).sum(axis=tuple(a for a in range(table.ndim) if a != axis))


def product(messages: Array) -> Array:
    """The product of messages (n, states), by logs when there are many, so that it does not underflow."""
    if len(messages) < 16:
        return messages.prod(axis=0)
    with np.errstate(divide="ignore"):
        logs = np.log(messages).sum(axis=0)
    return np.exp(logs - logs.max()) if logs.max() > -np.inf else np.zeros(len(logs))


def normalised(p: Array) -> Array:
    """Divided by its sum; ZeroDivisionError when nothing is possible any more."""
    total = float(p.sum())
    if total == 0:
        raise ZeroDivisionError
    return p / total


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
