"""Data as learners take them, once they are opened, and what cannot be had of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError

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
    weights: str | None = None
    #: Columns that no learner can use, and why.
    left_out: dict[str, str] = field(default_factory=dict)
    in_memory: bool = True
    #: The file that was named, if it is one.
    path: str | None = None

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
        from bayeslearn.tables import Table

        if isinstance(self.data, Table):  # coded by a schema
            return list(self.data.schema.names)
        return [name for name in self._all_names() if name not in self.data.request.dropped]

    def _all_names(self) -> Iterable[str]:
        if hasattr(self.data, "relation"):
            return self.data.relation.columns
        if hasattr(self.data, "written"):  # encoded rows
            return self.data.written.names
        from bayeslearn.sources.shards import kinds_of

        return kinds_of(self.data.shards[0].path)

    def refuse(self, option: str, value: Any, why: str) -> None:
        """An option that cannot be had of rows that are not in memory."""
        if self.folded and value:
            raise ParameterError(f"{option} {why}, {MEMORY}")

    def columns(self, wanted: list[str], data: Any) -> list[str]:
        """Those columns that are there: a table that was read from many files lacks those that cannot be used."""
        return wanted if data is self.data else [name for name in wanted if name not in self.left_out]

    def settled(self, data: Any = None) -> Any:
        """What is learned from: a source goes into memory, if that was asked for."""
        data = self.data if data is None else data
        return data.table() if self.in_memory and hasattr(type(data), "declared") else data


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
