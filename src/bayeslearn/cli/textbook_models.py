"""Verbs of models of the textbook topics: version spaces, k-CNF, posteriors of hypotheses, online learners."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import model_changes, output, table_writer
from bayeslearn.cli.data_options import CELLS, Model, OneFile, reads
from bayeslearn.cli.model_changes import Json, To  # noqa: TC001 - typer reads the annotations
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.tables import Table

Target = Annotated[str | None, typer.Option(help="Column of the labels, or of the outcomes.")]


@reads(*CELLS)
def predict(
    model_file: Model,
    data: Annotated[OneFile, typer.Argument(help="CSV or Parquet file; of online learners, with a column per expert.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, .csv or .parquet; default: CSV to stdout.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object, with the columns if there is no -o.")] = False,
) -> None:
    """Predict every row by the vote of all consistent hypotheses, by a formula, or by the vote of experts.

    Example: bayeslearn predict sport.json enjoy-sport-new
    """
    import pyarrow as pa

    from bayeslearn import load

    if to is not None:
        table_writer.writer(to)
    model = load(model_file)
    rows = rows_of(data, columns_of(model))
    columns = answers(model, rows)
    if to is not None or not as_json:
        table_writer.write_columns(to, pa.table(columns))
    if to is not None:
        sys.stderr.write(f"wrote {to}: {len(rows)} rows\n")
    if as_json:
        output.show_json({"n_rows": len(rows)} | ({} if to else {"columns": columns}))


@reads(*CELLS)
def update(
    model_file: Model,
    data: Annotated[OneFile, typer.Argument(help="CSV or Parquet file with labels, or with a column of outcomes.")],
    *,
    to: To,
    target: Target = None,
    positive: Annotated[str | None, typer.Option(help=r"Label of the concept. \[default: 'yes' or similar]")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove these rows instead of adding them.")] = False,
    as_json: Json = False,
) -> None:
    """Add labeled examples, outcomes or rounds to a model; or remove them.

    Example: bayeslearn update sport.json day.csv --target enjoy_sport -o new.json
    """
    from bayeslearn import load

    model_changes.check(to)
    model = load(model_file)
    if target is None:
        raise ParameterError("the column of the labels is not given", hint="--target COLUMN")
    if remove and not (hasattr(model, "remove_many") or hasattr(model, "remove")):
        raise ParameterError(
            f"no rows can be removed from a model of the kind {model.file_kind!r}", hint="fit it again without them"
        )
    rows = rows_of(data, [*columns_of(model), target])
    after = changed(model, rows, [row.pop(target) for row in rows], positive, remove=remove)
    after.save(to)
    model_changes.report({"n_rows": len(rows)}, to, as_json=as_json)


@reads(*CELLS)
def explain(
    model_file: Model,
    data: Annotated[OneFile, typer.Argument(help="CSV or Parquet file; of online learners, with a column per expert.")],
    *,
    as_json: Json = False,
) -> None:
    """Explain the prediction of every row: the boundaries that cover it, the violated clauses, or the experts.

    Example: bayeslearn explain sport.json enjoy-sport-new
    """
    from bayeslearn import load

    model = load(model_file)
    rows = rows_of(data, columns_of(model))
    found = [model.explain(row) for row in rows]
    if as_json:
        output.show_json({"n_rows": len(rows), "explanations": [plain(one) for one in found]})
        return
    sys.stdout.write("\n".join(f"Row {i}: {in_words(one)}\n" for i, one in enumerate(found)))


def plain(found: Any) -> Any:
    """An explanation as plain values."""
    return found.to_dict() if hasattr(found, "to_dict") else {"violated": [dict(c.together) for c in found]}


def in_words(found: Any) -> str:
    """An explanation as text."""
    if hasattr(found, "summary"):
        return str(found.summary())
    return f"negative: {', '.join(clause.reason for clause in found)}" if found else "positive"


### rows


def columns_of(model: Any) -> list[str]:
    """The columns that a model reads; of outcomes, none but these."""
    if hasattr(model, "attributes"):
        return list(model.attributes.names)
    return [str(name) for name in model.experts] if hasattr(model, "experts") else []


def rows_of(data: OneFile, columns: list[str]) -> list[dict[str, Any]]:
    """The rows of a file by name, with all columns as words."""
    from bayeslearn.cli.concept import load_table

    table: Table = load_table(str(data), {}, data.read, columns=columns)
    return [dict(row) for row in table.rows()]


def answers(model: Any, rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The columns of the predictions."""
    words = {True: "yes", False: "no", None: None}
    if hasattr(model, "votes"):
        votes = model.votes(rows)
        return {
            "prediction": [words[vote.majority] for vote in votes], "P(yes)": [vote.share for vote in votes],
            "unanimous": [vote.unanimous is not None for vote in votes],
        }  # fmt: skip
    if hasattr(model, "covers"):
        return {"prediction": [words[bool(inside)] for inside in model.covers(rows)]}
    p = model.predict_proba(rows)
    shares = {f"P({label})": p[:, k].tolist() for k, label in enumerate(model.classes)}
    return {"prediction": [None if label is None else str(label) for label in model.predict(rows)]} | shares


def changed(model: Any, rows: list[dict[str, Any]], labels: list[Any], positive: str | None, *, remove: bool) -> Any:
    """The model with more rows, or without some."""
    if hasattr(model, "experts"):
        return model.partial_fit(rows, labels)
    if not hasattr(model, "attributes"):
        return (model.remove_many if remove else model.update_many)(labels)
    from bayeslearn.hypotheses.concept_learning.examples import find_positive_label

    concept = find_positive_label(list(dict.fromkeys(labels)), positive)
    marks = [label == concept for label in labels]
    add, take = ("update_many", "remove_many") if hasattr(model, "update_many") else ("update", "remove")
    return getattr(model, take if remove else add)(rows, marks)
