"""Rows with holes, as structural EM asks of them: what it fits tables to, and expected counts under a network.

At hand, all completions are listed once, and every network weighs them anew. Far away, every pass completes what it
reads and counts it at once. As long as no completion is drawn, both come to the same.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.network.structure.counting.cache import ScoreCache
from bayeslearn.network.structure.counting.counts import FamilyCounts
from bayeslearn.network.structure.holes.completions import DRAWS, Completions, has_many
from bayeslearn.network.structure.sourced.completing import Complete
from bayeslearn.network.structure.sourced.counts import ExpectedCounts
from bayeslearn.network.structure.sourced.looking import look
from bayeslearn.network.structure.sourced.scores import SourceScores
from bayeslearn.sources import as_source, discretised
from bayeslearn.sources.base import Scanned
from bayeslearn.tables import Table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.network.structure.counting.scores import Score
    from bayeslearn.network.structure.sourced.looking import Looked
    from bayeslearn.tables import Schema


#: What to know where rows are very many.
SINGLE = "rows are very many: each that misses cells stands for a single draw of its completions"


class Near:
    """Rows at hand."""

    def __init__(self, table: Table, *, draws: int = DRAWS, seed: int = 0, many: bool | None = None) -> None:
        self.table, self.draws, self.seed = table, draws, seed
        self.total = table.total_weight
        #: Whether every row is completed by a single draw, for all completions would be too many.
        self.many = has_many(table, draws) if many is None else many
        self.notes: tuple[str, ...] = (SINGLE,) if self.many else ()
        self._last: tuple[BayesianNetwork, ScoreCache] | None = None

    #: Nothing is read again.
    passes = 0

    def coded(self, schema: Schema, *, draws: int = DRAWS, seed: int = 0) -> Near:
        """Other columns, those that no row shows being missing; and what is drawn of rows with many completions."""
        return Near(recoded(self.table, schema), draws=draws, seed=seed)

    @cached_property
    def completions(self) -> Completions:
        """Listed once."""
        if self.many:
            return Completions.one_each(self.table, seed=self.seed)
        return Completions.of(self.table, draws=self.draws, seed=self.seed)

    def sample(self, rows: int) -> Near:
        """So many rows, drawn at random, each completed by a single draw."""
        chosen = np.random.default_rng(self.seed).choice(self.table.n_rows, rows, replace=False)
        return Near(self.table.take(np.sort(chosen)), draws=1, seed=self.seed, many=True)

    def expected(self, network: BayesianNetwork, score: Score) -> ScoreCache:
        """Scores by expected counts under a network, whose variables are the columns in their order."""
        if self._last is None or self._last[0] is not network or self._last[1].score != score:
            self._last = network, ScoreCache(FamilyCounts(self.completions.under(network)), score)
        return self._last[1]

    @property
    def exact(self) -> bool:
        """Whether every completion is listed, so that expected counts are exact."""
        return self.completions.exact

    def read(self, passes: int) -> None:
        """Nothing was."""


class Far:
    """Rows of a source."""

    def __init__(self, table: Scanned, looked: Looked, memory: int, *, draws: int = DRAWS, seed: int = 0) -> None:
        self.table, self.looked, self.memory, self.draws, self.seed = table, looked, memory, draws, seed
        self.total = looked.totals.weight
        self._some = recoded(looked.some, table.schema)
        self._last: SourceScores | None = None
        self._passes, self._exact = 0, True
        self._notes: tuple[str, ...] = ()

    #: Rows are completed batch by batch, however many there are.
    many = False

    def coded(self, schema: Schema, *, draws: int = DRAWS, seed: int = 0) -> Far:
        """As above."""
        table = self.table.with_schema(schema, absent="missing")
        return Far(table, self.looked, self.memory, draws=draws, seed=seed)

    def expected(self, network: BayesianNetwork, score: Score) -> ScoreCache:
        """As above; nothing is counted before it is asked for."""
        last = None if self._last is None else self._last.afar.complete
        if self._last is not None and last is not None and last.network is network and self._last.score == score:
            return self._last
        complete = Complete(network, self.draws, self.seed)
        counts = ExpectedCounts(self.table, self.looked.totals, self._some, complete, memory=self.memory)
        self._passes, self._exact, self._notes = self.passes, self.exact, self.notes
        self._last = SourceScores(counts, score, self._last)
        return self._last

    @property
    def exact(self) -> bool:
        """As above, as far as that was seen."""
        return self._exact and (self._last is None or self._last.afar.exact)

    @property
    def passes(self) -> int:
        """Over the source, for tables and for counts."""
        return self._passes + (0 if self._last is None else self._last.afar.passes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was guessed."""
        return self._notes or (() if self._last is None else self._last.notes)

    def read(self, passes: int) -> None:
        """So often for tables."""
        self._passes += passes


def shown(data: Any, weights: ArrayLike | str | None, memory: int) -> Near | Far:
    """Rows with holes in whatever there is, numbers being cut."""
    source = as_source(data, weights=weights, allow_constant=True)
    if isinstance(source, Scanned):
        source = discretised(source)
        return Far(source, look(source, memory, source.n_rows), memory)
    assert isinstance(source, Table)
    return Near(source.discretise() if source.schema.numeric else source)


def recoded(table: Table, schema: Schema) -> Table:
    """The same rows with other columns; those that are not there are missing."""
    nothing = np.full(table.n_rows, -1, table.codes.dtype)
    codes = [table.code(name) if name in table.schema else nothing for name in schema.names]
    return Table(schema, np.array(codes).reshape(len(codes), table.n_rows), table.values, table.weights)
