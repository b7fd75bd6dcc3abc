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

METHODS = ("ols", "local", "rbf", "sigmoid")


@reads()
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; ?, empty and NaN are missing.")],
    *,
    target: Annotated[str, typer.Option("--target", "-t", help="The column to learn, or A,B.")],
    method: Annotated[
        str, typer.Option(help="ols: least squares; local: around each query; rbf: radial units; sigmoid: classes.")
    ] = "ols",
    to: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The model to write, .json or .json.gz."),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="auto (reference where the rows determine every weight, else weak), reference, weak, none, evidence, "
            "m:ROWS, pooled:ROWS, or a number of rows (ridge); of sigmoid: a precision."
        ),
    ] = None,
    discrete: Annotated[str | None, typer.Option(help="A,B: columns whose numbers are names.")] = None,
    sample_weight: Annotated[str | None, typer.Option(help="The column that says how often each row counts.")] = None,
    level: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    units: Annotated[str, typer.Option("-k", help="Radial units, or neighbors of local; auto: found.")] = "auto",
    centers: Annotated[
        str, typer.Option(help="Of radial units: k-means, em, random, farthest, evidence, all.")
    ] = "k-means",
    width: Annotated[str, typer.Option(help="Of radial units: auto, nearest, or standard deviations.")] = "auto",
    degree: Annotated[str, typer.Option(help="Of local fits: 0, 1, 2 or auto.")] = "1",
    criterion: Annotated[str, typer.Option(help="Of local fits: E1, E2 or E3.")] = "E3",
    kernel: Annotated[
        str, typer.Option(help="Of local fits: tricube, gaussian, epanechnikov, inverse_square, uniform.")
    ] = "tricube",
    bandwidth: Annotated[str | None, typer.Option(help="Of local fits: a number, or auto.")] = None,
    max_states: Annotated[int, typer.Option(help="Columns of words with more states are left out.")] = 255,
    seed: Annotated[int, typer.Option(help="Of centers.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the function into this file, .png, .svg or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Fit a column as a function of the others, with intervals.

    Words become indicators, a missing cell the mean of its column. The error is that of rows left out, in closed form,
    or of rows held out where that is undefined. The largest weights come first, by weight times standard deviation.

    Example: bayeslearn fit regression cars.csv --target mpg -o mpg.json
    """
    from bayeslearn import validation
    from bayeslearn.cli import regression_methods, regression_report

    validation.number("--level", level, above=0, below=1)
    method = validation.choice("--method", method, METHODS)
    check_files(to, plot)
    dropped = tuple(data.dropped(sample_weight, *names(target)))
    asked = regression_methods.Asked(
        method, tuple(names(target)), prior, dropped, tuple(names(discrete)), sample_weight, level,
        whole_or_auto("-k", units), centers, number_or("--width", width, ["auto", "nearest"]),
        number_or("--degree", degree, ["auto"]), criterion, kernel,
        None if bandwidth is None else number_or("--bandwidth", bandwidth, ["auto"]),
        validation.integer("--max-states", max_states, min_value=1), validation.integer("--seed", seed, min_value=0),
    )  # fmt: skip
    opened = data.opened if method == "ols" else partial(data.in_memory, f"--method {method}")
    with opened(sample_weight=sample_weight, max_states=max_states) as given:
        given.refuse("--plot", plot, "draws the rows")
        found = regression_methods.learn(given, asked, data.passes)
        if to is not None:
            found.model.save(to)
        (regression_report.show_json if as_json else regression_report.show)(found)
        if plot is not None:
            from bayeslearn import plots

            plots.save(plots.plot_regression(found.model, found.rows, level=level), plot)
    if to is not None:
        sys.stderr.write(f"wrote {to}: {', '.join(asked.target)} by {method}\n")


def check_files(to: Path | None, plot: Path | None) -> None:
    """Refuse what cannot be written before anything is learned."""
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
