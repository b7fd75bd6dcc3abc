"""Parameter learning for networks of states and numbers: what is read, where EM starts, what the fit found out.

Complete rows need one pass: moments and counts, then the estimate. With missing values or hidden variables EM starts at
the available values: each node is estimated from the rows that have all of its family. A configuration with too few of
them starts at the regression of all configurations together.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import em, validation
from bayeslearn.errors import EmptyTableError, EvidenceError, MissingValuesError, ParameterError, listed
from bayeslearn.fit_info import FitInfo, with_fit_info
from bayeslearn.network.cpt import CPT
from bayeslearn.network.dag import as_dag
from bayeslearn.network.hybrid.initialization import available, labeled, labels_of, relabeled, started
from bayeslearn.network.hybrid.layout import Layout
from bayeslearn.network.hybrid.learning import Parameters, estimated
from bayeslearn.network.hybrid.network import HybridBayesianNetwork, require_discrete_parents
from bayeslearn.network.hybrid.nodes import LinearGaussianCPD
from bayeslearn.network.hybrid.priors import priors_of
from bayeslearn.network.parameters.results import share_of
from bayeslearn.reports import Grid
from bayeslearn.sources import as_source, discretize
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions import StatisticsBundle
    from bayeslearn.network.dag import DAG
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.tables import Source, Table

    Floats = NDArray[np.float64]

#: How a numeric column may be modeled, with the scale of its node.
SCALES = {"gaussian": "linear", "log_normal": "log", "discretize": None}

#: Rows from which the residuals are taken.
SAMPLE = 20_000

#: Whole numbers of which a column may have so many different ones and still be taken for codes of states.
MAX_CODES = 10

#: A skewness of residuals beyond which a note is given.
SKEWED = 1.0


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HybridFitInfo(FitInfo):
    """What a fit of a network of states and numbers found out.

    Attributes
    ----------
    objective
        The log-likelihood and the log density of the prior, which EM maximizes.
    starts
        The objective of each initialization.
    missing
        The number of missing values of each variable.
    hidden
        The variables that are not observed in any row.
    residuals
        For each numeric node the skewness of its standardized residuals and the share beyond 3 standard deviations.
    """

    objective: float = 0.0
    starts: tuple[float, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    residuals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def _title(self) -> str:
        return f"Parameters of {len(self.missing)} variables fitted to {self.n_rows:,} rows"

    def _pairs(self) -> dict[str, Any]:
        n = sum(count for name, count in self.missing.items() if name not in self.hidden)
        cells = self.n_rows * (len(self.missing) - len(self.hidden))
        found: dict[str, Any] = {"Rows": self.n_rows, "Missing values": share_of(n, cells)}
        if self.hidden:
            found["Hidden variables"] = ", ".join(self.hidden)
        return found | super()._pairs()

    def _blocks(self) -> tuple[Any, ...]:
        rows = [(name, *values) for name, values in self.residuals.items()]
        return (Grid(["Numeric node", "Skewness", "Beyond 3 sd"], rows, "Residuals") if rows else None,)


def fit_hybrid(
    structure: Any,
    data: Any,
    *,
    numeric: Any,
    prior: Any,
    states: Mapping[str, Iterable[Any]],
    hidden: Mapping[str, int | Iterable[Any]],
    init: Any,
    n_init: int,
    sample_weight: ArrayLike | str | None,
    tol: float,
    max_iter: int,
    random_state: np.random.Generator | int | None,
    progress: Reporter | ProgressCallback | None,
) -> HybridBayesianNetwork:
    """Fit the parameters of a network with numeric nodes; see `fit_parameters`."""
    began = time.perf_counter()
    validation.integer("n_init", n_init, min_value=1)
    random = validation.generator(random_state)
    frame, source = prepared(structure, data, numeric, states, hidden, sample_weight)
    layout = Layout(frame.cpts, frame.dag.order)
    profile = profiled(layout, source)
    require_values(frame, profile, tuple(hidden))
    label = labels_of(layout, source, tuple(hidden), random, spread=init == "random")

    @functools.cache
    def shown() -> StatisticsBundle:
        return source.fold(lambda table: available(frame, layout, labeled(layout, table, label)))

    priors = priors_of(prior, frame, profile.moments, shown)
    spreads = {name: var for name, (_, var) in profile.moments.items()}
    if isinstance(init, HybridBayesianNetwork):
        starts = iter([Parameters(replace(init, cpts=tuple(init[n.name] for n in frame.cpts)), spreads)])
        n_init = 1
    else:
        starts = (
            Parameters(
                started(frame, shown() if k == 0 else relabeled(frame, layout, source, tuple(hidden), random), priors),
                spreads,
            )
            for k in range(n_init)
        )
    if profile.is_complete and not hidden:
        result = counted(next(starts), source, priors)
    else:
        result = em.run_best_of(
            starts, source, n_init=n_init, prior=priors, tol=tol, max_iter=max_iter, progress=progress
        )
    network = estimated(result.model.network, priors, result.statistics, spreads)
    residuals = residuals_of(network, source)
    info = HybridFitInfo(
        n_rows=profile.n_rows, history=result.history, converged=result.converged,
        log_likelihood=result.log_likelihood, objective=result.objective, starts=result.starts,
        missing=profile.missing, hidden=tuple(hidden), residuals=residuals, notes=skew_notes(residuals),
        seconds=time.perf_counter() - began,
    )  # fmt: skip
    return with_fit_info(network, info)


def counted(start: Parameters, source: Source, priors: Mapping[str, Any]) -> em.EMResult[Parameters]:
    """Complete rows: statistics do not depend on the parameters."""
    first: Any = source.fold(lambda t: em.Expected(*start.expected_statistics(t)))
    model = start.estimate(priors, first.statistics)
    found: Any = source.fold(lambda t: em.Expected(*model.expected_statistics(t)))
    step = em.EMStep(1, found.log_likelihood, model.log_prior(priors), math.inf)
    return em.EMResult(model, first.statistics, (step,), converged=True, starts=(step.objective,))


### what is read


def prepared(
    structure: Any,
    data: Any,
    numeric: Any,
    states: Mapping[str, Iterable[Any]],
    hidden: Mapping[str, int | Iterable[Any]],
    sample_weight: ArrayLike | str | None,
) -> tuple[HybridBayesianNetwork, Source]:
    """A network with the right variables, and the data under its schema."""
    from bayeslearn.network.parameters.fit import hidden_states  # noqa: PLC0415 - it calls this module

    if isinstance(structure, HybridBayesianNetwork):
        frame = structure
    else:
        dag = as_dag(structure)
        wanted = kinds_of(numeric, dag)
        shown = [n for n in dag if n not in hidden]
        asked = [n for n in shown if wanted.get(n) in {"gaussian", "log_normal"}]
        options: dict[str, Any] = {"columns": shown, "states": states, "allow_constant": True}
        seen = as_source(data, numeric=asked, **options)
        more = [v.name for v in seen.schema.discrete if v.name not in {*wanted, *states} and is_measured(v)]
        seen = as_source(data, numeric=[*asked, *more], **options) if more else seen
        data = data if not hasattr(seen, "declared") else seen
        never = {name: DiscreteVariable(name, hidden_states(name, given)) for name, given in hidden.items()}
        frame = framed(dag, seen, wanted, numeric, never)
    schema = frame.schema
    return frame, as_source(
        data, schema=schema, missing_columns="missing" if hidden else "error", sample_weight=sample_weight,
        handle_unknown="error",
    )  # fmt: skip


def is_measured(variable: DiscreteVariable) -> bool:
    """Whether states are rather the values of a measured column: numbers with decimals, or many whole ones."""
    if variable.cuts is not None or not all(
        isinstance(s, int | float) and not isinstance(s, bool) for s in variable.states
    ):
        return False
    has_decimals = any(float(state) != int(state) for state in variable.states)
    return variable.n_states > 2 and (has_decimals or variable.n_states > MAX_CODES)


def kinds_of(numeric: Any, dag: DAG) -> dict[str, str]:
    """How each column that is named is modeled."""
    if isinstance(numeric, str):
        validation.choice("numeric", numeric, list(SCALES))
        return {}
    if not isinstance(numeric, Mapping):
        raise ParameterError(
            f"`numeric` must be one of {listed(SCALES)}, or map columns to these, got {numeric!r:.80}",
            hint="numeric='gaussian', or numeric={'age': 'gaussian', 'income': 'log_normal'}",
        )
    odd = [name for name in numeric if name not in dag]
    if odd:
        raise ParameterError(f"`numeric` names {listed(odd)}, not in the graph", hint=f"nodes are {listed(dag)}")
    return {name: validation.choice(f"numeric[{name!r}]", kind, list(SCALES)) for name, kind in numeric.items()}


def framed(
    dag: DAG, seen: Source, wanted: Mapping[str, str], numeric: Any, never: Mapping[str, DiscreteVariable]
) -> HybridBayesianNetwork:
    """The network before it is fitted: uniform CPTs, and numeric nodes of mean 0 and variance 1."""
    usual = numeric if isinstance(numeric, str) else "gaussian"
    kinds = {v.name: wanted.get(v.name, usual) for v in seen.schema.numeric}
    cut = [name for name, kind in kinds.items() if kind == "discretize"]
    schema = discretize(seen, cut).schema if cut else seen.schema
    variables: dict[str, Variable] = {n: never[n] if n in never else schema[n] for n in dag}
    nodes: list[Any] = []
    for name in dag:
        variable, parents = variables[name], tuple(variables[p] for p in dag.parents(name))
        if isinstance(variable, NumericVariable):
            scale: Any = SCALES[kinds[name]]
            nodes.append(LinearGaussianCPD(variable, parents, 0.0, (), 1.0, scale))  # type: ignore[arg-type]
        else:
            require_discrete_parents(name, parents)
            shape = (*(v.n_states for v in parents), variable.n_states)  # type: ignore[attr-defined]
            nodes.append(CPT(variable, parents, np.full(shape, 1 / shape[-1])))  # type: ignore[arg-type]
    if not any(isinstance(node, LinearGaussianCPD) for node in nodes):
        raise ParameterError(
            "no column of the structure is numeric", hint="leave out `numeric`, or name numeric columns"
        )
    return HybridBayesianNetwork(tuple(nodes))


@dataclass(frozen=True)
class Profile:
    """What one pass over the data finds."""

    n_rows: int
    missing: dict[str, int]
    moments: dict[str, tuple[float, float]]

    @property
    def is_complete(self) -> bool:
        """Whether no value is missing."""
        return not any(self.missing.values())


@dataclass(frozen=True)
class Seen:
    """What one batch shows, which adds: rows, missing values, and moments of each column."""

    n_rows: int
    missing: Floats
    n: Floats
    mean: Floats
    m2: Floats

    def __add__(self, other: Seen) -> Seen:
        n = self.n + other.n
        share = np.where(n > 0, other.n / np.where(n > 0, n, 1.0), 0.0)
        δ = other.mean - self.mean
        return Seen(
            self.n_rows + other.n_rows, self.missing + other.missing, n, self.mean + share * δ,
            self.m2 + other.m2 + δ * δ * self.n * share,
        )  # fmt: skip


def profiled(layout: Layout, source: Source) -> Profile:
    """Rows, missing values and moments, in one pass."""

    def look(table: Table) -> Seen:
        rows = layout.rows(table)
        weight = np.ones(len(rows)) if table.sample_weight is None else table.sample_weight
        rows, weight = rows.take(weight > 0), weight[weight > 0]
        missing = np.concatenate([(rows.codes < 0).sum(axis=0), np.isnan(rows.numbers).sum(axis=0)]).astype(float)
        seen = ~np.isnan(rows.numbers)
        w, x = seen * weight[:, None], np.where(seen, rows.numbers, 0.0)
        n = w.sum(axis=0)
        mean = (w * x).sum(axis=0) / np.where(n > 0, n, 1.0)
        return Seen(len(rows), missing, n, mean, (w * (x - mean) ** 2).sum(axis=0))

    found: Seen = source.fold(look)
    names = [*layout.discrete, *layout.numeric]
    missing = dict(zip(names, found.missing.astype(int).tolist(), strict=True))
    moments = {}
    for i, node in enumerate(layout.nodes):
        if found.n[i] > 0:
            moments[node.name] = (float(found.mean[i]), float(found.m2[i] / found.n[i]))
    return Profile(found.n_rows, missing, moments)


def require_values(frame: HybridBayesianNetwork, profile: Profile, hidden: tuple[str, ...]) -> None:
    """Rows, a value for every variable that is not hidden, and numbers that vary."""
    if profile.n_rows == 0:
        raise EmptyTableError("there are no rows to learn from", hint="give at least one row with a positive weight")
    never = [n for n in frame.variables if profile.missing[n] == profile.n_rows and n not in hidden]
    if never:
        raise MissingValuesError(
            f"no row has a value for {listed(never)}",
            hint=f"declare it hidden, with its states: hidden={{{never[0]!r}: 2}}", column=never[0],
        )  # fmt: skip
    for name, (mean, var) in profile.moments.items():
        if var <= 1e-18 * max(mean * mean, 1e-280):
            raise EvidenceError(
                f"column {name!r} is constant: a numeric node needs some spread",
                hint="leave it out of the structure", column=name,
            )  # fmt: skip


### residuals


def residuals_of(network: HybridBayesianNetwork, source: Source) -> dict[str, tuple[float, float]]:
    """Skewness and the share beyond 3 of (y − a − bᵀx)/√v, of rows that are complete for the family."""
    layout = Layout(network.cpts, network.dag.order)
    rows = layout.rows(next(iter(source.batches(SAMPLE))))
    found = {}
    for i, node in enumerate(layout.nodes):
        codes, z = rows.codes[:, list(layout.states_of[i])], rows.numbers[:, [*layout.inputs_of[i], i]]
        whole = (codes >= 0).all(axis=1) & ~np.isnan(z).any(axis=1)
        if not whole.any():
            continue
        at, z = tuple(codes[whole].T), z[whole]
        off = z[:, -1] - node.intercept[at] - (node.coef[at] * z[:, :-1]).sum(axis=-1)
        r = off / np.sqrt(np.maximum(node.var[at], np.finfo(float).tiny))
        deviation = r.std()
        skewness = float(((r - r.mean()) ** 3).mean() / deviation**3) if deviation > 0 else 0.0
        found[node.name] = (skewness, float((np.abs(r) > 3).mean()))
    return found


def skew_notes(residuals: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """A note for the nodes whose residuals are far from normal."""
    skewed = [name for name, (skewness, _) in residuals.items() if abs(skewness) > SKEWED]
    if not skewed:
        return ()
    return (f"residuals of {listed(skewed)} are skewed; numeric='log_normal' or 'discretize' may fit better",)
