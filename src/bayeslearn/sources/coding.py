"""From Arrow batches to tables of codes, by a schema that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayeslearn.tables.building import coded, join, missing_column
from bayeslearn.tables.columns import column_weights
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from bayeslearn.tables import Schema, Table
    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.convert import Request


@dataclass(frozen=True)
class Coder:
    """Codes batches by a schema."""

    schema: Schema
    request: Request
    #: The column that says how often each row counts.
    weight: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to read."""
        return self.schema.names if self.weight is None else (*self.schema.names, self.weight)

    def table(self, columns: list[Column]) -> Table:
        """The table of one batch."""
        by_name = {column.name: column for column in columns}
        n = len(columns[0]) if columns else 0
        if self.request.absent == "missing":
            by_name = {name: missing_column(name, n) for name in self.schema.names} | by_name
        require_known(self.names, by_name)
        weights = None if self.weight is None else column_weights(by_name[self.weight], self.request.missing)
        chosen = [by_name[name] for name in self.schema.names]
        return join(coded(chosen, self.request, {v.name: v for v in self.schema}), n, weights)
