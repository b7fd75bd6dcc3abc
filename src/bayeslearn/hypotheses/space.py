"""A finite space of named hypotheses: what each says of a case, and where learning starts.

    P(h|D) = P(D|h) P(h) / P(D)        statistics: Σ ln P(d|h), one number per hypothesis

>>> test = FiniteSpace.table({
...     "cancer":    {"positive": 0.98, "negative": 0.02},
...     "no cancer": {"positive": 0.03, "negative": 0.97},
... })
>>> posterior = test.posterior({"cancer": 0.008, "no cancer": 0.992}).update("positive")
>>> round(posterior["cancer"], 4), posterior.map
(0.2085, ['no cancer'])
>>> posterior.update("positive").map
['cancer']
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, ShapeError, listed
from bayeslearn.families import Finite, Hypotheses, LogLikelihoods
from bayeslearn.hypotheses.likelihoods import CaseFunctions, Labelling, Likelihood, OutcomeTable
from bayeslearn.hypotheses.posterior import Posterior
from bayeslearn.hypotheses.priors import Names, PriorLike, as_prior, by_name, named

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class FiniteSpace:
    """Hypotheses by name; build with `table`, `labelling` or `cases`."""

    names: Names
    hypotheses: tuple[Any, ...]
    likelihood: Likelihood

    def __repr__(self) -> str:
        return f"FiniteSpace({len(self)} hypotheses: {listed(self.names)})"

    def __len__(self) -> int:
        return len(self.names)

    # -- three ways to say what a hypothesis is

    @classmethod
    def table(
        cls,
        p: Mapping[Any, Mapping[Any, float]] | ArrayLike,
        *,
        names: Sequence[Hashable] | None = None,
        outcomes: Sequence[Hashable] | None = None,
    ) -> FiniteSpace:
        """Probabilities of named outcomes: a row for each hypothesis. A case is an outcome.

        `p` is a mapping of mappings, or an array with `names` for its rows and `outcomes` for its columns.
        """
        if isinstance(p, Mapping):
            names, outcomes, p = _from_mappings(p, outcomes)
        rows = validation.float_array("likelihood table", p)
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
    def labelling(
        cls, hypotheses: Any, *, labels: Sequence[Hashable] = (False, True), noise: float = 0.0
    ) -> FiniteSpace:
        """Functions of x, or fitted classifiers, that label x. A case is a pair (x, label).

        Parameters
        ----------
        hypotheses
            A mapping by name, a list, or a list of (name, hypothesis). A function returns a label, a mapping of labels
            to probabilities, or one probability per label.
        labels
            Every label there is.
        noise
            The rate η at which labels are written down wrongly.
        """
        names, members = named(hypotheses)
        return cls(names, members, Labelling(members, tuple(labels), float(noise)))

    @classmethod
    def cases(cls, hypotheses: Any) -> FiniteSpace:
        """Functions that give the likelihood (or density) of a case, whatever a case is."""
        names, members = named(hypotheses)
        return cls(names, members, CaseFunctions(members))

    # -- learning

    @property
    def family(self) -> Hypotheses:
        """The likelihood family: statistics that add."""
        return Hypotheses(len(self))

    def collect(self, cases: Sequence[Any], *, weights: ArrayLike | None = None) -> LogLikelihoods:
        """Σ w ln P(case|h), the statistics of these cases."""
        return self.family.collect(self.logs(cases), weights=weights)

    def logs(self, cases: Sequence[Any]) -> NDArray[np.float64]:
        """ln P(case|h), shape (n, size)."""
        return self.likelihood.logs(cases) if len(cases) else np.empty((0, len(self)))

    def prior(self, prior: PriorLike = None, *, bits: Any = None) -> Finite:
        """The prior over this space from any of its forms, or from code lengths: P(h) ∝ 2^−bits."""
        if bits is None:
            return as_prior(prior, self.names, self.hypotheses)
        if prior is not None:
            raise ParameterError("give either a prior or code lengths in bits, not both")
        return as_prior(Finite.code_lengths(self.numbers("bits", bits)), self.names, self.hypotheses)

    def posterior(self, prior: PriorLike = None, *, bits: Any = None) -> Posterior:
        """Where learning starts: the prior, and no data yet."""
        return Posterior(self, self.prior(prior, bits=bits), self.family.zero())

    def fit(self, cases: Sequence[Any], *, prior: PriorLike = None, weights: ArrayLike | None = None) -> Posterior:
        """The posterior given all cases."""
        return self.posterior(prior).update_batch(cases, weights=weights)

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
        """Which hypothesis has this name."""
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
