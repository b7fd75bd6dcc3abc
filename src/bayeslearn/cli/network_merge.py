"""``bayeslearn merge``: one network from the evidence of several."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import output
from bayeslearn.cli.network_files import cases_behind, keep, load
from bayeslearn.errors import EvidenceError, MismatchError, ParameterError

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork


def run(
    nets: Annotated[list[str], typer.Argument(help="Two or more learned networks of one structure and prior.")],
    *,
    to: Annotated[Path, typer.Option("-o", "--output", help="The model to write; .json keeps counts and prior.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Merge learned networks: their evidence adds, and the prior counts once.

    The networks need one graph; states that only one of them has are added to the others.

    Example: bayeslearn merge north.json south.json -o both.json
    """
    from bayeslearn import files
    from bayeslearn.network.formats.read_write import label_of

    if len(nets) < 2:
        raise ParameterError(
            "a merge needs two networks or more, got one",
            hint="for instance bayeslearn merge a.json b.json -o both.json",
        )
    label_of(to, None)
    files.destination(to)
    networks = [learned(net) for net in nets]
    whole = networks[0]
    for net, network in zip(nets[1:], networks[1:], strict=True):
        whole = joined(nets[0], whole, net, network)
    keep(whole, to)
    parts = [(net, cases_behind(network)) for net, network in zip(nets, networks, strict=True)]
    if as_json:
        answer = [{"network": net, "cases": cases} for net, cases in parts]
        output.show_json({"networks": answer, "cases": cases_behind(whole)})
        return
    output.show_table(["network", "cases"], [[net, output.amount(cases)] for net, cases in parts])
    output.gap()
    output.show_pairs([("rests on", f"{output.amount(cases_behind(whole))} cases")])


def learned(net: str) -> BayesianNetwork:
    """A network that has evidence to add; an error names the file."""
    from bayeslearn.network.parameters.incremental import evidence_of

    network = load(net)
    try:
        evidence_of(network)
    except EvidenceError as error:
        raise EvidenceError(f"{net!r} cannot be merged: {error.message}", hint=error.hint) from None
    return network


def joined(first: str, whole: BayesianNetwork, name: str, network: BayesianNetwork) -> BayesianNetwork:
    """The sum of two networks; an error names the files."""
    try:
        return whole + network
    except MismatchError as error:
        message = f"{name!r} cannot be merged with {first!r}: {error.message}"
        raise MismatchError(message, hint=recipe(first, name, error), **error.details) from None


def recipe(first: str, name: str, error: MismatchError) -> str | None:
    """The commands that make a network which can be merged."""
    kept = {"graph": "graph", "cuts": "cuts", "prior": "prior"}.get(str(error.details.get("differs")))
    if kept is None:
        return error.hint
    again = f"bayeslearn fit parameters {first} DATA -o {name}"
    return (
        f"fit the data of {name} with the {kept} of {first}: `{again}`, then `bayeslearn merge {first} {name} -o FILE`"
    )
