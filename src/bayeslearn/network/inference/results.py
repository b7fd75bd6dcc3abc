"""Results of inference: values with names, and predictions for the rows of a table, one batch after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.errors import (
    DuplicateColumnError,
    ImpossibleDataError,
    ImpossibleEvidenceError,
    ParameterError,
    as_list,
    joined,
    listed,
)
from bayeslearn.fit_info import plain
from bayeslearn.printable import one_line
from bayeslearn.reports import MAX_ROWS, Bars, Grid, Pairs, Report, Reported, Words
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.tables import DiscreteVariable, Source, Table

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

Backend = Literal["pandas", "polars", "pyarrow"]

#: Variables of a report, names in its title, and columns of a table in it.
MAX_VARIABLES, MAX_NAMES, MAX_COLUMNS = 30, 6, 12

__all__ = ["Cost", "JointPosterior", "MostProbableExplanation", "Posterior", "PosteriorTable"]


class QueryResult(Reported):
    """What the answer to a query shows, by whatever method it was computed."""

    evidence: dict[str, Any]
    beliefs: dict[str, dict[Any, float]]

    def __getitem__(self, name: str) -> dict[Any, float]:
        if name not in self.beliefs:
            raise not_queried(name, self.beliefs)
        return self.beliefs[name]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({one_line(probability_of(self.beliefs, self.evidence))})"

    def most_probable(self, name: str) -> Any:
        """Return the most probable state of the marginal of a variable."""
        return max(self[name], key=self[name].__getitem__)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return plain(vars(self))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each state: variable, state, probability, and errors if there are some.

        >>> Posterior({}, 0.0, {"wet": {"yes": 0.9, "no": 0.1}}).to_frame("pyarrow").to_pylist()[0]
        {'variable': 'wet', 'state': 'yes', 'probability': 0.9}
        """
        cells = [(name, state) for name, of in self.beliefs.items() for state in of]
        columns: dict[str, list[Any]] = {
            "variable": [name for name, _ in cells],
            "state": [str(state) for _, state in cells],
            "probability": [self.beliefs[name][state] for name, state in cells],
        }
        more = {column: [of[name][state] for name, state in cells] for column, of in self._columns().items()}
        return frame_of(columns | more, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the probabilities of the states as bars; see :func:`bayeslearn.plots.plot_query`."""
        return plots.plot_query(self, ax=ax)

    def report(self) -> Report:
        """Return the probabilities of the first variables, and the facts."""
        names = list(self.beliefs)
        shown = [self._block(name) for name in names[:MAX_VARIABLES]]
        rest = len(names) - len(shown)
        more = Words(f"… {rest:,} more variables") if rest else None
        return Report(probability_of(self.beliefs, self.evidence), *shown, more, Pairs(self._facts()))

    def _block(self, name: str) -> Bars | Grid:
        """The probabilities of one variable."""
        return Bars(self.beliefs[name], title=name)

    def _facts(self) -> dict[str, Any]:
        """What is reported below the probabilities."""
        raise NotImplementedError

    def _columns(self) -> dict[str, dict[str, dict[Any, float]]]:
        """What else there is for each state, by name of column."""
        return {}


def probability_of(variables: Iterable[str], evidence: Mapping[str, Any]) -> str:
    """The notation of a conditional probability.

    >>> probability_of(["lung", "tub"], {"smoke": "yes", "xray": ["yes", "no"]})
    'P(lung, tub | smoke=yes, xray=yes or no)'
    """
    given = joined(pieces(evidence), MAX_NAMES)
    return f"P({joined(variables, MAX_NAMES)}{' | ' if given else ''}{given})"


def pieces(evidence: Mapping[str, Any]) -> list[str]:
    """Each piece of evidence as text."""
    return [f"{name}={' or '.join(map(str, as_list(value)))}" for name, value in evidence.items()]


@dataclass(frozen=True, repr=False)
class Posterior(QueryResult):
    """Posterior distributions by name and state.

    >>> found = Posterior({"rain": "yes"}, -0.5, {"wet": {"yes": 0.9, "no": 0.1}})
    >>> found["wet"]["yes"]
    0.9
    >>> print(found)
    P(wet | rain=yes)
    <BLANKLINE>
    wet
    yes  0.9  ██████████████████
    no   0.1  ██
    <BLANKLINE>
    ln P(evidence)  -0.5
    """

    evidence: dict[str, Any]
    log_evidence: float
    beliefs: dict[str, dict[Any, float]]

    def _facts(self) -> dict[str, Any]:
        return {"ln P(evidence)": self.log_evidence}


@dataclass(frozen=True)
class Cost:
    """What a question will take, before it is asked."""

    entries: float

    @property
    def bytes(self) -> float:
        """Memory of the tables."""
        return 8 * self.entries


@dataclass(frozen=True, repr=False)
class JointPosterior(Reported):
    """The joint posterior of several variables: `probabilities` has an axis for each, over its states.

    >>> found = JointPosterior(("rain", "wet"), (("yes", "no"), ("yes", "no")), np.array([[0.2, 0.0], [0.1, 0.7]]))
    >>> found[{"rain": "no", "wet": "yes"}]
    0.1
    >>> print(found)
    P(rain, wet)
    <BLANKLINE>
    rain  wet  probability
    ----------------------
    no    no           0.7
    yes   yes          0.2
    no    yes          0.1
    yes   no             0
    """

    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    probabilities: NDArray[np.float64]

    def __getitem__(self, case: Mapping[str, Any]) -> float:
        """P of one combination of states, by name."""
        return float(self.probabilities[tuple(s.index(case[n]) for n, s in zip(self.names, self.states, strict=True))])

    def __repr__(self) -> str:
        return f"JointPosterior({one_line(probability_of(self.names, {}))})"

    def to_dict(self) -> dict[str, Any]:
        """Return names, states and probabilities as plain values."""
        return plain(vars(self))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each combination of states: a column for each variable, probability."""
        codes = np.unravel_index(np.arange(self.probabilities.size), self.probabilities.shape)
        columns: dict[str, Any] = {
            name: [str(states[k]) for k in code.tolist()]
            for name, states, code in zip(self.names, self.states, codes, strict=True)
        }
        return frame_of(columns | {"probability": self.probabilities.reshape(-1)}, backend)

    def report(self) -> Report:
        """Return the most probable combinations first."""
        p = self.probabilities.reshape(-1)
        order = np.argsort(-p, kind="stable")[:MAX_ROWS]
        codes = np.transpose(np.unravel_index(order, self.probabilities.shape)).tolist()
        rows = [
            [*(states[k] for states, k in zip(self.states, code, strict=True)), float(p[i])]
            for code, i in zip(codes, order, strict=True)
        ]
        return Report(
            probability_of(self.names, {}), Grid([*self.names, "probability"], rows), rows_left_out(p.size - len(rows))
        )


@dataclass(frozen=True, repr=False)
class MostProbableExplanation(Reported):
    """The most probable case given the evidence.

    >>> print(MostProbableExplanation({"rain": "yes", "wet": "yes"}, -1.5, -1.0))
    Most probable states
    <BLANKLINE>
    rain  yes
    wet   yes
    <BLANKLINE>
    P(states | evidence)  0.606531
    ln P(evidence)        -1
    """

    case: dict[str, Any]
    #: ln P(case, e)
    log_joint: float
    log_evidence: float

    @property
    def probability(self) -> float:
        """P(case | e)."""
        return float(np.exp(self.log_joint - self.log_evidence))

    def __repr__(self) -> str:
        shown = one_line(joined(f"{name}={state}" for name, state in self.case.items()))
        return f"MostProbableExplanation({shown}; P={self.probability:.6g})"

    def to_dict(self) -> dict[str, Any]:
        """Return the states and their probability as plain values."""
        return plain(vars(self)) | {"probability": self.probability}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each variable: variable, state."""
        return frame_of({"variable": list(self.case), "state": list(map(str, self.case.values()))}, backend)

    def report(self) -> Report:
        """Return the states, and how probable they are together."""
        facts = {"P(states | evidence)": self.probability, "ln P(evidence)": self.log_evidence}
        return Report("Most probable states", Pairs(self.case), Pairs(facts))


@dataclass(frozen=True, repr=False)
class PosteriorTable(Reported):
    """Posterior distributions of many rows: an array (rows, states) for each variable, and ln P(e) of each row.

    >>> found = PosteriorTable(np.array([-0.5]), {"wet": np.array([[0.9, 0.1]])}, {"wet": ("yes", "no")})
    >>> found.most_probable("wet")
    array(['yes'], dtype=object)
    >>> found
    PosteriorTable(P(wet), 1 rows)
    >>> print(found)
    P(wet) of 1 rows
    <BLANKLINE>
    row  P(wet=yes)  P(wet=no)  log_evidence
    ----------------------------------------
      0         0.9        0.1          -0.5
    """

    log_evidence: NDArray[np.float64]
    beliefs: dict[str, NDArray[np.float64]]
    states: dict[str, tuple[Any, ...]]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self.beliefs:
            raise not_queried(name, self.beliefs)
        return self.beliefs[name]

    def __len__(self) -> int:
        return len(self.log_evidence)

    def __repr__(self) -> str:
        return f"PosteriorTable({one_line(probability_of(self.beliefs, {}))}, {len(self):,} rows)"

    def most_probable(self, name: str) -> NDArray[np.object_]:
        """The most probable state of the marginal of a variable, in each row."""
        best = self[name].argmax(axis=1)
        return np.fromiter(self.states[name], dtype=object)[best]

    def to_dict(self) -> dict[str, Any]:
        """Return the probabilities by variable and state, and ln P(e), as lists."""
        beliefs = {name: dict(zip(self.states[name], np.transpose(p), strict=True)) for name, p in self.beliefs.items()}
        return plain({"log_evidence": self.log_evidence, "beliefs": beliefs})

    def to_arrow(self) -> Any:
        """A pyarrow table: a row for each case, a column ``P(VAR=state)`` for each state, and ``log_evidence``."""
        import pyarrow as pa  # noqa: PLC0415 - Arrow loads when it is asked for

        columns = self._columns()
        names = [name for name, _ in columns]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DuplicateColumnError(
                f"two columns would have the name {twice!r}", hint="read the arrays by name of variable", column=twice
            )
        return pa.table([pa.array(values) for _, values in columns], names=names)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """The table of :meth:`to_arrow` as a data frame of another library."""
        from bayeslearn.tables import frames  # noqa: PLC0415 - it loads when it is asked for

        return frames.to_frame(self.to_arrow(), backend)

    def report(self) -> Report:
        """Return the first rows."""
        every, n = self._columns(), min(len(self), MAX_ROWS)
        columns = [*every[:-1][:MAX_COLUMNS], every[-1]]
        rows = [[i, *(float(values[i]) for _, values in columns)] for i in range(n)]
        return Report(
            f"{probability_of(self.beliefs, {})} of {len(self):,} rows",
            Grid(["row", *(name for name, _ in columns)], rows),
            rows_left_out(len(self) - n),
        )

    def _columns(self) -> list[tuple[str, NDArray[np.float64]]]:
        """A column for each state, and ln P(e)."""
        columns = [
            (f"P({name}={state})", p[:, k])
            for name, p in self.beliefs.items()
            for k, state in enumerate(self.states[name])
        ]
        return [*columns, ("log_evidence", self.log_evidence)]


def rows_left_out(n: int) -> Words | None:
    """How many rows a report leaves out."""
    return Words(f"… {n:,} more rows; to_frame() has them all") if n > 0 else None


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
    """Every batch with its beliefs about the targets, whose own columns are not used."""
    start = 0
    for batch in source.batches(batch_rows(network)):
        yield batch, believed(network, batch.mask(targets), start, variables=targets)
        start += batch.n_rows


def batch_rows(network: BayesianNetwork) -> int:
    """Rows whose beliefs are in memory at a time."""
    return max(MOST_BELIEFS // sum(cpt.variable.n_states for cpt in network), LEAST_ROWS)


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
        f"row {start + row} is too improbable to be distinguished from impossible",
        hint="check the values of this row",
        row=start + row,
    )


def renumbered(error: ImpossibleEvidenceError, start: int) -> ImpossibleEvidenceError:
    """The error of a batch, with its row counted in the whole table."""
    row = error.details["row"]
    message = error.message.replace(f"of row {row} ", f"of row {start + row} ", 1)
    return ImpossibleEvidenceError(message, hint=error.hint, **(error.details | {"row": start + row}))


def state_names(variable: DiscreteVariable) -> NDArray[Any]:
    """The states as an array of their type; as objects when they mix types."""
    kinds = {type(state) for state in variable.states}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(variable.states)
    return np.fromiter(variable.states, dtype=object)


def not_queried(name: str, beliefs: Mapping[str, Any]) -> ParameterError:
    """The error for a posterior of another variable."""
    return ParameterError(
        f"no posterior for {name!r}: it is not among the queried variables",
        hint=f"query(evidence, variables=[{name!r}]); available: {listed(beliefs)}",
    )
