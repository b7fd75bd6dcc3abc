"""Rows of data and a network of states and numbers: densities, predictions, draws, imputation, interventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ImpossibleEvidenceError, MissingValuesError, MixedTypesError
from bayeslearn.network.cpt import CPT
from bayeslearn.network.hybrid.inference import most_probable_codes, observed_number, sampled_codes
from bayeslearn.network.hybrid.layout import Rows
from bayeslearn.network.hybrid.nodes import LinearGaussianCPD
from bayeslearn.network.hybrid.results import NumericPosterior
from bayeslearn.network.inference.results import PosteriorTable, state_names
from bayeslearn.network.parameters.em_steps import LogLikelihood, TotalLogLikelihood
from bayeslearn.sources import as_source
from bayeslearn.tables import Table, as_table
from bayeslearn.tables.schema import code_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.hybrid.network import Asked, HybridBayesianNetwork
    from bayeslearn.network.hybrid.plan import RowsPosterior
    from bayeslearn.tables import Source

    Floats = NDArray[np.float64]

#: Rows of a source that are in memory at a time.
BATCH = 1 << 16


def opened(network: HybridBayesianNetwork, data: Any, handle_unknown: Asked) -> Source:
    """The data under the schema of the network; columns that they lack are missing."""
    handle_unknown = validation.choice("handle_unknown", handle_unknown, ["missing", "error"])
    return as_source(data, schema=network.schema, missing_columns="missing", handle_unknown=handle_unknown)


def batches(network: HybridBayesianNetwork, data: Any, handle_unknown: Asked) -> Iterator[tuple[Table, Rows]]:
    """Tables of the data with their rows."""
    for batch in opened(network, data, handle_unknown).batches(BATCH):
        yield batch, network.inference.layout.rows(batch)


### densities


def log_likelihood(network: HybridBayesianNetwork, data: Any, handle_unknown: Asked) -> Floats:
    """The log density of what each row shows."""
    engine = network.inference
    found = [engine.log_likelihood(rows) for _, rows in batches(network, data, handle_unknown)]
    return np.concatenate([np.empty(0), *found])


def score(network: HybridBayesianNetwork, data: Any, handle_unknown: Asked) -> LogLikelihood | TotalLogLikelihood:
    """The log-likelihood of rows, or of all rows of a source."""
    source = opened(network, data, handle_unknown)
    if isinstance(source, Table):
        return LogLikelihood(log_likelihood(network, source, handle_unknown), source.sample_weight)

    def total(table: Table) -> TotalLogLikelihood:
        found = LogLikelihood(
            network.inference.log_likelihood(network.inference.layout.rows(table)), table.sample_weight
        )
        return TotalLogLikelihood(found.log_likelihood, found.weight)

    return source.fold(total)


def log_joint(network: HybridBayesianNetwork, data: Any) -> Floats:
    """The log density of each row without missing values."""
    table = as_table(data, schema=network.schema)
    missing = table.missing()
    lacking = next((name for name, n in missing.items() if n), None)
    if lacking is not None:
        raise MissingValuesError(
            f"column {lacking!r} has missing values, and a joint density requires every value",
            hint="log_likelihood integrates missing values out",
            column=lacking,
        )
    return log_likelihood(network, table, "error")


### predictions


def without(rows: Rows, network: HybridBayesianNetwork, name: str) -> Rows:
    """The rows with the column of a variable missing."""
    layout = network.inference.layout
    codes, values = rows.codes.copy(), rows.numbers.copy()
    if name in layout.discrete:
        codes[:, layout.discrete[name]] = -1
    else:
        values[:, layout.numeric[name]] = np.nan
    return Rows(codes, values)


def targets(network: HybridBayesianNetwork, rows: Rows, name: str) -> Iterator[tuple[Any, RowsPosterior]]:
    """The posterior of rows in which a target is not observed, with nodes left out that do not matter for it."""
    from bayeslearn.network.hybrid.inference import patterns  # noqa: PLC0415 - one place

    engine, layout = network.inference, network.inference.layout
    for same in patterns(rows):
        first = rows.take(same[:1])
        wanted, numbers = first.codes[0] >= 0, ~np.isnan(first.numbers[0])
        if name in layout.discrete:
            wanted[layout.discrete[name]] = True
        else:
            numbers[layout.numeric[name]] = True
        plan = engine.plan(first, *layout.relevant(wanted, numbers))
        for start in range(0, len(same), plan.batch):
            some = same[start : start + plan.batch]
            found = plan.posterior(rows.take(some))
            require_possible(network, found, some)
            yield some, found


def require_possible(network: HybridBayesianNetwork, found: RowsPosterior, numbers: NDArray[np.int64]) -> None:
    """Name the first row of density zero, and what of it cannot be together."""
    never = np.isneginf(found.log_p)
    if not never.any():
        return
    at = int(np.argmax(never))
    raise conflict_of(network, found.rows.take(slice(at, at + 1)), int(numbers[at]))


def conflict_of(network: HybridBayesianNetwork, row: Rows, number: int) -> ImpossibleEvidenceError:
    """The error for one row."""
    layout = network.inference.layout
    shown: dict[str, Any] = {}
    for name, i in layout.discrete.items():
        if row.codes[0, i] >= 0:
            shown[name] = layout.cpts[i].variable.states[int(row.codes[0, i])]
    for name, i in layout.numeric.items():
        if not np.isnan(row.numbers[0, i]):
            shown[name] = float(layout.nodes[i].unscaled(row.numbers[0, i]))
    return network.inference.conflict(shown, number)


def predicted(network: HybridBayesianNetwork, data: Any, target: str, handle_unknown: Asked) -> NDArray[Any]:
    """The most probable state, or the mean, of the target in each row."""
    node = network[target]
    found: list[NDArray[Any]] = []
    for _, given in batches(network, data, handle_unknown):
        rows = without(given, network, target)
        best = np.zeros(len(rows))
        for some, posterior in targets(network, rows, target):
            if isinstance(node, CPT):
                best[some] = posterior.states((network.inference.layout.discrete[target],)).argmax(axis=1)
            else:
                best[some] = means(network, posterior, target)
        found.append(best)
    values = np.concatenate([np.empty(0), *found])
    return state_names(node.variable)[values.astype(np.intp)] if isinstance(node, CPT) else values


def mixture(network: HybridBayesianNetwork, posterior: RowsPosterior, target: str) -> tuple[Floats, Floats, Floats]:
    """Weights, means and variances of a number in each row."""
    at = network.inference.layout.numeric[target]
    return next((w, m, v) for i, w, m, v in posterior.numbers() if i == at)


def means(network: HybridBayesianNetwork, posterior: RowsPosterior, target: str) -> Floats:
    """E[x | e] in each row."""
    w, m, v = mixture(network, posterior, target)
    node: Any = network[target]
    return np.asarray((w * (np.exp(m + v / 2) if node.scale == "log" else m)).sum(axis=1))


def intervals(network: HybridBayesianNetwork, data: Any, target: str, level: float, handle_unknown: Asked) -> Floats:
    """Equal-tailed bounds of a number in each row."""
    level, node = validation.number("level", level, above=0, below=1), network[target]
    if isinstance(node, CPT):
        raise MixedTypesError(
            f"variable {target!r} has states and no interval", hint="predict_proba has their probabilities"
        )
    found = []
    for _, given in batches(network, data, handle_unknown):
        rows = without(given, network, target)
        bounds = np.empty((len(rows), 2))
        for some, posterior in targets(network, rows, target):
            for i, w, m, v in zip(some, *mixture(network, posterior, target), strict=True):
                bounds[i] = NumericPosterior(w, m, np.sqrt(v), node.scale).interval(level)
        found.append(bounds)
    return np.concatenate([np.empty((0, 2)), *found])


def answers(network: HybridBayesianNetwork, batch: Table, names: list[str]) -> dict[str, Any]:
    """The posteriors of targets in each row, none of whose columns are used, and ln p of the rest.

    A target with states has an array (rows, states), a number one with its mean, standard deviation, and quantiles of
    5 % and 95 %.
    """
    layout, rows = network.inference.layout, network.inference.layout.rows(batch)
    for name in names:
        rows = without(rows, network, name)
    found: dict[str, Any] = {"log_evidence": network.inference.log_likelihood(rows)}
    for name in names:
        node = network[name]
        width = layout.sizes[layout.discrete[name]] if isinstance(node, CPT) else 4
        table = np.empty((len(rows), width))
        for some, posterior in targets(network, rows, name):
            if isinstance(node, CPT):
                table[some] = posterior.states((layout.discrete[name],))
                continue
            for i, w, m, v in zip(some, *mixture(network, posterior, name), strict=True):
                one = NumericPosterior(w, m, np.sqrt(v), node.scale)
                table[i] = one.mean, one.sd, *one.interval(0.9)
        found[name] = table
    return found


def posteriors(network: HybridBayesianNetwork, data: Any, names: list[str], handle_unknown: Asked) -> PosteriorTable:
    """P(variable | row) of discrete variables; where one is observed its own posterior is certain."""
    layout = network.inference.layout
    for name in names:
        if not isinstance(network[name], CPT):
            raise MixedTypesError(
                f"variable {name!r} is numeric and has no states",
                hint=f"predict(data, {name!r}) and predict_interval(data, {name!r}) answer for numbers",
            )
    table = as_table(data, schema=network.schema, missing_columns="missing", handle_unknown=handle_unknown)
    rows = layout.rows(table)
    beliefs = {name: np.zeros((len(rows), layout.sizes[layout.discrete[name]])) for name in names}
    log_p = np.zeros(len(rows))
    for some, found in network.inference.batches(rows):
        require_possible(network, found, some)
        log_p[some] = found.log_p
        for name in names:
            i = layout.discrete[name]
            codes = found.rows.codes[:, i]
            beliefs[name][some] = np.eye(layout.sizes[i])[codes] if codes[0] >= 0 else found.states((i,))
    states = {name: layout.cpts[layout.discrete[name]].variable.states for name in names}
    return PosteriorTable(log_p + layout.log_jacobian(rows), beliefs, states)


### completed rows


def completed(network: HybridBayesianNetwork, rows: Rows, random: np.random.Generator | None) -> Rows:
    """Rows with nothing missing, on the scales of the nodes.

    Unobserved states are those that are most probable together, numbers integrated out; unobserved numbers their means
    given these states. With a generator all of them are drawn from their joint posterior.
    """
    engine = network.inference
    codes, values = rows.codes.copy(), rows.numbers.copy()
    for some, found in engine.batches(rows):
        require_possible(network, found, some)
        codes[some] = most_probable_codes(found) if random is None else sampled_codes(found, random)
    for some, found in engine.batches(Rows(codes, rows.numbers)):
        for part, (conditional, _) in enumerate(found.plan.parts):
            if not conditional.hidden:
                continue
            at, m = found.found[part]
            y, hidden = m[:, 0], list(conditional.hidden)
            V = conditional.covariance[at[:, 0]]
            if random is not None:
                y = y + drawn(V, random)
            elif any(network.inference.layout.nodes[i].scale == "log" for i in hidden):
                log = np.array([network.inference.layout.nodes[i].scale == "log" for i in hidden])
                y = y + np.where(log, np.diagonal(V, axis1=1, axis2=2) / 2, 0.0)  # ln E[x]
            values[some[:, None], hidden] = y
    return Rows(codes, values)


def drawn(V: Floats, random: np.random.Generator) -> Floats:
    """Draws of mean zero with these covariances, which may be singular."""
    values, vectors = np.linalg.eigh(V)
    z = random.standard_normal(V.shape[:2]) * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(np.einsum("nab,nb->na", vectors, z))


def table_of(network: HybridBayesianNetwork, rows: Rows, sample_weight: Any = None) -> Table:
    """Complete rows as a table of the network's variables."""
    layout, schema = network.inference.layout, network.schema
    codes = np.empty((len(schema.discrete), len(rows)), code_type(schema))
    values = np.empty((len(schema.numeric), len(rows)))
    for place, v in enumerate(schema.discrete):
        codes[place] = rows.codes[:, layout.discrete[v.name]]
    for place, w in enumerate(schema.numeric):
        i = layout.numeric[w.name]
        values[place] = layout.nodes[i].unscaled(rows.numbers[:, i])
    return Table(schema, codes, values, sample_weight)


def sampled(network: HybridBayesianNetwork, n: int, evidence: Mapping[str, Any], random: np.random.Generator) -> Table:
    """Independent rows given evidence."""
    n = validation.integer("n_samples", n, min_value=0)
    engine, row, _ = network.inference.observed(evidence, {})
    if evidence and engine.log_likelihood(row)[0] == -np.inf:
        raise network.inference.conflict(evidence)
    rows = Rows(np.repeat(row.codes, n, axis=0), np.repeat(row.numbers, n, axis=0))
    if not evidence:
        return table_of(network, ancestral(network, rows, random))
    full = completed(engine.network, rows, random)
    return table_of(network, Rows(full.codes[:, : len(network.inference.layout.cpts)], full.numbers))


def ancestral(network: HybridBayesianNetwork, rows: Rows, random: np.random.Generator) -> Rows:
    """Rows drawn parents first."""
    layout, n = network.inference.layout, len(rows)
    codes, values = rows.codes.copy(), rows.numbers.copy()
    for name in network.dag.order:
        if name in layout.discrete:
            i = layout.discrete[name]
            p = layout.cpts[i].probabilities[tuple(codes[:, parent] for parent in layout.scopes[i][:-1])]
            p = np.broadcast_to(p, (n, layout.sizes[i])).cumsum(axis=1)
            codes[:, i] = np.minimum((p <= random.random(n)[:, None] * p[:, -1:]).sum(axis=1), layout.sizes[i] - 1)
        else:
            i = layout.numeric[name]
            node = layout.nodes[i]
            at = tuple(codes[:, d] for d in layout.states_of[i])
            mean = node.intercept[at] + (node.coef[at] * values[:, layout.inputs_of[i]]).sum(axis=-1)
            values[:, i] = mean + np.sqrt(node.var[at]) * random.standard_normal(n)
    return Rows(codes, values)


def completed_table(network: HybridBayesianNetwork, table: Table, random: np.random.Generator | None) -> Table:
    """The rows of a table with nothing missing; see :func:`completed`."""
    rows = completed(network, network.inference.layout.rows(table), random)
    return table_of(network, rows, table.sample_weight)


### interventions


def intervened(network: HybridBayesianNetwork, actions: Mapping[str, Any]) -> HybridBayesianNetwork:
    """The network in which variables are set: they have no parents and no spread."""
    from bayeslearn.network.hybrid.network import with_nodes  # noqa: PLC0415 - networks know rows

    for name in actions:
        network[name]
    nodes: list[Any] = []
    for node in network.cpts:
        if node.name not in actions:
            nodes.append(node)
        elif isinstance(node, CPT):
            p = np.eye(node.variable.n_states)[node.variable.code_of(actions[node.name])]
            nodes.append(CPT(node.variable, (), p))
        else:
            y = node.scaled(observed_number(node.variable, actions[node.name]))
            nodes.append(LinearGaussianCPD(node.variable, (), y, (), 0.0, node.scale))
    return with_nodes(network, nodes)
