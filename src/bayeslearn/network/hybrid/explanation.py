"""Why a network of states and numbers believes what it believes.

of states     P(t | e) against P(t | e without e_i), and the Bayes factor odds(t | e) / odds(t | e without e_i)
of a number   E[x | e] − E[x | e without e_i], and the standard deviation with and without e_i
conflict      ln Π p(e_i) / p(e): above zero the pieces are less probable together than apart
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ParameterError
from bayeslearn.fit_info import plain
from bayeslearn.network.cpt import CPT
from bayeslearn.network.inference.evidence import as_evidence
from bayeslearn.network.inference.explanation import EvidenceExplanation, EvidenceImpact
from bayeslearn.network.inference.results import pieces, probability_of
from bayeslearn.printable import one_line
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.network.hybrid.network import HybridBayesianNetwork
    from bayeslearn.network.inference.results import Backend


@dataclass(frozen=True)
class MeanShift:
    """What one piece of evidence does to the posterior of a number."""

    name: str
    value: Any
    #: Mean and standard deviation given all other evidence, and what this piece adds to the mean.
    mean_without: float
    sd_without: float
    shift: float

    @property
    def piece(self) -> str:
        """The evidence as text."""
        return pieces({self.name: self.value})[0]


@dataclass(frozen=True, repr=False)
class NumericExplanation(Reported):
    """How each piece of evidence moves the mean of a number.

    Attributes
    ----------
    target, evidence
        What is explained, and by what.
    before, posterior
        Mean and standard deviation without evidence and with all of it.
    shifts
        For each piece E[x | e] − E[x | e without it]. Shifts do not add up where pieces interact.
    conflict
        ln Π p(e_i) / p(e).
    """

    target: str
    evidence: dict[str, Any]
    before: tuple[float, float]
    posterior: tuple[float, float]
    shifts: tuple[MeanShift, ...]
    conflict: float

    def __repr__(self) -> str:
        return f"NumericExplanation({one_line(probability_of([self.target], self.evidence))})"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return plain(vars(self))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each piece of evidence."""
        columns = {
            "evidence": [shift.piece for shift in self.shifts],
            "mean_without": [shift.mean_without for shift in self.shifts],
            "sd_without": [shift.sd_without for shift in self.shifts],
            "shift": [shift.shift for shift in self.shifts],
        }
        return frame_of(columns, backend)

    def report(self) -> Report:
        """Return the mean without each piece, and its shift."""
        rows: list[list[Any]] = [["none", *self.before, ""]]
        rows += [[f"all but {s.piece}", s.mean_without, s.sd_without, s.shift] for s in self.shifts]
        rows.append(["all", *self.posterior, ""])
        title = probability_of([self.target], self.evidence)
        return Report(
            title, Grid(["evidence", "mean", "sd", "shift of the mean"], rows), Pairs({"Conflict": self.conflict})
        )


def explain(
    network: HybridBayesianNetwork, evidence: Mapping[str, Any], target: str
) -> EvidenceExplanation | NumericExplanation:
    """Explain the posterior of a variable that is not observed."""
    evidence, node = as_evidence(network, evidence), network[target]
    if target in evidence:
        raise ParameterError(
            f"the target {target!r} is observed, so there is nothing to explain",
            hint=f"leave {target!r} out of the evidence, or name another target",
        )
    engine = network.inference
    whole = engine.query(evidence, [target])
    rests = {name: {key: value for key, value in evidence.items() if key != name} for name in evidence}
    without = {name: engine.query(rest, [target])[target] for name, rest in rests.items()}
    before = engine.query({}, [target])[target]
    alone = sum(engine.log_evidence({name: value}) for name, value in evidence.items())
    conflict = alone - whole.log_evidence
    found = whole[target]
    if not isinstance(node, CPT):
        shifts = tuple(
            MeanShift(name, evidence[name], rest.mean, rest.sd, found.mean - rest.mean)
            for name, rest in without.items()
        )
        return NumericExplanation(target, evidence, (before.mean, before.sd), (found.mean, found.sd), shifts, conflict)
    impacts = tuple(
        EvidenceImpact(name, evidence[name], rest, bayes_factors(found, rest)) for name, rest in without.items()
    )
    return EvidenceExplanation(
        target, evidence, before, found, impacts, conflict, information(network, evidence, target)
    )


def bayes_factors(posterior: Mapping[Any, float], rest: Mapping[Any, float]) -> dict[Any, float]:
    """odds(t | e) / odds(t | rest) for each state, odds being P(t) / Σ P(others)."""

    def odds(p: Mapping[Any, float], state: Any) -> np.float64:
        return np.float64(p[state]) / sum(q for other, q in p.items() if other != state)

    with np.errstate(divide="ignore", invalid="ignore"):
        return {state: float(odds(posterior, state) / odds(rest, state)) for state in posterior}


def information(network: HybridBayesianNetwork, evidence: Mapping[str, Any], target: str) -> dict[str, float]:
    """I(T; V | e) in bits for the unobserved variables with states, the largest first."""
    others = [name for name in network.discrete_names if name != target and name not in evidence]
    if not others:
        return {}
    marginal = network.inference.query(evidence, [target, *others])
    bits = dict.fromkeys(others, 0.0)
    for state, p in marginal[target].items():
        if p > 0:
            given = network.inference.query({**evidence, target: state}, others)
            for name in others:
                pairs = [(given[name][v], q) for v, q in marginal[name].items()]
                bits[name] += p * sum(a * np.log2(a / q) for a, q in pairs if a > 0)
    return dict(sorted(((name, max(float(b), 0.0)) for name, b in bits.items()), key=lambda item: -item[1]))
