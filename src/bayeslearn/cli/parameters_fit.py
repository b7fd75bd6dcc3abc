"""``bayeslearn fit parameters``: the CPTs of a network with a given structure, fitted to data."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import checkpoint_options, interrupt, output, progress
from bayeslearn.cli.checkpoint_options import Checkpoint, Every, Resume  # noqa: TC001 - typer reads the annotations
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.network_files import hidden_variables, keep, load
from bayeslearn.errors import MissingValuesError, UnknownColumnError, listed

if TYPE_CHECKING:
    from bayeslearn.network import DAG, BayesianNetwork


@reads(unseen=True, adds=True)
def run(
    net: Annotated[
        str,
        typer.Argument(
            metavar="STRUCTURE",
            help=r"A network file of any format, a shipped network, or a graph like '\[A]\[B|A]', whose states are "
            "those of the data.",
        ),
    ],
    data: Annotated[
        Data, typer.Argument(help="CSV or Parquet files, or patterns; ?, empty and NaN are missing values.")
    ],
    *,
    to: Annotated[
        Path, typer.Option("-o", "--output", help="The model to write; .json and .model keep counts and prior.")
    ],
    prior: Annotated[
        str,
        typer.Option(
            help="Prior of the CPTs: auto (that of STRUCTURE, else bdeu:1), none, laplace, k2, jeffreys, bdeu:N or m:N."
        ),
    ] = "auto",
    hidden: Annotated[
        list[str] | None, typer.Option(help="VAR:N or VAR:STATE,STATE,...: a variable that no column shows.")
    ] = None,
    numeric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND|COL=KIND",
            help="Numeric columns: discretize, gaussian (linear Gaussian nodes) or log_normal, for all columns or one. "
            r"Repeatable. \[default: discretize]",
        ),
    ] = None,
    algorithm: Annotated[str, typer.Option(help="Algorithm with missing values: em, gradient or lbfgs.")] = "em",
    init: Annotated[str, typer.Option(help="Initial probabilities: prior or random.")] = "prior",
    n_init: Annotated[int, typer.Option(help="Number of initializations; the best result is kept.")] = 1,
    tol: Annotated[float, typer.Option(help="Gain of an iteration, in nats, at which the fit has converged.")] = 1e-4,
    max_iter: Annotated[int, typer.Option(help="Maximum number of iterations.")] = 200,
    sample_weight: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    frozen: Annotated[list[str] | None, typer.Option(help="A variable whose CPT stays as in STRUCTURE.")] = None,
    extra_columns: Annotated[
        str | None,
        typer.Option(
            metavar="error|ignore",
            help="Columns that STRUCTURE does not have: an error, or dropped. "
            r"\[default: error for a graph, dropped with a note for a network]",
        ),
    ] = None,
    checkpoint: Checkpoint = None,
    every: Every = 5,
    resume: Resume = False,
    seed: Annotated[int, typer.Option(help="Seed of random initializations.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    r"""Fit the parameters of a network of known structure: by counting, or by EM with missing values.

    Ctrl-C ends the fit with the parameters so far.

    Example: bayeslearn fit parameters '\[smoke]\[lung|smoke]' smokers.csv -o m.json
    """
    from bayeslearn import files, validation
    from bayeslearn.network import fit_parameters
    from bayeslearn.network.formats.read_write import label_of

    _check(n_init, tol, max_iter, seed)
    checkpoint_options.check(checkpoint, every, resume=resume)
    label_of(to, None)
    files.destination(to)
    structure = graph_or_network(net)
    if extra_columns is not None:
        extra_columns = validation.choice("--extra-columns", extra_columns, ["error", "ignore"])
    settings: dict[str, Any] = {
        "prior": prior, "numeric": numeric_kinds(numeric), "hidden": hidden_variables(hidden),
        "frozen": frozen or (), "algorithm": algorithm, "init": init, "n_init": n_init, "tol": tol,
        "max_iter": max_iter, "checkpoint": checkpoint, "checkpoint_every": every, "resume": resume,
        "random_state": seed,
    }  # fmt: skip
    with (
        data.opened(sample_weight=sample_weight) as given,
        interrupt.once("the parameters so far") as stop,
        progress.bar("fitting", passes=data.passes) as tell,
    ):
        if extra_columns != "ignore":
            check_columns(structure, given.names, data, sample_weight, extra_columns)
        try:
            network = fit_parameters(
                structure, given.settled(), **settings, sample_weight=given.sample_weight,
                progress=progress.following(tell, stop),
            )  # fmt: skip
        except MissingValuesError as error:
            raise never_observed(error) from None
    keep(network, to)
    if as_json:
        output.show_json(network.fit_info.to_dict())
    else:
        sys.stdout.write(network.fit_info.summary() + "\n")


### what was asked for


def numeric_kinds(given: list[str] | None) -> str | dict[str, str]:
    """How numeric columns are modeled: one word for all, or COL=KIND for each; the last word for all counts."""
    pairs = [item.rpartition("=") for item in given or []]
    named = {name: kind for name, sign, kind in pairs if sign}
    usual = [kind for _, sign, kind in pairs if not sign]
    return named or (usual[-1] if usual else "discretize")


def _check(n_init: int, tol: float, max_iter: int, seed: int) -> None:
    from bayeslearn import validation

    validation.integer("--n-init", n_init, min_value=1)
    validation.number("--tol", tol, min_value=0)
    validation.integer("--max-iter", max_iter, min_value=1)
    validation.integer("--seed", seed, min_value=0)


def graph_or_network(net: str) -> BayesianNetwork | DAG:
    """A graph when it is written as one, else a network from a file."""
    from bayeslearn.network import DAG

    return DAG.parse(net) if net.lstrip().startswith("[") else load(net)


def check_columns(
    structure: BayesianNetwork | DAG, names: list[str], data: Data, sample_weight: str | None, extra: str | None
) -> None:
    """Name columns that the structure lacks: an error for a graph, which may be misspelled, a note for a network."""
    from bayeslearn.network import DAG

    odd = [name for name in names if name not in structure and name != sample_weight]
    if not odd:
        return
    if extra is None and not isinstance(structure, DAG):
        sys.stderr.write(f"note: dropped columns that the network does not have: {listed(odd)}\n")
        return
    raise UnknownColumnError(
        f"{data} has columns that the structure lacks: {listed(odd)}",
        hint="drop them with --extra-columns ignore",
        columns=odd,
    )


def never_observed(error: MissingValuesError) -> MissingValuesError:
    """The error for a variable without a value, with a hint for the command line."""
    name = error.details.get("column") or error.details["columns"][0]
    hint = f"declare it hidden, with its states or their number: --hidden {name}:2"
    return MissingValuesError(error.message, hint=hint, **error.details)
