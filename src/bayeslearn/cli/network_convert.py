"""``bayeslearn convert``: a network from one file format to another."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated

import typer

from bayeslearn.cli import output
from bayeslearn.cli.network_files import NETWORK, load


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=NETWORK)],
    target: Annotated[
        Path,
        typer.Argument(
            help="The file to write; its ending is the format: .bif, .bifxml, .xmlbif, .net, .xdsl, .uai, .json, for "
            "pyAgrum .agrum.xdsl and .agrum.uai; each may be followed by .gz."
        ),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Write a network in another format.

    Example: bayeslearn convert alarm alarm.xdsl
    """
    from bayeslearn.network.formats.read_write import label_of, write_network

    network = load(model_file)
    write_network(network, target)
    sys.stderr.write(f"wrote {target}: {len(network)} variables, {len(network.dag.arcs)} arcs\n")
    if as_json:
        output.show_json({
            "output": str(target), "format": label_of(target, None), "n_variables": len(network),
            "n_arcs": len(network.dag.arcs),
        })  # fmt: skip
