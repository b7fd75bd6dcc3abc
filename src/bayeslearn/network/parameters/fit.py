"""Learning the tables of a network whose structure is given, from cases with or without missing values.

Complete cases are counted; with missing cells or hidden variables the counts are expected ones, by EM or by gradient
ascent. Either way a table keeps what it is based on: the counts and the prior.

A fit begins at the prior, at random, at a network, or where another one was interrupted.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import em, files, validation
from bayeslearn.capacity import require_numbers, require_room
from bayeslearn.distributions import Counts, Dirichlet
from bayeslearn.errors import EmptyTableError, MissingValuesError, ParameterError, UnknownColumnError, listed
from bayeslearn.fit_info import with_fit_info
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.cpt import CPT
from bayeslearn.network.dag import StructureLike, as_dag
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.em_steps import Tables
from bayeslearn.network.parameters.gradient_ascent import climb_of
from bayeslearn.network.parameters.initialization import all_starts, fixed_cells
from bayeslearn.network.parameters.priors import AUTO, priors_of
from bayeslearn.network.parameters.results import ParameterFitInfo
from bayeslearn.network.parameters.training_cases import Cases, gathered, passes_of
from bayeslearn.network.states import add_states_of
from bayeslearn.progress import reports_progress
from bayeslearn.sources import as_source, discretize, with_options
from bayeslearn.tables import DiscreteVariable, Schema, Table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.dag import DAG
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.parameters.training_cases import Passes
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.sources.base import Extent
    from bayeslearn.tables import Source
    from bayeslearn.tables.conversion import Unseen
    from bayeslearn.tables.markers import Markers


### learning


@reports_progress("Fitting parameters")
def fit_parameters(
    structure: StructureLike,
    data: Any,
    *,
    prior: Prior = AUTO,
    states: Mapping[str, Iterable[Any]] | None = None,
    handle_unknown: Literal["add", "missing", "error"] = "add",
    extra_columns: Literal["ignore", "error"] = "ignore",
    hidden: Mapping[str, int | Iterable[Any]] | None = None,
    frozen: Iterable[str] = (),
    init: Literal["prior", "random"] | BayesianNetwork = "prior",
    n_init: int = 1,
    sample_weight: ArrayLike | str | None = None,
    virtual_evidence: Mapping[str, ArrayLike] | None = None,
    numeric: str | Mapping[str, str] = "discretize",
    algorithm: Literal["em", "gradient", "lbfgs"] = "em",
    step: float | None = None,
    tol: float = 1e-4,
    max_iter: int = 200,
    random_state: np.random.Generator | int | None = 0,
    progress: Reporter | ProgressCallback | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 5,
    resume: bool = False,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> BayesianNetwork:
    """Fit the CPTs of a network to data: parameter learning with a given structure.

    Parameters
    ----------
    structure
        A graph (a model string like ``[A][B|A]``, arcs, a ``DAG``, a networkx ``DiGraph``: see
        :mod:`~bayeslearn.network.dag`), whose states are found in the data; or a network, whose states, bins and
        prior are kept and whose probabilities are estimated anew.
    data
        Anything that :func:`~bayeslearn.tables.as_table` reads, or a source (:func:`~bayeslearn.scan`), which is read
        in one pass whatever the number of iterations, as long as its distinct incomplete rows fit in memory. Numeric
        columns are discretized at their quantiles, or stay numbers; see `numeric`.
    prior
        None for maximum likelihood, a Dirichlet rule, a name like ``"bdeu:10"``, a mapping from variables to priors or
        arrays of pseudo-counts, or a :class:`NetworkPrior`. ``"auto"`` (the default) is the prior that the given
        network was fitted with, and ``"bdeu:1"``, as in :func:`~bayeslearn.fit_network`, for a graph or a network that
        was not fitted.
    states
        For a graph: declared states of variables, in their order; they may include states that do not occur.
    handle_unknown
        For a network: what to do with a state that it does not have: ``"add"`` it (the default), treat the value as
        ``"missing"``, or raise an ``"error"``.
    extra_columns
        What to do with columns that are not in `structure`: ``"ignore"`` them (the default), or raise an ``"error"``.
    hidden
        Variables that are not observed in any row, with their states or the number of states.
    frozen
        Variables whose CPTs are unchanged in `structure`, or in `init`.
    init
        Initial probabilities of EM: ``"prior"`` (uniform without a prior), ``"random"``, or a network. CPTs around
        hidden variables never start symmetric, which EM would not leave.
    n_init
        The number of initializations; the second and later are random, and the best result is kept.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    sample_weight
        The weight of each row, or the name of a column.
    virtual_evidence
        For a variable an array (rows, states) of P(observation | state); its value must be missing in these rows. Not
        with a source.
    numeric
        How numeric columns are modeled: ``"discretize"`` (the default), ``"gaussian"`` (linear Gaussian nodes),
        ``"log_normal"`` (the same for the logarithm), or a mapping from columns to these; columns that it does not name
        are gaussian. Numeric nodes take the priors None, ``"unit:m"`` (m rows of unit information) and ``"auto"``
        (``"unit:1"``, with ``"bdeu:1"`` for CPTs).
    algorithm
        What maximizes the posterior: ``"em"``; ``"gradient"``, gradient ascent, for complete rows too; or
        ``"lbfgs"``, quasi-Newton steps. See :mod:`~bayeslearn.network.parameters.gradient_ascent`.
    step
        The step size η of gradient ascent instead of the default, which depends on the number of rows; halved if the
        objective would decrease.
    tol, max_iter
        Stop when an iteration gains at most `tol` nats (for gradient methods, also when an EM step would), or after
        `max_iter` iterations, with a warning.
    random_state
        Seed or generator for random initializations.
    progress
        Called with every iteration; raising StopIteration ends the fit with the best parameters so far.
    checkpoint, checkpoint_every
        A model file (JSON) to which the network is written every this many iterations, and at the end.
    resume
        Start from the network in `checkpoint` if that file exists: EM continues exactly as without the interruption.

    Returns
    -------
    BayesianNetwork
        The network with CPTs, counts and prior; its `fit_info` is a :class:`ParameterFitInfo`: log-likelihood,
        history, convergence, missing values, and the CPT rows with the least data.

    Raises
    ------
    EmptyTableError
        No row has a positive weight.
    UnknownColumnError
        The data have a column that is not in `structure`, with ``extra_columns="error"``.
    MissingValuesError
        A variable that is not declared hidden has no observed value.

    Examples
    --------
    >>> days = {"Rain": ["yes", "no", "no"], "Wet": ["yes", "no", "yes"]}
    >>> net = fit_parameters("[Rain][Wet|Rain]", days, prior=None)
    >>> net["Wet"].probabilities.tolist()                                               # rows are Rain=no, Rain=yes
    [[0.5, 0.5], [0.0, 1.0]]
    >>> net.fit_info.converged, round(net.fit_info.log_likelihood, 3)
    (True, -3.296)
    """
    began = time.perf_counter()
    structure = with_options(structure, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    if is_hybrid(structure, numeric):
        from bayeslearn.network.hybrid.fit import fit_hybrid  # noqa: PLC0415 - most networks have no numbers

        refuse_for_numbers(algorithm, virtual_evidence, frozen, checkpoint)
        return fit_hybrid(
            structure, data, numeric=numeric, prior=prior, states=states or {}, hidden=hidden or {}, init=init,
            n_init=n_init, sample_weight=sample_weight, tol=tol, max_iter=max_iter, random_state=random_state,
            progress=progress,  # type: ignore[arg-type] # opened
        )  # fmt: skip
    validation.integer("n_init", n_init, min_value=1)
    climb = climb_of(algorithm, step)
    if validation.choice("extra_columns", extra_columns, ["ignore", "error"]) == "error":
        require_no_extra(structure, data, sample_weight)
    frame, source = prepared(structure, data, states or {}, hidden or {}, sample_weight, handle_unknown)
    init = written(checkpoint, init) if resume else init
    if isinstance(init, BayesianNetwork):
        init = add_states_of(init, frame.schema)
    fixed = fixed_cells(frame, frozen, structure, init)
    compiled = Compiled(frame)
    cases, totals = gathered(compiled, source, virtual_evidence)
    write = None if checkpoint is None else em.CheckpointEvery(checkpoint_every, writer(frame, checkpoint))
    found = fit_cases(
        frame, compiled, cases, totals, prior=prior, hidden=hidden or (), fixed=fixed, init=init, n_init=n_init,
        climb=climb, count=algorithm == "em", tol=tol, max_iter=max_iter, random_state=random_state,
        progress=progress,  # type: ignore[arg-type] # opened
        write=write,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    return with_fit_info(found, replace(found.fit_info, n_passes=passes_of(source, cases), seconds=seconds))


def fit_cases(
    frame: BayesianNetwork,
    compiled: Compiled,
    cases: Cases | Passes,
    totals: Extent,
    *,
    prior: Prior,
    hidden: Collection[str],
    fixed: NDArray[np.bool_] | None = None,
    init: Literal["prior", "random"] | BayesianNetwork = "prior",
    n_init: int = 1,
    climb: Callable[..., em.EMResult[Tables]] = em.run,
    count: bool = True,
    tol: float = 1e-4,
    max_iter: int = 200,
    random_state: np.random.Generator | int | None = 0,
    progress: ProgressCallback | None = None,
    write: em.CheckpointEvery[Tables] | None = None,
) -> BayesianNetwork:
    """Fit the CPTs of a frame to rows that were taken apart for its graph; see `fit_parameters`.

    With `count`, complete rows are counted without iterations.
    """
    fixed = np.zeros(len(compiled.cpt), np.bool_) if fixed is None else fixed
    priors = priors_of(prior, frame)
    model = Tables(compiled, fixed if fixed.any() else None)
    missing = dict(zip(frame.variables, totals.missing, strict=True))
    never = {name for name in frame.variables if name in hidden}
    require_seen(totals.rows, missing, never)
    alpha = np.concatenate([priors[cpt.name].alpha.reshape(-1) for cpt in frame])
    random_state = validation.generator(random_state)
    starts = (model.with_p(p) for p in all_starts(frame, model, alpha, init, never, n_init, random_state))
    if count and isinstance(cases, Cases) and len(cases.items) == 0:
        result = counted(next(starts), cases, alpha, write)
    else:
        result = em.run_best_of(
            starts, cases, n_init=n_init, prior=alpha, tol=tol, max_iter=max_iter, progress=progress,
            checkpoint=write, climb=climb,
        )  # fmt: skip
    network = learned(frame, result.model.p, result.statistics.n, priors, fixed)
    info = ParameterFitInfo(
        n_rows=totals.rows, history=result.history, converged=result.converged, log_likelihood=result.log_likelihood,
        objective=result.objective, starts=result.starts, missing=missing, hidden=tuple(hidden), _network=network,
    )  # fmt: skip
    return with_fit_info(network, info)


def counted(
    start: Tables, cases: Cases, alpha: NDArray[np.float64], write: em.CheckpointEvery[Tables] | None
) -> em.EMResult[Tables]:
    """Complete cases need no iterations: their counts do not depend on the tables."""
    model = start.estimate(alpha, Counts(cases.known))
    statistics, log_likelihood = model.expected_statistics(cases)
    step = em.EMStep(1, log_likelihood, model.log_prior(alpha), math.inf)
    if write is not None:
        write(model, replace(step, last=True))
    return em.EMResult(model, statistics, (step,), converged=True, starts=(step.objective,))


def learned(
    frame: BayesianNetwork,
    p: NDArray[np.float64],
    n: NDArray[np.float64],
    priors: Mapping[str, Dirichlet],
    fixed: NDArray[np.bool_],
) -> BayesianNetwork:
    """The network with these numbers, each table with what it is based on; a frozen table has no new rows."""
    bounds = np.cumsum([cpt.probabilities.size for cpt in frame])[:-1]
    parts = zip(frame, np.split(p, bounds), np.split(n, bounds), np.split(fixed, bounds), strict=True)
    cpts = []
    for cpt, values, count, still in parts:
        table = values.reshape(cpt.shape)
        if not still.any():
            cpts.append(CPT(cpt.variable, cpt.parents, table, Counts(count.reshape(cpt.shape)), priors[cpt.name]))
        else:  # frozen as the structure has it, or as the start has it
            cpts.append(cpt if np.array_equal(cpt.probabilities, table) else CPT(cpt.variable, cpt.parents, table))
    return BayesianNetwork(tuple(cpts), frame.name)


### what to learn from


def is_hybrid(structure: Any, numeric: Any) -> bool:
    """Whether numeric columns stay numbers: because it is asked for, or because the given network has numeric nodes."""
    return numeric != "discretize" or bool(getattr(structure, "numeric_names", ()))


def refuse_for_numbers(algorithm: str, virtual_evidence: Any, frozen: Any, checkpoint: Any) -> None:
    """Refuse options that networks with numeric nodes do not have."""
    given = {
        "algorithm": algorithm != "em",
        "virtual_evidence": virtual_evidence,
        "frozen": tuple(frozen),
        "checkpoint": checkpoint,
    }
    odd = [name for name, value in given.items() if value]
    if odd:
        raise ParameterError(
            f"`{odd[0]}` is not available for networks with numeric nodes",
            hint="leave it out, or discretize: numeric='discretize'",
        )


def prepared(
    structure: StructureLike,
    data: Any,
    states: Mapping[str, Iterable[Any]],
    hidden: Mapping[str, int | Iterable[Any]],
    sample_weight: ArrayLike | str | None,
    handle_unknown: Unseen,
) -> tuple[BayesianNetwork, Source]:
    """A network with the right states and uniform tables (or those it came with), and the data coded for it."""
    never = {name: hidden_states(name, given) for name, given in hidden.items()}
    if isinstance(structure, BayesianNetwork):
        frame = structure
    else:
        dag = as_dag(structure)
        seen = as_source(data, columns=[n for n in dag if n not in never], states=states, allow_constant=True)
        data = data if isinstance(seen, Table) else seen  # what was scanned is not considered again
        frame, handle_unknown = framed(dag, seen, never), "error"
    require_hidden(frame, hidden, never)
    absent: Literal["error", "missing"] = "missing" if never else "error"
    source = as_source(
        data, schema=frame.schema, missing_columns=absent, sample_weight=sample_weight, handle_unknown=handle_unknown
    )
    return add_states_of(frame, source.schema), source


def require_no_extra(structure: Any, data: Any, sample_weight: ArrayLike | str | None) -> None:
    """Refuse columns that a structure does not have."""
    dag, dropped = structure.dag if isinstance(structure, BayesianNetwork) else as_dag(structure), dict[str, str]()
    seen = as_source(data, sample_weight=sample_weight, allow_constant=True, dropped_columns=dropped)
    odd = [name for name in (*seen.schema.names, *dropped) if name not in dag]
    if odd:
        raise UnknownColumnError(
            f"the data have columns that the structure lacks: {listed(odd)}",
            hint='extra_columns="ignore" drops them',
            columns=odd,
        )


def framed(dag: DAG, source: Source, unseen: Mapping[str, tuple[Any, ...]]) -> BayesianNetwork:
    """Uniform tables over the states that are declared, or that the data show."""
    schema = discretize(source).schema if source.schema.numeric else source.schema
    return uniform(dag, {n: DiscreteVariable(n, unseen[n]) if n in unseen else schema[n] for n in dag})


def uniform(dag: DAG, variables: Mapping[str, Any]) -> BayesianNetwork:
    """Tables in which every state is as probable as the others."""
    shapes = {node: tuple(variables[name].n_states for name in (*dag.parents(node), node)) for node in dag}
    largest = max(shapes, key=lambda node: math.prod(shapes[node]))
    require_numbers(
        f"the tables, of which that of {largest!r} has {math.prod(shapes[largest]):,} cells,", *shapes.values(),
        copies=4, hint="give the variable fewer parents, or fewer states",
    )  # fmt: skip
    tables = {node: np.full(shape, 1 / shape[-1]) for node, shape in shapes.items()}
    return BayesianNetwork.from_tables(dag, tables, states=Schema(variables[node] for node in dag))


def hidden_states(name: str, given: int | Iterable[Any]) -> tuple[Any, ...]:
    """The states of a hidden variable, named by numbers when only their count is known."""
    if isinstance(given, int):
        n = validation.integer(f"states of {name}", given, min_value=1)
        require_room(f"{n:,} states of {name!r}", 200 * n, hint="give the hidden variable fewer states")
        return tuple(f"{name}{k}" for k in range(n))
    return tuple(given)


def require_hidden(
    frame: BayesianNetwork, hidden: Mapping[str, int | Iterable[Any]], unseen: Mapping[str, tuple[Any, ...]]
) -> None:
    """Hidden variables are in the graph, with no other states than those they have there."""
    for name, states in unseen.items():
        if name not in frame:
            raise ParameterError(
                f"hidden variable {name!r} is not in the graph", hint=f"its nodes are {listed(frame.variables)}"
            )
        known = frame.states(name)
        if known != states and not (isinstance(hidden[name], int) and len(known) == len(states)):
            raise ParameterError(
                f"hidden variable {name!r} has the states {listed(frame.states(name))} already",
                hint="leave out its states, or name the same ones",
            )


def require_seen(rows: int, missing: Mapping[str, int], unseen: Iterable[str]) -> None:
    """Rows, and at least one value for every variable that was not declared hidden."""
    if rows == 0:
        raise EmptyTableError("there are no cases to learn from", hint="give at least one row with a positive weight")
    never = [name for name, cells in missing.items() if cells == rows and name not in set(unseen)]
    if never:
        raise MissingValuesError(
            f"no row has a value for {listed(never)}",
            hint=f"declare it hidden, with its states: hidden={{{never[0]!r}: 2}}",
            column=never[0],
        )


### checkpoints


def writer(frame: BayesianNetwork, path: str | os.PathLike[str]) -> Callable[[Tables], None]:
    """Writes the tables on the way, as a model file."""
    from bayeslearn.network.formats.read_write import write_network  # noqa: PLC0415 - loads when files are written

    files.destination(path)  # better now than after an hour

    def write(model: Tables) -> None:
        parts = np.split(model.p, model.compiled.cpt_start[1:-1])
        cpts = [CPT(c.variable, c.parents, p.reshape(c.shape)) for c, p in zip(frame, parts, strict=True)]
        write_network(BayesianNetwork(tuple(cpts), frame.name), path, format="json")

    return write


def written(path: str | os.PathLike[str] | None, otherwise: Any) -> Any:
    """The tables that were written last, if any were."""
    from bayeslearn.network.formats.read_write import read_network  # noqa: PLC0415 - as above

    if path is None:
        raise ParameterError("there is nothing to resume from", hint="name the model file: checkpoint=PATH")
    return read_network(path, format="json") if Path(path).exists() else otherwise
