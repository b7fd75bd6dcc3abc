"""``bayeslearn show``: what is in a network."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeslearn.cli import output
from bayeslearn.cli.networks import load


def run(
    net: Annotated[str, typer.Argument(help="A network file of any format, or a name that ships: alarm, asia.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """The variables of a network, their states and parents.

    Example: bayeslearn show asia
    """
    network = load(net)
    if as_json:
        variables = [
            {"name": cpt.name, "states": list(cpt.variable.states), "parents": [v.name for v in cpt.parents]}
            for cpt in network
        ]
        output.show_json(
            {
                "name": network.name,
                "variables": variables,
                "arcs": len(network.dag.arcs),
                "free_parameters": network.free_parameters,
                "notes": list(network.notes),
            }
        )
        return
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
            ("free parameters", f"{network.free_parameters:,}"),
            *(("note", note) for note in network.notes),
        ]
    )
