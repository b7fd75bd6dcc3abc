"""The posterior over structures: sampled graphs and probabilities of arcs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.codec import Saved
from bayeslearn.errors import CapacityError, ParameterError, UnknownColumnError, nearest
from bayeslearn.fit_info import plain
from bayeslearn.model_values import ARRAY, MAYBE, NUMBER
from bayeslearn.network.dag import DAG
from bayeslearn.network.structure.results import MAX_ARCS, bins_grid
from bayeslearn.network.structure.uncertainty.model_averaging import AveragedNetworks
from bayeslearn.reports import Grid, Pairs, Report, Reported, Words
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.structure.preprocessing import PreparedData

#: Variables of graphs whose orders are counted.
MAX_VARIABLES = 18

#: Graphs that `to_dict` lists, and the least probability of arcs in a report.
MAX_DRAWS, LEAST = 5, 0.05

#: When chains agree: R̂ of the log score, and the largest difference of an arc's probability.
AGREED, NEAR = 1.1, 0.25


class Draw(NamedTuple):
    """A graph, and its share of the draws."""

    dag: DAG
    weight: float


@dataclass(frozen=True, eq=False, repr=False)
class StructurePosterior(Reported, Saved, kind="structure posterior"):
    """The posterior over structures: sampled graphs and probabilities of arcs; files keep all of it but the rows.

    Attributes
    ----------
    names
        The variables.
    arcs
        P(c → x | D) as an array ``arcs[c, x]``.
    log_scores
        ln P(order, D) of every sample, (chains, samples), up to a constant.
    r_hat
        R̂ of the log scores: near 1 if the chains agree.
    max_chain_difference
        The largest difference between chains in the probability of an arc.
    acceptance_rate
        The share of proposed moves that were accepted.
    draws
        The distinct sampled graphs, each a :class:`Draw` with its share, the most frequent first.
    prepared_data
        The table that it was computed from.
    seconds, stopped_early
        The duration, and whether a limit or the callback ended the chains.
    """

    names: tuple[str, ...]
    arcs: NDArray[np.float64]
    log_scores: NDArray[np.float64]
    r_hat: float
    max_chain_difference: float
    acceptance_rate: float
    draws: tuple[Draw, ...]
    prepared_data: PreparedData | None = None
    seconds: float = 0.0
    stopped_early: bool = False

    @property
    def converged(self) -> bool:
        """Whether the chains agree."""
        return self.r_hat <= AGREED and self.max_chain_difference <= NEAR

    def arc_probability(self, parent: str, child: str) -> float:
        """Return P(parent → child | D)."""
        return float(self.arcs[self._place(parent), self._place(child)])

    def edge_probability(self, a: str, b: str) -> float:
        """Return P(an arc between both in either direction | D)."""
        return self.arc_probability(a, b) + self.arc_probability(b, a)

    def ranked_arcs(self) -> list[tuple[str, str, float]]:
        """Return all arcs with their probabilities, the most probable first, then by name."""
        n = len(self.names)
        found = [(self.names[c], self.names[x], float(self.arcs[c, x])) for c in range(n) for x in range(n) if c != x]
        return sorted(found, key=lambda arc: (-round(arc[2], 9), arc[:2]))  # rounding decides nothing

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each arc: parent, child, probability; the most probable first."""
        arcs = self.ranked_arcs()
        names = ("parent", "child", "probability")
        return frame_of({name: [arc[j] for arc in arcs] for j, name in enumerate(names)}, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return probabilities of arcs, the most probable graphs and the diagnostics of the chains as plain values."""
        chains, samples = self.log_scores.shape
        found: dict[str, Any] = {
            "variables": list(self.names), "n_chains": chains, "n_samples": samples, "n_graphs": len(self.draws),
            "arcs": [{"parent": a, "child": b, "probability": p} for a, b, p in self.ranked_arcs()],
            "graphs": self.graphs_to_dict(), "r_hat": self.r_hat, "max_chain_difference": self.max_chain_difference,
            "acceptance_rate": self.acceptance_rate, "converged": self.converged, "seconds": self.seconds,
            "stopped_early": self.stopped_early,
        }  # fmt: skip
        data = self.prepared_data
        if data is None:
            return found
        return found | {
            "n_rows": data.table.n_rows, "total_weight": data.table.total_weight, "bins": plain(data.cuts),
            "dropped_columns": plain(data.dropped_columns), "notes": list(data.notes),
        }  # fmt: skip

    def graphs_to_dict(self, max_results: int = MAX_DRAWS) -> list[dict[str, Any]]:
        """Return the most probable graphs as plain values: structure, arcs, probability."""
        return [
            {"structure": str(dag), "arcs": [list(arc) for arc in dag.arcs], "probability": p}
            for dag, p in self.most_probable_graphs(max_results)
        ]

    def report(self) -> Report:
        """Return the probabilities of arcs and the diagnostics of the chains."""
        chains, samples = self.log_scores.shape
        pairs: dict[str, Any] = {
            "Samples": f"{samples:,} orders from each of {chains} chains", "Distinct graphs": len(self.draws),
            "Converged": self.converged, "R-hat": f"{self.r_hat:.3f}",
            "Largest difference between chains": f"{self.max_chain_difference:.2f}",
            "Acceptance rate": self.acceptance_rate,
        }  # fmt: skip
        if self.stopped_early:
            pairs["Stopped early"] = "with the orders up to then"
        data = self.prepared_data
        if data is not None:
            weight = data.table.total_weight
            total = {"Total weight": weight} if weight != data.table.n_rows else {}
            pairs = {"Rows": data.table.n_rows} | total | pairs
        arcs = [(f"{a} → {b}", p, self.edge_probability(a, b)) for a, b, p in self.ranked_arcs() if p >= LEAST]
        rounded = [(arc, f"{p:.3f}", f"{edge:.3f}") for arc, p, edge in arcs]
        grid = Grid(["Arc", "P(arc)", "P(either direction)"], rounded, "Most probable arcs", max_rows=MAX_ARCS)
        blocks = () if data is None else (bins_grid(data), *notes_on(data))
        title = f"Posterior of the structure of {len(self.names)} variables"
        return Report(title, Pairs(pairs), grid if arcs else None, *blocks)

    def most_probable_graphs(self, max_results: int = 5) -> tuple[Draw, ...]:
        """Return the graphs with the largest posterior probability, each with its probability."""
        return self.draws[: validation.integer("max_results", max_results, min_value=0)]

    def symmetrized(self) -> StructurePosterior:
        """Return the posterior with all graphs equally probable a priori: draws weighted by 1 / orders they fit."""
        if len(self.names) > MAX_VARIABLES:
            raise CapacityError(
                f"orders are counted for graphs of at most {MAX_VARIABLES} variables, got {len(self.names)}",
                hint="keep the prior over orders",
                variables=len(self.names),
            )
        weights = np.array([draw.weight / orders_of(draw.dag) for draw in self.draws])
        draws = sorted_draws(zip((draw.dag for draw in self.draws), (weights / weights.sum()).tolist(), strict=True))
        return replace(self, draws=draws, arcs=mean_arcs(self.names, draws))

    def model_average(self, data: Any = None, *, prior: Prior = "bdeu:1", max_networks: int = 50) -> AveragedNetworks:
        """Return the networks of the most probable graphs, averaged by their probabilities.

        Parameters
        ----------
        data
            The rows that parameters are fitted to; default: the rows that the posterior was computed from.
        prior
            The prior of the CPTs, as in :func:`~bayeslearn.fit_parameters`.
        max_networks
            The maximum number of graphs.
        """
        if data is None and self.prepared_data is None:
            raise ParameterError("the rows of this posterior were not kept", hint="give them: model_average(data)")
        rows = self.prepared_data.table if data is None and self.prepared_data is not None else data
        return AveragedNetworks.fit(self.draws, rows, prior=prior, max_networks=max_networks)

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
            "gap": self.max_chain_difference,
            "taken": self.acceptance_rate,
            "draws": draws,
            "seconds": self.seconds,
            "stopped": self.stopped_early,
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


def notes_on(data: PreparedData) -> tuple[Grid | None, Words | None]:
    """Dropped columns and notes, as blocks."""
    dropped = [*data.dropped_columns.items()]
    grid = Grid(["Column", "Reason"], dropped, "Dropped columns") if dropped else None
    return grid, Words(data.notes, "Notes") if data.notes else None


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
