"""From paths, patterns, databases and batches to a source; one pass over the data finds its schema."""

from __future__ import annotations

import glob
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.tables import Table, as_table
from bayeslearn.tables.conversion import check_request, raw_table, requested
from bayeslearn.tables.file_names import MANIFEST, is_file, is_folder
from bayeslearn.tables.markers import Missing
from bayeslearn.tables.schema import name_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike

    from bayeslearn.sources.engines import Engine
    from bayeslearn.sources.file_source import ScanProgress
    from bayeslearn.tables import Schema, Source
    from bayeslearn.tables.conversion import Unseen
    from bayeslearn.tables.markers import Markers

#: Endings of the names of DuckDB's databases.
DATABASES = {".duckdb", ".ddb", ".db"}


def scan(
    data: Any,
    *,
    table: str | None = None,
    schema: Schema | None = None,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] | Literal[True] = (),
    numeric: Iterable[str] = (),
    states: Mapping[str, Iterable[Any]] | None = None,
    drop_columns: Iterable[str] = (),
    na_values: Markers = (),
    keep_default_na: bool = True,
    sample_weight: str | None = None,
    max_states: int = 255,
    allow_constant: bool = False,
    handle_unknown: Unseen = "error",
    missing_columns: Literal["error", "missing"] = "error",
    dropped_columns: dict[str, str] | None = None,
    engine: Engine | Any = None,
    on_error: Literal["raise", "skip"] = "raise",
    memory_limit: str | int | None = None,
    progress: Callable[[ScanProgress], object] | None = None,
) -> Any:
    """A source: data that stay where they are, and are folded batch by batch.

    Parameters
    ----------
    data
        Paths, patterns (``"cases-*.parquet"``) or directories of CSV and Parquet files, or a list of these; a folder
        that :func:`~bayeslearn.sources.encode_to_disk` wrote; a DuckDB relation; the path of a DuckDB database together
        with `table`; or batches of data, as a list or as a function that returns an iterator.
    table
        The table, view or query of a database.
    schema
        The variables, where they are known: the data are then not read beforehand.
    columns, drop_columns, discrete, numeric, states, na_values, keep_default_na, max_states, allow_constant, \
handle_unknown, missing_columns, dropped_columns
        As in :func:`~bayeslearn.as_table`.
    sample_weight
        The column of the weights of the rows.
    engine
        Where files are read: on the threads of this machine by default, or by a cluster: a Dask client, the address
        of a scheduler (``"tcp://…"``), or ``"dask"`` for a cluster on this machine.
    on_error
        What to do with a file that cannot be read: raise an error that names it, or skip it; ``source.skipped`` then
        lists them with the reasons.
    memory_limit
        What reading may use, such as ``"512MB"``: DuckDB's own limit for a database, and the size of batches.
    progress
        Called as a pass goes on, with rows and seconds.
    """
    said: dict[str, Any] = {
        "discrete": discrete, "numeric": numeric, "states": states, "max_states": max_states,
        "allow_constant": allow_constant, "handle_unknown": handle_unknown, "missing_columns": missing_columns,
        "dropped_columns": dropped_columns,
    }  # fmt: skip
    request = requested(na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns, **said)
    check_request(request, schema)
    if schema is not None and handle_unknown == "add":  # the states to add are found by a look at the rows
        known = scan(
            data, table=table, schema=schema, drop_columns=drop_columns, na_values=na_values,
            sample_weight=sample_weight, keep_default_na=keep_default_na, missing_columns=missing_columns,
            dropped_columns=dropped_columns, engine=engine, on_error=on_error, memory_limit=memory_limit,
            progress=progress,
        )  # fmt: skip
        return known.declared(schema=schema, handle_unknown=handle_unknown, missing_columns=missing_columns)
    names = None if columns is None else name_list("columns", columns)
    request = replace(request, named=frozenset(names or ()))
    on_error = validation.choice("on_error", on_error, ["raise", "skip"])
    if isinstance(data, list | tuple) and len(data) == 1 and is_paths(data):
        data = data[0]
    if is_scanned(data) or isinstance(data, Table):
        raise ParameterError(f"{data!r:.60} is a source already", hint="use as_source to declare its columns")
    if engine is not None and engine != "files" and not is_paths(data):
        raise ParameterError(
            f"{type(data).__name__} is read on this machine, not by a cluster", hint="clusters read files: give paths"
        )
    if is_relation(data) or is_database(data):
        from bayeslearn.sources.duckdb_source import scan_relation  # noqa: PLC0415 - DuckDB loads when it is asked

        return scan_relation(
            data, table, request, schema=schema, names=names, weight=sample_weight, memory_limit=memory_limit
        )
    if isinstance(data, str | os.PathLike) and is_file(Path(data) / MANIFEST):
        from bayeslearn.sources.open_source import scan_encoded  # noqa: PLC0415 - Arrow loads when data come in

        markers: dict[str, Any] = {
            "na_values": na_values,
            "keep_default_na": keep_default_na,
            "drop_columns": drop_columns,
        }
        return scan_encoded(data, engine).declared(
            schema=schema, columns=names, sample_weight=sample_weight, **markers, **said
        )
    if is_paths(data):
        from bayeslearn.sources.open_source import scan_files  # noqa: PLC0415 - Arrow loads when data come in

        return scan_files(
            data, request, schema=schema, names=names, weight=sample_weight, engine=engine,
            skip=on_error == "skip", memory_limit=memory_limit, progress=progress,
        )  # fmt: skip
    from bayeslearn.sources.open_source import scan_batches  # noqa: PLC0415

    return scan_batches(data, request, schema=schema, names=names, weight=sample_weight)


def as_source(
    data: Any,
    *,
    schema: Schema | None = None,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] | Literal[True] = (),
    numeric: Iterable[str] = (),
    states: Mapping[str, Iterable[Any]] | None = None,
    drop_columns: Iterable[str] = (),
    na_values: Markers = (),
    keep_default_na: bool = True,
    sample_weight: ArrayLike | str | None = None,
    max_states: int = 255,
    allow_constant: bool = False,
    handle_unknown: Unseen = "error",
    missing_columns: Literal["error", "missing"] = "error",
    dropped_columns: dict[str, str] | None = None,
) -> Source:
    """A source with its columns declared, or the table of data that are none.

    The parameters are those of :func:`~bayeslearn.as_table`. Patterns, lists of paths and directories are scanned; the
    path of a single file is read into memory.
    """
    options: dict[str, Any] = {
        "schema": schema, "columns": columns, "discrete": discrete, "numeric": numeric, "states": states,
        "drop_columns": drop_columns, "na_values": na_values, "keep_default_na": keep_default_na,
        "sample_weight": sample_weight,
        "max_states": max_states, "allow_constant": allow_constant, "handle_unknown": handle_unknown,
        "missing_columns": missing_columns,
        "dropped_columns": dropped_columns,
    }  # fmt: skip
    if is_scanned(data):
        return data.declared(**options)
    if is_paths(data) and not is_one_file(data):
        return scan(data, **options)
    return as_table(data, **options)


def with_options(
    data: Any,
    *,
    columns: Iterable[str] | None = None,
    drop_columns: Iterable[str] = (),
    na_values: Markers = (),
    keep_default_na: bool = True,
    handle_unknown: Unseen | None = None,
    require_marked: bool = True,
) -> Any:
    """Data as any learner takes them, with options of reading; the data themselves if there are none.

    The options are those of :func:`~bayeslearn.as_table`. `handle_unknown` takes the place of what a learner would do,
    and `require_marked` is whether data in memory must have the columns with specific markers.
    """
    folds = is_scanned(data)
    if not folds and not (is_paths(data) and not is_one_file(data)):
        return raw_table(
            data, columns=columns, drop_columns=drop_columns, na_values=na_values, keep_default_na=keep_default_na,
            handle_unknown=handle_unknown, require_marked=require_marked,
        )  # fmt: skip
    dropped = name_list("drop_columns", drop_columns)
    usual = columns is None and not dropped and Missing.of(na_values, keep_default_na=keep_default_na) == Missing.of()
    if not usual:
        options: dict[str, Any] = {"columns": columns, "drop_columns": dropped, "na_values": na_values}
        options["keep_default_na"] = keep_default_na
        data = data.declared(**options) if folds else scan(data, **options)
    elif handle_unknown is not None and not folds:
        data = scan(data)
    return data if handle_unknown is None else replace(data, unseen=handle_unknown)


### what was given


def is_source(data: Any) -> bool:
    """Whether data are to be folded: a source that is no table, or paths of several files."""
    return is_scanned(data) or (is_paths(data) and not is_one_file(data))


def is_scanned(data: Any) -> bool:
    """Whether data are a source, whose columns can be declared; the classes of sources load when data are scanned."""
    return hasattr(type(data), "declared")


def is_paths(data: Any) -> bool:
    """Whether data are given by paths or patterns."""
    if isinstance(data, str | os.PathLike):
        return True
    return isinstance(data, list | tuple) and len(data) > 0 and all(isinstance(p, str | os.PathLike) for p in data)


def is_one_file(data: Any) -> bool:
    """Whether a single file is meant, that may be read into memory."""
    if not isinstance(data, str | os.PathLike):
        return False
    return not is_folder(data) and (is_file(data) or not glob.has_magic(os.fspath(data)))


def is_database(data: Any) -> bool:
    """Whether a path is that of a DuckDB database."""
    return isinstance(data, str | os.PathLike) and Path(data).suffix.lower() in DATABASES


def is_relation(data: Any) -> bool:
    """Whether data are a relation of DuckDB, which is not loaded to find out."""
    return type(data).__module__.partition(".")[0] in {"duckdb", "_duckdb"}
