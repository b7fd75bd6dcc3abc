"""Bayesian model averaging: several networks, each weighted by its probability.

    P(x | e, D) = Σ_G P(G | D) P(e | G) P(x | e, G) / Σ_G P(G | D) P(e | G)

The evidence changes the weights of the networks, which therefore differ from query to query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from bayeslearn import validation
from bayeslearn.codec import Saved
from bayeslearn.errors import MismatchError, ParameterError, ShapeError
from bayeslearn.model_values import ARRAY
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.inference.evidence import as_evidence, as_names
from bayeslearn.network.inference.results import Posterior, PosteriorTable, batch_rows, impossible_row, state_names
from bayeslearn.network.parameters.fit import fit_parameters
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables import as_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.network.dag import DAG
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.tables import Schema, Table


@dataclass(frozen=True, eq=False, repr=False)
class AveragedNetworks(Reported, Saved, kind="network average"):
    """Networks over the same variables, with their probabilities: Bayesian model averaging.

    Attributes
    ----------
    networks
        The networks.
    probabilities
        The probability of each network.

    Examples
    --------
    >>> from bayeslearn.network import BayesianNetwork
    >>> p = [1, 0], [0, 1], [0, 1]
    >>> nets = [BayesianNetwork.from_tables("[v]", {"v": row}, states={"v": ["+", "-"]}) for row in p]
    >>> print(f"{AveragedNetworks(nets, [0.4, 0.3, 0.3]).query()['v']['-']:.1f}")     # the most probable predicts +
    0.6
    """

    networks: Sequence[BayesianNetwork]
    probabilities: Sequence[float] | NDArray[np.float64]

    def __post_init__(self) -> None:
        networks = tuple(self.networks)
        if not networks:
            raise ParameterError("an average needs at least one network, got none")
        probabilities = validation.float_array("probabilities", self.probabilities)
        if probabilities.shape != (len(networks),):
            raise ShapeError(f"expected probabilities of shape ({len(networks)},), got {probabilities.shape}")
        for other in networks[1:]:
            if {n: other.states(n) for n in other.variables} != {
                n: networks[0].states(n) for n in networks[0].variables
            }:
                raise MismatchError(
                    "networks are averaged when their variables and states are the same",
                    hint="fit them to the same columns with the same states",
                )
        object.__setattr__(self, "networks", networks)
        checked = validation.probabilities(probabilities, name="probabilities")
        object.__setattr__(self, "probabilities", checked)

    @classmethod
    def fit(
        cls, draws: Iterable[tuple[DAG, float]], data: Any, *, prior: Prior = "bdeu:1", max_networks: int = 50
    ) -> Self:
        """Return the networks of the graphs with the largest weights, their parameters fitted to data."""
        n = validation.integer("max_networks", max_networks, min_value=1)
        kept = sorted(draws, key=lambda draw: -draw[1])[:n]
        weights = np.array([weight for _, weight in kept])
        return cls([fit_parameters(dag, data, prior=prior) for dag, _ in kept], weights / weights.sum())

    def report(self) -> Report:
        """Return the most probable networks with their arcs."""
        order = np.argsort(-np.asarray(self.probabilities), kind="stable").tolist()
        each = [(float(self.probabilities[j]), self.networks[j].dag) for j in order]
        rows = [(p, len(dag.arcs), dag.to_model_string()) for p, dag in each]
        title = f"Average of {len(self.networks)} networks over {len(self.schema)} variables"
        return Report(title, Grid(["Probability", "Arcs", "Structure"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the structure and the probability of each network as plain values."""
        each = zip(self.networks, np.asarray(self.probabilities).tolist(), strict=True)
        return {"networks": [{"probability": p, "arcs": [list(arc) for arc in net.dag.arcs]} for net, p in each]}

    @property
    def schema(self) -> Schema:
        """The variables, in the order of the first network."""
        return self.networks[0].schema

    def query(self, evidence: Mapping[str, Any] | None = None, *, variables: Iterable[str] | None = None) -> Posterior:
        """Posterior distributions given evidence, as :meth:`ExactInference.query` gives them for one network."""
        asked = None if variables is None else as_names(variables)
        logs = np.array([network.inference.log_evidence(evidence) for network in self.networks]) + self._log_weights
        if np.isneginf(logs).all():
            return self.networks[0].query(evidence, variables=asked)  # which names the conflict
        share = np.exp(logs - logsumexp(logs))
        answers = [
            (net.query(evidence, variables=asked), p) for net, p in zip(self.networks, share, strict=True) if p > 0
        ]
        beliefs = {
            name: {state: float(sum(p * found[name][state] for found, p in answers)) for state in states}
            for name, states in answers[0][0].beliefs.items()
        }
        return Posterior(as_evidence(self.networks[0], evidence), float(logsumexp(logs)), beliefs)

    def predict_proba(self, data: Any, variables: Iterable[str] | str | None = None) -> PosteriorTable:
        """Posterior distributions for every row of a table; a missing cell, or a missing column, is not observed."""
        table = self._table(data)
        names = list(self.networks[0].variables) if variables is None else as_names(variables)
        return self._cases(table, names, 0)

    def predict(self, data: Any, target: str) -> NDArray[Any]:
        """The most probable state of a variable in each row, whose own column is not considered."""
        states = state_names(self.networks[0][target].variable)
        best = [found[target].argmax(axis=1) for found in self._predictions(self._table(data), target)]
        return states[np.concatenate(best)] if best else states[:0]

    def log_likelihood(self, data: Any) -> NDArray[np.float64]:
        """ln Σ_G P(G) P(row | G) of what each row shows; −∞ for a row that cannot be."""
        table = self._table(data)
        logs = np.array([network.log_likelihood(table) for network in self.networks])
        return logsumexp(logs + self._log_weights[:, None], axis=0)

    def to_document(self) -> dict[str, Any]:
        """Return the average as plain values and arrays: {"networks": [as files of networks have them], "weights"}."""
        return {"networks": [network.to_document() for network in self.networks], "weights": self.probabilities}

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> Self:
        """Return the average of a document, all of which is checked."""
        entries, weights = reader.entries(document, {"networks": [dict], "weights": ARRAY}, "an average")
        networks = [BayesianNetwork.from_document(reader, entry, ("networks", i)) for i, entry in enumerate(entries)]
        return cls(networks, reader.amounts(weights, "weights", (len(networks),)))

    # -- inside

    @property
    def _log_weights(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities)

    def _table(self, data: Any) -> Table:
        return as_table(data, schema=self.schema, missing_columns="missing")

    def _predictions(self, table: Table, target: str) -> Iterator[PosteriorTable]:
        start = 0
        for batch in table.batches(batch_rows(self.networks[0])):
            yield self._cases(batch.mask([target]), [target], start)
            start += batch.n_rows

    def _cases(self, table: Table, names: list[str], start: int) -> PosteriorTable:
        logs = np.array([network.log_likelihood(table) for network in self.networks]) + self._log_weights[:, None]
        total = logsumexp(logs, axis=0)
        if np.isneginf(total).any():
            raise impossible_row(self.networks[0], table, validation.first_position(np.isneginf(total)), start)
        states = {name: self.networks[0].states(name) for name in names}
        beliefs = {name: np.zeros((table.n_rows, len(states[name]))) for name in names}
        for network, log_p in zip(self.networks, logs, strict=True):
            rows = np.flatnonzero(~np.isneginf(log_p))  # possible under the network
            if not len(rows):
                continue
            share = np.exp(log_p - total)[rows, None]
            found = network.predict_proba(table.take(rows), variables=names)
            for name in names:
                beliefs[name][rows] += share * found[name]
        return PosteriorTable(total, beliefs, states)
