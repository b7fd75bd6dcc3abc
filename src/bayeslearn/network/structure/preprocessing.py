"""From whatever file there is to a table that a structure can be learned from, and what had to be done for it.

Dropped, and reported: columns that are always the same, empty or nearly so, of too many states, identifiers, free text.
Numeric columns are discretized. Columns that always go together are kept and reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeslearn import sources, validation
from bayeslearn.errors import CapacityError, EmptyTableError, ParameterError, joined, listed, option
from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteSource, IncompleteTable
from bayeslearn.network.structure.out_of_core.deferred_scores import DeferredScores
from bayeslearn.network.structure.out_of_core.source_counts import (
    ROWS,
    Distinct,
    SeenCounts,
    look,
    room_of,
    twins_by_pairs,
)
from bayeslearn.network.structure.scoring.criteria import ScoreCache
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import DRAWS
from bayeslearn.sources import as_source
from bayeslearn.sources.base import Scanned
from bayeslearn.sources.usability import named_columns, unusable
from bayeslearn.tables import Table
from bayeslearn.tables.conversion import requested
from bayeslearn.tables.discretization import STRATEGIES
from bayeslearn.tables.identifiers import sentence, suspects
from bayeslearn.tables.type_inference import interpretation_notes, origins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteRows
    from bayeslearn.network.structure.out_of_core.source_counts import Looked
    from bayeslearn.network.structure.scoring.criteria import StructureScore
    from bayeslearn.tables import Schema, Source
    from bayeslearn.tables.identifiers import Suspect

#: Rows below which hardly any arc is distinguishable from chance.
FEW_ROWS = 50

#: A column observed in a smaller share of the rows is dropped, or noted.
LEAST_SHARE, NOTED_SHARE = 0.01, 0.1


@dataclass(frozen=True)
class PreparedData:
    """A table of states, perhaps with missing values, and what a reader should know of how it came about."""

    #: A table, or the source that was scanned, its columns discretized in the same way.
    table: Any
    #: Whether that is a table, and passes that were made over a source.
    in_memory: ClassVar[bool] = True
    n_passes: ClassVar[int] = 0
    #: Columns that were dropped, with the reason.
    dropped_columns: Mapping[str, str] = field(default_factory=dict)
    #: The cut points of numeric columns.
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> Table | None:
        """The rows as far as they are in memory: of a source the different ones, if these are few."""
        table: Table = self.table
        return table

    def scores(self, criterion: StructureScore, memory: int, known: FamilyCounts | None = None) -> ScoreCache:
        """Scores of complete rows, in memory or not; of rows that were counted before nothing is counted again."""
        if known is None:
            return ScoreCache(FamilyCounts(self.require_rows("scores"), memory=memory // 4), criterion)
        new = np.arange(known.rows, self.table.n_rows)
        more = known + FamilyCounts(self.table.take(new), memory=memory // 4) if len(new) else known
        return ScoreCache(more, criterion)

    def incomplete_rows(self, memory: int) -> IncompleteRows:  # noqa: ARG002 - of a source, how much may be kept
        """Rows to complete: in memory if there is room for as many completions of each as are drawn, else by passes."""
        return IncompleteTable(self.require_rows("completions"))

    def counts_to_add_to(self, cache: ScoreCache) -> FamilyCounts | None:
        """What was counted, if more rows can be added to it."""
        return cache.counts.in_memory

    def require_rows(self, what: str) -> Table:
        """The rows in memory; of a source the different ones."""
        if self.rows is None:
            raise CapacityError(
                f"{what} are learned from in memory, and the source has too many different rows for that",
                hint="raise `memory_limit`, leave columns out, or learn from a part of the rows: scan fewer files",
            )
        return self.rows


@dataclass(frozen=True)
class PreparedSource(PreparedData):
    """The same of a source."""

    #: What a first pass has shown.
    looked: Looked = field(kw_only=True)
    in_memory: ClassVar[bool] = False
    n_passes: ClassVar[int] = 1

    @property
    def rows(self) -> Table | None:
        """As above."""
        return self.looked.rows.table

    def scores(self, criterion: StructureScore, memory: int, known: FamilyCounts | None = None) -> ScoreCache:
        """As above."""
        if self.rows is not None:
            return super().scores(criterion, memory, known)
        return DeferredScores(SeenCounts(self.table, self.looked, memory=memory), criterion)

    def incomplete_rows(self, memory: int) -> IncompleteRows:
        """As above."""
        if self.rows is not None and DRAWS * room_of(self.rows) <= memory // ROWS:
            return super().incomplete_rows(memory)
        return IncompleteSource(self.table, replace(self.looked, rows=Distinct(None, 0)), memory)

    def counts_to_add_to(self, cache: ScoreCache) -> None:  # noqa: ARG002 - as above
        """As above; rows of a source are scanned together."""
        return


def prepare(
    data: Any,
    *,
    states: Mapping[str, Iterable[Any]] | None = None,
    sample_weight: ArrayLike | str | None = None,
    discretize: str = "quantile",
    n_bins: int | None = None,
    max_states: int = 255,
    target: str | None = None,
    memory: int = 1 << 30,
) -> PreparedData:
    """A table of discrete columns, or a source of such.

    Parameters
    ----------
    data, states, sample_weight, max_states
        As in :func:`~bayeslearn.tables.as_table`; or a source, see :func:`~bayeslearn.scan`.
    discretize, n_bins
        The strategy for numeric columns and the number of bins; see :meth:`~bayeslearn.tables.Table.discretize`.
        ``"mdl"`` requires a target.
    target
        A column that must not be left out.
    memory
        Bytes that learning may take: a share of them for the different rows of a source.
    """
    dropped_columns: dict[str, str] = {}
    table: Any = as_source(
        data, states=states, sample_weight=sample_weight, max_states=max_states, dropped_columns=dropped_columns
    )
    odd = unusable(table)
    rare = rarely_observed(table)
    odd |= {
        name: f"column {name!r} is observed in {100 * share:.2g} % of the rows"
        for name, share in rare.items()
        if share < LEAST_SHARE
    }
    keep = {*(states or ()), target, *named_columns(data)}
    dropped_columns |= {name: why for name, why in odd.items() if name not in keep or "one val" in why}
    if target is not None and target in dropped_columns:
        raise ParameterError(
            f"the target cannot be used: {dropped_columns[target]}",
            hint="name another target, or see what the column holds: `bayeslearn scan`",
        )
    kept = [name for name in table.schema.names if name not in dropped_columns]
    if not kept:
        dropped = (data.request.dropped_columns or {}) if isinstance(data, Scanned) else {}  # when it was scanned
        reasons = list((dropped | dropped_columns).values()) or ["there is none"]
        raise EmptyTableError(
            f"no column is left to learn from: {joined(reasons, separator='; ')}",
            hint=f"name the columns to keep with {option('columns')}",
        )
    if not isinstance(table, Table):
        assert isinstance(table, Scanned)
        return prepared_source(table, kept, dropped_columns, rare, discretize, n_bins, memory)
    doubtful = suspect_notes([found for found in suspects(table) if found.column in kept])
    numeric = [v.name for v in table.schema.numeric if v.name in kept]
    if numeric:
        discretize = validation.choice("discretize", discretize, STRATEGIES)
        label = target if discretize == "mdl" else None
        table = table.discretize(numeric, strategy=discretize, n_bins=n_bins, target=label)  # type: ignore[arg-type]
    table = table.select(kept)
    notes = (*read_notes(table.schema, rare), *notes_on(twins(table), table.n_rows), *doubtful)
    return PreparedData(table, dropped_columns, cuts_of(table, numeric), notes)


def prepared_source(
    source: Scanned,
    kept: list[str],
    dropped_columns: dict[str, str],
    rare: Mapping[str, float],
    strategy: str,
    n_bins: int | None,
    memory: int,
) -> PreparedData:
    """The same of a source, and what a first pass over it shows."""
    dropped_columns = before_scanning(source) | dropped_columns
    rows = source.n_rows if source.digest is None else source.digest.rows
    source = replace(source, schema=source.schema.select(kept))
    numeric = [v.name for v in source.schema.numeric]
    source = sources.discretize(source, strategy=strategy, n_bins=n_bins)
    looked = look(source, memory, rows)
    source = source.with_totals(looked.totals)
    alike = twins_by_pairs(looked, source.schema.names) if looked.rows.table is None else twins(looked.rows.table)
    odd = [] if source.digest is None else source.digest.suspects(kept)
    notes = (*read_notes(source.schema, rare), *notes_on(alike, looked.totals.rows), *suspect_notes(odd))
    return PreparedSource(source, dropped_columns, cuts_of(source, numeric), notes, looked=looked)


def suspect_notes(found: list[Suspect]) -> list[str]:
    """A note on values that may mark missing cells, if there are any."""
    return [sentence(found)] if found else []


def before_scanning(source: Scanned) -> dict[str, str]:
    """Columns that were left out when a source was scanned, and why."""
    dropped_columns: dict[str, str] = {}
    if source.digest is not None:
        used = {source.weight, *source.request.dropped, *origins(source.schema, source.schema.names)}
        gone = [name for name in source.digest.columns if name not in used]
        if gone:
            source.digest.schema(requested(dropped_columns=dropped_columns), names=tuple(gone))
    return dropped_columns


def cuts_of(table: Source, numeric: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Where columns were cut."""
    return {name: tuple(table.schema[name].cuts) for name in numeric}  # type: ignore[attr-defined]


### columns that are hardly ever observed


def rarely_observed(table: Source) -> dict[str, float]:
    """The share of rows in which a column is observed, of columns for which it is small."""
    shares = observed_shares(table)
    return {name: share for name, share in shares.items() if share < NOTED_SHARE}


def observed_shares(table: Source) -> dict[str, float]:
    """The share of rows in which each column is observed; none of few rows, nor where it takes a pass to know."""
    if isinstance(table, Scanned) and not table.totals_are_known:
        seen = {} if table.digest is None else table.digest.columns
        known = {v.name: seen.get(v.origin or v.name) for v in (*table.schema.discrete, *table.schema.numeric)}
        return {name: s.present / s.rows for name, s in known.items() if s is not None and s.rows >= FEW_ROWS}
    missing, rows = table.missing(), table.n_rows
    return {name: 1 - n / rows for name, n in missing.items()} if rows >= FEW_ROWS else {}


### what to know of the others


def read_notes(schema: Schema, rare: Mapping[str, float]) -> list[str]:
    """What columns were read as, and which are seldom observed."""
    seldom = {name: 100 * share for name, share in rare.items() if name in schema}
    notes = [f"column {name!r} is observed in {percent:.2g} % of the rows" for name, percent in seldom.items()]
    return [*interpretation_notes(schema), *notes]


def notes_on(twins: Iterable[list[str]], rows: int) -> list[str]:
    """Columns that go together, and a table of few rows."""
    notes = [f"columns {listed(names, 99)} are equivalent in every row" for names in twins]
    if rows < FEW_ROWS:
        notes.append(f"{rows} rows are few: hardly any arc is distinguishable from chance")
    return notes


def twins(table: Table) -> list[list[str]]:
    """Groups of columns that are the same but for the names of their states."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for name in table.schema.names:
        missing, *seen = occurrences(table, name).tolist()
        alike.setdefault((missing, *sorted(count for count in seen if count)), []).append(name)
    groups: dict[bytes, list[str]] = {}
    for name in (name for names in alike.values() if len(names) > 1 for name in names):
        _, first, inverse = np.unique(table.codes_of(name), return_index=True, return_inverse=True)
        groups.setdefault(np.argsort(np.argsort(first))[inverse].astype(np.int32).tobytes(), []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def occurrences(table: Table, name: str) -> NDArray[np.int64]:
    """How often a cell is missing, and how often each state occurs."""
    return np.bincount(table.codes_of(name).astype(np.int64) + 1, minlength=2)
