"""Tables for other libraries: Arrow tables, data frames, text and HTML.

Text states become categories in their order, so that a frame keeps states that no row shows; states that are numbers or
truth values stay what they are; numbers are floats; a missing cell is null.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DuplicateColumnError, MissingDependencyError
from bayeslearn.printable import one_line
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.tables.table import Table

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")

#: Variables in the text of a table, rows and columns in its HTML, and states of a variable in both.
TEXT_VARIABLES, HTML_ROWS, HTML_COLUMNS, STATES = 12, 10, 20, 6


### Arrow and data frames


def to_arrow(table: Table, sample_weight: str | None) -> Any:
    """The table as a pyarrow table, with a column of the weights when it is named."""
    import pyarrow as pa  # noqa: PLC0415 - Arrow loads when it is asked for

    columns = {name: arrow_cells(table, name) for name in table.schema.names}
    if sample_weight is not None:
        if sample_weight in columns:
            raise DuplicateColumnError(
                f"the table has a column {sample_weight!r} already",
                hint="choose another name for the weights",
                columns=[sample_weight],
            )
        weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
        columns[sample_weight] = pa.array(weights)
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def arrow_cells(table: Table, name: str) -> Any:
    """The cells of a column."""
    import pyarrow as pa  # noqa: PLC0415

    variable = table.schema[name]
    if not isinstance(variable, DiscreteVariable):
        return pa.array(table.values_of(name), from_pandas=True)
    return state_cells(arrow_states(variable), table.codes_of(name), ordered=variable.cuts is not None)


def state_cells(states: Any, codes: Any, *, ordered: bool = False) -> Any:
    """The states of these codes, null for −1; text is kept as codes and a dictionary."""
    import pyarrow as pa  # noqa: PLC0415

    codes = np.asarray(codes, np.int32)
    places = pa.array(codes, pa.int32(), mask=codes < 0)
    if pa.types.is_string(states.type):
        return pa.DictionaryArray.from_arrays(places, states, ordered=ordered)
    return states.take(places)


def arrow_states(variable: DiscreteVariable) -> Any:
    """The states of a variable as an Arrow array, as text when they are not all text, numbers or truth values."""
    import pyarrow as pa  # noqa: PLC0415

    kinds = {type(state) for state in variable.states}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        try:
            return pa.array(variable.states)
        except (pa.ArrowException, OverflowError):  # an integer of more than 64 bits
            pass
    return pa.array([str(state) for state in variable.states], pa.string())


def to_frame(arrow: Any, backend: Backend) -> Any:
    """An Arrow table as a frame of another library."""
    backend = validation.choice("backend", backend, BACKENDS)
    if backend == "pyarrow":
        return arrow
    try:
        return to_pandas(arrow) if backend == "pandas" else to_polars(arrow)
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"a {backend} frame needs the optional package {backend!r}, which is not installed",
            hint=f"pip install {backend}, or choose backend='pyarrow'",
        ) from None


def frame_of(columns: Mapping[str, Any], backend: Backend) -> Any:
    """Columns as a data frame; values of several kinds become text, and so does a column without any."""
    import pyarrow as pa  # noqa: PLC0415 - Arrow loads when it is asked for

    def array(cells: Any) -> Any:
        try:
            return pa.array(cells, None if len(cells) else pa.string())
        except (pa.ArrowException, OverflowError):
            return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())

    return to_frame(pa.table([array(cells) for cells in columns.values()], names=list(columns)), backend)


def probabilities(p: NDArray[Any], classes: Iterable[Any], backend: Backend | None) -> Any:
    """Probabilities (n, classes) unchanged, or as a data frame of `backend` with a column for each class."""
    return p if backend is None else frame_of(dict(zip(map(str, classes), p.T, strict=True)), backend)


def frame_of_rows(names: Sequence[str], rows: Iterable[Sequence[Any]], backend: Backend) -> Any:
    """Rows of cells as a data frame with these columns."""
    cells = list(rows)
    return frame_of({name: [row[j] for row in cells] for j, name in enumerate(names)}, backend)


def to_pandas(arrow: Any) -> Any:
    """A pandas frame; integers and truth values of which some are missing keep their kind."""
    import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    frame = pd.DataFrame(index=pd.RangeIndex(arrow.num_rows))
    columns = {}
    for name, cells in zip(arrow.column_names, arrow.columns, strict=True):
        mapper = None
        if cells.null_count:
            mapper = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}.get
        columns[name] = cells.to_pandas(types_mapper=mapper)
    return frame.assign(**columns) if columns else frame


def to_polars(arrow: Any) -> Any:
    """A polars frame; text states are an Enum of the states in their order."""
    import polars as pl  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    frame: Any = pl.from_arrow(arrow)
    for name, cells in zip(arrow.column_names, arrow.columns, strict=True):
        if pa.types.is_dictionary(cells.type):
            frame = frame.with_columns(pl.col(name).cast(pl.Enum(dictionary_of(cells))))
    return frame


def dictionary_of(cells: Any) -> list[str]:
    """The states of a dictionary column."""
    return cells.chunk(0).dictionary.to_pylist() if cells.num_chunks else []


### text and HTML


def heading(table: Table) -> str:
    """How many rows and columns there are, and what the rows weigh."""
    weight = "" if table.sample_weight is None else f", weight {table.total_weight:g}"
    return f"{table.n_rows} rows × {len(table.schema)} columns{weight}"


def text_lines(table: Table) -> list[str]:
    """One line per variable: its name, its states, how many cells are missing."""
    missing, variables = table.missing(), table.schema.variables[:TEXT_VARIABLES]
    lines = [(v.name, kind_of(v), f"{missing[v.name]} missing" if missing[v.name] else "") for v in variables]
    widths = [max((len(line[i]) for line in lines), default=0) for i in (0, 1)]
    shown = [f"  {a:{widths[0]}}  {b:{widths[1]}}   {c}".rstrip() for a, b, c in lines]
    rest = len(table.schema) - len(lines)
    return [*shown, f"  … {rest} more"] if rest else shown


def kind_of(variable: Any) -> str:
    """Numeric, or how many states there are and the first of them."""
    if not isinstance(variable, DiscreteVariable):
        return "numeric"
    more = ", …" if variable.n_states > STATES else ""
    return f"{variable.n_states} states: {', '.join(map(str, variable.states[:STATES]))}{more}"


def html(table: Table) -> str:
    """The first rows and columns as an HTML table; names and states are text in it, whatever they hold."""
    names = table.schema.names[:HTML_COLUMNS]
    part, missing = table.head(HTML_ROWS).select(names), table.missing()
    rest = len(table.schema) - len(names)
    head = [html_cell("th", name, title=kind_of(table.schema[name])) for name in names]
    kinds = [html_cell("td", summary_of(table.schema[name], missing[name])) for name in names]
    rows = [[html_cell("td", shown(cell)) for cell in row.values()] for row in part.rows()]
    caption = f"Table: {heading(table)}" + (f"; {rest} columns are not shown" if rest else "")
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in (kinds, *rows))
    return f"<table><caption>{caption}</caption><thead><tr>{''.join(head)}</tr></thead><tbody>{body}</tbody></table>"


def summary_of(variable: Any, n_missing: int) -> str:
    """The kind of a variable and its missing values in a few words."""
    kind = f"{variable.n_states} states" if isinstance(variable, DiscreteVariable) else "numeric"
    return f"{kind}, {n_missing} missing" if n_missing else kind


def shown(cell: Any) -> str:
    """A cell as text: nothing where it is missing, numbers with six digits."""
    return "" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def html_cell(tag: str, text: str, *, title: str | None = None) -> str:
    """An element that holds text."""
    more = "" if title is None else f' title="{escape(one_line(title))}"'
    return f"<{tag}{more}>{escape(one_line(text))}</{tag}>"
