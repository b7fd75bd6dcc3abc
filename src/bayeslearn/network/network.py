"""A Bayesian network: variables, a directed acyclic graph, and a table for each variable given its parents.

P(y_1, …, y_n) = Π_i P(y_i | parents of y_i)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from bayeslearn.errors import (
    DuplicateColumnError,
    EmptyTableError,
    MissingValuesError,
    ParameterError,
    UnknownColumnError,
    listed,
    nearest,
)
from bayeslearn.network.cpt import Cpt, missed_one
from bayeslearn.network.graph import Dag
from bayeslearn.network.structures import StructureLike, as_dag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.families.lineage import Lineage
    from bayeslearn.network.inference.answers import Beliefs
    from bayeslearn.network.inference.exact import Exact
    from bayeslearn.network.inference.soft import Numbers
    from bayeslearn.network.learning.score import Score, Total
    from bayeslearn.sources.base import Scanned
    from bayeslearn.tables import Discrete, Schema
    from bayeslearn.tables.markers import Markers

    #: What may become of a state that a network does not have, where it is asked and does not learn.
    Asked = Literal["missing", "error"]


@dataclass(frozen=True, eq=False)
class BayesianNetwork:
    """A frozen value: inference reads it, learning returns a new one.

    >>> net = BayesianNetwork.of(
    ...     "[Storm][Camp|Storm]",
    ...     {"Storm": [0.2, 0.8], "Camp": [[0.3, 0.7], [0.6, 0.4]]},
    ...     states={"Storm": ["yes", "no"], "Camp": ["yes", "no"]},
    ... )
    >>> net.joint({"Storm": "yes", "Camp": "no"}).round(6)
    np.float64(0.14)
    """

    cpts: tuple[Cpt, ...]
    name: str = "network"
    #: What a reader should know, for instance that rows of a published table were rounded.
    notes: tuple[str, ...] = ()
    #: What the counts are made of, where the network was updated; see :mod:`bayeslearn.families.lineage`.
    lineage: Lineage | None = None

    def __post_init__(self) -> None:
        cpts = tuple(self.cpts)
        object.__setattr__(self, "cpts", cpts)
        odd = [cpt for cpt in cpts if not isinstance(cpt, Cpt)]
        if odd:
            raise ParameterError(f"a network is made of Cpt tables, got {odd[0]!r:.80}", hint="see BayesianNetwork.of")
        if not cpts:
            raise EmptyTableError("a network needs at least one variable, got none")
        names = [cpt.name for cpt in cpts]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DuplicateColumnError(f"variable {twice!r} has two tables", column=twice)
        for cpt in cpts:
            for parent in cpt.parents:
                if parent.name in self._by_name and not same_states(self[parent.name].variable, parent):
                    raise ParameterError(
                        f"{cpt.name!r} sees its parent {parent.name!r} with the states {listed(parent.states)}, "
                        f"but these are {listed(self[parent.name].variable.states)}",
                        hint="give a variable the same states, in the same order, wherever it stands",
                    )
        _ = self.dag  # unknown parents and cycles are named here

    @classmethod
    def of(
        cls,
        structure: StructureLike,
        tables: Mapping[str, ArrayLike],
        *,
        states: Mapping[str, Iterable[Any]] | Schema,
        name: str = "network",
    ) -> BayesianNetwork:
        """From a graph or arcs, tables of probabilities, and the states of each variable.

        A graph may have any of the forms of :mod:`~bayeslearn.network.structures`.

        The axes of a table are the parents in the order of the graph, then the variable itself. Rows within 1e-4 of one
        are divided by their sum, as published tables need it, and noted.
        """
        from bayeslearn.tables.convert import declared_states  # noqa: PLC0415 - networks from files need no conversion
        from bayeslearn.tables.schema import Schema  # noqa: PLC0415 - as above

        variables = {v.name: v for v in states.discrete} if isinstance(states, Schema) else declared_states(states)
        dag = as_dag(structure, variables)
        if not isinstance(tables, Mapping):
            raise ParameterError(f"`tables` must map names of variables to tables, got {tables!r:.80}")
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
        cpts = [Cpt(variables[node], tuple(variables[p] for p in dag.parents(node)), tables[node]) for node in dag]  # type: ignore[arg-type]
        return cls(tuple(cpts), name, rounding_notes(cpts, [tables[node] for node in dag]))

    def __repr__(self) -> str:
        return f"BayesianNetwork({self.name!r}: {len(self)} variables, {len(self.dag.arcs)} arcs)"

    # -- what is there

    @cached_property
    def _by_name(self) -> dict[str, Cpt]:
        return {cpt.name: cpt for cpt in self.cpts}

    def __getitem__(self, name: str) -> Cpt:
        if not isinstance(name, str) or name not in self._by_name:
            raise UnknownColumnError(
                f"there is no variable {name!r}", hint=nearest([name], self._by_name, "the variables")
            )
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __len__(self) -> int:
        return len(self.cpts)

    def __iter__(self) -> Iterator[Cpt]:
        return iter(self.cpts)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in order."""
        return tuple(self._by_name)

    @cached_property
    def dag(self) -> Dag:
        """The graph."""
        return Dag({cpt.name: tuple(v.name for v in cpt.parents) for cpt in self.cpts})

    @cached_property
    def schema(self) -> Schema:
        """The variables with their states: data for this network are coded by it."""
        from bayeslearn.tables.schema import Schema  # noqa: PLC0415 - loads when data are read

        return Schema(cpt.variable for cpt in self.cpts)

    def states(self, name: str) -> tuple[Any, ...]:
        """The states of a variable."""
        return self[name].variable.states

    @property
    def free_parameters(self) -> int:
        """Numbers that are not fixed by rows summing to one."""
        return sum(cpt.free_parameters for cpt in self.cpts)

    # -- probabilities of whole cases

    def joint(self, case: Mapping[str, Any]) -> np.float64:
        """P of one case that names the state of every variable."""
        return np.exp(self.log_joint([case])[0])

    def log_joint(self, data: Any) -> NDArray[np.float64]:
        """ln P of each row of a table, a frame or a list of cases, in which nothing is missing."""
        from bayeslearn.tables import as_table  # noqa: PLC0415 - loads when data are read

        table = as_table(data, schema=self.schema)
        holes = table.codes < 0
        if holes.any():
            column, row = (int(i) for i in np.argwhere(holes)[0])
            raise MissingValuesError(
                f"row {row} has no value for {self.names[column]!r}, and a joint probability needs them all",
                hint="ask for `log_likelihood`, that of the part that was seen",
                row=row,
                column=self.names[column],
            )
        codes = dict(zip(self.names, table.codes, strict=True))
        total = np.zeros(table.n_rows)
        with np.errstate(divide="ignore"):
            for cpt in self.cpts:
                cell = np.zeros(table.n_rows, np.intp)
                for v in (*cpt.parents, cpt.variable):
                    cell *= v.size
                    cell += codes[v.name]
                p = cpt.p.reshape(-1)
                total += np.log(p)[cell] if len(p) < len(cell) else np.log(p[cell])
        return total

    def log_likelihood(
        self,
        data: Any,
        *,
        missing: Markers = (),
        keep_default_na: bool = True,
        unseen: Literal["missing", "error"] = "missing",
    ) -> NDArray[np.float64]:
        """ln P of what each row shows, a missing cell or column being summed over; −∞ for a row that cannot be.

        The options are those of :meth:`score`.
        """
        return self.score(data, missing=missing, keep_default_na=keep_default_na, unseen=unseen).cases

    @overload
    def score(
        self, data: Scanned, *, missing: Markers = ..., keep_default_na: bool = ..., unseen: Asked = ...
    ) -> Total: ...

    @overload
    def score(
        self, data: Any, *, missing: Markers = ..., keep_default_na: bool = ..., unseen: Asked = ...
    ) -> Score: ...

    def score(
        self, data: Any, *, missing: Markers = (), keep_default_na: bool = True, unseen: Asked = "missing"
    ) -> Score | Total:
        """How probable a table, a frame or a list of cases is: ln P of each row, in all, and bits per case.

        Of a source (:func:`~bayeslearn.scan`) only ln P of all its rows and bits per case, for rows are not kept.

        Parameters
        ----------
        data
            Anything that :func:`~bayeslearn.as_table` reads, or a source.
        missing, keep_default_na
            Markers of missing cells, as in :func:`~bayeslearn.as_table`.
        unseen
            What to do with a state that the network does not have: treat the cell as ``"missing"`` (the default), which
            is counted in a warning, or raise an ``"error"``.
        """
        from bayeslearn.network.learning.score import score  # noqa: PLC0415 - learning knows networks, not the reverse
        from bayeslearn.sources import with_options  # noqa: PLC0415 - loads when data are read

        return score(self, with_options(data, missing=missing, keep_default_na=keep_default_na), unseen=unseen)

    # -- questions

    @cached_property
    def exact(self) -> Exact:
        """Exact inference, compiled when first asked for."""
        from bayeslearn.network.inference.exact import Exact  # noqa: PLC0415 - inference knows networks, not the reverse

        return Exact(self)

    def query(
        self,
        evidence: Mapping[str, Any] | None = None,
        ask: Iterable[str] | str | None = None,
        *,
        likelihoods: Mapping[str, Numbers] | None = None,
        targets: Mapping[str, Numbers] | None = None,
    ) -> Beliefs:
        """Posterior distributions given evidence.

        Parameters
        ----------
        evidence
            The state, number or range of each observed variable, by name; default: nothing is observed.
        ask
            The variables to answer for, or one of them; default: all that are not observed.
        likelihoods
            Virtual evidence, by variable: P(observation | state) for each state, as a list or by state.
        targets
            Soft evidence, by variable: the distribution that it is to have, as a list or by state.

        See Also
        --------
        Exact.query : the same, with all forms of evidence explained.
        """
        return self.exact.query(evidence, ask, likelihoods=likelihoods, targets=targets)

    def predict(
        self,
        data: Any,
        target: str,
        *,
        missing: Markers = (),
        keep_default_na: bool = True,
        unseen: Asked = "missing",
    ) -> NDArray[Any]:
        """The most probable state of a variable in each row of a table, a frame or a list of cases.

        A missing cell, or a missing column, is not observed; the column of the target itself is not looked at. The
        options are those of :meth:`score`.
        """
        from bayeslearn.network.prediction import predictions, state_names  # noqa: PLC0415 - loads when data are read
        from bayeslearn.sources import with_options  # noqa: PLC0415 - as above
        from bayeslearn.tables import as_table  # noqa: PLC0415 - as above

        states = state_names(self[target].variable)
        data = with_options(data, missing=missing, keep_default_na=keep_default_na)
        table = as_table(data, schema=self.schema, absent="missing", unseen=unseen)
        best = [p[target].argmax(axis=1) for _, p in predictions(self, table, [target])]
        return states[np.concatenate(best)] if best else states[:0]

    def impute(
        self,
        data: Any,
        *,
        how: Literal["most probable", "draw"] = "most probable",
        rng: np.random.Generator | int | None = None,
        as_intervals: bool = False,
        unseen: Asked = "missing",
        missing: Markers = (),
        keep_default_na: bool = True,
        columns: Iterable[str] | None = None,
        drop_columns: Iterable[str] = (),
    ) -> Any:
        """The same data with the missing cells of the network's variables filled.

        Observed cells, other columns, the index, types and order stay as they are. The missing states of a row are
        filled together, and a missing number by a number of its interval: see :mod:`.learning.imputed_values`.
        Columns that the data lack are not added; ``as_table(data, schema=net.schema, absent="missing")`` has them all.

        Parameters
        ----------
        data
            A pandas, polars or pyarrow frame, a NumPy array, a dict of columns, a list of rows or a Table; the same
            kind comes back. The path of a file gives a pyarrow table (of a CSV file, cells as text), a lazy frame a
            collected one, and a source a :class:`~bayeslearn.Table` of the network's variables.
        how
            ``"most probable"`` takes the states of all that a row misses that are most probable together, and the
            median of an interval; ``"draw"`` draws from their joint posterior, and from the values of an interval.
        rng
            Seed or generator for draws.
        as_intervals
            True gives every cell of a discretized column as the name of its interval, also the observed ones.
        unseen
            What to do with a state that the network does not know: leave it as it is and fill the row as if it were
            not observed (the default), or raise an error.
        missing, keep_default_na
            Markers of missing cells, as in :func:`~bayeslearn.as_table`.
        columns
            The columns to fill, all when not given; the others are evidence, and stay as they are.
        drop_columns
            Columns that are neither filled nor evidence; they stay as they are.

        Warns
        -----
        BayeslearnWarning
            A column of dates has missing cells: these stay missing, since parts of a date do not determine a day.
        """
        from bayeslearn.network.learning.impute import impute  # noqa: PLC0415 - learning knows networks, not the reverse

        return impute(
            self, data, how=how, rng=rng, as_intervals=as_intervals, unseen=unseen, missing=missing,
            keep_default_na=keep_default_na, columns=columns, drop_columns=drop_columns,
        )  # fmt: skip

    def do(self, actions: Mapping[str, Any]) -> BayesianNetwork:
        """The network after an intervention: variables set from outside, whatever their parents say."""
        from bayeslearn.network.inference.arguments import as_evidence  # noqa: PLC0415 - inference knows networks

        chosen = {name: self[name].variable.code_of(state) for name, state in as_evidence(self, actions).items()}
        cpts = [
            Cpt(cpt.variable, (), np.eye(cpt.variable.size)[chosen[cpt.name]]) if cpt.name in chosen else cpt
            for cpt in self.cpts
        ]
        return BayesianNetwork(tuple(cpts), self.name, self.notes)

    def add_states(self, states: Mapping[str, Iterable[Any]]) -> BayesianNetwork:
        """Return the network with more states for some variables; see :mod:`bayeslearn.network.states`."""
        from bayeslearn.network.states import add_states  # noqa: PLC0415 - it knows networks, not the reverse

        return add_states(self, states)

    # -- evidence adds, see :mod:`bayeslearn.network.learning.evidence`

    def update(
        self,
        data: Any,
        *,
        weights: ArrayLike | str | None = None,
        fade: float = 1.0,
        hidden: Iterable[str] = (),
        unseen: Literal["add", "missing", "error"] = "add",
        missing: Markers = (),
        keep_default_na: bool = True,
    ) -> BayesianNetwork:
        """The network after more cases, exactly as if all had been there at once; it must have been learned.

        A row with holes adds what the present tables expect of it.

        Parameters
        ----------
        data
            Rows with a column for every variable, but for those that are `hidden`.
        weights
            How often each row counts, or the name of the column that says so.
        fade
            What one case of before still counts for, from 0 to 1.
        hidden
            Variables that the data do not show.
        unseen
            What to do with a state that the network does not have: add it, see :meth:`add_states`, treat the cell as
            missing, or raise an error.
        missing, keep_default_na
            Markers of missing cells, as in :func:`~bayeslearn.as_table`.

        >>> from bayeslearn import fit_tables
        >>> monday = fit_tables("[Rain]", {"Rain": ["yes", "no", "no"]}, prior="laplace").network
        >>> tuesday = monday.update({"Rain": ["yes", "yes"]})
        >>> tuesday["Rain"].counts.n, tuesday["Rain"].p.round(3)             # no, yes
        (array([2., 3.]), array([0.429, 0.571]))
        """
        from bayeslearn.network.learning import evidence  # noqa: PLC0415 - learning knows networks, not the reverse
        from bayeslearn.sources import with_options  # noqa: PLC0415 - loads when data are read

        data = with_options(data, missing=missing, keep_default_na=keep_default_na)
        return evidence.updated(self, data, weights=weights, fade=fade, hidden=hidden, unseen=unseen)

    def forget(
        self, data: Any, *, weights: ArrayLike | str | None = None, hidden: Iterable[str] = ()
    ) -> BayesianNetwork:
        """The network without some of its cases; complete rows go as if they had never been there.

        A row with missing cells takes back what the present tables expect of it, though of no cell more than it has.
        What it shows and its weight go exactly.
        """
        from bayeslearn.network.learning import evidence  # noqa: PLC0415 - as above

        return evidence.forgotten(self, data, weights=weights, hidden=hidden)

    def faded(self, factor: float) -> BayesianNetwork:
        """The network with every case counting for `factor`, from 0 to 1; the prior stays."""
        from bayeslearn.network.learning import evidence  # noqa: PLC0415 - as above

        return evidence.faded(self, factor)

    def __add__(self, other: BayesianNetwork) -> BayesianNetwork:
        """The evidence of two networks of one structure and prior; the prior counts once.

        The sum has the states of both, those of the first network first. Rows that both have, and that one of them was
        updated from, count once; see :mod:`bayeslearn.families.lineage`.
        """
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        from bayeslearn.network.learning import evidence  # noqa: PLC0415 - as above

        return evidence.added(self, other)

    def __radd__(self, other: int) -> BayesianNetwork:
        # sum() starts from the number 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: BayesianNetwork) -> BayesianNetwork:
        """The evidence of this network without that of the other; (a + b) - b is a."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        from bayeslearn.network.learning import evidence  # noqa: PLC0415 - as above

        return evidence.subtracted(self, other)

    # -- pictures

    def draw(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        bars: bool | None = None,
        rows: int = 6,
        compact: bool | None = None,
    ) -> str:
        """The network as SVG text, with beliefs given evidence as bars; see :mod:`bayeslearn.network.drawing`."""
        from bayeslearn.network.drawing import draw  # noqa: PLC0415 - drawing knows networks, not the reverse

        return draw(self, evidence, bars=bars, rows=rows, compact=compact)

    def _repr_svg_(self) -> str:
        """How notebooks show a network."""
        return self.draw()

    # -- as a value

    def isclose(self, other: BayesianNetwork, *, rtol: float = 1e-10, atol: float = 1e-12) -> bool:
        """The same variables, states in their order, arcs and probabilities, however variables and parents are ordered.

        Names of networks, notes and what the tables rest on do not count.
        """
        if self.dag != other.dag or not all(same_states(cpt.variable, other[cpt.name].variable) for cpt in self.cpts):
            return False
        return all(
            np.allclose(cpt.p, other[cpt.name].over(self.dag.parents(cpt.name)), rtol=rtol, atol=atol)
            for cpt in self.cpts
        )

    def __eq__(self, other: object) -> bool:
        return self.isclose(other, rtol=0, atol=0) if isinstance(other, BayesianNetwork) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: the network, not the engine that was compiled for it."""
        return type(self), (self.cpts, self.name, self.notes, self.lineage)


def rounding_notes(cpts: Sequence[Cpt], tables: Sequence[ArrayLike]) -> tuple[str, ...]:
    """A note that names the tables whose rows, as they were given, did not sum to one."""
    sums = [np.add.reduce(np.asarray(p, dtype=float), axis=-1).reshape(-1) for p in tables]
    if not missed_one(np.concatenate(sums)):
        return ()  # seen at one glance
    rounded = [cpt.name for cpt, rows in zip(cpts, sums, strict=True) if missed_one(rows)]
    return (f"rows that did not sum to 1 exactly were divided by their sum: {listed(rounded)}",) if rounded else ()


def same_states(a: Discrete, b: Discrete) -> bool:
    """Whether two variables have the same states in the same order; 1 and True are not the same name."""
    return a is b or [(type(s), s) for s in a.states] == [(type(s), s) for s in b.states]
