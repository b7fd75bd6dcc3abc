"""Networks drawn into files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from bayeslearn.network import BayesianNetwork

ENDINGS = (".svg", ".png")


def check(path: Path) -> None:
    """Refuse a file that cannot become a picture."""
    from bayeslearn import files

    if path.suffix.lower() not in ENDINGS:
        raise ParameterError(f"a picture is an .svg or a .png file, got {str(path)!r}")
    files.destination(path)


def draw(network: BayesianNetwork, evidence: dict[str, Any], path: Path, *, bars: bool | None = None) -> None:
    """Draw a network with its beliefs into a file that was checked, and say so."""
    if path.suffix.lower() == ".svg":
        from bayeslearn.network.drawing import write_svg

        write_svg(network.draw(evidence, bars=bars), path)
    else:
        from bayeslearn import plots

        plots.save(plots.network(network, evidence, bars=bars), path)
    sys.stderr.write(f"wrote {path}: {len(network)} variables, {len(network.dag.arcs)} arcs\n")
