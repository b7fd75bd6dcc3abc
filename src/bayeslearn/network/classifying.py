"""What a classifier makes of its arguments: the name of the class, the graph or how to find it, and coded rows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.graph import Dag
from bayeslearn.network.learning.fit import uniform
from bayeslearn.network.network import BayesianNetwork
from bayeslearn.network.structure.methods import METHODS
from bayeslearn.network.structures import as_dag
from bayeslearn.sources import as_source, discretised, is_source
from bayeslearn.sources.usability import dropping, warn_dropped
from bayeslearn.tables import Discrete, Table, as_table
from bayeslearn.tables.discretise import quantile_cuts
from bayeslearn.tables.interval_values import weighted_values
from bayeslearn.tables.kinds import FEW
from bayeslearn.tables.raw import RawTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.tables import Source

    Columns = Mapping[str, Any]


### names


def given_or_searched(structure: BayesianNetwork | Dag | str | None) -> tuple[BayesianNetwork | Dag | None, str | None]:
    """A graph, or by what method it is to be learned; neither is the naive one."""
    if structure is None or isinstance(structure, BayesianNetwork):
        return structure, None
    if not isinstance(structure, str):
        return as_dag(structure), None
    if structure.lstrip().startswith("["):
        return Dag.parse(structure), None
    methods = ["learn", *(name for name, entry in METHODS.items() if entry.needs != "order")]
    method = validation.choice("structure", structure, methods)
    return None, {"learn": "auto", "naive": None}.get(method, method)


def target_name(structure: BayesianNetwork | Dag | None, target: str | None, label: Any, columns: Iterable[str]) -> str:
    """The name of the class: as given, as the structure leaves open, or as the labels are called."""
    columns = list(columns)
    if target is None and structure is None:
        name = label if isinstance(label, str) else "class"
        return name if name not in columns else f"{name}_label"
    names = structure.names if isinstance(structure, BayesianNetwork) else tuple(structure or ())
    if target is None:
        left = [label] if label in names else [name for name in names if name not in columns]
        if len(left) != 1:
            raise ParameterError(
                f"cannot tell which node is the class: {listed(left) or 'none'} could be", hint="name it with `target`"
            )
        return str(left[0])
    if structure is not None and target not in names:
        raise ParameterError(f"the target {target!r} is not in the structure", hint=f"its nodes are {listed(names)}")
    if target in columns and structure is None:
        raise ParameterError(f"the target {target!r} is a column of X too", hint="give it another name")
    return target


### codes


def select(columns: Columns, names: Iterable[str]) -> Columns:
    """Some of the columns, with the options of reading them."""
    return columns.select(names) if isinstance(columns, RawTable) else {name: columns[name] for name in names}


def discrete_table(columns: Columns, weights: NDArray[np.float64] | None, bins: int) -> Table:
    """Columns as states: whole numbers that repeat themselves as they are, other numbers by intervals."""
    gone = dropping(columns, None)
    table = as_table(columns, weights=weights, allow_constant=True, left_out=gone)
    warn_dropped(gone, named=True)
    found = {v.name: weighted_values(table.value(v.name), weights) for v in table.schema.numeric}
    states = [name for name, (values, weight) in found.items() if repeat(values, weight)]
    if states:
        table = as_table(columns, weights=weights, discrete=states, allow_constant=True, left_out=gone)
    return table.cut({v.name: quantile_cuts(*found[v.name], bins) for v in table.schema.numeric})


def repeat(values: NDArray[np.float64], weight: NDArray[np.float64]) -> bool:
    """Few whole numbers, each seen twice on average: tables count rows here, and this their weight."""
    return len(values) <= FEW and 2 * len(values) <= weight.sum() and bool((values == np.floor(values)).all())


def label_codes(variable: Discrete, y: NDArray[Any]) -> NDArray[np.intp]:
    """The states that labels stand for."""
    labels, place = np.unique(y, return_inverse=True)
    return np.array([variable.code_of(label) for label in labels.tolist()], dtype=np.intp)[place]


def coded(
    network: BayesianNetwork,
    target: str,
    columns: Columns,
    labels: NDArray[np.intp],
    weights: Any = None,
    *,
    unseen: Literal["error", "missing"] = "error",
) -> Table:
    """Rows in the codes of a network, the class by its labels; what is neither is missing."""
    absent = network.schema.absent_from(columns)
    used = [name for name in network.names if name not in absent and name != target]
    codes = np.full((len(network), len(labels)), -1, dtype=np.int64)
    codes[network.names.index(target)] = labels
    if used:
        shown = as_table(columns, schema=network.schema.select(used), unseen=unseen)
        codes[[network.names.index(name) for name in used]] = shown.codes
    return Table(network.schema, codes, np.empty((0, len(labels))), weights)


### sources


def names_data(X: Any) -> bool:
    """Whether X is data with names of columns, of which `y` may be one: a source, a path or a table."""
    return isinstance(X, Table | str | os.PathLike) or is_source(X)


def framed_source(
    structure: BayesianNetwork | Dag | None, X: Any, y: Any, weights: Any, bins: int
) -> tuple[BayesianNetwork, Source]:
    """A network with the states of a source, and nothing learned yet; and the source. `y` names the class."""
    if not isinstance(y, str) or not isinstance(weights, str | None):
        raise ParameterError(
            f"the class of a source, a path or a table is a column of it, and so are weights, got {type(y).__name__}",
            hint='name the columns: fit(source, "class", sample_weight="n")',
        )
    if isinstance(structure, BayesianNetwork):
        structure[y]
        return structure, as_source(X, schema=structure.schema, absent="missing", weights=weights)
    columns = None if structure is None else list(structure)
    source = as_source(X, columns=columns, discrete=[y], weights=weights, allow_constant=True)
    dag = structure or Dag({y: (), **{name: (y,) for name in source.schema.names if name != y}})
    if y not in dag:
        raise ParameterError(f"the class {y!r} is not in the structure", hint=f"its nodes are {listed(dag)}")
    source = discretised(source, bins=validation.integer("bins", bins, least=2))
    return uniform(dag, {v.name: v for v in source.schema}), source
