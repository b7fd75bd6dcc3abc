"""Evidence that comes and goes: pieces are added and taken back, and beliefs follow.

Nothing is compiled again. Plans are kept by which variables are observed, so that a piece taken back leads to the plan
that was there before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from bayeslearn import validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.inference.arguments import as_evidence, as_mapping
from bayeslearn.network.inference.dates import date_variables
from bayeslearn.network.inference.soft import in_order

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.network.inference.answers import Beliefs
    from bayeslearn.network.inference.exact import Exact
    from bayeslearn.network.inference.soft import Numbers

    Array = NDArray[np.float64]


class Session:
    """What has been seen so far, and what is believed because of it.

    A variable has one piece of evidence, a state or a likelihood: a new one takes the place of the old. Evidence that
    is impossible with the rest is refused, and the session stays as it was.

    >>> from bayeslearn.network.formats import read_network
    >>> session = read_network("asia").exact.session()
    >>> print(f"{session.observe(dysp='yes')['lung']['yes']:.4f}")
    0.1028
    >>> print(f"{session.observe(xray='yes')['lung']['yes']:.4f}")
    0.6213
    >>> session.retract("dysp")
    Session(xray='yes')
    """

    def __init__(self, engine: Exact) -> None:
        self.engine = engine
        self._evidence: dict[str, Any] = {}
        self._likelihoods: dict[str, Array] = {}
        self._log_evidence = 0.0
        self._beliefs: Beliefs | None = None

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
                f"there is no evidence on {listed(odd)} to take back", hint=f"there is {listed(there) or 'none'}"
            )
        return self._set(_without(self._evidence, names), _without(self._likelihoods, names))

    def clear(self) -> Self:
        """Take everything back."""
        return self._set({}, {})

    def _set(self, evidence: dict[str, Any], likelihoods: dict[str, Array]) -> Self:
        possible = self.engine.query(evidence, likelihoods=likelihoods, ask=[])
        self._evidence, self._likelihoods = evidence, likelihoods
        self._log_evidence, self._beliefs = possible.log_evidence, None
        return self

    # -- what follows from it

    @property
    def evidence(self) -> dict[str, Any]:
        """The states observed."""
        return dict(self._evidence)

    @property
    def likelihoods(self) -> dict[str, list[float]]:
        """The likelihoods given, in the order of the states."""
        return {name: given.tolist() for name, given in self._likelihoods.items()}

    @property
    def log_evidence(self) -> float:
        """ln P(e)."""
        return self._log_evidence

    @property
    def beliefs(self) -> Beliefs:
        """Posterior distributions of all variables, found when first asked for; what was observed is certain."""
        if self._beliefs is None:
            names = self.engine.network.names
            self._beliefs = self.engine.query(self._evidence, likelihoods=self._likelihoods, ask=names)
        return self._beliefs

    def __getitem__(self, name: str) -> dict[Any, float]:
        return self.beliefs[self.engine.network[name].name]

    def __repr__(self) -> str:
        pieces = {**self._evidence, **self.likelihoods}
        return f"Session({', '.join(f'{name}={piece!r}' for name, piece in pieces.items())})"


def _without(pieces: dict[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: piece for name, piece in pieces.items() if name not in names}
