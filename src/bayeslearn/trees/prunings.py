"""What the leaves of a tree predict: statistics, evidence, and averages over all prunings.

    classes    counts n_k          evidence by Dirichlet(α, …, α)          shares θ, their prior those of the parent
    numbers    n, x̄, M             evidence by normal-inverse-gamma        Student's t, its prior that of the parent

Numbers are standardized by the center and scale of the first training rows, which stay when rows are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.distributions import Categorical, Counts, Dirichlet, Moments, Normal, NormalInverseGamma

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.trees.structure import Trees

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

#: α of the evidence of classes, Jeffreys' prior for two of them (Krichevsky and Trofimov 1981).
ALPHA = 0.5

#: κ, α and β of the evidence of standardized numbers.
KAPPA, SHAPE, RATE = 0.5, 0.5, 0.05


@dataclass(frozen=True)
class PruningPrior:
    """The probability that a node is split, and the weight of the parent's prediction as prior of a node's."""

    split_probability: float = 0.5
    equivalent_sample_size: float = 0.5

    def __post_init__(self) -> None:
        a = validation.number("split_probability", self.split_probability, above=0, below=1)
        m = validation.number("equivalent_sample_size", self.equivalent_sample_size, above=0)
        object.__setattr__(self, "split_probability", float(a))
        object.__setattr__(self, "equivalent_sample_size", float(m))

    @property
    def logs(self) -> tuple[float, float, float]:
        """ln a, ln (1 − a), and m."""
        a = self.split_probability
        return float(np.log(a)), float(np.log1p(-a)), self.equivalent_sample_size


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of trees with their statistics: what is predicted, at each node and without each row."""

    trees: Trees
    statistics: Any
    prior: PruningPrior

    @cached_property
    def of_nodes(self) -> Floats:
        """The statistics of all nodes (nodes, …)."""
        raise NotImplementedError

    @cached_property
    def log_evidence(self) -> Floats:
        """ln p of the rows of each node as those of one leaf."""
        raise NotImplementedError

    @cached_property
    def node_values(self) -> Floats:
        """The prediction of each node as a leaf, its prior that of its parent."""
        raise NotImplementedError

    @cached_property
    def log_all(self) -> Floats:
        """ln p of the rows of each node, averaged over all prunings below it."""
        log_split, log_stop, _ = self.prior.logs
        found = np.empty(len(self.trees.left))
        kernels.weigh_prunings(self.trees.left, self.log_evidence, log_split, log_stop, found)
        return validation.lock(found)

    @cached_property
    def values(self) -> Floats:
        """The average over prunings of a path that ends at each node: at leaves, the prediction."""
        found = np.empty(self.node_values.shape)
        kernels.average_prunings(
            self.trees.left, self.log_evidence, self.log_all, self.prior.logs[1], self.node_values, found
        )
        return validation.lock(found)

    def placed(self, arrays: list[Floats]) -> Floats:
        """Statistics of leaves as rows of nodes; those of other nodes are 0."""
        found = np.zeros((len(self.trees.column), len(arrays)))
        found[self.trees.leaf_nodes] = np.stack(arrays, axis=1)
        return found


### classes


@dataclass(frozen=True, eq=False)
class ClassLeaves(Leaves):
    """Leaves with counts of classes."""

    @staticmethod
    def collect(leaves: Rows, labels: Any, weights: Floats, n_leaves: int, n_classes: int) -> Counts:
        """The counts of the leaves that rows end at."""
        cells = np.bincount(leaves * n_classes + labels, weights, n_leaves * n_classes)
        return Counts(cells.astype(np.float64).reshape(n_leaves, n_classes))

    @cached_property
    def of_nodes(self) -> Floats:
        """The statistics of all nodes."""
        found = self.placed(list(self.statistics.n.T))
        kernels.sum_children(self.trees.left, found)
        return validation.lock(found)

    @cached_property
    def log_evidence(self) -> Floats:
        """ln p of the rows of each node as those of one leaf."""
        counts = Counts(self.of_nodes)
        prior = Dirichlet(np.full(counts.n.shape, ALPHA))
        return validation.lock(Categorical(counts.n.shape[1]).log_evidence(prior, counts))

    @cached_property
    def node_values(self) -> Floats:
        """The prediction of each node as a leaf."""
        k = self.of_nodes.shape[1]
        found = np.full(self.of_nodes.shape, 1.0 / k)
        kernels.shrink_counts(self.trees.left, self.of_nodes, self.prior.equivalent_sample_size, found)
        return validation.lock(found)

    def without_each(self, rows: Rows, leaves: Rows, labels: Any, weights: Floats) -> Floats:
        """The prediction of some rows by one tree, each without its own weight in the counts."""
        found = np.empty((len(rows), self.of_nodes.shape[1]))
        kernels.leave_out_counts(
            (self.trees.left, self.trees.parent, leaves), rows, labels, weights, self.of_nodes, self.log_evidence,
            self.log_all, (*self.prior.logs, ALPHA), found,
        )  # fmt: skip
        return found


### numbers


@dataclass(frozen=True, eq=False)
class NumberLeaves(Leaves):
    """Leaves with moments of a number."""

    center: float = 0.0
    scale: float = 1.0

    @staticmethod
    def collect(leaves: Rows, values: Floats, weights: Floats, n_leaves: int) -> Moments:
        """The moments of the leaves that rows end at."""
        return Normal().collect(values, sample_weight=weights, groups=leaves, n_groups=n_leaves)

    @cached_property
    def of_nodes(self) -> Floats:
        """The statistics of all nodes."""
        n, mean, m2 = self.statistics.arrays()
        found = self.placed([n, np.where(n > 0, (mean - self.center) / self.scale, 0.0), m2 / self.scale**2])
        kernels.merge_children(self.trees.left, found)
        return validation.lock(found)

    @cached_property
    def log_evidence(self) -> Floats:
        """ln p of the rows of each node as those of one leaf."""
        n, mean, m2 = self.of_nodes.T
        prior = NormalInverseGamma(*(np.full(len(n), value) for value in (0.0, KAPPA, SHAPE, RATE)))
        return validation.lock(Normal().log_evidence(prior, Moments(n, mean, m2)))

    @property
    def start(self) -> Floats:
        """The prediction before any rows: mean, E y² and 1/ν."""
        return np.array([0.0, 1.0, 1.0 / (self.prior.equivalent_sample_size + 2.0)])

    @cached_property
    def node_values(self) -> Floats:
        """The prediction of each node as a leaf."""
        found = np.tile(self.start, (len(self.trees.column), 1))
        kernels.shrink_moments(self.trees.left, self.of_nodes, self.prior.equivalent_sample_size, found)
        return validation.lock(found)

    def without_each(self, rows: Rows, leaves: Rows, values: Floats, weights: Floats) -> Floats:
        """The prediction of some rows by one tree, each without its own weight; `values` are not standardized."""
        found = np.empty((len(rows), 3))
        kernels.leave_out_moments(
            (self.trees.left, self.trees.parent, leaves), rows, (values - self.center) / self.scale, weights,
            self.of_nodes, self.log_all, (*self.prior.logs, KAPPA, SHAPE, RATE), self.start, found,
        )  # fmt: skip
        return found
