"""``bayeslearn predict``: the component of every row of data, by a mixture."""

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
        Data, typer.Argument(help="CSV or Parquet files, or patterns; missing values are marginalized out.")
    ],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, .csv or .parquet; default: CSV to stdout.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object, with the columns if there is no -o.")
    ] = False,
) -> None:
    """Most probable component of every row, and the probability of each component.

    Example: bayeslearn predict zoo.json animals.csv
    """
    from bayeslearn.mixture import MixtureModel
    from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema

    if to is not None:
        table_writer.writer(to)
    model = MixtureModel.load(model_file)
    numbers = range(model.n_components)
    each = [NumericVariable(f"P(component={j})") for j in numbers]
    schema = Schema([DiscreteVariable("component", numbers), *each, NumericVariable("log_likelihood")])  # type: ignore[arg-type]
    with data.opened() as given:
        cases = given.coded(model.schema)
        rows, tables = cases.n_rows, answers(model, cases, schema)
        columns = table_writer.write_answers(to, schema, tables, rows, "predicting", as_json=as_json)
    if as_json:
        output.show_json({"rows": rows} | columns)


def answers(model: MixtureModel, cases: Source, schema: Schema) -> Iterator[Table]:
    """The answer batch by batch."""
    import numpy as np

    from bayeslearn.tables import Table

    for batch in cases.batches(BATCH):
        shares, log_p = model.predict_proba(batch), model.log_likelihood(batch)
        yield Table(schema, shares.argmax(axis=1)[None], np.vstack([shares.T, log_p]))
