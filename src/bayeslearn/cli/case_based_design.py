"""``bayeslearn case-based design``: cases that together cover a specification."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import case_based_options, output, plot_files

if TYPE_CHECKING:
    from bayeslearn.case_based import Designs


def run(
    base: case_based_options.Base,
    spec: case_based_options.Spec,
    *,
    add: case_based_options.Add = None,
    without: Annotated[list[str] | None, typer.Option(help="A case that is not used; repeat for more.")] = None,
    max_rewrites: Annotated[int, typer.Option(help="Largest number of rewrites; 0 for none.")] = 4,
    max_states: Annotated[int, typer.Option(help="Largest number of rewritten forms that are examined.")] = 100,
    allow_contractions: Annotated[
        bool, typer.Option("--allow-contractions", help="Also remove quantities between two others.")
    ] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Use a case only if all of its arcs are asked for.")] = False,
    max_results: Annotated[int, typer.Option(help="Largest number of designs.")] = 3,
    time_limit: case_based_options.TimeLimit = None,
    to: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Save the base with the best design as a new case, .json or .json.gz."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot the best design to FILE.svg or .png.")] = None,
    as_json: case_based_options.AsJson = False,
) -> None:
    """Combine cases into a design that covers a function, with rewrites such as A ->+ x ->+ B for A ->+ B.

    Ranked by the influences covered, then by the fewest cases, rewrites and extra influences.

    Example: bayeslearn case-based design plumbing faucet --plot faucet.svg
    """
    from bayeslearn import files
    from bayeslearn.case_based import CaseBase, design
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
    with case_based_options.watched("Designing") as step:
        found = design(
            usable, asked, max_rewrites=max_rewrites, max_states=max_states, whole=whole, max_results=max_results,
            allow_contractions=allow_contractions, time_limit=time_limit, progress=step,
        )  # fmt: skip
    output.show_json(found.to_dict()) if as_json else show(found)
    if to is not None:
        new = found.best.as_case()
        CaseBase([*(case for case in known if case.name != new.name), new], known.rules).save(to)
        sys.stderr.write(f"wrote {to}: {len(known.cases)} cases and {new.name!r}\n")
    if plot is not None:
        case_based_options.draw(found.best, plot)


def show(found: Designs) -> None:
    """The best design as tables, and the others in a line each."""
    from bayeslearn.case_based.function_graph import arcs_text, many, mapping_text

    best = found.best
    sys.stdout.write(f"{best.explain()[0]}\n")
    if best.uses:
        output.gap()
        rows = [
            [
                use.case.name,
                mapping_text(use.mapping),
                arcs_text(use.covered),
                arcs_text(use.extra),
            ]
            for use in best.uses
        ]
        extra = best.n_extra > 0
        output.show_table(["case", "mapping", "covered", "extra"][: 3 + extra], [row[: 3 + extra] for row in rows])
        output.gap()
    text = case_based_options.structure_text
    structures = {use.case.name: text(use.case.structure) for use in best.uses}
    ended = f"; {found.stop_reason}" if found.stop_reason else ""
    output.show_pairs([
        *(("rewritten", str(step)) for step in best.steps),
        *(("joined", f"{node}: {', '.join(names)}") for node, names in best.shared.items()),
        *(("not covered", str(arc)) for arc in best.uncovered),
        *(("structure", f"{name}: {structure}") for name, structure in structures.items()),
        *(("nearest", str(match)) for match in found.near),
        *(("alternative", other.explain()[0]) for other in found.designs[1:]),
        ("examined", f"{many(found.n_states, 'form')} of the function{ended}"),
    ])  # fmt: skip
