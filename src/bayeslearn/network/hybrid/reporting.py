"""What a network of states and numbers shows: reports and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import joined
from bayeslearn.network.cpt import CPT
from bayeslearn.network.inference.results import pieces
from bayeslearn.network.reporting import MAX_DRAWN, MAX_PARENTS, MAX_STATES, cpt_rows
from bayeslearn.reports import MAX_ROWS, Grid, Picture, Report, Words
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.network.hybrid.network import HybridBayesianNetwork
    from bayeslearn.network.hybrid.nodes import LinearGaussianCPD
    from bayeslearn.network.inference.results import Backend


def network_report(network: HybridBayesianNetwork, *, picture: bool = False) -> Report:
    """The variables with their states or scale and parents, and the notes."""
    rows = [[node.name, kind_of(node), joined((v.name for v in node.parents), MAX_PARENTS)] for node in network.cpts]
    numeric, arcs = len(network.numeric_names), len(network.dag.arcs)
    size = f"{len(network)} variables ({numeric} numeric), {arcs:,} arcs, {network.n_parameters:,} parameters"
    title = f"{network.name}: {size}"
    return Report(
        title,
        Grid(["variable", "states", "parents"], rows, max_rows=2 * MAX_ROWS),
        Words(network.notes, "Notes") if network.notes else None,
        Picture(network.to_svg()) if picture and len(network) <= MAX_DRAWN else None,
    )


def kind_of(node: Any) -> str:
    """The states of a node, or that it is a number."""
    if isinstance(node, CPT):
        return joined(map(str, node.variable.states), MAX_STATES)
    return "log-normal number" if node.scale == "log" else "number"


def network_frame(network: HybridBayesianNetwork, backend: Backend) -> Any:
    """A row for each number of each node: variable, given, quantity, value."""
    rows = [row for node in network.cpts for row in (table_rows(node) if isinstance(node, CPT) else numeric_rows(node))]
    columns = zip(*rows, strict=True)
    return frame_of(dict(zip(["variable", "given", "quantity", "value"], columns, strict=True)), backend)


def table_rows(cpt: CPT) -> Iterator[tuple[str, str, str, float]]:
    """Each probability of a CPT."""
    for given, row in cpt_rows(cpt):
        for state, p in zip(cpt.variable.states, row, strict=True):
            yield cpt.name, ", ".join(pieces(given)), f"P({state})", p


def numeric_rows(node: LinearGaussianCPD) -> Iterator[tuple[str, str, str, float]]:
    """Each number of a numeric node."""
    intercept, coef, var = node.flat
    for i, given in enumerate(node.configurations()):
        condition = ", ".join(pieces(given))
        yield node.name, condition, "intercept", float(intercept[i])
        for j, parent in enumerate(node.numeric_parents):
            yield node.name, condition, f"coefficient of {parent.name}", float(coef[i, j])
        yield node.name, condition, "sd", float(np.sqrt(var[i]))
