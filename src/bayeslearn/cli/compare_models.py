"""``bayeslearn compare-models``: lazy against eager learners on one table."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import interrupt, output, plot_files, progress
from bayeslearn.cli.data_options import Data, reads

if TYPE_CHECKING:
    from bayeslearn.model_comparison import ComparisonProgress, ModelComparison


#: The tasks by what the target holds.
TASKS = {"classes": "classification", "numbers": "regression"}


@reads("engine", "on_error", "table")
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; ?, empty and NaN are missing.")],
    *,
    target: Annotated[str, typer.Option(help="The column to predict.")],
    kind: Annotated[
        str, typer.Option(help="Whether the target is one of classes or numbers; auto looks at it.")
    ] = "auto",
    folds: Annotated[int, typer.Option(help="Parts that the rows are held out in.")] = 10,
    learner: Annotated[
        list[str] | None,
        typer.Option(help="One of ours, or a class like RandomForestClassifier or sklearn.svm.SVC; repeat for more."),
    ] = None,
    sample_weight: Annotated[str | None, typer.Option(help="The column that says how often each row counts.")] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for each learner, looked at after each fold.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the folds, and of learners that draw.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw error by time into this file, .svg or .png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Compare lazy and eager learners on the same rows: error, time and memory, by cross-validation.

    Each is told by its time to train, its time to ask, what it keeps, and its error on rows it had not seen, beside
    the best and beside the baseline, which looks at nothing. For classes: k-nn, k-nn-loo, rbf, sigmoid, naive-bayes,
    network; for numbers: k-nn, k-nn-loo, local, rbf, least-squares. Ctrl-C once ends with those that are done.

    Example: bayeslearn compare-models iris.csv --target class --plot iris.svg
    """
    from bayeslearn import validation

    if plot is not None:
        plot_files.check(plot)
    with data.in_memory("a contest", sample_weight=sample_weight) as given:
        found = held(
            given.settled(), target, learners=learner or None, cv=folds, task=TASKS.get(kind, kind),
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
    """The contest, with a bar that follows it."""
    from bayeslearn.model_comparison import compare_models

    with interrupt.once("the learners that are done") as stop, progress.bar("learning") as tell:

        def step(now: ComparisonProgress) -> None:
            stop.heed()
            tell(now.fraction, f"{now.learner}, fold {now.fold + 1}")

        return compare_models(data, target, progress=step, **how)
