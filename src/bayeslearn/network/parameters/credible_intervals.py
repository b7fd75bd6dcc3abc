"""How sure learned tables are, and the answers that follow from them.

    θ_j ~ Dirichlet(n_j + α_j)        for every row j of every table, each alone

A posterior P(t | e) is a function of all CPTs. Drawn from their posterior, sets of CPTs give it a distribution: narrow
where there are many rows, wide where there are few. A CPT that was given, not learned, is taken as certain.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.capacity import require_numbers
from bayeslearn.distributions import Dirichlet
from bayeslearn.errors import EvidenceError, ImpossibleEvidenceError, ParameterError, listed, option
from bayeslearn.network.parameters.incremental import evidence_of
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.cpt import CPT
    from bayeslearn.network.inference.compiled_network import Compiled
    from bayeslearn.network.inference.evidence_session import Numbers

#: Sets of tables that an answer is asked of, unless another number is given.
DRAWS = 200

### rows of tables


@dataclass(frozen=True)
class RowSupport:
    """What one row of a table is based on.

    >>> print(RowSupport("Wet", {"Rain": "yes"}, 3.2, 1.0))
    P(Wet | Rain=yes): 3.2 observed and 1 prior rows
    """

    variable: str
    given: dict[str, Any]
    #: Observed rows, expected ones where values were missing.
    n_observed: float
    #: The rows that the prior counts for: its equivalent sample size in this row of the CPT.
    prior: float

    @property
    def name(self) -> str:
        """The row as text: P(B | A=x)."""
        return row_name(self.variable, self.given)

    def __str__(self) -> str:
        return f"{printable(self.name)}: {self.n_observed:.4g} observed and {self.prior:.4g} prior rows"


def supports(network: BayesianNetwork) -> Iterator[RowSupport]:
    """What every row of every learned table is based on."""
    return (row for cpt in network if cpt.is_learned for row in rows_of(cpt))


def thin_rows(network: BayesianNetwork, n: int = 10) -> tuple[RowSupport, ...]:
    """Return the n rows of CPTs with the fewest observed rows, the fewest first."""
    found = []
    for cpt in network:
        if cpt.is_learned:
            observed, prior = cpt.observed_counts.n.sum(axis=-1), cpt.alpha.sum(axis=-1)
            for k in np.argsort(observed, axis=None, kind="stable")[:n].tolist():
                i = tuple(int(j) for j in np.unravel_index(k, observed.shape))
                found.append(RowSupport(cpt.name, states_at(cpt, i), float(observed[i]), float(prior[i])))
    return tuple(sorted(found, key=lambda row: row.n_observed)[:n])


def rows_of(cpt: CPT) -> Iterator[RowSupport]:
    """What every row of one table is based on."""
    cases, prior = cpt.observed_counts.n.sum(axis=-1), cpt.alpha.sum(axis=-1)
    for i in np.ndindex(cpt.shape[:-1]):
        yield RowSupport(cpt.name, states_at(cpt, i), float(cases[i]), float(prior[i]))


def support(cpt: CPT, given: Mapping[str, Any]) -> RowSupport:
    """What the row of these states of the parents is based on."""
    cpt.require_learned()
    names = [v.name for v in cpt.parents]
    if set(given) != set(names):
        raise ParameterError(
            f"a row of {cpt.name!r} is named by the states of {listed(names) or 'no parents'}, "
            f"got {listed(given) or 'none'}"
        )
    i = tuple(v.code_of(given[v.name]) for v in cpt.parents)
    return RowSupport(cpt.name, states_at(cpt, i), float(cpt.observed_counts.n[i].sum()), float(cpt.alpha[i].sum()))


def states_at(cpt: CPT, i: tuple[int, ...]) -> dict[str, Any]:
    """The states of the parents that a row stands for."""
    return {v.name: v.states[k] for v, k in zip(cpt.parents, i, strict=True)}


def row_name(variable: str, given: Mapping[str, Any]) -> str:
    """A row of a CPT as text: P(B | A=x)."""
    parents = ", ".join(f"{name}={state}" for name, state in given.items())
    return f"P({variable} | {parents})" if parents else f"P({variable})"


### answers


@dataclass(frozen=True)
class Interval:
    """The mean and the credible bounds of a probability."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class PosteriorIntervals:
    """Credible intervals of posterior probabilities, by variable and state."""

    evidence: dict[str, Any]
    level: float
    #: The number of drawn networks under which the evidence is possible.
    n_samples: int
    intervals: dict[str, dict[Any, Interval]]

    def __getitem__(self, name: str) -> dict[Any, Interval]:
        if name not in self.intervals:
            raise ParameterError(
                f"no interval for {name!r}: it is not among the queried variables",
                hint=f"query_interval(network, evidence, variables=[{name!r}]); available: {listed(self.intervals)}",
            )
        return self.intervals[name]

    def to_dict(self) -> dict[str, Any]:
        """Return evidence, level, n_samples and intervals as plain values."""
        return asdict(self)


def query_interval(
    network: BayesianNetwork,
    evidence: Mapping[str, Any] | None = None,
    variables: Iterable[str] | None = None,
    *,
    virtual_evidence: Mapping[str, Numbers] | None = None,
    level: float = 0.95,
    n_samples: int = DRAWS,
    random_state: np.random.Generator | int | None = None,
) -> PosteriorIntervals:
    """Credible intervals of the posteriors of a query: mean and equal-tailed bounds over drawn networks.

    Parameters
    ----------
    evidence, variables, virtual_evidence
        As in a query; see :meth:`ExactInference.query`.
    level
        The credible level: the share of the draws between the bounds.
    n_samples
        The number of networks drawn from the posterior of the parameters; the bounds of few are rough.
    random_state
        Seed or generator.

    >>> from bayeslearn import fit_parameters
    >>> tack = fit_parameters("[Side]", {"Side": ["head"] * 80 + ["point"] * 20}, prior="laplace")
    >>> found = query_interval(tack, n_samples=2000, random_state=0)["Side"]["head"]                    # Beta(81, 21)
    >>> print(f"{found.mean:.2f}, {found.low:.2f} to {found.high:.2f}")
    0.79, 0.71 to 0.87
    """
    tail = (1 - validation.number("level", level, above=0, below=1)) / 2
    n = validation.integer("n_samples", n_samples, min_value=1)
    require_numbers(f"{n:,} draws of {len(network):,} variables", (n, sum(cpt.variable.n_states for cpt in network)))
    evidence_of(network)
    engine = network.inference
    known = engine.query(
        evidence, variables=variables, virtual_evidence=virtual_evidence
    )  # explains evidence that cannot be
    codes, likelihood, weighed = engine.read(evidence, virtual_evidence)
    asked = [engine.compiled.position(name) for name in known.beliefs]
    kept = engine.compiled.relevant(asked, (codes >= 0) | weighed)
    tables = drawn_tables(network, engine.compiled, kept, n, validation.generator(random_state))
    found = [p for log_p, p in engine.under(tables, asked, codes, likelihood, weighed) if log_p > -np.inf]
    if not found:
        raise ImpossibleEvidenceError(f"the evidence is impossible under each of {n} sets of tables", conflict=[])
    mean, (low, high) = np.mean(found, axis=0), np.quantile(found, [tail, 1 - tail], axis=0)
    start = engine.compiled.belief_start
    intervals = {
        name: {
            state: Interval(float(mean[k]), float(low[k]), float(high[k]))
            for k, state in enumerate(belief, int(start[v]))
        }
        for v, (name, belief) in zip(asked, known.beliefs.items(), strict=True)
    }
    return PosteriorIntervals(known.evidence, level, len(found), intervals)


def drawn_tables(
    network: BayesianNetwork, compiled: Compiled, kept: NDArray[np.bool_], n: int, random_state: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """Whole sets of tables in a row, those that matter drawn from their posterior, the others unchanged."""
    alpha = np.concatenate([(cpt.observed_counts.n + cpt.alpha).reshape(-1) for cpt in network])
    free = [
        cpt.is_learned and matters and cpt.variable.n_states > 1 for cpt, matters in zip(network, kept, strict=True)
    ]
    require_grounds(cpt for cpt, may_vary in zip(network, free, strict=True) if may_vary)
    sizes = np.diff(np.append(compiled.row_start, len(alpha)))
    rows = np.repeat(free, np.diff(compiled.cpt_start))[compiled.row_start]
    cells = [compiled.row_start[rows & (sizes == k)][:, None] + np.arange(k) for k in np.unique(sizes[rows])]
    posteriors = [Dirichlet(alpha[place]) for place in cells]  # rows of as many states are drawn together
    for _ in range(n):
        p = compiled.cpt.copy()
        for place, posterior in zip(cells, posteriors, strict=True):
            p[place] = posterior.draw(random_state)
        yield p


def require_grounds(cpts: Iterable[CPT]) -> None:
    """Refuse rows of CPTs without data and prior."""
    for cpt in cpts:
        empty = (cpt.observed_counts.n + cpt.alpha).sum(axis=-1) == 0
        if empty.any():
            given = states_at(cpt, tuple(int(i) for i in np.unravel_index(int(empty.argmax()), empty.shape)))
            raise EvidenceError(
                f"the CPT row {row_name(cpt.name, given)} has neither data nor prior: it may be anything",
                hint=f"fit with a prior, for instance {option('prior', 'laplace')}",
                column=cpt.name,
                given=given,
            )
