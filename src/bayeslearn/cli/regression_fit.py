"""``bayeslearn fit regression``: a column as a function of the others."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated, Any

import typer

from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.structure_options import names
from bayeslearn.errors import ParameterError

METHODS = ("linear", "logistic", "rbf", "local")


@reads()
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns.")],
    *,
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict, or A,B.")],
    method: Annotated[
        str,
        typer.Option(help="linear (least squares), logistic (classes), rbf (radial units) or local (around each row)."),
    ] = "linear",
    to: Annotated[Path | None, typer.Option("-o", "--output", help="Model to write, .json or .json.gz.")] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="auto (reference if the rows determine every coefficient, else weak), reference, weak, none, "
            "evidence, m:SIZE, pooled:SIZE, or an equivalent sample size (ridge); with logistic a precision."
        ),
    ] = None,
    features: Annotated[
        str,
        typer.Option(help="With logistic: columns, or columns_and_bins (indicators of quantile bins next to numbers)."),
    ] = "columns",
    n_bins: Annotated[int, typer.Option(help="Bins of a numeric column, with columns_and_bins.")] = 5,
    discrete: Annotated[str | None, typer.Option(help="Numeric columns that hold categories, A,B.")] = None,
    sample_weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals of coefficients.")] = 0.95,
    n_units: Annotated[str, typer.Option(help="Number of radial units, or auto (marginal likelihood).")] = "auto",
    centers: Annotated[
        str, typer.Option(help="Centers of radial units: k-means, em, random, farthest, evidence or all.")
    ] = "k-means",
    width: Annotated[str, typer.Option(help="Width of radial units: auto, nearest, or standard deviations.")] = "auto",
    degree: Annotated[str, typer.Option(help="Degree of local fits: 0, 1, 2 or auto.")] = "1",
    locality: Annotated[
        str, typer.Option(help="Rows of local fits: neighbors, kernel or kernel_neighbors.")
    ] = "kernel_neighbors",
    n_neighbors: Annotated[str, typer.Option(help="Number of neighbors of local fits, or auto.")] = "auto",
    kernel: Annotated[
        str, typer.Option(help="Kernel of local fits: tricube, gaussian, epanechnikov, inverse_square or uniform.")
    ] = "tricube",
    bandwidth: Annotated[str | None, typer.Option(help="Bandwidth of local fits: a number, or auto.")] = None,
    max_states: Annotated[int, typer.Option(help="Text columns with more states are dropped.")] = 255,
    seed: Annotated[int, typer.Option(help="Seed for the centers of radial units and samples of rows.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Plot file of the function, .png, .svg or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object instead of a report.")] = False,
) -> None:
    """Fit a regression or a classification by least squares, logistic units, radial units or local models.

    Categories become indicators, missing values the mean of their column. The report has the coefficients, largest
    effects first, and the error on rows that the fit has not seen.

    Example: bayeslearn fit regression cars.csv --target mpg -o mpg.json
    """
    from bayeslearn import validation
    from bayeslearn.cli import output, regression_methods

    validation.number("--level", level, above=0, below=1)
    method = validation.choice("--method", method, METHODS)
    check_files(to, plot)
    dropped = data.dropped(sample_weight, *names(target))
    asked = regression_methods.Asked(
        method, tuple(names(target)), prior, tuple(names(discrete)), sample_weight,
        whole_or_auto("--n-units", n_units), centers, number_or("--width", width, ["auto", "nearest"]),
        number_or("--degree", degree, ["auto"]), locality, whole_or_auto("--n-neighbors", n_neighbors), kernel,
        None if bandwidth is None else number_or("--bandwidth", bandwidth, ["auto"]),
        validation.integer("--max-states", max_states, min_value=1), validation.integer("--seed", seed, min_value=0),
        validation.choice("--features", features, ["columns", "columns_and_bins"]),
        validation.integer("--n-bins", n_bins, min_value=2),
    )  # fmt: skip
    opened = data.opened if method == "linear" else partial(data.in_memory, f"--method {method}")
    with opened(sample_weight=sample_weight, max_states=max_states) as given:
        given.refuse("--plot", plot, "draws the rows")
        model, rows = regression_methods.fitted(given, asked, dropped, data.passes)
        if to is not None:
            model.save(to)
        if as_json:
            output.show_json(model.fit_info.to_dict(level=level))
        else:
            sys.stdout.write(f"{model.fit_info.report(level=level).text()}\n")
        if plot is not None:
            from bayeslearn import plots

            plots.save(plots.plot_regression(model, rows, level=level), plot)
    if to is not None:
        sys.stderr.write(f"wrote {to}: {', '.join(asked.target)} by {method}\n")


def check_files(to: Path | None, plot: Path | None) -> None:
    """Refuse what cannot be written before the fit."""
    from bayeslearn import files
    from bayeslearn.codec import require_model_name

    if to is not None:
        require_model_name(to)
        files.destination(to)
    if plot is not None:
        files.destination(plot)


def whole_or_auto(option: str, text: str) -> Any:
    """A whole number, or auto."""
    if text == "auto":
        return text
    from bayeslearn import validation

    return validation.positive_count(option, text, ("auto",))


def number_or(option: str, text: str, words: list[str]) -> Any:
    """A number, or one of some words."""
    if text in words:
        return text
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"{option} is a number or {' or '.join(words)}, got {text!r}") from None
    return int(value) if value.is_integer() and "." not in text and abs(value) < 2**53 else value
