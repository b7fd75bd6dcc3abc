"""``bayeslearn case-based show``: a case base, or one case of it."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import case_based_options, output, plot_files
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.case_based import Case, CaseBase


def run(
    base: case_based_options.Base,
    name: Annotated[str | None, typer.Argument(help=r"The case to show. \[default: all]")] = None,
    *,
    add: case_based_options.Add = None,
    plot: Annotated[Path | None, typer.Option(help="Plot the function of the case to FILE.svg or .png.")] = None,
    as_json: case_based_options.AsJson = False,
) -> None:
    """The cases of a base with their functions and structures.

    Example: bayeslearn case-based show plumbing T-junction
    """
    if plot is not None and name is None:
        raise ParameterError("a plot shows one case", hint="name the case after the base")
    if plot is not None:
        plot_files.check(plot)
    cases = case_based_options.case_base(base, add)
    shown = list(cases) if name is None else [cases[name]]
    if as_json:
        output.show_json({"cases": [case.to_dict() for case in shown], "rules": [str(rule) for rule in cases.rules]})
    elif name is None:
        show(cases)
    else:
        show_one(shown[0])
    if plot is not None:
        case_based_options.draw(shown[0], plot)


def show(cases: CaseBase) -> None:
    """All cases in a table, specifications last."""
    from bayeslearn.case_based.function_graph import arcs_text

    rows = [[case.name, "specification" if case.is_open else "case", arcs_text(case.function.arcs)] for case in cases]
    output.show_table(["name", "kind", "function"], sorted(rows, key=lambda row: row[1] != "case"))
    if cases.rules:
        output.gap()
        output.show_pairs([("rule", str(rule)) for rule in cases.rules])


def show_one(case: Case) -> None:
    """One case in full."""
    kinds: dict[str, list[str]] = {}
    for node, kind in case.function.kinds.items():
        kinds.setdefault(kind, []).append(node)
    output.show_pairs([
        ("name", case.name),
        *(("function", str(arc)) for arc in case.function.arcs),
        *((f"{kind}", ", ".join(nodes)) for kind, nodes in sorted(kinds.items())),
        *((f"{name}", str(value)) for name, value in case.attributes.items()),
        ("structure", "unknown" if case.is_open else case_based_options.structure_text(case.structure, 10_000)),
    ])  # fmt: skip
