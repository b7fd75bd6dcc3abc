"""Two networks side by side: the arcs they share, how far they are apart, and how well each explains the same cases.

both, turned, only one      what becomes of every pair that is joined
distance                    pairs that are joined differently, between the classes of equivalent graphs
BIC                         ln P(D) − ½ ln N · free parameters, with the tables as they are
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.equivalence import equivalent, shd
from bayeslearn.network.graph import Dag
from bayeslearn.network.structures import as_network
from bayeslearn.sources import with_options
from bayeslearn.tables import Table, as_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.tables.markers import Markers

    Arc = tuple[str, str]


@dataclass(frozen=True)
class Explained:
    """How probable cases are under one network."""

    cases: float
    log_likelihood: float
    free_parameters: int
    #: Rows of probability zero.
    impossible: int = 0

    @property
    def per_case(self) -> float:
        """ln P of a case, on average."""
        return self.log_likelihood / self.cases if self.cases > 0 else float("nan")

    @property
    def bic(self) -> float:
        """ln P less what the parameters cost."""
        return self.log_likelihood - 0.5 * float(np.log(max(self.cases, 1.0))) * self.free_parameters


@dataclass(frozen=True)
class Comparison:
    """What two networks a and b have in common, and what not."""

    #: Pairs joined differently, between the classes of the graphs: what data can tell.
    distance: int
    #: Pairs joined differently, arc by arc.
    arc_distance: int
    #: Whether the graphs hold the same separations.
    equivalent: bool
    both: tuple[Arc, ...]
    #: As they stand in a.
    turned: tuple[Arc, ...]
    only_a: tuple[Arc, ...]
    only_b: tuple[Arc, ...]
    #: Variables that the other lacks; it then counts as having them without arcs.
    variables_only_a: tuple[str, ...] = ()
    variables_only_b: tuple[str, ...] = ()
    #: On the variables that both have, when cases are given.
    explained: tuple[Explained, Explained] | None = None


def compare(
    a: BayesianNetwork,
    b: BayesianNetwork,
    data: Any = None,
    *,
    missing: Markers = (),
    keep_default_na: bool = True,
    unseen: Literal["missing", "error"] = "missing",
) -> Comparison:
    """Compare the graphs of two networks, and how probable cases are under each.

    Cases are compared by the variables that both networks have; what is missing in them is summed over.
    The options of reading cases are those of :meth:`~bayeslearn.BayesianNetwork.score`.

    >>> from bayeslearn.network import fit_tables
    >>> days = {"rain": ["yes", "no", "no", "yes"], "wet": ["yes", "no", "no", "yes"]}
    >>> one, two = (fit_tables(graph, days).network for graph in ("[rain][wet|rain]", "[wet][rain|wet]"))
    >>> found = compare(one, two)
    >>> found.turned, found.distance, found.arc_distance, found.equivalent
    ((('rain', 'wet'),), 0, 1, True)
    """
    a, b = as_network(a), as_network(b)
    data = with_options(data, missing=missing, keep_default_na=keep_default_na)
    only_a, only_b = (tuple(v for v in x.names if v not in y) for x, y in ((a, b), (b, a)))
    left, right = _widened(a.dag, only_b), _widened(b.dag, only_a)
    arcs, others = set(left.arcs), set(right.arcs)
    return Comparison(
        distance=shd(left.cpdag(), right.cpdag()),
        arc_distance=shd(left, right),
        equivalent=equivalent(a.dag, b.dag),
        both=_sorted(arcs & others),
        turned=_sorted(arc for arc in arcs if arc[::-1] in others),
        only_a=_sorted(arc for arc in arcs if not {arc, arc[::-1]} & others),
        only_b=_sorted(arc for arc in others if not {arc, arc[::-1]} & arcs),
        variables_only_a=only_a,
        variables_only_b=only_b,
        explained=None if data is None else _explained(a, b, data, unseen),
    )


def _widened(dag: Dag, more: Iterable[str]) -> Dag:
    """The graph with other variables beside it, joined to nothing."""
    return Dag({**dag.families, **dict.fromkeys(more, ())})


def _sorted(arcs: Iterable[Arc]) -> tuple[Arc, ...]:
    return tuple(sorted(arcs))


def _explained(a: BayesianNetwork, b: BayesianNetwork, data: Any, unseen: Any) -> tuple[Explained, Explained]:
    shared = [name for name in a.names if name in b]
    if not shared:
        raise ParameterError(
            "the networks share no variable, so that no case can be compared",
            hint=f"one has {listed(a.names)}, the other {listed(b.names)}",
        )
    one, other = (
        as_table(data, schema=network.schema.select(shared), absent="missing", unseen=unseen) for network in (a, b)
    )
    gone = (one.codes < 0) | (other.codes < 0)  # what one network does not know is hidden from both
    return _explains(a, one, gone), _explains(b, other, gone)


def _explains(network: BayesianNetwork, table: Table, gone: NDArray[np.bool_]) -> Explained:
    score = network.score(Table(table.schema, np.where(gone, -1, table.codes), table.values, table.weights))
    return Explained(score.weight, score.log_likelihood, network.free_parameters, len(score.impossible))
