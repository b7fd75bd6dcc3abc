"""``bayeslearn fit neighbors``: k-nearest neighbors, with the leave-one-out error."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, plot_files, text_options
from bayeslearn.cli.data_options import Data, reads

if TYPE_CHECKING:
    from bayeslearn.cli.input_data import Given
    from bayeslearn.neighbors import NeighborsModel
    from bayeslearn.tables import Table


@reads("engine", "on_error", "table")
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns.")],
    *,
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.")],
    n_neighbors: Annotated[
        str, typer.Option(help="Number of neighbors; auto: lowest leave-one-out error; all: every row.")
    ] = "auto",
    to: Annotated[Path | None, typer.Option("-o", "--output", help="Model to write, .json or .json.gz.")] = None,
    weights: Annotated[
        str, typer.Option(help="Weights of neighbors: uniform, or inverse_square (1/d²; exact matches count alone).")
    ] = "uniform",
    metric: Annotated[
        str,
        typer.Option(help="Unit of numeric columns: scaled (standard deviation), range, or euclidean (1)."),
    ] = "scaled",
    feature_weights: Annotated[
        str | None,
        typer.Option(help="Leave-one-out selection: auto (a weight for each feature) or select (weights 0 and 1)."),
    ] = None,
    task: Annotated[str, typer.Option(help="classification, regression, or auto: by the target column.")] = "auto",
    sample_weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    prior: Annotated[
        str, typer.Option(help="Equivalent sample size, or none, m:SIZE, laplace, k2, jeffreys, bdeu:SIZE.")
    ] = "1",
    algorithm: Annotated[str, typer.Option(help="Search index: auto, kd_tree, brute or approximate.")] = "auto",
    max_neighbors: Annotated[int, typer.Option(help="Largest number of neighbors that auto tries.")] = 50,
    calibrate: Annotated[bool, typer.Option(help="Calibrate probabilities of classes by leave-one-out.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Plot file, .png or .svg: Voronoi cells over two numeric columns, else the error curve."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object instead of a report.")] = False,
) -> None:
    """Fit k-nearest neighbors: keep the rows, and select the number of neighbors by leave-one-out.

    The report has the leave-one-out error by number of neighbors, the weights of features if they are selected, and
    the rows that their neighbors predict worst.

    Example: bayeslearn fit neighbors iris.csv --target class -o iris.json
    """
    if to is not None:
        from bayeslearn import codec, files

        codec.require_model_name(to)
        files.destination(to)
    if plot is not None:
        plot_files.check(plot)
    dropped = data.dropped(target, sample_weight)
    with data.in_memory("fitting nearest neighbors", sample_weight=sample_weight) as given:
        model = fitted(
            given, target, dropped, sample_weight, task, n_neighbors=number(n_neighbors), weights=weights,
            metric=metric, prior=text_options.prior(prior), max_neighbors=max_neighbors, algorithm=algorithm,
            calibrate=calibrate,
            feature_weights=feature_weights,
        )  # fmt: skip
    if to is not None:
        model.save(to)
        sys.stderr.write(f"wrote {to}: {len(model)} rows\n")
    if plot is not None:
        from bayeslearn import plots

        plots.save(model.plot(), plot)
        sys.stderr.write(f"wrote {plot}\n")
    if as_json:
        output.show_json(model.fit_info.to_dict())
    else:
        sys.stdout.write(f"{model.fit_info.summary()}\n")


def number(text: str) -> Any:
    """The number of neighbors, auto or all."""
    if text in {"auto", "all"}:
        return text
    from bayeslearn import validation

    return validation.positive_count("--n-neighbors", text, ("auto", "all"))


def fitted(
    given: Given, target: str, dropped: dict[str, str], sample_weight: str | None, task: str, **settings: Any
) -> NeighborsModel:
    """The model of the rows, without columns that are not wanted or cannot be used."""
    from bayeslearn.neighbors import fit

    rows, variable, targets, gone = training_rows(given, target, dropped, sample_weight, task)
    return fit.fitted(rows, variable, targets, dropped=gone, progress=True, **settings)


def training_rows(
    given: Given, target: str, dropped: dict[str, str], sample_weight: str | None, task: str
) -> tuple[Table, Any, Any, dict[str, str]]:
    """The rows, the target, its values, and the dropped columns with reasons."""
    from bayeslearn.neighbors import inputs
    from bayeslearn.tables.schema import require_known

    known, data = given.names, given.settled()
    require_known([target, *([sample_weight] if sample_weight else [])], known)
    columns = given.columns([n for n in known if n not in dropped and n not in {target, sample_weight}], data)
    dropped |= given.dropped_columns
    return inputs.labeled(
        data, target, task=task, columns=columns, sample_weight=given.sample_weight, unlabeled="drop",
        max_states=255, dropped=dropped,
    )  # fmt: skip
