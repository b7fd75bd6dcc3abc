"""Tables of a DuckDB database, and whatever else DuckDB can ask: its answer streams by, batch by batch."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bayeslearn import lazy_imports
from bayeslearn.errors import DataError, FormatError, InputFileNotFoundError, ParameterError, in_python, listed, option
from bayeslearn.kernels import thread_count
from bayeslearn.sources.base import Scanned, rebatched, require_some, rows_of_batch
from bayeslearn.sources.batch_source import BatchReader, BatchStreams
from bayeslearn.sources.column_profiles import ColumnProfiles, digest_of
from bayeslearn.sources.encoding import Coder
from bayeslearn.sources.engines import ThreadEngine, bytes_of
from bayeslearn.sources.file_source import columns_of_batch
from bayeslearn.tables.file_names import is_file
from bayeslearn.tables.schema import require_known
from bayeslearn.tables.source_protocol import Summed
from bayeslearn.tables.text_heads import require_unchanged
from bayeslearn.tables.type_inference import sources_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from bayeslearn.sources.shards import Shard
    from bayeslearn.tables import Schema, Table
    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.conversion import Request
    from bayeslearn.tables.markers import Missing

S = TypeVar("S")
T = TypeVar("T")

duckdb: Any = lazy_imports.Optional("duckdb", "databases and SQL", "duckdb")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DuckDBSource(Scanned):
    """The answer to a question to DuckDB, asked anew for every pass; :func:`~bayeslearn.scan` makes one."""

    relation: Any
    #: The files that DuckDB reads for us, each as it looked when it was opened.
    shards: tuple[Shard, ...] = ()

    def __repr__(self) -> str:
        return f"DuckDBSource({len(self.schema)} columns)"

    def fold(self, collect: Callable[[Table], S]) -> S:
        """DuckDB reads ahead on its own threads, ours code and collect."""
        coder = Coder(self.schema, self.request, self.weight)
        return self.fold_streams(coder.names, coder.table, Summed(collect))

    def _parts(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        *,
        rows: int | None,
        whole_files: bool,
    ) -> tuple[Iterable[Any], BatchReader[T]]:
        return BatchStreams(streamed(self.relation, names, rows, self.shards), whole_files), BatchReader(
            names, read, columns_of_batch
        )

    def column_names(self) -> list[tuple[str, ...]]:
        """Those of the answer."""
        return [tuple(self.relation.columns)]

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows as DuckDB gives them; ``order by`` in the question makes that an order."""
        coder = Coder(self.schema, self.request, self.weight)
        tables = chain.from_iterable(self.streams(coder.names, coder.table))
        return tables if n is None else rebatched(tables, n)

    def look(self) -> ColumnProfiles:
        """What all columns show, by a pass."""
        return looked_at(self.relation, None, self.request.missing, self.shards)


def streamed(
    relation: Any, names: tuple[str, ...] | None, rows: int | None = None, shards: tuple[Shard, ...] = ()
) -> Generator[Any]:
    """Arrow batches of the columns that are there; of files that did not change."""
    require_same(shards)
    wanted = None if names is None else frozenset(names)
    chosen = [name for name in relation.columns if wanted is None or name in wanted]
    asked = relation.project(", ".join(map(quoted, chosen)))
    try:
        with asked.to_arrow_reader(rows or rows_of_batch(len(chosen))) as reader:
            yield from (batch for batch in reader if batch.num_rows)
    except duckdb.Error as error:
        require_same(shards)  # what is wrong may be that somebody writes to a file
        raise DataError(f"DuckDB could not answer: {error}") from None
    require_same(shards)


def require_same(shards: Iterable[Shard]) -> None:
    """Files that look as they did when they were opened."""
    for shard in shards:
        require_unchanged(shard.path, shard.stamp)


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
) -> DuckDBSource:
    """A relation under one schema: the one given, or the one that a pass over it shows."""
    relation = data if isinstance(data, duckdb.DuckDBPyRelation) else opened(data, table, memory_limit)
    raw = None if names is None else sources_of(names, relation.columns)
    asked = [*(raw or ()), *([weight] if weight else []), *request.dropped, *request.missing.by_column]
    require_known(asked, relation.columns)
    digest = None
    if schema is None:
        digest = looked_at(relation, None if raw is None else (*raw, *([weight] if weight else [])), request.missing)
        schema = digest.schema(request, names=names, weight=weight)
    return DuckDBSource(relation=relation, schema=schema, request=request, weight=weight, digest=digest)


def looked_at(
    relation: Any, names: tuple[str, ...] | None, missing: Missing, shards: tuple[Shard, ...] = ()
) -> ColumnProfiles:
    """The digest of all batches."""

    def work(batch: Any) -> ColumnProfiles:
        return digest_of(columns_of_batch(batch), missing)

    with closing(streamed(relation, names, shards=shards)) as batches:
        found = ThreadEngine().fold(work, batches, lambda _: None)
    return require_some(found, "the answer of DuckDB")


def opened(data: Any, table: str | None, memory_limit: str | int | None) -> Any:
    """A table, a view or a query of a database, which is opened for reading only; or of a connection."""
    connection = data if isinstance(data, duckdb.DuckDBPyConnection) else connected(data, memory_limit)
    known = [name for (name,) in connection.execute("select table_name from information_schema.tables").fetchall()]
    if table is None:
        raise ParameterError(
            "which table of the database?",
            hint=f"{option('table', known[0])}; there are {listed(known)}" if known else None,
        )
    try:
        return connection.sql(f"from {quoted(table)}" if table in known else one_select(connection, table))
    except duckdb.PermissionException as error:
        raise ParameterError(
            f"{table!r} reads what is not in the database: {error}",
            hint="only rows of the database itself are read"
            + in_python("; to read others, ask DuckDB yourself: scan(duckdb.sql(...))"),
        ) from None
    except (duckdb.Error, UnicodeError) as error:
        raise ParameterError(
            f"DuckDB cannot read {table!r}: {error}",
            hint='name a table or a view of the database, or give a query such as "select * from t"',
        ) from None


def one_select(connection: Any, text: str) -> Any:
    """The one SELECT that a question is; the name of a table, perhaps with its schema, stands for all of its rows."""
    if IS_NAME(text.strip()):
        text = f"from {text}"
    found = connection.extract_statements(text)
    if len(found) != 1 or found[0].type != duckdb.StatementType.SELECT:
        kinds = [statement.type.name for statement in found]
        raise ParameterError(
            f"{text!r} is not one SELECT: DuckDB takes it for {listed(kinds) if kinds else 'nothing'}",
            hint='name a table or a view of the database, or give one query such as "select * from t"',
        )
    return found[0]


#: Whether text is a name of SQL, or several with points between them.
IS_NAME = re.compile(r'(?:[^\W\d]\w*|"(?:[^"]|"")+")(?:\.(?:[^\W\d]\w*|"(?:[^"]|"")+"))*').fullmatch

#: A received database is data, whatever its views ask for: no other files, no extensions, secrets or Python variables.
CLOSED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
}


def connected(path: Any, memory_limit: str | int | None) -> Any:
    """A database that is there, opened for reading only, without access to anything else."""
    if not is_file(path):
        raise InputFileNotFoundError(
            f"cannot read {str(path)!r}: there is no such file",
            hint=f"looked in {Path(path).absolute().parent}",
            path=path,
        )
    try:
        connection = duckdb.connect(str(path), read_only=True, config=CLOSED)
        if not connection.execute("select current_setting('lock_configuration')").fetchone()[0]:
            # else it is open already in this process, with the limits that it was first given
            limited(connection, memory_limit)
            connection.execute("set python_enable_replacements = false; set lock_configuration = true")
    except (duckdb.Error, UnicodeError) as error:
        raise FormatError(
            f"DuckDB cannot open {str(path)!r} for reading: {error}",
            hint="see whether it is a DuckDB database, and whether another program has it open"
            + in_python("; if you have, give your connection: scan(connection, table=...)"),
            path=path,
        ) from None
    return connection


def limited(connection: Any, memory_limit: str | int | None) -> Any:
    """A connection of our own with our threads, and with a limit if there is one: what exceeds it goes to disk."""
    connection.execute(f"set threads = {thread_count()}")
    if memory_limit is not None:
        connection.execute(f"set memory_limit = '{bytes_of(memory_limit)}B'")
    return connection
