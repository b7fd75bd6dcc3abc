"""From whatever file there is to a table that a structure can be learned from, and what had to be done for it.

Left out, and said: columns that are always the same, empty, of too many states, or that number the rows. Numeric
columns are cut into intervals. Columns that always go together are kept and told of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import EmptyTableError, ParameterError, listed
from bayeslearn.tables import Discrete, as_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables import Table

#: Rows below which hardly any arc can be told from chance.
FEW_ROWS = 50

#: A column is taken for a name of its rows when it has a state of its own for so many of them.
LEAST_NAMES = 4


@dataclass(frozen=True)
class Prepared:
    """A table of states, perhaps with holes, and what a reader should know of how it came about."""

    table: Table
    #: Why columns were left out.
    left_out: Mapping[str, str] = field(default_factory=dict)
    #: Where numeric columns were cut.
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def prepare(
    data: Any,
    *,
    states: Mapping[str, Iterable[Any]] | None = None,
    weights: ArrayLike | str | None = None,
    cut: str = "quantile",
    bins: int | None = None,
    max_states: int = 255,
    target: str | None = None,
) -> Prepared:
    """A table of discrete columns.

    Parameters
    ----------
    data, states, weights, max_states
        As in :func:`~bayeslearn.tables.as_table`.
    cut, bins
        How numeric columns are cut; see :meth:`~bayeslearn.tables.Table.discretise`. ``mdl`` asks for a target.
    target
        A column that must not be left out.
    """
    left_out: dict[str, str] = {}
    table = as_table(data, states=states, weights=weights, max_states=max_states, left_out=left_out)
    declared = set(states or ())
    for variable in table.schema:
        why = None if variable.name in declared else unfit(table, variable.name)
        if why:
            left_out[variable.name] = why
    if target is not None and target in left_out:
        raise ParameterError(f"the target cannot be used: {left_out[target]}")
    kept = [name for name in table.schema.names if name not in left_out]
    if not kept:
        raise EmptyTableError(f"no column is left to learn from: {'; '.join(left_out.values())}")
    table = table.select(kept)
    numeric = [v.name for v in table.schema.numeric]
    if numeric:
        table = table.discretise(how=cut, bins=bins, target=target if cut == "mdl" else None)  # type: ignore[arg-type]
    cuts = {name: tuple(table.schema[name].cuts) for name in numeric}  # type: ignore[attr-defined]
    return Prepared(table, left_out, cuts, tuple(notes_on(table)))


### columns that say nothing


def unfit(table: Table, name: str) -> str | None:
    """Why a column should be left out, if it should."""
    if isinstance(table.schema[name], Discrete):
        seen = occurrences(table, name)[1:]
        if seen.sum() >= LEAST_NAMES and seen.max() == 1:
            return f"column {name!r} has another state in every row, like a name"
        return None
    values = table.value(name)
    values = values[~np.isnan(values)]
    if len(values) == 0 or values.min() == values.max():
        return f"column {name!r} shows one value only"
    return f"column {name!r} numbers the rows" if numbers_rows(values) else None


def numbers_rows(values: NDArray[np.float64]) -> bool:
    """Whether these are consecutive whole numbers, each once."""
    ordered = np.sort(values)
    return len(values) >= LEAST_NAMES and bool(np.all(ordered == np.floor(ordered)) and np.all(np.diff(ordered) == 1))


### what to know of the others


def notes_on(table: Table) -> list[str]:
    """Columns that go together, and a table of few rows."""
    notes = [f"columns {listed(names, 99)} say the same in every row" for names in twins(table)]
    if table.n_rows < FEW_ROWS:
        notes.append(f"{table.n_rows} rows are few: hardly any arc can be told from chance")
    return notes


def twins(table: Table) -> list[list[str]]:
    """Groups of columns that are the same but for the names of their states."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for name in table.schema.names:
        missing, *seen = occurrences(table, name).tolist()
        alike.setdefault((missing, *sorted(count for count in seen if count)), []).append(name)
    groups: dict[bytes, list[str]] = {}
    for name in (name for names in alike.values() if len(names) > 1 for name in names):
        _, first, inverse = np.unique(table.code(name), return_index=True, return_inverse=True)
        groups.setdefault(np.argsort(np.argsort(first))[inverse].astype(np.int32).tobytes(), []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def occurrences(table: Table, name: str) -> NDArray[np.int64]:
    """How often a cell is missing, and how often each state occurs."""
    return np.bincount(table.code(name).astype(np.int64) + 1, minlength=2)
