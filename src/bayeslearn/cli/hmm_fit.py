"""``bayeslearn fit hmm``: a hidden Markov model of the sequences in a file."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated, Any

import typer

from bayeslearn.cli import checkpoint_options, interrupt, output, plot_files, progress
from bayeslearn.cli.checkpoint_options import Checkpoint, Every, Resume  # noqa: TC001 - typer reads the annotations
from bayeslearn.cli.data_options import Data, column_list, reads
from bayeslearn.cli.structure_options import names
from bayeslearn.errors import ParameterError

Id = Annotated[str | None, typer.Option("--id", help="Column with the sequence of each row.")]


@reads(without=("columns",))
def run(
    data: Annotated[
        Data,
        typer.Argument(
            help="CSV or Parquet files, or patterns, rows in order and each sequence in one file; ?, empty and NaN are "
            "missing."
        ),
    ],
    *,
    to: Annotated[Path, typer.Option("-o", "--output", help="Model file to write, .json or .json.gz.")],
    n_states: Annotated[str | None, typer.Option(help="Number of states, or their names: A,B,C.")] = None,
    emissions: Annotated[
        str,
        typer.Option(
            help="Distribution of the observations: categorical, words (unknown ones by their ending), gaussian, "
            "poisson, ..., or product (columns of several kinds); auto chooses by the values."
        ),
    ] = "auto",
    covariance_type: Annotated[
        str, typer.Option(help="Covariances of Gaussian emissions: diag (independent columns) or full.")
    ] = "diag",
    n_mixtures: Annotated[int, typer.Option(help="Number of parts of each state.")] = 1,
    topology: Annotated[
        str, typer.Option(help="Allowed transitions: ergodic (all) or left_right (to the same or the next state).")
    ] = "ergodic",
    columns: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help=r"Observed columns. Repeatable. \[default: all others]")
    ] = None,
    id_column: Id = None,
    known_states: Annotated[str | None, typer.Option(help="Column of known states, empty where unknown.")] = None,
    prior: Annotated[
        str, typer.Option(help="Prior: m:SIZE, laplace, none, ...; auto is that of --init, else m:1.")
    ] = "auto",
    init: Annotated[str | None, typer.Option(help="Model file with the initial values.")] = None,
    freeze: Annotated[
        str | None, typer.Option(help="Parts of --init that do not change: startprob, transmat, emissions.")
    ] = None,
    n_init: Annotated[int, typer.Option(help="Number of initializations; the best result is kept.")] = 5,
    tol: Annotated[float, typer.Option(help="Gain in log-likelihood, in nats, at which EM has converged.")] = 1e-4,
    max_iter: Annotated[int, typer.Option(help="Maximum number of iterations.")] = 500,
    checkpoint: Checkpoint = None,
    checkpoint_every: Every = 5,
    resume: Resume = False,
    seed: Annotated[int, typer.Option(help="Seed of the initializations.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Plot of the states to write, .svg or .png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Fit a hidden Markov model by Baum-Welch: hidden states, transitions and emissions.

    Example: bayeslearn fit hmm ecg.csv --n-states 3 --id patient -o ecg.json
    """
    from bayeslearn import files, validation
    from bayeslearn.codec import require_model_name
    from bayeslearn.hmm import HiddenMarkovModel, fit_hmm

    require_model_name(to)
    files.destination(to)
    if plot is not None:
        plot_files.check(plot)
    checkpoint_options.check(checkpoint, checkpoint_every, resume=resume)
    if data.kind == "memory":
        data.one_file("--engine memory")
    first = checkpoint if resume and checkpoint is not None and checkpoint.exists() else init
    begin = None if first is None else HiddenMarkovModel.load(first)
    options: dict[str, Any] = {
        "emissions": emissions, "covariance_type": covariance_type, "n_mixtures": n_mixtures, "topology": topology,
        "id": id_column, "known_states": known_states, "prior": prior, "init": begin, "freeze": names(freeze),
        "n_init": n_init, "tol": tol, "max_iter": max_iter, "checkpoint": checkpoint,
        "checkpoint_every": checkpoint_every, "random_state": validation.integer("--seed", seed, min_value=0),
    }  # fmt: skip
    with (
        data.opened() as given,
        interrupt.once("the best model so far") as stop,
        progress.bar("fitting", passes=data.passes) as tell,
    ):
        given.refuse("--plot", plot, "draws the rows")
        observed = chosen(given.names, columns, id_column, known_states) if begin is None else None
        model = fit_hmm(
            given.data, state_names(n_states), columns=observed, progress=progress.following(tell, stop), **options
        )
    model.save(to)
    if as_json:
        output.show_json(model.fit_info.to_dict())
    else:
        sys.stdout.write(model.fit_info.summary() + "\n")
    sys.stderr.write(f"wrote {to}: {model.n_states} states, {model.emissions.label} emissions\n")
    if plot is not None:
        from bayeslearn import plots

        plots.save(plots.plot_states(model.decode(given.data, id=id_column)), plot)
        sys.stderr.write(f"wrote {plot}\n")


def state_names(n_states: str | None) -> int | list[str] | None:
    """A number of states, or their names."""
    if n_states is None:
        return None
    from bayeslearn import validation

    return validation.count_or_names("--n-states", n_states)


def chosen(there: list[str], columns: list[str] | None, id_column: str | None, known_states: str | None) -> list[str]:
    """The observed columns: those that are named, or all others."""
    from bayeslearn.tables.schema import require_known

    asked = column_list(columns or [], there)
    require_known([*asked, *(name for name in (id_column, known_states) if name)], there)
    found = list(asked) or [name for name in there if name not in {id_column, known_states}]
    if not found:
        raise ParameterError("there is no observed column", hint="name the observed columns: --columns A,B")
    return found
