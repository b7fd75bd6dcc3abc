"""Results of inference: values with names, and predictions for the rows of a table, one batch after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn.errors import (
    DuplicateColumnError,
    ImpossibleDataError,
    ImpossibleEvidenceError,
    ParameterError,
    listed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.tables import DiscreteVariable, Source, Table

Backend = Literal["pandas", "polars", "pyarrow"]

__all__ = ["Cost", "JointPosterior", "MostProbableExplanation", "Posterior", "PosteriorTable"]


@dataclass(frozen=True)
class Posterior:
    """Posterior distributions by name and state.

    >>> Posterior({"rain": "yes"}, -0.5, {"wet": {"yes": 0.9, "no": 0.1}})["wet"]["yes"]
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

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each state: variable, state, probability.

        >>> Posterior({}, 0.0, {"wet": {"yes": 0.9, "no": 0.1}}).to_frame("pyarrow").to_pylist()[0]
        {'variable': 'wet', 'state': 'yes', 'probability': 0.9}
        """
        import pyarrow as pa  # noqa: PLC0415 - Arrow loads when it is asked for

        from bayeslearn.tables import frames  # noqa: PLC0415 - as above

        rows = [(name, str(state), p) for name, of in self.beliefs.items() for state, p in of.items()]
        names, kinds = ["variable", "state", "probability"], [pa.string(), pa.string(), pa.float64()]
        columns = zip(*rows, strict=True) if rows else ([], [], [])
        table = pa.table([pa.array(c, k) for c, k in zip(columns, kinds, strict=True)], names=names)
        return frames.to_frame(table, backend)


@dataclass(frozen=True)
class Cost:
    """What a question will take, before it is asked."""

    entries: float

    @property
    def bytes(self) -> float:
        """Memory of the tables."""
        return 8 * self.entries


@dataclass(frozen=True)
class JointPosterior:
    """The joint posterior of several variables: `probabilities` has an axis for each, over its states."""

    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    probabilities: NDArray[np.float64]

    def __getitem__(self, case: Mapping[str, Any]) -> float:
        """P of one combination of states, by name."""
        return float(self.probabilities[tuple(s.index(case[n]) for n, s in zip(self.names, self.states, strict=True))])


@dataclass(frozen=True)
class MostProbableExplanation:
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
class PosteriorTable:
    """Posterior distributions of many cases: an array (cases, states) for each variable, and ln P(e) of each case.

    >>> found = PosteriorTable(np.array([-0.5]), {"wet": np.array([[0.9, 0.1]])}, {"wet": ("yes", "no")})
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
        from bayeslearn.tables import frames  # noqa: PLC0415 - it loads when it is asked for

        return frames.to_frame(self.to_arrow(), backend)


def by_name(states: tuple[Any, ...], flat: list[float], at: int) -> dict[Any, float]:
    """The numbers from a place on, by the names of the states."""
    return dict(zip(states, flat[at : at + len(states)], strict=True))


#: The same for few states, written out: twice as fast.
WRITTEN_OUT: dict[int, Callable[[tuple[Any, ...], list[float], int], dict[Any, float]]] = {
    2: lambda s, p, i: {s[0]: p[i], s[1]: p[i + 1]},
    3: lambda s, p, i: {s[0]: p[i], s[1]: p[i + 1], s[2]: p[i + 2]},
    4: lambda s, p, i: {s[0]: p[i], s[1]: p[i + 1], s[2]: p[i + 2], s[3]: p[i + 3]},
}

#: Beliefs in memory at a time, and the fewest rows of a batch.
MOST_BELIEFS, LEAST_ROWS = 1 << 22, 256


def predictions(network: BayesianNetwork, source: Source, targets: list[str]) -> Iterator[tuple[Table, PosteriorTable]]:
    """Every batch with its beliefs about the targets, whose own columns are not looked at."""
    start = 0
    for batch in source.batches(batch_rows(network)):
        yield batch, believed(network, batch.mask(targets), start, variables=targets)
        start += batch.n_rows


def batch_rows(network: BayesianNetwork) -> int:
    """Rows whose beliefs are in memory at a time."""
    return max(MOST_BELIEFS // sum(cpt.variable.size for cpt in network), LEAST_ROWS)


def believed(
    network: BayesianNetwork, batch: Table, start: int, *, variables: list[str] | None = None
) -> PosteriorTable:
    """Beliefs of a batch whose first row is number `start` of the table."""
    try:
        return network.predict_proba(batch, variables=variables)
    except ImpossibleEvidenceError as error:
        raise renumbered(error, start) from None


def impossible_row(network: BayesianNetwork, table: Table, row: int, start: int = 0) -> ImpossibleDataError:
    """The error for a row of probability zero, of a batch that begins at `start`: what of it cannot be together."""
    try:
        believed(network, table.take([row]), start + row)
    except ImpossibleEvidenceError as error:
        return error
    return ImpossibleDataError(
        f"row {start + row} is too improbable to be told from impossible",
        hint="check the values of this row",
        row=start + row,
    )


def renumbered(error: ImpossibleEvidenceError, start: int) -> ImpossibleEvidenceError:
    """The error of a batch, with its row counted in the whole table."""
    row = error.details["row"]
    message = error.message.replace(f"of row {row} ", f"of row {start + row} ", 1)
    return ImpossibleEvidenceError(message, hint=error.hint, **(error.details | {"row": start + row}))


def state_names(variable: DiscreteVariable) -> NDArray[Any]:
    """The states as an array of their own type; as objects when they mix types."""
    kinds = {type(state) for state in variable.states}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(variable.states)
    return np.fromiter(variable.states, dtype=object)
