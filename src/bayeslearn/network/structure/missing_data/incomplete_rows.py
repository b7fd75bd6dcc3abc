"""Rows with missing values, as structural EM asks of them: what it fits tables to, and expected counts under a network.

The expected counts of every family are those of one weighted table in which nothing is missing:

    E[N(family)] = Σ_d w_d Σ_c P(c | what d shows) · [c is in the family's cell]        c the completions of row d

A row stands for all its completions, each with its share of the row's weight; the share follows from the joint
probability of whole cases, so that there is nothing to infer:

    P(c | what d shows) = P(c) / Σ_c' P(c')

A row with too many completions stands for draws from that posterior instead, the same numbers deciding in every round;
where rows are very many, every incomplete one stands for a single draw, for their noise falls as 1/√rows, and rows that
all weigh the same are counted much quicker.
Scores and searches do not see the difference: expected statistics are statistics.

A batch of a source is completed part by part, so that what it becomes takes little memory; where nothing is left to
chance, that is the same as completing all rows together.

In memory, all completions are listed once, and every network weighs them anew. From a source, every pass completes what
it reads and counts it at once. As long as no completion is drawn, both come to the same.

References
----------
Friedman (1997), Learning belief networks in the presence of missing values and hidden variables.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from bayeslearn import validation
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.inference.results import impossible_row
from bayeslearn.network.parameters.fit import fit_cases
from bayeslearn.network.parameters.imputation import impute
from bayeslearn.network.parameters.training_cases import Cases, FoldedCases, gathered
from bayeslearn.network.structure.out_of_core.deferred_scores import DeferredScores
from bayeslearn.network.structure.out_of_core.source_counts import ExpectedCounts
from bayeslearn.network.structure.scoring.criteria import ScoreCache
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import DRAWS
from bayeslearn.sources.base import Extent
from bayeslearn.tables import Table
from bayeslearn.tables.contingency import groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.parameters.training_cases import Passes
    from bayeslearn.network.structure.out_of_core.source_counts import Looked
    from bayeslearn.network.structure.scoring.criteria import StructureScore
    from bayeslearn.sources.base import Scanned
    from bayeslearn.tables import Schema, Source

    Codes = NDArray[np.signedinteger[Any]]

    #: Every variable with its parents.
    Families = tuple[tuple[str, tuple[str, ...]], ...]


#: Completions of one row that are listed, and of all rows together.
MOST, ROOM = 256, 1 << 16

#: Completions, listed and drawn, from which on every row is completed by a single draw.
MANY = 1 << 17

#: Shares of a row that are too small to be told from rounding.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Completions:
    """The completions of a table, listed once; a network then gives them their weights.

    >>> from bayeslearn import read_network
    >>> from bayeslearn.tables import as_table
    >>> asia = read_network("asia")
    >>> shown = as_table([{"smoke": "yes", "lung": "yes"}] * 10, schema=asia.schema, missing_columns="missing")
    >>> Completions.of(shown).under(asia).n_rows
    32
    """

    #: Rows with few completions, equal ones folded, and what they weigh.
    shown: Table
    #: The different completions of all of these.
    cases: Table
    #: The completions of each row, those of one row after those of another: their places among the cases,
    case: NDArray[np.intp]
    #: and where those of a row begin.
    start: NDArray[np.int64]
    #: Rows with many completions, as often as each is to be drawn.
    drawn: Table
    seed: int

    @classmethod
    def of(cls, table: Table, *, most: int = MOST, room: int = ROOM, draws: int = DRAWS, seed: int = 0) -> Completions:
        """List what is possible: up to `most` completions of a row and `room` in total; `draws` of the other rows."""
        return cls.of_distinct(table.distinct(), most=most, room=room, draws=draws, seed=seed)

    @classmethod
    def of_distinct(
        cls, table: Table, *, most: int = MOST, room: int = ROOM, draws: int = DRAWS, seed: int = 0
    ) -> Completions:
        """The same of a table in which no row occurs twice."""
        validation.integer("draws", draws, min_value=1)
        table = table.take(weights_of(table) > 0)
        sizes = np.array([v.n_states for v in table.schema.discrete], np.int64)
        count = np.where(table.codes < 0, sizes[:, None], 1).prod(axis=0, dtype=np.float64)
        few = count <= threshold(count, most, room, draws)
        shown = table.take(few)
        start = np.cumsum([0, *count[few]], dtype=np.int64)
        codes = every_completion(shown.codes, sizes, start)
        first, case = groups(codes, sizes.tolist(), np.empty((0, codes.shape[1])))
        cases = Table(table.schema, codes[:, first], np.empty((0, len(first))))
        return cls(shown, cases, case, start[:-1], repeated(table.take(~few), draws), seed)

    @classmethod
    def one_each(cls, table: Table, *, seed: int = 0) -> Completions:
        """A single draw of every row, in the order of the rows; complete rows are unchanged."""
        nothing = table.take(np.empty(0, np.intp))
        return cls(nothing, nothing, np.empty(0, np.intp), np.empty(0, np.int64), table, seed)

    @property
    def exact(self) -> bool:
        """Whether every completion is listed, so that expected counts are exact."""
        return self.drawn.n_rows == 0

    def under(self, network: BayesianNetwork) -> Table:
        """The weighted table that a network, whose variables are the columns in their order, makes of it."""
        first, *more = self.tables(network)
        return Table.concat([first, *more]).distinct() if more else first

    def tables(self, network: BayesianNetwork) -> list[Table]:
        """The same as those that are listed and, if there are some, those that are drawn."""
        drawn = [] if self.exact else [impute(network, self.drawn, method="sample", random_state=self.seed)]
        if drawn and not self.shown.n_rows:
            return drawn
        weight = np.bincount(self.case, self.shares(network), minlength=self.cases.n_rows)
        return [self.cases.with_weights(weight).take(weight > 0), *drawn]

    def shares(self, network: BayesianNetwork) -> NDArray[np.float64]:
        """w_d · P(c | what d shows) of every listed completion."""
        log_p, row = network.log_joint(self.cases)[self.case], self.row
        top = np.maximum.reduceat(log_p, self.start)
        if np.isneginf(top).any():
            raise impossible_row(network, self.shown, validation.first_position(np.isneginf(top)))
        p = np.exp(log_p - top[row])
        p = np.where(p > NEGLIGIBLE, p, 0.0)
        return p * (weights_of(self.shown) / np.add.reduceat(p, self.start))[row]

    @property
    def row(self) -> NDArray[np.int64]:
        """The row that each listed completion completes."""
        return np.repeat(np.arange(len(self.start)), np.diff(np.append(self.start, len(self.case))))


def has_many(table: Table, draws: int) -> bool:
    """Whether all completions, no more than this many of each row, would take long to count."""
    sizes = np.array([v.n_states for v in table.schema.discrete], np.int64)
    if table.n_rows * draws <= MANY:
        return False
    count = np.where(table.codes < 0, sizes[:, None], 1).prod(axis=0, dtype=np.float64)
    return bool(np.minimum(count, draws).sum() > MANY)


def threshold(count: NDArray[np.float64], most: int, room: int, draws: int) -> float:
    """The most completions that a row may have to be listed; always as many as would else be drawn."""
    sizes, rows = np.unique(count, return_counts=True)
    fits = (sizes <= draws) | (sizes <= most) & (np.cumsum(sizes * rows) <= room)
    return float(sizes[fits].max(initial=1.0))


def every_completion(codes: Codes, sizes: NDArray[np.int64], start: NDArray[np.int64]) -> Codes:
    """The completions of each row: they are numbered, and the number is read digit by digit into what is missing."""
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    number = np.arange(len(row)) - start[row]
    full = codes[:, row]
    for column, size in zip(full, sizes, strict=True):
        hole = np.flatnonzero(column < 0)
        number[hole], column[hole] = np.divmod(number[hole], size)
    return full


def repeated(table: Table, draws: int) -> Table:
    """Every row this many times, for its weight in total; sorted, so that luck does not depend on the order of rows."""
    order = np.lexsort(table.codes) if table.n_rows else np.empty(0, np.int64)
    again = table.take(np.repeat(order, draws))
    return again.with_weights(weights_of(again) / draws)


def weights_of(table: Table) -> NDArray[np.float64]:
    """What each row weighs."""
    return validation.weights(table.sample_weight, table.n_rows)


### batches

#: Rows that are completed at a time, and completions of all of these.
PART, PART_ROOM = 1 << 14, 4 * ROOM


@dataclass(frozen=True)
class Complete:
    """Completes rows under a network, whose variables are their columns; it travels with what counts them."""

    network: BayesianNetwork
    draws: int = DRAWS
    seed: int = 0

    def parts(self, table: Table) -> Iterator[tuple[Table, bool]]:
        """Complete rows with their weights, and whether none of them were drawn."""
        for part in table.batches(PART):
            luck = self.seed ^ crc32(part.codes.tobytes())  # the same in every pass, another in every part
            listed = Completions.of(part, most=MOST, room=PART_ROOM, draws=self.draws, seed=luck)
            yield Table.concat(listed.tables(self.network)), listed.exact


#: Graphs for which rows stay taken apart: the present one, and the one that is tried.
GRAPHS = 2

#: What to know where rows are very many.
SINGLE = "rows are very many: each that misses cells stands for a single draw of its completions"


class IncompleteRows(ABC):
    """Rows of a table or a source, some values of which are missing."""

    table: Source
    #: The sum of their weights.
    total: float
    #: How many completions are drawn of a row that has too many to list, and the seed of these.
    draws: int
    seed: int
    #: Whether every row is completed by a single draw, for all completions would be too many.
    many = False
    #: Passes over a source that are done; a table is not read again.
    _read = 0

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether every completion is listed, so that expected counts are exact, as far as that was seen."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was guessed or drawn."""
        return (SINGLE,) if self.many else ()

    @property
    def passes(self) -> int:
        """Over a source, for tables and for counts."""
        return self._read

    @abstractmethod
    def coded(self, schema: Schema, *, draws: int = DRAWS, seed: int = 0) -> IncompleteRows:
        """Other columns, those that no row shows being missing; and what is drawn of rows with many completions."""

    @abstractmethod
    def sample(self, rows: int) -> IncompleteRows:
        """Return this many rows, drawn at random, each completed by a single draw."""

    @abstractmethod
    def expected(self, network: BayesianNetwork, criterion: StructureScore) -> ScoreCache:
        """Scores by expected counts under a network, whose variables are the columns in their order."""

    def fit(self, frame: BayesianNetwork, **options: Any) -> BayesianNetwork:
        """Fit tables by EM, as `fit_parameters` does; the variables of the frame are the columns in their order.

        The rows are read and taken apart once for each graph, not once for each fit.
        """
        families = tuple((cpt.name, tuple(v.name for v in cpt.parents)) for cpt in frame)
        if families not in self._apart:
            compiled = Compiled(frame)
            self._apart = dict(list(self._apart.items())[1 - GRAPHS :])
            self._apart[families] = compiled, self.cases(compiled)
        compiled, cases = self._apart[families]
        made = cases.made
        found = fit_cases(frame, compiled, cases, self.extent, **options)
        self._read += cases.made - made
        return found

    @cached_property
    def _apart(self) -> dict[Families, tuple[Compiled, Cases | Passes]]:
        """The rows taken apart for the last graphs, by the families of these."""
        return {}

    @property
    @abstractmethod
    def extent(self) -> Extent:
        """How much there is of the observed values of the rows."""

    @abstractmethod
    def cases(self, compiled: Compiled) -> Cases | Passes:
        """The rows taken apart for a graph."""


class IncompleteTable(IncompleteRows):
    """Rows in memory."""

    table: Table

    def __init__(self, table: Table, *, draws: int = DRAWS, seed: int = 0, many: bool | None = None) -> None:
        self.table, self.draws, self.seed = table, draws, seed
        self.total = table.total_weight
        self.many = has_many(table, draws) if many is None else many
        self._last: tuple[BayesianNetwork, ScoreCache] | None = None

    def coded(self, schema: Schema, *, draws: int = DRAWS, seed: int = 0) -> IncompleteTable:
        """Other columns, those that no row shows being missing; and what is drawn of rows with many completions."""
        found = IncompleteTable(recoded(self.table, schema), draws=draws, seed=seed)
        if set(self.table.schema.names) <= set(schema.names):  # rows that differ do so still
            found.distinct = recoded(self.distinct, schema)
        return found

    @cached_property
    def distinct(self) -> Table:
        """Equal rows folded into one that carries their weight."""
        return self.table.distinct()

    @cached_property
    def completions(self) -> Completions:
        """Listed once."""
        if self.many:
            return Completions.one_each(self.table, seed=self.seed)
        return Completions.of_distinct(self.distinct, draws=self.draws, seed=self.seed)

    def sample(self, rows: int) -> IncompleteTable:
        """Return this many rows, drawn at random, each completed by a single draw."""
        chosen = np.random.default_rng(self.seed).choice(self.table.n_rows, rows, replace=False)
        return IncompleteTable(self.table.take(np.sort(chosen)), draws=1, seed=self.seed, many=True)

    def expected(self, network: BayesianNetwork, criterion: StructureScore) -> ScoreCache:
        """Scores by expected counts under a network, whose variables are the columns in their order."""
        if self._last is None or self._last[0] is not network or self._last[1].score != criterion:
            self._last = network, ScoreCache(FamilyCounts(self.completions.under(network)), criterion)
        return self._last[1]

    @property
    def exact(self) -> bool:
        """As above."""
        return self.completions.exact

    @cached_property
    def extent(self) -> Extent:
        """As above."""
        return Extent.of(self.table)

    def cases(self, compiled: Compiled) -> Cases:
        """As above; equal rows are taken apart once, where that is worth it."""
        if self.many or 2 * self.distinct.n_rows > self.table.n_rows:
            return FoldedCases.of(compiled, self.table)
        found = FoldedCases.of(compiled, self.distinct)
        return Cases(found.known, found.items, found.soft)  # without numbers of rows, which are not those of the table


class IncompleteSource(IncompleteRows):
    """Rows of a source, which are completed batch by batch, however many there are."""

    table: Scanned

    def __init__(self, table: Scanned, looked: Looked, memory: int, *, draws: int = DRAWS, seed: int = 0) -> None:
        self.table, self.looked, self.memory, self.draws, self.seed = table, looked, memory, draws, seed
        self.total = looked.totals.weight
        self._some = recoded(looked.some, table.schema)
        self._last: DeferredScores | None = None
        self._exact = True
        self._notes: tuple[str, ...] = ()

    def coded(self, schema: Schema, *, draws: int = DRAWS, seed: int = 0) -> IncompleteSource:
        """As above."""
        table = self.table.with_schema(schema, missing_columns="missing")
        return IncompleteSource(table, self.looked, self.memory, draws=draws, seed=seed)

    def sample(self, rows: int) -> IncompleteRows:
        """Never asked for: a source has not `many` rows, for batches are completed one by one."""
        raise NotImplementedError

    def expected(self, network: BayesianNetwork, criterion: StructureScore) -> ScoreCache:
        """As above; nothing is counted before it is asked for."""
        last = None if self._last is None else self._last.counts.complete
        if self._last is not None and last is not None and last.network is network and self._last.score == criterion:
            return self._last
        complete = Complete(network, self.draws, self.seed)
        counts = ExpectedCounts(self.table, self.looked.totals, self._some, complete, memory=self.memory)
        self._read, self._exact, self._notes = self.passes, self.exact, self.notes
        self._last = DeferredScores(counts, criterion, self._last)
        return self._last

    @property
    def exact(self) -> bool:
        """As above, as far as that was seen."""
        return self._exact and (self._last is None or self._last.counts.exact)

    @property
    def passes(self) -> int:
        """As above."""
        return self._read + (0 if self._last is None else self._last.counts.passes)

    @property
    def extent(self) -> Extent:
        """As above; columns that were not there when the source was first read are missing in every row."""
        totals = self.looked.totals
        missing = dict(zip(self.looked.some.schema.names, totals.missing, strict=True))
        return replace(totals, missing=tuple(missing.get(name, totals.rows) for name in self.table.schema.names))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was guessed."""
        return self._notes or (() if self._last is None else self._last.notes)

    def cases(self, compiled: Compiled) -> Cases | Passes:
        """As above, by a pass."""
        self._read += 1
        return gathered(compiled, self.table, None)[0]


def recoded(table: Table, schema: Schema) -> Table:
    """The same rows with other columns; those that are not there are missing."""
    nothing = np.full(table.n_rows, -1, table.codes.dtype)
    codes = [table.codes_of(name) if name in table.schema else nothing for name in schema.names]
    return Table(schema, np.array(codes).reshape(len(codes), table.n_rows), table.values, table.sample_weight)
