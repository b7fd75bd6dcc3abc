"""Data together with how they are to be read: markers of missing cells, columns to drop, what to do with unseen states.

Every learner takes a :class:`RawTable` where it takes a data frame, and :func:`~bayeslearn.as_table` applies its
options, so that options of reading need not pass through every learner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.tables.conversion import UNSEEN, Request
from bayeslearn.tables.markers import Markers, Missing
from bayeslearn.tables.schema import name_list, require_known
from bayeslearn.tables.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.columns import Column


@dataclass(frozen=True, eq=False)
class RawTable(Mapping[str, Any]):
    """Columns by name as they were read, not coded yet, with the options of reading them."""

    columns: tuple[Column, ...]
    missing: Missing
    #: What to do with values outside known states; None leaves it to whoever codes them.
    unseen: str | None = None
    #: The weights of the rows, where the data have some.
    sample_weight: Any = None
    #: Columns that were asked for by name: no learner drops them.
    named: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> Any:
        return self._by_name[name].data

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def __iter__(self) -> Iterator[str]:
        return (column.name for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        rows = len(self.columns[0]) if self.columns else 0
        return f"RawTable({rows:,} rows × {len(self.columns)} columns)"

    def take(self, rows: NDArray[np.intp]) -> RawTable:
        """These rows only."""
        weights = None if self.sample_weight is None else np.asarray(self.sample_weight)[rows]
        return replace(self, columns=tuple(column.take(rows) for column in self.columns), sample_weight=weights)

    def select(self, names: Iterable[str]) -> RawTable:
        """These columns only."""
        return replace(self, columns=tuple(self._by_name[name] for name in names))

    def applied(self, request: Request) -> Request:
        """A request with the options of these data; markers of the request are added."""
        usual = request.missing == Missing.of()
        missing = self.missing if usual else self.missing | request.missing
        return replace(request, missing=missing, unseen=self.unseen or request.unseen)


def columns_as_read(data: Any) -> RawTable:
    """The columns of a file or a frame, to be coded later."""
    from bayeslearn.tables.arrow_columns import gather  # noqa: PLC0415 - Arrow loads when data come in

    found, _ = gather(data, None, ())
    return RawTable(tuple(found), Missing.of())


def all_named(data: Any) -> Any:
    """Data of which no learner drops an identifier, as if every column was asked for by name; tables stay."""
    if isinstance(data, Table):
        return data
    found = data if isinstance(data, RawTable) else columns_as_read(data)
    return replace(found, named=frozenset(found))


def raw_table(
    data: Any,
    *,
    columns: Iterable[str] | None = None,
    drop_columns: Iterable[str] = (),
    na_values: Markers = (),
    keep_default_na: bool = True,
    handle_unknown: str | None = None,
    require_marked: bool = True,
) -> Any:
    """Read the columns of a file or a frame, to be coded later by the options given; the data themselves without any.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.as_table` takes, but for a source.
    columns, drop_columns, na_values, keep_default_na, handle_unknown
        As in :func:`~bayeslearn.as_table`.
    require_marked
        Whether the data must have the columns with markers of their own.
    """
    wanted = None if columns is None else name_list("columns", columns)
    dropped = name_list("drop_columns", drop_columns)
    markers = Missing.of(na_values, keep_default_na=keep_default_na)
    if wanted is None and not dropped and markers == Missing.of() and handle_unknown is None:
        return data
    from bayeslearn.tables.arrow_columns import gather  # noqa: PLC0415 - Arrow loads when columns are read

    if handle_unknown is not None:
        handle_unknown = validation.choice("handle_unknown", handle_unknown, UNSEEN)
    found, _ = gather(data, None, ())
    known = [column.name for column in found]
    require_known([*(wanted or ()), *dropped, *(markers.by_column if require_marked else ())], known)
    by_name = {column.name: column for column in found}
    gone = frozenset(dropped)
    kept = tuple(by_name[name] for name in (known if wanted is None else wanted) if name not in gone)
    before = data if isinstance(data, RawTable) else None
    if before is not None:
        markers = before.missing if markers == Missing.of() else before.missing | markers
        handle_unknown = handle_unknown or before.unseen
    weights = data.sample_weight if isinstance(data, Table | RawTable) else None
    named = frozenset(wanted or ()) | (before.named if before is not None else frozenset())
    return RawTable(kept, markers.only(column.name for column in kept), handle_unknown, weights, named)
