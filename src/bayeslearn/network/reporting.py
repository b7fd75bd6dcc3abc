"""What graphs, CPTs and networks show: reports, frames and plain values."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import joined
from bayeslearn.network.inference.results import pieces, probability_of, rows_left_out
from bayeslearn.printable import one_line
from bayeslearn.reports import MAX_ROWS, Grid, Picture, Report, Words
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.cpt import CPT, Factorization
    from bayeslearn.network.dag import DAG
    from bayeslearn.network.equivalence import CPDAG
    from bayeslearn.network.inference.results import Backend

#: States of a variable and parents that a report names, and nodes that a picture in it has.
MAX_STATES, MAX_PARENTS, MAX_DRAWN = 6, 6, 300


### networks


def network_title(network: Factorization) -> str:
    """The name of a network and its size."""
    fitted = [float(cpt.observed_counts.n.sum()) for cpt in network if cpt.is_learned]
    rows = f", fitted to {max(fitted):,.6g} rows" if fitted else ""
    arcs, parameters = len(network.dag.arcs), network.n_parameters
    return f"{network.name}: {len(network)} variables, {arcs:,} arcs, {parameters:,} parameters{rows}"


def network_report(network: BayesianNetwork, *, picture: bool = False) -> Report:
    """The variables of a network with their states and parents, its notes, and for a notebook its picture."""
    rows = [
        [
            cpt.name,
            joined(map(str, cpt.variable.states), MAX_STATES),
            joined((v.name for v in cpt.parents), MAX_PARENTS),
        ]
        for cpt in network
    ]
    return Report(
        network_title(network),
        Grid(["variable", "states", "parents"], rows, max_rows=2 * MAX_ROWS),
        Words(network.notes, "Notes") if network.notes else None,
        Picture(network.to_svg()) if picture and len(network) <= MAX_DRAWN else None,
    )


def network_dict(network: Factorization) -> dict[str, Any]:
    """The name, CPTs and notes of a network as plain values."""
    return {"name": network.name, "cpts": [cpt.to_dict() for cpt in network], "notes": list(network.notes)}


def network_frame(network: Factorization, backend: Backend) -> Any:
    """A row for each probability of each CPT: variable, the states of its parents, state, probability."""
    rows = [
        (cpt.name, ", ".join(pieces(given)), str(state), p)
        for cpt in network
        for given, row in cpt_rows(cpt)
        for state, p in zip(cpt.variable.states, row, strict=True)
    ]
    columns = zip(*rows, strict=True)
    return frame_of(dict(zip(["variable", "given", "state", "probability"], columns, strict=True)), backend)


### CPTs


def cpt_rows(cpt: CPT) -> Iterator[tuple[dict[str, Any], list[float]]]:
    """Each row of a CPT: the states of the parents, and the probabilities."""
    for i in np.ndindex(cpt.shape[:-1]):
        yield {v.name: v.states[k] for v, k in zip(cpt.parents, i, strict=True)}, cpt.probabilities[i].tolist()


def cpt_columns(cpt: CPT) -> list[str]:
    """The names of the columns of a CPT: parents, and a probability for each state."""
    return [*(v.name for v in cpt.parents), *(f"P({cpt.name}={state})" for state in cpt.variable.states)]


def cpt_report(cpt: CPT) -> Report:
    """The first rows of a CPT."""
    rows = [[*given.values(), *row] for given, row in islice(cpt_rows(cpt), MAX_ROWS)]
    rest = int(np.prod(cpt.shape[:-1], dtype=np.int64)) - len(rows)
    title = probability_of([cpt.name], {})[:-1] + (f" | {joined(v.name for v in cpt.parents)})" if cpt.parents else ")")
    return Report(title, Grid(cpt_columns(cpt), rows), rows_left_out(rest))


def cpt_dict(cpt: CPT) -> dict[str, Any]:
    """The variable, its states and parents, and the probabilities of a CPT as plain values."""
    return {
        "variable": cpt.name,
        "states": list(cpt.variable.states),
        "parents": {v.name: list(v.states) for v in cpt.parents},
        "probabilities": cpt.probabilities.tolist(),
    }


def cpt_frame(cpt: CPT, backend: Backend) -> Any:
    """A row for each combination of states of the parents: a column for each of these, and one for each state."""
    codes = np.argwhere(np.ones(cpt.shape[:-1], np.bool_)).T.tolist()  # a row for each parent
    states = [[v.states[k] for k in code] for v, code in zip(cpt.parents, codes, strict=True)]
    cells = [column if same_kind(column) else list(map(str, column)) for column in states]
    p = cpt.probabilities.reshape(-1, cpt.variable.n_states)
    return frame_of(dict(zip(cpt_columns(cpt), [*cells, *p.T], strict=True)), backend)


def same_kind(states: list[Any]) -> bool:
    """Whether states are all words, all whole numbers and so on, so that a column holds them unchanged."""
    return len({type(state) for state in states}) == 1 and isinstance(states[0], str | bool | int | float)


### graphs


def dag_title(dag: DAG) -> str:
    """The size of a graph."""
    return f"DAG: {len(dag)} nodes, {len(dag.arcs)} arcs"


def dag_report(dag: DAG, *, picture: bool = False) -> Report:
    """The nodes of a graph with their parents, and for a notebook its picture."""
    rows = [[node, joined(parents, MAX_PARENTS)] for node, parents in dag.families.items()]
    return Report(
        dag_title(dag),
        Grid(["node", "parents"], rows, max_rows=2 * MAX_ROWS),
        Picture(dag.to_svg()) if picture and len(dag) <= MAX_DRAWN else None,
    )


def cpdag_report(cpdag: CPDAG) -> Report:
    """The edges of an equivalence class."""
    return Report(
        f"CPDAG: {len(cpdag.nodes)} nodes, {len(cpdag.directed)} directed and {len(cpdag.undirected)} undirected edges",
        Grid(["from", "", "to"], [[a, "→" if way else "—", b] for a, b, way in edges(cpdag)], max_rows=2 * MAX_ROWS),
    )


def cpdag_frame(cpdag: CPDAG, backend: Backend) -> Any:
    """A row for each edge of an equivalence class: from, to, directed."""
    found = edges(cpdag)
    columns = {name: [edge[i] for edge in found] for i, name in enumerate(("from", "to", "directed"))}
    return frame_of(columns, backend)


def edges(cpdag: CPDAG) -> list[tuple[str, str, bool]]:
    """Ends of each edge and whether it is directed, directed ones first."""
    directed = [(a, b, True) for a, b in sorted(cpdag.directed)]
    return directed + [(a, b, False) for a, b in sorted(map(sorted, cpdag.undirected))]


def brief(text: str, otherwise: str, most: int = 200) -> str:
    """A text on one line, or another where it is long."""
    return one_line(text) if len(text) <= most else otherwise
