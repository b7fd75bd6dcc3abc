"""Data of one file or of many as arguments of verbs, with the options of reading them.

A verb with ``data: Annotated[Data, typer.Argument(...)]`` and the decorator :func:`reads` gets the options too.
"""

from __future__ import annotations

import csv
import functools
import inspect
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bayeslearn.cli import envelope, interrupt, progress
from bayeslearn.cli.input_data import Given, named, read_schema
from bayeslearn.cli.structure_options import names as split_names
from bayeslearn.cli.structure_options import table_file
from bayeslearn.errors import ParameterError, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Verb = Callable[..., None]

ENGINES = ("memory", "files", "dask")

#: The argument of verbs whose body depends on the kind of the model.
Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file written by `bayeslearn fit`.")]

#: Where the options stand in the help.
PANEL = "Reading data"

### options

Engine = Annotated[
    str | None,
    typer.Option(
        help="memory: all rows at once; files: batch by batch; dask: batch by batch on a cluster. "
        r"\[default: memory for one file, files for several]",
        rich_help_panel=PANEL,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a Dask cluster, tcp://… or tls://…; certificates come from the configuration of Dask.",
        rich_help_panel=PANEL,
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory that reading may use, such as 512MB; a number without unit is in MiB.",
        rich_help_panel=PANEL,
    ),
]
OnError = Annotated[
    str,
    typer.Option(
        metavar="raise|skip",
        help="Files that cannot be read: raise an error, or skip them with a warning.",
        rich_help_panel=PANEL,
    ),
]
TableOf = Annotated[str | None, typer.Option(help="Table of a DuckDB database, or a query.", rich_help_panel=PANEL)]
SchemaFile = Annotated[
    Path | None,
    typer.Option(help="Schema of the columns, written by `bayeslearn scan -o`.", rich_help_panel=PANEL),
]
NaValues = Annotated[
    list[str] | None,
    typer.Option(
        "--na-values",
        metavar="A,B,COLUMN=C",
        help="Markers of missing values in addition to the default ones ('', ?, NA, N/A, NaN, None, null, ...); "
        "COLUMN=C for one column. Repeatable.",
        rich_help_panel=PANEL,
    ),
]
NoDefaultNa = Annotated[
    bool, typer.Option("--no-default-na", help="Only --na-values mark missing values.", rich_help_panel=PANEL)
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help=r"Columns to read. Repeatable. \[default: all]", rich_help_panel=PANEL),
]
DropColumns = Annotated[
    list[str] | None, typer.Option(metavar="A,B", help="Columns to drop. Repeatable.", rich_help_panel=PANEL)
]
HandleUnknown = Annotated[
    str | None,
    typer.Option(
        metavar="missing|error|add",
        help="Unknown states: missing, error, or add to the states of the model (fit and update only). "
        r"\[default: add in fit and update, else missing]",
        rich_help_panel=PANEL,
    ),
]

#: The options of where data lie, and how much is read at a time.
SOURCES = ("engine", "scheduler", "memory_limit", "on_error", "table", "schema")

#: The options of how cells are read, which every verb that reads data has.
CELLS = ("na_values", "no_default_na", "columns", "drop_columns")


@dataclass(frozen=True)
class Data:
    """What is to be read, and how."""

    paths: tuple[str, ...]
    engine: Engine = None
    scheduler: Scheduler = None
    memory_limit: MemoryLimit = None
    on_error: OnError = "raise"
    table: TableOf = None
    schema: SchemaFile = None
    na_values: NaValues = None
    no_default_na: NoDefaultNa = False
    columns: Columns = None
    drop_columns: DropColumns = None
    handle_unknown: HandleUnknown = None
    #: Told of every pass; a bar that is given it shows them.
    passes: progress.Passes = field(default_factory=progress.Passes)

    def __str__(self) -> str:
        return joined(map(repr, self.paths), 3)

    @property
    def is_one_file(self) -> bool:
        """Whether it is a file that can be read into memory, or a name that ships."""
        from bayeslearn.sources.scanning import is_database, is_one_file

        return len(self.paths) == 1 and is_one_file(table_file(self.paths[0])) and not is_database(self.paths[0])

    @property
    def kind(self) -> str:
        """The engine that is meant."""
        from bayeslearn import validation

        said = None if self.engine is None else validation.choice("--engine", self.engine, ENGINES)
        if self.scheduler is not None and said not in {None, "dask"}:
            raise ParameterError(
                f"--scheduler is of dask, not of --engine {said}", hint="leave out --engine, or take --engine dask"
            )
        return said or ("dask" if self.scheduler is not None else "memory" if self.is_one_file else "files")

    @property
    def limit(self) -> int | None:
        """The limit of memory in bytes."""
        from bayeslearn import validation
        from bayeslearn.sources.engines import bytes_of

        text = self.memory_limit
        mebibytes = None if text is None else validation.whole_number(text)
        if text is None or mebibytes is not None:
            return None if mebibytes is None else mebibytes << 20
        try:
            return bytes_of(text)
        except ParameterError:
            raise ParameterError(f"--memory-limit is a size such as 512MB, or so many MiB, got {text!r}") from None

    @contextmanager
    def opened(
        self, *, sample_weight: str | None = None, max_states: int = 255, limits_more: bool = False
    ) -> Iterator[Given]:
        """The data as learners take them; what was started for them ends with the block.

        With `limits_more` the limit of memory holds for more than reading.
        """
        in_memory = self.kind == "memory"
        if in_memory and self.is_one_file:
            self._require_nothing_else(limits_more=limits_more)
            data = self.read(table_file(self.paths[0]), sample_weight)
            coded = data if self.schema is None else self.by_schema(data, sample_weight)
            yield Given(coded, sample_weight, path=str(self))
            return
        dropped_columns: dict[str, str] = {}
        with self.cluster() as engine:
            with progress.bar("looking at the columns", passes=self.passes):
                source = self.scanned(engine, dropped_columns, sample_weight=sample_weight, max_states=max_states)
            yield Given(source, None, dropped_columns, in_memory, path=str(self))

    @contextmanager
    def in_memory(self, what: str, *, sample_weight: str | None = None, max_states: int = 255) -> Iterator[Given]:
        """All rows at once, for what cannot do with less."""
        if self.kind != "memory" and (self.engine or self.scheduler):
            raise ParameterError(
                f"{what} needs all rows in memory: there is no --engine {self.kind} for it", hint="take --engine memory"
            )
        with Data(**(vars(self) | {"engine": "memory"})).opened(
            sample_weight=sample_weight, max_states=max_states
        ) as given:
            yield given

    def one_file(self, what: str) -> Given:
        """A single file, for what takes no more."""
        if not self.is_one_file or self.kind != "memory":
            raise ParameterError(
                f"{what} takes the rows of one file, which are read into memory, got {self}",
                hint="name one file, without --engine files or dask",
            )
        path = table_file(self.paths[0])
        return Given(self.read(path), path=repr(path))

    def read(self, path: str, needed: str | None = None) -> Any:
        """A file by the options of how cells are read; its path if there are none of them.

        A column that is `needed` is read even if it is not among those to be read.
        """
        from bayeslearn.tables.conversion import raw_table
        from bayeslearn.tables.file_readers import column_names

        return raw_table(path, **self.cells(lambda: column_names(path), needed), handle_unknown=self.handle_unknown)

    def dropped(self, *needed: str | None) -> dict[str, str]:
        """Columns that are not wanted, and why; those that are `needed`, such as a target, cannot be dropped."""
        found = column_list(self.drop_columns, self._names(self._paths)) if self.drop_columns else []
        odd = [name for name in needed if name in found]
        if odd:
            raise ParameterError(
                f"column {odd[0]!r} is needed, and cannot be dropped", hint="leave it out of --drop-columns"
            )
        return dict.fromkeys(found, "asked for")

    @property
    def _paths(self) -> Any:
        """The files, or the database."""
        from bayeslearn.sources.scanning import is_database

        return self.paths[0] if is_database(self.paths[0]) else [table_file(path) for path in self.paths]

    def by_schema(self, data: Any, sample_weight: str | None) -> Any:
        """The rows of a file coded by the schema that was given; columns that are not read are left out of it."""
        from bayeslearn.tables import as_table
        from bayeslearn.tables.file_readers import column_names
        from bayeslearn.tables.schema import require_known

        assert self.schema is not None
        schema, there = read_schema(self.schema), column_names(data) if isinstance(data, str) else list(data)
        if self.columns is None and self.drop_columns is None:
            require_known([name for name in schema.names if name != sample_weight], there)
        schema = schema.select([name for name in schema.names if name in there and name != sample_weight])
        return as_table(data, schema=schema, sample_weight=sample_weight)

    def cells(self, names: Callable[[], list[str]], needed: str | None = None) -> dict[str, Any]:
        """The options of how cells are read, in the words of Python."""
        found: dict[str, Any] = {}
        if self.na_values:
            found["na_values"] = markers(self.na_values, names())
        if self.no_default_na:
            found["keep_default_na"] = False
        if self.columns:
            wanted = column_list(self.columns, names())
            found["columns"] = [*wanted, *([needed] if needed and needed not in wanted else [])]
        if self.drop_columns:
            found["drop_columns"] = column_list(self.drop_columns, names())
        return found

    def scanned(self, engine: Any, dropped_columns: dict[str, str], **how: Any) -> Any:
        """The source, after a pass over all of it; files that were skipped are reported."""
        from bayeslearn import validation
        from bayeslearn.sources import scan
        from bayeslearn.sources.scanning import is_database
        from bayeslearn.tables.schema import require_known

        databases = [path for path in self.paths if is_database(path)]
        if databases and (len(self.paths) > 1 or engine is not None):
            raise ParameterError(
                f"{databases[0]!r} is a database, which is read alone, and on this machine",
                hint="name the database alone, without --scheduler and --engine dask",
            )
        if self.table is not None and not databases:
            raise ParameterError("--table is of a DuckDB database", hint="its name ends in .duckdb, .ddb or .db")
        on_error: Any = validation.choice("--on-error", self.on_error, ["raise", "skip"])
        paths = self._paths
        cells = self.cells(lambda: self._names(paths), how.get("sample_weight"))
        wanted = cells.pop("columns", None)
        if wanted is not None:  # others are not there for learners, whatever they ask for
            kept, there = frozenset(wanted), self._names(paths)
            require_known(wanted, there)
            others = [name for name in there if name not in kept]
            cells["drop_columns"] = [*cells.get("drop_columns", ()), *others]
        source = scan(
            paths, table=self.table, **cells,
            schema=None if self.schema is None else read_schema(self.schema), dropped_columns=dropped_columns,
            engine=engine, on_error=on_error, memory_limit=self.limit, progress=self.passes, **how,
        )  # fmt: skip
        source = replace(source, request=replace(source.request, named=frozenset(wanted or ())))
        for path, why in getattr(source, "skipped", {}).items():
            envelope.warn(f"skipped, for {named(path, why)}")
        return source if self.handle_unknown is None else replace(source, unseen=self.handle_unknown)

    def _names(self, paths: Any) -> list[str]:
        """The columns of the first file, of an encoded folder, or of a table of a database."""
        from bayeslearn.sources.duckdb_source import opened
        from bayeslearn.sources.encoded_source import is_encoded, open_encoded
        from bayeslearn.sources.scanning import is_database
        from bayeslearn.sources.shards import kinds_of, matching

        if is_database(paths):
            return list(opened(paths, self.table, None).columns)
        if len(paths) == 1 and is_encoded(paths[0]):
            return list(open_encoded(paths[0]).written.names)
        return list(kinds_of(matching(paths)[0]))

    @contextmanager
    def cluster(self) -> Iterator[Any]:
        """The cluster to read with, if there is to be one; it is left, or ended if it began here."""
        if self.kind != "dask":
            yield None
            return
        from bayeslearn.sources.dask_engine import cluster_of

        with interrupt.held_back() if self.scheduler is None else nullcontext():  # workers end with us, in peace
            begun = cluster_of(self.scheduler or "dask")
        with begun as cluster:
            yield cluster

    def _require_nothing_else(self, *, limits_more: bool) -> None:
        """Refuse options that have no effect where one file is read into memory."""
        said = {"--memory-limit": None if limits_more else self.memory_limit, "--table": self.table}
        for option, value in said.items():
            if value is not None:
                raise ParameterError(
                    f"{option} is of data that are read batch by batch, and {self} is read into memory at once",
                    hint="add --engine files",
                )


class OneFile(Data):
    """A single file that is read into memory, and how; its path, when written."""

    def __str__(self) -> str:
        return self.paths[0]

    @property
    def given(self) -> Given:
        """The rows as learners take them."""
        return self.one_file("this")


def markers(items: list[str], names: list[str]) -> dict[str | None, list[str]]:
    """A,B,COLUMN=C: markers of all columns under None, and those of single columns."""
    found: dict[str | None, list[str]] = {}
    for item in items:
        for part in next(csv.reader([item], skipinitialspace=True), [""]):
            column, equals, marker = part.partition("=")
            own = equals and column.strip() in names
            found.setdefault(column.strip() if own else None, []).append(marker if own else part)
    return found


def column_list(items: list[str], names: list[str]) -> list[str]:
    """A,B: names of columns; an item that is a column as a whole is that column, whatever commas it holds."""
    known = frozenset(names)
    found = [name for item in items for name in ([item] if item in known else split_names(item))]
    return list(dict.fromkeys(found))


def reads(
    *names: str, unseen: bool = False, adds: bool = False, without: tuple[str, ...] = ()
) -> Callable[[Verb], Verb]:
    """For a verb: with the options of reading, or some of them, which come to it in its `data`.

    Options of how cells are read are always among them, but for those `without`; `unseen` is for verbs with a model,
    which `adds` states if it learns.
    """
    known = inspect.signature(Data, eval_str=True).parameters
    some = [*dict.fromkeys((*(names or SOURCES), *CELLS)), *(["handle_unknown"] if unseen else [])]
    chosen = [name for name in some if name not in without]
    options = [known[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in chosen]

    def wearing(run: Verb) -> Verb:
        own = inspect.signature(run, eval_str=True)
        place, kind, said = data_parameter(own)
        asked: Any = {Data: list[str], OneFile: str, Data | None: list[str] | None}[kind]
        paths = own.parameters[place].replace(annotation=Annotated[asked, said])
        signature = own.replace(parameters=[*(own.parameters | {place: paths}).values(), *options])

        @functools.wraps(run)
        def verb(*args: Any, **more: Any) -> None:
            bound = signature.bind(*args, **more)
            bound.apply_defaults()
            given = bound.arguments
            told = {name: given.pop(name) for name in chosen}
            require_possible(told.get("handle_unknown"), adds=adds)
            run(**given | {place: data_of(kind, given[place], told)})

        verb.__signature__ = signature  # type: ignore[attr-defined]
        return verb

    return wearing


def require_possible(handle_unknown: str | None, *, adds: bool) -> None:
    """Something that can become of a state that the model does not know."""
    from bayeslearn import validation

    if handle_unknown == "add" and not adds:
        raise ParameterError(
            "--handle-unknown add is for learning, and here a model is asked",
            hint="take --handle-unknown missing, or update the model",
        )
    if handle_unknown is not None:
        validation.choice("--handle-unknown", handle_unknown, ["missing", "error", "add"])


def data_parameter(signature: inspect.Signature) -> tuple[str, Any, Any]:
    """The parameter of a verb that holds data, its type, and its help."""
    for name, parameter in signature.parameters.items():
        kind, *said = get_args(parameter.annotation) or (None,)
        if kind in {Data, OneFile, Data | None}:
            return name, kind, said[0]
    raise TypeError("a verb that reads has a parameter of Data or OneFile")


def data_of(kind: Any, paths: Any, told: dict[str, Any]) -> Data | None:
    """What is to be read, with the options of reading it."""
    if paths:
        return OneFile((paths,), **told) if kind is OneFile else Data(tuple(paths), **told)
    odd = [name for name, value in told.items() if value and (name, value) != ("on_error", "raise")]
    if odd:
        raise ParameterError(f"--{odd[0].replace('_', '-')} has no use without data", hint="name a file of rows")
    return None
