"""From whatever the user has to a table.

One path: every kind of data becomes Arrow columns (:mod:`.arrow_columns`, :mod:`.file_readers`), then each column
becomes codes or numbers, by its own values (:mod:`.type_inference`) or by declared states (:mod:`.state_encoding`), and
:mod:`.table_builder` joins them. Cells that are not read as they stand, values that are none of the known states and
words among numbers, are noted; one warning of each kind reports them.

Data together with how they are to be read: markers of missing cells, columns to drop, what to do with unseen states.

Every learner takes a :class:`RawTable` where it takes a data frame, and :func:`~bayeslearn.as_table` applies its
options, so that options of reading need not pass through every learner.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import BayeslearnWarning, ParameterError, joined, listed, option, outside
from bayeslearn.tables.markers import Markers, Missing
from bayeslearn.tables.schema import Schema, name_list, require_known
from bayeslearn.tables.table import Table
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.columns import Column

    Cells = Mapping[str, Mapping[Any, int]]


#: Columns that a warning names, and values of each.
MOST_COLUMNS, MOST_VALUES = 5, 3


@dataclass
class Notes:
    """How often each value occurs, by column."""

    #: Values that are none of the states, and are treated as missing.
    unseen: dict[str, dict[Any, int]] = field(default_factory=dict)
    #: Values that were none of the states, and are added to them.
    added: dict[str, dict[Any, int]] = field(default_factory=dict)
    #: Words among numbers that are treated as missing.
    words: dict[str, dict[Any, int]] = field(default_factory=dict)

    def warn(self) -> None:
        """Report what there is, once; a collector takes unseen states instead."""
        collector = _collector.get()
        if collector is not None:
            collector.unseen.update({name: dict(counts) for name, counts in self.unseen.items()})
            self.unseen.clear()
        for sentence in self.sentences():
            warnings.warn(sentence, BayeslearnWarning, stacklevel=outside())
        for cells in (self.unseen, self.added, self.words):
            cells.clear()

    def sentences(self) -> list[str]:
        """What is read otherwise than it stands there, a sentence for each kind."""
        kinds = (
            (
                self.unseen,
                "not among the states: treated as missing",
                f"; {option('handle_unknown', 'error')} refuses them",
            ),
            (
                self.added,
                "not among the states: added to them",
                f"; {option('handle_unknown', 'missing')} leaves them out",
            ),
            (self.words, "that are words among numbers: treated as missing", ""),
        )
        return [f"{counted(cells)} {what}{otherwise}" for cells, what, otherwise in kinds if cells]


_collector: ContextVar[Notes | None] = ContextVar("collector", default=None)


@contextmanager
def collected() -> Iterator[Notes]:
    """Within it, unseen states are collected and not warned of: for results that hold them, and for estimators."""
    notes = Notes()
    token = _collector.set(notes)
    try:
        yield notes
    finally:
        _collector.reset(token)


def counted(cells: Cells) -> str:
    """How many values of which columns, with some of them."""
    n = sum(sum(counts.values()) for counts in cells.values())
    columns = [f"{name!r} ({listed(counts, MOST_VALUES)})" for name, counts in cells.items()]
    return f"{n:,} {'value' if n == 1 else 'values'} of {joined(columns, MOST_COLUMNS)}"


#: What may become of a value that is none of the states.
Unseen = Literal["error", "missing", "last", "add"]
UNSEEN = ("error", "missing", "last", "add")


def as_table(
    data: Any,
    *,
    schema: Schema | None = None,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] | Literal[True] = (),
    numeric: Iterable[str] = (),
    states: Mapping[str, Iterable[Any]] | None = None,
    drop_columns: Iterable[str] = (),
    na_values: Markers = (),
    keep_default_na: bool = True,
    sample_weight: ArrayLike | str | None = None,
    max_states: int = 255,
    allow_constant: bool = False,
    handle_unknown: Unseen = "error",
    missing_columns: Literal["error", "missing"] = "error",
    dropped_columns: dict[str, str] | None = None,
) -> Table:
    """A table from a data frame, an array, a dict of columns, a list of rows, or the path of a CSV or Parquet file.

    Text, booleans and categories become discrete; so do whole numbers that repeat themselves (at most 20 different
    ones, each seen twice on average); other numbers stay numeric. States are kept as written, in the order of their
    categories if they have one, sorted otherwise. Rows are counted from 0 in every message.

    Parameters
    ----------
    data
        A Table, a pandas, polars or pyarrow frame, a NumPy array, a dict of columns, a list of dicts, the path of a
        `.csv`, `.tsv`, `.csv.gz` or `.parquet` file, or a source, all of whose rows are then read into memory.
    schema
        Code the data by this schema, for instance that of the training data. Other columns are ignored.
    columns
        Which columns to take, in which order; for an array, the names of its columns.
    discrete, numeric
        Columns that are of this kind whatever they look like; discrete=True for all that are not declared otherwise.
    states
        Declared states of columns, in their order; they may include states that do not occur.
    drop_columns
        Columns to leave out.
    na_values
        Markers of missing cells in addition to the default ones: a list for all columns, or a mapping from the name of
        a column to its markers, with the key None for all columns. Blanks around a marker are ignored, a number stands
        for the number and for the text, and a declared state is never a marker.
    keep_default_na
        Whether the default markers (:data:`NA_MARKERS`: what pandas takes for NA, and '?') count too.
    sample_weight
        How often each row counts, or the name of the column of weights.
    max_states
        More states than this are taken for a mistake: an identifier, or a number read as text.
    allow_constant
        Whether a column may show one state only.
    handle_unknown
        What to do with a value outside the declared states: raise an error, treat it as missing, take it for the
        last of the states, which then stands for all others, or add it to the states. "missing" and "add" are counted
        in a warning.
    missing_columns
        What to do with a column of the schema that the data lack: raise an error, or take all its cells for missing.
    dropped_columns
        A dict that receives the columns that cannot be used, and why, so that the others can; else they are an error.

    >>> table = as_table({"wind": ["weak", "strong", "?", "weak"], "hours": [1.5, 2.25, 0.5, None]})
    >>> table
    Table(4 rows × 2 columns)
      wind   2 states: strong, weak   1 missing
      hours  numeric                  1 missing
    >>> as_table([{"wind": "weak", "hours": 3}], schema=table.schema).row(0)
    {'wind': 'weak', 'hours': 3.0}
    """
    request = requested(
        discrete=discrete, numeric=numeric, states=states, na_values=na_values, keep_default_na=keep_default_na,
        max_states=max_states, allow_constant=allow_constant, handle_unknown=handle_unknown,
        missing_columns=missing_columns, dropped_columns=dropped_columns,
        drop_columns=drop_columns,
    )  # fmt: skip
    names = None if columns is None else name_list("columns", columns)
    check_request(request, schema)
    if isinstance(data, Table) and needs_no_codes(data, request, schema) and not isinstance(sample_weight, str):
        table = data if names is None else data.select(names)
        table = table.drop(request.dropped) if request.dropped else table
        return table if sample_weight is None else table.with_weights(sample_weight)
    if hasattr(type(data), "declared"):  # a source
        options: dict[str, Any] = {
            "discrete": discrete, "numeric": numeric, "states": states, "max_states": max_states,
            "na_values": na_values,
            "keep_default_na": keep_default_na, "allow_constant": allow_constant, "handle_unknown": handle_unknown,
            "missing_columns": missing_columns,
            "dropped_columns": dropped_columns, "drop_columns": drop_columns,
        }  # fmt: skip
        return data.declared(schema=schema, columns=names, sample_weight=sample_weight, **options).table()
    from bayeslearn.tables import table_builder  # noqa: PLC0415 - Arrow loads when data come in

    if hasattr(type(data), "applied"):  # a raw table
        request = data.applied(request)
    table = table_builder.build(data, request, schema=schema, names=names, sample_weight=sample_weight)
    request.notes.warn()
    return table


def needs_no_codes(table: Table, request: Request, schema: Schema | None) -> bool:
    """Whether a table is already what was asked for."""
    return not request.declares() and not request.all_discrete and schema in {None, table.schema}


### what was asked for


@dataclass(frozen=True)
class Request:
    """The options of :func:`as_table`, checked."""

    missing: Missing
    discrete: frozenset[str] = frozenset()
    all_discrete: bool = False
    numeric: frozenset[str] = frozenset()
    states: Mapping[str, DiscreteVariable] = field(default_factory=dict)
    max_states: int = 255
    allow_constant: bool = False
    unseen: str = "error"
    absent: str = "error"
    dropped_columns: dict[str, str] | None = None
    #: Columns that are read as if they were not there.
    dropped: tuple[str, ...] = ()
    #: Columns that were asked for by name: no learner drops them.
    named: frozenset[str] = frozenset()
    #: What was read otherwise than it stands there.
    notes: Notes = field(default_factory=Notes, compare=False)

    def declares(self) -> set[str]:
        """The columns with declarations."""
        return {*self.discrete, *self.numeric, *self.states}


def requested(
    *,
    discrete: Iterable[str] | Literal[True] = (),
    numeric: Iterable[str] = (),
    states: Mapping[str, Iterable[Any]] | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    max_states: int = 255,
    allow_constant: bool = False,
    handle_unknown: str = "error",
    missing_columns: str = "error",
    dropped_columns: dict[str, str] | None = None,
    drop_columns: Iterable[str] = (),
) -> Request:
    """The options as a request, each of them checked."""
    return Request(
        discrete=frozenset() if discrete is True else frozenset(name_list("discrete", discrete)),
        all_discrete=discrete is True,
        numeric=frozenset(name_list("numeric", numeric)),
        states=declared_states(states or {}),
        missing=Missing.of(na_values, keep_default_na=keep_default_na),
        max_states=validation.integer("max_states", max_states, min_value=1),
        allow_constant=allow_constant,
        unseen=validation.choice("handle_unknown", handle_unknown, UNSEEN),
        absent=validation.choice("missing_columns", missing_columns, ["error", "missing"]),
        dropped_columns=dropped_columns,
        dropped=name_list("drop_columns", drop_columns),
    )


def declared_states(states: Mapping[str, Iterable[Any]]) -> dict[str, DiscreteVariable]:
    """Declared states as variables."""
    if not isinstance(states, Mapping):
        raise ParameterError(
            f"`states` must map names of columns to lists of states, got {states!r:.80}",
            hint='for instance states={"sky": ["sunny", "rainy"]}',
        )
    return {str(name): DiscreteVariable(str(name), tuple(listing(name, given))) for name, given in states.items()}


def listing(name: str, given: Any) -> Any:
    """A list of states, not a single name."""
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise ParameterError(
            f"the states of column {name!r} must be a list of names, got {given!r}",
            hint=f"put the states into a list: states={{{str(name)!r}: [...]}}",
        )
    return given


def check_request(request: Request, schema: Schema | None) -> None:
    """Raise an error for what is declared twice."""
    if schema is not None and not isinstance(schema, Schema):
        raise ParameterError(f"`schema` must be a Schema, got {schema!r:.80}", hint="use table.schema")
    if schema is not None and request.declares():
        raise ParameterError(
            f"the schema already declares what {listed(sorted(request.declares()))} are",
            hint="leave out `discrete`, `numeric` and `states` when you give a `schema`",
        )
    both = request.numeric & (request.discrete | request.states.keys())
    if both:
        raise ParameterError(
            f"columns cannot be discrete and numeric at once: {listed(sorted(both))}",
            hint="name each of them in `discrete` or in `numeric`",
        )


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
        Whether the data must have the columns with specific markers.
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
