"""``bayeslearn predict``: the group of every row of data, by a mixture."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import output, table_writer
from bayeslearn.cli.data_options import Data, Model, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.mixture import MixtureModel
    from bayeslearn.tables import Schema, Source, Table

#: Rows that are answered together.
BATCH = 1 << 16


@reads(unseen=True)
def run(
    model_file: Model,
    data: Annotated[
        Data, typer.Argument(help="CSV or Parquet files, or patterns; what is missing in them is integrated out.")
    ],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object; it holds the columns when there is no -o.")
    ] = False,
) -> None:
    """Report the group of every row, and the probability of each group.

    Example: bayeslearn predict zoo.json animals.csv
    """
    from bayeslearn.mixture import MixtureModel
    from bayeslearn.mixture.inputs import schema_of
    from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema

    if to is not None:
        table_writer.writer(to)
    model = MixtureModel.load(model_file)
    groups = [NumericVariable(f"P(group={j})") for j in range(model.k)]
    schema = Schema([DiscreteVariable("group", range(model.k)), *groups, NumericVariable("log_density")])  # type: ignore[arg-type]
    with data.opened() as given:
        cases = given.coded(schema_of(model))
        rows, tables = cases.n_rows, answers(model, cases, schema)
        columns = table_writer.write_answers(to, schema, tables, rows, "assigning", as_json=as_json)
    if as_json:
        output.show_json({"rows": rows} | columns)


def answers(model: MixtureModel, cases: Source, schema: Schema) -> Iterator[Table]:
    """The answer batch by batch."""
    import numpy as np

    from bayeslearn.tables import Table

    for batch in cases.batches(BATCH):
        shares, log_p = model.responsibilities(batch), model.log_density(batch)
        yield Table(schema, shares.argmax(axis=1)[None], np.vstack([shares.T, log_p]))
