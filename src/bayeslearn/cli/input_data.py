"""Data as learners take them, once they are opened, and what cannot be had of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from bayeslearn.cli import envelope
from bayeslearn.errors import DataError, ParameterError, listed

if TYPE_CHECKING:
    from pathlib import Path

    from bayeslearn.tables import Schema

#: Why something is not to be had.
MEMORY = "which needs all rows in memory: --engine memory"


@dataclass(frozen=True)
class Given:
    """Data as a learner takes them."""

    #: The path of a file, or a source.
    data: Any
    #: The column of weights, where the data do not know it themselves.
    sample_weight: str | None = None
    #: Columns that no learner can use, and why.
    dropped_columns: dict[str, str] = field(default_factory=dict)
    in_memory: bool = True
    #: The files that were named.
    path: str = "the data"

    @property
    def folded(self) -> bool:
        """Whether rows are read batch by batch, anew for every pass."""
        return not self.in_memory

    @property
    def names(self) -> list[str]:
        """All columns that there are."""
        if isinstance(self.data, str):
            from bayeslearn.tables.file_readers import column_names

            return column_names(self.data)
        if isinstance(self.data, Mapping):  # a raw table
            return list(self.data)
        dropped = self.data.request.dropped if self.is_scanned else ()
        return [name for name in self.data.column_names()[0] if name not in dropped]

    @property
    def is_scanned(self) -> bool:
        """Whether the data are a source that is read anew for every pass."""
        return hasattr(type(self.data), "declared")

    def refuse(self, option: str, value: Any, why: str) -> None:
        """An option that cannot be had of rows that are not in memory."""
        if self.folded and value:
            raise ParameterError(f"{option} {why}, {MEMORY}")

    def columns(self, wanted: list[str], data: Any) -> list[str]:
        """Those columns that are there: a table that was read from many files lacks those that cannot be used."""
        return wanted if data is self.data else [name for name in wanted if name not in self.dropped_columns]

    def settled(self, data: Any = None) -> Any:
        """What is learned from: a source goes into memory, if that was asked for."""
        data = self.data if data is None else data
        return data.table() if self.in_memory and hasattr(type(data), "declared") else data

    # -- rows about which a model is asked

    def coded(self, schema: Schema | None, *, handle_unknown: Literal["missing", "last"] = "missing") -> Any:
        """The rows by the columns of a model, those that are not there missing, as a source: a table if in memory."""
        envelope.current().source = source = self.by_schema(schema, handle_unknown)
        return source

    def by_schema(self, schema: Schema | None, handle_unknown: Literal["missing", "last"] = "missing") -> Any:
        """The same of columns that are not those that the model reads, such as its target."""
        from bayeslearn.sources import as_source

        source: Any = as_source(
            self.data,
            schema=schema,
            missing_columns="missing",
            handle_unknown=handle_unknown,
            sample_weight=self.sample_weight,
        )
        return source.table() if self.in_memory and self.is_scanned else source

    def require_some(self, schema: Schema) -> None:
        """At least one column of a model; those that are not there are reported."""
        absent = schema.absent_from(self.names)
        if absent and len(absent) == len(schema):
            raise DataError(
                f"{self.path} has none of the columns of the model: {listed(schema.names)}",
                hint="names must agree, also in upper and lower case: `bayeslearn scan FILE` lists those of a file",
            )
        if absent:
            values = "its values are" if len(absent) == 1 else "their values are"
            column = "column" if len(absent) == 1 else "columns"
            envelope.warn(f"{self.path} has no {column} {listed(absent)}; {values} treated as missing")


def named(path: str, why: str) -> str:
    """What is wrong with a file, with its name."""
    return why if path in why else f"{path}: {why}"


### schemas in files

KIND = "schema"


def read_schema(path: Path) -> Schema:
    """A schema that was written before."""
    from bayeslearn import codec
    from bayeslearn.tables import Schema

    return codec.read(path, KIND, lambda _, parts: Schema.from_dict(parts))


def write_schema(schema: Schema, path: Path) -> None:
    """The schema as JSON."""
    from bayeslearn import codec

    codec.write(path, KIND, schema.to_dict())
