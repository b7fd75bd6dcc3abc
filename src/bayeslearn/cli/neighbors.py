"""``bayeslearn neighbors``: rows that are their own model, how well they predict each other, and what new rows are."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import neighbors_report, pictures, progress, texts, writing
from bayeslearn.cli.sources import Data, reads
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.cli.given import Given
    from bayeslearn.neighbors import NeighborsModel
    from bayeslearn.neighbors.fit import NeighborsFitInfo


@reads("engine", "skip_broken", "table", unseen=True)
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files of examples; with --by, a file of new rows.")],
    *,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    k: Annotated[
        str, typer.Option("-k", "--k", help="How many are heard: a number, auto (leave-one-out) or all.")
    ] = "auto",
    new: Annotated[str | None, typer.Option(help="A file of new rows to predict.")] = None,
    by: Annotated[
        Path | None, typer.Option("--by", help="A model written before: predict the rows of DATA by it.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A model to write, .json or .json.gz; or predictions, .csv or .parquet."),
    ] = None,
    weights: Annotated[
        str, typer.Option(help="uniform, or inverse_square: 1/d², where an exact match wins.")
    ] = "uniform",
    metric: Annotated[
        str,
        typer.Option(help="Numbers are divided by their standard deviation (scaled), range, or nothing (euclidean)."),
    ] = "scaled",
    select: Annotated[
        bool, typer.Option("--select-attributes", help="Remove attributes that only mislead, by leave-one-out.")
    ] = False,
    weigh: Annotated[
        bool, typer.Option("--weigh-attributes", help="Find a weight for each attribute, by leave-one-out.")
    ] = False,
    kind: Annotated[
        str, typer.Option(help="Whether the target is one of classes or numbers; auto looks at it.")
    ] = "auto",
    sample_weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    prior: Annotated[
        str, typer.Option(help="A number of rows, or none, m:ROWS, laplace, k2, jeffreys, bdeu:ROWS.")
    ] = "1",
    max_k: Annotated[int, typer.Option(help="The largest k that auto tries.")] = 50,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell new rows in words: who is near, and what they say.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw cells over two columns of numbers, else the error by k; .svg or .png.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Predict by the nearest examples; rows may hold numbers, words and holes.

    Without new rows, every example is predicted by the others: the error of each k, the weights of the attributes, and
    the rows that are doubted most. With --new these are predicted.

    Example: bayeslearn neighbors iris.csv --target class --new flowers.csv
    """
    from bayeslearn.neighbors import NeighborsModel

    model_to, rows_to = places(to)
    if by is not None:
        answer(NeighborsModel.load(by), data.one_file("--by"), rows_to, explain=explain, as_json=as_json)
        return
    if target is None:
        raise ParameterError("which column should be predicted?", hint="name it with --target, or a model with --by")
    if new is None and (explain or rows_to is not None):
        raise ParameterError("there are no new rows to predict", hint="name a file of them with --new")
    if plot is not None:
        pictures.check(plot)
    left_out = data.dropped(target, sample_weight)
    with data.in_memory("finding neighbors", sample_weight=sample_weight) as given:
        found = learned(
            given, target, left_out, sample_weight, k=number(k), weighting=weights, metric=metric, kind=kind,
            prior=texts.prior(prior), max_k=max_k, attributes="auto" if weigh else "remove" if select else None,
        )  # fmt: skip
    if model_to is not None:
        found.model.save(model_to)
        sys.stderr.write(f"wrote {model_to}: {len(found.model.examples)} examples\n")
    if plot is not None:
        draw(found, plot)
    if new is not None:
        rows = replace(data, paths=(new,), columns=None, drop_columns=None)  # the model knows its columns
        answer(found.model, rows.one_file("--new"), rows_to, explain=explain, as_json=as_json)
    else:
        report = neighbors_report.Report(found, left_out)
        report.show_json() if as_json else report.show()


### what was asked for


def places(to: Path | None) -> tuple[Path | None, Path | None]:
    """Where the model is to be written, or the predictions, by the ending of a name."""
    if to is None:
        return None, None
    from bayeslearn import codec, files

    files.destination(to)
    if to.name.lower().endswith((".csv", ".parquet")):
        return None, to
    codec.require_model_name(to)
    return to, None


def number(text: str) -> Any:
    """How many neighbors: a number, auto or all."""
    if text in {"auto", "all"}:
        return text
    from bayeslearn import validation

    return validation.positive_count("--k", text, ("auto", "all"))


def learned(
    given: Given, target: str, left_out: dict[str, str], sample_weight: str | None, **how: Any
) -> NeighborsFitInfo:
    """The examples, without columns that are not wanted or cannot be used."""
    from bayeslearn.neighbors import fit_neighbors
    from bayeslearn.tables.schema import require_known

    known, data = given.names, given.settled()
    require_known([target, *([sample_weight] if sample_weight else [])], known)
    columns = given.columns([n for n in known if n not in left_out and n not in {target, sample_weight}], data)
    left_out |= given.left_out
    with progress.bar("leaving one out") as tell:

        def step(number: int, name: str, loss: float) -> None:
            tell((number + 1) / 10, f"round {number + 1}, {name}, loss {loss:.5g}")

        return fit_neighbors(
            data,
            target,
            columns=columns,
            unlabeled="drop",
            left_out=left_out,
            sample_weight=given.sample_weight,
            progress=step,
            **how,
        )


def draw(found: NeighborsFitInfo, path: Path) -> None:
    """Cells where there are two columns of numbers, else the error by k."""
    from bayeslearn import plots
    from bayeslearn.neighbors import leave_one_out
    from bayeslearn.neighbors.plotting import plane

    if plane(found.model) is not None:
        figure = plots.plot_voronoi(found.model)
    else:
        figure = plots.plot_error_by_k(found.left_out or leave_one_out(found.model), found.model.target.name)
    plots.save(figure, path)
    sys.stderr.write(f"wrote {path}\n")


### new rows


def answer(model: NeighborsModel, given: Given, to: Path | None, *, explain: bool, as_json: bool) -> None:
    """What is predicted of every row of a file."""
    from bayeslearn.cli import output
    from bayeslearn.neighbors.inputs import new_rows

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
        writing.write(to, schema, iter([table]))
    if to is not None:
        sys.stderr.write(f"wrote {to}: {len(rows)} rows, {len(schema)} columns\n")
