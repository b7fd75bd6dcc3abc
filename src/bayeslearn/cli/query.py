"""``bayeslearn query``: what a network believes, given what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output
from bayeslearn.cli.networks import assignments, load
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.network import Beliefs, Explanation


def run(
    net: Annotated[str, typer.Argument(help="A network file of any format, or a name that ships: alarm, asia.")],
    evidence: Annotated[list[str] | None, typer.Argument(help="VAR=STATE, what was seen.")] = None,
    *,
    ask: Annotated[list[str] | None, typer.Option(help="A variable to answer for; all of them when not given.")] = None,
    virtual: Annotated[
        list[str] | None, typer.Option(help="VAR=P,P,...: how probable what was seen is under each state of VAR.")
    ] = None,
    mpe: Annotated[
        bool, typer.Option("--mpe", help="The most probable case as a whole, in place of each variable by itself.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Beliefs given evidence, by exact inference.

    Example: bayeslearn query asia smoke=yes xray=yes --ask lung --ask tub
    """
    network = load(net)
    seen = assignments(network, evidence or [])
    likelihoods = dict(_likelihood(item) for item in virtual or [])
    if mpe:
        found = network.exact.most_probable(seen, likelihoods=likelihoods)
        (_show_case_json if as_json else _show_case)(found, seen)
        return
    answer = network.query(seen, ask=ask or None, likelihoods=likelihoods)
    output.show_json(answer.to_dict()) if as_json else _show(answer)


def _likelihood(item: str) -> tuple[str, list[float]]:
    name, equals, numbers = item.partition("=")
    try:
        if equals:
            return name, [float(number) for number in numbers.split(",")]
    except ValueError:
        pass
    raise ParameterError(f"--virtual takes VAR=P,P,... with a number for each state, got {item!r}")


def _show_case(found: Explanation, seen: dict[str, Any]) -> None:
    rows = [[name, str(state), "seen" if name in seen else ""] for name, state in found.case.items()]
    output.show_table(["variable", "state", ""], rows)
    output.gap()
    output.show_pairs([("P(case | evidence)", output.number(found.probability))])


def _show_case_json(found: Explanation, seen: dict[str, Any]) -> None:
    answer = {"evidence": seen, "log_evidence": found.log_evidence}
    output.show_json(answer | {"case": found.case, "log_joint": found.log_joint, "probability": found.probability})


def _show(answer: Beliefs) -> None:
    rows = [
        [name if i == 0 else "", str(state), output.number(p), output.bar(p)]
        for name, belief in answer.beliefs.items()
        for i, (state, p) in enumerate(belief.items())
    ]
    output.show_table(["variable", "state", "probability", ""], rows)
    output.gap()
    seen = ", ".join(f"{name}={state}" for name, state in answer.evidence.items())
    log_evidence = round(answer.log_evidence, 12) + 0.0  # without the rounding of a certainty
    output.show_pairs([("evidence", seen or "none"), ("ln P(evidence)", output.number(log_evidence))])
