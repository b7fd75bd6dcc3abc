"""Messages between tables and variables, as numbers or, where these are too small to multiply, as their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.inference.forward import Question
    from bayeslearn.network.network import BayesianNetwork

    Array = NDArray[np.float64]

#: Numbers below this count as zero when it is asked whether a message has settled.
SMALLEST = 1e-300


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
        self.to_table = [[self.even(sizes[v]) for v in scope] for scope in self.scopes]
        self.to_variable = [[self.even(sizes[v]) for v in scope] for scope in self.scopes]

    def step(self) -> float:
        """Every message once; returns the largest change."""
        change = 0.0
        for f in range(len(self.tables)):
            change = max(change, self.send(f))
        for edges in self.edges.values():
            incoming = np.array([self.to_variable[f][axis] for f, axis in edges])
            for i, (f, axis) in enumerate(edges):
                self.to_table[f][axis] = self.normalised(self.product(np.delete(incoming, i, axis=0)))
        return change

    def send(self, f: int) -> float:
        """The messages of one table to its variables; returns the largest change."""
        change = 0.0
        for axis, old in enumerate(self.to_variable[f]):
            new = self.normalised(self.summed(self.tables[f], self.to_table[f], axis))
            mixed = self.mixed(new, old) if self.damping else new
            change = max(change, self.change(mixed, old))
            self.to_variable[f][axis] = mixed
        return change

    def receive(self, f: int) -> None:
        """The messages of its variables to one table."""
        for axis, v in enumerate(self.scopes[f]):
            self.to_table[f][axis] = self.normalised(self.product(self.messages_to(v, but=f)))

    def messages_to(self, v: int, but: int = -1) -> Array:
        """The messages to a variable (tables, states), all but those of one table."""
        size = len(self.to_variable[self.edges[v][0][0]][self.edges[v][0][1]])
        return np.array([self.to_variable[f][axis] for f, axis in self.edges[v] if f != but]).reshape(-1, size)

    def belief(self, v: int) -> Array:
        """∝ the product of the messages to a variable."""
        return self.plain(self.normalised(self.product(self.messages_to(v))))

    def log_evidence(self) -> float:
        """Bethe's approximation."""
        total = 0.0
        for table, incoming in zip(self.tables, self.to_table, strict=True):
            b = self.normalised(self.weighted(table, incoming))
            p = self.plain(b)
            seen = p > 0
            total += float((p[seen] * (self.logs(table[seen]) - self.logs(b[seen]))).sum())
        for v, edges in self.edges.items():
            b = self.belief(v)
            total += (len(edges) - 1) * float((b[b > 0] * np.log(b[b > 0])).sum())
        return total

    # -- the arithmetic of messages

    def even(self, size: int) -> Array:
        """The message that says nothing."""
        return np.full(size, 1 / size)

    def weighted(self, table: Array, messages: list[Array], but: int = -1) -> Array:
        """A table times the messages along its axes, but one."""
        for axis, message in enumerate(messages):
            if axis != but:
                table = table * along(message, axis, table.ndim)
        return table

    def summed(self, table: Array, messages: list[Array], axis: int) -> Array:
        """Σ over the other axes of the table times their messages."""
        whole: Array = self.weighted(table, messages, axis).sum(axis=others(table, axis))
        return whole

    def product(self, messages: Array) -> Array:
        """The product of messages (n, states), by logs when there are many, so that it does not underflow."""
        if len(messages) < 16:
            whole: Array = messages.prod(axis=0)
            return whole
        logs = self.logs(messages).sum(axis=0)
        return np.exp(logs - logs.max()) if logs.max() > -np.inf else np.zeros(len(logs))

    def normalised(self, p: Array) -> Array:
        """Divided by its sum; ZeroDivisionError when nothing is possible any more."""
        total = float(p.sum())
        if total == 0:
            raise ZeroDivisionError
        return p / total

    def mixed(self, new: Array, old: Array) -> Array:
        """new^(1 − damping) · old^damping."""
        return new ** (1 - self.damping) * old**self.damping

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
        """The message that says nothing."""
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
        """The product of messages (n, states)."""
        whole: Array = messages.sum(axis=0)
        return whole

    def normalised(self, p: Array) -> Array:
        """Divided by its sum; ZeroDivisionError when nothing is possible any more."""
        total = float(np.logaddexp.reduce(p, axis=None))
        if total == -np.inf:
            raise ZeroDivisionError
        return p - total

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


def along(message: Array, axis: int, ndim: int) -> Array:
    """A message as an array of so many axes, along one of them."""
    return message.reshape([-1 if a == axis else 1 for a in range(ndim)])


def others(table: Array, axis: int) -> tuple[int, ...]:
    """All axes of a table but one."""
    return tuple(a for a in range(table.ndim) if a != axis)
