"""Conditional probability tables, and a joint distribution as the product of them.

    p[i_1, …, i_m, k] = P(child = state k | parent 1 = state i_1, …, parent m = state i_m)

Axes are the parents in their order, then the child; every row along the last axis sums to one. A table that was learned
keeps what it is based on: the counts and the prior, of the same shape.

    P(y_1, …, y_n) = Π_i P(y_i | parents of y_i)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import (
    DuplicateColumnError,
    EmptyTableError,
    EvidenceError,
    ParameterError,
    ProbabilityError,
    ShapeError,
    UnknownColumnError,
    listed,
    nearest,
)
from bayeslearn.network.dag import DAG, StructureLike, as_dag
from bayeslearn.printable import printable
from bayeslearn.reports import Reported
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions import Categorical, Counts, Dirichlet
    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.network import reporting
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.network.parameters.credible_intervals import RowSupport
    from bayeslearn.reports import Report
    from bayeslearn.tables import Schema
else:  # it loads when something is shown
    reporting = lazy_imports.Deferred("bayeslearn.network.reporting")

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Published tables are rounded: a row this near to one is divided by its sum, and that is noted.
ROW_TOLERANCE = 1e-4

#: The rounding of one.
EPSILON = float(np.finfo(np.float64).eps)

#: Rows nearer to one than this are as good as exact.
EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class CPT(Reported):
    """P(child | parents); see the module for the order of the axes.

    >>> from bayeslearn.tables import DiscreteVariable
    >>> storm, bus = DiscreteVariable("Storm", ("yes", "no")), DiscreteVariable("Bus", ("yes", "no"))
    >>> CPT(DiscreteVariable("Camp", ("yes", "no")), (storm, bus), [[[0.4, 0.6], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]]])
    CPT(Camp | Storm, Bus)
    """

    variable: DiscreteVariable
    parents: tuple[DiscreteVariable, ...]
    probabilities: NDArray[np.float64]
    counts: Counts | None = None
    prior: Dirichlet | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(self.parents))
        self._check_variables()
        p = validation.float_array(f"table of {self.name}", self.probabilities)
        self._check_shape("the table", p.shape)
        if self.counts is not None:
            self._check_shape("the counts", self.counts.n.shape)
        if self.prior is not None:
            self._check_shape("the prior", self.prior.alpha.shape)
        p = self._normalized(p)
        p.flags.writeable = False
        object.__setattr__(self, "probabilities", p)

    def __repr__(self) -> str:
        given = f" | {', '.join(v.name for v in self.parents)}" if self.parents else ""
        return printable(f"CPT({self.name}{given})")

    @property
    def name(self) -> str:
        """The name of the child."""
        return self.variable.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the parents, then of the child."""
        return (*(v.n_states for v in self.parents), self.variable.n_states)

    @property
    def n_parameters(self) -> int:
        """Numbers that are not fixed by the rows summing to one."""
        return int(np.prod(self.shape[:-1], dtype=np.int64)) * (self.variable.n_states - 1)

    @property
    def distribution(self) -> Categorical:
        """The distribution of the child, of which every row of `probabilities` has the parameters."""
        from bayeslearn.distributions import Categorical  # noqa: PLC0415 - tables that are only asked load no families

        return Categorical(self.variable.n_states)

    # -- what it shows

    def report(self) -> Report:
        """Return the first rows."""
        return reporting.cpt_report(self)

    def plot(self, *, ax: Any = None) -> Any:
        """Plot a stacked bar for each row; see :func:`bayeslearn.plots.plot_cpt`."""
        return plots.plot_cpt(self, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return variable, states, parents and probabilities as plain values."""
        return reporting.cpt_dict(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame: a column for each parent, and ``P(VAR=state)`` for each state.

        >>> rain, wet = (DiscreteVariable(name, ("yes", "no")) for name in ("Rain", "Wet"))
        >>> CPT(wet, (rain,), [[0.9, 0.1], [0.2, 0.8]]).to_frame()
          Rain  P(Wet=yes)  P(Wet=no)
        0  yes         0.9        0.1
        1   no         0.2        0.8
        """
        return reporting.cpt_frame(self, backend)

    # -- what it is based on

    @property
    def is_learned(self) -> bool:
        """Whether it is known what the table is based on; one that was merely given is unchanged."""
        return self.counts is not None or self.prior is not None

    @property
    def observed_counts(self) -> Counts:
        """The real cases of every cell, none when there are no counts."""
        from bayeslearn.distributions import Counts  # noqa: PLC0415 - as above

        return Counts.zero(self.shape) if self.counts is None else self.counts

    @property
    def alpha(self) -> NDArray[np.float64]:
        """α of every cell: the cases that the prior counts for, none without a prior."""
        return np.zeros(self.shape) if self.prior is None else self.prior.alpha

    @property
    def posterior(self) -> Dirichlet:
        """Dirichlet(n + α): what is known of every row after the cases."""
        from bayeslearn.distributions import Dirichlet  # noqa: PLC0415 - as above

        self.require_learned()
        return Dirichlet(self.observed_counts.n + self.alpha)

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equal-tailed bounds of every cell; in a row without counts, 0 and 1.

        >>> from bayeslearn.distributions import Counts, Dirichlet
        >>> side = DiscreteVariable("Side", ("head", "point"))
        >>> tack = CPT(side, (), [0.8, 0.2], Counts([80, 20]), Dirichlet([1, 1]))
        >>> low, high = tack.interval()
        >>> print(f"{low[0]:.3f} to {high[0]:.3f}")
        0.711 to 0.866
        """
        from bayeslearn.distributions import Dirichlet  # noqa: PLC0415 - as above

        alpha = self.posterior.alpha
        nothing = alpha.sum(axis=-1, keepdims=True) == 0
        low, high = Dirichlet(np.where(nothing, 1.0, alpha)).interval(level)
        anything = nothing & (self.variable.n_states > 1)
        return np.where(anything, 0.0, low), np.where(anything, 1.0, high)

    def support(self, given: Mapping[str, Any] | None = None) -> RowSupport:
        """What a row is based on, named by the states of the parents.

        >>> from bayeslearn.distributions import Counts, Dirichlet
        >>> side = DiscreteVariable("Side", ("head", "point"))
        >>> print(CPT(side, (), [0.8, 0.2], Counts([80, 20]), Dirichlet([1, 1])).support())
        P(Side): 100 observed and 2 prior rows
        """
        from bayeslearn.network.parameters.credible_intervals import support  # noqa: PLC0415 - parameters know CPTs

        return support(self, given or {})

    def require_learned(self) -> None:
        """Refuse what only a table with counts or a prior can answer."""
        if not self.is_learned:
            raise EvidenceError(
                f"the table of {self.name!r} was given, not learned: on how many cases it rests is not known",
                hint="learn it with fit_parameters, or give it counts or a prior",
                column=self.name,
            )

    # -- in another order

    def reorder_parents(self, parents: Iterable[str]) -> NDArray[np.float64]:
        """Return the probabilities with the parents in another order."""
        names, wanted = [v.name for v in self.parents], list(parents)
        if sorted(names) != sorted(wanted):
            raise ParameterError(f"the parents of {self.name!r} are {listed(names) or 'none'}, got {listed(wanted)}")
        return np.transpose(self.probabilities, (*(names.index(name) for name in wanted), len(names)))

    # -- checks

    def _check_variables(self) -> None:
        for v in (self.variable, *self.parents):
            if not isinstance(v, DiscreteVariable):
                raise ParameterError(f"a table is over Discrete variables, got {v!r}")
        names = [v.name for v in (self.variable, *self.parents)]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ParameterError(f"the table of {self.name!r} names {twice[0]!r} twice among itself and its parents")

    def _check_shape(self, what: str, shape: tuple[int, ...]) -> None:
        if shape != self.shape:
            sizes = " x ".join(f"{v.n_states} ({v.name})" for v in (*self.parents, self.variable))
            raise ShapeError(f"{what} of {self.name!r} must have shape {self.shape}, that is {sizes}, got {shape}")

    def _normalized(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows divided by their sums, unless these miss one by float rounding alone: so a table survives a copy."""
        rounding = self.variable.n_states * EPSILON
        if p.min() >= 0 and p.max() <= 2 and np.abs(np.add.reduce(p, axis=-1) - 1).max() <= rounding:
            return p.copy()
        with np.errstate(invalid="ignore", over="ignore"):
            sums = np.asarray(p.sum(axis=-1))
        bad = ~(np.abs(sums - 1) <= ROW_TOLERANCE) | ~(p >= 0).all(axis=-1)
        if bad.any():
            raise self._bad_row(p, tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape)))
        sums[np.abs(sums - 1) <= rounding] = 1
        return p / sums[..., None]

    def _bad_row(self, p: NDArray[np.float64], where: tuple[int, ...]) -> ProbabilityError:
        row = {v.name: v.states[i] for v, i in zip(self.parents, where, strict=True)}
        place = f" for {', '.join(f'{name}={state}' for name, state in row.items())}" if row else ""
        return ProbabilityError(
            f"the row of {self.name!r}{place} must be probabilities that sum to 1, got {listed(p[where].tolist())}",
            hint="divide each row by its sum if these are relative weights",
            row=row,
        )


def missed_one(sums: NDArray[np.float64]) -> bool:
    """Whether sums of rows, as they were given, miss one by more than rounding of floats explains."""
    return bool(np.abs(sums - 1).max() > EXACT)


def rounding_notes(cpts: Sequence[CPT], tables: Sequence[ArrayLike]) -> tuple[str, ...]:
    """A note that names the tables whose rows, as they were given, did not sum to one."""
    sums = [np.add.reduce(np.asarray(p, dtype=float), axis=-1).reshape(-1) for p in tables]
    if not missed_one(np.concatenate(sums)):
        return ()  # seen at one glance
    rounded = [cpt.name for cpt, rows in zip(cpts, sums, strict=True) if missed_one(rows)]
    return (f"rows that did not sum to 1 exactly were divided by their sum: {listed(rounded)}",) if rounded else ()


def same_states(a: DiscreteVariable, b: DiscreteVariable) -> bool:
    """Whether two variables have the same states in the same order; 1 and True are not the same name."""
    return a is b or [(type(s), s) for s in a.states] == [(type(s), s) for s in b.states]


@dataclass(frozen=True, eq=False)
class Factorization:
    """The variables of a network with their CPTs: what is there, before anything is asked or learned."""

    cpts: tuple[CPT, ...]
    name: str = "network"
    #: What a reader should know, for instance that rows of a published table were rounded.
    notes: tuple[str, ...] = ()
    #: What the counts are made of, where the network was updated; see :mod:`bayeslearn.distributions.lineage`.
    lineage: Lineage | None = None

    def __post_init__(self) -> None:
        cpts = tuple(self.cpts)
        object.__setattr__(self, "cpts", cpts)
        if not cpts:
            raise EmptyTableError("a network needs at least one variable, got none")
        self._check_nodes()
        names = [cpt.name for cpt in cpts]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DuplicateColumnError(f"variable {twice!r} has two tables", column=twice)
        _ = self.dag  # unknown parents and cycles are named here

    def _check_nodes(self) -> None:
        """Nodes are CPTs, and all see a variable with the states it has."""
        odd = [cpt for cpt in self.cpts if not isinstance(cpt, CPT)]
        if odd:
            raise ParameterError(
                f"a network is made of CPT tables, got {odd[0]!r:.80}", hint="see BayesianNetwork.from_tables"
            )
        for cpt in self.cpts:
            for parent in cpt.parents:
                if parent.name in self._by_name and not same_states(self[parent.name].variable, parent):
                    raise ParameterError(
                        f"{cpt.name!r} sees its parent {parent.name!r} with the states {listed(parent.states)}, "
                        f"but these are {listed(self[parent.name].variable.states)}",
                        hint="give a variable the same states, in the same order, wherever it stands",
                    )

    @classmethod
    def from_tables(
        cls,
        structure: StructureLike,
        tables: Mapping[str, Any],
        *,
        states: Mapping[str, Iterable[Any]] | Schema | None = None,
        name: str = "network",
    ) -> Self:
        """From a graph or arcs, tables of probabilities, and the states of each variable.

        A graph may have any of the forms of :mod:`~bayeslearn.network.dag`.

        The axes of a table are the parents in the order of the graph, then the variable itself. Rows within 1e-4 of one
        are divided by their sum, as published tables need it, and noted. A numeric variable has a
        :class:`~bayeslearn.network.Linear` in place of a table, and no states.
        """
        from bayeslearn.tables.conversion import declared_states  # noqa: PLC0415 - networks from files need no conversion

        known = {v.name: v for v in getattr(states, "discrete", ())}  # of a schema
        variables = known or declared_states(states or {})  # type: ignore[arg-type]
        if not isinstance(tables, Mapping):
            raise ParameterError(f"`tables` must map names of variables to tables, got {tables!r:.80}")
        numeric = [node for node, table in tables.items() if hasattr(table, "intercept")]
        dag = as_dag(structure, [*variables, *(node for node in numeric if node not in variables)])
        if numeric:
            from bayeslearn.network.hybrid.network import from_tables  # noqa: PLC0415 - most networks have no numbers

            return from_tables(dag, tables, variables, name)  # type: ignore[return-value]
        for what, named in (("states", variables), ("table", tables)):
            left = [node for node in dag if node not in named]
            if left:
                raise ParameterError(
                    f"no {what} given for {listed(left)}", hint="every node of the graph needs states and a table"
                )
        odd = [node for node in tables if node not in dag]
        if odd:
            raise UnknownColumnError(
                f"a table is given for {listed(odd)}, not in the graph", hint=f"nodes are {listed(dag)}"
            )
        cpts = [CPT(variables[node], tuple(variables[p] for p in dag.parents(node)), tables[node]) for node in dag]
        return cls(tuple(cpts), name, rounding_notes(cpts, [tables[node] for node in dag]))

    def __repr__(self) -> str:
        return f"BayesianNetwork({self.name!r}: {len(self)} variables, {len(self.dag.arcs)} arcs)"

    # -- what is there

    @cached_property
    def _by_name(self) -> dict[str, CPT]:
        return {cpt.name: cpt for cpt in self.cpts}

    def __getitem__(self, name: str) -> CPT:
        if not isinstance(name, str) or name not in self._by_name:
            raise UnknownColumnError(
                f"there is no variable {name!r}", hint=nearest([name], self._by_name, "the variables")
            )
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __len__(self) -> int:
        return len(self.cpts)

    def __iter__(self) -> Iterator[CPT]:
        return iter(self.cpts)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in order; :attr:`schema` has them with their states."""
        return tuple(self._by_name)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the graph: the names of the variables."""
        return tuple(self._by_name)

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs of the graph, each (parent, child)."""
        return self.dag.arcs

    @cached_property
    def dag(self) -> DAG:
        """The graph."""
        return DAG({cpt.name: tuple(v.name for v in cpt.parents) for cpt in self.cpts})

    @cached_property
    def schema(self) -> Schema:
        """The variables with their states: data for this network are coded by it."""
        from bayeslearn.tables.schema import Schema  # noqa: PLC0415 - loads when data are read

        return Schema(cpt.variable for cpt in self.cpts)

    def states(self, name: str) -> tuple[Any, ...]:
        """The states of a variable."""
        return self[name].variable.states

    @property
    def n_parameters(self) -> int:
        """Numbers that are not fixed by rows summing to one."""
        return sum(cpt.n_parameters for cpt in self.cpts)

    # -- as a value

    def isclose(self, other: Factorization, *, rtol: float = 1e-10, atol: float = 1e-12) -> bool:
        """The same variables, states in their order, arcs and probabilities, however variables and parents are ordered.

        Names of networks, notes and what the tables are based on do not count.
        """
        if self.dag != other.dag or not all(same_states(cpt.variable, other[cpt.name].variable) for cpt in self.cpts):
            return False
        return all(
            np.allclose(
                cpt.probabilities, other[cpt.name].reorder_parents(self.dag.parents(cpt.name)), rtol=rtol, atol=atol
            )
            for cpt in self.cpts
        )

    def __eq__(self, other: object) -> bool:
        return self.isclose(other, rtol=0, atol=0) if isinstance(other, Factorization) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: the network, not the engine that was compiled for it."""
        return type(self), (self.cpts, self.name, self.notes, self.lineage)

    def __copy__(self) -> Self:
        """The same network, with the engine that was compiled for it."""
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        return found
