"""``bayeslearn show``: what is in a network."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output
from bayeslearn.cli.network_files import NETWORK, load

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork, RowSupport


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=NETWORK)],
    *,
    support: Annotated[
        bool, typer.Option("--support", help="Observed rows behind each row of the CPTs, the fewest first.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Show a network: variables, states and parents; or the data behind its CPTs.

    Example: bayeslearn show asia
    """
    network = load(model_file)
    rows = grounds(network) if support else []
    if as_json:
        _show_json(network, {"support": [asdict(row) for row in rows]} if support else {})
    elif support:
        _show_support(rows)
    else:
        _show(network)


def grounds(network: BayesianNetwork) -> list[RowSupport]:
    """The data behind each row of the CPTs, the fewest observed rows first."""
    from bayeslearn.network.parameters.credible_intervals import supports
    from bayeslearn.network.parameters.incremental import evidence_of

    evidence_of(network)
    return sorted(supports(network), key=lambda row: row.n_observed)


def _show_json(network: BayesianNetwork, more: dict[str, Any]) -> None:
    variables = [
        {"name": cpt.name, "states": list(states_of(cpt)), "parents": [v.name for v in cpt.parents]} for cpt in network
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


def states_of(node: Any) -> tuple[Any, ...]:
    """The states of a node; a numeric one has none."""
    return tuple(getattr(node.variable, "states", ()))


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
            [cpt.name, ", ".join(map(str, states_of(cpt))) or "number", ", ".join(v.name for v in cpt.parents)]
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
