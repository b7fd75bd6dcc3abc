"""Model files of networks of states and numbers: the document of a network, with a list of numeric nodes.

{"variables": [...], "cpts": [...], "numeric_nodes": [{"variable": "size", "parents": ["sex"], "intercept": [...],
 "coef": [...], "var": [...], "scale": "linear", "statistics": {...}, "prior": {...}}]}
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import JointMoments, RegressionPrior
from bayeslearn.errors import BayeslearnError, FormatError
from bayeslearn.network.cpt import CPT
from bayeslearn.network.formats.bayeslearn_json import Reader, require_small_numbers, table_entry
from bayeslearn.network.formats.network_builder import MOST_CELLS
from bayeslearn.network.hybrid.network import HybridBayesianNetwork
from bayeslearn.network.hybrid.nodes import LinearGaussianCPD
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable, Variable, variable_from_dict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.strict_json import Step


def document_of(network: HybridBayesianNetwork) -> dict[str, Any]:
    """The network as values of JSON, and arrays."""
    cpts = [node for node in network.cpts if isinstance(node, CPT)]
    for cpt in cpts:
        require_small_numbers(cpt.variable)
    return {
        "name": network.name,
        "notes": list(network.notes),
        "variables": [node.variable.to_dict() for node in network.cpts],
        "cpts": [table_entry(cpt) for cpt in cpts],
        "numeric_nodes": [node_entry(network[name]) for name in network.numeric_names],
    }


def node_entry(node: Any) -> dict[str, Any]:
    """One numeric node."""
    entry: dict[str, Any] = {"variable": node.name, "parents": [v.name for v in node.parents]}
    entry |= {"intercept": node.intercept, "coef": node.coef, "var": node.var, "scale": node.scale}
    if node.statistics is not None:
        found = node.statistics
        entry["statistics"] = {"n": found.n, "mean": found.mean, "scatter": found.scatter}
    if node.prior is not None:
        prior = node.prior.of((*node.rows, len(node.numeric_parents)))
        entry["prior"] = {"kappa": prior.kappa, "center": prior.center, "scatter": prior.scatter, "alpha": prior.alpha}
    return entry


class HybridReader(Reader):
    """A document with numeric nodes."""

    def network(self) -> BayesianNetwork:
        """The whole document."""
        self.head()
        self.numeric: dict[str, NumericVariable] = {}
        self.order: list[str] = []
        name = self.text(self.document.get("name", "unknown"), "name")
        notes = [self.text(n, "notes", i) for i, n in enumerate(self.items(self.document.get("notes", []), "notes"))]
        for i, entry in enumerate(self.items(self.document["variables"], "variables")):
            self.variable(entry, "variables", i)
        for i, entry in enumerate(self.items(self.document["cpts"], "cpts")):
            self.table(entry, "cpts", i)
        nodes: dict[str, Any] = {}
        if self.draft.variables:
            nodes |= {cpt.name: self.grounded(cpt) for cpt in self.draft.network()}
        for i, entry in enumerate(self.items(self.document["numeric_nodes"], "numeric_nodes")):
            node = self.node(entry, "numeric_nodes", i)
            if node.name in nodes:
                raise self.wrong(f"variable {node.name!r} has two nodes", "numeric_nodes", i)
            nodes[node.name] = node
        lacking = [key for key in self.order if key not in nodes]
        if lacking:
            raise self.wrong(f"variable {lacking[0]!r} has no node")
        try:
            return HybridBayesianNetwork(tuple(nodes[key] for key in self.order), name, tuple(notes))
        except FormatError:
            raise
        except BayeslearnError as error:
            raise self.wrong(error.message, hint=error.hint) from None

    def variable(self, entry: Any, *path: Step) -> None:
        """One variable, with states or numeric."""
        if not isinstance(entry, dict) or entry.get("kind") != "numeric":
            super().variable(entry, *path)
            self.order.append(entry["name"])
            return
        self.keys(entry, "numeric variable", *path)
        key = self.text(entry["name"], *path, "name")
        if key in self.numeric or key in self.draft.variables:
            raise self.wrong(f"variable {key!r} is declared twice", *path)
        try:
            found = variable_from_dict(entry)
        except FormatError as error:
            raise self.wrong(error.message, *path, hint=error.hint) from None
        assert isinstance(found, NumericVariable)
        self.numeric[key] = found
        self.order.append(key)

    def node(self, entry: Any, *path: Step) -> LinearGaussianCPD:
        """One numeric node, with what it is based on."""
        self.keys(entry, "numeric node", *path)
        key = self.text(entry["variable"], *path, "variable")
        if key not in self.numeric:
            raise self.wrong(f"there is no numeric variable {key!r}", *path, "variable")
        given = self.items(entry["parents"], *path, "parents")
        parents = [
            self.parent(self.text(name, *path, "parents", i), *path, "parents", i) for i, name in enumerate(given)
        ]
        rows = tuple(v.n_states for v in parents if isinstance(v, DiscreteVariable))
        k = sum(isinstance(v, NumericVariable) for v in parents)
        if len(parents) > 60 or math.prod(rows) * (k + 2) ** 2 > MOST_CELLS:
            raise self.wrong(f"the node {key!r} has too many configurations of its parents", *path)
        numbers = {
            "intercept": self.array(entry["intercept"], rows, *path, "intercept"),
            "coef": self.array(entry["coef"], (*rows, k), *path, "coef"),
            "var": self.amounts(entry["var"], rows, *path, "var"),
        }
        scale: Any = entry.get("scale", "linear")
        if scale not in ("linear", "log"):
            raise self.wrong(f"expected the scale 'linear' or 'log', found {scale!r:.60}", *path, "scale")
        try:
            return LinearGaussianCPD(
                self.numeric[key], tuple(parents), scale=scale, statistics=self.moments(entry, rows, k, *path),
                prior=self.regression_prior(entry, rows, k, *path), **numbers,
            )  # fmt: skip
        except FormatError:
            raise
        except BayeslearnError as error:
            raise self.wrong(error.message, *path, hint=error.hint) from None

    def parent(self, key: str, *path: Step) -> Variable:
        """A parent by name."""
        found = self.draft.variables.get(key) or self.numeric.get(key)
        if found is None:
            raise self.wrong(f"parent {key!r} is not declared", *path)
        return found

    def moments(self, entry: Any, rows: tuple[int, ...], k: int, *path: Step) -> JointMoments | None:
        """The moments of the rows that a node was learned from."""
        if entry.get("statistics") is None:
            return None
        given = self.keys(entry["statistics"], "moments", *path, "statistics")
        at = (*path, "statistics")
        scatter = self.scatter(given["scatter"], (*rows, k + 1, k + 1), *at, "scatter")
        return JointMoments(
            self.amounts(given["n"], rows, *at, "n"), self.array(given["mean"], (*rows, k + 1), *at, "mean"), scatter
        )

    def regression_prior(self, entry: Any, rows: tuple[int, ...], k: int, *path: Step) -> RegressionPrior | None:
        """The prior of a node."""
        if entry.get("prior") is None:
            return None
        given = self.keys(entry["prior"], "regression prior", *path, "prior")
        at = (*path, "prior")
        return RegressionPrior(
            self.amounts(given["kappa"], rows, *at, "kappa"),
            self.array(given["center"], (*rows, k + 1), *at, "center"),
            self.scatter(given["scatter"], (*rows, k + 1, k + 1), *at, "scatter"),
            self.array(given["alpha"], rows, *at, "alpha"),
        )

    def scatter(self, value: Any, shape: tuple[int, ...], *path: Step) -> NDArray[np.float64]:
        """A symmetric matrix for each row, with no negative entry on its diagonal."""
        found = self.array(value, shape, *path)
        if not np.allclose(found, np.swapaxes(found, -1, -2), rtol=1e-9, atol=0):
            raise self.wrong("expected a symmetric matrix", *path)
        if (np.diagonal(found, axis1=-2, axis2=-1) < 0).any():
            raise self.wrong("expected a scatter matrix without negative squares", *path)
        return found
