"""A Bayesian network: variables, a directed acyclic graph, and a table for each variable given its parents.

P(y_1, …, y_n) = Π_i P(y_i | parents of y_i)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.codec import Saved
from bayeslearn.fit_info import Fitted
from bayeslearn.network.conversions import NetworkConversions
from bayeslearn.network.cpt import CPT
from bayeslearn.network.queries import NetworkQueries
from bayeslearn.reports import Reported

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from bayeslearn import model_values, sources
    from bayeslearn.network import reporting
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.network.parameters import incremental
    from bayeslearn.reports import Report
    from bayeslearn.tables.markers import Markers
else:  # they load when data are read
    sources = lazy_imports.Deferred("bayeslearn.sources")
    reporting = lazy_imports.Deferred("bayeslearn.network.reporting")
    incremental = lazy_imports.Deferred("bayeslearn.network.parameters.incremental")

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")


class BayesianNetwork(NetworkQueries, NetworkConversions, Reported, Fitted, Saved, kind="network"):
    """A frozen value: inference reads it, learning returns a new one.

    >>> net = BayesianNetwork.from_tables(
    ...     "[Storm][Camp|Storm]",
    ...     {"Storm": [0.2, 0.8], "Camp": [[0.3, 0.7], [0.6, 0.4]]},
    ...     states={"Storm": ["yes", "no"], "Camp": ["yes", "no"]},
    ... )
    >>> net.joint({"Storm": "yes", "Camp": "no"}).round(6)
    np.float64(0.14)
    """

    # -- what it shows

    def report(self) -> Report:
        """Return the size of the network, its variables with states and parents, and its notes.

        >>> print(BayesianNetwork.from_tables("[Rain]", {"Rain": [0.2, 0.8]}, states={"Rain": ["yes", "no"]}))
        network: 1 variables, 0 arcs, 1 parameters
        <BLANKLINE>
        variable  states   parents
        --------------------------
        Rain      yes, no
        """
        return reporting.network_report(self)

    def _repr_html_(self) -> str:
        return reporting.network_report(self, picture=True).html()

    def to_dict(self) -> dict[str, Any]:
        """Return name, CPTs and notes as plain values; :meth:`save` also keeps counts, priors and bins."""
        return reporting.network_dict(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each probability: variable, given, state, probability."""
        return reporting.network_frame(self, backend)

    @property
    def numeric_names(self) -> tuple[str, ...]:
        """The variables with numbers: none, see :class:`~bayeslearn.network.HybridBayesianNetwork`."""
        return ()

    # -- changed networks

    def do(self, actions: Mapping[str, Any]) -> BayesianNetwork:
        """The network after an intervention: variables set from outside, whatever the states of their parents."""
        from bayeslearn.network.inference.evidence import as_evidence  # noqa: PLC0415 - inference knows networks

        chosen = {name: self[name].variable.code_of(state) for name, state in as_evidence(self, actions).items()}
        cpts = [
            CPT(cpt.variable, (), np.eye(cpt.variable.n_states)[chosen[cpt.name]]) if cpt.name in chosen else cpt
            for cpt in self.cpts
        ]
        return BayesianNetwork(tuple(cpts), self.name, self.notes)

    def add_states(self, states: Mapping[str, Iterable[Any]]) -> BayesianNetwork:
        """Return the network with more states for some variables; see :mod:`bayeslearn.network.states`."""
        from bayeslearn.network.states import add_states  # noqa: PLC0415 - it knows networks, not the reverse

        return add_states(self, states)

    # -- pictures

    def plot(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        bars: bool | None = None,
        rows: int = 6,
        compact: bool | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw the network with matplotlib, with posteriors given evidence as bars.

        The parameters are those of :func:`bayeslearn.plots.plot_network`.
        """
        return plots.plot_network(self, evidence, bars=bars, rows=rows, compact=compact, ax=ax)

    def to_svg(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        bars: bool | None = None,
        rows: int = 6,
        compact: bool | None = None,
    ) -> str:
        """The network as SVG text, with beliefs given evidence as bars; see :mod:`bayeslearn.network.visualization`."""
        from bayeslearn.network.visualization.renderers import draw  # noqa: PLC0415 - visualization knows networks, not the reverse

        return draw(self, evidence, bars=bars, rows=rows, compact=compact)

    # -- files

    def save(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:  # noqa: A002
        """Write the network to a file, atomically.

        Parameters
        ----------
        path
            Its ending names the format: .json and .model (packed: smaller, and faster to read) keep counts, priors and
            bins; .bif, .xmlbif, .net, .xdsl and .uai keep what other programs read. With .gz behind it, the file is
            packed.
        format
            The format, for a name that does not determine it.
        """
        from bayeslearn.network.formats.read_write import write_network  # noqa: PLC0415 - loads when files are written

        write_network(self, path, format=format)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, format: str | None = None) -> BayesianNetwork:  # noqa: A002
        """Read a network from a file in any format, or one that ships with the package, by its name."""
        from bayeslearn.network.formats.read_write import read_network  # noqa: PLC0415 - loads when files are read

        return read_network(path, format=format)

    def to_document(self) -> dict[str, Any]:
        """Return the network as plain values and arrays; see :mod:`bayeslearn.network.formats.bayeslearn_json`."""
        from bayeslearn.network.formats import bayeslearn_json  # noqa: PLC0415 - loads when files are written

        return bayeslearn_json.document_of(self)

    @classmethod
    def from_document(
        cls, reader: model_values.Reader, document: dict[str, Any], place: tuple[str | int, ...] = ()
    ) -> BayesianNetwork:
        """Return the network of a document, or of the part of it at a place; errors name the line."""
        from bayeslearn.network.formats import bayeslearn_json  # noqa: PLC0415 - loads when files are read

        head = {"format": bayeslearn_json.LABEL, "version": bayeslearn_json.VERSION}
        return bayeslearn_json.reader_of(reader.source, head | document, place).network()

    # -- evidence adds, see :mod:`bayeslearn.network.parameters.incremental`

    def update(
        self,
        data: Any,
        *,
        sample_weight: ArrayLike | str | None = None,
        forgetting_factor: float = 1.0,
        hidden: Iterable[str] = (),
        handle_unknown: Literal["add", "missing", "error"] = "add",
        na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> BayesianNetwork:
        """The network after more cases, exactly as if all had been there at once; it must have been learned.

        A row with missing values adds what the present tables expect of it.

        Parameters
        ----------
        data
            Rows with a column for every variable, but for those that are `hidden`.
        sample_weight
            How often each row counts, or the name of the column that has it.
        forgetting_factor
            What each earlier row still counts for, from 0 to 1.
        hidden
            Variables that the data do not show.
        handle_unknown
            What to do with a state that the network does not have: add it, see :meth:`add_states`, treat the cell as
            missing, or raise an error.
        na_values, keep_default_na
            Markers of missing cells, as in :func:`~bayeslearn.as_table`.

        >>> from bayeslearn import fit_parameters
        >>> monday = fit_parameters("[Rain]", {"Rain": ["yes", "no", "no"]}, prior="laplace")
        >>> tuesday = monday.update({"Rain": ["yes", "yes"]})
        >>> tuesday["Rain"].counts.n, tuesday["Rain"].probabilities.round(3)             # no, yes
        (array([2., 3.]), array([0.429, 0.571]))
        """
        data = sources.with_options(data, na_values=na_values, keep_default_na=keep_default_na)
        return incremental.updated(
            self,
            data,
            sample_weight=sample_weight,
            forgetting_factor=forgetting_factor,
            hidden=hidden,
            handle_unknown=handle_unknown,
        )

    def remove(
        self, data: Any, *, sample_weight: ArrayLike | str | None = None, hidden: Iterable[str] = ()
    ) -> BayesianNetwork:
        """The network without some of its cases; complete rows go as if they had never been there.

        A row with missing cells removes what the present tables expect of it, though of no cell more than it has.
        What it shows and its weight go exactly.
        """
        return incremental.forgotten(self, data, sample_weight=sample_weight, hidden=hidden)

    def discount(self, forgetting_factor: float) -> BayesianNetwork:
        """The network with every row counting for `forgetting_factor` (0 to 1); the prior stays."""
        return incremental.faded(self, forgetting_factor)

    def merge(self, other: BayesianNetwork) -> BayesianNetwork:
        """Return the network of the rows of both, the same as ``self + other``."""
        return self + other

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
