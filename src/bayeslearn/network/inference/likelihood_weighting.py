"""Likelihood weighting and rejection sampling: rows in ancestral order, and what each of them weighs.

rejection   drawn like any other row                  w = 1 if it agrees with e, else 0
weighting   observed variables stand as observed      w = Π_{v in e} P(e_v | parents) · Π_{v drawn} P / Q of its state

P(x = k | e) ≈ Σ w·[x = k] / Σ w        P(e) ≈ Σ w / n        effective size = (Σ w)² / Σ w²

Rows are drawn from a proposal Q that depends on the evidence, see below, where a row weighs at most b. A row
that was not drawn yet moves a belief by b / (Σ w + 2 b) at most, and the error holds as much; but where the bound is
far above all that was seen, MORE times the heaviest row stand for it.

The proposal draws rows in ancestral order that know of the evidence below them:

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

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.distributions.sufficient_statistics import Statistics
from bayeslearn.network.inference.forward_sampling import BLOCK, Flat, Question, cumulative, keys, no_weight
from bayeslearn.network.inference.loopy_propagation import LogMessages, Messages, along
from bayeslearn.tables.schema import code_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork

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
    """Tables times the messages of the evidence below."""

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
            p, log_q = self.network.cpts[v].probabilities, None
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
    tops = [
        shown(network.cpts[v].probabilities, v, flat, question).max()
        for v in np.flatnonzero(question.seen >= 0).tolist()
    ]
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


#: How many times the heaviest row stand for one not seen yet, where the bound says nothing.
MORE = 10

#: Where all weights come to fewer rows of the most weight than this, so many times as many: a part of the cases may
#: have no rows at all.
VAGUE, FAR_MORE = 1e-3, 10


@dataclass(frozen=True, eq=False)
class WeightedCounts(Statistics):
    """Sums over a batch of weighted rows: n, Σ w, Σ w², and both for each state; weights are in units of exp(log_unit).

    >>> a = WeightedCounts.of([0.0, 0.0, -np.inf], [[0, 1, 1]], starts=[0, 2])
    >>> (a + a).counts, float((a + a).n)
    (array([2., 2.]), 6.0)
    """

    n: NDArray[np.float64]
    weight: NDArray[np.float64]
    square: NDArray[np.float64]
    counts: NDArray[np.float64]
    squares: NDArray[np.float64]
    log_unit: NDArray[np.float64]

    @classmethod
    def of(
        cls, log_weight: ArrayLike, codes: ArrayLike, *, starts: ArrayLike, asked: ArrayLike | None = None
    ) -> WeightedCounts:
        """Count rows `codes` (variables, rows) of these log weights."""
        log_weight, codes, starts = np.asarray(log_weight), np.asarray(codes), np.asarray(starts)
        unit = float(log_weight.max(initial=-np.inf))
        w = np.exp(log_weight - unit) if unit > -np.inf else np.zeros(len(log_weight))
        counts, squares = np.zeros(int(starts[-1])), np.zeros(int(starts[-1]))
        of = np.arange(len(codes)) if asked is None else np.asarray(asked)
        kernels.tally(codes, w, of, starts, counts, squares)
        return cls(len(w), w.sum(), (w * w).sum(), counts, squares, unit)  # type: ignore[arg-type]

    def combined(self, other: WeightedCounts, operation: Callable[..., Any]) -> WeightedCounts:
        """Entry by entry, in the larger of the two units."""
        unit = np.maximum(self.log_unit, other.log_unit)
        pairs = zip(self.in_units(unit), other.in_units(unit), strict=True)
        return WeightedCounts(*[operation(a, b) for a, b in pairs] + [unit])

    def __mul__(self, factor: float) -> WeightedCounts:
        return replace(super().__mul__(factor), log_unit=self.log_unit)

    def in_units(self, unit: Any) -> list[NDArray[np.float64]]:
        """The amounts in another unit."""
        c = math.exp(self.log_unit - unit) if self.log_unit > -np.inf else 0.0
        return [self.n, c * self.weight, c * c * self.square, c * self.counts, c * c * self.squares]

    @property
    def p(self) -> NDArray[np.float64]:
        """Σ w·[x = k] / Σ w."""
        return self.counts / self.weight

    @property
    def effective_size(self) -> float:
        """(Σ w)² / Σ w², which is n when all weights are equal."""
        return float(self.weight**2 / self.square)

    @property
    def errors(self) -> NDArray[np.float64]:
        """√Σ w²([x = k] − p)² / Σ w, and at least that of a state not seen yet, 1 / (Σ w + 2).

        The unit of the weights is that of the heaviest row: a row not seen yet may weigh as much.
        """
        return np.maximum(self.spread, 1 / (self.weight + 2))

    @property
    def spread(self) -> NDArray[np.float64]:
        """√Σ w²([x = k] − p)² / Σ w."""
        p = self.p
        variance = (self.squares * (1 - 2 * p) + p * p * self.square) / self.weight**2
        return np.sqrt(np.maximum(variance, 0))

    def errors_within(self, log_bound: float) -> NDArray[np.float64]:
        """The spread, and with it what a row not seen yet may change."""
        return np.hypot(self.spread, self.unseen(log_bound))

    def unseen(self, log_bound: float) -> float:
        """What a row not seen yet may change when no row weighs more than the bound: b / (Σ w + 2 b)."""
        rows = self.rows_of_most_weight(log_bound)
        more = MORE * FAR_MORE if rows < VAGUE else MORE
        return min(1 / (rows + 2), more / (float(self.weight) + 2 * more) if np.isfinite(more) else 0.5)

    def rows_of_most_weight(self, log_bound: float) -> float:
        """Σ w / b: the rows that all weights come to, were each as heavy as a row can be."""
        return float(self.weight * np.exp(min(float(self.log_unit) - log_bound, 0.0)))

    @property
    def largest_share(self) -> float:
        """The share of the heaviest row in all weights, whose unit it is: 1 / Σ w."""
        return float(1 / self.weight)

    @property
    def log_evidence(self) -> float:
        """ln(Σ w / n)."""
        return float(self.log_unit + np.log(self.weight / self.n))

    @property
    def log_evidence_error(self) -> float:
        """The standard error of Σ w / n, relative to it: √((n Σ w² / (Σ w)² − 1) / n)."""
        return float(np.sqrt(max(float(self.n) / self.effective_size - 1, 0) / self.n))


@dataclass
class WeightedRun:
    """Rows in ancestral order, weighted by the evidence or rejected by it."""

    network: BayesianNetwork
    flat: Flat
    question: Question
    rng: np.random.Generator
    evidence: dict[str, Any]
    draws: int = 0
    total: WeightedCounts | int = 0
    stream: NDArray[np.uint64] = field(init=False)

    def __post_init__(self) -> None:
        self.stream = keys(self.rng, len(self.network))
        self.proposal = Proposal.of(self.network, self.flat, self.question)

    def more(self, n: int) -> None:
        """Blocks on threads, added in their order."""
        starts = [(lo, min(BLOCK, self.draws + n - lo)) for lo in range(self.draws, self.draws + n, BLOCK)]
        for part in kernels.parallel(self._block, starts, worth=n > BLOCK):
            self.total = self.total + part
        self.draws += n

    def _block(self, rows: tuple[int, int]) -> WeightedCounts:
        first, n = rows
        codes = np.empty((len(self.network), n), code_type(self.network.schema))
        log_weight = self.flat.sample(self.question, self.stream, first, 0, n, codes, self.proposal)
        starts = self.flat.compiled.belief_start
        return WeightedCounts.of(log_weight, codes, starts=starts, asked=np.unique(self.question.asked))

    def errors(self) -> NDArray[np.float64]:
        """The standard error of each state, with what may be unseen yet."""
        total = self.total
        if isinstance(total, int) or total.weight == 0:
            return np.full(int(self.flat.compiled.belief_start[-1]), np.inf)
        return total.errors_within(self.proposal.log_bound)

    def p(self) -> NDArray[np.float64]:
        """Ratios of the weighted counts."""
        return self._weighed().p

    def facts(self) -> dict[str, Any]:
        """The effective size, and ln P(e) with its error."""
        total = self._weighed()
        return {
            "effective_size": total.effective_size,
            "log_evidence": total.log_evidence,
            "log_evidence_error": float(np.hypot(total.log_evidence_error, total.unseen(self.proposal.log_bound))),
            "largest_share": total.largest_share,
        }

    def _weighed(self) -> WeightedCounts:
        if isinstance(self.total, int) or self.total.weight == 0:
            raise no_weight(self.evidence, self.draws)
        return self.total
