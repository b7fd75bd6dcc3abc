"""Answers of a hidden Markov model: likelihoods, state posteriors, the most probable path."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.evaluation import Metrics
from bayeslearn.hmm.emission_statistics import Rows
from bayeslearn.hmm.forward_backward import expect, impossible, log_likelihoods, restricted
from bayeslearn.hmm.results import StatePath, StatePosterior

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.em import Foldable
    from bayeslearn.hmm.filtering import Filter
    from bayeslearn.hmm.model import HiddenMarkovModel
    from bayeslearn.hmm.results import StateExplanation
    from bayeslearn.hmm.sequences import Sequences

    Floats = NDArray[np.float64]


class Answers:
    """The verbs of a model that answer questions about sequences."""

    __slots__ = ()

    def sequences(
        self: Any,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known_states: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Sequences:
        """Return data as sequences of this model.

        Parameters
        ----------
        data
            An array with `lengths`, a list of sequences, or a frame or file with `id`; see
            :mod:`bayeslearn.hmm.inputs`. :class:`Sequences` are returned unchanged.
        lengths
            The number of rows of each sequence; default: one sequence.
        id
            The column with the sequence of each row.
        known_states
            The state of each row, None for unknown ones: a list, or the name of a column.
        sample_weight
            The weight of each sequence; default: 1.
        """
        from bayeslearn.hmm.inputs import read  # noqa: PLC0415 - reads tables

        return read(
            data, self.emissions, states=self.states, lengths=lengths, id=id, known_states=known_states,
            sample_weight=sample_weight,
        )  # fmt: skip

    def _batches(self: Any, data: Any, **options: Any) -> Foldable:
        """Sequences in memory, or those of a source, batch by batch."""
        from bayeslearn.hmm.inputs import is_folded  # noqa: PLC0415 - reads tables

        if not is_folded(data, options["id"]):
            return self.sequences(data, **options)
        from bayeslearn.hmm.sequence_sources import opened  # noqa: PLC0415 - reads sources

        raw = opened(data, names=self.feature_names, kind=self.emissions.columns_as, **options)
        return raw.finished(self.emissions, self.states)

    # -- answers about sequences

    def log_likelihood(
        self: Any,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known_states: Any = None,
    ) -> Floats:
        """Return ln P(x) of each sequence, −inf for impossible ones; parameters as in :meth:`sequences`, or a source.

        Missing observations are marginalized out.
        """
        batches = self._batches(data, lengths=lengths, id=id, known_states=known_states, sample_weight=None)
        return np.concatenate(batches.fold(lambda batch: [log_likelihood(self, batch)]))

    def score(
        self: Any,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known_states: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return ln P(x) of all sequences together; parameters as in :meth:`sequences`, or a source."""
        found = self.log_likelihood(data, lengths=lengths, id=id, known_states=known_states)
        weights = np.ones(len(found)) if sample_weight is None else validation.weights(sample_weight, len(found))
        return float(weights @ found)

    def predict(
        self: Any,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known_states: Any = None,
        marginal: bool = False,
    ) -> NDArray[Any]:
        """Return the state of each row.

        Parameters
        ----------
        data, lengths, id, known_states
            As in :meth:`sequences`.
        marginal
            False: the states of the most probable path (Viterbi). True: the most probable state of each row.
        """
        answer = self.posterior if marginal else self.decode
        return np.array(answer(data, lengths=lengths, id=id, known_states=known_states).states)

    def predict_proba(
        self: Any,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known_states: Any = None,
    ) -> Floats:
        """Return P(state | whole sequence) of each row, (rows, states); parameters as in :meth:`sequences`."""
        return self.posterior(data, lengths=lengths, id=id, known_states=known_states).probabilities

    def posterior(
        self: Any,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known_states: Any = None,
    ) -> StatePosterior:
        """Return P(state | whole sequence) of each row as a result; parameters as in :meth:`sequences`."""
        return posterior(self, self.sequences(data, lengths=lengths, id=id, known_states=known_states))

    def decode(
        self: Any,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known_states: Any = None,
    ) -> StatePath:
        """Return the most probable state path of each sequence (Viterbi); parameters as in :meth:`sequences`."""
        return decode(self, self.sequences(data, lengths=lengths, id=id, known_states=known_states))

    def evaluate(
        self: Any,
        data: Any,
        *,
        true_states: Any,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
    ) -> Metrics:
        """Return accuracy, log loss and confusion of the state posteriors on rows with known states.

        Parameters
        ----------
        data, lengths, id
            As in :meth:`sequences`.
        true_states
            The true state of each row, None for unknown ones: a list, or the name of a column.
        """
        known = self.sequences(data, lengths=lengths, id=id, known_states=true_states)
        found = posterior(self, replace(known, known_states=None))
        return Metrics.of(found.probabilities, known.as_given(known.known_states), classes=self.states)

    def explain(self: Any, data: Any, position: int = 0, *, state: Any = None, versus: Any = None) -> StateExplanation:
        """Return why a row of a sequence is in a state: log odds of earlier rows, of each column, and of later rows.

        Parameters
        ----------
        data
            One sequence.
        position
            The position of the row in the sequence, from 0.
        state
            The state to explain; the most probable one by default.
        versus
            The state to compare with; by default the most probable one of the others.
        """
        from bayeslearn.hmm.results import explained  # noqa: PLC0415 - it reads models

        return explained(self, self.sequences(data), position, state, versus)

    def impute(
        self: Any,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        method: Literal["expected", "sample"] = "expected",
        random_state: np.random.Generator | int | None = None,
    ) -> Any:
        """Return the same data with missing observations filled, given the whole sequence.

        Parameters
        ----------
        data, lengths, id
            As in :meth:`sequences`; the same kind of data is returned, and other columns are unchanged.
        method
            ``"expected"``: the mean of a number and the most probable symbol. ``"sample"``: a draw of the state path,
            and of the missing observations given the path.
        random_state
            Seed or generator for ``"sample"``.
        """
        from bayeslearn.hmm.generation import imputed  # noqa: PLC0415 - few data are imputed

        return imputed(self, data, self.sequences(data, lengths=lengths, id=id), method, random_state)

    def sample(
        self: Any,
        n_samples: int = 1,
        *,
        lengths: ArrayLike | None = None,
        random_state: np.random.Generator | int | None = None,
        return_states: bool = False,
    ) -> Any:
        """Return random observations as a :class:`~bayeslearn.Table`.

        Parameters
        ----------
        n_samples
            The number of rows of one sequence.
        lengths
            The lengths of several sequences, in place of `n_samples`; the table has a column ``sequence``.
        random_state
            Seed or generator.
        return_states
            Whether the states are returned too.
        """
        from bayeslearn.hmm.generation import sampled  # noqa: PLC0415 - few models are sampled

        table, states = sampled(self, n_samples, lengths, random_state)
        return (table, states) if return_states else table

    def draw(
        self: Any, lengths: int | ArrayLike, random_state: np.random.Generator | int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the observations and the states of random sequences of given lengths, one after the other."""
        from bayeslearn.hmm.generation import random_path  # noqa: PLC0415 - few models are sampled

        rng = validation.generator(random_state)
        codes, states = random_path(self, lengths, rng)
        return self.emissions.draw(codes, rng), states

    def filter(self: Any) -> Filter:
        """Return a filter: the distribution of the present state as observations come in."""
        from bayeslearn.hmm.filtering import Filter  # noqa: PLC0415 - it builds on the model

        return Filter(self)


### the algorithms


def log_likelihood(model: HiddenMarkovModel, data: Sequences) -> Floats:
    """ln P of each sequence."""
    return log_likelihoods(model.chain, model.emissions.reading(data.cells), data)


class StepBeliefs(Rows):
    """A reading that keeps γ of every row, whatever the emissions."""

    def __init__(self, reading: Any, shape: tuple[int, int]) -> None:
        super().__init__(np.empty((0, 0)), lambda gamma: gamma)
        self.lay, self.logs = reading.lay, reading.logs  # type: ignore[method-assign]
        self.gamma = np.zeros(shape)


def posterior(model: HiddenMarkovModel, data: Sequences) -> StatePosterior:
    """γ of every row."""
    once = type(data)(data.cells, data.lengths, data.ids, known_states=data.known_states)
    found = expect(
        model.chain, StepBeliefs(model.emissions.reading(data.cells), (data.n_rows, len(model.states))), once
    )
    return StatePosterior(model, data, data.as_given(found.observed), found.log_p)


def decode(model: HiddenMarkovModel, data: Sequences) -> StatePath:
    """Viterbi, sequence by sequence."""
    codes, log_p = np.empty(data.n_rows, np.int64), np.empty(len(data))
    with np.errstate(divide="ignore"):
        tables = np.log(np.array(model.startprob)), np.log(np.array(model.transmat))
    reading = model.emissions.reading(data.cells)

    def work(part: slice) -> None:
        rows = slice(data.rows(part.start).start, data.rows(part.stop - 1).stop)
        logs = restricted(reading.logs(rows), None if data.known_states is None else data.known_states[rows])
        failed, step = kernels.best_paths(*tables, np.array(logs), data.lengths[part].copy(), codes[rows], log_p[part])
        if failed >= 0:
            raise impossible(data, part.start + failed, step)

    kernels.parallel(work, data.stretches)
    return StatePath(model, data, data.as_given(codes), log_p)


def long_run(start: Floats, moves: Floats) -> Floats:
    """The mean of π Aᵗ over all t: lazy steps doubled until they settle, which also chains with a period do."""
    n = len(start)
    lazy = (np.eye(n) + moves) / 2  # the same long run, without a period
    for _ in range(60):
        lazy = lazy @ lazy
        lazy /= lazy.sum(axis=1, keepdims=True)
    return start @ lazy
