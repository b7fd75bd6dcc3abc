"""``bayeslearn impute``: the missing cells of a file, filled by a network."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import progress, writing
from bayeslearn.cli.networks import NETWORK, load
from bayeslearn.errors import ParameterError, UnknownColumnError, listed

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork
    from bayeslearn.tables import Table
    from bayeslearn.tables.columns import Column


def run(
    net: Annotated[str, typer.Argument(help=NETWORK)],
    data: Annotated[str, typer.Argument(help="A CSV or Parquet file; ?, empty and NaN are missing.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    how: Annotated[
        str,
        typer.Option(
            help="most-probable: the states of all that a row misses that are most probable together; "
            "draw: states drawn as probable as they are."
        ),
    ] = "most-probable",
    seed: Annotated[int | None, typer.Option(help="The same seed draws the same states.")] = None,
) -> None:
    """Fill the missing cells of a network's variables; all columns stay, in their order.

    Numbers that the network cuts into intervals come back as their intervals.

    Example: bayeslearn impute model.json holes.csv -o full.csv
    """
    import pyarrow as pa

    from bayeslearn import validation
    from bayeslearn.network.learning.impute import imputed
    from bayeslearn.tables import Table
    from bayeslearn.tables.files import read_file

    _check(how, seed)
    if to is not None:
        writing.writer(to)
    network, columns = load(net), read_file(data)
    cases = known_cases(network, columns, data)
    parts = imputed(network, cases, validation.generator(seed) if how == "draw" else None)
    silent = to is None and sys.stdout.isatty()  # a bar among the rows helps nobody
    full = Table.concat(progress.watched(parts, cases.n_rows, "imputing", silent=silent))
    cells = [filled(column, cases, full) if column.name in network else column.data for column in columns]
    writing.write_columns(to, pa.table(cells, names=[column.name for column in columns]))
    _report(to, cases, [column.name for column in columns if column.name in network])


def _check(how: str, seed: int | None) -> None:
    from bayeslearn import validation

    validation.choice("--how", how, ["most-probable", "draw"])
    if seed is not None:
        validation.integer("--seed", seed, least=0)
        if how != "draw":
            raise ParameterError("--seed has no use without --how draw")


### filling


def known_cases(network: BayesianNetwork, columns: list[Column], data: str) -> Table:
    """The columns of the file that are variables of the network, as a table of all its variables."""
    from bayeslearn.tables import as_table

    if not any(column.name in network for column in columns):
        raise UnknownColumnError(
            f"no column of {data!r} is a variable of the network",
            hint=f"the variables are {listed(network.names)}, the columns {listed(c.name for c in columns)}",
        )
    return as_table({column.name: column.data for column in columns}, schema=network.schema, absent="missing")


def filled(column: Column, cases: Table, full: Table) -> Any:
    """Text stays as it is written where there was some; other columns are the states, and so is what was cut."""
    import pyarrow as pa
    import pyarrow.compute as pc

    variable: Any = cases.schema[column.name]
    code = full.code(column.name)
    if column.kind != "text" or variable.cuts is not None:
        return writing.column(writing.arrow_states(variable), code)
    states = pa.array([str(state) for state in variable.states])
    seen = pa.array(cases.code(column.name) >= 0)
    return pc.if_else(seen, column.data.cast(pa.string()), states.take(pa.array(code)))


def _report(to: Path | None, cases: Table, names: list[str]) -> None:
    gaps = [int((cases.code(name) < 0).sum()) for name in names]
    count = f"filled {sum(gaps)} cells of {sum(n > 0 for n in gaps)} columns"
    sys.stderr.write(f"{count}\n" if to is None else f"wrote {to}: {cases.n_rows} rows, {count}\n")
