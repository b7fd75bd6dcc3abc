"""What inference answers: values with names, apart from how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ParameterError, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Cost:
    """What a question will take, before it is asked."""

    entries: float

    @property
    def bytes(self) -> float:
        """Memory of the tables."""
        return 8 * self.entries


@dataclass(frozen=True)
class Beliefs:
    """Posterior distributions by name and state.

    >>> Beliefs({"rain": "yes"}, -0.5, {"wet": {"yes": 0.9, "no": 0.1}})["wet"]["yes"]
    0.9
    """

    evidence: dict[str, Any]
    log_evidence: float
    beliefs: dict[str, dict[Any, float]]

    def __getitem__(self, name: str) -> dict[Any, float]:
        if name not in self.beliefs:
            raise ParameterError(f"{name!r} was not asked for", hint=f"there is {listed(self.beliefs)}")
        return self.beliefs[name]

    def most_probable(self, name: str) -> Any:
        """The most probable state of a variable by itself."""
        return max(self[name], key=self[name].__getitem__)

    def to_dict(self) -> dict[str, Any]:
        """As plain values: evidence, log evidence, beliefs."""
        return {"evidence": self.evidence, "log_evidence": self.log_evidence, "beliefs": self.beliefs}


@dataclass(frozen=True)
class JointBelief:
    """The joint posterior of several variables: p has an axis for each, over its states."""

    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    p: NDArray[np.float64]

    def __getitem__(self, case: Mapping[str, Any]) -> float:
        """P of one combination of states, by name."""
        return float(self.p[tuple(s.index(case[n]) for n, s in zip(self.names, self.states, strict=True))])


@dataclass(frozen=True)
class Explanation:
    """The most probable case given the evidence."""

    case: dict[str, Any]
    #: ln P(case, e)
    log_joint: float
    log_evidence: float

    @property
    def probability(self) -> float:
        """P(case | e)."""
        return float(np.exp(self.log_joint - self.log_evidence))


@dataclass(frozen=True)
class CaseBeliefs:
    """Posterior distributions of many cases: an array (cases, states) for each variable, and ln P(e) of each case."""

    log_evidence: NDArray[np.float64]
    beliefs: dict[str, NDArray[np.float64]]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self.beliefs:
            raise ParameterError(f"{name!r} was not asked for", hint=f"there is {listed(self.beliefs)}")
        return self.beliefs[name]
