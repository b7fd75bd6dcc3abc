"""``bayeslearn naive predict``: the class of every row of a file, how sure it is, and why."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, progress, writing
from bayeslearn.cli.sources import CELLS, OneFile, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.cli.given import Given
    from bayeslearn.evaluation import Metrics
    from bayeslearn.naive_bayes import NaiveBayes
    from bayeslearn.tables import Schema, Table

#: Rows that are answered together.
BATCH = 1 << 16


@reads(*CELLS, unseen=True)
def run(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model of `bayeslearn naive learn`.")],
    data: Annotated[OneFile, typer.Argument(help="A CSV or Parquet file; what is missing in it is integrated out.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="How much every cell speaks for the class, in log odds against all others."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object; it holds the columns when there is no -o.")
    ] = False,
) -> None:
    """Predict the class of every row of a file.

    With --explain and no file to write, each row is told in words. Where the file knows the class, stderr tells how
    many predictions are right, and their mean log loss.

    Example: bayeslearn naive predict titanic.json passengers.csv --explain
    """
    from bayeslearn.evaluation import Metrics
    from bayeslearn.naive_bayes import NaiveBayes
    from bayeslearn.naive_bayes.tables.rows import read
    from bayeslearn.tables import Table

    if to is not None:
        writing.writer(to)
    model, given = NaiveBayes.load(model_file), data.given
    told = warned(model, given)
    cases = read(given.data, model.columns, absent="missing")[1]
    labels = known_labels(model, given.data) if told else None
    scores = {model.target.name: Metrics.none(model.classes)}
    schema = answer_schema(model, explain=explain)
    if explain and to is None and not as_json:
        for number, batch in enumerate(cases.batches(BATCH)):
            why = model.explain(batch)
            sys.stdout.writelines(f"{why.told(i, first=number * BATCH)}\n" for i in range(len(why)))
    found = answers(model, cases, labels, schema, scores)
    silent = to is None and not as_json and sys.stdout.isatty()  # a bar among the rows helps nobody
    tables = progress.watched(found, cases.n_rows, "predicting", silent=silent)
    columns = {}
    if to is None and as_json:
        columns = {"columns": Table.concat(tables).to_dict()}
    elif to is None and explain:
        for _ in tables:  # for the score
            pass
    else:
        writing.write(to, schema, tables)
    if to is not None:
        sys.stderr.write(f"wrote {to}: {cases.n_rows} rows, {len(schema)} columns\n")
    known = [output.show_metrics(name, found) for name, found in scores.items() if found.weight]
    if as_json:
        output.show_json({"rows": cases.n_rows, "scores": known[0] if known else None} | columns)


### the file


def warned(model: NaiveBayes, given: Given) -> bool:
    """Whether the file knows the class; columns that it lacks are told of."""
    from bayeslearn.errors import DataError, listed
    from bayeslearn.tables import Schema

    names, path = given.names, given.path
    absent = Schema(column.variable for column in model.columns).absent_from(names)
    if absent and len(absent) == len(model.names):
        raise DataError(
            f"{path!r} has none of the columns of the model: {listed(model.names)}",
            hint="names must agree, also in upper and lower case: `bayeslearn scan FILE` lists those of a file",
        )
    if absent:
        sys.stderr.write(f"warning: {path!r} lacks {listed(absent)}, so they are taken for missing\n")
    return model.target.name in names


def known_labels(model: NaiveBayes, data: Any) -> Any:
    """The codes of the classes that the file knows; −1 where it does not."""
    from bayeslearn.tables import Schema, as_table

    return as_table(data, schema=Schema([model.target]), unseen="missing").code(model.target.name)


### answers


def answer_schema(model: NaiveBayes, *, explain: bool) -> Schema:
    """The columns of the answer: the class, the probabilities of all classes, and what each column adds."""
    from bayeslearn.tables import Numeric, Schema

    name = model.target.name
    columns: list[Any] = [model.target, *(Numeric(f"P({name}={state})") for state in model.classes)]
    return Schema([*columns, *(Numeric(f"why({column})") for column in model.names if explain)])


def answers(
    model: NaiveBayes, cases: Table, labels: Any, schema: Schema, scores: dict[str, Metrics]
) -> Iterator[Table]:
    """The answer batch by batch, scored on the way."""
    import numpy as np

    from bayeslearn.evaluation import Metrics
    from bayeslearn.tables import Table

    start = 0
    explain = len(schema.numeric) > len(model.classes)
    for batch in cases.batches(BATCH):
        p = model.predict_proba(batch)
        if labels is not None:
            known = labels[start : start + len(p)]
            scores[model.target.name] += Metrics.of(p, known, classes=model.classes)
        start += len(p)
        why = list(model.explain(batch).parts.values()) if explain else []
        yield Table(schema, p.argmax(axis=1)[None], np.vstack([p.T, *why]))
