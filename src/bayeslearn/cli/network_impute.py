"""``bayeslearn impute``: the missing values of a file, filled by a network."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, progress, table_writer
from bayeslearn.cli.data_options import OneFile, reads
from bayeslearn.cli.network_files import NETWORK, load
from bayeslearn.cli.structure_options import table_file
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.network.parameters.imputed_data import Opened
    from bayeslearn.tables.imputed_cells import Fill


@reads("na_values", unseen=True, without=("columns", "drop_columns"))
def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=NETWORK)],
    data: Annotated[OneFile, typer.Argument(help="A CSV or Parquet file; ?, empty and NaN are missing.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="most_probable: the most probable states of all missing values of a row together, and the median of "
            "an interval; sample: random draws from their joint posterior."
        ),
    ] = "most_probable",
    as_intervals: Annotated[
        bool, typer.Option("--as-intervals", help="Write the columns that the network discretizes as intervals.")
    ] = False,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help=r"The columns to fill; the others are evidence and are unchanged. Repeatable. \[default: all]",
        ),
    ] = None,
    drop_columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Columns that are neither filled nor evidence; they are unchanged. Repeatable."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of --method sample.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object with the number of filled values; requires -o.")
    ] = False,
) -> None:
    """Fill missing values by a network; all other cells are unchanged, byte for byte.

    A missing number is filled by the median of the training rows in its interval, or by one of them at random, in the
    format of its column ($450.00). A missing date stays missing, with a warning.

    Example: bayeslearn impute model.json incomplete.csv -o full.csv
    """
    from bayeslearn import validation
    from bayeslearn.network.parameters.imputation import imputed
    from bayeslearn.network.parameters.imputed_data import Opened
    from bayeslearn.tables import Table
    from bayeslearn.tables.file_readers import column_names

    method = _checked(method, seed)
    if as_json and to is None:
        raise ParameterError(
            "--json takes the place of the rows on stdout", hint="name a file for the rows: -o full.csv"
        )
    if to is not None:
        table_writer.writer(to)
    network = load(model_file)
    path = table_file(str(data))
    unknown: Any = data.handle_unknown or "missing"
    data = replace(data, columns=columns, drop_columns=drop_columns)
    opened = Opened.of(network, path, handle_unknown=unknown, **data.cells(partial(column_names, path)))
    opened.warn_of_dates()
    luck = validation.generator(seed) if method == "sample" else None
    silent = to is None and sys.stdout.isatty()  # a bar among the rows helps nobody
    parts = imputed(network, opened.table, luck)
    full = Table.concat(progress.watched(parts, opened.table.n_rows, "imputing", silent=silent))
    fills = opened.fills(full, luck, as_intervals=as_intervals)
    chunks = None if as_intervals else _csv_chunks(to, path, opened, fills)
    if chunks is not None:
        table_writer.write_chunks(to, chunks)
    else:
        table_writer.write_columns(to, _table(to, opened.filled(full, fills)))
    _report(to, opened, as_json=as_json)


def _checked(method: str, seed: int | None) -> str:
    from bayeslearn import validation

    method = validation.choice("--method", method, ["most_probable", "sample"])
    if seed is not None:
        validation.integer("--seed", seed, min_value=0)
        if method != "sample":
            raise ParameterError("--seed requires --method sample", hint="add --method sample, or omit --seed")
    return method


def _csv_chunks(to: Path | None, data: str, opened: Opened, fills: dict[str, Fill]) -> Iterator[bytes] | None:
    """The bytes of a CSV file that becomes a CSV file, with its missing cells filled."""
    from pathlib import Path

    from bayeslearn.cli.csv_splice import spliced
    from bayeslearn.tables.file_names import ending

    if ending(Path(data)) != ".csv" or (to is not None and table_writer.writer(to) is not table_writer.write_csv):
        return None
    return spliced(data, [column.name for column in opened.columns], opened.table.n_rows, fills)


def _table(to: Path | None, table: Any) -> Any:
    """The columns to write; a nameless index of pandas has no place in a CSV file."""
    from bayeslearn.tables.columns import INDEX

    if to is not None and table_writer.writer(to) is table_writer.write_parquet:
        return table
    return table.select([name for name in table.column_names if not INDEX.fullmatch(name)])


def _report(to: Path | None, opened: Opened, *, as_json: bool) -> None:
    gaps = {name: int(missing.sum()) for name, missing in opened.gaps.items()}
    filled = {name: count for name, count in gaps.items() if count}
    if as_json:
        found = {"n_rows": opened.table.n_rows, "filled": filled, "missing_dates": opened.missing_dates}
        output.show_json({"output": str(to), **found})
    count = f"filled {sum(filled.values())} cells of {len(filled)} columns"
    sys.stderr.write(f"{count}\n" if to is None else f"wrote {to}: {opened.table.n_rows} rows, {count}\n")
