"""What all sources share: totals, batches of a wished size, the whole of it as a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np

from bayeslearn import validation
from bayeslearn.capacity import free_memory
from bayeslearn.errors import CapacityError, EmptyTableError, ParameterError
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.sources.engines import ThreadEngine
from bayeslearn.tables import NumericVariable, Schema, Table
from bayeslearn.tables.conversion import Request, check_request, requested
from bayeslearn.tables.frames import kind_of
from bayeslearn.tables.markers import Missing
from bayeslearn.tables.schema import code_type, name_list
from bayeslearn.tables.source_protocol import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.sources.column_profiles import ColumnProfiles
    from bayeslearn.tables import DiscreteVariable
    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.conversion import Unseen
    from bayeslearn.tables.markers import Markers

S = TypeVar("S")
T = TypeVar("T")

if TYPE_CHECKING:
    #: Told the rows of every batch that was read.
    Tell = Callable[[int], object]
    #: Opens a part: what was read of it, batch by batch.
    Opened = Callable[[Any, Tell | None], Iterator[T]]


#: Cells of a batch, its fewest and its most rows: enough that a batch is worth its call, few enough for any memory.
BATCH_CELLS, LEAST_ROWS, MOST_ROWS = 1 << 22, 1 << 14, 1 << 18


@dataclass(frozen=True)
class Extent:
    """How much there is: rows, their weight, missing cells of each column."""

    rows: int
    weight: float
    missing: tuple[int, ...]

    def __add__(self, other: Extent) -> Extent:
        missing = tuple(a + b for a, b in zip(self.missing, other.missing, strict=True))
        return Extent(self.rows + other.rows, self.weight + other.weight, missing)

    @classmethod
    def of(cls, table: Table) -> Extent:
        """Those of one batch."""
        return cls(table.n_rows, table.total_weight, tuple(table.missing().values()))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Scanned(Reported, Source, ABC):
    """A source that is read again for every pass."""

    schema: Schema
    #: What was asked for when it was scanned: markers of missing cells, what to do with unseen states.
    request: Request = field(default_factory=requested)
    #: The column that says how often each row counts.
    weight: str | None = None
    #: What its columns show, if somebody looked.
    digest: ColumnProfiles | None = None
    #: What to do with values outside known states, whatever learners ask for; None leaves it to them.
    unseen: str | None = None

    @abstractmethod
    def fold(self, collect: Callable[[Table], S]) -> S:
        """Apply `collect` to each batch and add the results, in the order of the rows.

        Batches may be collected at the same time, on other threads or machines: `collect` must not write to anything
        outside, and what it returns must be small, for it travels.
        """

    @abstractmethod
    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows in order, on this machine, `n` at a time, or as they are read."""

    @abstractmethod
    def look(self) -> ColumnProfiles:
        """What all columns show, by a pass."""

    # -- raw columns

    def fold_streams(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        work: Callable[[Iterator[T]], S | None],
        *,
        rows: int | None = None,
        whole_files: bool = False,
    ) -> S:
        """The sum over the streams, each read by the engine."""
        parts, opened = self._parts(names, read, rows=rows, whole_files=whole_files)
        try:
            return require_some(self._folded(StreamWork(opened, work), parts), self)
        finally:
            if hasattr(parts, "close"):
                parts.close()

    def streams(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        *,
        rows: int | None = None,
        whole_files: bool = False,
    ) -> Iterable[Iterator[T]]:
        """The streams in order, on this machine."""
        parts, opened = self._parts(names, read, rows=rows, whole_files=whole_files)
        return (opened(part, None) for part in parts)

    @abstractmethod
    def _parts(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        *,
        rows: int | None,
        whole_files: bool,
    ) -> tuple[Iterable[Any], Opened[T]]:
        """What is read apart, and what opens a part: it returns what was read, batch by batch."""

    def _folded(self, function: Any, parts: Iterable[Any]) -> Any:
        """``function(part 1) + function(part 2) + …`` on the threads of this machine, or by an engine."""
        return ThreadEngine().fold(function, parts, lambda _: None)

    @property
    def markers(self) -> Missing:
        """What stands for a missing cell in raw columns."""
        return self.request.missing

    # -- the same rows otherwise

    def with_schema(self, schema: Schema, *, handle_unknown: str = "error", missing_columns: str = "error") -> Self:
        """The same rows coded by another schema, as :func:`~bayeslearn.as_table` does it."""
        request = replace(self.request, unseen=self.unseen or handle_unknown, absent=missing_columns)
        return replace(self, schema=schema, request=request)

    def with_intervals(self, cut: Mapping[str, DiscreteVariable]) -> Self:
        """The same rows with numeric columns coded by these intervals."""
        return self.with_schema(Schema(cut.get(v.name, v) for v in self.schema))

    def declared(
        self,
        *,
        schema: Schema | None = None,
        columns: Iterable[str] | None = None,
        sample_weight: Any = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
        drop_columns: Iterable[str] = (),
        discrete: Iterable[str] | Literal[True] = (),
        numeric: Iterable[str] = (),
        states: Mapping[str, Iterable[Any]] | None = None,
        max_states: int = 255,
        allow_constant: bool = False,
        handle_unknown: Unseen = "error",
        missing_columns: Literal["error", "missing"] = "error",
        dropped_columns: dict[str, str] | None = None,
    ) -> Self:
        """The same rows with columns declared otherwise; the parameters are those of :func:`~bayeslearn.as_table`.

        Markers of missing cells are given when a source is scanned, and stay.
        """
        weight = self.weight if sample_weight is None else named_weight(sample_weight)
        if Missing.of(na_values, keep_default_na=keep_default_na) not in (Missing.of(), self.request.missing):
            raise ParameterError(
                "the markers of missing cells are settled for this source", hint="pass them to scan(..., na_values=...)"
            )
        dropped = (*self.request.dropped, *name_list("drop_columns", drop_columns))
        request = requested(
            discrete=discrete, numeric=numeric, states=states, max_states=max_states, allow_constant=allow_constant,
            handle_unknown=handle_unknown, missing_columns=missing_columns, dropped_columns=dropped_columns,
        )  # fmt: skip
        request = replace(request, missing=self.request.missing, dropped=dropped, named=self.request.named)
        request = request if self.unseen is None else replace(request, unseen=self.unseen)
        check_request(request, schema)
        if schema is not None:
            return replace(self, schema=self._grown(schema, request), request=request, weight=weight)
        gone = frozenset(dropped)
        names = [n for n in self.schema.names if n not in gone] if columns is None else name_list("columns", columns)
        names = tuple(name for name in names if name != weight)
        if not request.declares() and not request.all_discrete and set(names) <= set(self.schema.names):
            return replace(self, schema=self.schema.select(names), request=request, weight=weight)
        digest = self.digest or self.look()
        known = {v.name: v for v in self.schema if not (request.all_discrete and isinstance(v, NumericVariable))}
        found = digest.schema(request, known=known, names=names, weight=weight)
        return replace(self, schema=found, request=request, weight=weight, digest=digest)

    def _grown(self, schema: Schema, request: Request) -> Schema:
        """The schema with the states that are to be added; what is known of other values is reported."""
        digest = self.digest or (self.look() if request.unseen == "add" else None)
        if digest is None or request.unseen not in {"add", "missing"}:
            return schema
        grown = digest.grown(schema, request)
        request.notes.warn()
        return grown

    # -- reports

    def report(self) -> Report:
        """Return the columns of the source, as far as a pass has shown them; nothing is read."""
        if self.digest is not None:
            return Report(repr(self), self.digest.grid())
        return Report(repr(self), Grid(["Column", "Type"], [[v.name, kind_of(v)] for v in self.schema]))

    def to_dict(self) -> dict[str, Any]:
        """Return the schema, and the column profiles if a pass has shown them, as plain values."""
        profiles = None if self.digest is None else self.digest.to_dict()
        return {"schema": self.schema.to_dict(), "profiles": profiles}

    # -- counts

    def count_groups(self, column_groups: Sequence[tuple[str, ...]]) -> list[NDArray[np.float64]]:
        """Return the counts of groups of discrete columns, with missing as the last index of every axis."""
        from bayeslearn.sources.contingency import count_groups  # noqa: PLC0415 - it builds on sources

        return count_groups(self, column_groups)

    # -- how much there is

    @cached_property
    def totals(self) -> Extent:
        """From the digest if it has them, else by a pass."""
        seen = {} if self.digest is None else self.digest.columns
        told = set(self.schema.names) <= set(seen) and not any(map(self._is_marker, self.schema.discrete))
        if self.weight is not None or self.request.unseen != "error" or not told:
            return self.fold(Extent.of)
        rows = 0 if self.digest is None else self.digest.rows
        return Extent(rows, rows, tuple(seen[name].missing for name in self.schema.names))

    @property
    def totals_are_known(self) -> bool:
        """Whether a pass over all rows was made already."""
        return "totals" in vars(self)

    def with_totals(self, totals: Extent) -> Self:
        """The same rows, whose extent another pass has shown: they are not counted again."""
        found = replace(self)
        vars(found)["totals"] = totals
        return found

    def _is_marker(self, variable: DiscreteVariable) -> bool:
        """Whether a state is also what stands for a missing cell elsewhere: the digest took it for one."""
        missing = self.request.missing.of_column(variable.name)
        return missing.without(variable.states) != missing

    @property
    def n_rows(self) -> int:
        """How many rows there are, whatever they weigh."""
        return self.totals.rows

    def __len__(self) -> int:
        return self.n_rows

    @property
    def total_weight(self) -> float:
        """The total weight of the rows."""
        return self.totals.weight

    def missing(self) -> dict[str, int]:
        """How many cells of each column are missing."""
        return dict(zip(self.schema.names, self.totals.missing, strict=True))

    def table(self) -> Table:
        """All rows in memory, if there is room for them."""
        require_room(self)
        return Table.concat(self.batches())


@dataclass(frozen=True)
class StreamWork:
    """What is made of one part; it may travel."""

    opened: Opened[Any]
    work: Callable[[Iterator[Any]], Any]
    #: Told the rows of every batch; it does not travel.
    tell: Tell | None = None

    def __call__(self, part: Any) -> Any:
        """Of its stream."""
        return self.work(self.opened(part, self.tell))


def named_weight(sample_weight: Any) -> str:
    """The column of the weights: what stays where it is cannot be weighed from here."""
    if isinstance(sample_weight, str):
        return sample_weight
    raise ParameterError(
        f"the weights of a source are a column of it, got {type(sample_weight).__name__}",
        hint='name the column: weights="n"',
    )


def require_room(source: Scanned) -> None:
    """Memory for all rows, and for the batches they are made of."""
    row = len(source.schema.discrete) * np.dtype(code_type(source.schema)).itemsize + 8 * len(source.schema.numeric)
    need, free = 2 * row * source.n_rows, free_memory()
    if need > free:
        raise CapacityError(
            f"{source.n_rows:,} rows in memory would need {need / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free",
            hint="fold the source instead: learners that count take it directly",
            bytes=need,
        )


def rows_of_batch(columns: int) -> int:
    """How many rows to read at a time."""
    return int(np.clip(BATCH_CELLS // max(columns, 1), LEAST_ROWS, MOST_ROWS))


#: Bytes of a table that is collected from at one go: the larger, the more rows share what is worked out once.
MOST_BYTES = 24 << 20


def merged(tables: Iterator[Table], rows: int) -> Iterator[Table]:
    """The same rows in order, batches together as long as they are small; `rows` is what one was asked to have."""
    some: list[Table] = []
    for table in tables:
        size = table.codes.itemsize * len(table.codes) + 8 * len(table.values) + 8
        most = min(MOST_BYTES // size, 4 * rows)
        if some and sum(map(len, some)) + len(table) > most:
            yield Table.concat(some)
            some = []
        some.append(table)
    if some:
        yield Table.concat(some) if len(some) > 1 else some[0]


def rebatched(tables: Iterator[Table], n: int) -> Iterator[Table]:
    """The same rows in order, n at a time; the last batch may be shorter."""
    n = validation.integer("n", n, min_value=1)
    left: list[Table] = []
    for table in tables:
        left.append(table)
        if sum(map(len, left)) >= n:
            *whole, rest = Table.concat(left).batches(n)
            yield from whole
            left = [rest]
            if rest.n_rows == n:
                yield rest
                left = []
    if left:
        yield Table.concat(left)


def require_some(total: S | None, what: Any) -> S:
    """A sum over at least one row."""
    if total is None:
        raise EmptyTableError(
            f"there are no rows in {what}", hint="see whether the data hold more than names of columns"
        )
    return total
