"""``bayeslearn predict``: the target of every row of a file, by its nearest neighbors."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import output, table_writer
from bayeslearn.cli.data_options import Data, Model, reads

if TYPE_CHECKING:
    from bayeslearn.neighbors import NeighborsModel
    from bayeslearn.tables import Schema, Table


@reads("engine", "on_error", "table", unseen=True)
def run(
    model_file: Model,
    data: Annotated[Data, typer.Argument(help="CSV or Parquet file of rows.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals of a numeric target.")] = 0.95,
    explain: Annotated[
        bool, typer.Option("--explain", help="The neighbors of each row, their distances, weights and targets.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON object; it holds the columns when there is no -o.")
    ] = False,
) -> None:
    """Predict the target of every row by its nearest neighbors.

    Example: bayeslearn predict iris.json flowers.csv --explain
    """
    from bayeslearn import validation
    from bayeslearn.neighbors import NeighborsModel
    from bayeslearn.neighbors.inputs import new_rows

    validation.number("--level", level, above=0, below=1)
    if to is not None:
        table_writer.writer(to)
    model, given = NeighborsModel.load(model_file), data.one_file("`bayeslearn predict` with neighbors")
    given.require_some(model.examples.schema)
    rows = new_rows(model.examples.schema, given.data, missing_columns="missing")
    if explain and to is None:
        found = model.explain(rows)
        if as_json:
            output.show_json({"n_rows": len(rows), "explanations": [each.to_dict() for each in found]})
        else:
            sys.stdout.write("\n".join(f"Row {i}: {each.summary()}\n" for i, each in enumerate(found)))
        return
    schema, table = predictions(model, rows, level)
    if as_json:
        output.show_json({"n_rows": len(rows), **({} if to is not None else {"columns": table.to_dict()})})
    if to is not None or not as_json:
        table_writer.write(to, schema, iter([table]))
    if to is not None:
        sys.stderr.write(f"wrote {to}: {len(rows)} rows, {len(schema)} columns\n")


def predictions(model: NeighborsModel, rows: Table, level: float) -> tuple[Schema, Table]:
    """The prediction for every row: classes with their probabilities, or numbers with their bounds."""
    import numpy as np

    from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table

    name = model.target.name
    if isinstance(model.target, DiscreteVariable):
        schema = Schema([model.target, *(NumericVariable(f"P({name}={state})") for state in model.target.states)])
        return schema, Table(schema, model.predict_codes(rows)[None], model.predict_proba(rows).T)
    schema = Schema([NumericVariable(name), NumericVariable(f"low({name})"), NumericVariable(f"high({name})")])
    values = np.vstack([model.predict(rows), *model.predict_interval(rows, level)])
    return schema, Table(schema, np.empty((0, len(rows)), np.int8), values)
