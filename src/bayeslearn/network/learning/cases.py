"""Cases as learning wants them: what is known is counted once, what is missing is folded.

A family that a row shows altogether adds one to a cell, whatever the tables say; only the missing variables of a row
need inference, group by group (:mod:`bayeslearn.kernels.folding`). So a table is taken apart once and then serves every
iteration, whether of EM, of gradient ascent or of anything else that asks for expected counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.tables import contingency
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.inference.compiled import Compiled
    from bayeslearn.tables import Table

S = TypeVar("S")

#: Items of one group that one task takes; larger groups are split, so that both cores have work.
MOST_ITEMS = 2048


@dataclass(frozen=True)
class Soft:
    """Soft evidence in rows: for each such row the likelihood of every state of every variable, and who has some."""

    likelihoods: NDArray[np.float64]
    weighed: NDArray[np.bool_]

    @classmethod
    def none(cls, states: int, variables: int) -> Soft:
        """No row has any."""
        return cls(np.ones((0, states)), np.zeros((0, variables), np.bool_))


@dataclass(frozen=True)
class Items:
    """Groups of missing variables with what stands beside them, sorted by group."""

    #: Variables of each group, as bits.
    groups: NDArray[np.uint64]
    #: Where the items of each group start.
    start: NDArray[np.int64]
    #: What each item shows, the missing as −1; (items, variables), in the smallest whole numbers that hold them.
    codes: NDArray[Any]
    weights: NDArray[np.float64]
    #: The first row that shows it.
    row: NDArray[np.int64]
    #: Its row of soft evidence, −1 for none.
    soft: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.weights)


@dataclass(frozen=True)
class Cases:
    """What the E step asks of cases; they fold like any source, being their own only batch."""

    #: Counts of the families that rows show altogether, in a row as the tables of the network are.
    known: NDArray[np.float64]
    items: Items
    soft: Soft

    def fold(self, collect: Callable[[Any], S]) -> S:
        """`collect` of all cases at once."""
        return collect(self)


@dataclass(frozen=True)
class FoldedCases(Cases):
    """A table taken apart for one structure."""

    table: Table
    #: For each row where its items begin in `record_item`.
    record_start: NDArray[np.int64]
    record_item: NDArray[np.int64]

    @classmethod
    def of(cls, compiled: Compiled, table: Table, *, likelihoods: Mapping[str, ArrayLike] | None = None) -> Self:
        """Take a table apart; its columns are the variables of the network, in order.

        `likelihoods` is soft evidence: for a variable an array (rows, states), rows of ones where there is none.
        """
        soft, soft_row, table = _soft_evidence(compiled, table, likelihoods or {})
        if table.codes.min(initial=0) >= 0:
            return cls.complete(compiled, table)
        codes, weights = rows_of(table.codes.T), read_only(weights_of(table))
        groups, _, group, row, weight, start, record = kernels.fold_rows(codes, weights, soft_row >= 0, near(compiled))
        order = np.argsort(group, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        first = row[order]
        items = Items(*split_runs(groups, group[order]), codes[first], weight[order], first, soft_row[first])
        return cls(known_counts(compiled, table), items, soft, table, start, place[record])

    @classmethod
    def complete(cls, compiled: Compiled, table: Table) -> Self:
        """A table in which nothing is missing: all of it is known."""
        n, none = len(compiled.names), np.empty(0, np.int64)
        no_items = Items(
            np.empty((0, (n + 63) // 64), np.uint64), np.zeros(1, np.int64), np.empty((0, n), np.int8), np.empty(0),
            none, none,
        )  # fmt: skip
        soft = Soft.none(int(compiled.belief_start[-1]), n)
        return cls(known_counts(compiled, table), no_items, soft, table, np.zeros(table.n_rows + 1, np.int64), none)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows


def near(compiled: Compiled) -> NDArray[np.uint64]:
    """Which variables some table holds together."""
    found: NDArray[np.uint64] = kernels.neighbours(compiled.scope_start, compiled.scope, len(compiled.names))
    return found


def rows_of(codes: NDArray[Any]) -> NDArray[Any]:
    """Codes row by row, as the kernel takes them: the smallest whole numbers, or 32 bits."""
    return np.array(codes, np.int8 if codes.dtype == np.int8 else np.int32, order="C")


def weights_of(table: Table) -> NDArray[np.float64]:
    """How often each row counts."""
    return np.ones(table.n_rows) if table.weights is None else table.weights


def known_counts(compiled: Compiled, table: Table) -> NDArray[np.float64]:
    """Counts of the families that rows show altogether, in a row as the tables are."""
    scopes = np.split(compiled.scope, compiled.scope_start[1:-1])
    found = contingency(table, [[compiled.names[v] for v in scope] for scope in scopes])
    return np.concatenate([family.counts.reshape(-1) for family in found]).astype(np.float64)


def split_runs(groups: NDArray[np.uint64], group: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The group of each run of items, and where runs start: runs end with their group, or when they are long."""
    n = len(group)
    new = np.ones(n, np.bool_)
    new[1:] = group[1:] != group[:-1]
    begin = np.flatnonzero(new)
    within = np.arange(n) - np.repeat(begin, np.diff(np.append(begin, n)))
    starts = np.flatnonzero(new | (within % MOST_ITEMS == 0))
    return groups[group[starts]], np.append(starts, n).astype(np.int64)


def _soft_evidence(
    compiled: Compiled, table: Table, given: Mapping[str, ArrayLike]
) -> tuple[Soft, NDArray[np.int64], Table]:
    """Likelihoods of the rows that have some, the number of these that each row has (−1 for none), and the table."""
    rows, states = table.n_rows, int(compiled.belief_start[-1])
    number = np.full(rows, -1, np.int64)
    if not given:
        return Soft.none(states, len(compiled.names)), number, table
    flat, weighed = np.ones((rows, states)), np.zeros((rows, len(compiled.names)), np.bool_)
    for name, values in given.items():
        v = compiled.position(name)
        likelihood = validation.not_negative(f"likelihood of {name}", validation.float_array(name, values))
        if likelihood.shape != (rows, compiled.sizes[v]):
            raise ShapeError(
                f"the likelihoods of {name!r} must have a row for each case and a column for each state, "
                f"shape {(rows, int(compiled.sizes[v]))}, got {likelihood.shape}"
            )
        weighed[:, v] = (likelihood != 1).any(axis=1)
        _require_open(name, table, weighed[:, v], likelihood)
        flat[:, compiled.belief_start[v] : compiled.belief_start[v + 1]] = likelihood
    has = np.flatnonzero(weighed.any(axis=1))
    number[has] = np.arange(len(has))
    return Soft(np.ascontiguousarray(flat[has]), np.ascontiguousarray(weighed[has])), number, table


def _require_open(name: str, table: Table, weighed: NDArray[np.bool_], likelihood: NDArray[np.float64]) -> None:
    both = weighed & (table.code(name) >= 0)
    if both.any():
        row = validation.first_position(both)
        raise ParameterError(
            f"row {row} has a value and a likelihood for {name!r}, which contradict each other",
            hint="leave the cell missing where soft evidence is given",
            row=row,
        )
    nothing = weighed & (likelihood.max(axis=1) <= 0)
    if nothing.any():
        row = validation.first_position(nothing)
        raise ParameterError(
            f"the likelihood of {name!r} in row {row} allows no state at all",
            hint="give at least one of its states a positive number",
            row=row,
        )
