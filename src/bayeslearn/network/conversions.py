"""Methods that take graphs and networks from other libraries, and give them to these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayeslearn.network import graph_text, interop
else:  # they load when something is converted
    graph_text = lazy_imports.Deferred("bayeslearn.network.graph_text")
    interop = lazy_imports.Deferred("bayeslearn.network.interop")


class GraphConversions:
    """How a :class:`~bayeslearn.DAG` is made from others, and given to others."""

    families: Mapping[str, tuple[str, ...]]

    if TYPE_CHECKING:

        def __init__(self, families: Mapping[str, tuple[str, ...]]) -> None: ...

        @classmethod
        def from_arcs(cls, arcs: Iterable[tuple[str, str]], nodes: Iterable[str] = ()) -> Self:
            """See :class:`~bayeslearn.DAG`."""

    @property
    def _dag(self) -> Any:
        """The graph itself, for nothing else is converted."""
        return self

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the graph of a text: a model string of bnlearn, chains of arcs, or a graph of dagitty.

        >>> from bayeslearn import DAG
        >>> DAG.parse("[Storm][Camp|Storm]") == DAG.parse("Storm -> Camp") == DAG.parse("dag { Camp <- Storm }")
        True
        """
        return cls(graph_text.parse(text))

    @classmethod
    def from_bnlearn(cls, text: str) -> Self:
        """Return the graph of a model string of R bnlearn: every node with its parents."""
        return cls(graph_text.parse_bnlearn(text))

    def to_bnlearn(self) -> str:
        """Return the model string, for ``model2network`` of R bnlearn.

        >>> from bayeslearn import DAG
        >>> DAG.parse("Storm -> Camp <- Bus").to_bnlearn()
        '[Storm][Camp|Storm:Bus][Bus]'
        """
        return graph_text.format_bnlearn(self.families)

    @classmethod
    def from_dagitty(cls, text: str) -> Self:
        """Return the graph of a text of dagitty; positions, roles and coefficients are left out.

        >>> from bayeslearn import DAG
        >>> DAG.from_dagitty('dag { smoke [exposure,pos="0,1"] ; smoke -> {lung tar} ; tar -> lung [beta=0.3] }')
        [smoke][lung|smoke:tar][tar|smoke]
        """
        return cls(graph_text.parse_dagitty(text))

    def to_dagitty(self) -> str:
        """Return the graph as text of dagitty.

        >>> from bayeslearn import DAG
        >>> print(DAG.parse("[Storm][Bus tour][Camp|Storm]").to_dagitty())
        dag {
        Storm
        "Bus tour"
        Camp
        Storm -> Camp
        }
        """
        return graph_text.format_dagitty(self.families)

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Return the nodes and edges of a networkx DiGraph, or of a graph that is made like it."""
        nodes, arcs = interop.graph_of(graph)
        return cls.from_arcs(arcs, nodes)

    def to_networkx(self) -> Any:
        """Return the graph as a networkx DiGraph."""
        return interop.dag_to_networkx(self._dag)

    def to_rustworkx(self) -> Any:
        """Return the graph as a rustworkx PyDiGraph, whose nodes hold the names."""
        return interop.to_rustworkx(self._dag, {node: node for node in self.families})


class NetworkConversions:
    """How a :class:`~bayeslearn.BayesianNetwork` is made from others, and given to others."""

    if TYPE_CHECKING:

        def __init__(self, cpts: Any, name: str = "network") -> None: ...

    @property
    def _converted(self) -> Any:
        """The network itself, for nothing else is converted."""
        return self

    @classmethod
    def from_pgmpy(cls, model: Any) -> Self:
        """Return a discrete network of pgmpy."""
        return cls(interop.cpts_from_pgmpy(model), str(getattr(model, "name", "") or "network"))

    def to_pgmpy(self) -> Any:
        """Return the network as a ``pgmpy.models.DiscreteBayesianNetwork``."""
        return interop.to_pgmpy(self._converted)

    @classmethod
    def from_pyagrum(cls, net: Any) -> Self:
        """Return a ``pyagrum.BayesNet``; labels of range, integer and numerical variables become numbers."""
        named = "name" in net.properties()
        return cls(interop.cpts_from_pyagrum(net), net.property("name") if named else "network")

    def to_pyagrum(self) -> Any:
        """Return the network as a ``pyagrum.BayesNet``, in which states are text."""
        return interop.to_pyagrum(self._converted)

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Return the network of a networkx DiGraph whose nodes have the attributes of :meth:`to_networkx`."""
        return cls(interop.cpts_from_networkx(graph), str(graph.graph.get("name") or "network"))

    def to_networkx(self) -> Any:
        """Return a networkx DiGraph whose nodes have the attributes ``states``, ``parents`` and ``probabilities``.

        The axes of the probabilities are the parents in their order, then the node itself.
        """
        return interop.network_to_networkx(self._converted)

    def to_rustworkx(self) -> Any:
        """Return a rustworkx PyDiGraph, whose nodes hold the CPTs."""
        network = self._converted
        return interop.to_rustworkx(network.dag, {cpt.name: cpt for cpt in network})
