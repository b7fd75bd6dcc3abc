"""Sources: whatever data can be folded into statistics, wherever they live.

    fold(collect) = collect(batch 1) + collect(batch 2) + …

Because evidence adds, a learner needs no more than this one method: a :class:`~bayeslearn.tables.Table` applies
`collect` to itself, a file applies it batch by batch, a cluster where the data are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayeslearn.tables.schema import Schema
    from bayeslearn.tables.table import Table

S = TypeVar("S")


@runtime_checkable
class Source(Protocol):
    """Data with a schema that can be folded."""

    @property
    def schema(self) -> Schema:
        """The variables of every batch."""
        ...

    @property
    def n_rows(self) -> int:
        """How many rows there are, whatever they weigh."""
        ...

    @property
    def total_weight(self) -> float:
        """How many cases the rows stand for."""
        ...

    def missing(self) -> dict[str, int]:
        """How many cells of each column are missing."""
        ...

    def fold(self, collect: Callable[[Table], S]) -> S:
        """Apply `collect` to each batch and add the results."""
        ...

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows in order, `n` at a time, or as it suits the source."""
        ...
