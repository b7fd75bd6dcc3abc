"""``bayeslearn predict``: the class, the number or the component of every row of data, by a model of tables."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, table_models, table_writer
from bayeslearn.cli.data_options import Data, Model, reads
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayeslearn.tables import Schema, Table

#: The level of intervals.
LEVEL = 0.95


@reads(unseen=True)
def run(
    model_file: Model,
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; values may be missing.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, .csv or .parquet; default: CSV to stdout.")
    ] = None,
    level: Annotated[float | None, typer.Option(help=r"Level of the intervals of numbers. \[default: 0.95]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object, with the columns if there is no -o.")] = False,
) -> None:
    """Predict every row: its class with probabilities, its number with an interval, or its component.

    If the data have the target, its metrics are written to stderr.

    Example: bayeslearn predict nb.json passengers.csv
    """
    from bayeslearn import load, validation
    from bayeslearn.model_evaluation import is_classifier, targets_of

    if to is not None:
        table_writer.writer(to)
    model = load(model_file)
    targets = targets_of(model)
    if level is not None and (not targets or is_classifier(model, targets)):
        raise ParameterError("--level is the level of intervals, and this model predicts none", hint="leave it out")
    level = validation.number("--level", LEVEL if level is None else level, above=0, below=1)
    schema = table_models.answer_schema(model, targets)
    metrics: dict[str, Any] = {}
    with data.opened() as given:
        rows, parts = table_models.batches(model, given, targets)
        tables = answers(model, parts, targets, schema, level, metrics)
        columns = table_writer.write_answers(to, schema, tables, rows.n_rows, "predicting", as_json=as_json)
    known = {name: found for name, found in metrics.items() if found.weight}
    for name, found in known.items():
        sys.stderr.write(f"{name}: {in_words(found)}\n")
    if as_json:
        scores = {name: found.to_dict() for name, found in known.items()}
        output.show_json({"n_rows": rows.n_rows, "metrics": scores} | columns)


def answers(
    model: Any,
    parts: Iterable[tuple[Table, Table | None]],
    targets: tuple[Any, ...],
    schema: Schema,
    level: float,
    metrics: dict[str, Any],
) -> Iterator[Table]:
    """The answer batch by batch, compared with the target on the way."""
    for batch, truth in parts:
        found = table_models.answer(model, batch, targets, schema, level)
        if truth is not None:
            for name, part in compared(found, truth, targets, level).items():
                metrics[name] = metrics[name] + part if name in metrics else part
        yield found


def compared(found: Table, truth: Table, targets: tuple[Any, ...], level: float) -> dict[str, Any]:
    """The metrics of some answers by target."""
    from bayeslearn.evaluation import Metrics
    from bayeslearn.model_evaluation import NumericMetrics

    if truth.schema.discrete:
        (target,) = targets
        return {target.name: Metrics.of(found.values.T, truth.codes_of(target.name), classes=target.states)}
    return {
        v.name: NumericMetrics.of(
            v.name,
            truth.values_of(v.name),
            found.values_of(v.name),
            interval=(found.values_of(f"low({v.name})"), found.values_of(f"high({v.name})")),
            level=level,
        )
        for v in targets
    }


def in_words(found: Any) -> str:
    """Metrics in one line."""
    if hasattr(found, "accuracy"):
        loss = output.number(round(found.log_loss, 12) + 0.0)
        accuracy = output.number(found.accuracy)
        return f"{found.n_correct:.0f} of {found.weight:.0f} known are right, accuracy {accuracy}, log loss {loss}"
    inside = "" if found.coverage is None else f", {output.number(found.coverage)} within the intervals"
    return f"{found.weight:.0f} known, RMSE {output.number(found.rmse)}{inside}"
