"""What the fit of a structure found out, and the network of a structure with CPTs from counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from bayeslearn import lazy_imports
from bayeslearn.distributions import Counts
from bayeslearn.distributions.categorical import shares
from bayeslearn.fit_info import FitInfo, plain
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.cpt import CPT
from bayeslearn.network.dag import DAG
from bayeslearn.network.parameters.credible_intervals import thin_rows
from bayeslearn.network.parameters.fit import uniform
from bayeslearn.network.parameters.priors import priors_of
from bayeslearn.network.parameters.results import share_of
from bayeslearn.network.structure.scoring.criteria import parents_of
from bayeslearn.reports import Grid, Pairs
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.holdout import HoldoutScore
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.network.parameters.credible_intervals import RowSupport
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.structure.constraint_based.pc import PCResult
    from bayeslearn.network.structure.missing_data.structural_em import StructuralEM
    from bayeslearn.network.structure.preprocessing import PreparedData
    from bayeslearn.network.structure.scoring.criteria import StructureScore
    from bayeslearn.network.structure.scoring.family_counts import Counts as StructureCounts
    from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
    from bayeslearn.network.structure.search_settings import SearchSettings
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrength, ArcStrengths
    from bayeslearn.tables import Table

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")


@dataclass(frozen=True)
class LearnedArc:
    """An arc, its score gain, and its bootstrap strength."""

    parent: str
    child: str
    #: What the score would lose without the arc.
    gain: float
    #: The share of bootstrap samples that connect the two variables, and of these the share in this direction.
    strength: float | None = None
    direction: float | None = None

    def __str__(self) -> str:
        return f"{self.parent} → {self.child}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class StructureFitInfo(FitInfo):
    """What the fit of a network to data found out about its structure.

    Attributes
    ----------
    history, converged, log_likelihood
        The iterations of structural EM, none for complete rows; and ln P(D | θ) of the network.
    settings
        The algorithm, the criterion and all other settings of the search.
    score
        The score of the structure; with missing values, of the observed values.
    arcs
        Arcs with gain and strength, by strength if there are bootstrap samples, else by gain.
    prepared_data
        The table that the network was fitted to, with bins and dropped columns.
    stopped_early
        Whether a time limit or the callback ended the search, so that the structure is the best up to then.
    strengths
        The strength of every pair of variables in the bootstrap samples, if there are any.
    n_averaged
        The number of bootstrap samples whose common arcs the structure has; 0 for the structure of all rows.
    independence_tests
        The result of the tests, of algorithms that test.
    structural_em
        The result of structural EM, with missing values or hidden variables.
    counts
        The counts of complete rows, which ``fit_network(..., warm_start=network)`` adds to.
    n_passes
        Passes over a source; a table requires none.
    holdout
        The comparison with baselines on rows held out, see :func:`~bayeslearn.network.evaluate_holdout`.
    """

    settings: SearchSettings
    score: float
    arcs: tuple[LearnedArc, ...]
    prepared_data: PreparedData
    stopped_early: bool = False
    strengths: ArcStrengths | None = None
    n_averaged: int = 0
    independence_tests: PCResult | None = None
    structural_em: StructuralEM | None = None
    counts: FamilyCounts | None = None
    n_passes: int = 0
    holdout: HoldoutScore | None = None
    _network: BayesianNetwork

    # -- the search

    @property
    def algorithm(self) -> str:
        """The algorithm that found the structure."""
        return self.settings.algorithm

    @property
    def criterion(self) -> StructureScore:
        """The criterion that structures were compared by."""
        return self.settings.criterion

    @property
    def description_length(self) -> float:
        """The score in bits; for bic, the description length of structure and rows together."""
        return -self.score / math.log(2)

    @property
    def n_resamples(self) -> int:
        """The number of bootstrap samples."""
        return 0 if self.strengths is None else self.strengths.n_samples

    # -- the data

    @property
    def table(self) -> Table:
        """The rows that the network was fitted to, or their source."""
        table: Table = self.prepared_data.table
        return table

    @property
    def missing(self) -> dict[str, int]:
        """The number of missing values of each column."""
        return self.table.missing()

    @property
    def hidden(self) -> dict[str, tuple[Any, ...]]:
        """The variables that are not observed in any row, with their states."""
        observed = self.table.schema.names
        return {name: self._network.states(name) for name in self._network.variables if name not in observed}

    @property
    def hidden_gain(self) -> float | None:
        """The score with hidden variables minus the score without; None without hidden variables."""
        return None if self.structural_em is None else self.structural_em.hidden_gain

    # -- what is uncertain

    def weakest_arcs(self, n: int = 5) -> tuple[LearnedArc, ...]:
        """Return the n arcs with the lowest strength (bootstrap) or score gain."""
        return self.arcs[::-1][:n]

    @property
    def nearly_joined(self) -> tuple[ArcStrength, ...]:
        """Pairs without an arc that at least a quarter of the bootstrap samples connect, the strongest first."""
        joined = {frozenset(arc) for arc in self._network.dag.arcs}
        pairs = [] if self.strengths is None else self.strengths.pairs()
        return tuple(p for p in pairs if p.strength >= NEARLY and frozenset((p.parent, p.child)) not in joined)

    @property
    def reversible_arcs(self) -> tuple[tuple[str, str], ...]:
        """Arcs whose direction the data do not determine; none where knowledge or the algorithm directs arcs."""
        from bayeslearn.network.structure.algorithms import ALGORITHMS  # noqa: PLC0415 - every algorithm loads with it

        if ALGORITHMS[self.algorithm].needs or self.settings.knowledge.directs:
            return ()
        ends = sorted(sorted(pair) for pair in self._network.dag.cpdag().undirected)
        return tuple((a, b) for a, b in ends)

    def thin_rows(self, n: int = 10) -> tuple[RowSupport, ...]:
        """Return the n rows of CPTs with the fewest observed rows, the fewest first."""
        return thin_rows(self._network, n)

    # -- as values

    def to_dict(self) -> dict[str, Any]:
        """Return the fit as plain values, without the table and the counts."""
        tests = self.independence_tests
        return {
            "n_rows": self.n_rows, "total_weight": self.table.total_weight, "missing": self.missing,
            "hidden": plain(self.hidden), "hidden_gain": self.hidden_gain, "algorithm": self.algorithm,
            "criterion": str(self.criterion), "score": self.score, "log_likelihood": self.log_likelihood,
            "arcs": plain(self.arcs), "n_tests": None if tests is None else tests.n_tests,
            "n_resamples": self.n_resamples, "weakest_arcs": plain(self.weakest_arcs()),
            "nearly_joined": plain(self.nearly_joined), "reversible_arcs": plain(self.reversible_arcs),
            "thin_rows": plain(self.thin_rows(MAX_WEAK)), "holdout": plain(self.holdout),
            "bins": plain(self.prepared_data.cuts), "dropped_columns": plain(self.dropped_columns),
            "notes": list(self.notes), "history": plain(self.history), "n_iter": self.n_iter,
            "converged": self.converged, "stopped_early": self.stopped_early, "n_passes": self.n_passes,
            "seconds": self.seconds,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each arc: parent, child, gain, strength, direction."""
        names = [field.name for field in fields(LearnedArc)]
        return frame_of({name: [getattr(arc, name) for arc in self.arcs] for name in names}, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Plot the strength or the gain of each arc; see :func:`bayeslearn.plots.plot_arcs`."""
        return plots.plot_arcs(self, ax=ax)

    def _title(self) -> str:
        n, arcs = len(self._network), len(self.arcs)
        return f"Network of {n} variables and {arcs} arcs fitted to {self.n_rows:,} rows"

    def _pairs(self) -> dict[str, Any]:
        from bayeslearn.network.structure.algorithms import ALGORITHMS  # noqa: PLC0415 - as above

        cells, missing = self.n_rows * len(self.table.schema), sum(self.missing.values())
        found: dict[str, Any] = {"Rows": self.n_rows}
        if self.table.total_weight != self.n_rows:
            found["Total weight"] = self.table.total_weight
        found["Missing values"] = share_of(missing, cells)
        if self.n_passes:
            found["Passes"] = self.n_passes
        if self.hidden:
            found["Hidden variables"] = "; ".join(map(self._hidden, self.hidden))
        found["Algorithm"] = f"{self.algorithm}: {ALGORITHMS[self.algorithm].about}"
        found |= {f"Score ({self.criterion})": f"{self.score:.8g}", "Arcs": len(self.arcs)}
        if self.independence_tests is not None:
            found["Independence tests"] = self.independence_tests.n_tests
        if self.strengths is not None:
            found["Bootstrap samples"] = self.n_resamples
        if self.stopped_early:
            found["Stopped early"] = "the best structure up to then"
        return found | super()._pairs()

    def _hidden(self, name: str) -> str:
        states, em = f"{name} ({len(self._network.states(name))} states", self.structural_em
        if em is None or em.hidden_gain is None:
            return f"{states})"
        return f"{states}, not connected)" if name in em.isolated else f"{states}, gain {em.hidden_gain:.4g})"

    def _blocks(self) -> tuple[Any, ...]:
        uncertain = self._uncertain()
        return (
            self._arcs(), Pairs(uncertain, "Least certain") if uncertain else None,
            None if self.holdout is None else self.holdout.grid(), bins_grid(self.prepared_data),
        )  # fmt: skip

    def _arcs(self) -> Grid | None:
        names = ["gain", "strength", "direction"] if self.strengths is not None else ["gain"]
        rows = [[str(arc), *(digits(getattr(arc, name)) for name in names)] for arc in self.arcs]
        return Grid(["Arc", *map(str.capitalize, names)], rows, "Arcs", max_rows=MAX_ARCS) if rows else None

    def _uncertain(self) -> dict[str, str]:
        """What is least certain, in a line for each kind."""
        found = {}
        if len(self.arcs) > MAX_WEAK:
            found["Weakest arcs"] = ", ".join(f"{arc} ({weakness(arc)})" for arc in self.weakest_arcs(MAX_WEAK))
        near = self.nearly_joined[:MAX_WEAK]
        if near:
            found["Nearly joined pairs"] = ", ".join(
                f"{' — '.join(sorted((pair.parent, pair.child)))} (strength {pair.strength:.2f})" for pair in near
            )
        turnable = [" — ".join(pair) for pair in self.reversible_arcs]
        if turnable:
            more = f" and {len(turnable) - MAX_ARCS} more" if len(turnable) > MAX_ARCS else ""
            found["Reversible arcs"] = ", ".join(turnable[:MAX_ARCS]) + more
        thin = [f"{row.name} ({row.n_observed:.4g} rows)" for row in self.thin_rows(MAX_WEAK)]
        if thin:
            found["CPT rows with the least data"] = ", ".join(thin)
        return found


#: Arcs that a report lists, and uncertain parts of each kind.
MAX_ARCS, MAX_WEAK = 40, 3

#: The strength from which on pairs without an arc are reported.
NEARLY = 0.25


def weakness(arc: LearnedArc) -> str:
    """The strength of an arc, or its gain."""
    return f"gain {arc.gain:.4g}" if arc.strength is None else f"strength {arc.strength:.2f}"


def digits(value: float | None) -> float | None:
    """A number with four significant digits."""
    return None if value is None else float(f"{value:.4g}")


def bins_grid(prepared: PreparedData) -> Grid | None:
    """The cut points of numeric columns, as a block."""
    rows = [(name, ", ".join(f"{cut:.4g}" for cut in cuts)) for name, cuts in prepared.cuts.items()]
    return Grid(["Column", "Cut points"], rows, "Bins", max_rows=MAX_ARCS) if rows else None


def arcs_of(network: BayesianNetwork, score: StructureScore, total: float) -> tuple[LearnedArc, ...]:
    """Every arc with what the score would lose without it, the largest gain first.

    The counts of the CPTs suffice, expected or observed: N(x, S − p) = Σ_p N(x, S).
    """
    found = []
    for cpt in network:
        n = cpt.observed_counts.n
        now = score.family(n, total)
        for axis, parent in enumerate(cpt.parents):
            found.append(LearnedArc(parent.name, cpt.name, now - score.family(n.sum(axis=axis), total)))
    return tuple(sorted(found, key=lambda arc: (-arc.gain, arc.parent, arc.child)))


### the network of a structure


def log_likelihood_of(network: BayesianNetwork) -> float:
    """Σ n ln θ of complete rows, which the counts of all CPTs are from."""
    return float(sum(xlogy(cpt.observed_counts.n, cpt.probabilities).sum() for cpt in network))


def tables_of(counts: StructureCounts, arcs: NDArray[np.bool_], prior: Prior) -> BayesianNetwork:
    """The network of a structure, each table with the counts and the prior that it is based on."""
    counts.expect(families=[(x, *parents_of(arcs, x)) for x in range(len(counts.names))])
    seen = {name: counts.family(x, parents_of(arcs, x)) for x, name in enumerate(counts.names)}
    return counted(uniform(graph(counts.names, arcs), {v.name: v for v in counts.variables}), seen, prior)


def marginals(table: Table, prior: Prior) -> BayesianNetwork:
    """The network without arcs: each variable by the values that are observed, which is where EM would end."""
    variables = {v.name: v for v in table.schema.discrete}
    seen = {
        name: np.bincount(table.codes_of(name).astype(np.int64) + 1, table.sample_weight, v.n_states + 1)[1:].astype(
            float
        )
        for name, v in variables.items()
    }
    return counted(uniform(DAG(dict.fromkeys(variables, ())), variables), seen, prior)


def counted(frame: BayesianNetwork, seen: Mapping[str, NDArray[np.float64]], prior: Prior) -> BayesianNetwork:
    """A network with tables by the counts of its families."""
    priors = priors_of(prior, frame)
    return BayesianNetwork(
        tuple(
            CPT(cpt.variable, cpt.parents, shares(n.n + prior.alpha, 1 / cpt.variable.n_states, nothing=0.0), n, prior)
            for cpt, n, prior in ((cpt, Counts(seen[cpt.name]), priors[cpt.name]) for cpt in frame)
        )
    )


def graph(names: Sequence[str], arcs: NDArray[np.bool_]) -> DAG:
    """A graph by names."""
    return DAG({name: tuple(names[c] for c in parents_of(arcs, x)) for x, name in enumerate(names)})
