"""Plots in files: what their names may be, and networks drawn into them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli.network_files import NETWORK
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork

ENDINGS = (".svg", ".png", ".pdf")

#: The file of the verb `plot`.
Output = Annotated[Path, typer.Option("-o", "--output", help="Plot file to write, .svg, .png or .pdf.")]

#: Whether the plot of a network is compact.
Compact = Annotated[
    bool | None,
    typer.Option(
        "--compact/--no-compact",
        help=r"Small nodes with names only. \[default: above 30 variables]",
    ),
]

Bars = Annotated[bool | None, typer.Option(help=r"Posterior probabilities in the nodes. \[default: unless compact]")]


def check(path: Path) -> None:
    """Refuse a file that no plot can be written to."""
    from bayeslearn import files

    if path.suffix.lower() not in ENDINGS:
        raise ParameterError(f"a plot is an .svg, .png or .pdf file, got {str(path)!r}", hint="for instance plot.svg")
    files.destination(path)


def written(path: Path, what: str = "", *, as_json: bool = False) -> None:
    """Report on stderr that a plot is written; the same as JSON on stdout."""
    from bayeslearn.cli import output

    sys.stderr.write(f"wrote {path}{what}\n")
    if as_json:
        output.show_json({"output": str(path)})


def draw(
    network: BayesianNetwork,
    evidence: dict[str, Any],
    path: Path,
    *,
    bars: bool | None = None,
    compact: bool | None = None,
    as_json: bool = False,
) -> None:
    """Draw a network with its posterior into a file that was checked."""
    if path.suffix.lower() == ".svg":
        from bayeslearn.network.visualization import write_svg

        write_svg(network.to_svg(evidence, bars=bars, compact=compact), path)
    else:
        from bayeslearn import plots

        plots.save(plots.plot_network(network, evidence, bars=bars, compact=compact), path)
    written(path, f": {len(network)} variables, {len(network.dag.arcs)} arcs", as_json=as_json)


def network(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=NETWORK)],
    evidence: Annotated[
        list[str] | None, typer.Argument(help="Observed states: VAR=STATE, VAR=30, VAR=10..20.")
    ] = None,
    *,
    to: Output,
    bars: Bars = None,
    compact: Compact = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object that names the file.")] = False,
) -> None:
    """Plot a network with its posterior given evidence.

    Example: bayeslearn plot asia smoke=yes -o asia.svg
    """
    from bayeslearn.cli.network_files import assignments, load

    check(to)
    found = load(model_file)
    draw(found, assignments(found, evidence or []), to, bars=bars, compact=compact, as_json=as_json)
