"""``bayeslearn predict``: the most probable states of some variables, for every row of a file."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import envelope, output, table_writer
from bayeslearn.cli.data_options import Data, column_list, reads
from bayeslearn.cli.network_files import MODEL, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.evaluation import Metrics
    from bayeslearn.network import BayesianNetwork
    from bayeslearn.tables import Schema, Source, Table


@reads(unseen=True)
def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)],
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; missing values are not observed.")],
    *,
    target: Annotated[str, typer.Option(help="Variable to predict, or A,B; its own column is not used.")],
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    proba: Annotated[bool, typer.Option(help="Also write the probability of each state, and ln P(evidence).")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object; it holds the columns when there is no -o.")
    ] = False,
) -> None:
    """Predict variables of a network for every row of files.

    If the files have the target, accuracy and mean log loss are reported on stderr.

    Example: bayeslearn predict asia patients.csv --target lung -o lung.csv
    """
    from bayeslearn.evaluation import Metrics

    if to is not None:
        table_writer.writer(to)
    network = load(model_file)
    targets = column_list([target], list(network.variables))
    schema = answer_schema(network, targets, proba=proba)
    numeric = network.numeric_names
    scores = {name: Metrics.none(network.states(name)) for name in targets if name not in numeric}
    with data.opened() as given:
        cases = given.coded(network.schema)
        rows, missing = cases.n_rows, cases.missing()
        if all(missing[name] == rows for name in network.variables if name not in targets):
            envelope.warn(f"{given.path} has no observed values: all rows have the same prediction")
        tables = (
            hybrid_answers(network, cases, schema, targets, scores)
            if numeric
            else answers(network, cases, schema, scores)
        )
        columns = table_writer.write_answers(to, schema, tables, rows, "predicting", as_json=as_json)
    known = {name: output.show_metrics(name, found) for name, found in scores.items() if found.weight}
    if as_json:
        output.show_json({"n_rows": rows, "scores": known} | columns)


### predicting


def answer_schema(network: BayesianNetwork, targets: list[str], *, proba: bool) -> Schema:
    """The columns of the answer: each target, the probabilities of its states, and at the end ln P(evidence)."""
    from bayeslearn.tables import NumericVariable, Schema

    columns: list[Any] = []
    for name in targets:
        columns.append(network[name].variable)
        if name in network.numeric_names:
            columns += [NumericVariable(f"{part}({name})") for part in ("sd", "q05", "q95") if proba]
            continue
        columns += [NumericVariable(f"P({name}={state})") for state in network.states(name) if proba]
    return Schema([*columns, *([NumericVariable("log_evidence")] if proba else [])])


def answers(network: BayesianNetwork, cases: Source, schema: Schema, scores: dict[str, Metrics]) -> Iterator[Table]:
    """The answer batch by batch, scored on the way."""
    import numpy as np

    from bayeslearn.evaluation import Metrics
    from bayeslearn.network.inference.results import predictions
    from bayeslearn.tables import Table

    for batch, found in predictions(network, cases, list(scores)):
        for name in scores:
            scores[name] += Metrics.of(found[name], batch.codes_of(name), classes=network.states(name))
        best = np.stack([found[name].argmax(axis=1) for name in scores])
        values = np.vstack([*(found[name].T for name in scores), found.log_evidence])
        yield Table(schema, best, values if schema.numeric else np.empty((0, batch.n_rows)))


def hybrid_answers(
    network: Any, cases: Source, schema: Schema, targets: list[str], scores: dict[str, Metrics]
) -> Iterator[Table]:
    """The answers of a network with numbers: of a number its mean, standard deviation and quantiles."""
    import numpy as np

    from bayeslearn.evaluation import Metrics
    from bayeslearn.network.hybrid import rows
    from bayeslearn.tables import Table

    for batch in cases.batches(rows.BATCH):
        found = rows.answers(network, batch, targets)
        columns: dict[str, Any] = {"log_evidence": found["log_evidence"]}
        for name in targets:
            if name in scores:
                scores[name] += Metrics.of(found[name], batch.codes_of(name), classes=network.states(name))
                states = network.states(name)
                columns |= {f"P({name}={state})": found[name][:, k] for k, state in enumerate(states)}
            else:
                parts = (name, f"sd({name})", f"q05({name})", f"q95({name})")
                columns |= {part: found[name][:, k] for k, part in enumerate(parts)}
        codes = [found[v.name].argmax(axis=1) for v in schema.discrete]
        values = [columns[v.name] for v in schema.numeric]
        n = batch.n_rows
        yield Table(
            schema,
            np.stack(codes) if codes else np.empty((0, n), np.int64),
            np.stack(values) if values else np.empty((0, n)),
        )
