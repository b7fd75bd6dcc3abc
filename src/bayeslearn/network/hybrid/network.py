"""A Bayesian network of states and numbers.

    p(s, x) = Π_i P(s_i | discrete parents) · Π_j N(x_j; a_j + b_jᵀ x_parents, v_j)

with a row (a, b, v) of each number for every configuration of its discrete parents. A discrete variable has discrete
parents only. The verbs are those of :class:`~bayeslearn.network.BayesianNetwork`; log-likelihoods are of densities.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import MixedTypesError, ParameterError, ShapeError, UnknownColumnError, listed
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.cpt import CPT, Factorization, rounding_notes, same_states
from bayeslearn.network.hybrid.nodes import Linear, LinearGaussianCPD, node_of
from bayeslearn.network.inference.evidence import as_evidence, as_names
from bayeslearn.network.missing_variable import missing_variable
from bayeslearn.network.queries import in_either_order
from bayeslearn.tables.variables import NumericVariable, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn import sources
    from bayeslearn.network.dag import DAG
    from bayeslearn.network.hybrid import explanation, learning, reporting, rows
    from bayeslearn.network.hybrid.inference import HybridInference
    from bayeslearn.network.inference.results import Backend, MostProbableExplanation
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.reports import Report
    from bayeslearn.tables import Table
    from bayeslearn.tables.markers import Markers
else:  # they load when they are used
    sources = lazy_imports.Deferred("bayeslearn.sources")
    explanation = lazy_imports.Deferred("bayeslearn.network.hybrid.explanation")
    learning = lazy_imports.Deferred("bayeslearn.network.hybrid.learning")
    reporting = lazy_imports.Deferred("bayeslearn.network.hybrid.reporting")
    rows = lazy_imports.Deferred("bayeslearn.network.hybrid.rows")

#: What may become of a state that the network does not have, where it is asked and does not learn.
Asked = Literal["missing", "error"]


class HybridBayesianNetwork(BayesianNetwork):
    """A network in which some nodes are numbers; `BayesianNetwork.from_tables` and `fit_parameters` make it.

    >>> from bayeslearn.network import BayesianNetwork, Linear
    >>> net = BayesianNetwork.from_tables(
    ...     "[sex][size|sex]", {"sex": [0.5, 0.5], "size": Linear([165.0, 178.0], var=[40.0, 50.0])},
    ...     states={"sex": ["f", "m"]},
    ... )
    >>> net.query({"sex": "f"})["size"].mean
    165.0
    """

    def _check_nodes(self) -> None:
        """Nodes are CPTs and numeric nodes, with the same states of a variable everywhere."""
        odd = [node for node in self.cpts if not isinstance(node, CPT | LinearGaussianCPD)]
        if odd:
            raise ParameterError(f"a network is made of CPTs and numeric nodes, got {odd[0]!r:.80}")
        own = {node.name: node.variable for node in self.cpts}
        for node in self.cpts:
            for parent in node.parents:
                known = own.get(parent.name, parent)
                if isinstance(known, NumericVariable) != isinstance(parent, NumericVariable) or (
                    not isinstance(known, NumericVariable) and not same_states(known, parent)
                ):
                    raise ParameterError(
                        f"{node.name!r} sees its parent {parent.name!r} with other states than it has",
                        hint="give a variable the same states, in the same order, wherever it stands",
                    )

    # -- what is there

    @property
    def discrete_names(self) -> tuple[str, ...]:
        """The variables with states."""
        return tuple(node.name for node in self.cpts if isinstance(node, CPT))

    @property
    def numeric_names(self) -> tuple[str, ...]:
        """The variables with numbers."""
        return tuple(node.name for node in self.cpts if not isinstance(node, CPT))

    def states(self, name: str) -> tuple[Any, ...]:
        """Return the states of a variable."""
        node = self[name]
        if not isinstance(node, CPT):
            raise MixedTypesError(f"variable {name!r} is numeric and has no states", hint="it has net[name].var")
        return node.variable.states

    def isclose(self, other: Factorization, *, rtol: float = 1e-10, atol: float = 1e-12) -> bool:
        """Return whether both have the same variables, arcs, probabilities and numbers."""
        if self.dag != other.dag or any(type(node) is not type(other[node.name]) for node in self.cpts):
            return False
        return all(same_node(node, other[node.name], rtol, atol) for node in self.cpts)

    # -- what it shows

    def report(self) -> Report:
        """Return the size of the network, and its variables with states or scale and parents."""
        return reporting.network_report(self)

    def _repr_html_(self) -> str:
        return reporting.network_report(self, picture=True).html()

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each number: variable, given, quantity, value."""
        return reporting.network_frame(self, backend)

    # -- queries

    @cached_property
    def inference(self) -> HybridInference:  # type: ignore[override]
        """Exact inference, compiled when first asked for."""
        from bayeslearn.network.hybrid.inference import HybridInference  # noqa: PLC0415 - inference knows networks

        return HybridInference(self)

    @in_either_order
    def query(  # type: ignore[override]
        self,
        evidence: Mapping[str, Any] | None = None,
        variables: Iterable[str] | str | None = None,
        *,
        virtual_evidence: Mapping[str, Any] | None = None,
        soft_evidence: Mapping[str, Any] | None = None,
        method: Literal["exact", "likelihood_weighting"] = "exact",
        n_samples: int | None = None,
        precision: float | None = None,
        time_limit: float | None = None,
        random_state: np.random.Generator | np.random.RandomState | int | None = None,
        progress: Reporter | ProgressCallback | bool | None = None,
    ) -> Any:
        """Return posterior distributions: probabilities of states, and mixtures of normals for numbers.

        Parameters
        ----------
        evidence
            A state or a number by name of variable.
        variables
            The variables to answer for, or one of them; default: all that are not observed.
        virtual_evidence
            P(observation | state) of a discrete variable, as a list or by state.
        soft_evidence
            Not supported in networks with numbers.
        method
            ``"exact"``, or ``"likelihood_weighting"``: states are drawn, numbers integrated out exactly.
        n_samples, random_state
            Draws and their seed, of likelihood weighting; 10,000 by default.
        precision, time_limit, progress
            Not for networks with numbers: likelihood weighting takes `n_samples` draws at once.
        """
        for name, given in (("precision", precision), ("time_limit", time_limit)):
            if given is not None:
                raise ParameterError(
                    f"`{name}` is not available in a network with numeric nodes", hint="give n_samples instead"
                )
        del progress
        if validation.choice("method", method, ["exact", "likelihood_weighting"]) == "exact":
            return self.inference.query(
                evidence, variables, virtual_evidence=virtual_evidence, soft_evidence=soft_evidence
            )
        from bayeslearn.network.hybrid.sampling import weighted_query  # noqa: PLC0415 - loads when it is asked for

        return weighted_query(self, evidence, variables, 10_000 if n_samples is None else n_samples, random_state)

    @in_either_order
    def most_probable(
        self,
        evidence: Mapping[str, Any] | None = None,
        variables: Iterable[str] | str | None = None,
        *,
        virtual_evidence: Mapping[str, Any] | None = None,
    ) -> MostProbableExplanation:
        """Return the most probable states, numbers integrated out, and the means of the numbers given these states."""
        return self.inference.most_probable(evidence, variables=variables, virtual_evidence=virtual_evidence)

    def explain(self, evidence: Mapping[str, Any], target: str) -> Any:
        """Explain the posterior of a target: what each piece of evidence changes, alone and given the others."""
        return explanation.explain(self, evidence, target)

    def sensitivity(self, evidence: Mapping[str, Any], target: str, state: Any = None) -> Any:  # noqa: ARG002 - the same for all
        """Refuse: sensitivity is defined for networks of states only."""
        raise ParameterError(
            "sensitivity to parameters is not available in a network with numeric nodes",
            hint="explain(evidence, target) shows what each piece of evidence changes",
        )

    def do(self, actions: Mapping[str, Any]) -> BayesianNetwork:
        """Return the network after an intervention: variables set from outside, independent of their parents."""
        return rows.intervened(self, as_evidence(self, actions))

    # -- rows

    def sample(
        self,
        n_samples: int = 1,
        evidence: Mapping[str, Any] | None = None,
        *,
        random_state: np.random.Generator | np.random.RandomState | int | None = None,
    ) -> Table:
        """Draw independent rows, given evidence if there is some."""
        return rows.sampled(self, n_samples, as_evidence(self, evidence), validation.generator(random_state))

    def sample_batches(
        self,
        n_samples: int,
        *,
        batch_size: int = 1 << 17,
        random_state: np.random.Generator | np.random.RandomState | int | None = None,
    ) -> Iterator[Table]:
        """Draw rows some at a time."""
        random = validation.generator(random_state)
        for start in range(0, validation.integer("n_samples", n_samples, min_value=0), batch_size):
            yield self.sample(min(batch_size, n_samples - start), random_state=random)

    def joint(self, case: Mapping[str, Any]) -> np.float64:
        """Return the density of a row that names the state or number of every variable."""
        return np.exp(self.log_joint([case])[0])

    def log_joint(self, data: Any) -> NDArray[np.float64]:
        """Return the log density of each row of a table without missing values."""
        return rows.log_joint(self, data)

    def log_likelihood(
        self,
        data: Any,
        *,
        na_values: Markers = (),
        keep_default_na: bool = True,
        handle_unknown: Asked = "missing",
    ) -> NDArray[np.float64]:
        """Return the log density of what each row shows; missing values are integrated out."""
        data = sources.with_options(data, na_values=na_values, keep_default_na=keep_default_na)
        return rows.log_likelihood(self, data, handle_unknown)

    def score(
        self,
        data: Any,
        *,
        na_values: Markers = (),
        keep_default_na: bool = True,
        handle_unknown: Asked = "missing",
    ) -> Any:
        """Return the log-likelihood of the rows, in nats of a density; of a source only the total."""
        data = sources.with_options(data, na_values=na_values, keep_default_na=keep_default_na)
        return rows.score(self, data, handle_unknown)

    def predict(
        self,
        data: Any,
        target: str | None = None,
        *,
        na_values: Markers = (),
        keep_default_na: bool = True,
        handle_unknown: Asked = "missing",
    ) -> NDArray[Any]:
        """Return the most probable state of the target in each row, or its mean; its own column is not used.

        By default the target is the one variable that data lack.
        """
        data = sources.with_options(data, na_values=na_values, keep_default_na=keep_default_na)
        name = missing_variable(self, data) if target is None else target
        return rows.predicted(self, data, name, handle_unknown)

    def predict_interval(
        self, data: Any, target: str, *, level: float = 0.95, handle_unknown: Asked = "missing"
    ) -> NDArray[np.float64]:
        """Return bounds (rows, 2) that hold the number with probability `level`; its own column is not used."""
        return rows.intervals(self, data, target, level, handle_unknown)

    def predict_proba(
        self,
        data: Any,
        variables: Iterable[str] | str | None = None,
        *,
        handle_unknown: Asked = "missing",
        backend: Backend | None = None,
    ) -> Any:
        """Return the posterior distribution of variables with states in each row of a table; default: all of them."""
        names = list(self.discrete_names) if variables is None else as_names(variables)
        found = rows.posteriors(self, data, names, handle_unknown)
        return found if backend is None else found.to_frame(backend)

    # -- evidence adds

    def update(  # type: ignore[override]
        self,
        data: Any,
        *,
        sample_weight: ArrayLike | str | None = None,
        forgetting_factor: float = 1.0,
        hidden: Iterable[str] = (),
        handle_unknown: Literal["missing", "error"] = "error",
        na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> HybridBayesianNetwork:
        """Return the network after more rows; a row with missing cells adds what the present network expects of it."""
        data = sources.with_options(data, na_values=na_values, keep_default_na=keep_default_na)
        return learning.updated(self, data, sample_weight, forgetting_factor, tuple(hidden), handle_unknown)

    def remove(
        self, data: Any, *, sample_weight: ArrayLike | str | None = None, hidden: Iterable[str] = ()
    ) -> HybridBayesianNetwork:
        """Return the network without some of its rows; complete rows go exactly."""
        return learning.removed(self, data, sample_weight, tuple(hidden))

    def discount(self, forgetting_factor: float) -> HybridBayesianNetwork:
        """Return the network with every row counting for `forgetting_factor` (0 to 1); the prior stays."""
        factor = validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)
        return learning.based_on(self, learning.evidence_of(self) * factor)

    def __add__(self, other: BayesianNetwork) -> HybridBayesianNetwork:
        """The rows of two networks of one structure and prior; the prior counts once."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return learning.based_on(self, learning.evidence_of(self) + learning.evidence_like(other, self))

    def __sub__(self, other: BayesianNetwork) -> HybridBayesianNetwork:
        """The rows of this network without those of the other; (a + b) - b is a."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return learning.based_on(self, learning.evidence_of(self) - learning.evidence_like(other, self))

    # -- files and pictures

    def to_document(self) -> dict[str, Any]:
        """Return the network as plain values and arrays."""
        from bayeslearn.network.hybrid import serialization  # noqa: PLC0415 - loads when files are written

        return serialization.document_of(self)


def same_node(a: Any, b: Any, rtol: float, atol: float) -> bool:
    """Whether two nodes of one name have the same numbers; parents may be in another order."""
    if isinstance(a, CPT):
        if not same_states(a.variable, b.variable):
            return False
        order = [v.name for v in a.parents]
        return np.allclose(a.probabilities, b.reorder_parents(order), rtol=rtol, atol=atol)
    if a.scale != b.scale:
        return False
    discrete, numeric = [v.name for v in b.discrete_parents], [v.name for v in b.numeric_parents]
    axes = [discrete.index(v.name) for v in a.discrete_parents]
    inputs = [numeric.index(v.name) for v in a.numeric_parents]
    pairs = (
        (a.intercept, b.intercept.transpose(axes)),
        (a.coef, b.coef.transpose(*axes, len(axes))[..., inputs]),
        (a.var, b.var.transpose(axes)),
    )
    return all(x.shape == y.shape and np.allclose(x, y, rtol=rtol, atol=atol) for x, y in pairs)


def from_tables(
    dag: DAG, tables: Mapping[str, Any], variables: Mapping[str, Variable], name: str
) -> HybridBayesianNetwork:
    """The network of CPTs and :class:`Linear` nodes; see :meth:`BayesianNetwork.from_tables`."""
    known = dict(variables)
    for node in dag:
        if isinstance(tables.get(node), Linear):
            if node in variables and not isinstance(variables[node], NumericVariable):
                raise ParameterError(f"{node!r} has states, and Linear is for numbers", hint="leave out its states")
            known[node] = NumericVariable(node)
    lacking = [node for node in dag if node not in tables]
    if lacking:
        raise ParameterError(f"no table given for {listed(lacking)}", hint="every node needs a table or Linear(...)")
    odd = [node for node in tables if node not in dag]
    if odd:
        raise UnknownColumnError(
            f"a table is given for {listed(odd)}, not in the graph", hint=f"nodes are {listed(dag)}"
        )
    nodes: list[Any] = []
    for node in dag:
        if node not in known:
            raise ParameterError(f"no states given for {listed([node])}", hint="states={name: [...]}, or Linear(...)")
        parents, variable = tuple(known[p] for p in dag.parents(node)), known[node]
        if isinstance(variable, NumericVariable):
            nodes.append(node_of(variable, parents, tables[node]))
        else:
            require_discrete_parents(node, parents)
            nodes.append(CPT(variable, parents, tables[node]))  # type: ignore[arg-type]
    cpts = [node for node in nodes if isinstance(node, CPT)]
    notes = rounding_notes(cpts, [tables[cpt.name] for cpt in cpts]) if cpts else ()
    return HybridBayesianNetwork(tuple(nodes), name, notes)


def require_discrete_parents(node: str, parents: Iterable[Variable]) -> None:
    """Refuse an arc from a number to states."""
    for parent in parents:
        if isinstance(parent, NumericVariable):
            raise ShapeError(
                f"the arc {parent.name} -> {node} leads from a number to states, which has no exact answer",
                hint=f"reverse the arc, or discretize {parent.name!r}: numeric={{{parent.name!r}: 'discretize'}}",
            )


def with_nodes(network: HybridBayesianNetwork, nodes: Iterable[Any]) -> HybridBayesianNetwork:
    """The network with other nodes."""
    return replace(network, cpts=tuple(nodes))
