"""A finite space of named hypotheses, and the posterior over it, which keeps prior and statistics apart.

    P(h|D) = P(D|h) P(h) / P(D)        statistics: Σ ln P(d|h), one number per hypothesis
    ln P(D) = ln Σ_h P(D|h) P(h)       P(next|D) = Σ_h P(next|h) P(h|D)

Statistics add: data can be added one by one or at once, two posteriors of the same prior can be merged, and data can be
removed again.

>>> test = FiniteSpace.from_table({
...     "cancer":    {"positive": 0.98, "negative": 0.02},
...     "no cancer": {"positive": 0.03, "negative": 0.97},
... })
>>> posterior = test.posterior({"cancer": 0.008, "no cancer": 0.992}).update("positive")
>>> round(posterior["cancer"], 4), posterior.map_hypotheses
(0.2085, ['no cancer'])
>>> posterior.update("positive").map_hypotheses
['cancer']
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from bayeslearn import lazy_imports, validation
from bayeslearn.codec import Saved
from bayeslearn.distributions import FiniteHypotheses, FinitePrior, LogLikelihoods
from bayeslearn.errors import ImpossibleDataError, MismatchError, ParameterError, ShapeError, listed
from bayeslearn.hypotheses.likelihoods import Labeling, Likelihood, LikelihoodFunctions, OutcomeTable, UnknownLikelihood
from bayeslearn.hypotheses.priors import Names, PriorLike, as_prior, by_name, named
from bayeslearn.hypotheses.results import HypothesisRow, frame_of_posterior, plain_posterior, report_of
from bayeslearn.model_values import ARRAY, NAME, plain
from bayeslearn.printable import printable
from bayeslearn.reports import Report, Reported

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

### the posterior


@dataclass(frozen=True, eq=False, repr=False)
class HypothesisPosterior(Saved, Reported, kind="hypotheses"):
    """The posterior over the hypotheses of a space given rows; :meth:`FiniteSpace.posterior` begins one."""

    space: FiniteSpace
    prior: FinitePrior
    statistics: LogLikelihoods

    # -- rows in and out

    def update(self, row: Any, *, sample_weight: float = 1.0) -> HypothesisPosterior:
        """One more row, counted `sample_weight` times."""
        return self.update_many([row], sample_weight=[sample_weight])

    def update_many(self, data: Sequence[Any], *, sample_weight: ArrayLike | None = None) -> HypothesisPosterior:
        """More rows; the same result as one after the other."""
        return self.update_likelihoods(self.space.logs(data), sample_weight=sample_weight, data=data)

    def remove(self, row: Any, *, sample_weight: float = 1.0) -> HypothesisPosterior:
        """The posterior as if this row had not been seen."""
        return self.remove_many([row], sample_weight=[sample_weight])

    def remove_many(self, data: Sequence[Any], *, sample_weight: ArrayLike | None = None) -> HypothesisPosterior:
        """The posterior as if these rows had not been seen."""
        return replace(self, statistics=self.statistics - self.space.collect(data, sample_weight=sample_weight))

    def update_likelihoods(
        self, logs: ArrayLike, *, sample_weight: ArrayLike | None = None, data: Sequence[Any] | None = None
    ) -> HypothesisPosterior:
        """More rows, given as ln P(row|h) of shape (n, size); `data` is only named in errors."""
        logs = validation.float_array("log likelihoods", logs)
        w = validation.weights(sample_weight, len(logs))
        found = self.statistics + self.space.family.collect(logs, sample_weight=w)
        if np.isneginf(self.prior.log_p + found.total).all():
            raise _impossible(np.isneginf(self._log_joint), logs, w, data)
        return replace(self, statistics=found)

    def __add__(self, other: HypothesisPosterior) -> HypothesisPosterior:
        """The posterior given the rows of both; the shared prior counts once."""
        self._require_same_start(other)
        merged = self.statistics + other.statistics
        if np.isneginf(self.prior.log_p + merged.total).all():
            raise ImpossibleDataError(
                "no hypothesis is possible given the rows of both", hint="allow for noise, or add a hypothesis"
            )
        return replace(self, statistics=merged)

    def __sub__(self, other: HypothesisPosterior) -> HypothesisPosterior:
        """The posterior without the rows of `other`."""
        self._require_same_start(other)
        return replace(self, statistics=self.statistics - other.statistics)

    def __mul__(self, factor: float) -> HypothesisPosterior:
        """The posterior in which every row counts `factor` times."""
        return replace(self, statistics=self.statistics * factor)

    __rmul__ = __mul__

    # -- probabilities

    @cached_property
    def distribution(self) -> FinitePrior:
        """P(h|D), in the order of the space."""
        return self.space.family.update(self.prior, self.statistics)

    @property
    def probabilities(self) -> dict[Hashable, float]:
        """P(h|D) by name."""
        return dict(zip(self.space.names, self.distribution.mean().tolist(), strict=True))

    def __getitem__(self, name: Hashable) -> float:
        return float(self.distribution.mean()[self.space.position(name)])

    @property
    def map_hypotheses(self) -> list[Hashable]:
        """The most probable hypotheses, all that tie."""
        return self._named(self.distribution.modes())

    @property
    def ml_hypotheses(self) -> list[Hashable]:
        """The hypotheses of maximum likelihood, all that tie; independent of the prior."""
        return self._named(FinitePrior(self.statistics.total).modes())

    @property
    def log_marginal_likelihood(self) -> float:
        """ln P(D)."""
        return float(self.space.family.log_evidence(self.prior, self.statistics))

    @property
    def marginal_likelihood(self) -> float:
        """P(D); zero where it underflows."""
        return math.exp(self.log_marginal_likelihood)

    def credible_set(self, level: float = 0.95) -> list[Hashable]:
        """The fewest hypotheses that hold at least `level` of the probability."""
        return self._named(self.distribution.interval(level))

    def sample(self, random_state: np.random.Generator | int | None = None) -> Hashable:
        """The name of a hypothesis drawn by its probability (the Gibbs algorithm predicts with it)."""
        return self.space.names[int(self.distribution.draw(random_state))]

    # -- predictions

    def predictive(self, x: Any = None, *, noisy: bool = True) -> dict[Any, float]:
        """P(next|D) for every outcome, or every label of `x`: each hypothesis votes by its probability.

        With label noise the outcome is the observed label; `noisy=False` predicts the true one.
        """
        outcomes, logs = self.space.likelihood.outcomes_at(x, noisy=noisy)
        p = np.exp(logsumexp(self.distribution.log_p[:, None] + logs, axis=0))
        return dict(zip(outcomes, p.tolist(), strict=True))

    def log_predictive(self, row: Any) -> float:
        """ln P(row|D)."""
        return float(logsumexp(self.distribution.log_p + self.space.logs([row])[0]))

    # -- reports

    def report(self) -> Report:
        """Return prior, likelihood and posterior of each hypothesis; of many, of the most probable."""
        return report_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of each hypothesis, MAP, ML, marginal likelihood and next outcome as plain values."""
        return plain_posterior(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each hypothesis: prior, likelihood, joint, posterior."""
        return frame_of_posterior(self, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the posterior of each hypothesis (:func:`bayeslearn.plots.plot_posterior`)."""
        return plots.plot_posterior(self, ax=ax)

    def to_rows(self) -> list[HypothesisRow]:
        """Prior, likelihood, joint and posterior of each hypothesis."""
        columns = (self.prior.mean(), self.statistics.total, self._log_joint, self.distribution.mean())
        rows = zip(self.space.names, *(column.tolist() for column in columns), strict=True)
        return [HypothesisRow(*row) for row in rows]

    def __repr__(self) -> str:
        best = sorted(self.probabilities.items(), key=lambda item: -item[1])[:6]
        shown = ", ".join(f"{name}: {p:.4g}" for name, p in best)
        return printable(f"HypothesisPosterior({shown}{', …' if len(self.space) > len(best) else ''})")

    # -- files

    @classmethod
    def load(cls, path: str | os.PathLike[str], space: FiniteSpace | None = None) -> HypothesisPosterior:
        """Read a posterior from a file, and check all of it.

        Parameters
        ----------
        path
            A file that :meth:`save` wrote.
        space
            The space, for hypotheses that are functions: a file has only their names.
        """
        found = super().load(path)
        if space is None:
            return found
        if space.names != found.space.names:
            raise MismatchError(
                f"the file has the hypotheses {listed(found.space.names)}, given are {listed(space.names)}"
            )
        return replace(found, space=space)

    def to_document(self) -> dict[str, Any]:
        """Return prior and evidence as plain values; log probabilities of what is impossible are null.

        {"names", "outcomes": {"names", "p"} or null where hypotheses are functions, "log_prior",
         "statistics": {"finite", "impossible"}}
        """
        table = self.space.likelihood
        outcomes = {"names": list(table.outcomes), "p": table.p} if isinstance(table, OutcomeTable) else None
        names = (*self.space.names, *(table.outcomes if isinstance(table, OutcomeTable) else ()))
        odd = [name for name in names if not isinstance(name, NAME)]
        if odd:
            raise ParameterError(f"names in a file are texts, numbers or truth values, not {odd[0]!r:.60}")
        return {
            "names": list(self.space.names),
            "outcomes": outcomes,
            "log_prior": np.ma.masked_invalid(self.prior.log_p),
            "statistics": plain(self.statistics),
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> HypothesisPosterior:
        """Return the posterior of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "names": [NAME], "outcomes": (dict, type(None)), "log_prior": ARRAY, "statistics": dict
        }  # fmt: skip
        names, outcomes, log_prior, statistics = reader.entries(document, keys, "a model")
        if not names or len(set(names)) < len(names):
            reader.wrong("its hypotheses have no names, or the same")
        if outcomes is None:
            space = FiniteSpace(tuple(names), tuple(names), UnknownLikelihood())
        else:
            labels, p = reader.entries(outcomes, {"names": [NAME], "p": ARRAY}, "outcomes")
            space = FiniteSpace.from_table(reader.numbers(p, "p"), names=names, outcomes=labels)
        prior = reader.finite_prior(log_prior, "log_prior", len(names))
        found = cls(space, prior, reader.statistics(statistics, LogLikelihoods(*np.zeros((2, len(names))))))
        if np.isneginf(found._log_joint).all():
            reader.wrong("none of its hypotheses is possible")
        return found

    # -- inside

    @property
    def _log_joint(self) -> NDArray[np.float64]:
        return self.prior.log_p + self.statistics.total

    def _named(self, mask: NDArray[np.bool_]) -> list[Hashable]:
        return [self.space.names[i] for i in np.flatnonzero(mask)]

    def _require_same_start(self, other: HypothesisPosterior) -> None:
        if self.space.names != other.space.names:
            raise ParameterError("posteriors add only over the same hypotheses")
        if not np.allclose(self.prior.mean(), other.prior.mean(), rtol=1e-9, atol=0):
            raise ParameterError(
                "posteriors add only from the same prior, so that it counts once",
                hint="start both from one `space.posterior(prior)`",
            )


def _impossible(
    ruled_out: NDArray[np.bool_], logs: NDArray[np.float64], w: NDArray[np.float64], data: Sequence[Any] | None
) -> ImpossibleDataError:
    """The error that names the first row at which no hypothesis is left."""
    never = np.isneginf(logs) & (w > 0)[:, None]
    gone = np.logical_or.accumulate(never, axis=0) | ruled_out
    i = int(np.argmax(gone.all(axis=1)))
    row = None if data is None else data[i]
    shown = f"row {i}" if data is None else f"row {i}, {row!r:.100},"
    others = "" if never[i].all() else " that the prior and the rows before it leave"
    return ImpossibleDataError(
        f"{shown} has probability zero under every hypothesis{others}",
        hint="allow for noise (`noise=`), add a hypothesis, or look for a wrong row",
        position=i,
        row=row,
    )


### the space


@dataclass(frozen=True, eq=False)
class FiniteSpace:
    """Hypotheses by name; build with `from_table`, `from_labelers` or `from_functions`."""

    names: Names
    hypotheses: tuple[Any, ...]
    likelihood: Likelihood

    def __repr__(self) -> str:
        return printable(f"FiniteSpace({len(self)} hypotheses: {listed(self.names)})")

    def __len__(self) -> int:
        return len(self.names)

    # -- constructors

    @classmethod
    def from_table(
        cls,
        likelihoods: Mapping[Any, Mapping[Any, float]] | ArrayLike,
        *,
        names: Sequence[Hashable] | None = None,
        outcomes: Sequence[Hashable] | None = None,
    ) -> FiniteSpace:
        """Return the space of hypotheses with probabilities of named outcomes. A row of data is an outcome.

        `likelihoods` is a mapping of mappings, or an array with `names` for its rows and `outcomes` for its columns.
        """
        if isinstance(likelihoods, Mapping):
            names, outcomes, likelihoods = _from_mappings(likelihoods, outcomes)
        rows = validation.float_array("likelihood table", likelihoods)
        if rows.ndim != 2 or rows.size == 0:
            raise ShapeError(f"expected a table of hypotheses by outcomes, got shape {rows.shape}")
        names = tuple(range(len(rows)) if names is None else names)
        outcomes = tuple(range(rows.shape[1]) if outcomes is None else outcomes)
        if rows.shape != (len(names), len(outcomes)):
            raise ShapeError(f"expected {len(names)} hypotheses by {len(outcomes)} outcomes, got shape {rows.shape}")
        _require_different("names", names)
        _require_different("outcomes", outcomes)
        checked = [
            validation.probabilities(row, name=f"likelihoods of {h}") for h, row in zip(names, rows, strict=True)
        ]
        return cls(names, names, OutcomeTable(outcomes, np.array(checked)))

    @classmethod
    def from_labelers(
        cls, hypotheses: Any, *, classes: Sequence[Hashable] = (False, True), noise: float = 0.0
    ) -> FiniteSpace:
        """Functions of x, or fitted classifiers, that label x. A row of data is a pair (x, label).

        Parameters
        ----------
        hypotheses
            A mapping by name, a list, or a list of (name, hypothesis). A function returns a label, a mapping of labels
            to probabilities, or one probability per label.
        classes
            All labels.
        noise
            The rate η of wrong labels.
        """
        names, members = named(hypotheses)
        return cls(names, members, Labeling(members, tuple(classes), float(noise)))

    @classmethod
    def from_functions(cls, hypotheses: Any) -> FiniteSpace:
        """Functions that return the likelihood (or density) of a row of data, whatever a row is."""
        names, members = named(hypotheses)
        return cls(names, members, LikelihoodFunctions(members))

    # -- learning

    @property
    def family(self) -> FiniteHypotheses:
        """The likelihood family: statistics that add."""
        return FiniteHypotheses(len(self))

    def collect(self, data: Sequence[Any], *, sample_weight: ArrayLike | None = None) -> LogLikelihoods:
        """Σ w ln P(row|h), the statistics of these rows."""
        return self.family.collect(self.logs(data), sample_weight=sample_weight)

    def logs(self, data: Sequence[Any]) -> NDArray[np.float64]:
        """ln P(row|h), shape (n, size)."""
        return self.likelihood.logs(data) if len(data) else np.empty((0, len(self)))

    def prior(self, prior: PriorLike = "uniform", *, bits: Any = None) -> FinitePrior:
        """The prior over this space, as :mod:`bayeslearn.hypotheses.priors` takes it, or P(h) ∝ 2^−bits."""
        if bits is None:
            return as_prior(prior, self.names, self.hypotheses)
        if not (isinstance(prior, str) and prior == "uniform"):
            raise ParameterError("give either a prior or code lengths in bits, not both")
        return as_prior(FinitePrior.code_lengths(self.numbers("bits", bits)), self.names, self.hypotheses)

    def posterior(self, prior: PriorLike = "uniform", *, bits: Any = None) -> HypothesisPosterior:
        """The posterior before any data: the prior."""
        return HypothesisPosterior(self, self.prior(prior, bits=bits), self.family.zero())

    def fit(
        self, data: Sequence[Any], *, prior: PriorLike = "uniform", sample_weight: ArrayLike | None = None
    ) -> HypothesisPosterior:
        """The posterior given all rows."""
        return self.posterior(prior).update_many(data, sample_weight=sample_weight)

    def numbers(self, what: str, values: Any) -> NDArray[np.float64]:
        """One number per hypothesis, given by name, as a function of the hypothesis, or in order."""
        if isinstance(values, Mapping):
            values = by_name(what, values, self.names)
        elif callable(values):
            values = [values(h) for h in self.hypotheses]
        array = validation.float_array(what, values)
        if array.shape != (len(self),):
            raise ShapeError(f"expected {what} for {len(self)} hypotheses, got shape {array.shape}")
        return array

    def position(self, name: Hashable) -> int:
        """The position of the hypothesis with this name."""
        if name not in self.names:
            raise ParameterError(f"no hypothesis is called {name!r}", hint=f"they are {listed(self.names)}")
        return self.names.index(name)


def _from_mappings(
    p: Mapping[Any, Mapping[Any, float]], outcomes: Sequence[Hashable] | None
) -> tuple[Names, Names, list[list[float]]]:
    """Rows from nested mappings; an outcome that a hypothesis does not mention is impossible under it."""
    seen = dict.fromkeys(outcome for row in p.values() for outcome in row)
    columns = tuple(seen if outcomes is None else outcomes)
    odd = [outcome for outcome in seen if outcome not in columns]
    if odd:
        raise ParameterError(f"outcome {odd[0]!r} is not among the outcomes {listed(columns)}")
    return tuple(p), columns, [[row.get(outcome, 0.0) for outcome in columns] for row in p.values()]


def _require_different(what: str, items: tuple[Hashable, ...]) -> None:
    if len(set(items)) < len(items):
        raise ParameterError(f"`{what}` must be different, got {listed(items)}")
