"""Beliefs: the answer to most questions, apart from the others so that it loads soonest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayeslearn.errors import ParameterError, listed


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
