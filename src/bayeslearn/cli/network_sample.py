"""``bayeslearn sample``: random rows of a network, as a table."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated, Any

import typer

from bayeslearn.cli import output, table_writer
from bayeslearn.cli.network_files import NETWORK, assignments, load

#: Rows drawn and written at a time.
BATCH = 1 << 17


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=NETWORK)],
    *,
    n: Annotated[int, typer.Option("-n", "--n-samples", help="Number of rows.")],
    evidence: Annotated[
        list[str] | None,
        typer.Option(help="Evidence, VAR=STATE, VAR=30 or VAR=10..20: rows are drawn from the posterior. Repeatable."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of random numbers.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object; it holds the columns when there is no -o.")
    ] = False,
) -> None:
    """Draw independent rows from a network, given evidence if there is some.

    Example: bayeslearn sample asia -n 1000 --seed 1 -o rows.parquet
    """
    from bayeslearn import validation

    validation.integer("--n-samples", n, min_value=0)
    if seed is not None:
        validation.integer("--seed", seed, min_value=0)
    if to is not None:
        table_writer.writer(to)
    network = load(model_file)
    given = assignments(network, evidence or [])
    tables: Any = [network.sample(n, given, random_state=seed)] if given else None
    tables = tables or network.sample_batches(n, random_state=seed, batch_size=BATCH)
    columns = table_writer.write_answers(to, network.schema, tables, n, "drawing", as_json=as_json)
    if as_json:
        output.show_json({"n_rows": n} | columns)
