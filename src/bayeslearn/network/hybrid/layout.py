"""The nodes of a hybrid network by number: discrete ones in the order given, numeric ones with parents first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.network.cpt import CPT
from bayeslearn.network.hybrid.nodes import LinearGaussianCPD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.tables import Table


@dataclass(frozen=True)
class Rows:
    """Rows of data: codes of states (n, discrete), −1 where missing, and numbers on the scale of their node, or NaN."""

    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[Any] | slice) -> Rows:
        """Some of the rows."""
        return Rows(self.codes[rows], self.numbers[rows])


class Layout:
    """Nodes, parents and sizes of a hybrid network."""

    def __init__(self, nodes: Iterable[CPT | LinearGaussianCPD], order: Sequence[str]) -> None:
        found = {node.name: node for node in nodes}
        self.cpts: list[CPT] = [node for node in found.values() if isinstance(node, CPT)]
        self.nodes: list[LinearGaussianCPD] = [
            node for name in order if isinstance(node := found[name], LinearGaussianCPD)
        ]
        self.discrete = {cpt.name: i for i, cpt in enumerate(self.cpts)}
        self.numeric = {node.name: i for i, node in enumerate(self.nodes)}
        self.sizes = [cpt.variable.n_states for cpt in self.cpts]
        #: Numbers of the discrete variables of each CPT: parents, then the child.
        self.scopes = [(*(self.discrete[v.name] for v in cpt.parents), i) for i, cpt in enumerate(self.cpts)]
        with np.errstate(divide="ignore"):
            self.log_tables = [np.log(cpt.probabilities) for cpt in self.cpts]
        self.states_of = [tuple(self.discrete[v.name] for v in node.discrete_parents) for node in self.nodes]
        self.inputs_of = [tuple(self.numeric[v.name] for v in node.numeric_parents) for node in self.nodes]

    def rows(self, table: Table) -> Rows:
        """The rows of a table that has the variables of the network."""
        n = table.n_rows
        codes, numbers = np.full((n, len(self.cpts)), -1, np.int64), np.full((n, len(self.nodes)), np.nan)
        for name in table.columns:
            if name in self.discrete:
                codes[:, self.discrete[name]] = table.codes_of(name)
            elif name in self.numeric:
                at = self.numeric[name]
                numbers[:, at] = self.nodes[at].scaled(table.values_of(name))
        return Rows(codes, numbers)

    def log_jacobian(self, rows: Rows) -> NDArray[np.float64]:
        """−Σ ln x over the observed log-normal columns of each row, for x itself has the density of ln x over x."""
        logs = [i for i, node in enumerate(self.nodes) if node.scale == "log"]
        return -np.nansum(rows.numbers[:, logs], axis=1)

    def relevant(self, wanted: NDArray[np.bool_], wanted_numbers: NDArray[np.bool_]) -> tuple[Any, Any]:
        """Which nodes are among these or their ancestors: the others sum to one."""
        states, numbers = wanted.copy(), wanted_numbers.copy()
        for i in reversed(range(len(self.nodes))):
            if numbers[i]:
                numbers[list(self.inputs_of[i])] = True
                states[list(self.states_of[i])] = True
        stack: list[int] = np.flatnonzero(states).tolist()
        while stack:
            for parent in self.scopes[stack.pop()][:-1]:
                if not states[parent]:
                    states[parent] = True
                    stack.append(parent)
        return states, numbers


def connected(scopes: Iterable[Sequence[int]]) -> list[tuple[int, ...]]:
    """Numbers that are joined by scopes, directly or through others, each group in increasing order."""
    root: dict[int, int] = {}

    def find(i: int) -> int:
        while root.setdefault(i, i) != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for scope in scopes:
        for other in scope:
            root[find(other)] = find(scope[0])
    groups: dict[int, list[int]] = {}
    for i in sorted(root):
        groups.setdefault(find(i), []).append(i)
    return [tuple(group) for group in groups.values()]
