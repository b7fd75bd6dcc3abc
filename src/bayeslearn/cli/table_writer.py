"""Tables as files: CSV and Parquet, written batch by batch."""

from __future__ import annotations

import csv
import io
import sys
from typing import TYPE_CHECKING, Any

from bayeslearn import files
from bayeslearn.cli import output, progress
from bayeslearn.cli.streams import write_data
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.tables import Schema, Table

    Writer = Callable[[Path, Schema, Iterable[Table]], None]

#: Rows of a table that become text at a time.
BATCH = 1 << 16


def write(to: Path | None, schema: Schema, tables: Iterable[Table]) -> None:
    """Rows into a file, atomically; without one, as CSV to stdout with the digits of reports."""
    require_unicode(schema)
    if to is None:
        for chunk in csv_chunks(schema, tables, digits=output.DIGITS):
            write_data(chunk)
        return
    written = writer(to)
    with files.beside(to) as place:
        written(place, schema, tables)


def write_answers(
    to: Path | None, schema: Schema, tables: Iterable[Table], n_rows: int, what: str, *, as_json: bool
) -> dict[str, Any]:
    """Write the answers about rows as they come; without a file --json has them, and then they are returned."""
    from bayeslearn.tables import Table

    silent = to is None and not as_json and sys.stdout.isatty()  # a bar among the rows helps nobody
    tables = progress.watched(tables, n_rows, what, silent=silent)
    if as_json and to is None:
        return {"columns": Table.concat(tables).to_dict()}
    write(to, schema, tables)
    if to is not None:
        sys.stderr.write(f"wrote {to}: {n_rows} rows, {len(schema)} columns\n")
    return {}


def require_unicode(schema: Schema) -> None:
    """Names and states that a file can hold: those of a model may have half characters."""
    from bayeslearn.tables.columns import is_unicode

    for v in schema:
        odd = [name for name in (v.name, *getattr(v, "states", ())) if isinstance(name, str) and not is_unicode(name)]
        if odd:
            raise ParameterError(
                f"column {v.name!r} cannot be written: {odd[0]!r} holds half a character, which no text file can hold",
                hint="rename it in the model",
            )


def write_chunks(to: Path | None, chunks: Iterable[bytes]) -> None:
    """The text of a CSV file into a file, atomically; without one, to stdout."""
    if to is None:
        write_data(b"".join(chunks))
        return
    with files.beside(to) as place, place.open("wb") as file:
        file.writelines(chunks)


def write_columns(to: Path | None, table: Any) -> None:
    """An Arrow table into a file, atomically; without one, as CSV to stdout."""
    from pyarrow import parquet

    if to is None:
        for chunk in text_chunks(table):
            write_data(chunk)
        return
    with files.beside(to) as place:
        if writer(to) is write_parquet:
            parquet.write_table(table, place)
        else:
            with place.open("wb") as file:
                file.writelines(text_chunks(table))


def writer(path: Path) -> Writer:
    """What writes files that end so."""
    writers = {".csv": write_csv, ".parquet": write_parquet}
    ending = path.suffix.lower()
    if ending not in writers:
        raise ParameterError(
            f"cannot tell the format of {str(path)!r} by its name", hint=f"names end in {' or '.join(writers)}"
        )
    return writers[ending]


### CSV


def write_csv(path: Path, schema: Schema, tables: Iterable[Table]) -> None:
    """A header, then a line for each row."""
    with path.open("wb") as file:
        file.writelines(csv_chunks(schema, tables))


def csv_chunks(schema: Schema, tables: Iterable[Table], digits: int | None = None) -> Iterator[bytes]:
    """The text of a CSV file in parts; words stand in quotes when one of the states needs them.

    Numbers have this many significant digits; without `digits`, as many as it takes to read the same number back.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    head = io.StringIO()
    csv.writer(head, lineterminator="\n").writerow(schema.names)
    yield head.getvalue().encode()
    states = {v.name: [str(state) for state in v.states] for v in schema.discrete}
    odd = any(not state or set(state) & set(',"\r\n') for names in states.values() for state in names)
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed" if odd else "none")
    words = {name: pa.array(names, pa.string()) for name, names in states.items()}
    places = [f"f{i}" for i in range(len(schema))]
    for table in tables:
        out = io.BytesIO()
        columns = [
            words[name].take(pa.array(table.codes_of(name)))
            if name in words
            else pa.array(table.values_of(name) if digits is None else rounded(table.values_of(name), digits))
            for name in schema.names
        ]
        arrow_csv.write_csv(pa.Table.from_arrays(columns, names=places), out, options)
        yield out.getvalue()


def text_chunks(table: Any) -> Iterator[bytes]:
    """The text of a CSV file of Arrow columns, in parts; cells stand in quotes where they need them."""
    import pyarrow.compute as pc

    head = io.StringIO()
    csv.writer(head, lineterminator="\n").writerow(table.column_names)
    yield head.getvalue().encode()
    for start in range(0, table.num_rows, BATCH):
        part = table.slice(start, BATCH)
        lines = pc.binary_join_element_wise(*(quoted(as_text(cells)) for cells in part.columns), ",")
        yield ("\n".join(lines.to_pylist()) + "\n").encode()


def as_text(cells: Any) -> Any:
    """Arrow data as text, empty where missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        text = cells.cast(pa.string())
    except pa.ArrowNotImplementedError:  # lists and the like
        text = pa.array([None if cell is None else str(cell) for cell in cells.to_pylist()], pa.string())
    return pc.fill_null(text, "")


def quoted(text: Any) -> Any:
    """Cells that hold a comma, a quotation mark or a line break in quotes."""
    import pyarrow.compute as pc

    marks = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
    return pc.if_else(pc.match_substring_regex(text, '[",\r\n]'), marks, text)


def rounded(x: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round numbers to significant digits: ``float(f"{x:.{digits}g}")`` for each of them.

    Powers of ten up to 10²² are exact as floats, so a division by one gives the number nearest to the decimal. Numbers
    that would need a larger power are rounded one by one; zero, infinity and NaN stay.
    """
    import numpy as np

    known = np.isfinite(x) & (x != 0)
    places = digits - 1 - np.floor(np.log10(np.where(known, np.abs(x), 1.0)))
    near, exact, far = x.copy(), known & (np.abs(places) <= 22), known & (np.abs(places) > 22)
    value, scale = x[exact], 10.0 ** np.abs(places[exact])
    near[exact] = np.where(places[exact] < 0, np.round(value / scale) * scale, np.round(value * scale) / scale)
    near[far] = [float(f"{value:.{digits}g}") for value in x[far]]
    return near


### Parquet


def write_parquet(path: Path, schema: Schema, tables: Iterable[Table]) -> None:
    """Columns of the states: text, numbers or truth values; as text when a variable mixes these."""
    import numpy as np
    from pyarrow import parquet

    from bayeslearn.tables import Table

    nothing = Table(schema, np.empty((len(schema.discrete), 0), int), np.empty((len(schema.numeric), 0)))
    with parquet.ParquetWriter(path, nothing.to_arrow().schema) as file:
        for table in tables:
            file.write_table(table.to_arrow())
