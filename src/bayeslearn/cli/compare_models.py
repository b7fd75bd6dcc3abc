"""``bayeslearn compare-models``: lazy versus eager learners on one table."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import interrupt, output, plot_files, progress
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.structure_options import names

if TYPE_CHECKING:
    from bayeslearn.model_comparison import ModelComparison


@reads("engine", "on_error", "table")
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns.")],
    *,
    target: Annotated[str, typer.Option(help="Column to predict.")],
    task: Annotated[str, typer.Option(help="classification, regression or auto.")] = "auto",
    cv: Annotated[int, typer.Option(help="Number of folds.")] = 10,
    learners: Annotated[
        list[str] | None,
        typer.Option(help="A,B: learners by name, or classes such as RandomForestClassifier or sklearn.svm.SVC."),
    ] = None,
    sample_weight: Annotated[str | None, typer.Option(help="Column of the weights of rows.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds per learner, checked after each fold.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds and of stochastic learners.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Plot the error by time to FILE.svg or .png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Compare lazy and eager learners on the same rows: error, time and memory, by cross-validation.

    Each learner is compared with the best one; the baseline ignores all columns. Learners for classification: k-nn,
    k-nn-loo, rbf, logistic, naive-bayes, network; for regression: k-nn, k-nn-loo, local, rbf, least-squares. By
    name only: aode, forest, bayes-optimal. Ctrl-C ends the comparison with the learners that are done.

    Example: bayeslearn compare-models iris.csv --target class --plot iris.svg
    """
    from bayeslearn import validation

    if plot is not None:
        plot_files.check(plot)
    with data.in_memory("a comparison", sample_weight=sample_weight) as given:
        found = held(
            given.settled(), target, learners=names(",".join(learners or [])) or None, cv=cv, task=task,
            sample_weight=given.sample_weight,
            random_state=validation.integer("--seed", seed, min_value=0), time_limit=time_limit,
        )  # fmt: skip
    found.dropped_columns.update(data.dropped(target, sample_weight))
    if plot is not None:
        from bayeslearn import plots

        plots.save(plots.plot_model_comparison(found), plot)
        sys.stderr.write(f"wrote {plot}\n")
    if as_json:
        output.show_json(found.to_dict())
    else:
        sys.stdout.write(f"{found}\n")


def held(data: Any, target: str, **how: Any) -> ModelComparison:
    """The comparison, with a progress bar."""
    from bayeslearn.model_comparison import compare_models

    with interrupt.once("the learners that are done") as stop, progress.bar("Comparing models") as tell:
        return compare_models(data, target, progress=progress.following(tell, stop), **how)
