"""Counts of families of columns over a source: dense ones in one pass, huge and sparse ones by SQL.

    N(a, b, c) = Σ_i w_i [row i shows a, b and c]

Many families at once are counted by one pass through the kernel. Where most cells would be empty, DuckDB groups equal
rows, on disk if need be, and the rows that are left carry their number as weight.
"""

from __future__ import annotations

import glob
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from bayeslearn.errors import ParameterError
from bayeslearn.sources.base import Scanned
from bayeslearn.sources.duckdb_source import DuckDBSource, duckdb, limited, quoted, require_same
from bayeslearn.sources.engines import ThreadEngine
from bayeslearn.sources.file_source import FileSource
from bayeslearn.sources.shard_readers import read_shard
from bayeslearn.tables import Table, contingency_tables
from bayeslearn.tables.contingency import of_counts
from bayeslearn.tables.file_readers import column_names
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.tables import ContingencyTable, Source


def count_cells(
    source: Source, families: Sequence[Sequence[str]], *, missing: Literal["drop", "state"] = "drop"
) -> list[ContingencyTable]:
    """The contingency table of each family, as :func:`~bayeslearn.contingency_tables` counts it, in one pass.

    >>> from bayeslearn import scan
    >>> days = scan([{"wind": ["weak", "strong"], "play": ["yes", "no"]}, {"wind": ["weak"], "play": ["yes"]}])
    >>> count_cells(days, [("wind", "play")])[0].counts
    array([[1., 0.],
           [0., 2.]])
    """
    if isinstance(source, Table):
        return contingency_tables(source, families, missing=missing)
    names = tuple(dict.fromkeys(name for family in families for name in family))
    require_known(names, source.schema.names)
    assert isinstance(source, Scanned)
    narrow = source.declared(columns=names)
    if len(families) <= FEW and is_near(narrow) and duckdb.is_installed():
        return contingency_tables(group_counts(narrow, names).table(), families, missing=missing)
    found: Counted = narrow.fold(Count(tuple(map(tuple, families))))
    return [of_counts(tuple(f), n, missing) for f, n in zip(families, found.counts, strict=True)]


#: As many families as DuckDB counts sooner itself than it hands over their rows.
FEW = 2


def is_near(source: Any) -> bool:
    """Whether DuckDB can group the rows itself, on this machine."""
    return isinstance(source, DuckDBSource) or (
        isinstance(source, FileSource) and isinstance(source.engine, ThreadEngine)
    )


@dataclass(frozen=True)
class Counted:
    """Counts of families, missing being the last state of each column."""

    counts: tuple[NDArray[np.float64], ...]

    def __add__(self, other: Counted) -> Counted:
        return Counted(tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)))


@dataclass(frozen=True)
class Count:
    """Counts families of a batch."""

    families: tuple[tuple[str, ...], ...]

    def __call__(self, table: Table) -> Counted:
        """Their tables."""
        return Counted(tuple(c.counts for c in contingency_tables(table, self.families, missing="state")))


### by SQL

#: The name of the column that says how many rows were equal.
NUMBER = "rows of this kind"


def group_counts(
    source: Any, columns: Iterable[str] | None = None, *, memory_limit: str | int | None = None
) -> DuckDBSource:
    """Equal rows as one that carries their weight: a source again, made by DuckDB's ``GROUP BY``.

    What does not fit into `memory_limit` is put on disk. Numeric columns count as equal where they are the same number.
    """
    if not isinstance(source, FileSource | DuckDBSource):
        raise ParameterError(
            f"DuckDB cannot group {source!r:.60}", hint="it groups files and relations; Table.distinct groups tables"
        )
    names = source.schema.names if columns is None else name_list("columns", columns)
    require_known(names, source.schema.names)
    rows = source.relation if isinstance(source, DuckDBSource) else relation_of(source, memory_limit)
    listed = ", ".join(map(quoted, names))
    number = "count(*)::double" if source.weight is None else f"sum({quoted(source.weight)}::double)"
    asked = rows.aggregate(f"{listed}, {number} as {quoted(NUMBER)}", listed)
    return DuckDBSource(
        relation=asked,
        shards=source.shards,
        schema=source.schema.select(names),
        request=source.request,
        weight=NUMBER,
        digest=None,
    )


def relation_of(files: FileSource, memory_limit: str | int | None) -> Any:
    """The files for DuckDB: Parquet it reads itself, text is read for it as for all others, and stays text."""
    connection = limited(duckdb.connect(), memory_limit)
    require_same(files.shards)
    if files.shards[0].is_text:
        return connection.from_arrow(TextRows(files))
    paths = dict.fromkeys(glob.escape(shard.path) for shard in files.shards)  # DuckDB takes names for patterns
    return connection.read_parquet(list(paths))


@dataclass(frozen=True)
class TextRows:
    """The cells of text files as Arrow hands them over, read anew whenever they are asked for."""

    files: FileSource

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A stream of batches."""
        names = [name for name in column_names(self.files.shards[0].path) if name in {*self.files.coder.names}]
        schema = pa.schema([(name, pa.string()) for name in names])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema)).__arrow_c_stream__(requested_schema)

    def _batches(self, schema: Any) -> Iterator[Any]:
        for shard in self.files.shards:
            for batch in read_shard(shard, tuple(schema.names), self.files.rows_at_a_time):
                columns = {column.name: column.data.cast(pa.string()) for column in batch}
                yield pa.record_batch([columns[name] for name in schema.names], schema=schema)
