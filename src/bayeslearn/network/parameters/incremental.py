"""Evidence adds, for networks that were learned: rows come, go and fade, and networks merge.

    update   n ← fade · n + n(rows)          a + b   n_a + n_b
    forget   n ← n − n(rows)                 a − b   n_a − n_b          θ = (n + α) / Σ (n + α), the prior counts once

Networks that are added have the states of both; a state that one of them has not seen has no counts there. What both
were updated from counts once (:mod:`bayeslearn.distributions.lineage`). Rows with a state that is new to the network
add it. A table that was given, not learned, is unchanged.

Complete rows come and go exactly. A row with missing cells adds what the present tables expect of it, one E step, and
takes that back again, though never more than there is: where a cell has less than is expected of the rows, the other
cells of the table give the rest, each in proportion to what it has. What the rows show and their total are exact, so
that whatever was learned can be removed, and with the last row everything is gone.

After EM the tables are those of the counts, which are what the tables of the step before expected. What is left after
rows are removed differs from what the CPTs expect of the other rows by as much as that last step moved the counts,
n − n(all rows), and by nothing once EM no longer moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import Counts, Dirichlet, StatisticsBundle
from bayeslearn.distributions.categorical import shares
from bayeslearn.distributions.lineage import (
    after_update,
    has_common,
    mapped,
    merged,
    scaled,
    separated,
    started,
    without_rows,
)
from bayeslearn.distributions.sufficient_statistics import ROUNDING
from bayeslearn.errors import EvidenceError, ImpossibleDataError, MismatchError, listed
from bayeslearn.network.cpt import CPT
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.em_steps import expected_families
from bayeslearn.network.parameters.training_cases import FoldedCases
from bayeslearn.network.states import add_states_of, unite_states
from bayeslearn.sources import as_source
from bayeslearn.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.tables import DiscreteVariable, Source
    from bayeslearn.tables.conversion import Unseen

### rows


def updated(
    network: BayesianNetwork,
    data: Any,
    *,
    sample_weight: ArrayLike | str | None,
    forgetting_factor: float,
    hidden: Iterable[str],
    handle_unknown: Unseen = "add",
) -> BayesianNetwork:
    """The network after more cases."""
    network = with_lineage(network)
    keep = validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)
    source = coded(network, data, sample_weight, hidden, handle_unknown)
    network = add_states_of(network, source.schema)
    before, (shown, expected) = evidence_of(network), counted(network, source)
    new = StatisticsBundle({name: shown[name] + expected[name] for name in before})
    return resting_on(network, before * keep + new, after_update(network.lineage, before, new, keep))


def forgotten(
    network: BayesianNetwork, data: Any, *, sample_weight: ArrayLike | str | None, hidden: Iterable[str]
) -> BayesianNetwork:
    """The network without some of its cases."""
    before, (shown, expected) = evidence_of(network), counted(network, coded(network, data, sample_weight, hidden))
    gone = StatisticsBundle({name: taken_back(n, shown[name], expected[name]) for name, n in before.items()})
    left = without(before, gone)
    return resting_on(network, left, without_rows(network.lineage, gone, left))


def taken_back(before: Counts, shown: Counts, expected: Counts) -> Counts:
    """What rows take from a table: all that they show, and of each cell at most what it has of what is expected."""
    room = np.maximum(before.n - shown.n, 0.0)
    taken = np.minimum(expected.n, room)
    left, lacking = room - taken, (expected.n - taken).sum()
    rest, rounding = left.sum() - lacking, ROUNDING * before.n.sum()
    if rest < -rounding or (lacking == 0 and rest > rounding):
        return shown + expected
    return Counts(shown.n + taken + left * (lacking / left.sum() if rest > rounding else 1.0))


def faded(network: BayesianNetwork, factor: float) -> BayesianNetwork:
    """The network with every case counting for less."""
    factor = validation.number("forgetting_factor", factor, min_value=0, max_value=1)
    return resting_on(network, evidence_of(network) * factor, scaled(network.lineage, factor))


def coded(
    network: BayesianNetwork,
    data: Any,
    sample_weight: ArrayLike | str | None,
    hidden: Iterable[str],
    handle_unknown: Unseen = "error",
) -> Source:
    """The data in the codes of the network; a source has no columns for hidden variables.

    With ``handle_unknown="add"`` the schema of the data has the new states after those of the network.
    """
    schema = network.schema.drop([network[name].name for name in hidden])
    source = as_source(data, schema=schema, sample_weight=sample_weight, handle_unknown=handle_unknown)
    return with_hidden(add_states_of(network, source.schema), source) if isinstance(source, Table) else source


def with_hidden(network: BayesianNetwork, table: Table) -> Table:
    """The table with every cell missing of the variables that it has no column for."""
    if len(table.schema) == len(network):
        return table
    codes = np.full((len(network), table.n_rows), -1, table.codes.dtype)
    codes[[name in table.schema for name in network.variables]] = table.codes
    return Table(network.schema, codes, np.empty((0, table.n_rows)), table.sample_weight)


def counted(network: BayesianNetwork, source: Source) -> tuple[dict[str, Counts], dict[str, Counts]]:
    """What the rows add to every table: counts of what they show, and expected counts of what they do not."""
    collect = Collected(network, Compiled(network))
    found = source.fold(collect)
    return by_table(network, collect.compiled, found["shown"]), by_table(network, collect.compiled, found["expected"])


def by_table(network: BayesianNetwork, compiled: Compiled, counts: Counts) -> dict[str, Counts]:
    """Counts of all cells in a row, table by table."""
    parts = np.split(counts.n, compiled.cpt_start[1:-1])
    return {cpt.name: Counts(part.reshape(cpt.shape)) for cpt, part in zip(network, parts, strict=True)}


@dataclass(frozen=True)
class Collected:
    """What is collected from a batch."""

    network: BayesianNetwork
    compiled: Compiled

    def __call__(self, table: Table) -> StatisticsBundle:
        """Counts and expected counts of every cell, in a row as the tables are."""
        if table.n_rows == 0:
            none = Counts(np.zeros(len(self.compiled.cpt)))
            return StatisticsBundle(shown=none, expected=none)
        cases = FoldedCases.of(self.compiled, with_hidden(self.network, table))
        families, log_p = expected_families(self.compiled, cases)
        if np.isneginf(log_p).any():
            row = int(cases.items.row[np.isneginf(log_p)].min())
            raise ImpossibleDataError(
                f"row {row} has probability zero under the present tables, so nothing is expected where it has holes",
                hint="learn with a prior, so that no table has zeros",
                row=row,
            )
        return StatisticsBundle(shown=Counts(cases.known), expected=Counts(families))


### networks


def added(a: BayesianNetwork, b: BayesianNetwork) -> BayesianNetwork:
    """The evidence of both, and the prior once."""
    a, b = alike(a, b)
    found = merged(evidence_of(a), evidence_of(b, like=a), a.lineage, lineage_like(b, a))
    return resting_on(a, *found)


def subtracted(a: BayesianNetwork, b: BayesianNetwork) -> BayesianNetwork:
    """The evidence of the one without that of the other."""
    a, b = alike(a, b)
    before, taken, other = evidence_of(a), evidence_of(b, like=a), lineage_like(b, a)
    if not has_common(a.lineage, other):
        without(before, taken)  # an error names the table
    return resting_on(a, *separated(before, taken, a.lineage, other))


def evidence_of(network: BayesianNetwork, *, like: BayesianNetwork | None = None) -> StatisticsBundle:
    """The counts of every table that was learned, with the axes and states of another network like it."""
    if network.numeric_names:
        from bayeslearn.network.hybrid import learning  # noqa: PLC0415 - most networks have no numbers

        return learning.evidence_of(network)  # type: ignore[arg-type]
    found = {cpt.name: cpt.observed_counts for cpt in network if cpt.is_learned}
    if not found:
        raise EvidenceError(
            f"the tables of network {network.name!r} were given, not learned: on how many cases they rest is not known",
            hint="learn them by fit_parameters or `bayeslearn fit`; prior=NetworkPrior(network, n) makes given "
            "tables count as cases",
        )
    if like is None:
        return StatisticsBundle(found)
    require_same_graph(like, network)
    fits = {cpt.name: fitting(cpt, network[cpt.name]) for cpt in like}
    return StatisticsBundle({name: fits[name].observed_counts for name in like.variables if name in found})


def with_lineage(network: BayesianNetwork) -> BayesianNetwork:
    """The network with its lineage, which is named by its counts before it gains states or turns."""
    return replace(network, lineage=started(network.lineage, evidence_of(network)))


def lineage_like(network: BayesianNetwork, like: BayesianNetwork) -> Lineage | None:
    """The lineage of a network with the axes and states of another network like it."""
    if all(axes_of(cpt) == axes_of(network[cpt.name]) for cpt in like):
        return network.lineage

    def turned(counts: StatisticsBundle) -> StatisticsBundle:
        known = {
            name: turned_like(like[name], network[name], counts[name].n) for name in like.variables if name in counts
        }
        return StatisticsBundle({name: Counts(n) for name, n in known.items()})

    return mapped(network.lineage, turned)


def axes_of(cpt: CPT) -> list[tuple[str, tuple[Any, ...]]]:
    """The names and states along the axes of a table."""
    return [(v.name, v.states) for v in (*cpt.parents, cpt.variable)]


def resting_on(network: BayesianNetwork, counts: Mapping[str, Counts], lineage: Lineage | None) -> BayesianNetwork:
    """The network with tables estimated from these counts; those without are unchanged."""
    cpts = [estimated(cpt, counts[cpt.name]) if cpt.name in counts else cpt for cpt in network]
    return replace(network, cpts=tuple(cpts), lineage=lineage)


def estimated(cpt: CPT, counts: Counts) -> CPT:
    """θ = (n + α) / Σ (n + α); a row that has lost all evidence is even, one that never had any is unchanged."""
    n = counts.n + cpt.alpha
    had = (cpt.observed_counts.n + cpt.alpha).sum(axis=-1, keepdims=True) > 0
    p = shares(n, np.where(had, 1 / cpt.variable.n_states, cpt.probabilities), nothing=0.0)
    return replace(cpt, probabilities=p, counts=counts)


def without(before: StatisticsBundle, taken: StatisticsBundle) -> StatisticsBundle:
    """Counts that are left; an error names the table that has too few."""
    left = {}
    for name, counts in before.items():
        try:
            left[name] = counts - taken[name]
        except EvidenceError as error:
            message = error.message.replace("more evidence removed", f"more evidence on {name!r} removed", 1)
            raise EvidenceError(message, hint=error.hint, column=name, **error.details) from None
    return StatisticsBundle(left)


### the same shape


def alike(a: BayesianNetwork, b: BayesianNetwork) -> tuple[BayesianNetwork, BayesianNetwork]:
    """Two learned networks of one graph, with the states of both."""
    a, b = with_lineage(a), with_lineage(b)
    require_same_graph(a, b)
    return unite_states(a, b)


def require_same_graph(a: BayesianNetwork, b: BayesianNetwork) -> None:
    """The same variables, joined by the same arcs."""
    odd = [name for name in dict.fromkeys((*a.variables, *b.variables)) if name not in a or name not in b]
    arcs = [f"{parent} → {child}" for parent, child in sorted(set(a.dag.arcs) ^ set(b.dag.arcs))]
    if odd or arcs:
        what = f"variable {listed(odd)}" if odd else f"the arc {listed(arcs)}"
        raise MismatchError(
            f"the networks {a.name!r} and {b.name!r} have different graphs: only one of them has {what}",
            hint="fit the data of the second to the graph of the first: fit_parameters(a, data_b), then a + b",
            differs="graph",
        )


def fitting(cpt: CPT, other: CPT) -> CPT:
    """Return the other table with the axes and states of this one, if both have counts of the same kind."""
    theirs = {v.name: v for v in (*other.parents, other.variable)}
    for variable in (*cpt.parents, cpt.variable):
        require_same_states(variable, theirs[variable.name])
    p, n, alpha = (
        turned_like(cpt, other, array) for array in (other.probabilities, other.observed_counts.n, other.alpha)
    )
    fits = CPT(cpt.variable, cpt.parents, p, Counts(n), Dirichlet(alpha))
    require_same_ground(cpt, other, fits)
    return fits


def turned_like(cpt: CPT, other: CPT, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """An array over the other table, with parents and states in the order of this one."""
    theirs = {v.name: v for v in (*other.parents, other.variable)}
    variables = (*cpt.parents, cpt.variable)
    axes = [list(theirs).index(v.name) for v in variables]
    states = np.ix_(*([theirs[v.name].states.index(state) for state in v.states] for v in variables))
    return np.transpose(array, axes)[states]


def require_same_states(mine: DiscreteVariable, theirs: DiscreteVariable) -> None:
    """The same states, in whatever order, and the same cuts."""
    names = [{(type(state), state) for state in v.states} for v in (mine, theirs)]
    if names[0] == names[1] and mine.cuts == theirs.cuts:
        return
    what = "states" if names[0] != names[1] and mine.cuts == theirs.cuts else "cuts"
    first, second = (listed(getattr(v, what) or ()) or "none" for v in (mine, theirs))
    raise MismatchError(
        f"the {what} of {mine.name!r} differ: {first} in one network, {second} in the other",
        hint=f"fit the second data with the first network, which keeps its {what}: fit_parameters(a, data_b)",
        differs=what,
        column=mine.name,
    )


def require_same_ground(cpt: CPT, other: CPT, turned: CPT) -> None:
    """Both learned under one prior, or both given and the same."""
    if cpt.is_learned != other.is_learned:
        raise MismatchError(
            f"the table of {cpt.name!r} was learned in one of the networks and given in the other",
            hint="freeze the same tables in both",
            differs="tables",
            column=cpt.name,
        )
    if not np.allclose(cpt.alpha, turned.alpha, rtol=1e-9, atol=0):
        raise MismatchError(
            f"the priors of {cpt.name!r} differ: {Dirichlet(cpt.alpha)} and {Dirichlet(turned.alpha)}",
            hint="fit both under one prior, which counts once in the sum; fit_parameters(a, data_b) keeps that of a",
            differs="prior",
            column=cpt.name,
        )
    if not cpt.is_learned and not np.allclose(cpt.probabilities, turned.probabilities, rtol=1e-9, atol=0):
        raise MismatchError(
            f"the tables of {cpt.name!r} were given, not learned, and differ",
            hint="give both networks the same table, or learn both",
            differs="tables",
            column=cpt.name,
        )
