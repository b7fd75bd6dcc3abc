"""``bayeslearn bound vc-dimension``: the VC dimension of a class given as a table of zeros and ones."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output

if TYPE_CHECKING:
    from bayeslearn.learning_theory import ConceptClass

#: Labelings whose hypotheses are told one by one; `--json` lists all.
MOST_TOLD = 16


def run(
    file: Annotated[
        Path,
        typer.Argument(help="A CSV of 0 and 1: rows are hypotheses, columns points; a header and names may be there."),
    ],
    *,
    max_points: Annotated[int, typer.Option(help="Points up to which the growth function is shown.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the growth function into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """The largest set of points that a class of hypotheses labels in every way, and who labels it how.

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
    output.show_table([*map(str, found.points), "hypothesis"], rows[:MOST_TOLD])
    if len(rows) > MOST_TOLD:
        sys.stdout.write(f"and {len(rows) - MOST_TOLD:,} more\n")
    if grown:
        output.gap()
        table = [[str(m), str(most), str(2**m), str(sauer_bound(len(found), m))] for m, most in enumerate(grown)]
        output.show_table(["m", "Π(m)", "2^m", "Sauer"], table)


def _show_json(concepts: ConceptClass, grown: list[int]) -> None:
    found = concepts.shattered
    witness: list[dict[str, Any]] = [
        {"labels": [int(y) for y in labels], "hypothesis": h} for labels, h in found.hypotheses.items()
    ]
    output.show_json({
        "hypotheses": len(concepts),
        "points": len(concepts.points),
        "vc_dimension": len(found),
        "shattered": list(found.points),
        "witness": witness,
        **({"growth": grown} if grown else {}),
    })  # fmt: skip


def _draw(concepts: ConceptClass, most: int, path: Path) -> None:
    from bayeslearn import plots

    plots.save(plots.plot_growth_function(concepts, most or min(concepts.vc_dimension + 2, len(concepts.points))), path)
    sys.stderr.write(f"wrote {path}\n")
