"""What inference answers: values with names, apart from how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DuplicateColumnError, MissingDependencyError, ParameterError, listed
from bayeslearn.network.inference.beliefs import Beliefs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["Beliefs", "CaseBeliefs", "Cost", "Explanation", "JointBelief"]


@dataclass(frozen=True)
class Cost:
    """What a question will take, before it is asked."""

    entries: float

    @property
    def bytes(self) -> float:
        """Memory of the tables."""
        return 8 * self.entries


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
    """Posterior distributions of many cases: an array (cases, states) for each variable, and ln P(e) of each case.

    >>> found = CaseBeliefs(np.array([-0.5]), {"wet": np.array([[0.9, 0.1]])}, {"wet": ("yes", "no")})
    >>> found.most_probable("wet")
    array(['yes'], dtype=object)
    >>> found.to_arrow().column_names
    ['P(wet=yes)', 'P(wet=no)', 'log_evidence']
    """

    log_evidence: NDArray[np.float64]
    beliefs: dict[str, NDArray[np.float64]]
    states: dict[str, tuple[Any, ...]]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self.beliefs:
            raise ParameterError(f"{name!r} was not asked for", hint=f"there is {listed(self.beliefs)}")
        return self.beliefs[name]

    def most_probable(self, name: str) -> NDArray[np.object_]:
        """The most probable state of a variable by itself, in each case."""
        best = self[name].argmax(axis=1)
        return np.fromiter(self.states[name], dtype=object)[best]

    def to_arrow(self) -> Any:
        """A pyarrow table: a row for each case, a column ``P(VAR=state)`` for each state, and ``log_evidence``."""
        import pyarrow as pa  # noqa: PLC0415 - Arrow loads when it is asked for

        columns = [
            (f"P({name}={state})", p[:, k])
            for name, p in self.beliefs.items()
            for k, state in enumerate(self.states[name])
        ]
        columns.append(("log_evidence", self.log_evidence))
        names = [name for name, _ in columns]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DuplicateColumnError(
                f"two columns would have the name {twice!r}", hint="read the arrays by name of variable", column=twice
            )
        return pa.table([pa.array(values) for _, values in columns], names=names)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """The table of :meth:`to_arrow` as a data frame of another library."""
        import narwhals as nw  # noqa: PLC0415 - it loads when it is asked for

        validation.choice("backend", backend, ["pandas", "polars", "pyarrow"])
        try:
            return nw.from_arrow(self.to_arrow(), backend=backend).to_native()
        except ModuleNotFoundError:
            raise MissingDependencyError(
                f"a {backend} frame needs the optional package {backend!r}, which is not installed",
                hint=f"pip install {backend}, or choose backend='pyarrow'",
            ) from None
