"""Learning the tables of a network whose structure is given, from cases with or without holes.

Complete cases are counted; with missing cells or hidden variables the counts are expected ones, by EM or by gradient
ascent. Either way a table keeps what it rests on: the counts and the prior.

A fit begins at the prior, at random, at a network, or where another one was interrupted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import em, files, validation
from bayeslearn.capacity import require_numbers, require_room
from bayeslearn.distributions import Counts, Dirichlet
from bayeslearn.errors import EmptyTableError, MissingValuesError, ParameterError, listed
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.cpt import CPT
from bayeslearn.network.dag import StructureLike, as_dag
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.credible_intervals import RowSupport, supports
from bayeslearn.network.parameters.em_steps import Tables, normalized_rows
from bayeslearn.network.parameters.gradient_ascent import climb_of
from bayeslearn.network.parameters.incremental import require_same_states
from bayeslearn.network.parameters.priors import AUTO, priors_of
from bayeslearn.network.parameters.training_cases import Cases, gathered, passes_of
from bayeslearn.network.states import add_states_of
from bayeslearn.sources import as_source, discretize, with_options
from bayeslearn.tables import DiscreteVariable, Schema, Table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.dag import DAG
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.parameters.training_cases import Passes
    from bayeslearn.progress import ProgressCallback
    from bayeslearn.sources.base import Extent
    from bayeslearn.tables import Source
    from bayeslearn.tables.conversion import Unseen
    from bayeslearn.tables.markers import Markers


@dataclass(frozen=True)
class ParameterFitInfo:
    """A network with learned tables, and how it came to them."""

    network: BayesianNetwork
    #: ln P(D | θ) of what the rows show.
    log_likelihood: float
    #: ln P(D | θ) + Σ α ln θ, which EM climbs.
    objective: float
    #: One step for complete cases.
    history: tuple[em.EMStep, ...]
    converged: bool
    #: What each start ended with.
    starts: tuple[float, ...]
    rows: int
    #: Missing cells by variable, those of hidden variables included.
    missing: dict[str, int]
    #: Passes over a source; a table needs none.
    passes: int = 0

    @property
    def iterations(self) -> int:
        """How often the tables were estimated."""
        return self.history[-1].iteration

    def least_supported(self, n: int = 10) -> list[RowSupport]:
        """The rows of tables that rest on the fewest real cases."""
        return sorted(supports(self.network), key=lambda row: row.cases)[:n]


### learning


def fit_parameters(
    structure: StructureLike,
    data: Any,
    *,
    prior: Prior = AUTO,
    states: Mapping[str, Iterable[Any]] | None = None,
    handle_unknown: Literal["add", "missing", "error"] = "add",
    hidden: Mapping[str, int | Iterable[Any]] | None = None,
    frozen: Iterable[str] = (),
    start: Literal["prior", "random"] | BayesianNetwork = "prior",
    restarts: int = 1,
    sample_weight: ArrayLike | str | None = None,
    likelihoods: Mapping[str, ArrayLike] | None = None,
    method: Literal["em", "gradient", "lbfgs"] = "em",
    step: float | None = None,
    tol: float = 1e-4,
    max_iter: int = 200,
    random_state: np.random.Generator | int | None = 0,
    progress: ProgressCallback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 5,
    resume: bool = False,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> ParameterFitInfo:
    """Learn every table from cases.

    Parameters
    ----------
    structure
        A graph (a model string like ``[A][B|A]``, arcs, a ``DAG``, a networkx ``DiGraph``: see
        :mod:`~bayeslearn.network.dag`), whose states are found in the data, or a network, whose states, cuts and
        prior are kept and whose numbers are learned anew.
    data
        Anything that :func:`~bayeslearn.tables.as_table` reads, or a source (:func:`~bayeslearn.scan`), which is read
        in one pass however many iterations there are, as long as what its holes look like fits in memory. Numeric
        columns are cut at their quantiles.
    prior
        Cases that count as seen before: None for maximum likelihood, a Dirichlet rule, a name like ``"bdeu:10"``,
        a mapping from variables to priors or tables of pseudo-counts, or a :class:`NetworkPrior`. ``"auto"`` (the
        default) is the prior that the given network was learned under, and ``"bdeu:1"``, as in
        :func:`~bayeslearn.fit_network`, for a graph or a network that was not learned.
    states
        For a graph: declared states of variables, in their order; they may include states that no row shows.
    handle_unknown
        For a network: what to do with a state that it does not have: ``"add"`` it (the default), treat the cell as
        ``"missing"``, or raise an ``"error"``.
    hidden
        Variables that no row shows, with their states or how many there are.
    frozen
        Variables whose tables stay as they are in `structure`, or in `start`.
    start
        Where EM begins: ``"prior"`` (uniform where the prior says nothing), ``"random"``, or a network. Tables around
        hidden variables never begin symmetric, for EM would not leave that.
    restarts
        How many starts to climb from; the second and later are random, the best is kept.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    sample_weight
        How often each row counts, or the column that says so.
    likelihoods
        Soft evidence: for a variable an array (rows, states), P(what was seen | state); its cell must be missing there.
        Not with a source.
    method
        How to climb: ``"em"``; ``"gradient"``, the book's ascent, for which complete cases are climbed too; or
        ``"lbfgs"``, quasi-Newton steps. See :mod:`~bayeslearn.network.parameters.gradient_ascent`.
    step
        η of gradient ascent, in place of one that follows the number of cases; halved when the objective would fall.
    tol, max_iter
        Stop when an iteration gains no more than `tol` nats (of EM, also from where an ascent stands), or after so
        many; the latter is warned of.
    random_state
        For random starts and for breaking symmetry.
    progress
        Called with every step of the climb; raising StopIteration ends the climb with the best so far.
    checkpoint, every
        A model file (JSON) to which the tables are written every so many iterations, and at the end.
    resume
        Start from the tables of `checkpoint`, if that is there: EM goes on exactly as if it had never stopped.

    >>> days = {"Rain": ["yes", "no", "no"], "Wet": ["yes", "no", "yes"]}
    >>> run = fit_parameters("[Rain][Wet|Rain]", days, prior=None)
    >>> run.network["Wet"].probabilities.tolist()                                       # rows are Rain=no, Rain=yes
    [[0.5, 0.5], [0.0, 1.0]]
    """
    structure = with_options(structure, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    validation.integer("restarts", restarts, min_value=1)
    climb = climb_of(method, step)
    frame, source = prepared(structure, data, states or {}, hidden or {}, sample_weight, handle_unknown)
    start = written(checkpoint, start) if resume else start
    if isinstance(start, BayesianNetwork):
        start = add_states_of(start, frame.schema)
    fixed = fixed_cells(frame, frozen, structure, start)
    compiled = Compiled(frame)
    cases, totals = gathered(compiled, source, likelihoods)
    write = None if checkpoint is None else em.CheckpointEvery(every, writer(frame, checkpoint))
    found = fit_cases(
        frame, compiled, cases, totals, prior=prior, hidden=hidden or (), fixed=fixed, start=start, restarts=restarts,
        climb=climb, count=method == "em", tol=tol, max_iter=max_iter, random_state=random_state, progress=progress,
        write=write,
    )  # fmt: skip
    return replace(found, passes=passes_of(source, cases))


def fit_cases(
    frame: BayesianNetwork,
    compiled: Compiled,
    cases: Cases | Passes,
    totals: Extent,
    *,
    prior: Prior,
    hidden: Collection[str],
    fixed: NDArray[np.bool_] | None = None,
    start: Literal["prior", "random"] | BayesianNetwork = "prior",
    restarts: int = 1,
    climb: Callable[..., em.EMResult[Tables]] = em.run,
    count: bool = True,
    tol: float = 1e-4,
    max_iter: int = 200,
    random_state: np.random.Generator | int | None = 0,
    progress: ProgressCallback | None = None,
    write: em.CheckpointEvery[Tables] | None = None,
) -> ParameterFitInfo:
    """Fit the tables of a frame to cases that were taken apart for its graph; see `fit_parameters`.

    With `count`, complete cases are counted instead of climbed on.
    """
    fixed = np.zeros(len(compiled.cpt), np.bool_) if fixed is None else fixed
    priors = priors_of(prior, frame)
    model = Tables(compiled, fixed if fixed.any() else None)
    missing = dict(zip(frame.names, totals.missing, strict=True))
    never = {name for name in frame.names if name in hidden}
    require_seen(totals.rows, missing, never)
    alpha = np.concatenate([priors[cpt.name].alpha.reshape(-1) for cpt in frame])
    random_state = validation.generator(random_state)
    starts = (model.with_p(p) for p in all_starts(frame, model, alpha, start, never, restarts, random_state))
    if count and isinstance(cases, Cases) and len(cases.items) == 0:
        result = counted(next(starts), cases, alpha, write)
    else:
        result = em.run_best_of(
            starts, cases, n_init=restarts, prior=alpha, tol=tol, max_iter=max_iter, progress=progress,
            checkpoint=write, climb=climb,
        )  # fmt: skip
    network = learned(frame, result.model.p, result.statistics.n, priors, fixed)
    return ParameterFitInfo(
        network, result.log_likelihood, result.objective, result.history, result.converged, result.starts,
        totals.rows, missing,
    )  # fmt: skip


def counted(
    start: Tables, cases: Cases, alpha: NDArray[np.float64], write: em.CheckpointEvery[Tables] | None
) -> em.EMResult[Tables]:
    """Complete cases need no climb: their counts do not depend on the tables."""
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
    """The network with these numbers, each table with what it rests on; a frozen table rests on nothing new."""
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
        data = data if isinstance(seen, Table) else seen  # what was scanned is not looked at again
        frame, handle_unknown = framed(dag, seen, never), "error"
    require_hidden(frame, hidden, never)
    absent: Literal["error", "missing"] = "missing" if never else "error"
    source = as_source(
        data, schema=frame.schema, missing_columns=absent, sample_weight=sample_weight, handle_unknown=handle_unknown
    )
    return add_states_of(frame, source.schema), source


def framed(dag: DAG, source: Source, unseen: Mapping[str, tuple[Any, ...]]) -> BayesianNetwork:
    """Uniform tables over the states that are declared, or that the data show."""
    schema = discretize(source).schema if source.schema.numeric else source.schema
    return uniform(dag, {n: DiscreteVariable(n, unseen[n]) if n in unseen else schema[n] for n in dag})


def uniform(dag: DAG, variables: Mapping[str, Any]) -> BayesianNetwork:
    """Tables in which every state is as probable as the others."""
    shapes = {node: tuple(variables[name].size for name in (*dag.parents(node), node)) for node in dag}
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
                f"hidden variable {name!r} is not in the graph", hint=f"its nodes are {listed(frame.names)}"
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


#: How far a start for hidden variables is from symmetry: the weight of a random table against the start.
BROKEN = 0.5


def fixed_cells(frame: BayesianNetwork, frozen: Iterable[str], structure: object, start: object) -> NDArray[np.bool_]:
    """The cells of tables that are to stay."""
    names = list(frozen)
    for name in names:
        frame[name]
    if names and not (isinstance(structure, BayesianNetwork) or isinstance(start, BayesianNetwork)):
        raise ParameterError(
            f"the tables of {listed(names)} cannot stay as they are: a graph has none",
            hint="give a network as structure or as start",
        )
    return np.concatenate([np.full(cpt.probabilities.size, cpt.name in names) for cpt in frame])


def given_numbers(start: BayesianNetwork, cpt: CPT) -> NDArray[np.float64]:
    """The table of another network, with parents and states in the order of this one."""
    variables = (*cpt.parents, cpt.variable)
    for variable in variables:
        require_same_states(variable, start[variable.name].variable)
    states = np.ix_(*([start.states(v.name).index(state) for state in v.states] for v in variables))
    return start[cpt.name].reorder_parents(v.name for v in cpt.parents)[states]


def all_starts(
    frame: BayesianNetwork,
    model: Tables,
    alpha: NDArray[np.float64],
    start: str | BayesianNetwork,
    unseen: set[str],
    restarts: int,
    random_state: np.random.Generator,
) -> Iterator[NDArray[np.float64]]:
    """The numbers that each climb begins with."""
    compiled = model.compiled
    given = compiled.cpt
    if isinstance(start, BayesianNetwork):
        if start.dag != frame.dag:
            raise ParameterError(
                "the network to start from has another graph",
                hint="start from a network with the same arcs, or leave out `start`",
            )
        given = np.concatenate([given_numbers(start, cpt).reshape(-1) for cpt in frame])
    else:
        start = validation.choice("start", start, ["prior", "random"])
    fixed = np.zeros(len(given), np.bool_) if model.fixed is None else model.fixed
    even = normalized_rows(compiled, np.ones(len(given)), otherwise=given)
    around = np.concatenate(
        [
            np.full(cpt.probabilities.size, bool(unseen & {v.name for v in (*cpt.parents, cpt.variable)}))
            for cpt in frame
        ]
    )
    for number in range(restarts):
        luck = normalized_rows(compiled, random_state.standard_gamma(1.0, len(given)) + 1e-3, otherwise=even)
        if number > 0 or start == "random":
            p = luck
        elif isinstance(start, BayesianNetwork):
            p = given
        else:
            p = normalized_rows(compiled, alpha, otherwise=even)
            p = np.where(around, (1 - BROKEN) * p + BROKEN * luck, p)
        yield np.where(fixed, given, p)


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
