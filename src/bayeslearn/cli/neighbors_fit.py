"""``bayeslearn fit neighbors``: rows that are their own model, and how well they predict each other."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import neighbors_report, plot_files, progress, text_options
from bayeslearn.cli.data_options import Data, reads

if TYPE_CHECKING:
    from bayeslearn.cli.input_data import Given
    from bayeslearn.neighbors.fit import NeighborsFitInfo


@reads("engine", "on_error", "table")
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files of examples, or patterns.")],
    *,
    target: Annotated[str, typer.Option(help="The column to predict.")],
    k: Annotated[
        str, typer.Option("-k", "--k", help="How many are heard: a number, auto (leave-one-out) or all.")
    ] = "auto",
    to: Annotated[Path | None, typer.Option("-o", "--output", help="The model to write, .json or .json.gz.")] = None,
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
    plot: Annotated[
        Path | None, typer.Option(help="Draw cells over two columns of numbers, else the error by k; .svg or .png.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Keep examples to predict by the nearest of them; rows may hold numbers, words and missing values.

    Every example is predicted by the others: the report has the error of each k, the weights of the attributes, and
    the rows that the others contradict most.

    Example: bayeslearn fit neighbors iris.csv --target class -o iris.json
    """
    if to is not None:
        from bayeslearn import codec, files

        codec.require_model_name(to)
        files.destination(to)
    if plot is not None:
        plot_files.check(plot)
    left_out = data.dropped(target, sample_weight)
    with data.in_memory("finding neighbors", sample_weight=sample_weight) as given:
        found = learned(
            given, target, left_out, sample_weight, k=number(k), weighting=weights, metric=metric, kind=kind,
            prior=text_options.prior(prior), max_k=max_k, attributes="auto" if weigh else "remove" if select else None,
        )  # fmt: skip
    if to is not None:
        found.model.save(to)
        sys.stderr.write(f"wrote {to}: {len(found.model.examples)} examples\n")
    if plot is not None:
        draw(found, plot)
    report = neighbors_report.Report(found, left_out)
    report.show_json() if as_json else report.show()


### what was asked for


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
