"""What is believed of arcs and graphs: graphs that were drawn, and how probable each arc is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn import kernels
from bayeslearn.codec import Saved
from bayeslearn.errors import CapacityError, ParameterError, UnknownColumnError, nearest
from bayeslearn.model_values import ARRAY, MAYBE, NUMBER
from bayeslearn.network.dag import DAG
from bayeslearn.network.structure.uncertainty.model_averaging import AveragedNetworks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.structure.preprocessing import PreparedData

#: Variables of graphs whose orders are counted.
MOST_VARIABLES = 18

#: When chains agree: R̂ of the log score, and the largest difference of an arc's probability.
AGREED, NEAR = 1.1, 0.25


class Draw(NamedTuple):
    """A graph, and its share of the draws."""

    dag: DAG
    weight: float


@dataclass(frozen=True, eq=False)
class StructurePosterior(Saved, kind="structure posterior"):
    """What is believed of arcs and graphs; files keep all of it but the rows."""

    names: tuple[str, ...]
    #: P(c → x | D) as arcs[c, x].
    arcs: NDArray[np.float64]
    #: ln P(order, D) of every sample, (chains, samples), up to a constant.
    log_scores: NDArray[np.float64]
    #: R̂ of the log scores: near 1 when the chains agree.
    r_hat: float
    #: The largest difference between chains in the probability of an arc.
    gap: float
    #: The share of moves that were taken.
    taken: float
    #: Distinct graphs, the most frequent first.
    draws: tuple[Draw, ...]
    #: The table that it rests on, and what had to be done for it.
    prepared: PreparedData | None = None
    seconds: float = 0.0
    #: Whether a limit ended the chains.
    stopped: bool = False

    @property
    def converged(self) -> bool:
        """Whether the chains agree."""
        return self.r_hat <= AGREED and self.gap <= NEAR

    def arc(self, parent: str, child: str) -> float:
        """P(parent → child | D)."""
        return float(self.arcs[self._place(parent), self._place(child)])

    def edge(self, a: str, b: str) -> float:
        """P(an arc between both, either way | D)."""
        return self.arc(a, b) + self.arc(b, a)

    def table(self) -> list[tuple[str, str, float]]:
        """All arcs with their probabilities, the most probable first, then by name."""
        n = len(self.names)
        found = [(self.names[c], self.names[x], float(self.arcs[c, x])) for c in range(n) for x in range(n) if c != x]
        return sorted(found, key=lambda arc: (-round(arc[2], 9), arc[:2]))  # rounding decides nothing

    def fair(self) -> StructurePosterior:
        """The same with all graphs equally probable before the data: draws weighed by 1 / orders they fit."""
        if len(self.names) > MOST_VARIABLES:
            raise CapacityError(
                f"orders are counted for graphs of at most {MOST_VARIABLES} variables, got {len(self.names)}",
                hint="keep the prior over orders",
                variables=len(self.names),
            )
        weights = np.array([draw.weight / orders_of(draw.dag) for draw in self.draws])
        draws = sorted_draws(zip((draw.dag for draw in self.draws), (weights / weights.sum()).tolist(), strict=True))
        return replace(self, draws=draws, arcs=mean_arcs(self.names, draws))

    def networks(self, data: Any = None, *, prior: Prior = "bdeu:1", most: int = 50) -> AveragedNetworks:
        """The most probable graphs, at most so many, each with a say in every answer: the Bayes optimal one.

        Their tables are learned from `data`, or else from the rows that the posterior rests on.
        """
        if data is None and self.prepared is None:
            raise ParameterError("the rows of this posterior were not kept", hint="give them: networks(data)")
        rows = self.prepared.table if data is None and self.prepared is not None else data
        return AveragedNetworks.learned(self.draws, rows, prior=prior, most=most)

    def to_document(self) -> dict[str, Any]:
        """Return the posterior as plain values and arrays; parents of each draw are positions of names.

        {"names", "arcs", "log_scores", "r_hat": number or null where it is infinite, "gap", "taken",
         "draws": [{"weight", "parents": [[position, ...], ...]}, ...], "seconds", "stopped"}
        """
        place = {name: i for i, name in enumerate(self.names)}
        draws = [
            {"weight": weight, "parents": [[place[p] for p in dag.parents(name)] for name in self.names]}
            for dag, weight in self.draws
        ]
        return {
            "names": list(self.names),
            "arcs": self.arcs,
            "log_scores": self.log_scores,
            "r_hat": self.r_hat if np.isfinite(self.r_hat) else None,
            "gap": self.gap,
            "taken": self.taken,
            "draws": draws,
            "seconds": self.seconds,
            "stopped": self.stopped,
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> StructurePosterior:
        """Return the posterior of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "names": [str], "arcs": ARRAY, "log_scores": ARRAY, "r_hat": (*NUMBER, MAYBE), "gap": NUMBER,
            "taken": NUMBER, "draws": [dict], "seconds": NUMBER, "stopped": bool,
        }  # fmt: skip
        names, arcs, log_scores, r_hat, gap, taken, entries, seconds, stopped = reader.entries(
            document, keys, "a posterior"
        )
        n, names = len(names), tuple(names)
        probabilities, scores = reader.amounts(arcs, "arcs", (n, n)), reader.numbers(log_scores, "log_scores")
        if probabilities.max(initial=0.0) > 1 or scores.ndim != 2 or not scores.size or len(set(names)) < n:
            reader.wrong("its names are the same, an arc has a probability above 1, or its chains are no table")
        draws = tuple(read_draw(reader, entry, names) for entry in entries)
        r_hat = np.inf if r_hat is None else float(r_hat)
        return cls(names, probabilities, scores, r_hat, float(gap), float(taken), draws, None, float(seconds), stopped)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise UnknownColumnError(
                f"there is no variable {name!r}", hint=nearest([name], self.names, "the variables")
            )
        return self.names.index(name)


def read_draw(reader: Reader, entry: Any, names: tuple[str, ...]) -> Draw:
    """A graph of a file, and its share of the draws."""
    weight, parents = reader.entries(entry, {"weight": NUMBER, "parents": [[int]]}, "a draw")
    if weight < 0 or len(parents) != len(names) or any(not 0 <= p < len(names) for own in parents for p in own):
        reader.wrong(f"{entry!r:.80} is no draw of a graph with {len(names)} variables")
    return Draw(DAG({name: tuple(names[p] for p in own) for name, own in zip(names, parents, strict=True)}), weight)


def orders_of(dag: DAG) -> float:
    """How many orders put every node of a graph after its parents."""
    bit = {name: 1 << i for i, name in enumerate(dag.nodes)}
    parents = np.array([sum(bit[p] for p in dag.parents(name)) for name in dag.nodes], np.int64)
    return float(kernels.count_orders(parents, np.empty(1 << len(bit))))


def sorted_draws(draws: Iterable[tuple[DAG, float]]) -> tuple[Draw, ...]:
    """Draws, the most frequent first, then by their arcs."""
    return tuple(Draw(*draw) for draw in sorted(draws, key=lambda draw: (-draw[1], sorted(draw[0].arcs))))


def mean_arcs(names: tuple[str, ...], draws: Iterable[Draw]) -> NDArray[np.float64]:
    """P(c → x) by draws, as arcs[c, x]."""
    place = {name: i for i, name in enumerate(names)}
    arcs = np.zeros((len(names), len(names)))
    for dag, weight in draws:
        for c, x in dag.arcs:
            arcs[place[c], place[x]] += weight
    return arcs
