"""``bayeslearn convert``: a network from one file format to another."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated

import typer

from bayeslearn.cli.network_files import NETWORK, load


def run(
    source: Annotated[str, typer.Argument(help=NETWORK)],
    target: Annotated[
        Path,
        typer.Argument(
            help="The file to write; its ending is the format: .bif, .bifxml, .xmlbif, .net, .xdsl, .uai, .json, for "
            "pyAgrum .agrum.xdsl and .agrum.uai; each may be followed by .gz."
        ),
    ],
) -> None:
    """Write a network in another format.

    Example: bayeslearn convert alarm alarm.xdsl
    """
    from bayeslearn.network.formats import write_network

    network = load(source)
    write_network(network, target)
    sys.stderr.write(f"wrote {target}: {len(network)} variables, {len(network.dag.arcs)} arcs\n")
