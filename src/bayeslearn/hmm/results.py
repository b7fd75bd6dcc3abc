"""Results of hidden Markov models: state posteriors, state paths, fit infos, models as reports and frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.components.description import log_odds, parameters_of
from bayeslearn.errors import ParameterError, UnknownStateError, listed
from bayeslearn.fit_info import FitInfo, plain
from bayeslearn.hmm.forward_backward import around
from bayeslearn.printable import printable
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bayeslearn.hmm.model import HiddenMarkovModel
    from bayeslearn.hmm.sequences import Sequences

    Floats = NDArray[np.float64]
    Backend = Literal["pandas", "polars", "pyarrow"]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Next states that a report names for each state.
MAX_NEXT = 3

#: Distance of two objectives, relative to their size, that counts as the same optimum.
SAME_OPTIMUM = 1e-6


### answers about rows


@dataclass(frozen=True, eq=False, repr=False)
class StatePosterior(Reported):
    """The posterior of the states of each row, given the whole sequence.

    Attributes
    ----------
    model, data
        The model and its sequences.
    probabilities
        P(state | whole sequence), (rows, states), in the order of the given rows.
    log_likelihood
        ln P(x) of each sequence.
    """

    model: HiddenMarkovModel
    data: Sequences
    probabilities: Floats
    log_likelihood: Floats

    @property
    def states(self) -> list[Any]:
        """The most probable state of each row (posterior decoding), the first of equal ones."""
        return [self.model.states[k] for k in self.probabilities.argmax(axis=1)]

    def plot(self, *, ax: Any = None) -> Any:
        """Plot the probability of each state, step by step; see :func:`bayeslearn.plots.plot_state_posterior`."""
        return plots.plot_state_posterior(self, ax=ax)

    def report(self) -> Report:
        """Return the probabilities of the states, row by row."""
        head = ["Row", "Sequence", *map(str, self.model.states)]
        rows = [[i, *row] for i, row in enumerate(zip(sequence_ids(self.data), *self.probabilities.T, strict=True))]
        title = f"Posterior of {self.model.n_states} states in {self.data.n_rows:,} rows"
        return Report(title, answer_pairs(self.data, self.log_likelihood), Grid(head, rows))

    def to_dict(self) -> dict[str, Any]:
        """Return states, probabilities and log-likelihoods as plain values."""
        return {
            "states": plain(self.model.states), "probabilities": self.probabilities.tolist(),
            "log_likelihood": named(self.data, self.log_likelihood),
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each row: its sequence and the probability of each state."""
        columns = {f"P(state={s})": p for s, p in zip(self.model.states, self.probabilities.T, strict=True)}
        return frame_of({"sequence": sequence_ids(self.data), **columns}, backend)


@dataclass(frozen=True, eq=False, repr=False)
class StatePath(Reported):
    """The most probable state path of each sequence.

    Attributes
    ----------
    model, data
        The model and its sequences.
    codes
        The number of the state of each row, in the order of the given rows.
    log_probability
        ln P(states, x) of each sequence.
    """

    model: HiddenMarkovModel
    data: Sequences
    codes: NDArray[np.int64]
    log_probability: Floats

    @property
    def states(self) -> list[Any]:
        """The state of each row by its name."""
        return [self.model.states[k] for k in self.codes]

    def split(self) -> dict[Any, list[Any]]:
        """Return the states of each sequence."""
        codes = self.codes if self.data.order is None else self.codes[self.data.order]
        names = [self.model.states[k] for k in codes]
        return {name: names[self.data.rows(i)] for i, name in enumerate(self.data.ids)}

    def plot(self, *, ax: Any = None) -> Any:
        """Plot the states of each sequence; see :func:`bayeslearn.plots.plot_states`."""
        return plots.plot_states(self, ax=ax)

    def report(self) -> Report:
        """Return the runs of equal states."""
        codes = self.codes if self.data.order is None else self.codes[self.data.order]
        rows = [row for i, name in enumerate(self.data.ids) for row in runs(name, codes[self.data.rows(i)], self.model)]
        title = f"Most probable states of {self.data.n_rows:,} rows"
        pairs = answer_pairs(self.data, self.log_probability, "Log-probability")
        return Report(title, pairs, Grid(["Sequence", "State", "First step", "Steps"], rows, "Runs"))

    def to_dict(self) -> dict[str, Any]:
        """Return the states and the log-probability of each path as plain values."""
        return {"states": plain(self.states), "log_probability": named(self.data, self.log_probability)}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each row: its sequence and its state."""
        return frame_of({"sequence": sequence_ids(self.data), "state": self.states}, backend)


def sequence_ids(data: Sequences) -> list[Any]:
    """The sequence of each row, in the order of the given rows."""
    numbers = data.as_given(np.repeat(np.arange(len(data)), data.lengths))
    return [data.ids[i] for i in numbers]


def answer_pairs(data: Sequences, log_p: Floats, name: str = "Log-likelihood") -> Pairs:
    """The extent of sequences and their total log-probability, as a block."""
    return Pairs({"Sequences": len(data), "Rows": data.n_rows, name: float(log_p.sum())})


def named(data: Sequences, values: Floats) -> dict[str, float]:
    """A value of each sequence by its name."""
    return {str(name): float(value) for name, value in zip(data.ids, values, strict=True)}


def runs(name: Any, codes: NDArray[np.int64], model: HiddenMarkovModel) -> list[tuple[Any, ...]]:
    """Sequence, state, first step and length of each run of equal states."""
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    steps = np.diff(first, append=len(codes))
    return [(name, model.states[codes[t]], int(t), int(n)) for t, n in zip(first, steps, strict=True)]


### why


@dataclass(frozen=True, repr=False)
class StateExplanation(Reported):
    """Log odds of a state against another one, for a row of a sequence.

        ln P(j | x) / P(l | x) = ln p_j / p_l of earlier rows + Σ_columns ln b_j / b_l + ln p_j / p_l of later rows

    Attributes
    ----------
    position
        The position of the row.
    state, versus
        Both states.
    probability, versus_probability
        Their probabilities, given the whole sequence.
    contributions
        The log odds of ``"earlier rows"`` (or of the start), of each column, and of ``"later rows"``.
    """

    position: int
    state: Any
    versus: Any
    probability: float
    versus_probability: float
    contributions: Mapping[str, float]

    @property
    def log_odds(self) -> float:
        """The log odds of the state: the sum of the contributions."""
        return sum(self.contributions.values())

    def report(self) -> Report:
        """Return the log odds of each contribution."""
        pairs = {"Probability": self.probability, f"Probability of {self.versus}": self.versus_probability}
        rows = [*self.contributions.items(), ("Sum", self.log_odds)]
        title = f"State {self.state} versus state {self.versus} at position {self.position}"
        return Report(title, Pairs(pairs), Grid(["Contribution", "Log odds"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return {
            "position": self.position, "state": plain(self.state), "versus": plain(self.versus),
            "probability": self.probability, "versus_probability": self.versus_probability,
            "log_odds": self.log_odds, "contributions": dict(self.contributions),
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each contribution."""
        found = self.contributions
        return frame_of({"contribution": list(found), "log_odds": list(found.values())}, backend)


def explained(model: HiddenMarkovModel, data: Sequences, position: int, state: Any, versus: Any) -> StateExplanation:
    """Return what supports a state of a row against another state."""
    if model.n_states == 1:
        raise ParameterError("a model of one state has no other to compare with")
    if len(data) != 1:
        raise ParameterError(f"expected one sequence, got {len(data)}", hint="explain one sequence at a time")
    t = validation.integer("position", position, min_value=0)
    if t >= data.n_rows:
        raise ParameterError(f"there is no position {t}: the sequence has {data.n_rows} rows")
    logs = model.emissions.log_prob(data.cells)
    before, after = around(model.chain, logs, t)
    joint = before + logs[t] + after
    p = np.exp(joint - np.logaddexp.reduce(joint))
    order = [int(k) for k in np.argsort(-p, kind="stable")]
    j = order[0] if state is None else code_of(model, state)
    rival = next(k for k in order if k != j) if versus is None else code_of(model, versus)
    if rival == j:
        raise ParameterError(f"state {model.states[j]!r} cannot be compared with itself")
    with np.errstate(invalid="ignore"):
        found = {"earlier rows" if t else "start": float(before[j] - before[rival])}
        for name, value in column_log_odds(model, data.cells[t : t + 1], logs[t], j, rival):
            found[name] = found.get(name, 0.0) + value
        found["later rows"] = float(after[j] - after[rival])
    return StateExplanation(t, model.states[j], model.states[rival], float(p[j]), float(p[rival]), found)


def column_log_odds(
    model: HiddenMarkovModel, cells: NDArray[Any], logs: Floats, j: int, rival: int
) -> list[tuple[str, float]]:
    """The log odds of each column of a row; of all columns together where a state is a mixture."""
    emissions = model.emissions
    if emissions.n_parts > 1:
        return [(", ".join(emissions.feature_names), float(logs[j] - logs[rival]))]
    pair = np.array([j, rival])
    parts = zip(
        emissions.column_components, emissions.component_parameters, emissions.component_cells(cells), strict=True
    )
    return [
        (name or f"{part.name} (covariance)", value)
        for part, θ, x in parts
        for name, value in log_odds(part, part.distribution.take(θ, pair), x)
    ]


def code_of(model: HiddenMarkovModel, state: Any) -> int:
    """The number of a state."""
    if state not in model.states:
        raise UnknownStateError(f"there is no state {state!r}", hint=f"the states are {listed(model.states)}")
    return model.states.index(state)


### fits and models


@dataclass(frozen=True)
class StateReport:
    """A state: its probabilities, how long it lasts, and what it emits."""

    state: Any
    startprob: float
    #: The long-run share of steps in the state.
    share: float
    expected_duration: float
    n_rows: float
    emits: str
    transmat: Mapping[str, float]

    def next_states(self) -> str:
        """The most probable next states after the state is left."""
        p = [(q, name) for name, q in self.transmat.items() if name != str(self.state) and q > 1e-6]
        leave = sum(q for q, _ in p)
        best = sorted(p, key=lambda item: -item[0])[:MAX_NEXT]
        return ", ".join(f"{name} {q / leave:.2g}" for q, name in best)


def state_reports(model: HiddenMarkovModel) -> tuple[StateReport, ...]:
    """The states of a model."""
    each = zip(
        model.states, model.startprob.tolist(), model.stationary_distribution().tolist(),
        model.expected_durations().tolist(), model.state_visits.tolist(), strict=True,
    )  # fmt: skip
    names = [*map(str, model.states)]
    return tuple(
        StateReport(
            *values, printable(model.emissions.describe(i)), dict(zip(names, model.transmat[i].tolist(), strict=True))
        )
        for i, values in enumerate(each)
    )


def state_grid(states: tuple[StateReport, ...]) -> Grid:
    """What each state emits, how long it lasts and which states follow, as a block."""
    rows = [(s.state, s.share, s.expected_duration, s.emits, s.next_states()) for s in states]
    return Grid(["State", "Share", "Duration", "Emits", "Next states"], rows, "States")


@dataclass(frozen=True, kw_only=True, repr=False)
class HMMFitInfo(FitInfo):
    """What a fit of a hidden Markov model found out.

    Attributes
    ----------
    n_sequences
        The weighted number of sequences.
    n_missing
        The number of missing values.
    columns, emissions
        The observed columns, and the kind of their distribution.
    starts
        The penalized log-likelihood that each initialization reached.
    states_without_data
        States in which almost no row is expected.
    """

    n_sequences: float = 0
    n_missing: int = 0
    columns: tuple[str, ...] = ()
    emissions: str = ""
    starts: tuple[float, ...] = ()
    states_without_data: tuple[Any, ...] = ()
    #: The model, whose states are described when they are asked for.
    _model: HiddenMarkovModel | None = None

    @cached_property
    def states(self) -> tuple[StateReport, ...]:
        """The states of the model."""
        return () if self._model is None else state_reports(self._model)

    def _computed(self) -> dict[str, Any]:
        return {"states": plain(self.states)}

    @property
    def objective(self) -> float:
        """The penalized log-likelihood, ln P(D|θ) + ln P(θ)."""
        return float(self.history[-1].objective)

    def _title(self) -> str:
        return f"Hidden Markov model of {len(self.states)} states fitted to {self.n_sequences:g} sequences"

    def _pairs(self) -> dict[str, Any]:
        found = {
            "Sequences": self.n_sequences, "Rows": self.n_rows, "Missing values": self.n_missing,
            "Columns": f"{', '.join(self.columns)} ({self.emissions})", **super()._pairs(),
        }  # fmt: skip
        if len(self.starts) > 1:
            best = sum(bool(np.isclose(value, self.objective, rtol=SAME_OPTIMUM, atol=0)) for value in self.starts)
            found["Initializations"] = f"{len(self.starts)}, {best} with this optimum"
        return found

    def _blocks(self) -> tuple[Any, ...]:
        return (state_grid(self.states),)


def report_of(model: HiddenMarkovModel) -> Report:
    """Return the states of a model."""
    columns = f"{', '.join(model.feature_names)} ({model.emissions.label})"
    pairs = {"Columns": columns, "Sequences": round(model.total_weight, 1)}
    title = f"Hidden Markov model of {model.n_states} states"
    return Report(title, Pairs(pairs), state_grid(state_reports(model)))


def plain_model(model: HiddenMarkovModel) -> dict[str, Any]:
    """Return states, probabilities and emissions as plain values."""
    return {
        "n_states": model.n_states, "n_sequences": model.total_weight, "columns": list(model.feature_names),
        "emissions": model.emissions.label, "frozen": sorted(model.frozen),
        "states": [
            {**plain(state), "parameters": state_parameters(model, i)} for i, state in enumerate(state_reports(model))
        ],
    }  # fmt: skip


def frame_of_model(model: HiddenMarkovModel, backend: Any) -> Any:
    """Return a frame with a row for each state."""
    states = state_reports(model)
    columns: dict[str, list[Any]] = {
        name: [getattr(state, name) for state in states]
        for name in ("state", "startprob", "share", "expected_duration", "n_rows")
    }
    for i in range(len(states)):
        for name, value in state_parameters(model, i).items():
            columns.setdefault(name, []).append(value)
    return frame_of(columns, backend)


def state_parameters(model: HiddenMarkovModel, i: int) -> dict[str, Any]:
    """The parameters of the emissions of a state by name; those of each part where a state is a mixture."""
    emissions = model.emissions
    own = emissions.column_components, emissions.component_parameters
    if emissions.n_parts == 1:
        return parameters_of(*own, i)
    found: dict[str, Any] = {}
    for part, weight in enumerate(emissions.mixing_weights[i].tolist()):  # type: ignore[attr-defined]
        values = parameters_of(*own, i * emissions.n_parts + part)
        found |= {f"part {part} weight": weight} | {f"part {part} {name}": value for name, value in values.items()}
    return found
