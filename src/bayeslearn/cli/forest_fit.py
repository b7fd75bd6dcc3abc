"""``bayeslearn fit forest``: a Bayesian forest, with its predictions out of bag."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, plot_files
from bayeslearn.cli.data_options import Data, reads

if TYPE_CHECKING:
    from bayeslearn.cli.input_data import Given
    from bayeslearn.trees import BayesianForestModel


@reads("engine", "on_error", "table")
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns.")],
    *,
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.")],
    n_estimators: Annotated[int, typer.Option(help="Number of trees.")] = 100,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="Model to write, .model, .json or .json.gz.")
    ] = None,
    max_features: Annotated[
        str, typer.Option(help="Columns tried at each split: auto, sqrt, all, a number, or a share below 1.")
    ] = "auto",
    max_depth: Annotated[int | None, typer.Option(help="Greatest depth of a tree; default: no limit.")] = None,
    min_samples_leaf: Annotated[float, typer.Option(help="Least weight of sampled rows in a leaf.")] = 1,
    max_bins: Annotated[int, typer.Option(help="Bins of a numeric column, at most 255.")] = 255,
    split_probability: Annotated[float, typer.Option(help="Prior probability that a node is split.")] = 0.5,
    equivalent_sample_size: Annotated[
        float, typer.Option(help="Weight of the parent's prediction as the prior of a node's.")
    ] = 0.5,
    calibrate: Annotated[bool, typer.Option(help="Sharpen probabilities, or scale intervals, out of bag.")] = True,
    task: Annotated[str, typer.Option(help="classification, regression, or auto: by the target column.")] = "auto",
    sample_weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random numbers.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot file of the importances, .png or .svg.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object instead of a report.")] = False,
) -> None:
    """Fit a Bayesian forest: randomized trees, averaged over all prunings, for classes or numbers.

    The report has the score of the predictions out of bag, and the importance of every column.

    Example: bayeslearn fit forest iris.csv --target class -o iris.model
    """
    if to is not None:
        from bayeslearn import codec, files

        codec.require_model_name(to)
        files.destination(to)
    if plot is not None:
        plot_files.check(plot)
    dropped = data.dropped(target, sample_weight)
    with data.in_memory("fitting a forest", sample_weight=sample_weight) as given:
        model = fitted(
            given, target, dropped, sample_weight, task, n_estimators=n_estimators, max_features=columns(max_features),
            max_depth=max_depth, min_samples_leaf=min_samples_leaf, max_bins=max_bins,
            split_probability=split_probability, equivalent_sample_size=equivalent_sample_size, calibrate=calibrate,
            random_state=seed,
        )  # fmt: skip
    if to is not None:
        model.save(to)
        sys.stderr.write(f"wrote {to}: {model.n_trees} trees\n")
    if plot is not None:
        from bayeslearn import plots

        plots.save(model.plot(), plot)
        sys.stderr.write(f"wrote {plot}\n")
    if as_json:
        output.show_json(model.fit_info.to_dict())
    else:
        sys.stdout.write(f"{model.fit_info.summary()}\n")


def columns(text: str) -> Any:
    """A word, a number of columns, or a share of them."""
    from bayeslearn.errors import ParameterError

    if text.isalpha():
        return text
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise ParameterError(
            f"--max-features is {text!r}", hint="use auto, sqrt, all, a number of columns, or a share below 1"
        ) from None


def fitted(
    given: Given, target: str, dropped: dict[str, str], sample_weight: str | None, task: str, **settings: Any
) -> BayesianForestModel:
    """The model of the rows, without columns that are not wanted or cannot be used."""
    from bayeslearn.cli.neighbors_fit import training_rows
    from bayeslearn.progress import shown
    from bayeslearn.trees import fit

    rows, variable, targets, gone = training_rows(given, target, dropped, sample_weight, task)
    with shown("Fitting a Bayesian forest") as progress:
        return fit.fitted(rows, variable, targets, dropped=gone, progress=progress, **settings)
