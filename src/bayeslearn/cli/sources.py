"""What verbs that learn share: data of one file or of many, read into memory, or folded here or on a cluster.

A verb that is told ``data: Annotated[Data, typer.Argument(...)]`` and wears :func:`reads` gets the options too.
"""

from __future__ import annotations

import functools
import inspect
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bayeslearn.cli import interrupting, progress
from bayeslearn.cli.given import Given, named, read_schema
from bayeslearn.cli.structures import table_file
from bayeslearn.errors import ParameterError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENGINES = ("memory", "files", "dask")

#: Where the options stand in the help.
PANEL = "Reading data"

### options

Engine = Annotated[
    str | None,
    typer.Option(
        help="memory reads all rows at once, files reads them batch by batch, dask does so on a cluster; "
        "memory for one file and files for several when not said.",
        rich_help_panel=PANEL,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Of a Dask cluster, tcp://… or tls://…; certificates are those of Dask's own configuration.",
        rich_help_panel=PANEL,
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="What reading may use, such as 512MB; a plain number is MiB.", rich_help_panel=PANEL
    ),
]
Skip = Annotated[
    bool, typer.Option("--skip-broken", help="Skip files that cannot be read, and say which.", rich_help_panel=PANEL)
]
TableOf = Annotated[str | None, typer.Option(help="The table of a DuckDB database, or a query.", rich_help_panel=PANEL)]
SchemaFile = Annotated[
    Path | None,
    typer.Option(help="What the columns are, as `bayeslearn scan -o` wrote it.", rich_help_panel=PANEL),
]


@dataclass(frozen=True)
class Data:
    """What is to be read, and how."""

    paths: tuple[str, ...]
    engine: Engine = None
    scheduler: Scheduler = None
    memory_limit: MemoryLimit = None
    skip_broken: Skip = False
    table: TableOf = None
    schema: SchemaFile = None
    #: Told of every pass; a bar that is given it shows them.
    passes: progress.Passes = field(default_factory=progress.Passes)

    def __str__(self) -> str:
        return listed(self.paths, 3)

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
            raise ParameterError(f"--scheduler is of dask, not of --engine {said}")
        return said or ("dask" if self.scheduler is not None else "memory" if self.is_one_file else "files")

    @property
    def limit(self) -> int | None:
        """The limit of memory in bytes."""
        from bayeslearn.sources.limits import bytes_of

        text = self.memory_limit
        if text is None or text.strip().isdecimal():
            return None if text is None else int(text) << 20
        try:
            return bytes_of(text)
        except ParameterError:
            raise ParameterError(f"--memory-limit is a size such as 512MB, or so many MiB, got {text!r}") from None

    @contextmanager
    def opened(
        self, *, weights: str | None = None, max_states: int = 255, limits_more: bool = False
    ) -> Iterator[Given]:
        """The data as learners take them; what was started for them ends with the block.

        `limits_more` says that the limit of memory is also of something else than reading.
        """
        in_memory = self.kind == "memory"
        if in_memory and self.is_one_file:
            self._require_nothing_else(limits_more=limits_more)
            yield Given(table_file(self.paths[0]), weights)
            return
        left_out: dict[str, str] = {}
        with self.cluster() as engine:
            with progress.bar("looking at the columns", passes=self.passes):
                source = self.scanned(engine, left_out, weights=weights, max_states=max_states)
            yield Given(source, None, left_out, in_memory)

    @contextmanager
    def in_memory(self, what: str, *, weights: str | None = None, max_states: int = 255) -> Iterator[Given]:
        """All rows at once, for what cannot do with less."""
        if self.kind != "memory" and (self.engine or self.scheduler):
            raise ParameterError(
                f"{what} needs all rows in memory: there is no --engine {self.kind} for it", hint="take --engine memory"
            )
        with Data(**(vars(self) | {"engine": "memory"})).opened(weights=weights, max_states=max_states) as given:
            yield given

    def one_file(self, what: str) -> str:
        """The path of a single file, for what takes no more."""
        if not self.is_one_file or self.kind != "memory":
            raise ParameterError(f"{what} takes the rows of one file, which are read into memory, got {self}")
        return table_file(self.paths[0])

    def scanned(self, engine: Any, left_out: dict[str, str], **how: Any) -> Any:
        """The source, after a look at all of it; files that were skipped are told of."""
        from bayeslearn.sources import scan
        from bayeslearn.sources.scanning import is_database

        databases = [path for path in self.paths if is_database(path)]
        if databases and (len(self.paths) > 1 or engine is not None):
            raise ParameterError(f"{databases[0]!r} is a database, which is read alone, and on this machine")
        if self.table is not None and not databases:
            raise ParameterError("--table is of a DuckDB database", hint="its name ends in .duckdb, .ddb or .db")
        source = scan(
            self.paths[0] if databases else [table_file(path) for path in self.paths], table=self.table,
            schema=None if self.schema is None else read_schema(self.schema), left_out=left_out, engine=engine,
            on_error="skip" if self.skip_broken else "raise", memory_limit=self.limit, progress=self.passes, **how,
        )  # fmt: skip
        for path, why in getattr(source, "skipped", {}).items():
            sys.stderr.write(f"warning: skipped, for {named(path, why)}\n")
        return source

    @contextmanager
    def cluster(self) -> Iterator[Any]:
        """The cluster to read with, if there is to be one; it is left, or ended if it began here."""
        if self.kind != "dask":
            yield None
            return
        from bayeslearn.sources.cluster import cluster_of

        with interrupting.held_back() if self.scheduler is None else nullcontext():  # workers end with us, in peace
            begun = cluster_of(self.scheduler or "dask")
        with begun as cluster:
            yield cluster

    def _require_nothing_else(self, *, limits_more: bool) -> None:
        """No option that reading one file into memory would not look at."""
        said = {"--memory-limit": None if limits_more else self.memory_limit, "--table": self.table}
        for option, value in (said | {"--schema": self.schema}).items():
            if value is not None:
                raise ParameterError(
                    f"{option} is of data that are read batch by batch, and {self} is read into memory at once",
                    hint="add --engine files",
                )


def reads(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """For a verb: with the options of reading, or some of them, which come to it in its `data`."""
    known = inspect.signature(Data, eval_str=True).parameters
    chosen = names or [name for name in known if name not in {"paths", "passes"}]
    options = [known[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in chosen]

    def wearing(run: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(run, eval_str=True)
        said = get_args(own.parameters["data"].annotation)[1]
        paths = own.parameters["data"].replace(annotation=Annotated[list[str], said])
        signature = own.replace(parameters=[*(own.parameters | {"data": paths}).values(), *options])

        @functools.wraps(run)
        def verb(*args: Any, **more: Any) -> None:
            bound = signature.bind(*args, **more)
            bound.apply_defaults()
            given = bound.arguments
            told = {name: given.pop(name) for name in chosen}
            run(**given | {"data": Data(tuple(given["data"]), **told)})

        verb.__signature__ = signature  # type: ignore[attr-defined]
        return verb

    return wearing
