"""Networks drawn into files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from bayeslearn.network import BayesianNetwork

ENDINGS = (".svg", ".png")


def check(path: Path) -> None:
    """Refuse a file that cannot become a picture."""
    from bayeslearn import files

    if path.suffix.lower() not in ENDINGS:
        raise ParameterError(f"a picture is an .svg or a .png file, got {str(path)!r}", hint="for instance picture.svg")
    files.destination(path)


#: Whether a picture is compact.
Compact = Annotated[
    bool | None,
    typer.Option(
        "--compact/--no-compact",
        help="A picture of small boxes with names only; without either, compact above 30 variables.",
    ),
]


def draw(
    network: BayesianNetwork,
    evidence: dict[str, Any],
    path: Path,
    *,
    bars: bool | None = None,
    compact: bool | None = None,
) -> None:
    """Draw a network with its beliefs into a file that was checked, and say so."""
    if path.suffix.lower() == ".svg":
        from bayeslearn.network.visualization import write_svg

        write_svg(network.to_svg(evidence, bars=bars, compact=compact), path)
    else:
        from bayeslearn import plots

        plots.save(plots.plot_network(network, evidence, bars=bars, compact=compact), path)
    sys.stderr.write(f"wrote {path}: {len(network)} variables, {len(network.dag.arcs)} arcs\n")
