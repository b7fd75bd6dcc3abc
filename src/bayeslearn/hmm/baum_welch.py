"""Baum-Welch: hidden Markov models learned by the one EM loop."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import em, validation
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.errors import BayeslearnWarning, listed
from bayeslearn.hmm import initialization, priors, sequence_sources
from bayeslearn.hmm.inputs import finished, gathered, is_folded
from bayeslearn.hmm.model import HiddenMarkovModel
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.hmm.sequences import Sequences
    from bayeslearn.progress import ProgressCallback
    from bayeslearn.tables.markers import Markers

#: A state that is expected less often than this in all data is dead.
DEAD = 1e-3

#: The prior of the model to begin with, else the usual one.
AUTO = "auto"


def learn(
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
) -> em.EMResult[HiddenMarkovModel]:
    """Learn a hidden Markov model, and tell the way there.

    Parameters
    ----------
    data
        An array with `lengths`, a list of sequences, or a frame or file with `id`; see
        :mod:`bayeslearn.hmm.inputs`. Or a source (:func:`~bayeslearn.scan`, or the pattern of files) with `id`:
        the rows of a sequence follow each other, and stand in one file.
    states
        How many, or their names; those of `known` when not told. Not needed with `start`.
    emissions
        ``"categorical"`` symbols, ``"gaussian"`` columns independent given the state, ``"full"`` covariances,
        ``"poisson"`` counts, any other distribution of one column by its name; ``"product"`` columns of different
        kinds, independent given the state; or a dict with the distribution of each column. ``"auto"`` judges by the
        data.
    mixture
        Parts in each state, of these emissions.
    columns
        The observed columns of a frame; all but `id` when not told.
    symbols
        All symbols there are, where the data may not show them all.
    known
        The state of each row where it is known, else None: a list, or the name of a column.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    sample_weight
        How often each sequence counts.
    structure
        ``"left-right"``: states are passed in order; or a matrix whose zeros are moves that cannot be.
    prior
        A word for all tables (``"m:1"``, ``"none"``, …; :mod:`bayeslearn.distributions.priors` has them all), None for
        no prior, or a dict of ``start``, ``transitions``, ``emissions``, ``weights``. ``"auto"`` is that of `start`, or
        one case in every row.
    start
        A model to begin with: its zeros stay zero, its prior and frozen parts are kept unless told otherwise.
    frozen
        Parts to leave as they are in `start`.
    restarts
        How many times to climb from random starts; the highest is kept.
    random_state, tol, max_iter, progress
        Of the starts and of :func:`bayeslearn.em.run`.
    checkpoint, every
        A file to which the best model so far is written, every so many iterations and at the end;
        ``start=HiddenMarkovModel.load(file)`` goes on from there.
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    if columns is None:
        columns = emissions if isinstance(emissions, Mapping) else None if start is None else start.emissions.names
    names = None if columns is None else tuple(columns)
    kind = emissions if start is None else start.emissions.columns_as
    raw: Any
    if is_folded(data, id):
        raw = sequence_sources.opened(
            data, id=id, names=names, known=known, kind=kind, lengths=lengths, sample_weight=sample_weight
        )
    else:
        raw = gathered(data, lengths, id, names, known, kind=kind)
    told = raw.told(known)
    random_state = validation.generator(random_state)
    if start is not None:
        first = start
        batch = in_form(raw, start.emissions, start.states, known, sample_weight)
        prior = first.prior if isinstance(prior, str) and prior == AUTO and first.prior is not None else prior
        first = replace(first, frozen=frozenset(frozen) or first.frozen)
        if "emissions" not in first.frozen:
            first = replace(first, emissions=first.emissions.floored(batch.cells))
        begins = iter([first])
    else:
        labels = initialization.state_names(states, told)
        frame = initialization.frame(raw.cells, emissions, len(labels), mixture, raw.names, symbols)
        batch = in_form(raw, frame, labels, known, sample_weight)
        frame = frame.floored(batch.cells)
        first = HiddenMarkovModel(
            labels, *initialization.chain(len(labels), structure, batch.sample, random_state), frame
        )
        first = replace(first, frozen=frozenset(frozen))
        begins = begun(
            first, structure, batch.sample, random_state, validation.integer("restarts", restarts, min_value=1)
        )
    prior = priors.DEFAULT if isinstance(prior, str) and prior == AUTO else prior
    asked = priors.checked(priors.prior_of(prior, first.emissions, batch.cells), len(first.states), first.emissions)
    write: Any = None if checkpoint is None else em.CheckpointEvery(every, lambda model: model.save(checkpoint))
    found = em.run_best_of(begins, batch, prior=asked, tol=tol, max_iter=max_iter, progress=progress, checkpoint=write)
    model = replace(found.model, prior=asked, statistics=found.statistics)
    if start is None and told is None and isinstance(structure, str) and structure == "any":
        model = in_order(model)
    warn_of_dead(model)
    if checkpoint is not None:
        model.save(checkpoint)
    return em.EMResult(model, model.statistics, found.history, found.converged, found.starts)


def in_form(raw: Any, emissions: Any, states: Any, known: Any, sample_weight: Any) -> Any:
    """Sequences in the working form of emissions: all of them, or what folds."""
    if isinstance(raw, sequence_sources.RawSource):
        return raw.finished(emissions, states)
    return finished(raw, emissions, states, known, sample_weight)


def begun(
    frame: HiddenMarkovModel, structure: Any, batch: Sequences, random_state: np.random.Generator, restarts: int
) -> Iterator[HiddenMarkovModel]:
    """Models to climb from."""
    for _ in range(restarts):
        start, moves = initialization.chain(len(frame.states), structure, batch, random_state)
        yield replace(
            frame,
            start=start,
            transitions=moves,
            emissions=frame.emissions.started(batch, random_state),
        )


def in_order(model: HiddenMarkovModel) -> HiddenMarkovModel:
    """The states of a fresh model by what they emit, or by how common they are: EM finds them in any order."""
    centers = model.emissions.centers()
    order = np.argsort(-model.stationary() if centers is None else centers, kind="stable")
    if (order == np.arange(len(order))).all():
        return model
    moved = model.permuted(order)
    assert model.statistics is not None
    statistics = reordered(model, model.statistics, order)
    return replace(moved, states=model.states, prior=model.prior, statistics=statistics)


def reordered(model: HiddenMarkovModel, statistics: StatisticsBundle, order: NDArray[np.intp]) -> StatisticsBundle:
    """The statistics of states in another order."""
    return StatisticsBundle(
        start=Counts(statistics["start"].n[order]),
        transitions=Counts(statistics["transitions"].n[np.ix_(order, order)]),
        emissions=model.emissions.reorder(statistics["emissions"], order),
    )


def dead_states(model: HiddenMarkovModel) -> list[Any]:
    """States of which almost nothing is expected in all data learned from."""
    if model.statistics is None:
        return []
    visits = model.statistics["start"].n + model.statistics["transitions"].n.sum(axis=0)
    return [state for state, n in zip(model.states, visits, strict=True) if n < DEAD]


def warn_of_dead(model: HiddenMarkovModel) -> None:
    """Tell of states that do nothing."""
    dead = dead_states(model)
    if dead:
        warnings.warn(
            f"nothing is expected of the states {listed(dead)}: they are dead, and stay as they were\n\n"
            "hint: ask for fewer states, for more restarts, or for a stronger prior",
            BayeslearnWarning,
            stacklevel=3,
        )
