"""``bayeslearn show`` and ``bayeslearn plot``: what is in a model, as text and as a plot."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from bayeslearn.cli import output, plot_files, table_models
from bayeslearn.cli.data_options import Data, Model, reads
from bayeslearn.errors import ParameterError


def run(
    model_file: Model,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object instead of text.")] = False,
) -> None:
    """Show a model: its kind, columns, settings and parameters.

    Example: bayeslearn show nb.json
    """
    from bayeslearn import load

    model = load(model_file)
    if as_json:
        output.show_json(model.to_dict())
    else:
        sys.stdout.write(f"{model.summary()}\n")


@reads(unseen=True)
def plot(
    model_file: Model,
    data: Annotated[
        Data | None,
        typer.Argument(metavar="[DATA]", help="CSV or Parquet file, for models that are plotted with rows."),
    ] = None,
    *,
    to: plot_files.Output,
    level: Annotated[float | None, typer.Option(help=r"Level of the intervals. \[default: 0.95]")] = None,
    max_results: Annotated[int | None, typer.Option(help="Number of values per class.")] = None,
    id_column: table_models.Id = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object that names the file.")] = False,
) -> None:
    """Plot a model, with rows of data where its kind needs them.

    Example: bayeslearn plot mpg.json new-cars.csv -o mpg.svg
    """
    from bayeslearn import load, plots

    plot_files.check(to)
    model = load(model_file)
    options = {"level": level, "max_results": max_results, "id": id_column}
    if data is None:
        require_no_data(model)
        found = table_models.ask(model, "plot", **options)
    else:
        with data.opened() as given:
            given.refuse("plot", data, "draws the rows")
            found = table_models.ask(model, "plot", data=given.settled(), **options)
    plots.save(found, to)
    plot_files.written(to, as_json=as_json)


def require_no_data(model: Any) -> None:
    """Refuse to plot without rows a model whose plot shows some."""
    import inspect

    parameter = inspect.signature(model.plot).parameters.get("data")
    if parameter is not None and parameter.default is inspect.Parameter.empty:
        raise ParameterError(
            f"a plot of a model of the kind {model.file_kind!r} shows rows, and no data are given",
            hint="bayeslearn plot MODEL DATA -o FILE",
        )
