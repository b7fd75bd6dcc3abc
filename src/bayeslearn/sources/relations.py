"""Tables of a DuckDB database, and whatever else DuckDB can ask: its answer streams by, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bayeslearn import lazy_imports
from bayeslearn.errors import DataError, FormatError, MissingFileError, ParameterError, listed, option
from bayeslearn.kernels.threads import thread_count
from bayeslearn.sources.base import Scanned, rebatched, require_some, rows_of_batch
from bayeslearn.sources.coding import Coder
from bayeslearn.sources.digest import Digest, digest_of
from bayeslearn.sources.engines import Local
from bayeslearn.sources.limits import bytes_of
from bayeslearn.sources.reading import columns_of_batch
from bayeslearn.tables.interpretation import sources_of
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayeslearn.tables import Schema, Table
    from bayeslearn.tables.convert import Request
    from bayeslearn.tables.markers import Missing

S = TypeVar("S")

duckdb: Any = lazy_imports.Optional("duckdb", "databases and SQL", "duckdb")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Relation(Scanned):
    """The answer to a question to DuckDB, asked anew for every pass; :func:`~bayeslearn.scan` makes one."""

    relation: Any

    def __repr__(self) -> str:
        return f"Relation({len(self.schema)} columns)"

    def fold(self, collect: Callable[[Table], S]) -> S:
        """DuckDB reads ahead on its own threads, ours code and collect."""
        coder = Coder(self.schema, self.request, self.weight)

        def work(batch: Any) -> S:
            return collect(coder.table(columns_of_batch(batch)))

        return require_some(Local().fold(work, self._stream(coder.names), lambda _: None), self)

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows as DuckDB gives them; ``order by`` in the question makes that an order."""
        coder = Coder(self.schema, self.request, self.weight)
        tables = (coder.table(columns_of_batch(batch)) for batch in self._stream(coder.names))
        return tables if n is None else rebatched(tables, n)

    def look(self) -> Digest:
        """What all columns show, by a pass."""
        return looked_at(self.relation, None, self.request.missing)

    def _stream(self, names: tuple[str, ...] | None) -> Iterator[Any]:
        return streamed(self.relation, names)


def streamed(relation: Any, names: tuple[str, ...] | None) -> Iterator[Any]:
    """Arrow batches of the columns that are there."""
    chosen = [name for name in relation.columns if names is None or name in names]
    asked = relation.project(", ".join(map(quoted, chosen)))
    try:
        yield from (batch for batch in asked.to_arrow_reader(rows_of_batch(len(chosen))) if batch.num_rows)
    except duckdb.Error as error:
        raise DataError(f"DuckDB could not answer: {error}") from None


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def scan_relation(
    data: Any,
    table: str | None,
    request: Request,
    *,
    schema: Schema | None,
    names: tuple[str, ...] | None,
    weight: str | None,
    memory_limit: str | int | None,
) -> Relation:
    """A relation under one schema: the one given, or the one that a pass over it shows."""
    relation = data if isinstance(data, duckdb.DuckDBPyRelation) else opened(data, table, memory_limit)
    raw = None if names is None else sources_of(names, relation.columns)
    asked = [*(raw or ()), *([weight] if weight else []), *request.dropped, *request.missing.by_column]
    require_known(asked, relation.columns)
    digest = None
    if schema is None:
        digest = looked_at(relation, None if raw is None else (*raw, *([weight] if weight else [])), request.missing)
        schema = digest.schema(request, names=names, weight=weight)
    return Relation(relation=relation, schema=schema, request=request, weight=weight, digest=digest)


def looked_at(relation: Any, names: tuple[str, ...] | None, missing: Missing) -> Digest:
    """The digest of all batches."""

    def work(batch: Any) -> Digest:
        return digest_of(columns_of_batch(batch), missing)

    found = Local().fold(work, streamed(relation, names), lambda _: None)
    return require_some(found, "the answer of DuckDB")


def opened(data: Any, table: str | None, memory_limit: str | int | None) -> Any:
    """A table, a view or a query of a database, which is opened for reading only; or of a connection."""
    connection = data if isinstance(data, duckdb.DuckDBPyConnection) else connected(data, memory_limit)

    if table is None:
        known = [name for (name,) in connection.execute("select table_name from information_schema.tables").fetchall()]
        raise ParameterError(
            "which table of the database?",
            hint=f"{option('table', known[0])}; there are {listed(known)}" if known else None,
        )
    try:
        return connection.sql(table) if is_query(table) else connection.table(table)
    except duckdb.Error as error:
        raise ParameterError(
            f"DuckDB cannot read {table!r}: {error}",
            hint='name a table or a view of the database, or give a query such as "select * from t"',
        ) from None


def connected(path: Any, memory_limit: str | int | None) -> Any:
    """A database that is there, opened for reading only."""
    if not Path(path).is_file():
        raise MissingFileError(
            f"cannot read {str(path)!r}: there is no such file",
            hint=f"looked in {Path(path).absolute().parent}",
            path=path,
        )
    try:
        return limited(duckdb.connect(str(path), read_only=True), memory_limit)
    except duckdb.Error as error:
        raise FormatError(
            f"DuckDB cannot open {str(path)!r} for reading: {error}",
            hint="see whether it is a DuckDB database, and whether another program has it open",
            path=path,
        ) from None


def limited(connection: Any, memory_limit: str | int | None) -> Any:
    """A connection of our own with our threads, and with a limit if there is one: what exceeds it goes to disk."""
    connection.execute(f"set threads = {thread_count()}")
    if memory_limit is not None:
        connection.execute(f"set memory_limit = '{bytes_of(memory_limit)}B'")
    return connection


def is_query(table: str) -> bool:
    """Whether a whole question is given, not the name of a table."""
    return table.strip().lower().startswith(("select ", "from ", "with "))
