"""Fit a hidden Markov model: read the sequences, choose emissions and initial values, run EM (Baum-Welch)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import em, validation
from bayeslearn.errors import BayeslearnWarning, listed, outside
from bayeslearn.fit_info import with_fit_info
from bayeslearn.hmm import initialization, priors, sequence_sources
from bayeslearn.hmm.inputs import finished, gathered, is_folded
from bayeslearn.hmm.model import HiddenMarkovModel
from bayeslearn.hmm.results import HMMFitInfo
from bayeslearn.progress import reports_progress
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from bayeslearn.em import EMResult
    from bayeslearn.hmm.emissions import Emissions
    from bayeslearn.hmm.sequences import Sequences
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.tables.markers import Markers

#: The prior of `init`, or the default.
AUTO = "auto"


@reports_progress("Fitting a hidden Markov model")
def fit_hmm(
    data: Any,
    n_states: int | Iterable[Any] | None = None,
    *,
    emissions: str | Mapping[str, str] = "auto",
    covariance_type: Literal["diag", "full"] = "diag",
    n_mixtures: int = 1,
    topology: Any = "ergodic",
    columns: Iterable[str] | None = None,
    symbols: Any = None,
    lengths: ArrayLike | None = None,
    id: str | None = None,  # noqa: A002 - the name of the column
    known_states: Any = None,
    sample_weight: ArrayLike | None = None,
    prior: Any = "auto",
    init: HiddenMarkovModel | None = None,
    freeze: Iterable[str] = (),
    n_init: int = 5,
    tol: float = 1e-4,
    max_iter: int = 500,
    random_state: np.random.Generator | int | None = 0,
    progress: Reporter | ProgressCallback | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 5,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> HiddenMarkovModel:
    """Fit a hidden Markov model to sequences by EM; observations may be missing everywhere.

    Parameters
    ----------
    data
        An array with `lengths`, a list of sequences, or a frame or file with `id`; see
        :mod:`bayeslearn.hmm.inputs`. Or a source (:func:`~bayeslearn.scan`) with `id`: the rows of a sequence follow
        each other in one file.
    n_states
        The number of states, or their names; by default those of `known_states` or of `init`.
    emissions
        ``"categorical"`` for symbols, ``"words"`` for symbols of which new data have others
        (:mod:`bayeslearn.hmm.word_emissions`), ``"gaussian"``, ``"poisson"`` for counts, any other distribution of one
        column by its name; ``"product"`` for columns of several kinds, independent given the state; or a dict with
        the distribution of each column. ``"auto"`` chooses by the values: several columns of which one has text are a
        product of categorical, Gaussian and Poisson columns (:func:`.observations.column_kind`).
    covariance_type
        Covariances of Gaussian emissions: ``"diag"``, columns independent given the state, or ``"full"``.
    n_mixtures
        The number of parts of each state: with more than one, each state is a mixture of such emissions.
    topology
        Allowed transitions: ``"ergodic"`` for all, ``"left_right"`` for those to the same or the next state, or a
        matrix whose zeros are not allowed.
    columns
        The observed columns; default: all but `id` and `known_states`.
    symbols
        All symbols, if the data may lack some: a list, or a dict with a list for each column.
    lengths
        The number of rows of each sequence; default: one sequence.
    id
        The column with the sequence of each row.
    known_states
        The state of each row, None for unknown ones: a list, or the name of a column. Sequences whose states are all
        known are counted; EM infers the states of the others.
    sample_weight
        The weight of each sequence.
    prior
        A prior by its name (``"m:1"``, ``"laplace"``; :mod:`bayeslearn.distributions.priors` lists them), None for
        maximum likelihood, or a dict with a prior for ``startprob``, ``transmat``, ``emissions`` and ``weights``.
        ``"auto"`` is that of `init`, or m:1.
    init
        A model to begin with. Its zeros stay zero, and its prior and frozen parts are kept.
    freeze
        Parts of `init` that do not change: ``"startprob"``, ``"transmat"``, ``"emissions"``.
    n_init
        The number of initializations; the best result is kept. `init` is a single one.
    tol
        The gain in penalized log-likelihood, in nats, at which EM has converged.
    max_iter
        The maximum number of iterations.
    random_state
        Seed or generator for initial values.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`.
    checkpoint, checkpoint_every
        A file for the best model so far, written every `checkpoint_every` iterations and at the end;
        ``init=bayeslearn.load(file)`` continues from it.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    HiddenMarkovModel
        States without given names are ordered by what they emit. `fit_info` has the history, the result of every
        initialization, and the states without data.

    Raises
    ------
    EmptyTableError
        No rows, or a sequence without rows.
    ImpossibleDataError
        No state path of `init` or of a topology explains a sequence.

    Examples
    --------
    >>> model = fit_hmm([0.1, -0.2, 0.1, 5.2, 4.9, 5.1, 0.0, 5.0, 5.3], n_states=2)
    >>> model.predict([0.2, 4.8, 0.1]).tolist()
    [0, 1, 0]
    >>> model.fit_info.converged
    True
    """
    began = time.perf_counter()
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    kind = initialization.checked_kind(emissions) if init is None else init.emissions.columns_as
    if isinstance(topology, str):
        topology = validation.choice("topology", topology, ["ergodic", "left_right"])
    if columns is None:
        columns = emissions if isinstance(emissions, Mapping) else None if init is None else init.feature_names
    names = None if columns is None else tuple(columns)
    raw: Any
    if is_folded(data, id):
        raw = sequence_sources.opened(
            data, id=id, names=names, known_states=known_states, kind=kind, lengths=lengths, sample_weight=sample_weight
        )
    else:
        raw = gathered(data, lengths, id, names, known_states, kind=kind)
    n_init = validation.integer("n_init", n_init, min_value=1)
    given = raw.given_states(known_states)
    random_state = validation.generator(random_state)
    frozen = frozenset([freeze] if isinstance(freeze, str) else freeze)
    begins: Iterable[HiddenMarkovModel]
    if init is not None:
        batch = in_form(raw, init.emissions, init.states, known_states, sample_weight)
        prior = init.prior if isinstance(prior, str) and prior == AUTO and init.prior is not None else prior
        first = replace(init, frozen=frozen or init.frozen, statistics=None, lineage=None)
        if "emissions" not in first.frozen:
            first = replace(first, emissions=first.emissions.with_floor(batch.cells))
        begins, n_init = [first], 1
    else:
        labels = initialization.state_names(n_states, given)
        frame = initialization.frame(raw.cells, kind, covariance_type, len(labels), n_mixtures, raw.names, symbols)
        batch = in_form(raw, frame, labels, known_states, sample_weight)
        chain = initialization.chain(len(labels), topology, batch.sample, random_state)
        first = HiddenMarkovModel(labels, *chain, frame.with_floor(batch.cells), frozen=frozen)
        n_init = 1 if known_states is not None and is_counted(batch, frame) else n_init
        begins = initial_models(first, topology, batch.sample, random_state, n_init)
    prior = priors.DEFAULT if isinstance(prior, str) and prior == AUTO else prior
    asked = priors.checked(priors.prior_of(prior, first.emissions, batch.cells), first.n_states, first.emissions)
    write: Any = None
    if checkpoint is not None:
        write = em.CheckpointEvery(checkpoint_every, lambda model: model.save(checkpoint))
    found = em.run_best_of(
        begins, batch, n_init=n_init, prior=asked, tol=tol, max_iter=max_iter, progress=progress, checkpoint=write
    )
    model = replace(found.model, prior=asked, statistics=found.statistics)
    if init is None and given is None and isinstance(topology, str) and topology == "ergodic":
        model = in_order(model)
    warn_without_data(model)
    if checkpoint is not None:
        model.save(checkpoint)
    info = info_of(found, model, batch)
    return with_fit_info(model, replace(info, seconds=time.perf_counter() - began))


def is_counted(batch: Any, emissions: Emissions) -> bool:
    """Whether the statistics are counts, wherever EM begins: the states of all rows in memory are known."""
    codes = getattr(batch, "known_states", None)
    return codes is not None and emissions.n_parts == 1 and bool((codes >= 0).all())


def in_form(raw: Any, emissions: Any, states: Any, known_states: Any, sample_weight: Any) -> Any:
    """Sequences as the emissions take them: all of them, or batches of a source."""
    if isinstance(raw, sequence_sources.RawSource):
        return raw.finished(emissions, states)
    return finished(raw, emissions, states, known_states, sample_weight)


def initial_models(
    frame: HiddenMarkovModel, topology: Any, batch: Sequences, random_state: np.random.Generator, n_init: int
) -> Iterator[HiddenMarkovModel]:
    """The initial models, made one after the other."""
    for _ in range(n_init):
        start, moves = initialization.chain(frame.n_states, topology, batch, random_state)
        yield replace(frame, startprob=start, transmat=moves, emissions=frame.emissions.initialize(batch, random_state))


def in_order(model: HiddenMarkovModel) -> HiddenMarkovModel:
    """The states ordered by the center of what they emit, or by their share: EM finds them in any order.

    Under a prior with an α for each state the order has a meaning, and stays.
    """
    assert model.prior is not None
    centers = model.emissions.centers()
    order = np.argsort(-model.stationary_distribution() if centers is None else centers, kind="stable")
    if (order == np.arange(len(order))).all() or not priors.is_exchangeable(model.prior):
        return model
    return replace(model.reorder_states(order), states=model.states, prior=model.prior)


def warn_without_data(model: HiddenMarkovModel) -> None:
    """Warn of states in which no row is expected."""
    if model.states_without_data:
        warnings.warn(
            f"states {listed(model.states_without_data)} received no data and were not updated\n\n"
            "hint: use fewer states, a larger n_init or a stronger prior",
            BayeslearnWarning,
            stacklevel=outside(),
        )


def info_of(found: EMResult[HiddenMarkovModel], model: HiddenMarkovModel, batch: Any) -> HMMFitInfo:
    """What the fit found out."""
    return HMMFitInfo(
        n_rows=batch.n_rows, n_sequences=round(model.total_weight, 6), n_missing=batch.n_missing, history=found.history,
        converged=found.converged, log_likelihood=found.log_likelihood, columns=model.feature_names,
        emissions=model.emissions.label, starts=found.starts, states_without_data=model.states_without_data,
        _model=model,
    )  # fmt: skip
