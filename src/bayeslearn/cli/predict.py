"""``bayeslearn predict``: the most probable states of some variables, for every row of a file."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, progress, writing
from bayeslearn.cli.networks import NETWORK, load
from bayeslearn.cli.sources import CELLS, OneFile, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.evaluation import Metrics
    from bayeslearn.network import BayesianNetwork
    from bayeslearn.tables import Schema, Table


@reads(*CELLS, unseen=True)
def run(
    net: Annotated[str, typer.Argument(help=NETWORK)],
    data: Annotated[OneFile, typer.Argument(help="A CSV or Parquet file; what is missing in it is not observed.")],
    *,
    target: Annotated[
        list[str], typer.Option(help="A variable to predict, without a look at its column; repeat for more of them.")
    ],
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    proba: Annotated[
        bool, typer.Option(help="Also the probability of each state, and the log probability of what was seen.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object; it holds the columns when there is no -o.")
    ] = False,
) -> None:
    """Predict variables of a network for every row of a file.

    Where the file knows the target, stderr tells how many predictions are right, and their mean log loss.

    Example: bayeslearn predict asia cases.csv --target lung -o lung.csv
    """
    from bayeslearn.evaluation import Metrics
    from bayeslearn.tables import Table, as_table

    if to is not None:
        writing.writer(to)
    network, targets = load(net), list(dict.fromkeys(target))
    schema = answer_schema(network, targets, proba=proba)
    cases = as_table(data.given.data, schema=network.schema, absent="missing", unseen="missing")
    if not (cases.hide(targets).codes >= 0).any():
        sys.stderr.write(f"warning: nothing in {str(data)!r} is observed, so all rows get the same answer\n")
    scores = {name: Metrics.none(network.states(name)) for name in targets}
    silent = to is None and not as_json and sys.stdout.isatty()  # a bar among the rows helps nobody
    tables = progress.watched(answers(network, cases, schema, scores), cases.n_rows, "predicting", silent=silent)
    columns = {}
    if as_json and to is None:
        columns = {"columns": Table.concat(tables).to_dict()}
    else:
        writing.write(to, schema, tables)
    if to is not None:
        sys.stderr.write(f"wrote {to}: {cases.n_rows} rows, {len(schema)} columns\n")
    known = {name: output.show_metrics(name, found) for name, found in scores.items() if found.weight}
    if as_json:
        output.show_json({"rows": cases.n_rows, "scores": known} | columns)


### predicting


def answer_schema(network: BayesianNetwork, targets: list[str], *, proba: bool) -> Schema:
    """The columns of the answer: each target, the probabilities of its states, and at the end ln P(evidence)."""
    from bayeslearn.tables import Numeric, Schema

    columns: list[Any] = []
    for name in targets:
        columns.append(network[name].variable)
        columns += [Numeric(f"P({name}={state})") for state in network.states(name) if proba]
    return Schema([*columns, *([Numeric("log_evidence")] if proba else [])])


def answers(network: BayesianNetwork, cases: Table, schema: Schema, scores: dict[str, Metrics]) -> Iterator[Table]:
    """The answer batch by batch, scored on the way."""
    import numpy as np

    from bayeslearn.evaluation import Metrics
    from bayeslearn.network.inference.results import predictions
    from bayeslearn.tables import Table

    for batch, found in predictions(network, cases, list(scores)):
        for name in scores:
            scores[name] += Metrics.of(found[name], batch.code(name), classes=network.states(name))
        best = np.stack([found[name].argmax(axis=1) for name in scores])
        values = np.vstack([*(found[name].T for name in scores), found.log_evidence])
        yield Table(schema, best, values if schema.numeric else np.empty((0, batch.n_rows)))
