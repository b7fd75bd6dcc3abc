"""``bayeslearn merge``: one network from the counts of several."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import output
from bayeslearn.cli.network_files import keep, load, weight_of
from bayeslearn.errors import EvidenceError, MismatchError, ParameterError

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork


def run(
    nets: Annotated[list[str], typer.Argument(help="Two or more fitted networks with one structure and prior.")],
    *,
    to: Annotated[
        Path, typer.Option("-o", "--output", help="The model to write; .json and .model keep counts and prior.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Merge fitted networks: their counts add, and the prior counts once.

    The networks require the same structure; states that only one of them has are added to the others.

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
    parts = [(net, weight_of(network)) for net, network in zip(nets, networks, strict=True)]
    if as_json:
        answer = [{"network": net, "total_weight": weight} for net, weight in parts]
        output.show_json({"networks": answer, "total_weight": weight_of(whole)})
        return
    output.show_table(["network", "rows"], [[net, output.amount(weight)] for net, weight in parts])
    output.gap()
    output.show_pairs([("total rows", output.amount(weight_of(whole)))])


def learned(net: str) -> BayesianNetwork:
    """A network with counts to add; an error names the file."""
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
