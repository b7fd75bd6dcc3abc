"""``bayeslearn case-based design``: cases that together do what is asked for."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import case_based_options, case_based_retrieve, output, plot_files

if TYPE_CHECKING:
    from bayeslearn.case_based import Design, Designs


def run(
    base: case_based_options.Base,
    spec: case_based_options.Spec,
    *,
    add: case_based_options.Add = None,
    without: Annotated[list[str] | None, typer.Option(help="A case that may not be used. Repeat for more.")] = None,
    rewrites: Annotated[int, typer.Option(help="Rewrites of the function at most; 0 for none.")] = 4,
    forms: Annotated[int, typer.Option(help="Rewritten forms that are looked at, at most.")] = 100,
    shorten: Annotated[bool, typer.Option("--shorten", help="Quantities in between may be left out, too.")] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Use a case only if all that it does is asked for.")] = False,
    most: Annotated[int, typer.Option(help="Designs at most.")] = 3,
    time_limit: case_based_options.TimeLimit = None,
    to: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the base with the best design as one more case, .json, .json.gz."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the best design into this .svg or .png file.")] = None,
    as_json: case_based_options.AsJson = False,
) -> None:
    """Combine cases into a design that covers a function, if need be after it was rewritten: A ->+ x ->+ B for A ->+ B.

    Ranked by the influences covered, then by the fewest cases, rewrites, and influences that nobody asked for.

    Example: bayeslearn case-based design plumbing faucet --plot faucet.svg
    """
    from bayeslearn import files
    from bayeslearn.case_based import CONTRACTIONS, EXPANSIONS, CaseBase, design
    from bayeslearn.codec import require_model_name

    if plot is not None:
        plot_files.check(plot)
    if to is not None:
        require_model_name(to)
        files.destination(to)
    known = case_based_options.case_base(base, add)
    asked = case_based_options.asked(known, spec)
    barred = {known[name].name for name in without or []}
    usable = CaseBase((case for case in known if case.name not in barred), known.rules)
    rules = (*EXPANSIONS, *(CONTRACTIONS if shorten else ()), *known.rules)
    with case_based_options.watched("designing") as step:
        found = design(
            usable, asked, rules=rules, max_rewrites=rewrites, max_states=forms, whole=whole, most=most,
            time_limit=time_limit, progress=step,
        )  # fmt: skip
    (show_json if as_json else show)(found)
    if to is not None:
        new = found.best.as_case()
        CaseBase([*(case for case in known if case.name != new.name), new], known.rules).save(to)
        sys.stderr.write(f"wrote {to}: {len(known.cases)} cases and {new.name!r}\n")
    if plot is not None:
        case_based_options.draw(found.best.function, found.best.covered, plot)


def show(found: Designs) -> None:
    """The report for people."""
    from bayeslearn.case_based.function_graph import many

    best = found.best
    sys.stdout.write(f"{best.explain()[0]}\n")
    if best.uses:
        output.gap()
        rows = [
            [
                use.case.name,
                case_based_options.pairs(use.mapping),
                case_based_options.arcs(use.covered),
                case_based_options.arcs(use.surplus),
            ]
            for use in best.uses
        ]
        besides = best.surplus > 0
        output.show_table(
            ["case", "mapping", "covers", "does besides"][: 3 + besides], [row[: 3 + besides] for row in rows]
        )
        output.gap()
    structures = {use.case.name: use.case.structure for use in best.uses}
    output.show_pairs([
        *(("rewritten", str(step)) for step in best.steps),
        *(("joined", f"{node}: {', '.join(names)}") for node, names in best.shared.items()),
        *(("left open", str(arc)) for arc in best.left_open),
        *(("built", f"{name}: {case_based_options.told(structure)}") for name, structure in structures.items()),
        *(("nearest", str(match)) for match in found.near),
        *(("or else", other.explain()[0]) for other in found.designs[1:]),
        ("looked at", f"{many(found.states, 'form')} of the function" + (f"; {found.why}" if found.why else "")),
    ])  # fmt: skip


def show_json(found: Designs) -> None:
    """The same for a machine."""
    output.show_json({
        "specification": str(found.specification.function),
        "ended": found.why,
        "forms": found.states,
        "designs": [told(design) for design in found],
        "near": [case_based_retrieve.told(match) for match in found.near],
    })  # fmt: skip


def told(design: Design) -> dict[str, Any]:
    """A design for a machine."""
    return {
        "coverage": design.coverage,
        "function": str(design.function),
        "rewrites": [str(step) for step in design.steps],
        "uses": [
            {
                "case": use.case.name,
                "mapping": use.mapping,
                "covered": [str(arc) for arc in use.covered],
                "surplus": [str(arc) for arc in use.surplus],
            }
            for use in design.uses
        ],
        "left_open": [str(arc) for arc in design.left_open],
        "structure": design.structure,
        "certain": design.certain,
    }
