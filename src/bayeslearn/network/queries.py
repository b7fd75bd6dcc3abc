"""Queries of a network: posteriors, explanations, samples, and predictions for rows of data.

P(x | e) = Σ_rest Π_i P(y_i | parents of y_i)
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, overload

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.network.cpt import Factorization
from bayeslearn.network.missing_variable import missing_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn import sources, tables
    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.d_separation import Nodes
    from bayeslearn.network.inference import results
    from bayeslearn.network.inference.evidence_session import Numbers
    from bayeslearn.network.inference.explanation import EvidenceExplanation, Sensitivity
    from bayeslearn.network.inference.junction_tree import ExactInference
    from bayeslearn.network.inference.results import Backend, MostProbableExplanation
    from bayeslearn.network.parameters import em_steps, imputation
    from bayeslearn.network.parameters.em_steps import LogLikelihood, TotalLogLikelihood
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.sources.base import Scanned
    from bayeslearn.tables import Table
    from bayeslearn.tables.markers import Markers

    #: What may become of a state that a network does not have, where it is asked and does not learn.
    Asked = Literal["missing", "error"]
else:  # they load when data are read
    sources, tables = lazy_imports.Deferred("bayeslearn.sources"), lazy_imports.Deferred("bayeslearn.tables")
    results = lazy_imports.Deferred("bayeslearn.network.inference.results")
    imputation = lazy_imports.Deferred("bayeslearn.network.parameters.imputation")
    em_steps = lazy_imports.Deferred("bayeslearn.network.parameters.em_steps")

P = ParamSpec("P")
R = TypeVar("R")
Self = TypeVar("Self")


def in_either_order(query: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """Understand ``query(variables, evidence)`` as well, the order of pgmpy, whether `evidence` is named or not.

    So are names of variables alone, without evidence: ``query("lung")``, ``query(["lung", "bronc"])``.
    """

    @functools.wraps(query)
    def understood(self: Self, *given: P.args, **named: P.kwargs) -> R:
        alone = len(given) == 1 and "variables" not in named
        if alone and ("evidence" in named or names_variables(self, given[0])):
            named["variables"], given = given[0], ()  # type: ignore[assignment]
        elif len(given) == 2 and isinstance(given[1], Mapping) and not isinstance(given[0], Mapping):
            given = given[::-1]  # type: ignore[assignment]
        return query(self, *given, **named)

    return understood  # type: ignore[return-value]


def names_variables(network: Any, given: Any) -> bool:
    """Whether this is the name of a variable of the network, or a list of such names."""
    names = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else []
    return bool(names) and all(isinstance(name, str) and name in network for name in names)


class NetworkQueries(Factorization):
    """The questions that a network answers; :class:`BayesianNetwork` adds learning, pictures and files."""

    @property
    def _network(self) -> BayesianNetwork:
        """The network itself, for nothing else has these questions."""
        return self  # type: ignore[return-value]

    # -- questions

    @cached_property
    def inference(self) -> ExactInference:
        """Exact inference, compiled when first asked for."""
        from bayeslearn.network.inference.junction_tree import ExactInference  # noqa: PLC0415 - inference knows networks, not the reverse

        return ExactInference(self._network)

    @in_either_order
    def query(
        self,
        evidence: Mapping[str, Any] | None = None,
        variables: Iterable[str] | str | None = None,
        *,
        virtual_evidence: Mapping[str, Numbers] | None = None,
        soft_evidence: Mapping[str, Numbers] | None = None,
        method: Literal["exact", "likelihood_weighting", "rejection", "gibbs", "loopy_propagation"] = "exact",
        n_samples: int | None = None,
        precision: float | None = None,
        time_limit: float | None = None,
        random_state: np.random.Generator | np.random.RandomState | int | None = None,
        progress: Reporter | ProgressCallback | bool | None = None,
    ) -> Any:
        """Return posterior distributions given evidence; ``query(variables, evidence=...)`` is understood as well.

        Parameters
        ----------
        evidence
            The state, number or range of each observed variable, by name; default: nothing is observed.
        variables
            The variables to answer for, or one of them; default: all that are not observed.
        virtual_evidence
            Virtual evidence, by variable: P(observation | state) for each state, as a list or by state.
        soft_evidence
            Soft evidence, by variable: the distribution that it is to have, as a list or by state.
        method
            Exact inference, sampling or loopy propagation. Soft evidence requires ``"exact"``.
        n_samples, precision, time_limit, random_state, progress
            Options of the methods that sample, as in :meth:`SampledInference.query`.

        See Also
        --------
        ExactInference.query : the same, with all forms of evidence explained.

        >>> from bayeslearn import read_network
        >>> asia = read_network("asia")
        >>> by_drawing = {"method": "likelihood_weighting", "n_samples": 20_000, "random_state": 0}
        >>> sampled = asia.query({"xray": "yes"}, "lung", **by_drawing)
        >>> round(abs(sampled["lung"]["yes"] - asia.query({"xray": "yes"}, "lung")["lung"]["yes"]), 1)
        0.0
        """
        sampling = {"n_samples": n_samples, "precision": precision, "time_limit": time_limit,
                    "random_state": random_state, "progress": progress}  # fmt: skip
        if method == "exact" and not any(value is not None for value in sampling.values()):
            return self.inference.query(
                evidence, variables, virtual_evidence=virtual_evidence, soft_evidence=soft_evidence
            )
        from bayeslearn.network.inference import approximate  # noqa: PLC0415 - loads when it is asked for

        return approximate.query(self._network, evidence, variables, virtual_evidence, soft_evidence, method, sampling)

    @in_either_order
    def most_probable(
        self,
        evidence: Mapping[str, Any] | None = None,
        variables: Iterable[str] | str | None = None,
        *,
        virtual_evidence: Mapping[str, Numbers] | None = None,
    ) -> MostProbableExplanation:
        """Return the most probable states of all variables together, or of some of them, given evidence.

        Parameters
        ----------
        evidence, virtual_evidence
            As in :meth:`query`.
        variables
            The variables to find states for, the others summed over (marginal MAP); default: all of them (MPE).

        >>> from bayeslearn import read_network
        >>> read_network("asia").most_probable({"xray": "yes"}, variables=["lung", "bronc"]).case
        {'lung': 'no', 'bronc': 'no'}
        """
        return self.inference.most_probable(evidence, variables=variables, virtual_evidence=virtual_evidence)

    def mpe(self, evidence: Mapping[str, Any] | None = None) -> MostProbableExplanation:
        """Return the most probable explanation: the most probable states of all variables together, given evidence.

        Parameters
        ----------
        evidence
            As in :meth:`query`.
        """
        return self.most_probable(evidence)

    def explain(self, evidence: Mapping[str, Any], target: str) -> EvidenceExplanation:
        """Explain the posterior of a target: by each piece of evidence, and by what is not observed yet.

        Parameters
        ----------
        evidence
            As in :meth:`query`.
        target
            A variable that is not observed.
        """
        from bayeslearn.network.inference.explanation import explain  # noqa: PLC0415 - it knows networks, not the reverse

        return explain(self._network, evidence, target)

    def sensitivity(self, evidence: Mapping[str, Any], target: str, state: Any = None) -> Sensitivity:
        """Return how P(target = state | evidence) depends on every number of the CPTs.

        Parameters
        ----------
        evidence
            As in :meth:`query`.
        target, state
            A variable that is not observed, and one of its states; default: the most probable one.
        """
        from bayeslearn.network.inference.explanation import sensitivity  # noqa: PLC0415 - as above

        return sensitivity(self._network, evidence, target, state)

    # -- rows drawn from it

    def sample(
        self,
        n_samples: int = 1,
        evidence: Mapping[str, Any] | None = None,
        *,
        random_state: np.random.Generator | np.random.RandomState | int | None = None,
    ) -> Table:
        """Draw independent rows, given evidence if there is some.

        Without evidence every variable is drawn given its parents; with evidence what is not observed is drawn from its
        joint posterior along a junction tree, so that no row is rejected or weighted.

        Parameters
        ----------
        n_samples
            The number of rows.
        evidence
            As in :meth:`query`; several states of a variable, or a range, are drawn from too.
        random_state
            Seed or generator.

        >>> from bayeslearn import read_network
        >>> rows = read_network("asia").sample(500, {"xray": "yes"}, random_state=0)
        >>> rows.n_rows, set(rows.to_dict()["xray"])
        (500, {'yes'})
        """
        if evidence:
            return imputation.sample_given(self._network, n_samples, evidence, random_state)
        from bayeslearn.network.inference.forward_sampling import draw  # noqa: PLC0415 - as above

        return draw(self._network, n_samples, random_state=random_state)

    def sample_batches(
        self,
        n_samples: int,
        *,
        batch_size: int = 1 << 17,
        random_state: np.random.Generator | np.random.RandomState | int | None = None,
    ) -> Iterator[Table]:
        """Draw the rows of :meth:`sample` some at a time: what is too large for memory is drawn in parts.

        Parameters
        ----------
        n_samples
            The number of rows.
        batch_size
            The number of rows of a batch; the last one may have fewer.
        random_state
            Seed or generator.
        """
        from bayeslearn.network.inference.forward_sampling import draws  # noqa: PLC0415 - as above

        return draws(self._network, n_samples, random_state=random_state, batch=batch_size)

    # -- its graph

    def d_separated(self, a: Nodes, b: Nodes, given: Nodes = ()) -> bool:
        """Return whether `given` separates `a` and `b` in the graph (:meth:`DAG.d_separated`)."""
        return self.dag.d_separated(a, b, given)

    def markov_blanket(self, variable: str) -> frozenset[str]:
        """Return the parents, the children and the other parents of the children of a variable."""
        return self.dag.markov_blanket(variable)

    # -- probabilities of whole rows

    def joint(self, case: Mapping[str, Any]) -> np.float64:
        """P of one case that names the state of every variable."""
        return np.exp(self.log_joint([case])[0])

    def log_joint(self, data: Any) -> NDArray[np.float64]:
        """Return ln P of each row of a table, a frame or a list of rows without missing values."""
        return em_steps.log_joint(self._network, data)

    def log_likelihood(
        self,
        data: Any,
        *,
        na_values: Markers = (),
        keep_default_na: bool = True,
        handle_unknown: Literal["missing", "error"] = "missing",
    ) -> NDArray[np.float64]:
        """ln P of what each row shows, a missing cell or column being summed over; −∞ for a row that cannot be.

        The options are those of :meth:`score`.
        """
        data = sources.with_options(data, na_values=na_values, keep_default_na=keep_default_na)
        return em_steps.log_of_cases(self._network, data, handle_unknown=handle_unknown)

    @overload
    def score(
        self,
        data: Scanned,
        *,
        na_values: Markers = ...,
        keep_default_na: bool = ...,
        handle_unknown: Asked = ...,
    ) -> TotalLogLikelihood: ...

    @overload
    def score(
        self, data: Any, *, na_values: Markers = ..., keep_default_na: bool = ..., handle_unknown: Asked = ...
    ) -> LogLikelihood: ...

    def score(
        self,
        data: Any,
        *,
        na_values: Markers = (),
        keep_default_na: bool = True,
        handle_unknown: Asked = "missing",
    ) -> LogLikelihood | TotalLogLikelihood:
        """The log likelihood of a table, a frame or a list of rows: ln P of each row, the total, and bits per row.

        Of a source (:func:`~bayeslearn.scan`) only ln P of all its rows and bits per row, for rows are not kept.

        Parameters
        ----------
        data
            Anything that :func:`~bayeslearn.as_table` reads, or a source.
        na_values, keep_default_na
            Markers of missing cells, as in :func:`~bayeslearn.as_table`.
        handle_unknown
            What to do with a state that the network does not have: treat the cell as ``"missing"`` (the default), which
            is counted in a warning, or raise an ``"error"``.
        """
        return em_steps.score(
            self._network,
            sources.with_options(data, na_values=na_values, keep_default_na=keep_default_na),
            handle_unknown=handle_unknown,
        )

    def predict(
        self,
        data: Any,
        target: str | None = None,
        *,
        na_values: Markers = (),
        keep_default_na: bool = True,
        handle_unknown: Asked = "missing",
    ) -> NDArray[Any]:
        """The most probable state of a variable in each row of a table, a frame, a list of cases or a source.

        A source is read batch by batch. A missing cell, or a missing column, is not observed; the column of the target
        itself is not used. By default the target is the one variable that data lack. The options are those of
        :meth:`score`.
        """
        if target is None:
            target = missing_variable(self, data)
        states = results.state_names(self[target].variable)
        data = sources.with_options(data, na_values=na_values, keep_default_na=keep_default_na)
        source = sources.as_source(data, schema=self.schema, missing_columns="missing", handle_unknown=handle_unknown)
        best = [p[target].argmax(axis=1) for _, p in results.predictions(self._network, source, [target])]
        return states[np.concatenate(best)] if best else states[:0]

    def predict_proba(
        self,
        data: Any,
        variables: Iterable[str] | str | None = None,
        *,
        handle_unknown: Asked = "missing",
        backend: Backend | None = None,
    ) -> Any:
        """Return the posterior distribution of some variables in each row of a table, a frame or a list of rows.

        Parameters
        ----------
        data
            Anything that :func:`~bayeslearn.as_table` reads. Missing values and missing columns are not observed; where
            a variable is observed, its own posterior is certain.
        variables
            The variables to answer for, or one of them; default: all.
        handle_unknown
            What to do with a state that the network does not have: treat the value as ``"missing"`` (the default), with
            a warning that counts them, or raise an ``"error"``.
        backend
            ``"pandas"``, ``"polars"`` or ``"pyarrow"`` returns a data frame; by default the result is a
            :class:`~bayeslearn.network.PosteriorTable`.

        >>> from bayeslearn import read_network
        >>> read_network("asia").predict_proba([{"smoke": "yes"}, {}], "lung")["lung"].round(3).tolist()
        [[0.1, 0.9], [0.055, 0.945]]
        """
        found = self.inference.predict_proba(data, variables, handle_unknown=handle_unknown)
        return found if backend is None else found.to_frame(backend)

    def impute(
        self,
        data: Any,
        *,
        method: Literal["most_probable", "sample"] = "most_probable",
        random_state: np.random.Generator | int | None = None,
        as_intervals: bool = False,
        handle_unknown: Asked = "missing",
        na_values: Markers = (),
        keep_default_na: bool = True,
        columns: Iterable[str] | None = None,
        drop_columns: Iterable[str] = (),
    ) -> Any:
        """The same data with the missing cells of the network's variables filled.

        Observed cells, other columns, the index, types and order stay unchanged. The missing states of a row are
        filled together, and a missing number by a number of its interval: see :mod:`.parameters.imputed_data`.
        Columns that the data lack are not added; ``as_table(data, schema=net.schema, missing_columns="missing")`` has
        them all.

        Parameters
        ----------
        data
            A pandas, polars or pyarrow frame, a NumPy array, a dict of columns, a list of rows or a Table; the same
            kind comes back. The path of a file gives a pyarrow table (of a CSV file, cells as text), a lazy frame a
            collected one, and a source a :class:`~bayeslearn.Table` of the network's variables.
        method
            ``"most_probable"`` takes the states of all that a row misses that are most probable together, and the
            median of an interval; ``"sample"`` draws from their joint posterior, and from the values of an interval.
        random_state
            Seed or generator for draws.
        as_intervals
            True gives every cell of a discretized column as the name of its interval, also the observed ones.
        handle_unknown
            What to do with a state that the network does not know: leave it as it is and fill the row as if it were
            not observed (the default), or raise an error.
        na_values, keep_default_na
            Markers of missing cells, as in :func:`~bayeslearn.as_table`.
        columns
            The columns to fill, all when not given; the others are evidence, and stay unchanged.
        drop_columns
            Columns that are neither filled nor evidence; they stay unchanged.

        Warns
        -----
        BayeslearnWarning
            A column of dates has missing cells: these stay missing, since parts of a date do not determine a day.
        """
        return imputation.impute(
            self._network, data, method=method, random_state=random_state, as_intervals=as_intervals,
            handle_unknown=handle_unknown, na_values=na_values, keep_default_na=keep_default_na, columns=columns,
            drop_columns=drop_columns,
        )  # fmt: skip
