"""``bayeslearn predict``: the class of every row of a file, how sure it is, and why."""

from __future__ import annotations

import sys
from itertools import repeat
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, table_writer
from bayeslearn.cli.data_options import Data, Model, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.evaluation import Metrics
    from bayeslearn.naive_bayes import NaiveBayesModel
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
        Path | None,
        typer.Option("-o", "--output", help="Output file, .csv or .parquet; CSV to stdout by default."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Contribution of each cell to the log odds of the class."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of CSV.")] = False,
) -> None:
    """Predict the class of every row of files.

    With --explain and no output file the explanation of each row is printed. If the data have the class, accuracy and
    log loss are printed to stderr.

    Example: bayeslearn predict nb.json passengers.csv --explain
    """
    from bayeslearn.evaluation import Metrics
    from bayeslearn.naive_bayes import NaiveBayesModel
    from bayeslearn.naive_bayes.tabular.row_blocks import schema_with_other
    from bayeslearn.tables import Schema

    if to is not None:
        table_writer.writer(to)
    model = NaiveBayesModel.load(model_file)
    scores = {model.target.name: Metrics.none(model.classes)}
    in_words = explain and to is None and not as_json
    with data.opened() as given:
        given.require_some(Schema(column.variable for column in model.columns))
        cases = given.coded(schema_with_other(model.columns), handle_unknown="last")
        labels = given.coded(Schema([model.target])) if model.target.name in given.names else None
        schema, rows, columns = answer_schema(model, explain=explain), cases.n_rows, {}
        tables = answers(model, cases, labels, schema, scores, in_words=in_words)
        if in_words:
            for _ in tables:  # they write the words
                pass
        else:
            columns = table_writer.write_answers(to, schema, tables, rows, "predicting", as_json=as_json)
    known = [output.show_metrics(name, found) for name, found in scores.items() if found.weight]
    if as_json:
        output.show_json({"rows": rows, "scores": known[0] if known else None} | columns)


### answers


def answer_schema(model: NaiveBayesModel, *, explain: bool) -> Schema:
    """The columns of the answer: the class, the probabilities of all classes, and what each column adds."""
    from bayeslearn.tables import NumericVariable, Schema

    name = model.target.name
    columns: list[Any] = [model.target, *(NumericVariable(f"P({name}={state})") for state in model.classes)]
    return Schema([*columns, *(NumericVariable(f"why({column})") for column in model.feature_names if explain)])


def answers(
    model: NaiveBayesModel,
    cases: Source,
    labels: Source | None,
    schema: Schema,
    scores: dict[str, Metrics],
    *,
    in_words: bool,
) -> Iterator[Table]:
    """The answer batch by batch, scored on the way, and written as sentences if `in_words`."""
    import numpy as np

    from bayeslearn.evaluation import Metrics
    from bayeslearn.tables import Table

    name, start = model.target.name, 0
    explain = len(schema.numeric) > len(model.classes)
    known = repeat(None) if labels is None else labels.batches(BATCH)
    for batch, label in zip(cases.batches(BATCH), known, strict=False):
        p = model.predict_proba(batch)
        if label is not None:
            scores[name] += Metrics.of(p, label.codes_of(name), classes=model.classes)
        why = model.explain(batch) if explain else None
        if in_words and why is not None:
            sys.stdout.write(("\n" if start else "") + why.report(first=start, max_rows=len(why)).text() + "\n")
        start += len(p)
        parts = [] if why is None else list(why.parts.values())
        yield Table(schema, p.argmax(axis=1)[None], np.vstack([p.T, *parts]))
