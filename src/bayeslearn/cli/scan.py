"""``bayeslearn scan``: the columns of files of any number and size: types, states, missing values and ranges."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, progress
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.input_data import named, write_schema

if TYPE_CHECKING:
    from bayeslearn.sources.column_profiles import ColumnProfile
    from bayeslearn.tables.identifiers import Suspect

#: States of a column that are shown; `--json` has all.
MOST_STATES = 6

#: Columns that are shown, and reasons why columns are left out; `--json` has all.
MOST_COLUMNS = 1000


@reads()
def run(
    data: Annotated[
        Data,
        typer.Argument(help="CSV or Parquet files, patterns or folders of them, or a DuckDB database with a --table."),
    ],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="A .json file for what the columns are, for --schema.")
    ] = None,
    encode: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep the rows there as codes: as DATA it is read many times faster."),
    ] = None,
    sample_weight: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    max_states: Annotated[int, typer.Option(help="Columns of words with more states are left out.")] = 255,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Profile the columns of data in one pass: types, missing values, states, ranges; encode data for fast reading.

    Example: bayeslearn scan 'cases-*.parquet' --on-error skip -o schema.json
    """
    from bayeslearn import codec, files

    if to is not None:
        codec.require_model_name(to)
        files.destination(to)
    started = time.perf_counter()
    dropped_columns: dict[str, str] = {}
    with data.cluster() as cluster:
        with progress.bar("scanning", passes=data.passes):
            source = data.scanned(cluster, dropped_columns, sample_weight=sample_weight, max_states=max_states)
        found = Report(source, dropped_columns, data.passes.seconds or time.perf_counter() - started)
        found.show_json() if as_json else found.show()
        if encode is not None:
            keep(source, encode, data.passes)
    if to is not None:
        write_schema(source.schema, to)
        sys.stderr.write(f"wrote {to}: {len(source.schema)} columns\n")


def keep(source: Any, folder: Path, passes: Any) -> None:
    """Write the rows as codes."""
    from bayeslearn.sources import encode_to_disk

    with progress.bar("encoding", passes=passes):
        kept = encode_to_disk(source, folder)
    sys.stderr.write(f"wrote {folder}: {kept.n_rows:,} rows\n")


@dataclass(frozen=True)
class Report:
    """What a look has shown."""

    source: Any
    dropped_columns: dict[str, str]
    seconds: float

    @cached_property
    def paths(self) -> list[str]:
        """The files that were read; none of a database."""
        return list(dict.fromkeys(shard.path for shard in getattr(self.source, "shards", ())))

    @property
    def bytes(self) -> int:
        """How large they are."""
        return sum(Path(path).stat().st_size for path in self.paths)

    @cached_property
    def columns(self) -> dict[str, ColumnProfile]:
        """What each column shows."""
        return dict((self.source.digest or self.source.look()).columns)

    @cached_property
    def suspects(self) -> list[Suspect]:
        """Values that may mark missing cells."""
        return [suspect for seen in self.columns.values() for suspect in seen.suspects()]

    @cached_property
    def rows(self) -> int:
        """How many there are."""
        return next(iter(self.columns.values())).rows

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / self.seconds

    def kind(self, name: str) -> str:
        """What a column is taken for."""
        if name == self.source.weight:
            return "weights"
        schema = self.source.schema
        if name not in schema and self.parts(name):
            return "date"
        return "left out" if name not in schema else "discrete" if hasattr(schema[name], "states") else "numeric"

    def parts(self, name: str) -> list[Any]:
        """The variables that are parts of a date."""
        return self._parts.get(name, [])

    @cached_property
    def _parts(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for v in self.source.schema:
            if v.origin is not None:
                found.setdefault(v.origin, []).append(v)
        return found

    def read_as(self, name: str) -> str:
        """The format that a column is written in, or the parts that are taken from it; nothing for plain values."""
        from bayeslearn.tables.identifiers import is_identifier_name
        from bayeslearn.tables.type_inference import date_parts

        if self.parts(name):
            return date_parts([v.read_as for v in self.parts(name)])
        if self.kind(name) == "numeric" and is_identifier_name(name):
            return "identifier, not learned from"
        return (self.source.schema[name].read_as or "") if name in self.source.schema else ""

    def states(self, name: str) -> list[Any]:
        """The states of a column, as they will be known."""
        return list(self.source.schema[name].states) if self.kind(name) == "discrete" else []

    def show(self) -> None:
        """Print the report."""
        size = f", {output.size(self.bytes)}" if self.paths else ""
        files = [("files", f"{len(self.paths)}{size}")] if self.paths else []
        skipped = [("skipped", named(path, why)) for path, why in getattr(self.source, "skipped", {}).items()]
        rate = f"{self.rate:,.0f} rows a second"
        output.show_pairs([
            *files, *skipped, ("rows", f"{self.rows:,}"), ("columns", str(len(self.columns))),
            ("time", f"{self.seconds:.2f} s, {rate}"),
        ])  # fmt: skip
        output.gap()
        head = ["column", "kind", "missing", "share", "holds", "read as"]
        rows = [
            [name, self.kind(name), str(seen.missing), share(seen), self.holds(name, seen), self.read_as(name)]
            for name, seen in islice(self.columns.items(), MOST_COLUMNS)
        ]
        wide = any(row[-1] for row in rows)
        output.show_table(head if wide else head[:-1], [row if wide else row[:-1] for row in rows])
        if len(self.columns) > MOST_COLUMNS:
            output.gap()
            output.show_pairs([("more", f"{len(self.columns) - MOST_COLUMNS:,} columns; --json has all")])
        if self.dropped_columns:
            why = list(self.dropped_columns.values())
            more = [f"... and {len(why) - MOST_COLUMNS:,} more"] * (len(why) > MOST_COLUMNS)
            output.gap()
            output.show_pairs([("left out", reason) for reason in (*why[:MOST_COLUMNS], *more)])
        if self.suspects:
            from bayeslearn.tables.identifiers import MOST, remedy

            lines = [str(suspect) for suspect in self.suspects[:MOST]]
            lines += [f"... and {len(self.suspects) - MOST} more"] * (len(self.suspects) > MOST)
            output.gap()
            output.show_pairs([("missing?", line) for line in (*lines, remedy(self.suspects))])

    def holds(self, name: str, seen: ColumnProfile) -> str:
        """The first states and how many there are, or the range."""
        if self.kind(name) == "discrete":
            states = self.states(name)
            more = ", …" if len(states) > MOST_STATES else ""
            return f"{len(states)} states: {', '.join(map(str, states[:MOST_STATES]))}{more}"
        if seen.low <= seen.high:
            return f"{output.number(seen.low)} to {output.number(seen.high)}"
        if len(seen.levels) == 1 and not seen.more:
            return f"always {next(iter(seen.levels))}"
        return f"{'more than ' * seen.more}{len(seen.levels):,} different values" if seen.present else "nothing"

    def show_json(self) -> None:
        """The same for a machine."""
        output.show_json({
            "files": self.paths,
            "bytes": self.bytes,
            "rows": self.rows,
            "columns": [self.plain(name, seen) for name, seen in self.columns.items()],
            "dropped_columns": self.dropped_columns,
            "suspects": [suspect.to_dict() for suspect in self.suspects],
            "skipped": dict(getattr(self.source, "skipped", {})),
            "seconds": self.seconds,
            "rows_per_second": self.rate,
        })  # fmt: skip

    def plain(self, name: str, seen: ColumnProfile) -> dict[str, Any]:
        """A column as plain values."""
        low, high = (seen.low, seen.high) if seen.low <= seen.high else (None, None)
        return {
            "name": name, "kind": self.kind(name), "missing": seen.missing, "low": low, "high": high,
            "states": self.states(name) or None, "read_as": self.read_as(name) or None,
            "parts": [v.name for v in self.parts(name)] or None,
        }  # fmt: skip


def share(seen: ColumnProfile) -> str:
    """The share of cells that are missing."""
    return f"{100 * seen.missing / seen.rows:.3g} %" if seen.missing else ""
