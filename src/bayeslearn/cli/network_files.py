"""Networks on the command line: loading, saving, hidden variables and evidence."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bayeslearn import datasets
from bayeslearn.errors import ParameterError, UnknownStateError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bayeslearn.network import BayesianNetwork


#: The help of an argument that names a network.
NETWORK = f"A network file of any format, or a shipped network: {', '.join(datasets.list_networks())}."

#: The help of an argument that names a model of any kind.
MODEL = (
    "Model file written by `bayeslearn fit`; or a network in any format, or one that ships: "
    f"{', '.join(datasets.list_networks())}."
)


def load(net: str) -> BayesianNetwork:
    """A network from a file of any format, or by the name it ships under."""
    from bayeslearn.network.formats import read_network

    return read_network(net)


def keep(network: BayesianNetwork, to: Path) -> None:
    """Save a network, and report it on stderr, with what its format does not keep."""
    from bayeslearn.network.formats.read_write import label_of, write_network

    write_network(network, to)
    lost = "" if label_of(to, None) in {"json", "model"} else "; only .json and .model keep counts, prior and bins"
    sys.stderr.write(f"wrote {to}: {len(network)} variables, {len(network.dag.arcs)} arcs{lost}\n")


def weight_of(network: BayesianNetwork) -> float:
    """The total weight of the rows that a network was fitted to."""
    return max(float(cpt.observed_counts.n.sum()) for cpt in network)


def hidden_variables(items: list[str] | None) -> dict[str, int | list[str]]:
    """VAR:N or VAR:STATE,STATE,...: hidden variables, with their states or the number of states."""
    from bayeslearn import validation

    found: dict[str, int | list[str]] = {}
    for item in items or []:
        name, colon, states = item.rpartition(":")
        if not (name and colon and states):
            raise ParameterError(
                f"--hidden takes VAR:N or VAR:STATE,STATE,..., got {item!r}", hint="for instance --hidden group:3"
            )
        found[name] = validation.count_or_names("--hidden", states)
    return found


def assignments(network: BayesianNetwork, items: list[str]) -> dict[str, Any]:
    """VAR=STATE, VAR=NUMBER, VAR=LOW..HIGH, VAR>NUMBER or COLUMN=DATE; see :mod:`.network.inference.evidence`."""
    from bayeslearn.network.inference.evidence import parse_evidence

    with named_on_command_line():
        return parse_evidence(network, items)


@contextmanager
def named_on_command_line() -> Iterator[None]:
    """Within the block, a state that there is none of is one that was named on the command line."""
    try:
        yield
    except UnknownStateError as error:
        raise ParameterError(error.message, hint=error.hint, **error.details) from None


def numbers_by_state(network: BayesianNetwork, option: str, item: str) -> tuple[str, Any]:
    """VAR=P,P,... in the order of the states, or VAR=STATE:P,STATE:P,... by state or number."""
    from bayeslearn.network.inference.evidence import parse_piece

    name, text = parse_piece(network, item) if "=" in item else ("", "")
    parts = text.split(",")
    try:
        if name and all(":" in part for part in parts):
            return name, {state.strip(): float(p) for state, _, p in (part.rpartition(":") for part in parts)}
        if name:
            return name, [float(p) for p in parts]
    except ValueError:
        pass
    raise ParameterError(
        f"{option} takes VAR=P,P,... with a number for each state, got {item!r}",
        hint=f"numbers by state are given as {option} VAR=STATE:P,STATE:P",
    )
