"""A hidden Markov model: states that nobody sees follow each other, and each emits what is seen.

P(s, x) = π(s_1) b_{s_1}(x_1) Π_t A(s_{t−1}, s_t) b_{s_t}(x_t)

smoothing   P(s_t | x_1 … x_T)      forward-backward        decoding   argmax_s P(s | x)      Viterbi
filtering   P(s_t | x_1 … x_t)      as data come in         learning   Baum-Welch: the one EM loop
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import xlogy

from bayeslearn import validation
from bayeslearn.codec import RENAMED_DISTRIBUTIONS, Saved, rename_values, upgrade
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions.categorical import shares
from bayeslearn.distributions.lineage import after_update, merged
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import MismatchError, ParameterError, ShapeError, listed
from bayeslearn.hmm import inference, priors
from bayeslearn.hmm.forward_backward import Chain, expect
from bayeslearn.printable import printable
from bayeslearn.tables.variables import checked_states

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.hmm.emissions import Emissions
    from bayeslearn.hmm.filtering import Filter
    from bayeslearn.hmm.inference import StatePath, StatePosterior
    from bayeslearn.hmm.priors import HMMPrior
    from bayeslearn.hmm.sequences import Sequences
    from bayeslearn.model_values import Reader
    from bayeslearn.progress import ProgressCallback
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

#: The parts that may be frozen.
FREEZABLE = ("start", "transitions", "emissions")


def table(name: str, p: ArrayLike) -> Floats:
    """Rows that sum to one; what does so up to rounding stays as it is, however often it is looked at."""
    given, checked = np.asarray(p, dtype=np.float64), validation.probabilities(p, name=name)
    return given if (np.abs(given - checked) <= 1e-14 * checked).all() else checked


@dataclass(frozen=True, eq=False)
class HiddenMarkovModel(Saved, kind="hidden Markov model", version=2):
    """A frozen value: named states, where a sequence starts, how it moves on, and what each state emits.

    A model that was learned keeps its prior and its statistics, so that learning can go on.

    >>> from bayeslearn.hmm import CategoricalEmissions
    >>> from bayeslearn.tables import DiscreteVariable
    >>> rolls = CategoricalEmissions(DiscreteVariable("roll", (1, 2, 3, 4, 5, 6)), [[1 / 6] * 6, [0.1] * 5 + [0.5]])
    >>> casino = HiddenMarkovModel(("fair", "loaded"), [0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], rolls)
    >>> casino.decode([1, 2, 6, 6, 6, 6]).states
    ['loaded', 'loaded', 'loaded', 'loaded', 'loaded', 'loaded']
    >>> casino.posterior([1, 2, 6, 6, 6, 6]).probabilities[0].round(3)
    array([0.272, 0.728])
    """

    states: tuple[Any, ...]
    start: Floats
    transitions: Floats
    emissions: Emissions
    prior: HMMPrior | None = None
    statistics: StatisticsBundle | None = None
    #: Parts that learning leaves alone: "start", "transitions", "emissions".
    frozen: frozenset[str] = frozenset()
    #: What the statistics are made of, where the model was updated; see :mod:`bayeslearn.distributions.lineage`.
    lineage: Lineage | None = None

    def __post_init__(self) -> None:
        states = checked_states("state", self.states)
        n = len(states)
        start, moves = table("start", self.start), table("transitions", self.transitions)
        if start.shape != (n,) or moves.shape != (n, n) or self.emissions.size != n:
            raise ShapeError(
                f"{n} states need a start of shape ({n},), transitions of ({n}, {n}) and emissions of {n} states, "
                f"got {start.shape}, {moves.shape} and {self.emissions.size}"
            )
        kept = frozenset([self.frozen] if isinstance(self.frozen, str) else self.frozen)
        if not kept <= set(FREEZABLE):
            raise ParameterError(f"cannot freeze {listed(sorted(kept - set(FREEZABLE)))}", hint=f"parts: {FREEZABLE}")
        for name, value in (("states", states), ("start", frozen(start)), ("transitions", frozen(moves))):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "frozen", kept)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.states[:6])) + (", …" if len(self.states) > 6 else "")
        return printable(f"HiddenMarkovModel({len(self.states)} states: {names}; {self.emissions.kind} emissions)")

    # -- learning

    @classmethod
    def learn(
        cls,
        data: Any,
        states: int | Iterable[Any] | None = None,
        *,
        emissions: str | Mapping[str, str] = "auto",
        mixture: int = 1,
        columns: Iterable[str] | None = None,
        symbols: Iterable[Any] | None = None,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known: Any = None,
        sample_weight: ArrayLike | None = None,
        structure: Any = "any",
        prior: Any = "auto",
        start: HiddenMarkovModel | None = None,
        frozen: Iterable[str] = (),
        restarts: int = 1,
        random_state: np.random.Generator | int | None = 0,
        tol: float = 1e-4,
        max_iter: int = 500,
        progress: ProgressCallback | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 5,
        na_values: Markers = (),
        keep_default_na: bool = True,
        drop_columns: Iterable[str] = (),
    ) -> HiddenMarkovModel:
        """The model of :func:`bayeslearn.hmm.learn`, which explains the parameters."""
        from bayeslearn.hmm.baum_welch import learn  # noqa: PLC0415 - learning builds on the model

        return learn(
            data, states, emissions=emissions, mixture=mixture, columns=columns, symbols=symbols, lengths=lengths,
            id=id, known=known, sample_weight=sample_weight, structure=structure, prior=prior, start=start,
            frozen=frozen,
            restarts=restarts, random_state=random_state, tol=tol, max_iter=max_iter, progress=progress,
            checkpoint=checkpoint,
            every=every, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns,
        ).model  # fmt: skip

    def expected_statistics(self, batch: Sequences) -> tuple[StatisticsBundle, float]:
        """E step: expected starts, moves and emissions, and ln P of the sequences."""
        self.emissions.require_fit(batch)
        found = expect(self.chain, self.emissions.reading(batch.cells), batch)
        parts = StatisticsBundle(start=Counts(found.start), transitions=Counts(found.moves), emissions=found.observed)
        weighed = found.log_p if batch.sample_weight is None else batch.sample_weight * found.log_p
        return parts, float(weighed.sum())

    def estimate(self, prior: HMMPrior | None, statistics: StatisticsBundle) -> Self:
        """M step: posterior means; what is zero or frozen stays so."""
        prior = self._prior(prior)
        parts: dict[str, Any] = {}
        for name, table in (("start", self.start), ("transitions", self.transitions)):
            if name not in self.frozen:
                alpha = priors.masked(getattr(prior, name), table)
                parts[name] = shares(statistics[name].n + alpha, table)
        if "emissions" not in self.frozen:
            parts["emissions"] = self.emissions.estimate(prior.emissions, statistics["emissions"])
        return replace(self, prior=prior, statistics=statistics, lineage=None, **parts)

    def log_prior(self, prior: HMMPrior | None) -> float:
        """Log likelihood of the cases that the prior stands for, where they may move anything."""
        prior = self._prior(prior)
        total = 0.0
        for name, table in (("start", self.start), ("transitions", self.transitions)):
            if name not in self.frozen:
                total += float(xlogy(priors.masked(getattr(prior, name), table), table).sum())
        return total if "emissions" in self.frozen else total + self.emissions.log_prior(prior.emissions)

    def _prior(self, prior: HMMPrior | None) -> HMMPrior:
        return priors.prior_of(None, self.emissions, None) if prior is None else prior

    def update(
        self,
        data: Any,
        *,
        fade: float = 1.0,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from more sequences in one step: their expected statistics are added to those of the model.

        Parameters
        ----------
        data, lengths, id, known, sample_weight
            As in :meth:`sequences`; or a source with `id`.
        fade
            The weight of earlier statistics; below 1 they are forgotten gradually.
        """
        from bayeslearn.hmm.inputs import is_folded  # noqa: PLC0415 - reads tables

        read = self._folded if is_folded(data, id) else self.sequences
        batch: Any = read(data, lengths=lengths, id=id, known=known, sample_weight=sample_weight)
        found = batch.fold(lambda some: self.expected_statistics(some)[0])
        before = self.statistics
        prior = self.prior or priors.prior_of(priors.DEFAULT, self.emissions, batch.cells)
        if before is None:
            return self.estimate(prior, found)
        after = self.estimate(prior, before * fade + found)
        return replace(after, lineage=after_update(self.lineage, before, found, fade))

    def _folded(self, data: Any, *, lengths: Any, id: str | None, known: Any, sample_weight: Any) -> Any:  # noqa: A002
        from bayeslearn.hmm.sequence_sources import opened  # noqa: PLC0415 - reads sources

        names, kind = self.emissions.names, self.emissions.columns_as
        raw = opened(data, id=id, names=names, known=known, kind=kind, lengths=lengths, sample_weight=sample_weight)
        return raw.finished(self.emissions, self.states)

    def __add__(self, other: HiddenMarkovModel) -> Self:
        """Evidence of both: their statistics added. Both should come from one model, so that states mean the same.

        Sequences of a model that both were updated from count once.
        """
        if not isinstance(other, HiddenMarkovModel):
            return NotImplemented
        if self.states != other.states:
            raise MismatchError(f"states differ: {listed(self.states)} and {listed(other.states)}", differs="states")
        self.emissions.require_like(other.emissions)
        if self.statistics is None or other.statistics is None:
            raise MismatchError("a model that was not learned has no statistics to add", differs="statistics")
        statistics, lineage = merged(self.statistics, other.statistics, self.lineage, other.lineage)
        return replace(self.estimate(self.prior, statistics), lineage=lineage)

    # -- questions

    @cached_property
    def chain(self) -> Chain:
        """The tables of the hidden chain, for kernels."""
        return Chain.of(self.start, self.transitions)

    def sequences(
        self,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Sequences:
        """Data in the working form of this model.

        Parameters
        ----------
        data
            An array with `lengths`, a list of sequences, or a frame or file with `id`; see
            :mod:`bayeslearn.hmm.inputs`. Sequences in their working form are returned as they are.
        lengths
            The number of rows of each sequence; default: one sequence.
        id
            The column that tells sequences apart.
        known
            The state of each row, None where it is unknown: a list, or the name of a column.
        sample_weight
            The weight of each sequence; default: 1.
        """
        from bayeslearn.hmm.inputs import read  # noqa: PLC0415 - reads tables

        return read(
            data, self.emissions, states=self.states, lengths=lengths, id=id, known=known, sample_weight=sample_weight
        )

    def log_likelihood(
        self,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Floats:
        """ln P(x) of each sequence, −inf for an impossible one; the parameters are those of :meth:`sequences`."""
        return inference.log_likelihood(
            self, self.sequences(data, lengths=lengths, id=id, known=known, sample_weight=sample_weight)
        )

    def posterior(
        self,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> StatePosterior:
        """P(state | whole sequence) of every row; the parameters are those of :meth:`sequences`."""
        return inference.posterior(
            self, self.sequences(data, lengths=lengths, id=id, known=known, sample_weight=sample_weight)
        )

    def decode(
        self,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> StatePath:
        """The most probable state path of each sequence (Viterbi); the parameters are those of :meth:`sequences`."""
        return inference.decode(
            self, self.sequences(data, lengths=lengths, id=id, known=known, sample_weight=sample_weight)
        )

    def sample(
        self, lengths: int | ArrayLike, random_state: np.random.Generator | int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Observations and the states behind them, for one sequence or several, one after the other."""
        return inference.sample(self, lengths, random_state)

    def filter(self) -> Filter:
        """What is believed of the present state as observations come in."""
        from bayeslearn.hmm.filtering import Filter  # noqa: PLC0415 - it builds on the model

        return Filter(self)

    def unrolled(self, steps: int) -> Any:
        """The same as a Bayesian network of so many steps; see :mod:`bayeslearn.hmm.unrolled_network`."""
        from bayeslearn.hmm.unrolled_network import unrolled  # noqa: PLC0415 - it builds on the model

        return unrolled(self, steps)

    # -- what it says

    def durations(self) -> Floats:
        """How many steps a state lasts on average: 1 / (1 − A_jj), infinite for one that is never left."""
        leave = 1 - np.diagonal(self.transitions)
        return np.divide(1.0, leave, out=np.full(len(leave), np.inf), where=leave > 0)

    def stationary(self) -> Floats:
        """The share of time spent in each state in the long run, coming from the start: the mean of π Aᵗ."""
        return inference.long_run(self.start, self.transitions)

    def permuted(self, order: Iterable[int]) -> Self:
        """The states in another order; statistics and prior are left behind."""
        index = np.array(list(order), dtype=np.intp)
        return replace(
            self,
            states=tuple(self.states[i] for i in index),
            start=self.start[index],
            transitions=self.transitions[np.ix_(index, index)],
            emissions=self.emissions.permuted(index),
            prior=None,
            statistics=None,
            lineage=None,
        )

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values; see :mod:`bayeslearn.hmm.serialization`."""
        from bayeslearn.hmm.serialization import document_of  # noqa: PLC0415 - it builds on the model

        return document_of(self)

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> HiddenMarkovModel:
        """Return the model of a document, all of which is checked."""
        from bayeslearn.hmm.serialization import model_of  # noqa: PLC0415 - it builds on the model

        return model_of(reader, document)


@upgrade("hidden Markov model", 1)
def with_new_distributions(_reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had other names of distributions."""
    return rename_values(rename_values(document, "family", RENAMED_DISTRIBUTIONS), "kind", RENAMED_DISTRIBUTIONS)
