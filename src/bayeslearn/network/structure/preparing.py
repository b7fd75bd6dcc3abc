"""From whatever file there is to a table that a structure can be learned from, and what had to be done for it.

Left out, and said: columns that are always the same, empty, of too many states, or that number the rows. Numeric
columns are cut into intervals. Columns that always go together are kept and told of.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import EmptyTableError, ParameterError, listed
from bayeslearn.network.structure.sourced import facts, looking
from bayeslearn.sources import as_source, discretised
from bayeslearn.sources.base import Scanned
from bayeslearn.tables import Discrete, Table
from bayeslearn.tables.convert import requested
from bayeslearn.tables.suspects import sentence, suspects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.structure.sourced.looking import Looked
    from bayeslearn.tables import Source
    from bayeslearn.tables.suspects import Suspect

#: Rows below which hardly any arc can be told from chance.
FEW_ROWS = 50

#: A column is taken for a name of its rows when it has a state of its own for so many of them.
LEAST_NAMES = 4


@dataclass(frozen=True)
class Prepared:
    """A table of states, perhaps with holes, and what a reader should know of how it came about."""

    #: A table, or the source that was scanned, its columns cut in the same way.
    table: Any
    #: Why columns were left out.
    left_out: Mapping[str, str] = field(default_factory=dict)
    #: Where numeric columns were cut.
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    #: What a first pass over a source has shown.
    looked: Looked | None = None

    @property
    def rows(self) -> Table | None:
        """The rows as far as they are in memory: of a source the different ones, if these are few."""
        return self.table if isinstance(self.table, Table) else None if self.looked is None else self.looked.rows.table


def prepare(
    data: Any,
    *,
    states: Mapping[str, Iterable[Any]] | None = None,
    weights: ArrayLike | str | None = None,
    cut: str = "quantile",
    bins: int | None = None,
    max_states: int = 255,
    target: str | None = None,
    memory: int = 1 << 30,
) -> Prepared:
    """A table of discrete columns, or a source of such.

    Parameters
    ----------
    data, states, weights, max_states
        As in :func:`~bayeslearn.tables.as_table`; or a source, see :func:`~bayeslearn.scan`.
    cut, bins
        How numeric columns are cut; see :meth:`~bayeslearn.tables.Table.discretise`. ``mdl`` asks for a target.
    target
        A column that must not be left out.
    memory
        Bytes that learning may take: a share of them for the different rows of a source.
    """
    left_out: dict[str, str] = {}
    table = as_source(data, states=states, weights=weights, max_states=max_states, left_out=left_out)
    odd = unfit_columns(table)
    left_out |= {name: why for name, why in odd.items() if name not in set(states or ())}
    if target is not None and target in left_out:
        raise ParameterError(f"the target cannot be used: {left_out[target]}")
    kept = [name for name in table.schema.names if name not in left_out]
    if not kept:
        raise EmptyTableError(f"no column is left to learn from: {'; '.join(left_out.values())}")
    if not isinstance(table, Table):
        assert isinstance(table, Scanned)
        return prepared_source(table, kept, left_out, cut, bins, memory)
    table = table.select(kept)
    doubtful = suspect_notes(suspects(table))
    numeric = [v.name for v in table.schema.numeric]
    if numeric:
        table = table.discretise(how=cut, bins=bins, target=target if cut == "mdl" else None)  # type: ignore[arg-type]
    notes = (*notes_on(twins(table), table.n_rows), *doubtful)
    return Prepared(table, left_out, cuts_of(table, numeric), notes)


def prepared_source(
    source: Scanned, kept: list[str], left_out: dict[str, str], cut: str, bins: int | None, memory: int
) -> Prepared:
    """The same of a source, and what a first pass over it shows."""
    left_out = before_scanning(source) | left_out
    rows = source.n_rows if source.digest is None else source.digest.rows
    source = replace(source, schema=source.schema.select(kept))
    numeric = [v.name for v in source.schema.numeric]
    source = discretised(source, how=cut, bins=bins)
    looked = looking.look(source, memory, rows)
    alike = looking.twins(looked, source.schema.names) if looked.rows.table is None else twins(looked.rows.table)
    odd = [] if source.digest is None else source.digest.suspects(kept)
    notes = (*notes_on(alike, looked.totals.rows), *suspect_notes(odd))
    return Prepared(source, left_out, cuts_of(source, numeric), notes, looked)


def suspect_notes(found: list[Suspect]) -> list[str]:
    """A note on values that may mark missing cells, if there are any."""
    return [sentence(found)] if found else []


def before_scanning(source: Scanned) -> dict[str, str]:
    """Columns that were left out when a source was scanned, and why."""
    left_out: dict[str, str] = {}
    if source.digest is not None:
        unwanted = {source.weight, *source.request.dropped}
        gone = [name for name in source.digest.columns if name not in source.schema and name not in unwanted]
        if gone:
            source.digest.schema(requested(left_out=left_out), names=tuple(gone))
    return left_out


def cuts_of(table: Source, numeric: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Where columns were cut."""
    return {name: tuple(table.schema[name].cuts) for name in numeric}  # type: ignore[attr-defined]


### columns that say nothing


def unfit_columns(table: Source) -> dict[str, str]:
    """Why columns should be left out, those that should."""
    if isinstance(table, Scanned):
        return facts.unfit(table, LEAST_NAMES)
    assert isinstance(table, Table)
    found = {name: unfit(table, name) for name in table.schema.names}
    return {name: why for name, why in found.items() if why}


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


def notes_on(twins: Iterable[list[str]], rows: int) -> list[str]:
    """Columns that go together, and a table of few rows."""
    notes = [f"columns {listed(names, 99)} say the same in every row" for names in twins]
    if rows < FEW_ROWS:
        notes.append(f"{rows} rows are few: hardly any arc can be told from chance")
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
