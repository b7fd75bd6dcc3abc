"""The proposal of importance sampling: rows in ancestral order that know of the evidence below them.

    Q(x_v | parents) ∝ P(x_v | parents) · λ_v(x_v)          w = Π_{v drawn} P(x_v | parents) / Q(x_v | parents)
                                                                · Π_{v observed} P(e_v | parents)

λ_v is the product of the messages that v gets from its children in loopy belief propagation: evidence pre-propagation
(Yuan and Druzdzel 2003). So a rare cause of what was seen is drawn as often as it should be believed. Where the graph
has loops, or causes explain each other away, λ is near, and weights make up for it. No state that can be has a proposal
below ε. In every fourth row ε is so large that one or two variables of the row go against the messages: what these do
not see is drawn all the same. A row weighs P over the mean of both proposals, so that neither makes it too heavy.

What a row can weigh is bounded: with λ_v = Π_c λ_{c→v} over the tables c that hold v as a parent, and its likelihood,

    w = Π_c P_c / Q_c · λ_c / Π_{v parent of c} λ_{c→v} ≤ Π_c max of the same over the cells of c

where P_c / Q_c is P_c if c is observed, and λ_c is 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.network.inference.forward import cumulative
from bayeslearn.network.inference.messages import LogMessages, Messages, along

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.inference.forward import Flat, Question
    from bayeslearn.network.network import BayesianNetwork

    Array = NDArray[np.float64]

#: Rounds of messages, down the graph and up again, at most; and the change of a message at which they end.
ROUNDS, CLOSE = 5, 1e-4

#: The least proposal of a state that can be; in wide rows it is at most the second, and such that so many variables of
#: a row go against the messages.
LEAST, WIDE_LEAST, FLIPS = 0.006, 0.2, 2.0


@dataclass(frozen=True)
class Proposal:
    """Two distributions Q for every table, near and wide, each in a row as the tables of the network are."""

    cdfs: Array
    #: ln P − ln Q of every cell, and the variables for which they differ.
    log_ratios: Array
    tilted: NDArray[np.bool_]
    #: ln of what a draw can weigh at most.
    log_bound: float

    @classmethod
    def prior(cls, network: BayesianNetwork, flat: Flat, question: Question) -> Proposal:
        """The network itself."""
        compiled = flat.compiled
        tilted = np.zeros(len(compiled.names), np.bool_)
        log_bound = 0.0 if question.reject else log_most_probable(network, flat, question)
        return cls(flat.cdf[None], np.zeros((1, len(compiled.cpt))), tilted, log_bound)

    @classmethod
    def of(cls, network: BayesianNetwork, flat: Flat, question: Question) -> Proposal:
        """The network with the evidence propagated to it; the network itself where there is none, or it cannot be."""
        observed = (question.seen >= 0) | question.weighed
        above = flat.compiled.relevant([], observed)
        if question.reject or not (above & (question.seen < 0)).any():
            return cls.prior(network, flat, question)
        try:
            messages = propagated(network, flat, replace(question, kept=above))
        except ZeroDivisionError:
            return cls.prior(network, flat, question)
        return Tilting(network, flat, question, messages).proposal()


def propagated(network: BayesianNetwork, flat: Flat, question: Question) -> Messages:
    """Messages that have gone down the graph and up again, until they hardly change."""
    tables = {int(f): i for i, f in enumerate(np.flatnonzero(question.kept))}
    order = [tables[int(v)] for v in flat.order if int(v) in tables]
    try:
        with np.errstate(under="raise"):
            return _sent(Messages(network, question, 0.0), order)
    except FloatingPointError:
        return _sent(LogMessages(network, question, 0.0), order)


def _sent(messages: Messages, order: list[int]) -> Messages:
    for f in range(len(order), len(messages.tables)):  # the likelihoods
        messages.send(f)
    for _ in range(ROUNDS):
        change = 0.0
        for f in (*order, *reversed(order)):
            if len(messages.scopes[f]) > 1:  # what it says to a single variable does not depend on what it hears
                messages.receive(f)
            change = max(change, messages.send(f))
        if change <= CLOSE:
            break
    return messages


class Tilting:
    """Tables times what the messages say of the evidence below."""

    def __init__(self, network: BayesianNetwork, flat: Flat, question: Question, messages: Messages) -> None:
        self.network, self.flat, self.question, self.messages = network, flat, question, messages
        above = flat.compiled.relevant([], (question.seen >= 0) | question.weighed)
        self.table_of = {int(v): i for i, v in enumerate(np.flatnonzero(above))}
        self.below = {v: self._log_below(v) for v in messages.edges}

    def _log_below(self, v: int) -> Array:
        """ln λ_v."""
        given = self.messages.messages_to(v, but=self.table_of[v])
        total: Array = self.messages.logs(given).sum(axis=0)
        return total

    def proposal(self) -> Proposal:
        """Both proposals and the bound: w ≤ w_m / share of m for each of them."""
        tilted = np.zeros(len(self.flat.compiled.names), np.bool_)
        for v in self.below:
            possible = self.below[v] > -np.inf
            tilted[v] = not possible.all() or np.ptp(self.below[v]) > 0
        wide = min(WIDE_LEAST, max(LEAST, FLIPS / max(tilted.sum(), 1)))
        (cdf, ratio, bound), (wide_cdf, wide_ratio, wide_bound) = (self._tables(tilted, e) for e in (LEAST, wide))
        share = 1 / kernels.WIDE
        log_bound = min(bound - np.log(1 - share), wide_bound - np.log(share)) if tilted.any() else bound
        return Proposal(np.stack([cdf, wide_cdf]), np.stack([ratio, wide_ratio]), tilted, float(log_bound))

    def _tables(self, tilted: NDArray[np.bool_], least: float) -> tuple[Array, Array, float]:
        """The cumulative sums of Q, ln P − ln Q, and the bound when no state that can be has less than `least`."""
        compiled = self.flat.compiled
        cdf, log_ratio, log_bound = self.flat.cdf.copy(), np.zeros(len(compiled.cpt)), 0.0
        for v, table in self.table_of.items():
            p, log_q = self.network.cpts[v].p, None
            if tilted[v]:
                log_q = tilted_logs(p, self.below[v], least)
                here = slice(compiled.cpt_start[v], compiled.cpt_start[v + 1])
                cdf[here] = cumulative(np.exp(log_q)).reshape(-1)
                log_ratio[here] = log_difference(p, log_q).reshape(-1)
            log_bound += self._largest(v, table, p, log_q)
        for table in range(len(self.table_of), len(self.messages.tables)):  # likelihood / its message is constant
            (v,) = self.messages.scopes[table]
            span = slice(compiled.belief_start[v], compiled.belief_start[v + 1])
            log_bound += float(np.log(self.question.likelihood[span].sum()))
        return cdf, log_ratio, log_bound

    def _largest(self, v: int, table: int, p: Array, log_q: Array | None) -> float:
        """ln of the largest that table v can add to a weight."""
        with np.errstate(divide="ignore"):
            term = np.log(p) if self.question.seen[v] >= 0 else np.where(p > 0, 0.0, -np.inf)
        if log_q is not None:
            term = np.where(log_q > -np.inf, log_difference(p, log_q), -np.inf)
        term = shown(term, v, self.flat, self.question)
        if self.question.seen[v] < 0:
            term = term + self.below[v]
        for axis, u in enumerate(self.messages.scopes[table]):
            if u != v:
                said = self.messages.logs(self.messages.to_variable[table][axis])
                term = term - along(np.where(said > -np.inf, said, np.inf), axis, term.ndim)
        return float(np.max(term))


def shown(table: Array, v: int, flat: Flat, question: Question) -> Array:
    """A table over the family of v with the observed axes taken out."""
    compiled = flat.compiled
    seen = question.seen[compiled.scope[compiled.scope_start[v] : compiled.scope_start[v + 1]]]
    return table[tuple(slice(None) if code < 0 else code for code in seen)]


def log_most_probable(network: BayesianNetwork, flat: Flat, question: Question) -> float:
    """ln of a bound on what a row can weigh that is drawn from the network itself."""
    starts = flat.compiled.belief_start
    tops = [shown(network.cpts[v].p, v, flat, question).max() for v in np.flatnonzero(question.seen >= 0).tolist()]
    tops += [question.likelihood[starts[v] : starts[v + 1]].max() for v in np.flatnonzero(question.weighed)]
    with np.errstate(divide="ignore"):
        return float(np.log(tops).sum())


def tilted_logs(p: Array, log_below: Array, least: float) -> Array:
    """ln Q ∝ ln P + ln λ for each row, about ln ε at least where both are positive; ln P where none is."""
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    log_q = log_p + log_below
    total = np.logaddexp.reduce(log_q, axis=-1, keepdims=True)
    possible = log_q > -np.inf
    epsilon = 2 * least / max(p.shape[-1], 2)
    with np.errstate(under="ignore"):
        q = np.where(possible, np.maximum(np.exp(log_q - np.where(total > -np.inf, total, 0.0)), epsilon), 0.0)
        q = np.where(total > -np.inf, q, p)
    with np.errstate(divide="ignore"):
        logs: Array = np.log(q / q.sum(axis=-1, keepdims=True))
    return logs


def log_difference(p: Array, log_q: Array) -> Array:
    """ln P − ln Q where both are positive, else −∞."""
    both = (p > 0) & (log_q > -np.inf)
    return np.log(np.where(both, p, 1.0)) - np.where(both, log_q, np.inf)
