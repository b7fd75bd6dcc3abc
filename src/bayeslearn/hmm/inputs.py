"""Sequences from the data of a user.

    an array with `lengths`     rows of all sequences one after the other; without lengths one sequence
    a list of sequences         arrays or lists of any length; with several columns, flat lists are rows
    a frame, a dict of columns or a file, with `id` the column with the sequence of each row, in order

Symbols, numbers and counts may be missing: None, NaN, "?" or empty.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import EmptyTableError, ParameterError, ShapeError, UnknownStateError, listed
from bayeslearn.hmm.emissions import declared
from bayeslearn.hmm.observations import as_objects, is_missing, plain, table_cells
from bayeslearn.hmm.sequences import Sequences, checked_lengths
from bayeslearn.sources.scanning import is_source
from bayeslearn.tables import Table, as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.hmm.emissions import Emissions

#: The maximum number of sequences of a file.
MAX_SEQUENCES = 2**31 - 1


@dataclass(frozen=True)
class Raw:
    """Observations as given: cells of one column (rows,) or several (rows, columns)."""

    cells: Any
    lengths: NDArray[np.int64]
    ids: tuple[Any, ...]
    names: tuple[str, ...] | None = None
    #: The position of each row in the given data, if sequences were brought together.
    order: NDArray[np.intp] | None = None
    #: The cells of the column of known states.
    known_states: Any = None

    def given_states(self, known_states: Any) -> Any:
        """The known states, in the order of the rows."""
        if known_states is None or self.known_states is not None:
            return self.known_states
        return known_states if self.order is None else as_objects(known_states)[self.order]


def read(
    data: Any,
    emissions: Emissions,
    *,
    states: Sequence[Any] | None = None,
    lengths: ArrayLike | None = None,
    id: str | None = None,  # noqa: A002 - the name of the column
    known_states: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Sequences:
    """Sequences in the working form of some emissions.

    `known_states` is the state of each row, None (or −1, "?", NaN) for unknown ones: a list, or the name of a column.
    `sample_weight` is the weight of each sequence.
    """
    if isinstance(data, Sequences):
        emissions.require_fit(data)
        return data
    raw = gathered(data, lengths, id, emissions.feature_names, known_states, kind=emissions.columns_as)
    return finished(raw, emissions, states, known_states, sample_weight)


def finished(
    raw: Raw,
    emissions: Emissions,
    states: Sequence[Any] | None,
    known_states: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Sequences:
    """Cells as the emissions have them; states and weights checked."""
    cells = in_place(raw, lambda: emissions.cells(raw.cells))
    w = None if sample_weight is None else validation.weights(sample_weight, len(raw.lengths))
    codes = None
    if known_states is not None:
        codes = known_codes(raw.given_states(known_states), states or tuple(range(emissions.n_states)), len(cells))
    return Sequences(cells, raw.lengths, raw.ids, w, codes, raw.order)


def in_place(raw: Raw, answer: Callable[[], Any]) -> Any:
    """The result; an unknown symbol is an error that names the sequence."""
    try:
        return answer()
    except UnknownStateError as error:
        row = error.details.get("row")
        if row is None or len(raw.lengths) < 2:
            raise
        i = int(np.searchsorted(np.cumsum(raw.lengths), row, side="right"))
        at = row - int(raw.lengths[:i].sum())
        message = error.message.replace(f"in row {row}", f"in sequence {raw.ids[i]!r}, position {at},")
        raise UnknownStateError(message, hint=error.hint, **error.details) from None


def known_codes(known_states: Any, states: Sequence[Any], n: int) -> NDArray[np.int32]:
    """Codes of the known states, −1 for unknown ones."""
    cells = as_objects(known_states) if not isinstance(known_states, np.ndarray) else known_states
    if cells.dtype == object and len(cells) and isinstance(cells[0], list | tuple | np.ndarray):
        cells = as_objects([cell for part in known_states for cell in part])
    if cells.shape != (n,):
        raise ShapeError(f"expected a state or None for each of {n} rows in `known_states`, got shape {cells.shape}")
    codes = {state: code for code, state in enumerate(states)}
    found = [codes.get(plain(c), None if not (is_missing(plain(c)) or plain(c) == -1) else -1) for c in cells.tolist()]
    if None in found:
        row = found.index(None)
        raise UnknownStateError(
            f"`known_states` names {cells[row]!r} in row {row}, not among the states {listed(states)}"
        )
    return np.array(found, dtype=np.int32)


### data in


def gathered(
    data: Any,
    lengths: ArrayLike | None,
    id: str | None,  # noqa: A002 - the name of the column
    names: Iterable[str] | None,
    known_states: Any = None,
    *,
    kind: Any = "auto",
) -> Raw:
    """Rows, lengths and names of sequences; `names` are the columns to take from a table."""
    if is_folded(data, None):
        raise ParameterError(
            "answers for each row need the rows in memory, and the data are a source",
            hint="model.decode(source.table()); fit_hmm, update, log_likelihood and score read sources",
        )
    if is_table(data):
        return from_table(data, lengths, id, None if names is None else tuple(names), known_states, kind)
    if id is not None:
        raise ParameterError("`id` names a column, so the data must be a frame, a dict of columns or a file")
    if lengths is None and is_list_of_sequences(data, 1 if names is None else len(tuple(names))):
        return from_list(data)
    cells = data if isinstance(data, np.ndarray) else as_objects(data)
    each = checked_lengths(lengths, len(cells) if np.ndim(cells) else 0)
    names = None if names is None else tuple(names)
    fits = names is not None and len(names) == (np.shape(cells)[1] if np.ndim(cells) == 2 else 1)
    return Raw(cells, each, tuple(range(len(each))), names if fits else None)


def is_folded(data: Any, id: str | None) -> bool:  # noqa: A002 - the name of the column
    """Whether data are a source; a list of words without `id` is a sequence of symbols, not of file names."""
    return (id is not None or not isinstance(data, list | tuple)) and is_source(data)


def is_table(data: Any) -> bool:
    """Whether data have named columns."""
    return isinstance(data, Table | Mapping | str | os.PathLike) or hasattr(data, "columns")


def is_list_of_sequences(data: Any, columns: int) -> bool:
    """Whether each item is a sequence; with several columns, a list of numbers is a row."""
    if not isinstance(data, list | tuple) or not data:
        return False
    if hasattr(data[0], "to_numpy"):
        return True
    if not isinstance(data[0], list | tuple | np.ndarray):
        return False
    return columns == 1 or len(data[0]) == 0 or np.ndim(data[0][0]) > 0


def from_list(data: Sequence[Any]) -> Raw:
    """Sequences one after the other: lists, arrays, series or frames."""
    data = [part.to_numpy() if hasattr(part, "to_numpy") else part for part in data]
    empty = [i for i, part in enumerate(data) if len(part) == 0]
    if empty:
        raise EmptyTableError(f"sequence {empty[0]} has no rows", hint="remove sequences without rows")
    lengths = np.array([len(part) for part in data], dtype=np.int64)
    if all(isinstance(part, np.ndarray) for part in data):
        try:
            cells = np.concatenate(data)
        except ValueError:
            raise ShapeError("the sequences differ in the number of their columns") from None
    else:
        cells = as_objects([cell for part in data for cell in (part.tolist() if hasattr(part, "tolist") else part)])
    return Raw(cells, lengths, tuple(range(len(lengths))))


def from_table(
    data: Any,
    lengths: ArrayLike | None,
    id: str | None,  # noqa: A002 - the name of the column
    names: tuple[str, ...] | None,
    known_states: Any,
    kind: Any,
) -> Raw:
    """Columns of a table; the rows of a sequence keep their order."""
    labels = known_states if isinstance(known_states, str) else None
    also = [name for name in (id, labels) if name]
    discrete, numeric = declared(kind, names or ())
    table = as_table(
        data,
        columns=None if names is None else tuple(dict.fromkeys((*names, *also))),
        discrete=[*also, *discrete],
        numeric=numeric,
        max_states=MAX_SEQUENCES,
        allow_constant=True,
    )
    taken = names if names is not None else tuple(n for n in table.schema.names if n not in also)
    if not taken:
        raise ParameterError("there is no observed column", hint="name the observed columns")
    cells = table_cells(table, taken, numbers=kind in ("auto", "product") and len(taken) > 1)
    states = table.column(labels) if labels else None
    if id is None:
        each = checked_lengths(lengths, table.n_rows)
        return Raw(cells, each, tuple(range(len(each))), taken, known_states=states)
    order, which, counts = by_first_row(table.codes_of(id), id)
    ids = tuple(table.schema[id].states[k] for k in which)  # type: ignore[attr-defined]
    return Raw(cells[order], counts, ids, taken, order, None if states is None else states[order])


def by_first_row(
    codes: NDArray[Any],
    id: str,  # noqa: A002 - the name of the column
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
    """The order of rows that brings sequences together, their codes in order of appearance, and their lengths."""
    if (codes < 0).any():
        raise ParameterError(f"row {validation.first_position(codes < 0)} has no {id!r}: it belongs to no sequence")
    found, first, counts = np.unique(codes, return_index=True, return_counts=True)
    appearance = np.argsort(first)
    rank = np.empty(len(found), np.intp)
    rank[appearance] = np.arange(len(found))
    order = np.argsort(rank[np.searchsorted(found, codes)], kind="stable")
    return order, found[appearance], counts[appearance].astype(np.int64)
