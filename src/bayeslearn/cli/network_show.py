"""``bayeslearn show``: what is in a network."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, plot_files
from bayeslearn.cli.network_files import NETWORK, assignments, load
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork, RowSupport


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=NETWORK)],
    evidence: Annotated[
        list[str] | None, typer.Argument(help="Evidence for --plot: VAR=STATE, VAR=30, VAR=10..20.")
    ] = None,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the network with posteriors into this .svg or .png file, instead of tables."),
    ] = None,
    bars: Annotated[
        bool | None,
        typer.Option(help=r"Posteriors in the nodes of the plot. \[default: unless it is compact]"),
    ] = None,
    compact: plot_files.Compact = None,
    support: Annotated[
        bool, typer.Option("--support", help="Observed rows behind each row of the CPTs, the fewest first.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Show a network: variables, states and parents; or the data behind its CPTs; or a plot.

    Example: bayeslearn show asia smoke=yes --plot asia.svg
    """
    if plot is not None and support:
        raise ParameterError("--support and --plot exclude each other", hint="omit --plot")
    if plot is None and (evidence or bars is not None or compact is not None):
        raise ParameterError(
            "evidence, --bars and --compact require --plot FILE",
            hint="`bayeslearn query` lists posteriors",
        )
    if plot is not None:
        plot_files.check(plot)
    network = load(model_file)
    if plot is not None:
        plot_files.draw(network, assignments(network, evidence or []), plot, bars=bars, compact=compact)
    rows = grounds(network) if support else []
    if as_json:
        _show_json(network, {"support": [asdict(row) for row in rows]} if support else {})
    elif support:
        _show_support(rows)
    elif plot is None:
        _show(network)


def grounds(network: BayesianNetwork) -> list[RowSupport]:
    """The data behind each row of the CPTs, the fewest observed rows first."""
    from bayeslearn.network.parameters.credible_intervals import supports
    from bayeslearn.network.parameters.incremental import evidence_of

    evidence_of(network)
    return sorted(supports(network), key=lambda row: row.n_observed)


def _show_json(network: BayesianNetwork, more: dict[str, Any]) -> None:
    variables = [
        {"name": cpt.name, "states": list(cpt.variable.states), "parents": [v.name for v in cpt.parents]}
        for cpt in network
    ]
    output.show_json(
        {
            "name": network.name,
            "variables": variables,
            "n_arcs": len(network.dag.arcs),
            "n_parameters": network.n_parameters,
            "notes": list(network.notes),
        }
        | more
    )


def _show_support(rows: list[RowSupport]) -> None:
    cells = [
        [
            row.variable,
            ", ".join(f"{name}={state}" for name, state in row.given.items()),
            output.amount(row.n_observed),
            output.number(row.prior),
        ]
        for row in rows
    ]
    output.show_table(["variable", "given", "observed rows", "prior rows"], cells)


def _show(network: BayesianNetwork) -> None:
    output.show_table(
        ["variable", "states", "parents"],
        [
            [cpt.name, ", ".join(map(str, cpt.variable.states)), ", ".join(v.name for v in cpt.parents)]
            for cpt in network
        ],
    )
    output.gap()
    output.show_pairs(
        [
            ("network", network.name),
            ("variables", str(len(network))),
            ("arcs", str(len(network.dag.arcs))),
            ("parameters", f"{network.n_parameters:,}"),
            *(("note", note) for note in network.notes),
        ]
    )
