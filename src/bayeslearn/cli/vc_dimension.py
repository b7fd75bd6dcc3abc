"""``bayeslearn bound vc-dimension``: the VC dimension of a class of hypotheses, given as a table of zeros and ones."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import output

if TYPE_CHECKING:
    from bayeslearn.learning_theory import ConceptClass

#: Labelings that are listed; `--json` lists all.
MAX_LISTED = 16


def run(
    file: Annotated[
        Path,
        typer.Argument(help="A CSV of 0 and 1: rows are hypotheses, columns points; with or without header and names."),
    ],
    *,
    max_points: Annotated[int, typer.Option(help="Largest number of points of the growth function.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Plot the growth function to FILE.svg, .png or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """VC dimension of a finite class: a largest shattered set, and a hypothesis for each of its labelings.

    Example: bayeslearn bound vc-dimension intervals.csv --max-points 5
    """
    from bayeslearn.learning_theory import read_class

    concepts = read_class(file)
    most = min(max_points, len(concepts.points))
    grown = [concepts.growth_function(m) for m in range(most + 1)] if max_points > 0 else []
    if plot:
        _draw(concepts, most, plot)
    (_show_json if as_json else _show)(concepts, grown)


def _show(concepts: ConceptClass, grown: list[int]) -> None:
    from bayeslearn.learning_theory import sauer_bound

    found = concepts.shattered
    output.show_pairs([
        ("hypotheses", f"{len(concepts):,}, log₂ {concepts.size.log2:.4g}"),
        ("points", f"{len(concepts.points):,}"),
        ("VC dimension", f"{len(found)}"),
        ("shattered", ", ".join(map(str, found.points)) or "nothing"),
    ])  # fmt: skip
    output.gap()
    rows = [[*(f"{y:d}" for y in labels), str(h)] for labels, h in found.hypotheses.items()]
    output.show_table([*map(str, found.points), "hypothesis"], rows[:MAX_LISTED])
    if len(rows) > MAX_LISTED:
        sys.stdout.write(f"and {len(rows) - MAX_LISTED:,} more\n")
    if grown:
        output.gap()
        table = [[str(m), str(most), str(2**m), str(sauer_bound(len(found), m))] for m, most in enumerate(grown)]
        output.show_table(["m", "Π(m)", "2^m", "Sauer"], table)


def _show_json(concepts: ConceptClass, grown: list[int]) -> None:
    output.show_json({**concepts.to_dict(), **({"growth_function": grown} if grown else {})})


def _draw(concepts: ConceptClass, most: int, path: Path) -> None:
    from bayeslearn import plots

    plots.save(plots.plot_growth_function(concepts, most or None), path)
    sys.stderr.write(f"wrote {path}\n")
