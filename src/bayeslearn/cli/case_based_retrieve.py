"""``bayeslearn case-based retrieve``: the best cases for a specification."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import case_based_options, output, plot_files

if TYPE_CHECKING:
    from bayeslearn.case_based import RetrievalResult


def run(
    base: case_based_options.Base,
    spec: case_based_options.Spec,
    *,
    add: case_based_options.Add = None,
    max_results: Annotated[int, typer.Option(help="Largest number of matches.")] = 5,
    time_limit: case_based_options.TimeLimit = None,
    plot: Annotated[
        Path | None, typer.Option(help="Plot the arcs that the best case covers to FILE.svg or .png.")
    ] = None,
    as_json: case_based_options.AsJson = False,
) -> None:
    """Retrieve cases by function: exact, whole, part, common part, or the most similar.

    Ranked by the influences covered, then by the fewest extra ones.

    Example: bayeslearn case-based retrieve plumbing faucet
    """
    from bayeslearn.case_based import retrieve

    if plot is not None:
        plot_files.check(plot)
    cases = case_based_options.case_base(base, add)
    asked = case_based_options.asked(cases, spec)
    with case_based_options.watched("Comparing cases") as step:
        found = retrieve(cases, asked, max_results=max_results, time_limit=time_limit, progress=step)
    if as_json:
        output.show_json(found.to_dict())
    else:
        show(found)
    if plot is not None:
        case_based_options.draw(found, plot)


def show(found: RetrievalResult) -> None:
    """The matches as a table, and the best one."""
    from bayeslearn.case_based.function_graph import arcs_text, mapping_text

    n = len(found.specification.function)
    rows = [
        [
            match.case.name,
            match.kind + ("" if match.is_optimal else "?"),
            output.number(match.score),
            f"{len(match.covered)} of {n}",
            str(len(match.extra)),
            output.number(match.similarity),
            mapping_text(match.mapping),
        ]
        for match in found
    ]
    output.show_table(["case", "match", "score", "covered", "extra", "similarity", "mapping"], rows)
    best = found.best
    output.gap()
    output.show_pairs([
        ("best", best.case.name),
        ("covered", arcs_text(best.covered) or "nothing; it is the most similar case"),
        *([("not covered", arcs_text(best.uncovered))] if best.uncovered else []),
        *([("extra", arcs_text(best.extra))] if best.extra else []),
        ("structure", case_based_options.structure_text(best.case.structure)),
        *([("ended early", found.stop_reason)] if found.stop_reason else []),
    ])  # fmt: skip
