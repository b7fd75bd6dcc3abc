"""A mixture: k components of the same parts, and a weight for each.

    p(x) = Σ_j w_j Π_parts p(x_part | θ_j)          P(component j | x) = w_j p(x | θ_j) / p(x)

A model is a value that keeps its prior and its statistics, so that learning goes on: :meth:`MixtureModel.update` adds
rows, :meth:`MixtureModel.remove` takes rows back, and models that were updated from one base are merged (``a + b``)
with the rows of the base counted once (:mod:`bayeslearn.distributions.lineage`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.codec import RENAMED_DISTRIBUTIONS, Saved, rename_values, upgrade
from bayeslearn.components.product import Product, normalized
from bayeslearn.components.rows import read
from bayeslearn.distributions import Counts, Dirichlet, StatisticsBundle
from bayeslearn.distributions.sufficient_statistics import Assignment
from bayeslearn.errors import ParameterError
from bayeslearn.fit_info import Fitted
from bayeslearn.mixture import comparison
from bayeslearn.printable import printable
from bayeslearn.reports import Reported
from bayeslearn.tables import Schema, as_table
from bayeslearn.tables.frames import probabilities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.components.product import WeightedProduct
    from bayeslearn.components.rows import Rows
    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.mixture.explanation import ComponentExplanation
    from bayeslearn.mixture.hierarchy import ClusterHierarchy
    from bayeslearn.mixture.results import MixtureFitInfo
    from bayeslearn.model_values import Reader
    from bayeslearn.reports import Report
    from bayeslearn.tables.frames import Backend
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

incremental, plots = lazy_imports.Deferred("bayeslearn.incremental"), lazy_imports.Deferred("bayeslearn.plots")
hierarchies: Any = lazy_imports.Deferred("bayeslearn.mixture.hierarchy")
generation: Any = lazy_imports.Deferred("bayeslearn.mixture.generation")
results: Any = lazy_imports.Deferred("bayeslearn.mixture.results")

#: The name of the components' weights among the statistics.
SHARES = "shares of the components"

Asked = Literal["error", "missing"]


@dataclass(frozen=True, eq=False)
class MixturePrior:
    """The prior of the weights of the components, and of each part."""

    shares: Dirichlet
    parts: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class MixtureModel(Saved, Fitted, Reported, kind="mixture", version=2):
    """A mixture of k components; :func:`~bayeslearn.mixture.fit_mixture` fits one.

    Attributes
    ----------
    parts
        Columns with their distribution: a joint Gaussian over several columns, or a distribution of one column each.
    weights
        The weight of each component.
    parameters
        The parameters of each part, with a row for each component.
    prior
        The prior of weights and parameters.
    statistics
        The expected statistics that the parameters were estimated from; None for a model that was not fitted.
    equal_weights
        Whether all components have the same weight.
    lineage
        The statistics of the models that this one was updated from.
    """

    parts: tuple[Component, ...]
    weights: NDArray[np.float64]
    parameters: tuple[Any, ...]
    prior: MixturePrior
    statistics: StatisticsBundle | None = None
    equal_weights: bool = False
    lineage: Lineage | None = None

    def __repr__(self) -> str:
        names = ", ".join(part.name for part in self.parts)
        return printable(f"MixtureModel({self.n_components} components of {names}; {self.total_weight:.10g} rows)")

    # -- properties

    @property
    def fit_info(self) -> MixtureFitInfo:
        """What the fit found out; only models that :func:`~bayeslearn.mixture.fit_mixture` returned have it."""
        return super().fit_info

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self.weights)

    @property
    def total_weight(self) -> float:
        """The weighted number of rows that the model is based on."""
        return 0.0 if self.statistics is None else float(self.statistics[SHARES].n.sum())

    @property
    def component_sizes(self) -> Floats:
        """The expected number of rows of each component."""
        return np.zeros(self.n_components) if self.statistics is None else self.statistics[SHARES].n

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return self.product.n_parameters(self.n_components) + (0 if self.equal_weights else self.n_components - 1)

    @cached_property
    def schema(self) -> Schema:
        """The columns of the model."""
        return Schema(column for part in self.parts for column in part.columns)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema.names)

    @cached_property
    def product(self) -> Product:
        """The product of the parts."""
        return Product(self.parts)

    @cached_property
    def weighted(self) -> WeightedProduct:
        """The product with the weights and the parameters of the components."""
        with np.errstate(divide="ignore"):
            return self.product.weighted(np.log(self.weights), self.parameters)

    def __getitem__(self, name: str) -> Any:
        """The parameters of a part, by its name; a row for every component."""
        named = dict(zip((part.name for part in self.parts), self.parameters, strict=True))
        if name not in named:
            raise ParameterError(f"there is no part {name!r}", hint=f"the parts are {', '.join(named)}")
        return named[name]

    # -- answers about rows

    def rows(
        self, data: Any, sample_weight: Any = None, *, handle_unknown: Asked = "error", missing_columns: Asked = "error"
    ) -> Rows:
        """Return data as rows of this mixture.

        Parameters
        ----------
        data
            Anything that :func:`~bayeslearn.as_table` takes, or an array with the columns of the model in their order.
        sample_weight
            The weight of each row.
        handle_unknown
            ``"missing"`` treats states that the model does not have as missing values; ``"error"`` refuses them.
        missing_columns
            ``"missing"`` treats columns that the data do not have as missing values; ``"error"`` refuses them.
        """
        if (handle_unknown, missing_columns) != ("error", "error"):
            data = as_table(data, schema=self.schema, handle_unknown=handle_unknown, missing_columns=missing_columns)
        return read(self.parts, data, sample_weight)

    def log_joint(self, data: Any) -> Floats:
        """Return ln P(component, row), (n, k)."""
        return np.concatenate([self.weighted.log_joint(block).T for block in self._blocks(data)])

    def log_likelihood(self, data: Any, *, handle_unknown: Asked = "error", missing_columns: Asked = "error") -> Floats:
        """Return ln p(row) of each row; missing values are marginalized out. Parameters as in :meth:`rows`."""
        blocks = self._blocks(data, handle_unknown, missing_columns)
        return np.concatenate([normalized(self.weighted.log_joint(block))[1] for block in blocks])

    def predict_proba(
        self, data: Any, *, handle_unknown: Asked = "error", missing_columns: Asked = "error",
        backend: Backend | None = None,
    ) -> Any:  # fmt: skip
        """Return P(component | row), (n, k), an array or a data frame of `backend`. Parameters as in :meth:`rows`."""
        blocks = self._blocks(data, handle_unknown, missing_columns)
        p = np.concatenate([self.weighted.shares(block)[0].T for block in blocks])
        return probabilities(p, range(self.n_components), backend)

    def predict(
        self, data: Any, *, n_clusters: int | None = None, handle_unknown: Asked = "error",
        missing_columns: Asked = "error",
    ) -> NDArray[np.intp]:  # fmt: skip
        """Return the most probable component of each row, the first of equal ones.

        Parameters
        ----------
        data, handle_unknown, missing_columns
            As in :meth:`rows`.
        n_clusters
            Return the most probable of this number of clusters of components instead; see :meth:`hierarchy`.
        """
        model = self.weighted
        blocks = self._blocks(data, handle_unknown, missing_columns)
        if n_clusters is not None:
            return hierarchies.predicted(self, blocks, n_clusters)
        joints = ((block, model.log_joint(block)) for block in blocks)
        return np.concatenate([model.comparable(block, joint).argmax(axis=0) for block, joint in joints])

    def hierarchy(self, data: Any = None) -> ClusterHierarchy:
        """Return the components merged step by step into clusters: :mod:`bayeslearn.mixture.hierarchy`.

        Parameters
        ----------
        data
            Rows over which the overlap of components is measured; by default 10,000 rows drawn from the mixture.
        """
        return self._hierarchy if data is None else hierarchies.hierarchy_of(self, data)

    @cached_property
    def _hierarchy(self) -> ClusterHierarchy:
        return hierarchies.hierarchy_of(self)

    def _blocks(self, data: Any, handle_unknown: Asked = "error", missing_columns: Asked = "error") -> list[Rows]:
        found = self.rows(data, handle_unknown=handle_unknown, missing_columns=missing_columns)
        return found.blocks(self.weighted.block)

    def score(self, data: Any, *, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of the rows, as :class:`GaussianMixture` does."""
        found = self.rows(data, sample_weight)
        return float(np.average(self.log_likelihood(found), weights=found.sample_weight))

    def bic(self, data: Any, *, sample_weight: Any = None) -> float:
        """Return −2 ln P(D|θ) + ln n · parameters; lower is better."""
        total = self.rows(data, sample_weight).total
        return -2 * total * self.score(data, sample_weight=sample_weight) + self.n_parameters * float(np.log(total))

    def aic(self, data: Any, *, sample_weight: Any = None) -> float:
        """Return −2 ln P(D|θ) + 2 · parameters; lower is better."""
        total = self.rows(data, sample_weight).total
        return -2 * total * self.score(data, sample_weight=sample_weight) + 2 * self.n_parameters

    def log_marginal_likelihood(self, data: Any, *, sample_weight: Any = None) -> float:
        """Return ln P(D), parameters integrated out: the bound of :mod:`bayeslearn.incremental`."""
        return comparison.log_marginal_likelihood(self, self.rows(data, sample_weight))

    def explain(self, row: Any, *, component: int | None = None, versus: int | None = None) -> ComponentExplanation:
        """Return how much each column of a row supports a component against another one, as log odds that add up.

        Parameters
        ----------
        row
            One row: a dict of cells, a frame with one row, or a list of cells.
        component
            The component to explain; the most probable one by default.
        versus
            The component to compare with; by default the most probable one of the others.
        """
        from bayeslearn.mixture.explanation import explained  # noqa: PLC0415 - it reads models

        return explained(self, row, component, versus)

    def impute(
        self,
        data: Any,
        *,
        method: Literal["expected", "sample"] = "expected",
        random_state: np.random.Generator | int | None = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> Any:
        """Return the same data with missing values filled.

        Parameters
        ----------
        data
            A frame, a dict of columns, an array, a list of rows or a :class:`~bayeslearn.Table`; the same kind is
            returned, and its other columns stay unchanged.
        method
            ``"expected"``: the mean of a number and the most probable state, given what the row shows. ``"sample"``:
            a draw of everything that a row lacks, from its joint distribution given what the row shows.
        random_state
            Seed or generator for ``"sample"``.
        na_values, keep_default_na
            Markers of missing values, as in :func:`~bayeslearn.as_table`.
        """
        markers = {"na_values": na_values, "keep_default_na": keep_default_na}
        return generation.imputed(self, data, method, random_state, **markers)

    def sample(
        self,
        n_samples: int = 1,
        *,
        random_state: np.random.Generator | int | None = None,
        return_components: bool = False,
    ) -> Any:
        """Return random rows as a :class:`~bayeslearn.Table`; with `return_components` also the component of each."""
        return generation.sampled(self, n_samples, random_state, return_components=return_components)

    def draw(
        self, n_samples: int, random_state: np.random.Generator | int | None = None
    ) -> tuple[tuple[NDArray[Any], ...], NDArray[np.intp]]:
        """Return random rows as the cells of every part, and the component of each."""
        return generation.drawn(self, n_samples, random_state)

    # -- the two steps of EM

    def expected_statistics(self, data: Any) -> tuple[StatisticsBundle, float]:
        """E step: the expected statistics of rows whose components are unknown, and their log-likelihood."""
        found = self.weighted.expect(self.rows(data))
        return StatisticsBundle({SHARES: found.counts, **found.statistics}), found.log_likelihood

    def collect(self, data: Rows, shares: Floats) -> StatisticsBundle:
        """Return the statistics of rows that belong to the components by shares, (n, k)."""
        shown = self.product.collect(data.cells, Assignment(shares), self.parameters)
        return StatisticsBundle({SHARES: Counts(shares.sum(axis=0)), **self.product.total([shown], self.n_components)})

    def estimate(self, prior: MixturePrior | None, statistics: StatisticsBundle) -> MixtureModel:
        """M step: posterior means of the weights and of every part."""
        prior = self.prior if prior is None else prior
        shares = statistics[SHARES].n + prior.shares.alpha
        weights = self.weights if self.equal_weights else shares / shares.sum()
        found = self.product.estimate(prior.parts, statistics, self.parameters)
        return replace(self, weights=weights, parameters=found, statistics=statistics, prior=prior, lineage=None)

    def log_prior(self, prior: MixturePrior | None) -> float:
        """Return the log-likelihood of the pseudo-rows of the prior."""
        prior = self.prior if prior is None else prior
        shares = 0.0 if self.equal_weights else float(prior.shares.log_cases(self.weights))
        return shares + self.product.log_prior(prior.parts, self.parameters)

    # -- evidence adds, see :mod:`bayeslearn.incremental`

    def update(self, data: Any, *, sample_weight: Any = None, forgetting_factor: float = 1.0) -> MixtureModel:
        """Return the model after more rows: one step of online EM.

        Parameters
        ----------
        data
            Rows, whose expected statistics under this model are added.
        sample_weight
            The weight of each row.
        forgetting_factor
            The weight of what is known so far, from 0 to 1.
        """
        return incremental.updated(self, self.rows(data, sample_weight), forgetting_factor)

    def remove(self, data: Any, *, sample_weight: Any = None) -> MixtureModel:
        """Return the model without some of its rows.

        Rows that were added together by one :meth:`update` are removed exactly; of others the statistics that this
        model expects are subtracted.
        """
        rows = self.rows(data, sample_weight)
        return incremental.removed(self, rows, rows.total)

    def discount(self, forgetting_factor: float) -> MixtureModel:
        """Return the model with every row counting for `forgetting_factor` (0 to 1); the prior stays."""
        return incremental.discounted(self, forgetting_factor)

    def merge(self, other: MixtureModel) -> MixtureModel:
        """Return the model of the rows of both, the same as ``self + other``."""
        return self + other

    def __add__(self, other: MixtureModel) -> MixtureModel:
        """The model of the rows of both, component by component; rows of a base of both count once.

        Both have the same parts, and components in the same order: they were updated from one model, or are brought
        in order by :meth:`align`.
        """
        if not isinstance(other, MixtureModel):
            return NotImplemented
        comparison.require_same(self, other)
        return incremental.added(self, other)

    def __sub__(self, other: MixtureModel) -> MixtureModel:
        """The model without the rows of another one, except for those of a base of both."""
        if not isinstance(other, MixtureModel):
            return NotImplemented
        comparison.require_same(self, other)
        return incremental.subtracted(self, other)

    def align(self, to: MixtureModel) -> MixtureModel:
        """Return the model with its components in the order in which they are most similar to those of another."""
        return comparison.aligned(self, to)

    def reorder_components(self, order: Any) -> MixtureModel:
        """Return the model with its components in another order."""
        return comparison.reordered(self, order)

    # -- results

    def plot(self, data: Any, *, columns: Sequence[str] | None = None, ax: Any = None) -> Any:
        """Plot rows by their component; see :func:`bayeslearn.plots.plot_mixture`."""
        return plots.plot_mixture(self, data, columns=columns, ax=ax)

    def report(self) -> Report:
        """Return the components, their sizes and what distinguishes them."""
        return results.report_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return weights, sizes and the description of each component as plain values."""
        return results.plain_model(self)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame with a row for each component: weight, size and parameters."""
        return results.frame_of_model(self, backend)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values; arrays have a row for each component.

        {"equal", "weights", "shares": {"prior", "statistics"},
         "parts": [{"columns", "family", "covariance", "variance", "prior", "parameters", "statistics"}, ...],
         "lineage": {"shares", "bases", "parts"}}                                     only where it was updated
        """
        from bayeslearn.mixture.serialization import document_of  # noqa: PLC0415 - it makes models

        return document_of(self)

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> MixtureModel:
        """Return the model of a document, all of which is checked."""
        from bayeslearn.mixture.serialization import model_of  # noqa: PLC0415 - it makes models

        return model_of(reader, document)


def priors_of(
    parts: tuple[Component, ...], priors: Mapping[str, Any] | tuple[Any, ...], shares: Any, k: int
) -> MixturePrior:
    """Priors with a row for every component."""
    own = tuple(priors[part.name] for part in parts) if not isinstance(priors, tuple) else priors
    return MixturePrior(shares.of((k,)), Product(parts).shaped(own, k))


@upgrade("mixture", 1)
def with_new_distributions(_reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had other names of distributions."""
    return rename_values(document, "family", RENAMED_DISTRIBUTIONS | {"gaussian": "multivariate_gaussian"})
