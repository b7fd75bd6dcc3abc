"""``bayeslearn predict``: the target of every row of a file, by its nearest neighbors."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated

import typer

from bayeslearn.cli import neighbors_report, output, table_writer
from bayeslearn.cli.data_options import Data, Model, reads


@reads("engine", "on_error", "table", unseen=True)
def run(
    model_file: Model,
    data: Annotated[Data, typer.Argument(help="A CSV or Parquet file of new rows.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Each row in words: its nearest examples, and what they predict.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object; it holds the columns when there is no -o.")
    ] = False,
) -> None:
    """Predict the target of every row by its nearest neighbors.

    Example: bayeslearn predict iris.json flowers.csv --explain
    """
    from bayeslearn.neighbors import NeighborsModel
    from bayeslearn.neighbors.inputs import new_rows

    if to is not None:
        table_writer.writer(to)
    model, given = NeighborsModel.load(model_file), data.one_file("`bayeslearn predict` with neighbors")
    given.require_some(model.examples.schema)
    rows = new_rows(model.examples.schema, given.data, missing_columns="missing")
    if explain and to is None:
        told = model.explain(rows)
        if as_json:
            output.show_json({"rows": len(rows), "explanations": [neighbors_report.plain(e) for e in told]})
        else:
            sys.stdout.writelines(f"{e.summary(f'row {i}: ')}\n" for i, e in enumerate(told))
        return
    schema, table = neighbors_report.predictions(model, rows)
    if as_json:
        output.show_json({"rows": len(rows), **({} if to is not None else {"columns": table.to_dict()})})
    if to is not None or not as_json:
        table_writer.write(to, schema, iter([table]))
    if to is not None:
        sys.stderr.write(f"wrote {to}: {len(rows)} rows, {len(schema)} columns\n")
