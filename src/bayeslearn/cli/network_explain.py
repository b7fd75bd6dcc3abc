"""``bayeslearn explain``: the influence of evidence on a posterior, and its sensitivity to the CPTs."""

from __future__ import annotations

import itertools
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output
from bayeslearn.cli.network_files import NETWORK, assignments, load

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork
    from bayeslearn.network.inference.evidence import Observation
    from bayeslearn.network.inference.explanation import Cell, EvidenceExplanation

#: Unobserved variables that are shown, the most informative first; `--json` lists all.
MAX_SHOWN = 8


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=NETWORK)],
    evidence: Annotated[
        list[str] | None, typer.Argument(help="Evidence: VAR=STATE, VAR=30, VAR=10..20 or 'VAR>17.5'.")
    ] = None,
    *,
    target: Annotated[str, typer.Option(help="The variable whose posterior is explained.")],
    state: Annotated[
        str | None, typer.Option(help=r"The state of --sensitivity. \[default: the most probable]")
    ] = None,
    sensitivity: Annotated[
        int, typer.Option(help="Number of CPT entries to list on which the posterior depends most.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Explain the posterior of a target: Bayes factors of the evidence, its conflict, and what to observe next.

    Example: bayeslearn explain asia dysp=yes xray=yes --target lung
    """
    from bayeslearn.network.inference.evidence import observe

    network = load(model_file)
    seen = assignments(network, evidence or [])
    reasons = network.explain(seen, target)
    if not hasattr(reasons, "belief"):  # of a number
        output.show_json(reasons.to_dict()) if as_json else sys.stdout.write(reasons.summary() + "\n")
        return
    influence = _influence(network, seen, reasons, state, sensitivity) if sensitivity > 0 else []
    observed = observe(network, seen)
    if as_json:
        answer = asdict(reasons) | {"evidence": {name: o.to_json() for name, o in observed.items()}}
        output.show_json(answer | ({"cells": [asdict(cell) for cell in influence]} if sensitivity > 0 else {}))
        return
    _show(reasons, observe(network, reasons.evidence) | observed)
    _show_cells(influence)


def _influence(
    network: BayesianNetwork, seen: dict[str, Any], reasons: EvidenceExplanation, state: str | None, n: int
) -> list[Cell]:
    """The CPT entries that the posterior depends on most."""
    return list(itertools.islice(network.sensitivity(seen, reasons.target, state).cells(), n))


def _show_cells(cells: list[Cell]) -> None:
    if not cells:
        return
    output.gap()
    rows = [[_cell_name(c), *map(output.number, (c.p, c.derivative, c.at_zero, c.at_one))] for c in cells]
    output.show_table(["CPT entry", "p", "derivative", "posterior at p=0", "at p=1"], rows)


def _cell_name(cell: Cell) -> str:
    given = ", ".join(f"{name}={state}" for name, state in cell.given.items())
    return f"P({cell.variable}={cell.state}{' | ' if given else ''}{given})"


def _show(reasons: EvidenceExplanation, observed: dict[str, Observation]) -> None:
    states = [str(state) for state in reasons.belief]
    rows = [["before", *map(output.number, reasons.before.values())]]
    rows += [
        [f"without {observed[impact.name]}", *map(output.number, impact.without.values())] for impact in reasons.impacts
    ]
    rows.append(["with all", *map(output.number, reasons.belief.values())])
    output.show_table([reasons.target, *states], rows)
    if reasons.impacts:
        output.gap()
        table = [
            [str(observed[impact.name]), *map(output.number, impact.bayes_factor.values())]
            for impact in reasons.impacts
        ]
        output.show_table(["Bayes factor", *(f"for {state}" for state in states)], table)
        output.gap()
        word = "the pieces of evidence contradict each other" if reasons.conflict > 0 else "no conflict"
        output.show_pairs([("conflict", f"{output.number(reasons.conflict)} ({word})")])
    output.gap()
    informative = list(reasons.information.items())[:MAX_SHOWN]
    output.show_table(["most informative", "bits"], [[name, output.number(bits)] for name, bits in informative])
