"""From cases to a model: those with a label are counted, those without count as the model expects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import Bundle, Counts
from bayeslearn.errors import DataError
from bayeslearn.naive_bayes.tables.collecting import collect, count_labels, weighing_parameters
from bayeslearn.naive_bayes.tables.hidden_labels import climbed, shared

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.tables.cases import Cases, SourceCases
    from bayeslearn.naive_bayes.tables.model import NaiveBayes


def labelled(frame: NaiveBayes, cases: Cases | SourceCases, *, unlabelled: str = "em", **climb: Any) -> NaiveBayes:
    """A model of rows of which some, or all, have a label; the frame has seen nothing yet."""
    tally = cases.fold(Hard(frame))
    if not tally.labelled:
        raise DataError(
            f"no row has a label: every cell of {frame.target.name!r} is missing", hint="label at least some rows"
        )
    model = looked_again(replace(frame, statistics=tally.statistics), cases)
    return model if unlabelled == "drop" or not tally.hidden else climbed(model, cases, **climb)


def looked_again(model: NaiveBayes, cases: Cases | SourceCases) -> NaiveBayes:
    """The same model; where what counts of a case depends on parameters, by those that were found, again and again."""
    again = [j for j, column in enumerate(model.columns) if column.distribution.n_passes > 1]
    for _ in range(max((model.columns[j].distribution.n_passes for j in again), default=1) - 1):
        columns = tuple(model.columns[j] for j in again)
        names = [model.target.name, *(column.name for column in columns)]
        part = replace(
            model, columns=columns, sharpness=1.0, statistics=Bundle({n: model.statistics[n] for n in names})
        )
        found = cases.only(again).fold(Hard(part)).statistics
        model = replace(model, statistics=Bundle({**model.statistics, **found}))
    return model


def added(model: NaiveBayes, cases: Cases | SourceCases) -> NaiveBayes:
    """A model with more rows."""
    return replace(model, statistics=model.statistics + collected(model, cases))


def collected(model: NaiveBayes, cases: Cases | SourceCases) -> Bundle:
    """What more rows add to a model; those without a label count as the model with the others expects."""
    tally = cases.fold(Hard(model))
    if not tally.hidden:
        return tally.statistics
    more = replace(model, statistics=model.statistics + tally.statistics)
    if not more.cases:
        raise DataError("no row has a label, and the model has seen none before", hint="label at least some rows")
    return tally.statistics + cases.fold(Expected(more))


@dataclass(frozen=True)
class Tally:
    """The statistics of rows that have a label, how many these are, and how many have none."""

    statistics: Bundle
    labelled: int
    hidden: int

    def __add__(self, other: Tally) -> Tally:
        labelled, hidden = self.labelled + other.labelled, self.hidden + other.hidden
        return Tally(self.statistics + other.statistics, labelled, hidden)


@dataclass(frozen=True)
class Hard:
    """Collects rows that have a label."""

    model: NaiveBayes

    def __call__(self, cases: Cases) -> Tally:
        """The tally of one batch."""
        return Tally(hard(self.model, cases), *(int(np.sum(cases.labels >= 0)), int(np.sum(cases.labels < 0))))


@dataclass(frozen=True)
class Expected:
    """Collects rows that have none, as a model expects them."""

    model: NaiveBayes

    def __call__(self, cases: Cases) -> Bundle:
        """The statistics of one batch."""
        return shared(self.model, cases.hidden, self.model.predict_proba(cases.hidden.rows))


def hard(model: NaiveBayes, cases: Cases) -> Bundle:
    """The statistics of rows that have a label."""
    size, labels, w = model.target.size, cases.labels, cases.weights
    counts = Counts(count_labels(labels, size, w))
    given = weighing_parameters(model)
    return Bundle({model.target.name: counts, **collect(model.columns, cases.rows, labels, size, w, given)})
