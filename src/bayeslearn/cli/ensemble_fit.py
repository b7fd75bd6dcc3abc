"""``bayeslearn fit classifier`` and ``fit regressor``: the learners of the package, weighted by what they predict."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import interrupt, output, plot_files, progress
from bayeslearn.cli.data_options import Data, reads

if TYPE_CHECKING:
    from collections.abc import Callable

Rows = Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; values may be missing.")]
To = Annotated[Path, typer.Option("-o", "--output", help="Model file to write, .json or .json.gz.")]
Members = Annotated[list[str] | None, typer.Option("--members", help="Member; repeatable. Default: all cheap ones.")]
Folds = Annotated[int | None, typer.Option("--cv", help=r"Number of inner folds. \[default: by the number of rows]")]
Weight = Annotated[str | None, typer.Option(help="Column with the weight of each row.")]
Limit = Annotated[float | None, typer.Option(help="Seconds; members that have no time left are left out.")]
Seed = Annotated[int, typer.Option(help="Seed of the folds and of stochastic members.")]
Plot = Annotated[Path | None, typer.Option(help="Plot of the weights, .svg or .png.")]
Json = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]


@reads("engine", "on_error", "table")
def classifier(
    data: Rows,
    *,
    target: Annotated[str, typer.Option("--target", "-t", help="Column of the classes.", metavar="COLUMN")],
    to: To,
    members: Members = None,
    combine: Annotated[
        str, typer.Option(help="How members are combined: log_linear, posterior, mixture or ridge.")
    ] = "log_linear",
    cv: Folds = None,
    sample_weight: Weight = None,
    time_limit: Limit = None,
    seed: Seed = 0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Fit a Bayes optimal classifier: all learners, weighted by how well they predict held-out rows.

    Example: bayeslearn fit classifier titanic.csv --target survived -o best.json
    """
    from bayeslearn.ensemble import fit_bayes_optimal

    def fit(rows: Any, **options: Any) -> Any:
        return fit_bayes_optimal(rows, target, combine=combine, **options)  # type: ignore[arg-type]

    run(fit, data, target, to, sample_weight, plot, as_json=as_json, members=members or None, cv=cv,
        time_limit=time_limit, random_state=seed)  # fmt: skip


@reads("engine", "on_error", "table")
def regressor(
    data: Rows,
    *,
    target: Annotated[str, typer.Option("--target", "-t", help="Column of the numbers.", metavar="COLUMN")],
    to: To,
    members: Members = None,
    cv: Folds = None,
    sample_weight: Weight = None,
    time_limit: Limit = None,
    seed: Seed = 0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Fit a Bayes optimal regression: all regressors, weighted by how well they predict held-out rows.

    Example: bayeslearn fit regressor cars.csv --target mpg -o mpg.json
    """
    from bayeslearn.ensemble import fit_bayes_optimal_regression

    def fit(rows: Any, **options: Any) -> Any:
        return fit_bayes_optimal_regression(rows, target, **options)

    run(fit, data, target, to, sample_weight, plot, as_json=as_json, members=members or None, cv=cv,
        time_limit=time_limit, random_state=seed)  # fmt: skip


def run(
    fit: Callable[..., Any],
    data: Data,
    target: str,
    to: Path,
    sample_weight: str | None,
    plot: Path | None,
    *,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit a model to the columns of data that can be used, write it, and report what the fit found out."""
    from bayeslearn import codec, files, validation
    from bayeslearn.tables.schema import require_known

    codec.require_model_name(to)
    files.destination(to)
    if plot is not None:
        plot_files.check(plot)
    validation.integer("--seed", options["random_state"], min_value=0)
    dropped = data.dropped(target, sample_weight)
    with (
        data.in_memory("fitting an ensemble", sample_weight=sample_weight) as given,
        interrupt.once("the members so far") as stop,
        progress.bar("fitting") as tell,
    ):
        known, rows = given.names, given.settled()
        require_known([target, *([sample_weight] if sample_weight else [])], known)
        columns = given.columns([n for n in known if n not in dropped and n not in {target, sample_weight}], rows)
        dropped |= given.dropped_columns

        def step(now: Any) -> None:
            stop.heed()
            tell(now.fraction, now.message)

        model = fit(rows, columns=columns, sample_weight=given.sample_weight, progress=step, **options)
        model.save(to)
    info = replace(model.fit_info, dropped_columns=dropped | dict(model.fit_info.dropped_columns))
    output.show_json(info.to_dict()) if as_json else print(info.summary())  # noqa: T201
    sys.stderr.write(f"Saved {to} ({len(model.members)} members, {len(model.feature_names)} columns).\n")
    if plot is not None:
        from bayeslearn import plots

        plots.save(model.plot(), plot)
        sys.stderr.write(f"Saved {plot}.\n")
