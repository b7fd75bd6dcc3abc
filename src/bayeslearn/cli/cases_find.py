"""``bayeslearn cases find``: the cases that do what is asked for, or most of it."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import cases_asked, output, pictures

if TYPE_CHECKING:
    from bayeslearn.case_based import Match, RetrievalResult


def run(
    base: cases_asked.Base,
    spec: cases_asked.Spec,
    *,
    add: cases_asked.Add = None,
    most: Annotated[int, typer.Option(help="Matches at most.")] = 5,
    time_limit: cases_asked.TimeLimit = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw what the best case covers into this .svg or .png file.")
    ] = None,
    as_json: cases_asked.AsJson = False,
) -> None:
    """Find cases by their function: exact, whole (and more), a part, a common part; the most alike if nothing fits.

    Ranked by the influences covered, then by the fewest that nobody asked for.

    Example: bayeslearn cases find plumbing faucet
    """
    from bayeslearn.case_based import retrieve

    if plot is not None:
        pictures.check(plot)
    cases = cases_asked.case_base(base, add)
    asked = cases_asked.asked(cases, spec)
    with cases_asked.watched("comparing cases") as step:
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
        cases_asked.draw(asked.function, {found.best.case.name: found.best.covered}, plot)


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
            cases_asked.pairs(match.mapping),
        ]
        for match in found
    ]
    output.show_table(["case", "match", "score", "covers", "besides", "likeness", "mapping"], rows)
    best = found.best
    output.gap()
    output.show_pairs([
        ("best", best.case.name),
        ("covers", cases_asked.arcs(best.covered) or "nothing: it is only the most alike"),
        *([("left open", cases_asked.arcs(best.left_open))] if best.left_open else []),
        *([("does besides", cases_asked.arcs(best.surplus))] if best.surplus else []),
        ("structure", cases_asked.told(best.case.structure)),
        *([("ended early", found.why)] if found.why else []),
    ])  # fmt: skip
