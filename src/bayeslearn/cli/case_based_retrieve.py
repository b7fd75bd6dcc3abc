"""``bayeslearn case-based retrieve``: the cases that do what is asked for, or most of it."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import case_based_options, output, plot_files

if TYPE_CHECKING:
    from bayeslearn.case_based import Match, RetrievalResult


def run(
    base: case_based_options.Base,
    spec: case_based_options.Spec,
    *,
    add: case_based_options.Add = None,
    most: Annotated[int, typer.Option(help="Matches at most.")] = 5,
    time_limit: case_based_options.TimeLimit = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw what the best case covers into this .svg or .png file.")
    ] = None,
    as_json: case_based_options.AsJson = False,
) -> None:
    """Find cases by their function: exact, whole (and more), a part, a common part; the most alike if nothing fits.

    Ranked by the influences covered, then by the fewest that nobody asked for.

    Example: bayeslearn case-based retrieve plumbing faucet
    """
    from bayeslearn.case_based import retrieve

    if plot is not None:
        plot_files.check(plot)
    cases = case_based_options.case_base(base, add)
    asked = case_based_options.asked(cases, spec)
    with case_based_options.watched("comparing cases") as step:
        found = retrieve(cases, asked, most=most, time_limit=time_limit, progress=step)
    if as_json:
        output.show_json({
            "specification": str(asked.function),
            "complete": found.complete,
            "ended": found.why,
            "matches": [told(match) for match in found],
        })  # fmt: skip
    else:
        show(found)
    if plot is not None:
        case_based_options.draw(asked.function, {found.best.case.name: found.best.covered}, plot)


def told(match: Match) -> dict[str, Any]:
    """A match for a machine."""
    return {
        "case": match.case.name,
        "match": match.kind,
        "score": match.score,
        "likeness": match.likeness,
        "mapping": match.mapping,
        "covered": [str(arc) for arc in match.covered],
        "left_open": [str(arc) for arc in match.left_open],
        "surplus": [str(arc) for arc in match.surplus],
        "certain": match.certain,
        "structure": match.case.structure,
    }


def show(found: RetrievalResult) -> None:
    """The report for people."""
    n = len(found.specification.function)
    rows = [
        [
            match.case.name,
            match.kind + ("" if match.certain else "?"),
            output.number(match.score),
            f"{len(match.covered)} of {n}",
            str(len(match.surplus)),
            output.number(match.likeness),
            case_based_options.pairs(match.mapping),
        ]
        for match in found
    ]
    output.show_table(["case", "match", "score", "covers", "besides", "likeness", "mapping"], rows)
    best = found.best
    output.gap()
    output.show_pairs([
        ("best", best.case.name),
        ("covers", case_based_options.arcs(best.covered) or "nothing: it is only the most alike"),
        *([("left open", case_based_options.arcs(best.left_open))] if best.left_open else []),
        *([("does besides", case_based_options.arcs(best.surplus))] if best.surplus else []),
        ("structure", case_based_options.told(best.case.structure)),
        *([("ended early", found.why)] if found.why else []),
    ])  # fmt: skip
