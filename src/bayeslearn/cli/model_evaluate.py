"""``bayeslearn evaluate``: how well a model predicts rows whose target is known, and its learner out of fold."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated, Any

import typer

from bayeslearn.cli import output, plot_files, progress, table_models
from bayeslearn.cli.data_options import Data, Model, reads
from bayeslearn.errors import DataError, ParameterError, listed


@reads(unseen=True)
def run(
    model_file: Model,
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns, with the target.")],
    *,
    target: Annotated[
        str | None, typer.Option(help="Variable to predict, for models that predict any: networks.")
    ] = None,
    sample_weight: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    true_states: Annotated[
        str | None, typer.Option(help="Column of the true states, for hidden Markov models.")
    ] = None,
    id_column: table_models.Id = None,
    level: Annotated[float, typer.Option(help="Level of the intervals of numbers.")] = 0.95,
    cv: Annotated[
        int, typer.Option(help="Cross-validation with this many folds of the learner; 0: evaluate the model.")
    ] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Plot of the confusion matrix to write, .svg, .png or .pdf.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object instead of text.")] = False,
) -> None:
    """Evaluate predictions on rows with a known target.

    Of classes: accuracy, log loss, Brier score, calibration and confusion. Of numbers: RMSE, mean absolute error, R²
    and the coverage of the intervals. With --cv the learner is evaluated: the settings of the model, fitted to the rows
    of the other folds; of mixtures and hidden Markov models without --true-states by the log-likelihood.

    Example: bayeslearn evaluate nb.json titanic.csv --cv 10
    """
    from bayeslearn import load, validation
    from bayeslearn.model_evaluation import targets_of

    if plot is not None:
        plot_files.check(plot)
    validation.number("--level", level, above=0, below=1)
    validation.integer("--cv", cv, min_value=0)
    model = load(model_file)
    if hasattr(model, "decode"):
        with data.opened() as given, progress.bar("evaluating", passes=data.passes) as tell:
            if cv:
                found = cross_validated(
                    model, given, (), tell, cv=cv, random_state=seed, id=id_column, true_states=true_states
                )
            else:
                found = of_states(model, given, true_states, id_column)
        output.show_json(found.to_dict()) if as_json else sys.stdout.write(f"{found.summary()}\n")
        save_plot(found, plot)
        return
    if true_states is not None or id_column is not None:
        raise ParameterError("--true-states and --id are for hidden Markov models", hint="leave them out")
    targets = targets_of(model, target)
    with data.opened(sample_weight=sample_weight) as given, progress.bar("evaluating", passes=data.passes) as tell:
        lacking = [v.name for v in targets if v.name not in given.names]
        if lacking or not (targets or cv):
            what = f"{given.path} has no column {listed(lacking)}" if lacking else "the model predicts no column"
            raise DataError(
                f"{what}, so that predictions cannot be evaluated",
                hint="name a file with the observed targets, or the target: --target COLUMN",
            )
        if cv:
            found = cross_validated(model, given, targets, tell, cv=cv, random_state=seed, level=level)
        else:
            found = evaluated(model, given, targets, level, tell)
    if as_json:
        output.show_json(found.to_dict())
    else:
        sys.stdout.write(f"{found.summary()}\n")
    save_plot(found, plot)


def of_states(model: Any, given: Any, true_states: str | None, id_column: str | None) -> Any:
    """The metrics of the states of a hidden Markov model."""
    if true_states is None:
        raise ParameterError("the column of the true states is not given", hint="--true-states COLUMN")
    return model.evaluate(given.settled(), true_states=true_states, id=id_column)


def evaluated(model: Any, given: Any, targets: tuple[Any, ...], level: float, tell: Any) -> Any:
    """The metrics, batch by batch."""
    from bayeslearn.model_evaluation import Evaluation, metrics_of_rows

    rows, parts = table_models.batches(model, given, targets)
    total, done = None, 0
    for batch, truth in parts:
        found = Evaluation(metrics_of_rows(model, batch, truth, targets, level))
        total, done = found if total is None else total + found, done + batch.n_rows
        tell(done / max(rows.n_rows, 1))
    if total is None:
        raise DataError("there are no rows to evaluate predictions on", hint="name a file with labeled rows")
    return total.alone()


def cross_validated(model: Any, given: Any, targets: tuple[Any, ...], tell: Any, **options: Any) -> Any:
    """The cross-validation of the learner of a model."""
    from bayeslearn.model_comparison import cross_validate

    target = targets[0].name if takes_target(model) else None
    return cross_validate(
        model, given.settled(), target=target, sample_weight=given.sample_weight,
        progress=lambda now: tell(now.fraction), **options,
    )  # fmt: skip


def takes_target(model: Any) -> bool:
    """Whether the variable to predict has to be named."""
    from bayeslearn import model_evaluation

    return model_evaluation.takes_target(model)


def save_plot(found: Any, path: Path | None) -> None:
    """Write the plot of an evaluation, if it is asked for and there is one."""
    from bayeslearn import plots

    if path is None:
        return
    if not hasattr(found, "plot"):
        raise ParameterError("--plot is the confusion matrix of classes", hint="leave it out")
    plots.save(found.plot(), path)
    plot_files.written(path)
