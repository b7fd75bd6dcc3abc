"""Rows that were read once and kept as codes on disk: every later pass costs little more than one in memory.

A folder of parts, each of them the arrays of one batch (codes, values, weights, as NumPy writes them), and a file that
says what they are. Nothing in it is ever executed. The file that describes it is written last, so that a folder is
complete or not one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from bayeslearn import files as writing
from bayeslearn.errors import BayeslearnError, FormatError, ParameterError
from bayeslearn.sources.base import MANIFEST, MOST_ROWS, Extent, Scanned, merged, rebatched, require_some
from bayeslearn.sources.digest import Digest, digest_of
from bayeslearn.sources.engines import Engine, Local, Sum
from bayeslearn.sources.files import Files, folded, tables_of
from bayeslearn.tables import Schema, Table
from bayeslearn.tables.building import build
from bayeslearn.tables.convert import requested
from bayeslearn.tables.gather import table_columns
from bayeslearn.tables.markers import Missing

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from bayeslearn.sources.coding import Coder
    from bayeslearn.sources.shards import Shard

S = TypeVar("S")

#: The form that a folder has.
FORM = "bayeslearn encoded rows 1"


@dataclass(frozen=True)
class Block:
    """One batch on disk."""

    path: str
    rows: int


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Encoded(Scanned):
    """Rows as codes on disk: :func:`encode` makes one, and :func:`~bayeslearn.scan` opens its folder again."""

    parts: tuple[Block, ...]
    #: The variables as they were written; those of `schema` may be fewer, or coded otherwise.
    written: Schema
    #: How much there is of the variables as written.
    known: Extent
    engine: Engine = field(default_factory=Local)

    def __repr__(self) -> str:
        return f"Encoded({self.known.rows:,} rows × {len(self.schema)} columns)"

    def fold(self, collect: Callable[[Table], S]) -> S:
        """The sum over all parts, each read where the engine says."""
        return require_some(self.engine.fold(PartFold(self._read, collect), self.parts, lambda _: None), self)

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows in order."""
        tables = map(self._read, self.parts)
        return tables if n is None else rebatched(tables, n)

    def look(self) -> Digest:
        """What all columns show, by a pass."""
        whole = replace(self, schema=self.written)
        return whole.fold(lambda table: digest_of(table_columns(table), Missing.plain([])))

    @cached_property
    def totals(self) -> Extent:
        """As they were counted, or of other columns by a pass."""
        if self.schema == self.written and self.weight is None:
            return self.known
        return self.fold(Extent.of)

    def with_engine(self, engine: Engine) -> Self:
        """The same rows, read elsewhere."""
        return replace(self, engine=engine)

    @property
    def _read(self) -> PartReader:
        return PartReader(self.written, self.schema, self.request.unseen, self.request.absent, self.weight)


### reading


@dataclass(frozen=True)
class PartReader:
    """Reads parts, under the schema they were written with or another."""

    written: Schema
    schema: Schema
    unseen: Any
    absent: Any
    weight: str | None

    def __call__(self, part: Block) -> Table:
        """The table of one part."""
        table = read_part(part, self.written)
        if self.schema == self.written and self.weight is None:
            return table
        if set(self.schema) <= set(self.written) and self.weight is None:
            return table.select(self.schema.names)
        request = requested(unseen=self.unseen, absent=self.absent)  # what is unseen was reported before
        return build(table, request, schema=self.schema, names=None, weights=self.weight)


@dataclass(frozen=True)
class PartFold:
    """What is made of one part."""

    read: PartReader
    collect: Callable[[Table], Any]

    def __call__(self, part: Block) -> Any:
        """Of its rows, if it has any."""
        return self.collect(self.read(part)) if part.rows else None


def read_part(part: Block, schema: Schema) -> Table:
    """The arrays of a part, which must fit its schema."""
    try:
        with Path(part.path).open("rb") as file:
            codes, values, weights = (np.load(file, allow_pickle=False) for _ in range(3))
        table = Table(schema, codes, values, weights if weights.size else None)
    except (OSError, ValueError, EOFError, BayeslearnError) as error:
        raise FormatError(
            f"{part.path!r} is not a part of encoded rows: {error}",
            hint="encode the data again: the folder is damaged",
            path=part.path,
        ) from None
    if table.n_rows != part.rows:
        raise FormatError(
            f"{part.path!r} has {table.n_rows} rows, expected {part.rows}",
            hint="encode the data again: the folder is damaged",
            path=part.path,
        )
    return table


def open_encoded(folder: str | os.PathLike[str], engine: Engine | None = None) -> Encoded:
    """The rows of a folder that was written before, checked as far as its description goes."""
    place = Path(folder) / MANIFEST
    try:
        told = json.loads(place.read_text(encoding="utf-8"))
        if told["form"] != FORM:
            raise FormatError(
                f"{str(place)!r} is of the form {told['form']!r:.60}, expected {FORM!r}",
                hint="encode the data again with this version",
                path=place,
            )
        schema = Schema.from_dict(told["schema"])
        parts = tuple(Block(str(Path(folder) / plain_name(name)), int(rows)) for name, rows in told["parts"])
        known = Extent(int(told["rows"]), float(told["weight"]), tuple(int(n) for n in told["missing"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, BayeslearnError):
            raise
        raise FormatError(
            f"{str(place)!r} does not describe encoded rows: {error}",
            hint="encode the data again: the folder is damaged",
            path=place,
        ) from None
    if len(known.missing) != len(schema) or sum(part.rows for part in parts) != known.rows:
        raise FormatError(
            f"{str(place)!r} contradicts itself about its rows or columns",
            hint="encode the data again: the folder is damaged",
            path=place,
        )
    return Encoded(schema=schema, written=schema, parts=parts, known=known, engine=engine or Local())


def is_encoded(path: Any) -> bool:
    """Whether a path is that of a folder of encoded rows."""
    return (Path(path) / MANIFEST).is_file()


def plain_name(name: Any) -> str:
    """The name of a file of this folder and no other."""
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".part"):
        raise ValueError(f"{name!r} is not the name of a part")
    return name


### writing


def encode(source: Scanned, folder: str | os.PathLike[str]) -> Encoded:
    """Read a source once and keep its rows as codes in a folder, made if need be; what is there already is replaced.

    Learners that pass over the data again and again are then as fast as in memory, or nearly. On a cluster every worker
    writes what it reads, so the folder must be one that all of them see.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if not is_encoded(place) and any(place.iterdir()):
        raise ParameterError(f"{str(place)!r} holds other files", hint="name a folder that is empty, or not there yet")
    (place / MANIFEST).unlink(missing_ok=True)
    for old in place.glob("*.part"):
        old.unlink()
    written = require_some(_written(source, str(place.absolute())), source)
    told = {
        "form": FORM,
        "schema": source.schema.to_dict(),
        "rows": written.totals.rows,
        "weight": written.totals.weight,
        "missing": list(written.totals.missing),
        "parts": [(Path(part.path).name, part.rows) for part in written.parts],
    }
    writing.write(place / MANIFEST, json.dumps(told, ensure_ascii=False).encode())
    return open_encoded(place, getattr(source, "engine", None))


def _written(source: Scanned, folder: str) -> Written | None:
    if isinstance(source, Files):
        work = WriteShard(source.coder, source.rows_at_a_time, folder)
        return folded(source.engine, work, source.shards, source.progress)
    return write_tables(merged(source.batches(), MOST_ROWS), folder, "batch")


@dataclass(frozen=True)
class Written:
    """Parts that were written, in order."""

    parts: tuple[Block, ...]
    totals: Extent

    def __add__(self, other: Written) -> Written:
        return Written(self.parts + other.parts, self.totals + other.totals)


@dataclass(frozen=True)
class WriteShard:
    """Writes one shard."""

    coder: Coder
    rows: int
    folder: str
    #: Told the rows of every part; it does not travel.
    tell: Callable[[int], object] | None = None

    def __call__(self, shard: Shard) -> Written | None:
        """Its parts."""
        name = hashlib.sha256(repr((shard.path, shard.groups)).encode()).hexdigest()[:16]
        tables = merged(tables_of(shard, self.coder, self.rows), self.rows)
        return write_tables(tables, self.folder, name, self.tell)


def write_tables(
    tables: Iterable[Table], folder: str, name: str, tell: Callable[[int], object] | None = None
) -> Written | None:
    """One part for each table."""
    total: Sum[Written] = Sum()
    for number, table in enumerate(tables):
        path = Path(folder) / f"{name}-{number:06}.part"
        with writing.beside(path) as place, place.open("wb") as file:
            for array in (table.codes, table.values, np.empty(0) if table.weights is None else table.weights):
                np.save(file, array, allow_pickle=False)
        total.add(Written((Block(str(path), table.n_rows),), Extent.of(table)))
        if tell is not None:
            tell(table.n_rows)
    return total.total
