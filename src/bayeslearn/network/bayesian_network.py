"""A Bayesian network: variables, a directed acyclic graph, and a table for each variable given its parents.

P(y_1, …, y_n) = Π_i P(y_i | parents of y_i)
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.codec import Saved
from bayeslearn.errors import MissingValuesError
from bayeslearn.network.cpt import Cpt, Factorization

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn import model_values, sources, tables
    from bayeslearn.network.inference import results
    from bayeslearn.network.inference.evidence_session import Numbers
    from bayeslearn.network.inference.junction_tree import Exact
    from bayeslearn.network.inference.results import Beliefs
    from bayeslearn.network.parameters import em_steps, imputation, incremental
    from bayeslearn.network.parameters.em_steps import Score, Total
    from bayeslearn.sources.base import Scanned
    from bayeslearn.tables.markers import Markers

    #: What may become of a state that a network does not have, where it is asked and does not learn.
    Asked = Literal["missing", "error"]
else:  # they load when data are read
    sources, tables = lazy_imports.Deferred("bayeslearn.sources"), lazy_imports.Deferred("bayeslearn.tables")
    results = lazy_imports.Deferred("bayeslearn.network.inference.results")
    imputation = lazy_imports.Deferred("bayeslearn.network.parameters.imputation")
    incremental = lazy_imports.Deferred("bayeslearn.network.parameters.incremental")
    em_steps = lazy_imports.Deferred("bayeslearn.network.parameters.em_steps")


class BayesianNetwork(Factorization, Saved, kind="network"):
    """A frozen value: inference reads it, learning returns a new one.

    >>> net = BayesianNetwork.of(
    ...     "[Storm][Camp|Storm]",
    ...     {"Storm": [0.2, 0.8], "Camp": [[0.3, 0.7], [0.6, 0.4]]},
    ...     states={"Storm": ["yes", "no"], "Camp": ["yes", "no"]},
    ... )
    >>> net.joint({"Storm": "yes", "Camp": "no"}).round(6)
    np.float64(0.14)
    """

    # -- questions

    @cached_property
    def exact(self) -> Exact:
        """Exact inference, compiled when first asked for."""
        from bayeslearn.network.inference.junction_tree import Exact  # noqa: PLC0415 - inference knows networks, not the reverse

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

    def do(self, actions: Mapping[str, Any]) -> BayesianNetwork:
        """The network after an intervention: variables set from outside, whatever their parents say."""
        from bayeslearn.network.inference.evidence import as_evidence  # noqa: PLC0415 - inference knows networks

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

    # -- pictures

    def draw(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        bars: bool | None = None,
        rows: int = 6,
        compact: bool | None = None,
    ) -> str:
        """The network as SVG text, with beliefs given evidence as bars; see :mod:`bayeslearn.network.visualization`."""
        from bayeslearn.network.visualization import draw  # noqa: PLC0415 - visualization knows networks, not the reverse

        return draw(self, evidence, bars=bars, rows=rows, compact=compact)

    def _repr_svg_(self) -> str:
        """How notebooks show a network."""
        return self.draw()

    # -- files

    def save(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:  # noqa: A002
        """Write the network to a file, atomically.

        Parameters
        ----------
        path
            Its ending names the format: .json keeps counts, priors and bins; .bif, .xmlbif, .net, .xdsl and .uai keep
            what other programs read. With .gz behind it, the file is packed.
        format
            The format, for a name that does not tell it.
        """
        from bayeslearn.network.formats.read_write import write_network  # noqa: PLC0415 - loads when files are written

        write_network(self, path, format=format)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, format: str | None = None) -> BayesianNetwork:  # noqa: A002
        """Read a network from a file in any format, or one that ships with the package, by its name."""
        from bayeslearn.network.formats.read_write import read_network  # noqa: PLC0415 - loads when files are read

        return read_network(path, format=format)

    def to_document(self) -> dict[str, Any]:
        """Return the network as plain values; see :mod:`bayeslearn.network.formats.bayeslearn_json`."""
        import json  # noqa: PLC0415 - loads when files are written

        from bayeslearn.network.formats.bayeslearn_json import write_json  # noqa: PLC0415 - as above

        return {key: part for key, part in json.loads(write_json(self)).items() if key not in {"format", "version"}}

    @classmethod
    def from_document(cls, reader: model_values.Reader, document: dict[str, Any]) -> BayesianNetwork:
        """Return the network of a document; errors say the line."""
        from bayeslearn.network.formats import bayeslearn_json  # noqa: PLC0415 - loads when files are read

        head = {"format": bayeslearn_json.LABEL, "version": bayeslearn_json.VERSION}
        return bayeslearn_json.Reader(reader.source, head | document).network()

    # -- probabilities of whole cases

    def joint(self, case: Mapping[str, Any]) -> np.float64:
        """P of one case that names the state of every variable."""
        return np.exp(self.log_joint([case])[0])

    def log_joint(self, data: Any) -> NDArray[np.float64]:
        """ln P of each row of a table, a frame or a list of cases, in which nothing is missing."""
        table = tables.as_table(data, schema=self.schema)
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
        data = sources.with_options(data, missing=missing, keep_default_na=keep_default_na)
        return em_steps.log_of_cases(self, data, unseen=unseen)

    @overload
    def score(
        self,
        data: Scanned,
        *,
        missing: Markers = ...,
        keep_default_na: bool = ...,
        unseen: Asked = ...,
    ) -> Total: ...

    @overload
    def score(
        self, data: Any, *, missing: Markers = ..., keep_default_na: bool = ..., unseen: Asked = ...
    ) -> Score: ...

    def score(
        self,
        data: Any,
        *,
        missing: Markers = (),
        keep_default_na: bool = True,
        unseen: Asked = "missing",
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
        return em_steps.score(
            self, sources.with_options(data, missing=missing, keep_default_na=keep_default_na), unseen=unseen
        )

    def predict(
        self,
        data: Any,
        target: str,
        *,
        missing: Markers = (),
        keep_default_na: bool = True,
        unseen: Asked = "missing",
    ) -> NDArray[Any]:
        """The most probable state of a variable in each row of a table, a frame, a list of cases or a source.

        A source is read batch by batch. A missing cell, or a missing column, is not observed; the column of the target
        itself is not looked at. The options are those of :meth:`score`.
        """
        states = results.state_names(self[target].variable)
        data = sources.with_options(data, missing=missing, keep_default_na=keep_default_na)
        source = sources.as_source(data, schema=self.schema, absent="missing", unseen=unseen)
        best = [p[target].argmax(axis=1) for _, p in results.predictions(self, source, [target])]
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
        filled together, and a missing number by a number of its interval: see :mod:`.parameters.imputed_data`.
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
        return imputation.impute(
            self, data, how=how, rng=rng, as_intervals=as_intervals, unseen=unseen, missing=missing,
            keep_default_na=keep_default_na, columns=columns, drop_columns=drop_columns,
        )  # fmt: skip

    # -- evidence adds, see :mod:`bayeslearn.network.parameters.incremental`

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
        data = sources.with_options(data, missing=missing, keep_default_na=keep_default_na)
        return incremental.updated(self, data, weights=weights, fade=fade, hidden=hidden, unseen=unseen)

    def forget(
        self, data: Any, *, weights: ArrayLike | str | None = None, hidden: Iterable[str] = ()
    ) -> BayesianNetwork:
        """The network without some of its cases; complete rows go as if they had never been there.

        A row with missing cells takes back what the present tables expect of it, though of no cell more than it has.
        What it shows and its weight go exactly.
        """
        return incremental.forgotten(self, data, weights=weights, hidden=hidden)

    def faded(self, factor: float) -> BayesianNetwork:
        """The network with every case counting for `factor`, from 0 to 1; the prior stays."""
        return incremental.faded(self, factor)

    def __add__(self, other: BayesianNetwork) -> BayesianNetwork:
        """The evidence of two networks of one structure and prior; the prior counts once.

        The sum has the states of both, those of the first network first. Rows that both have, and that one of them was
        updated from, count once; see :mod:`bayeslearn.distributions.lineage`.
        """
        if not isinstance(other, BayesianNetwork):
            return NotImplemented

        return incremental.added(self, other)

    def __radd__(self, other: int) -> BayesianNetwork:
        # sum() starts from the number 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: BayesianNetwork) -> BayesianNetwork:
        """The evidence of this network without that of the other; (a + b) - b is a."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented

        return incremental.subtracted(self, other)
