"""Opening files and batches: which there are, whether they are alike, and what their columns show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import EmptyTableError, FormatError, listed
from bayeslearn.sources.base import rows_of_batch
from bayeslearn.sources.batch_source import BatchSource, looked_at, require_again
from bayeslearn.sources.encoded_source import EncodedSource, open_encoded
from bayeslearn.sources.engines import Engine, ThreadEngine, bytes_of
from bayeslearn.sources.file_source import FileSource, Looked, ShardDigest, folded
from bayeslearn.sources.scanning import is_paths, is_relation
from bayeslearn.sources.shards import matching, require_alike, row_groups, shards_of
from bayeslearn.tables import Schema, Source
from bayeslearn.tables.file_readers import column_names
from bayeslearn.tables.schema import require_known
from bayeslearn.tables.table_builder import collector_paused
from bayeslearn.tables.text_heads import stamp_of
from bayeslearn.tables.type_inference import sources_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.sources.file_source import ScanProgress
    from bayeslearn.sources.shards import Shard
    from bayeslearn.tables.conversion import Request


@collector_paused()
def scan_files(
    paths: Any,
    request: Request,
    *,
    schema: Schema | None,
    names: tuple[str, ...] | None,
    weight: str | None,
    engine: Any,
    skip: bool,
    memory_limit: str | int | None,
    progress: Callable[[ScanProgress], object] | None,
) -> FileSource:
    """Files under one schema: the one given, or the one that a pass over them shows."""
    where = engine_of(engine)
    broken: dict[str, str] = {}
    shards = opened(matching(paths), broken, skip=skip)
    alive = list(dict.fromkeys(shard.path for shard in shards))
    wanted = None if names is None and schema is None else read_names(alive, schema, names)
    read = None if wanted is None else (*wanted, *([weight] if weight else []))
    columns = require_alike(alive, read)
    require_known([*request.dropped, *request.missing.by_column], columns)
    dropped = frozenset(request.dropped)
    columns = {name: kind for name, kind in columns.items() if name not in dropped}
    read = tuple(columns) if read is None and request.dropped else read
    if read is not None and request.absent == "missing":
        read = tuple(name for name in read if name in columns)
    require_known([*(read or ()), *([weight] if weight else [])], columns)
    rows = rows_for(memory_limit, len(read or columns), where)
    digest = None
    if schema is None or skip:
        look = ShardDigest(read, rows, request.missing, skip)
        looked: Looked = folded(where, look, shards, progress) or Looked()
        broken |= looked.broken
        shards = tuple(sized(shard, looked) for shard in shards if shard.path not in broken)
        digest = looked.digest
        if digest is None:
            raise no_rows(alive, broken)
    if schema is None:
        assert digest is not None
        schema = digest.schema(request, names=names, weight=weight)
    return FileSource(
        shards=shards, schema=schema, request=request, weight=weight, digest=digest, engine=where, batch_rows=rows,
        skipped=broken, progress=progress,
    )  # fmt: skip


def read_names(paths: list[str], schema: Schema | None, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """The columns to read for a schema, or for names: those of the first file, dates for parts of them."""
    there = column_names(paths[0]) if paths else []
    if schema is None:
        return sources_of(names or (), there)
    known, from_dates = frozenset(there), {v.name: v.origin or v.name for v in schema}
    return tuple(dict.fromkeys(n if n in known else from_dates[n] for n in schema.names))


def sized(shard: Shard, looked: Looked) -> Shard:
    """A shard with its number of rows, after they were counted."""
    return replace(shard, rows=looked.rows.get(shard.path, 0)) if shard.is_text else shard


def opened(paths: list[str], broken: dict[str, str], *, skip: bool) -> tuple[Shard, ...]:
    """The shards of all files; those that cannot even be opened are put aside, if they may be skipped."""
    groups: dict[str, list[int] | None] = {}
    stamps = {path: stamp_of(path) for path in paths}
    for path in paths:
        try:
            groups[path] = row_groups(path)
        except (FormatError, EmptyTableError) as error:
            if not skip:
                raise
            broken[path] = error.message
    shards = tuple(shards_of(groups, stamps))
    if not shards:
        raise no_rows(paths, broken)
    return shards


def no_rows(paths: list[str], broken: dict[str, str]) -> EmptyTableError:
    """Nothing is left to read, perhaps because it is broken."""
    why = f": {next(iter(broken.values()))}" if broken else ""
    return EmptyTableError(
        f"there are no rows in {listed(paths, 3)}{why}",
        hint="see whether the files hold more than names of columns",
        skipped=broken,
    )


def raw_source(
    data: Any, *, engine: Any = None, progress: Callable[[ScanProgress], object] | None = None
) -> Source | None:
    """Data whose raw columns can be read, without a first pass; None for what is no source, file or relation."""
    if isinstance(data, Source):
        return data
    if is_paths(data):
        shards = opened(matching(data), {}, skip=False)
        return FileSource(shards=shards, schema=Schema([]), engine=engine_of(engine), progress=progress)
    if is_relation(data):
        from bayeslearn.sources.duckdb_source import DuckDBSource  # noqa: PLC0415 - DuckDB is there by now

        return DuckDBSource(relation=data, schema=Schema([]))
    return None


def engine_of(engine: Any) -> Engine:
    """The engine that is meant: this machine, a cluster that runs, or one to be started."""
    if engine is None or engine == "files":
        return ThreadEngine()
    if hasattr(engine, "fold"):
        return engine
    from bayeslearn.sources.dask_engine import cluster_of  # noqa: PLC0415 - an extra

    return cluster_of(engine)


def rows_for(memory_limit: str | int | None, columns: int, engine: Engine) -> int:
    """Rows of a batch, so that those of all threads together stay within the limit."""
    rows = rows_of_batch(columns)
    if memory_limit is None:
        return rows
    threads = getattr(engine, "count", 1)
    return max(min(rows, bytes_of(memory_limit) // (CELL_BYTES * max(columns, 1) * threads)), 1024)


#: Bytes that a cell may take on its way from a file to a statistic.
CELL_BYTES = 32


def scan_encoded(folder: Any, engine: Any) -> EncodedSource:
    """The rows of a folder that was encoded before."""
    return open_encoded(folder, engine_of(engine))


def scan_batches(
    data: Any, request: Request, *, schema: Schema | None, names: tuple[str, ...] | None, weight: str | None
) -> BatchSource:
    """Batches under one schema: the one given, or the one that a pass over them shows."""
    require_again(data)
    digest = None
    if schema is None:
        digest = looked_at(data, names, request.missing)
        require_known([*request.dropped, *request.missing.by_column], digest.columns)
        schema = digest.schema(request, names=names, weight=weight)
    return BatchSource(read=data, schema=schema, request=request, weight=weight, digest=digest)
