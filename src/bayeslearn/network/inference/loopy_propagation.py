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
from bayeslearn.errors import ConvergenceWarning, ImpossibleEvidenceError, outside
from bayeslearn.network.dag import as_network
from bayeslearn.network.inference.evidence import as_evidence
from bayeslearn.network.inference.forward_sampling import Question
from bayeslearn.network.inference.results import QueryResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class LoopyPosterior(QueryResult):
    """Beliefs by name and state, and whether the messages settled."""

    evidence: dict[str, Any]
    beliefs: dict[str, dict[Any, float]]
    #: Bethe's approximation to ln P(e).
    log_evidence: float
    converged: bool
    iterations: int
    #: The largest change of a message in the last iteration, relative to it.
    change: float

    def _facts(self) -> dict[str, Any]:
        return {
            "ln P(evidence)": self.log_evidence,
            "Method": "loopy belief propagation",
            "Iterations": self.iterations,
            "Converged": self.converged,
        }


class LoopyPropagation:
    """Questions to one network, answered by messages.

    >>> from bayeslearn.network.bayesian_network import BayesianNetwork
    >>> net = BayesianNetwork.from_tables(
    ...     "[Rain][Wet|Rain]", {"Rain": [0.2, 0.8], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ...     states={"Rain": ["yes", "no"], "Wet": ["yes", "no"]},
    ... )
    >>> print(f"{LoopyPropagation(net).query({'Wet': 'yes'})['Rain']['yes']:.4f}")          # .18 / (.18 + .16)
    0.5294
    """

    def __init__(self, network: BayesianNetwork) -> None:
        self.network = network = as_network(network)

    def query(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        variables: Iterable[str] | None = None,
        virtual_evidence: Mapping[str, ArrayLike] | None = None,
        damping: float = 0.2,
        max_iter: int = 500,
        tol: float = 1e-9,
    ) -> LoopyPosterior:
        """Approximate posterior distributions given evidence.

        Parameters
        ----------
        evidence, variables, virtual_evidence
            As for :meth:`ExactInference.query`.
        damping
            The share of the old message in the new, from 0 up to 1: more settles more often, and more slowly.
        max_iter
            The most rounds of messages; stopping there is warned of, with the numbers.
        tol
            The largest relative change of a message at which the messages have settled.
        """
        validation.number("damping", damping, min_value=0, below=1)
        validation.integer("max_iter", max_iter, min_value=1)
        validation.number("tol", tol, min_value=0)
        evidence = as_evidence(self.network, evidence)
        question = Question.read(self.network, evidence, variables, virtual_evidence or {})
        try:
            try:
                with np.errstate(under="raise"):
                    found = self._settled(Messages(self.network, question, damping), question, max_iter, tol)
            except FloatingPointError:
                found = self._settled(LogMessages(self.network, question, damping), question, max_iter, tol)
        except ZeroDivisionError:
            raise impossible(evidence, virtual_evidence or {}) from None
        beliefs, log_p, iterations, change = found
        if change > tol:
            warn_not_settled(iterations, change, tol)
        return LoopyPosterior(evidence, beliefs, log_p, change <= tol, iterations, change)

    def _settled(
        self, messages: Messages, question: Question, max_iter: int, tol: float
    ) -> tuple[dict[str, dict[Any, float]], float, int, float]:
        change, iterations = np.inf, 0
        while change > tol and iterations < max_iter:
            change, iterations = messages.step(), iterations + 1
        beliefs = {self.network.variables[v]: self._named(v, messages, question) for v in question.asked}
        return beliefs, messages.log_evidence(), iterations, change

    def _named(self, v: int, messages: Messages, question: Question) -> dict[Any, float]:
        states, code = self.network.cpts[v].variable.states, question.seen[v]
        p = messages.belief(v).tolist() if code < 0 else [float(k == code) for k in range(len(states))]
        return dict(zip(states, p, strict=True))


def impossible(evidence: Mapping[str, Any], virtual_evidence: Mapping[str, Any]) -> ImpossibleEvidenceError:
    """The error when the messages leave no state to a variable: messages only ever rule out what is impossible."""
    pieces = [
        *(f"{name}={state}" for name, state in evidence.items()),
        *(f"the likelihood of {n}" for n in virtual_evidence),
    ]
    return ImpossibleEvidenceError(
        f"the evidence is impossible: {', '.join(pieces)} cannot be together",
        hint="`network.query` names the smallest part of it that cannot be",
        conflict=[*evidence, *virtual_evidence],
    )


def warn_not_settled(iterations: int, change: float, tol: float) -> None:
    """Warn that the messages still change."""
    warnings.warn(
        f"loopy belief propagation stopped after {iterations} iterations, messages still change by {change:.1e}, "
        f"asked for {tol:.0e}\n\nhint: raise `damping` or `max_iter`, loosen `tol`, or use sampled or exact inference",
        ConvergenceWarning,
        stacklevel=outside(),
    )


#: Messages to a variable that may be multiplied without logs.
FEW = 16

#: Numbers below this count as zero when it is asked whether a message has settled.
SMALLEST = 1e-300


class Messages:
    """The tables with the evidence in them, and a message each way along every edge."""

    def __init__(self, network: BayesianNetwork, question: Question, damping: float) -> None:
        self.damping = damping
        self.tables, self.scopes = tables(network, question)
        sizes = [cpt.variable.n_states for cpt in network]
        self.edges: dict[int, list[tuple[int, int]]] = {}
        for f, scope in enumerate(self.scopes):
            for axis, v in enumerate(scope):
                self.edges.setdefault(v, []).append((f, axis))
        self.to_table = [[self.even(sizes[v]) for v in scope] for scope in self.scopes]
        self.to_variable = [[self.even(sizes[v]) for v in scope] for scope in self.scopes]
        self.lengths = np.array([sizes[v] for scope in self.scopes for v in scope], np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.few, self.many = self._places(sizes)

    def _places(self, sizes: list[int]) -> tuple[list[tuple[Places, Places]], list[Places]]:
        """Where the messages of a variable lie when all are in a row.

        Variables with few messages are treated together when as many have as many states: the places of their messages
        (variables, messages, states), and of all others for each of these (variables, messages, others, states).
        """
        ends = np.cumsum([0, *(len(scope) for scope in self.scopes)])
        groups: dict[tuple[int, int], list[Places]] = {}
        for v, edges in self.edges.items():
            first = self.starts[[ends[f] + axis for f, axis in edges]]
            groups.setdefault((len(edges), sizes[v]), []).append(first[:, None] + np.arange(sizes[v]))
        few, many = [], []
        for (d, _), places in groups.items():
            if d <= FEW:
                but_one = np.array([[j for j in range(d) if j != i] for i in range(d)], np.int64)
                few.append((np.array(places), np.array(places)[:, but_one.reshape(d, d - 1)]))
            else:
                many += places
        return few, many

    def step(self) -> float:
        """Every message once; returns the largest change."""
        if not self.edges:
            return 0.0
        old = np.concatenate([message for messages in self.to_variable for message in messages])
        new = [
            self.summed(table, messages, axis)
            for table, messages in zip(self.tables, self.to_table, strict=True)
            for axis in range(len(messages))
        ]
        now = self.mixed(self.each_normalized(np.concatenate(new)), old)
        to_table = np.empty_like(now)
        for places, others in self.few:
            to_table[places] = self.product(now[others])
        for places in self.many:
            to_table[places] = self.products_but_one(now[places])
        self.to_variable = self._parted(now)
        self.to_table = self._parted(self.each_normalized(to_table))
        return self.change(now, old)

    def _parted(self, row: Array) -> list[list[Array]]:
        """Messages in a row as lists by table."""
        parts = iter([row[a:b] for a, b in zip(self.starts, self.starts + self.lengths, strict=True)])
        return [[next(parts) for _ in scope] for scope in self.scopes]

    def send(self, f: int) -> float:
        """The messages of one table to its variables, not damped; returns the largest change."""
        change = 0.0
        for axis, old in enumerate(self.to_variable[f]):
            new = self.normalized(self.summed(self.tables[f], self.to_table[f], axis))
            change = max(change, self.change(new, old))
            self.to_variable[f][axis] = new
        return change

    def receive(self, f: int) -> None:
        """The messages of its variables to one table."""
        for axis, v in enumerate(self.scopes[f]):
            self.to_table[f][axis] = self.normalized(self.product(self.messages_to(v, but=f)))

    def messages_to(self, v: int, but: int = -1) -> Array:
        """The messages to a variable (tables, states), all but those of one table."""
        size = len(self.to_variable[self.edges[v][0][0]][self.edges[v][0][1]])
        return np.array([self.to_variable[f][axis] for f, axis in self.edges[v] if f != but]).reshape(-1, size)

    def belief(self, v: int) -> Array:
        """∝ the product of the messages to a variable."""
        return self.plain(self.normalized(self.product(self.messages_to(v))))

    def log_evidence(self) -> float:
        """Bethe's approximation."""
        total = 0.0
        for table, incoming in zip(self.tables, self.to_table, strict=True):
            b = self.normalized(self.weighted(table, incoming))
            p = self.plain(b)
            seen = p > 0
            total += float((p[seen] * (self.logs(table[seen]) - self.logs(b[seen]))).sum())
        for v, edges in self.edges.items():
            b = self.belief(v)
            total += (len(edges) - 1) * float((b[b > 0] * np.log(b[b > 0])).sum())
        return total

    # -- the arithmetic of messages

    def even(self, size: int) -> Array:
        """The uniform message."""
        return np.full(size, 1 / size)

    def weighted(self, table: Array, messages: list[Array], but: int = -1) -> Array:
        """A table times the messages along its axes, but one."""
        for axis, message in enumerate(messages):
            if axis != but:
                table = table * along(message, axis, table.ndim)
        return table

    def summed(self, table: Array, messages: list[Array], axis: int) -> Array:
        """Σ over the other axes of the table times their messages."""
        whole: Array = self.weighted(table, messages, axis).sum(axis=other_axes(table, axis))
        return whole

    def product(self, messages: Array) -> Array:
        """The product of messages (…, n, states), by logs when there are many, so that it does not underflow."""
        if messages.shape[-2] < FEW:
            whole: Array = messages.prod(axis=-2)
            return whole
        return self.from_logs(self.logs(messages).sum(axis=-2))

    def products_but_one(self, messages: Array) -> Array:
        """For each of many messages (n, states) the product of all others: logs of all, less its own."""
        logs = self.logs(messages)
        zero = np.isneginf(logs)
        finite = np.where(zero, 0.0, logs)
        rest = np.where(zero.sum(axis=0) > zero, -np.inf, finite.sum(axis=0) - finite)
        return self.from_logs(rest)

    def from_logs(self, logs: Array) -> Array:
        """Messages (…, states) from their logs, the largest number of each being 1."""
        top = logs.max(axis=-1, keepdims=True)
        return np.exp(logs - np.where(top > -np.inf, top, 0.0))

    def normalized(self, p: Array) -> Array:
        """Divided by its sum; ZeroDivisionError when nothing is possible any more."""
        total = float(p.sum())
        if total == 0:
            raise ZeroDivisionError
        return p / total

    def each_normalized(self, row: Array) -> Array:
        """Messages in a row, each divided by its sum."""
        total = np.add.reduceat(row, self.starts)
        if not total.all():
            raise ZeroDivisionError
        return row / np.repeat(total, self.lengths)

    def mixed(self, new: Array, old: Array) -> Array:
        """new^(1 − damping) · old^damping."""
        return new ** (1 - self.damping) * old**self.damping if self.damping else new

    def change(self, new: Array, old: Array) -> float:
        """The largest change of a number, relative to it: small ones may meet others that are smaller still."""
        return float((np.abs(new - old) / np.maximum(new, SMALLEST)).max())

    def plain(self, message: Array) -> Array:
        """The numbers of a message."""
        return message

    def logs(self, message: Array) -> Array:
        """Their logs."""
        with np.errstate(divide="ignore"):
            return np.log(message)


class LogMessages(Messages):
    """The same in logs, for numbers too small to multiply."""

    def __init__(self, network: BayesianNetwork, question: Question, damping: float) -> None:
        super().__init__(network, question, damping)
        self.tables = [Messages.logs(self, table) for table in self.tables]

    def even(self, size: int) -> Array:
        """The uniform message."""
        return np.full(size, -np.log(size))

    def weighted(self, table: Array, messages: list[Array], but: int = -1) -> Array:
        """A table times the messages along its axes, but one."""
        for axis, message in enumerate(messages):
            if axis != but:
                table = table + along(message, axis, table.ndim)
        return table

    def summed(self, table: Array, messages: list[Array], axis: int) -> Array:
        """Σ over the other axes of the table times their messages."""
        return np.logaddexp.reduce(
            np.moveaxis(self.weighted(table, messages, axis), axis, 0).reshape(table.shape[axis], -1), axis=1
        )

    def product(self, messages: Array) -> Array:
        """The product of messages (…, n, states)."""
        whole: Array = messages.sum(axis=-2)
        return whole

    def from_logs(self, logs: Array) -> Array:
        """Messages from their logs, which they are."""
        return logs

    def normalized(self, p: Array) -> Array:
        """Divided by its sum; ZeroDivisionError when nothing is possible any more."""
        total = float(np.logaddexp.reduce(p, axis=None))
        if total == -np.inf:
            raise ZeroDivisionError
        return p - total

    def each_normalized(self, row: Array) -> Array:
        """Messages in a row, each divided by its sum."""
        total = np.logaddexp.reduceat(row, self.starts)
        if np.isneginf(total).any():
            raise ZeroDivisionError
        return row - np.repeat(total, self.lengths)

    def mixed(self, new: Array, old: Array) -> Array:
        """new^(1 − damping) · old^damping."""
        return (1 - self.damping) * new + self.damping * old

    def change(self, new: Array, old: Array) -> float:
        """The largest change of a number, relative to it."""
        there = new > -np.inf
        return float(np.max(np.abs(new[there] - old[there]), initial=0.0))

    def plain(self, message: Array) -> Array:
        """The numbers of a message."""
        return np.exp(message)

    def logs(self, message: Array) -> Array:
        """Their logs."""
        return message


def tables(network: BayesianNetwork, question: Question) -> tuple[list[Array], list[list[int]]]:
    """The tables that matter with the observed axes taken out, and virtual evidence as tables of one variable."""
    place = {name: i for i, name in enumerate(network.variables)}
    found, scopes = [], []
    for f in np.flatnonzero(question.kept):
        cpt = network.cpts[f]
        scope = [place[v.name] for v in (*cpt.parents, cpt.variable)]
        found.append(
            cpt.probabilities[tuple(question.seen[v] if question.seen[v] >= 0 else slice(None) for v in scope)]
        )
        scopes.append([v for v in scope if question.seen[v] < 0])
    starts = network.inference.compiled.belief_start
    for v in np.flatnonzero(question.weighed).tolist():
        found.append(question.likelihood[starts[v] : starts[v + 1]])
        scopes.append([v])
    return [np.asarray(table) for table in found], scopes


def along(message: Array, axis: int, ndim: int) -> Array:
    """A message as an array of `ndim` axes, along one of them."""
    return message.reshape([-1 if a == axis else 1 for a in range(ndim)])


def other_axes(table: Array, axis: int) -> tuple[int, ...]:
    """All axes of a table but one."""
    return tuple(a for a in range(table.ndim) if a != axis)
