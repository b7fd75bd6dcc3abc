"""``bayeslearn fit parameters``: the tables of a network, learned from a file of cases with or without holes."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import checkpoint_options, interrupt, output, progress
from bayeslearn.cli.checkpoint_options import Checkpoint, Every, Resume  # noqa: TC001 - typer reads the annotations
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.network_files import hidden_variables, keep, load
from bayeslearn.errors import MissingValuesError, UnknownColumnError, listed

if TYPE_CHECKING:
    from bayeslearn.network import DAG, BayesianNetwork, ParameterFitInfo

#: Rows of tables that are shown, those that rest on the fewest cases first.
MOST_SHOWN = 8


@reads(unseen=True, adds=True)
def run(
    net: Annotated[
        str,
        typer.Argument(
            help=r"A network file of any format, a name that ships, or a graph like '\[A]\[B|A]', whose states are "
            "those of the data."
        ),
    ],
    data: Annotated[
        Data, typer.Argument(help="CSV or Parquet files of cases, or patterns; ?, empty and NaN are missing.")
    ],
    *,
    to: Annotated[
        Path, typer.Option("-o", "--output", help="The model to write; .json keeps the counts and the prior too.")
    ],
    prior: Annotated[
        str,
        typer.Option(
            help="Rows seen before: auto (that of NET, else bdeu:1), none, laplace, k2, jeffreys, bdeu:N or m:N."
        ),
    ] = "auto",
    hidden: Annotated[
        list[str] | None, typer.Option(help="VAR:N or VAR:STATE,STATE,...: a variable that no row shows.")
    ] = None,
    method: Annotated[str, typer.Option(help="How to climb where cells are missing: em, gradient or lbfgs.")] = "em",
    start: Annotated[str, typer.Option(help="Where the climb begins: prior or random.")] = "prior",
    restarts: Annotated[int, typer.Option(help="Starts to climb from; the best is kept.")] = 1,
    tol: Annotated[float, typer.Option(help="Stop when an iteration gains no more nats than this.")] = 1e-4,
    max_iter: Annotated[int, typer.Option(help="The most iterations of a climb.")] = 200,
    sample_weight: Annotated[str | None, typer.Option(help="The column that says how often each row counts.")] = None,
    freeze: Annotated[list[str] | None, typer.Option(help="A variable whose table stays as it is in NET.")] = None,
    ignore_others: Annotated[
        bool, typer.Option("--ignore-others", help="Drop columns that NET does not have without a note or error.")
    ] = False,
    checkpoint: Checkpoint = None,
    every: Every = 5,
    resume: Resume = False,
    seed: Annotated[int, typer.Option(help="Another seed starts elsewhere; the same one gives the same model.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    r"""Fit the parameters of a network of known structure: by counting, or by EM with missing values.

    Ctrl-C ends the climb with the tables so far.

    Example: bayeslearn fit parameters '\[smoke]\[lung|smoke]' smokers.csv -o m.json
    """
    from bayeslearn import files
    from bayeslearn.network import fit_parameters
    from bayeslearn.network.formats.read_write import label_of

    _check(restarts, tol, max_iter, seed)
    checkpoint_options.check(checkpoint, every, resume=resume)
    label_of(to, None)
    files.destination(to)
    structure, unseen = graph_or_network(net), hidden_variables(hidden)
    climb: dict[str, Any] = {
        "method": method, "start": start, "restarts": restarts, "tol": tol, "max_iter": max_iter,
        "checkpoint": checkpoint, "every": every, "resume": resume,
    }  # fmt: skip
    with (
        data.opened(sample_weight=sample_weight) as given,
        interrupt.once("the tables so far") as stop,
        progress.bar("learning", passes=data.passes) as tell,
    ):
        if not ignore_others:
            check_columns(structure, given.names, data, sample_weight)
        try:
            fit = fit_parameters(
                structure, given.settled(), prior=prior, hidden=unseen, frozen=freeze or (), **climb,
                sample_weight=given.sample_weight, random_state=seed, progress=progress.following(tell, stop),
            )  # fmt: skip
        except MissingValuesError as error:
            raise never_seen(error) from None
    keep(fit.network, to)
    _report_json(fit) if as_json else _report(fit, unseen)


### what was asked for


def _check(restarts: int, tol: float, max_iter: int, seed: int) -> None:
    from bayeslearn import validation

    validation.integer("--restarts", restarts, min_value=1)
    validation.number("--tol", tol, min_value=0)
    validation.integer("--max-iter", max_iter, min_value=1)
    validation.integer("--seed", seed, min_value=0)


def graph_or_network(net: str) -> BayesianNetwork | DAG:
    """A graph when it is written as one, else a network from a file."""
    from bayeslearn.network import DAG

    return DAG.parse(net) if net.lstrip().startswith("[") else load(net)


def check_columns(structure: BayesianNetwork | DAG, names: list[str], data: Data, sample_weight: str | None) -> None:
    """Name columns that the structure lacks: dropped for a network, an error for a graph, which may be misspelt."""
    from bayeslearn.network import DAG

    odd = [name for name in names if name not in structure and name != sample_weight]
    if odd and not isinstance(structure, DAG):
        sys.stderr.write(f"note: dropped columns that the network does not have: {listed(odd)}\n")
    elif odd:
        raise UnknownColumnError(
            f"{data} has columns that the network lacks: {listed(odd)}",
            hint="leave them out with --ignore-others",
            columns=odd,
        )


def never_seen(error: MissingValuesError) -> MissingValuesError:
    """The error for a variable without a value, with a hint for the command line."""
    name = error.details.get("column") or error.details["columns"][0]
    hint = f"declare it hidden, with its states or how many there are: --hidden {name}:2"
    return MissingValuesError(error.message, hint=hint, **error.details)


### reporting


def _report(fit: ParameterFitInfo, unseen: dict[str, Any]) -> None:
    open_cells = fit.rows * (len(fit.network) - len(unseen))
    missing = sum(count for name, count in fit.missing.items() if name not in unseen)
    share = f" ({100 * missing / open_cells:.3g} %)" if missing else ""
    pairs = [("rows", str(fit.rows)), ("missing cells", f"{missing} of {open_cells}{share}")]
    if unseen:
        pairs.append(("hidden", ", ".join(f"{name} ({len(fit.network.states(name))} states)" for name in unseen)))
    pairs += [("log likelihood", output.precise(fit.log_likelihood)), ("iterations", str(fit.iterations))]
    if len(fit.starts) > 1:
        pairs.append(("starts", ", ".join(f"{value:.6g}" for value in fit.starts)))
    output.show_pairs([*pairs, ("converged", "yes" if fit.converged else "no")])
    rows = [[row_name(row.variable, row.given), *map(output.number, (row.cases, row.prior))] for row in _weakest(fit)]
    if rows:
        output.gap()
        output.show_table(["rests on least", "cases", "prior cases"], rows)


def _report_json(fit: ParameterFitInfo) -> None:
    names = ("rows", "missing", "log_likelihood", "objective", "iterations", "converged", "starts")
    answer = {name: getattr(fit, name) for name in names}
    output.show_json(answer | {"least_supported": [asdict(row) for row in _weakest(fit)]})


def _weakest(fit: ParameterFitInfo) -> list[Any]:
    return fit.least_supported(MOST_SHOWN)


def row_name(variable: str, given: dict[str, Any]) -> str:
    """A row of a table as it is written: P(B | A=x)."""
    parents = ", ".join(f"{name}={state}" for name, state in given.items())
    return f"P({variable} | {parents})" if parents else f"P({variable})"
