"""``bayeslearn explain``: why a network believes what it believes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import output
from bayeslearn.cli.networks import assignments, load

if TYPE_CHECKING:
    from bayeslearn.network.inference.explain import Reasons

#: Unobserved variables that are shown, the most telling first; `--json` lists all.
MOST_SHOWN = 8


def run(
    net: Annotated[str, typer.Argument(help="A network file of any format, or a name that ships: alarm, asia.")],
    evidence: Annotated[list[str] | None, typer.Argument(help="VAR=STATE, what was seen.")] = None,
    *,
    target: Annotated[str, typer.Option(help="The variable whose belief is to be explained.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Which evidence speaks for and against a target, whether it fits together, and what to look at next.

    Example: bayeslearn explain asia dysp=yes xray=yes --target lung
    """
    from bayeslearn.network.inference.explain import explain

    network = load(net)
    reasons = explain(network.exact, assignments(network, evidence or []), target)
    output.show_json(asdict(reasons)) if as_json else _show(reasons)


def _show(reasons: Reasons) -> None:
    states = [str(state) for state in reasons.belief]
    rows = [["before", *map(output.number, reasons.before.values())]]
    rows += [
        [f"without {impact.name}={impact.state}", *map(output.number, impact.without.values())]
        for impact in reasons.impacts
    ]
    rows.append(["with all", *map(output.number, reasons.belief.values())])
    output.show_table([reasons.target, *states], rows)
    if reasons.impacts:
        output.gap()
        table = [
            [f"{impact.name}={impact.state}", *map(output.number, impact.bayes_factor.values())]
            for impact in reasons.impacts
        ]
        output.show_table(["Bayes factor", *(f"for {state}" for state in states)], table)
        output.gap()
        word = "the pieces do not fit together well" if reasons.conflict > 0 else "the pieces support each other"
        output.show_pairs([("conflict", f"{output.number(reasons.conflict)} ({word})")])
    output.gap()
    telling = list(reasons.information.items())[:MOST_SHOWN]
    output.show_table(["would tell most", "bits"], [[name, output.number(bits)] for name, bits in telling])
