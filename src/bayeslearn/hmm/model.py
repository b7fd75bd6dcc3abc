"""A hidden Markov model: hidden states follow each other, and each emits an observation.

    P(s, x) = π(s_1) b_{s_1}(x_1) Π_t A(s_{t−1}, s_t) b_{s_t}(x_t)

    smoothing   P(s_t | x_1 … x_T)      forward-backward        decoding   argmax_s P(s | x)      Viterbi
    filtering   P(s_t | x_1 … x_t)      as data come in         fitting    Baum-Welch, by :mod:`bayeslearn.em`

A model is a value that keeps its prior and its statistics, so that learning goes on: :meth:`HiddenMarkovModel.update`
adds sequences, :meth:`HiddenMarkovModel.remove` takes sequences back, and models that were updated from one base are
merged (``a + b``) with the sequences of the base counted once (:mod:`bayeslearn.incremental`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import xlogy

from bayeslearn import incremental, lazy_imports, validation
from bayeslearn.codec import RENAMED_DISTRIBUTIONS, Saved, rename_values, upgrade
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions.categorical import shares
from bayeslearn.distributions.lineage import mapped
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import MismatchError, ParameterError, ShapeError, listed
from bayeslearn.fit_info import Fitted
from bayeslearn.hmm import known_states, priors
from bayeslearn.hmm.forward_backward import Chain, expect
from bayeslearn.hmm.inference import Answers, long_run
from bayeslearn.printable import printable
from bayeslearn.reports import Reported
from bayeslearn.tables.variables import checked_states

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.hmm.emissions import Emissions
    from bayeslearn.hmm.priors import HMMPrior
    from bayeslearn.hmm.results import HMMFitInfo
    from bayeslearn.hmm.sequences import Sequences
    from bayeslearn.model_values import Reader
    from bayeslearn.reports import Report

    Floats = NDArray[np.float64]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: The parts that may be frozen.
FREEZABLE = ("startprob", "transmat", "emissions")

#: A state with a smaller expected number of visits received no data.
MIN_VISITS = 1e-3


def rows_of_probabilities(name: str, p: ArrayLike) -> Floats:
    """Rows that sum to one; rows that do so up to rounding are unchanged."""
    given, checked = np.asarray(p, dtype=np.float64), validation.probabilities(p, name=name)
    return given if (np.abs(given - checked) <= 1e-14 * checked).all() else checked


@dataclass(frozen=True, eq=False)
class HiddenMarkovModel(Answers, Saved, Fitted, Reported, kind="hidden Markov model", version=3):
    """A hidden Markov model; :func:`~bayeslearn.hmm.fit_hmm` fits one.

    Attributes
    ----------
    states
        The names of the states.
    startprob
        The probability of each state at the first step of a sequence.
    transmat
        The probability of each state at the next step (columns), given the present state (rows).
    emissions
        The distribution of the observations in each state.
    prior
        The prior of start probabilities, transition probabilities and emissions.
    statistics
        The expected statistics that the parameters were estimated from; None for a model that was not fitted.
    frozen
        Parts that fits and updates do not change: ``"startprob"``, ``"transmat"``, ``"emissions"``.
    lineage
        The statistics of the models that this one was updated from.

    Examples
    --------
    >>> from bayeslearn.hmm import CategoricalEmissions
    >>> from bayeslearn.tables import DiscreteVariable
    >>> rolls = CategoricalEmissions(DiscreteVariable("roll", (1, 2, 3, 4, 5, 6)), [[1 / 6] * 6, [0.1] * 5 + [0.5]])
    >>> casino = HiddenMarkovModel(("fair", "loaded"), [0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], rolls)
    >>> casino.predict([1, 2, 6, 6, 6, 6]).tolist()
    ['loaded', 'loaded', 'loaded', 'loaded', 'loaded', 'loaded']
    >>> casino.predict_proba([1, 2, 6, 6, 6, 6])[0].round(3)
    array([0.272, 0.728])
    """

    states: tuple[Any, ...]
    startprob: Floats
    transmat: Floats
    emissions: Emissions
    prior: HMMPrior | None = None
    statistics: StatisticsBundle | None = None
    frozen: frozenset[str] = frozenset()
    lineage: Lineage | None = None

    def __post_init__(self) -> None:
        states = checked_states("state", self.states)
        n = len(states)
        start = rows_of_probabilities("startprob", self.startprob)
        moves = rows_of_probabilities("transmat", self.transmat)
        if start.shape != (n,) or moves.shape != (n, n) or self.emissions.n_states != n:
            raise ShapeError(
                f"{n} states need a startprob of shape ({n},), a transmat of ({n}, {n}) and emissions of {n} states, "
                f"got {start.shape}, {moves.shape} and {self.emissions.n_states}"
            )
        kept = frozenset([self.frozen] if isinstance(self.frozen, str) else self.frozen)
        if not kept <= set(FREEZABLE):
            raise ParameterError(f"cannot freeze {listed(sorted(kept - set(FREEZABLE)))}", hint=f"parts: {FREEZABLE}")
        for name, value in (("states", states), ("startprob", frozen(start)), ("transmat", frozen(moves))):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "frozen", kept)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.states[:6])) + (", …" if len(self.states) > 6 else "")
        return printable(f"HiddenMarkovModel({self.n_states} states: {names}; {self.emissions.label} emissions)")

    # -- properties

    @property
    def fit_info(self) -> HMMFitInfo:
        """What the fit found out; only models that :func:`~bayeslearn.hmm.fit_hmm` returned have it."""
        return super().fit_info

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.states)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the observed columns."""
        return self.emissions.feature_names

    @property
    def total_weight(self) -> float:
        """The weighted number of sequences that the model is based on."""
        return 0.0 if self.statistics is None else float(self.statistics["startprob"].n.sum())

    @property
    def state_visits(self) -> Floats:
        """The expected number of rows in each state."""
        if self.statistics is None:
            return np.zeros(self.n_states)
        return self.statistics["startprob"].n + self.statistics["transmat"].n.sum(axis=0)

    @property
    def states_without_data(self) -> tuple[Any, ...]:
        """States in which almost no row is expected; their parameters are those of the prior or of the start."""
        if self.statistics is None:
            return ()
        return tuple(state for state, n in zip(self.states, self.state_visits, strict=True) if n < MIN_VISITS)

    @cached_property
    def chain(self) -> Chain:
        """Start and transition probabilities as kernels take them."""
        return Chain.of(self.startprob, self.transmat)

    def expected_durations(self) -> Floats:
        """Return the mean number of steps in each state, 1 / (1 − A_jj); infinite for a state that is never left."""
        leave = 1 - np.diagonal(self.transmat)
        return np.divide(1.0, leave, out=np.full(len(leave), np.inf), where=leave > 0)

    def stationary_distribution(self) -> Floats:
        """Return the long-run share of steps in each state: the mean of π Aᵗ over all t."""
        return long_run(self.startprob, self.transmat)

    # -- the two steps of EM

    def expected_statistics(self, batch: Sequences) -> tuple[StatisticsBundle, float]:
        """E step: expected starts, transitions and emissions, and ln P of the sequences."""
        self.emissions.require_fit(batch)
        known, others = known_states.parts_of(batch)
        if known is None or others is None:
            return self._expected(batch)
        (counts, log_p), (inferred, log_q) = self._expected(known), self._expected(others)
        return counts + inferred, log_p + log_q

    def _expected(self, batch: Sequences) -> tuple[StatisticsBundle, float]:
        """The statistics of sequences whose states are all known, or of others."""
        if known_states.parts_of(batch).known is batch:
            parts, log_p = known_states.counted(self, batch), known_states.log_likelihoods(self, batch)
            if np.isfinite(log_p).all():
                return parts, float(log_p.sum() if batch.sample_weight is None else batch.sample_weight @ log_p)
        found = expect(self.chain, self.emissions.reading(batch.cells), batch)
        parts = StatisticsBundle(startprob=Counts(found.start), transmat=Counts(found.moves), emissions=found.observed)
        weighed = found.log_p if batch.sample_weight is None else batch.sample_weight * found.log_p
        return parts, float(weighed.sum())

    def estimate(self, prior: HMMPrior | None, statistics: StatisticsBundle) -> Self:
        """M step: posterior means; zeros and frozen parts are unchanged."""
        prior = self._prior(prior)
        parts: dict[str, Any] = {}
        for name, p in (("startprob", self.startprob), ("transmat", self.transmat)):
            if name not in self.frozen:
                alpha = priors.masked(getattr(prior, name), p)
                parts[name] = shares(statistics[name].n + alpha, p)
        if "emissions" not in self.frozen:
            parts["emissions"] = self.emissions.estimate(prior.emissions, statistics["emissions"])
        return replace(self, prior=prior, statistics=statistics, lineage=None, **parts)

    def log_prior(self, prior: HMMPrior | None) -> float:
        """Return the log-likelihood of the pseudo-rows of the prior, for parts that are not frozen."""
        prior = self._prior(prior)
        total = 0.0
        for name, p in (("startprob", self.startprob), ("transmat", self.transmat)):
            if name not in self.frozen:
                total += float(xlogy(priors.masked(getattr(prior, name), p), p).sum())
        return total if "emissions" in self.frozen else total + self.emissions.log_prior(prior.emissions)

    def _prior(self, prior: HMMPrior | None) -> HMMPrior:
        return priors.prior_of(None, self.emissions, None) if prior is None else prior

    # -- evidence adds, see :mod:`bayeslearn.incremental`

    def update(
        self,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known_states: Any = None,
        sample_weight: ArrayLike | None = None,
        forgetting_factor: float = 1.0,
    ) -> HiddenMarkovModel:
        """Return the model after more sequences: one step of online EM.

        Parameters
        ----------
        data, lengths, id, known_states, sample_weight
            As in :meth:`sequences`; or a source with `id`.
        forgetting_factor
            The weight of what is known so far, from 0 to 1.
        """
        options = {"lengths": lengths, "id": id, "known_states": known_states, "sample_weight": sample_weight}
        batches: Any = self._batches(data, **options)
        prior = self.prior or priors.prior_of(priors.DEFAULT, self.emissions, batches.cells)
        return incremental.updated(replace(self, prior=prior), batches, forgetting_factor)

    def remove(
        self,
        data: Any,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        known_states: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> HiddenMarkovModel:
        """Return the model without some of its sequences; parameters as in :meth:`update`.

        Sequences that were added together by one :meth:`update` are removed exactly; of others the statistics that
        this model expects are subtracted.
        """
        options = {"lengths": lengths, "id": id, "known_states": known_states, "sample_weight": sample_weight}
        batches = self._batches(data, **options)
        return incremental.removed(self, batches, batches.fold(lambda batch: batch.total_weight))

    def discount(self, forgetting_factor: float) -> HiddenMarkovModel:
        """Return the model with every sequence counting for `forgetting_factor` (0 to 1); the prior stays."""
        return incremental.discounted(self, forgetting_factor)

    def merge(self, other: HiddenMarkovModel) -> HiddenMarkovModel:
        """Return the model of the sequences of both, the same as ``self + other``."""
        return self + other

    def __add__(self, other: HiddenMarkovModel) -> HiddenMarkovModel:
        """The model of the sequences of both, state by state; sequences of a base of both count once.

        Both should be updates of one model, so that their states have the same meaning.
        """
        if not isinstance(other, HiddenMarkovModel):
            return NotImplemented
        self.require_same(other)
        return incremental.added(self, other)

    def __sub__(self, other: HiddenMarkovModel) -> HiddenMarkovModel:
        """The model without the sequences of another one, except for those of a base of both."""
        if not isinstance(other, HiddenMarkovModel):
            return NotImplemented
        self.require_same(other)
        return incremental.subtracted(self, other)

    def require_same(self, other: HiddenMarkovModel) -> None:
        """Raise an error unless both models have the same states and the same kind of emissions."""
        if self.states != other.states:
            raise MismatchError(f"states differ: {listed(self.states)} and {listed(other.states)}", differs="states")
        self.emissions.require_like(other.emissions)

    def reorder_states(self, order: Iterable[int]) -> HiddenMarkovModel:
        """Return the model with its states in another order."""
        index = np.array(list(order), dtype=np.intp)
        if sorted(index.tolist()) != list(range(self.n_states)):
            raise ParameterError(f"an order of {self.n_states} states has each number once, got {index.tolist()}")

        def moved(known: StatisticsBundle) -> StatisticsBundle:
            return StatisticsBundle(
                startprob=Counts(known["startprob"].n[index]),
                transmat=Counts(known["transmat"].n[np.ix_(index, index)]),
                emissions=self.emissions.reorder_statistics(known["emissions"], index),
            )

        return replace(
            self,
            states=tuple(self.states[i] for i in index),
            startprob=self.startprob[index],
            transmat=self.transmat[np.ix_(index, index)],
            emissions=self.emissions.reorder_states(index),
            prior=None if self.prior is None else priors.reordered(self.prior, self.emissions, index),
            statistics=None if self.statistics is None else moved(self.statistics),
            lineage=mapped(self.lineage, moved),
        )

    # -- results

    def to_network(self, n_steps: int) -> Any:
        """Return the Bayesian network of `n_steps` steps; see :mod:`bayeslearn.hmm.unrolled_network`."""
        from bayeslearn.hmm.unrolled_network import unrolled  # noqa: PLC0415 - it builds on the model

        return unrolled(self, n_steps)

    def plot(
        self,
        data: Any = None,
        *,
        lengths: ArrayLike | None = None,
        id: str | None = None,  # noqa: A002 - the name of the column
        ax: Any = None,
    ) -> Any:
        """Plot the most probable states of sequences, or the transition probabilities if there are no data.

        See :func:`bayeslearn.plots.plot_states` and :func:`bayeslearn.plots.plot_transitions`.
        """
        if data is None:
            return plots.plot_transitions(self, ax=ax)
        return plots.plot_states(self.decode(data, lengths=lengths, id=id), ax=ax)

    def report(self) -> Report:
        """Return the states: what each emits, how long it lasts and which states follow."""
        from bayeslearn.hmm.results import report_of  # noqa: PLC0415 - it reads models

        return report_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return states, probabilities and emissions as plain values."""
        from bayeslearn.hmm.results import plain_model  # noqa: PLC0415 - it reads models

        return plain_model(self)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame with a row for each state: start probability, share, duration and parameters of emissions."""
        from bayeslearn.hmm.results import frame_of_model  # noqa: PLC0415 - it reads models

        return frame_of_model(self, backend)

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


@upgrade("hidden Markov model", 2)
def with_new_names(_reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 2 had other names of the start and the transition probabilities."""
    new = {"start": "startprob", "transitions": "transmat"}

    def renamed(entry: Any) -> Any:
        return {new.get(key, key): value for key, value in entry.items()} if isinstance(entry, dict) else entry

    found = renamed(document)
    for part in ("prior", "statistics"):
        if part in found:
            found[part] = renamed(found[part])
    if isinstance(found.get("frozen"), list):
        found["frozen"] = [new.get(name, name) if isinstance(name, str) else name for name in found["frozen"]]
    lineage = found.get("lineage")
    if isinstance(lineage, dict) and isinstance(lineage.get("parts"), list):
        parts = [
            {**p, "statistics": renamed(p.get("statistics"))} if isinstance(p, dict) else p for p in lineage["parts"]
        ]
        found["lineage"] = {**lineage, "parts": parts}
    return found
