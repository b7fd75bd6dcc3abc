"""Sequences of a source: the rows of one stand together in one file, and are read together.

    batches    a a a b b b | b b c c c c | c c d        sequences    a · b · c · d

A sequence that a batch leaves open goes on in the next one of the same file; files are read apart, batches of other
sources one after the other. The id of a sequence is only compared with the one before it, so that there may be any
number of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn.errors import DataError, UnknownStateError, listed
from bayeslearn.sequence.data import Sequences
from bayeslearn.sequence.mixed import MixtureEmissions
from bayeslearn.sequence.reading import known_codes, table_cells
from bayeslearn.sequence.symbols import CategoricalEmissions
from bayeslearn.sources.base import require_some
from bayeslearn.sources.batches import Batches, each, numbered
from bayeslearn.sources.coding import Coder
from bayeslearn.sources.encoded import Encoded
from bayeslearn.sources.engines import Sum
from bayeslearn.sources.files import Files, located, watched
from bayeslearn.sources.reading import columns_of_batch, read_shard
from bayeslearn.tables import Discrete, Numeric, Schema
from bayeslearn.tables.columns import levels
from bayeslearn.tables.gather import gather, table_columns
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.sequence.emissions import Emissions
    from bayeslearn.sources.base import Scanned
    from bayeslearn.sources.shards import Shard
    from bayeslearn.tables.columns import Column

S = TypeVar("S")


### reading


@dataclass(frozen=True)
class Reader:
    """Turns columns into sequences; it may travel."""

    coder: Coder
    id: str
    emissions: Emissions
    columns: tuple[str, ...]
    #: The column of states that are known, and the code of each of its states; the last is that of nothing.
    known: str | None = None
    codes: NDArray[np.int32] | None = None

    @classmethod
    def of(
        cls,
        source: Scanned,
        id: str,  # noqa: A002 - the name of the column
        emissions: Emissions,
        columns: tuple[str, ...],
        known: str | None,
        states: Sequence[Any],
    ) -> Reader:
        """What reads these columns of a source as the emissions have them."""
        parts = emissions.parts if isinstance(emissions, MixtureEmissions) else emissions
        symbols = isinstance(parts, CategoricalEmissions)
        told: Any = None if known is None else source.schema[known]
        schema = Schema([
            *(Discrete(name, parts.variable.states) if symbols else Numeric(name) for name in columns),  # type: ignore[attr-defined]
            *([] if told is None else [told]),
        ])  # fmt: skip
        request = replace(source.request, unseen="error", absent="error")
        codes = None if told is None else state_codes(told, states)
        return cls(Coder(schema, request), id, parts, columns, known, codes)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to read."""
        return (*self.coder.names, self.id)

    def piece(self, columns: list[Column]) -> Sequences:
        """The rows of a batch, cut where the id changes; the first and the last may be part of a longer sequence."""
        by_name = {column.name: column for column in columns}
        require_known([self.id], by_name)
        found = levels(by_name[self.id], self.coder.request.missing)
        if found.place.min(initial=0) < 0:
            row = int(np.argmax(found.place < 0))
            raise DataError(f"row {row} has no {self.id!r}: it belongs to no sequence", row=row)
        first = np.concatenate([[0], np.flatnonzero(np.diff(found.place)) + 1])
        table = self.coder.table([column for column in columns if column.name in self.coder.names])
        values = found.listed()
        ids = tuple(values[k] for k in found.place[first])
        known = None if self.known is None or self.codes is None else self.codes[table.code(self.known)]
        if isinstance(self.emissions, CategoricalEmissions):
            cells: Any = table.code(self.columns[0]).astype(np.int32)
        else:
            cells = self.emissions.cells(table_cells(table, self.columns))
        return Sequences(cells, np.diff(first, append=table.n_rows).astype(np.int64), ids, known=known)


def state_codes(variable: Discrete, states: Sequence[Any]) -> NDArray[np.int32]:
    """The code of each state that a column knows, −1 for what stands for nothing."""
    odd = [s for s in variable.states if s not in states and s != -1]
    if odd:
        raise UnknownStateError(f"column {variable.name!r} names {listed(odd)}, not among the states {listed(states)}")
    return known_codes([*variable.states, None], states, variable.size + 1)


### whole sequences


def whole(pieces: Iterable[Sequences]) -> Iterator[Sequences]:
    """Sequences from end to end: the last of a batch waits for the next one."""
    held: list[Sequences] = []
    for piece in pieces:
        if len(piece) == 1 and (not held or held[-1].ids[-1] == piece.ids[0]):
            held.append(piece)
            continue
        both = joined([*held, piece])
        yield part(both, 0, len(both) - 1)
        held = [part(both, len(both) - 1, len(both))]
    if held:
        yield joined(held)


def part(data: Sequences, start: int, stop: int) -> Sequences:
    """Some sequences that follow each other."""
    rows = slice(data.rows(start).start, data.rows(stop - 1).stop)
    known = None if data.known is None else data.known[rows]
    return Sequences(data.cells[rows], data.lengths[start:stop], data.ids[start:stop], known=known)


def joined(parts: list[Sequences]) -> Sequences:
    """One after the other; where two meet that have one id, they are one sequence."""
    if len(parts) == 1:
        return parts[0]
    both = beside(parts)
    runs = zip(both.ids, both.lengths.tolist(), strict=True)
    together = [(name, sum(n for _, n in same)) for name, same in groupby(runs, key=lambda run: run[0])]
    ids, lengths = zip(*together, strict=True)
    return replace(both, lengths=np.array(lengths, np.int64), ids=ids)


def beside(parts: list[Sequences]) -> Sequences:
    """The sequences of all, one after the other."""
    known = None if parts[0].known is None else np.concatenate([p.known for p in parts])
    cells, lengths = (np.concatenate(arrays) for arrays in ([p.cells for p in parts], [p.lengths for p in parts]))
    return Sequences(cells, lengths, tuple(name for p in parts for name in p.ids), known=known)


### where they come from


def fold(source: Scanned, reader: Reader, collect: Callable[[Sequences], S]) -> S:
    """The sum over all sequences, a batch of whole ones at a time: files side by side, other sources in order."""
    if isinstance(source, Files):
        files = whole_files(source.shards)
        found = source.engine.fold(
            FileFold(reader, source.rows_at_a_time, collect), files, watched(source.progress, files)
        )
        return require_some(found, source)
    total: Sum[S] = Sum()
    for sequences in whole(streamed(source, reader)):
        total.add(collect(sequences))
    return require_some(total.total, source)


@dataclass(frozen=True)
class FileFold:
    """What is made of the sequences of one file; it may travel."""

    reader: Reader
    rows: int
    collect: Callable[[Sequences], Any]

    def __call__(self, file: Shard) -> Any:
        """The sum over one file; None when it has no rows."""
        total: Sum[Any] = Sum()
        for sequences in whole(self.pieces(file)):
            total.add(self.collect(sequences))
        return total.total

    def pieces(self, file: Shard) -> Iterator[Sequences]:
        """The batches of a file; an error says where it was."""
        row = 0
        for columns in read_shard(file, self.reader.names, self.rows):
            try:
                piece = self.reader.piece(columns)
            except DataError as error:
                raise located(error, file, row) from None
            row += piece.n_rows
            yield piece


def whole_files(shards: tuple[Shard, ...]) -> tuple[Shard, ...]:
    """The same files, each in one: row groups may cut a sequence."""
    return tuple(one_file(list(parts)) for _, parts in groupby(shards, key=lambda shard: shard.path))


def one_file(shards: list[Shard]) -> Shard:
    """The parts of a file as one."""
    if shards[0].groups is None:
        return shards[0]
    groups = tuple(group for shard in shards for group in shard.groups or ())
    return replace(shards[0], groups=groups, rows=sum(shard.rows or 0 for shard in shards))


def streamed(source: Any, reader: Reader) -> Iterator[Sequences]:
    """The batches of any other source, in order."""
    if isinstance(source, Batches):
        for number, batch in enumerate(each(source.read)):
            yield numbered(number, lambda batch=batch: reader.piece(gather(batch, None, ())[0]))  # type: ignore[misc]
        return
    if isinstance(source, Encoded):
        for number, table in enumerate(replace(source, schema=source.written).batches()):
            yield numbered(number, lambda table=table: reader.piece(table_columns(table)))  # type: ignore[misc]
        return
    from bayeslearn.sources.relations import streamed as answered  # noqa: PLC0415 - DuckDB loads when it is asked

    for number, batch in enumerate(answered(source.relation, reader.names)):
        yield numbered(number, lambda batch=batch: reader.piece(columns_of_batch(batch)))  # type: ignore[misc]
