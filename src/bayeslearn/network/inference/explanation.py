"""Why a network believes what it believes.

    impact of a piece e_i      P(t | e) against P(t | e without e_i), and the Bayes factor
                               odds(t | e) / odds(t | e without e_i) = P(e_i | t, rest) / P(e_i | not t, rest)
    conflict                   ln Π P(e_i) / P(e): above zero the pieces are less probable together than apart
    value of information       I(T; V | e) = Σ P(t, v | e) ln P(t, v | e) / (P(t | e) P(v | e)), in bits

All of it is read off exact answers to a few more questions.

How much a belief depends on each number in the tables of a network.

    θ = P(x | u), the rest of its row scaled by (1 − θ) / (1 − θ₀), so that the row sums to one

    P(t | e)(θ) = (P(t, e) + a·Δ) / (P(e) + b·Δ)        Δ = θ − θ₀

    a = ∂P(t, e)/∂θ = P(t, e, x, u)/θ − Σ_{x'≠x} P(t, e, x', u)/θ' · θ'/(1 − θ), and b the same without t

Everything is read off the families of two propagations: with the evidence, and with the target state as well. Zeros in
the tables are taken as 1e-100: too little to change a sum, and what they would have brought is found by dividing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.errors import ParameterError
from bayeslearn.fit_info import plain
from bayeslearn.network.inference.evidence import as_engine, as_evidence
from bayeslearn.network.inference.results import MAX_NAMES, pieces, probability_of
from bayeslearn.printable import one_line
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.cpt import CPT
    from bayeslearn.network.inference.junction_tree import ExactInference
    from bayeslearn.network.inference.results import Backend

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Numbers of the tables that a report shows.
MAX_CELLS = 10


@dataclass(frozen=True)
class EvidenceImpact:
    """What one piece of evidence does to the belief in the target."""

    name: str
    state: Any
    #: P(target state | all the other evidence)
    without: dict[Any, float]
    #: By target state: how much more probable this piece is if the state holds than if it does not.
    bayes_factor: dict[Any, float]

    @property
    def piece(self) -> str:
        """The evidence as text."""
        return pieces({self.name: self.state})[0]


@dataclass(frozen=True, repr=False)
class EvidenceExplanation(Reported):
    """Why the target has its posterior, and which variables have more information about it.

    >>> from bayeslearn import read_network
    >>> read_network("asia").explain({"dysp": "yes", "xray": "yes"}, "lung")
    EvidenceExplanation(P(lung | dysp=yes, xray=yes))
    """

    target: str
    evidence: dict[str, Any]
    before: dict[Any, float]
    belief: dict[Any, float]
    impacts: tuple[EvidenceImpact, ...]
    #: ln Π P(e_i) / P(e)
    conflict: float
    #: Mutual information of each unobserved variable and the target in bits, the largest first.
    information: dict[str, float]

    def __repr__(self) -> str:
        return f"EvidenceExplanation({one_line(probability_of([self.target], self.evidence))})"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return plain(vars(self))

    def plot(self, state: Any = None, *, ax: Any = None) -> Any:
        """Plot what each piece of evidence does to P(target = state); see :func:`bayeslearn.plots.plot_explanation`."""
        return plots.plot_explanation(self, state, ax=ax)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each piece of evidence and target state.

        Its columns are evidence, state, the posterior with all evidence, that without this piece, and the Bayes factor.
        """
        rows = [(impact, state) for impact in self.impacts for state in self.belief]
        return frame_of({
            "evidence": [impact.piece for impact, _ in rows],
            "state": [str(state) for _, state in rows],
            "posterior": [self.belief[state] for _, state in rows],
            "posterior_without": [impact.without[state] for impact, state in rows],
            "bayes_factor": [impact.bayes_factor[state] for impact, state in rows],
        }, backend)  # fmt: skip

    def report(self) -> Report:
        """Return the posterior without each piece, Bayes factors, the conflict, and the most informative variables."""
        states = list(map(str, self.belief))
        rows = [["none", *self.before.values()]]
        rows += [[f"all but {impact.piece}", *impact.without.values()] for impact in self.impacts]
        rows.append(["all", *self.belief.values()])
        factors = [[impact.piece, *impact.bayes_factor.values()] for impact in self.impacts]
        bits = [[name, value] for name, value in self.information.items()]
        fits = "the pieces contradict each other" if self.conflict > 0 else "the pieces support each other"
        return Report(
            probability_of([self.target], self.evidence),
            Grid(["evidence", *states], rows),
            Grid(["Bayes factor", *(f"for {state}" for state in states)], factors) if factors else None,
            Pairs({"Conflict": f"{self.conflict:.6g} ({fits})"}) if factors else None,
            Grid(["unobserved variable", "information (bits)"], bits, max_rows=MAX_NAMES),
        )


def explain(engine: ExactInference | BayesianNetwork, evidence: Mapping[str, Any], target: str) -> EvidenceExplanation:
    """The belief in a target taken apart: by piece of evidence, and by what is not known yet.

    `engine` is a network, or the engine of one (``network.inference``).
    """
    engine = as_engine(engine)
    evidence = as_evidence(engine.network, evidence)
    engine.network[target]  # names the variables that there are
    if target in evidence:
        raise ParameterError(
            f"the target {target!r} is observed, so there is nothing to explain",
            hint=f"leave {target!r} out of the evidence, or name another target",
        )
    whole = engine.query(evidence)
    belief = whole[target]
    return EvidenceExplanation(
        target,
        evidence,
        engine.query(variables=[target])[target],
        belief,
        tuple(_impact(engine, evidence, target, name, belief) for name in evidence),
        sum(engine.log_evidence({n: s}) for n, s in evidence.items()) - whole.log_evidence,
        _information(engine, evidence, target),
    )


def _impact(
    engine: ExactInference, evidence: dict[str, Any], target: str, name: str, belief: dict[Any, float]
) -> EvidenceImpact:
    rest = {n: s for n, s in evidence.items() if n != name}
    without = engine.query(rest, variables=[target])[target]
    factors = {state: _ratio(_odds(p), _odds(without[state])) for state, p in belief.items()}
    return EvidenceImpact(name, evidence[name], without, factors)


def _information(engine: ExactInference, evidence: dict[str, Any], target: str) -> dict[str, float]:
    """Return I(T; V | e) of every V, by one propagation for each state of the target."""
    whole = engine.query(evidence)
    bits = {name: 0.0 for name in whole.beliefs if name != target}
    for state, p in whole[target].items():
        if p > 0:
            given = engine.query({**evidence, target: state})
            for name in bits:
                bits[name] += p * _divergence(given[name], whole[name])
    ranked = sorted(bits.items(), key=lambda item: (-item[1], item[0]))
    return {name: max(value, 0.0) for name, value in ranked}


def _divergence(p: dict[Any, float], q: dict[Any, float]) -> float:
    """Σ p log2 p/q."""
    return sum(x * math.log2(x / q[state]) for state, x in p.items() if x > 0 and q[state] > 0)


def _odds(p: float) -> float:
    return p / (1 - p) if p < 1 else math.inf


def _ratio(a: float, b: float) -> float:
    """a/b of odds; evidence that changes nothing has the factor 1, also where the odds are 0 or infinite."""
    if a == b:
        return 1.0
    return a / b if 0 < b < math.inf else (math.inf if b == 0 else 0.0)


#: In place of a zero, so that its effect can be read off.
ALMOST_ZERO = 1e-100

#: Effects below this come from what stands in place of zeros.
NO_EFFECT = 1e-50


@dataclass(frozen=True)
class Cell:
    """One number of a table, and what the belief in the target owes to it."""

    variable: str
    state: Any
    given: dict[str, Any]
    p: float
    #: dP(t | e)/dp, the rest of the row scaled.
    derivative: float
    #: P(t | e) if p were 0, and if it were 1.
    at_zero: float
    at_one: float

    @property
    def name(self) -> str:
        """The probability that the number is."""
        return probability_of([f"{self.variable}={self.state}"], self.given)


@dataclass(frozen=True, repr=False)
class Sensitivity(Reported):
    """P(t | e) as a function of every number in the tables; arrays have the shapes of the tables.

    >>> from bayeslearn import read_network
    >>> read_network("asia").sensitivity({"xray": "yes"}, "lung", "yes")
    Sensitivity(P(lung=yes | evidence) = 0.488711)
    """

    target: str
    state: Any
    belief: float
    derivatives: dict[str, NDArray[np.float64]]
    at_zero: dict[str, NDArray[np.float64]]
    at_one: dict[str, NDArray[np.float64]]
    cpts: tuple[CPT, ...]

    def cells(self) -> Iterator[Cell]:
        """Every number of every table, the most influential first."""
        places = [(cpt, i) for cpt in self.cpts for i in np.ndindex(cpt.shape)]
        places.sort(key=lambda place: -abs(self.derivatives[place[0].name][place[1]]))
        for cpt, i in places:
            yield self._cell(cpt, i)

    def to_dict(self) -> dict[str, Any]:
        """Return target, state, posterior and derivatives as plain values."""
        return plain({name: value for name, value in vars(self).items() if name != "cpts"})

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each number of the CPTs, the most influential first."""
        cells = list(self.cells())
        return frame_of({
            "variable": [cell.variable for cell in cells],
            "given": [", ".join(pieces(cell.given)) for cell in cells],
            "state": [str(cell.state) for cell in cells],
            **{name: [getattr(cell, name) for cell in cells] for name in ("p", "derivative", "at_zero", "at_one")},
        }, backend)  # fmt: skip

    def plot(self, *, n: int = 10, ax: Any = None) -> Any:
        """Draw the range of the posterior over each of the n most influential numbers.

        See :func:`bayeslearn.plots.plot_sensitivity`.
        """
        return plots.plot_sensitivity(self, n=n, ax=ax)

    def report(self) -> Report:
        """Return the numbers on which the posterior depends most."""
        cells = list(islice(self.cells(), MAX_CELLS))
        rows = [[cell.name, cell.p, cell.derivative, cell.at_zero, cell.at_one] for cell in cells]
        return Report(
            f"P({self.target}={self.state} | evidence) = {self.belief:.6g}",
            Grid(["depends most on", "p", "derivative", "posterior at p=0", "posterior at p=1"], rows),
        )

    def _cell(self, cpt: CPT, i: tuple[int, ...]) -> Cell:
        name = cpt.name
        given = {v.name: v.states[k] for v, k in zip(cpt.parents, i[:-1], strict=True)}
        values = (cpt.probabilities[i], self.derivatives[name][i], self.at_zero[name][i], self.at_one[name][i])
        return Cell(name, cpt.variable.states[i[-1]], given, *map(float, values))


def sensitivity(
    engine: ExactInference | BayesianNetwork, evidence: Mapping[str, Any], target: str, state: Any = None
) -> Sensitivity:
    """What P(target = state | evidence) owes to every number in the tables; None is the most probable state.

    `engine` is a network, or the engine of one (``network.inference``).
    """
    engine = as_engine(engine)
    evidence = as_evidence(engine.network, evidence)
    if target in evidence:
        raise ParameterError(
            f"the target {target!r} is observed, so its belief depends on nothing",
            hint=f"leave {target!r} out of the evidence, or name another target",
        )
    belief = engine.query(evidence, variables=[target])[target]
    variable = engine.network[target].variable
    state = max(belief, key=belief.__getitem__) if state is None else variable.states[variable.code_of(state)]
    without = _gains(engine, evidence)
    with_target = _gains(engine, {**evidence, target: state})
    share = np.exp(with_target.log_p - without.log_p)
    results: dict[str, tuple[NDArray[np.float64], ...]] = {}
    for cpt in engine.network:
        a, b = share * with_target.of[cpt.name], without.of[cpt.name]
        results[cpt.name] = _curve(
            cpt.probabilities, belief[state], _along_row(a, cpt.probabilities), _along_row(b, cpt.probabilities)
        )
    derivatives, at_zero, at_one = ({n: r[k] for n, r in results.items()} for k in range(3))
    return Sensitivity(target, state, belief[state], derivatives, at_zero, at_one, engine.network.cpts)


@dataclass(frozen=True)
class _Gains:
    """ln P(e), and ∂ln P(e)/∂θ for every number of every table."""

    log_p: float
    of: dict[str, NDArray[np.float64]]


def _gains(engine: ExactInference, evidence: dict[str, Any]) -> _Gains:
    positive = np.where(engine.compiled.cpt == 0, ALMOST_ZERO, engine.compiled.cpt)
    log_p, families = engine.family_beliefs(engine.compiled.with_values(positive), *engine.read(evidence))
    parts = np.split(families / positive, engine.compiled.cpt_start[1:-1])
    return _Gains(log_p, {c.name: part.reshape(c.shape) for c, part in zip(engine.network, parts, strict=True)})


def _along_row(gain: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The derivative when the rest of the row makes room in proportion, or in equal parts where it is all zero."""
    rest = 1 - p
    others = p.shape[-1] - 1
    shared = (gain * p).sum(axis=-1, keepdims=True) - gain * p
    equal = (gain.sum(axis=-1, keepdims=True) - gain) / max(others, 1)
    room = np.where(rest > 0, shared / np.where(rest > 0, rest, 1.0), equal)
    slope = gain - room if others else np.zeros_like(gain)
    return np.where(np.abs(slope) < NO_EFFECT, 0.0, slope)


def _curve(
    p: NDArray[np.float64], belief: float, a: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The derivative at θ₀ and the values at 0 and 1 of (belief + a·Δ) / (1 + b·Δ)."""
    ends = []
    for delta in (-p, 1 - p):
        below = 1 + b * delta
        possible = below > 1e-12  # else the evidence would be impossible: the ratio is the same all along
        value = np.where(possible, (belief + a * delta) / np.where(possible, below, 1.0), belief)
        ends.append(np.clip(value, 0.0, 1.0))
    return a - belief * b, ends[0], ends[1]
