"""Evidence that is added and retracted piece by piece, and the posteriors after each change.

Nothing is compiled again. Plans are kept by which variables are observed, so that retracting a piece leads to the plan
that was there before it.

Soft evidence gives the distribution that some variables are to have:

    Q is the nearest to P(· | e), by KL(Q ‖ P), of all with Q(v) = target_v for every v that has a target

    one target     Q(x) = Σ_s target(s) P(x | v = s, e)                               Jeffrey's rule
    several        w_v(s) ← w_v(s) · target_v(s) / Q(v = s), the farthest off first   iterative proportional fitting

The weights w act as likelihoods do, so that a step is one propagation. ln P(e) is that of the other evidence: a target
is what is to be believed, not how probable it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ImpossibleEvidenceError, ParameterError, SoftEvidenceError, listed
from bayeslearn.network.inference.evidence import as_evidence, as_mapping, code_of, date_variables
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.junction_tree import ExactInference
    from bayeslearn.network.inference.results import Posterior
    from bayeslearn.tables import DiscreteVariable

    Array = NDArray[np.float64]
    Numbers = ArrayLike | Mapping[Any, float]


class EvidenceSession:
    """What has been seen so far, and what is believed because of it.

    A variable has one piece of evidence, a state or a likelihood: a new one takes the place of the old. Evidence that
    is impossible with the rest is refused, and the session stays as it was.

    >>> from bayeslearn.network.formats import read_network
    >>> session = read_network("asia").inference.session()
    >>> print(f"{session.observe(dysp='yes')['lung']['yes']:.4f}")
    0.1028
    >>> print(f"{session.observe(xray='yes')['lung']['yes']:.4f}")
    0.6213
    >>> session.retract("dysp")
    EvidenceSession(xray='yes')
    """

    def __init__(self, engine: ExactInference) -> None:
        self.engine = engine
        self._evidence: dict[str, Any] = {}
        self._likelihoods: dict[str, Array] = {}
        self._log_evidence = 0.0
        self._beliefs: Posterior | None = None

    # -- evidence

    def observe(self, evidence: Mapping[str, Any] | None = None, /, **states: Any) -> Self:
        """Add states, numbers, ranges or dates by name of variable."""
        network = self.engine.network
        seen = as_evidence(network, {**as_mapping(network, evidence), **states})
        return self._set({**self._evidence, **seen}, _without(self._likelihoods, seen))

    def weigh(self, name: str, likelihood: Numbers) -> Self:
        """Add virtual evidence: P(what was seen | state) for each state of a variable."""
        given = validation.float_array(name, in_order(self.engine.network[name].variable, likelihood))
        return self._set(_without(self._evidence, [name]), {**self._likelihoods, name: given.copy()})

    def retract(self, *names: str) -> Self:
        """Take the evidence on some variables back; a date stands for its parts."""
        there = {**self._evidence, **self._likelihoods}
        dates = date_variables(self.engine.network)
        parts = {name: [v.name for v in dates[name] if v.name in there] or [name] for name in names if name in dates}
        names = tuple(part for name in names for part in parts.get(name, [name]))
        odd = [name for name in names if name not in there]
        if odd:
            raise ParameterError(
                f"there is no evidence on {listed(odd)} to retract", hint=f"there is {listed(there) or 'none'}"
            )
        return self._set(_without(self._evidence, names), _without(self._likelihoods, names))

    def clear(self) -> Self:
        """Take everything back."""
        return self._set({}, {})

    def _set(self, evidence: dict[str, Any], virtual_evidence: dict[str, Array]) -> Self:
        possible = self.engine.query(evidence, virtual_evidence=virtual_evidence, variables=[])
        self._evidence, self._likelihoods = evidence, virtual_evidence
        self._log_evidence, self._beliefs = possible.log_evidence, None
        return self

    # -- what follows from it

    @property
    def evidence(self) -> dict[str, Any]:
        """The states observed."""
        return dict(self._evidence)

    @property
    def virtual_evidence(self) -> dict[str, list[float]]:
        """The likelihoods of virtual evidence, in the order of the states."""
        return {name: given.tolist() for name, given in self._likelihoods.items()}

    @property
    def log_evidence(self) -> float:
        """ln P(e)."""
        return self._log_evidence

    @property
    def beliefs(self) -> Posterior:
        """Posterior distributions of all variables, found when first asked for; what was observed is certain."""
        if self._beliefs is None:
            names = self.engine.network.variables
            self._beliefs = self.engine.query(self._evidence, virtual_evidence=self._likelihoods, variables=names)
        return self._beliefs

    def __getitem__(self, name: str) -> dict[Any, float]:
        return self.beliefs[self.engine.network[name].name]

    def __repr__(self) -> str:
        pieces = {**self._evidence, **self.virtual_evidence}
        return printable(f"EvidenceSession({', '.join(f'{name}={piece!r}' for name, piece in pieces.items())})")


def _without(pieces: dict[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: piece for name, piece in pieces.items() if name not in names}


#: How far a probability may be from its target.
CLOSE = 1e-12

#: The most steps, and the most in a row that come no nearer: targets that contradict each other are given up then.
MOST, PATIENCE = 10_000, 1000


def soft_query(
    engine: ExactInference,
    evidence: dict[str, Any],
    soft_evidence: Mapping[str, Numbers],
    virtual_evidence: Mapping[str, Numbers],
    variables: Iterable[str] | None,
) -> Posterior:
    """Posterior distributions of Q; see :meth:`ExactInference.query`."""
    wanted = {name: _target(engine.network, name, values) for name, values in soft_evidence.items()}
    for name in wanted:
        if name in evidence or name in virtual_evidence:
            what = "is observed" if name in evidence else "has a likelihood"
            raise ParameterError(
                f"{name!r} {what} already, so it cannot have a target too", hint="take one of the two back"
            )

    def look(weights: dict[str, Array]) -> Posterior:
        return engine.query(evidence, virtual_evidence={**virtual_evidence, **weights}, variables=wanted)

    before = look({})
    _require_possible(before, wanted)
    weights = fitted(wanted, before, look)
    answer = engine.query(evidence, virtual_evidence={**virtual_evidence, **weights}, variables=variables)
    return replace(answer, log_evidence=before.log_evidence)


def fitted(
    targets: dict[str, Array], before: Posterior, look: Callable[[dict[str, Array]], Posterior]
) -> dict[str, Array]:
    """The weights that meet every target; `look` returns the posteriors with some weights."""
    weights = {name: np.ones(len(target)) for name, target in targets.items()}
    now, best, best_step = _arrays(before), np.inf, 0
    for step in range(MOST):
        off = {name: float(np.abs(now[name] - target).max()) for name, target in targets.items()}
        far = max(off, key=off.__getitem__)
        if off[far] <= CLOSE:
            return weights
        if off[far] < 0.99 * best:
            best, best_step = off[far], step
        if step > best_step + PATIENCE or _lost(now, targets):
            break
        weights[far] = _stepped(weights[far], targets[far], now[far])
        after = _after(look, weights)
        if after is None:
            break
        now = after
    raise _unmet(off, step)


def in_order(variable: DiscreteVariable, values: Numbers) -> ArrayLike:
    """Numbers by name of state as a list in the order of the states; any other list is unchanged."""
    if not isinstance(values, Mapping):
        return values
    named: dict[int, Any] = {}
    for state in values:
        if named.setdefault(code := code_of(variable, state), state) is not state:
            raise ParameterError(
                f"{variable.name!r} needs one number for each state, got two for {variable.states[code]!r}: "
                f"those of {named[code]!r} and {state!r}",
                hint="name each state once",
            )
    by_code = {code: values[state] for code, state in named.items()}
    left = [state for code, state in enumerate(variable.states) if code not in by_code]
    if left:
        raise ParameterError(
            f"{variable.name!r} needs a number for each of its states, got none for {listed(left)}",
            hint="give 0 to a state that cannot be",
        )
    return [by_code[code] for code in range(variable.n_states)]


### inside


def _target(network: BayesianNetwork, name: str, values: Numbers) -> Array:
    variable = network[name].variable
    p = validation.float_array(f"target of {name}", in_order(variable, values))
    if p.shape != (variable.n_states,):
        raise ParameterError(
            f"the target of {name!r} needs a number for each of {listed(variable.states)}, got {p.tolist()}",
            hint="give 0 to a state that cannot be",
        )
    return validation.probabilities(p, name=f"target of {name}")


def _require_possible(before: Posterior, targets: dict[str, Array]) -> None:
    for name, target in targets.items():
        for (state, p), wanted in zip(before[name].items(), target.tolist(), strict=True):
            if p == 0 < wanted:
                raise ImpossibleEvidenceError(
                    f"{name}={state} has the target {wanted:g}, but is impossible given the evidence",
                    hint="make its target 0, take evidence back, or give the network tables without zeros",
                    conflict=[name],
                    state=state,
                )


def _arrays(answer: Posterior) -> dict[str, Array]:
    return {name: np.array(list(belief.values())) for name, belief in answer.beliefs.items()}


def _after(look: Callable[[dict[str, Array]], Posterior], weights: dict[str, Array]) -> dict[str, Array] | None:
    """What is believed with some weights; None where they have run away so far that no digits are left."""
    if any(((w > 0) & (w < np.finfo(float).tiny)).any() for w in weights.values()):
        return None
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            now = _arrays(look(weights))
    except ImpossibleEvidenceError:
        return None
    return now if all(np.isfinite(p).all() for p in now.values()) else None


def _lost(now: dict[str, Array], targets: dict[str, Array]) -> bool:
    """Whether a state that is to be possible is so no more, and no weight brings it back."""
    return not all((now[name][target > 0] > 0).all() for name, target in targets.items())


def _stepped(weights: Array, target: Array, now: Array) -> Array:
    """w · target / Q(v), scaled so that the largest is 1."""
    ratio = np.divide(target, now, out=np.zeros(len(now)), where=now > np.finfo(float).tiny)
    return weights * ratio / (weights * ratio).max()


def _unmet(off: dict[str, float], steps: int) -> SoftEvidenceError:
    apart = ", ".join(f"{name!r} stays off by {gap:.2g}" for name, gap in off.items() if gap > CLOSE)
    return SoftEvidenceError(
        f"the targets of {listed(off)} are not met together: {apart}",
        hint="they contradict each other, or rule out cases that the network holds possible; change one of them",
        off=off,
        steps=steps,
    )
