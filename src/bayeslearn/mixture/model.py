"""A mixture: k components of the same parts, and how much of the data each has.

    p(x) = Σ_j w_j Π_parts p(x_part | θ_j)          r_ij = P(component j | x_i), its responsibility

A model is a value that keeps its prior and the statistics it rests on, so that learning goes on: more rows are added
(:meth:`MixtureModel.updated`), models that grew from one start are merged (``a + b``), and what they were both updated
from counts once (:mod:`bayeslearn.distributions.lineage`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.capacity import require_numbers
from bayeslearn.codec import RENAMED_DISTRIBUTIONS, Saved, rename_values, upgrade
from bayeslearn.components.product import Product, normalized, total_log_likelihood
from bayeslearn.components.rows import read
from bayeslearn.distributions import Categorical, Counts, Dirichlet, StatisticsBundle
from bayeslearn.distributions.lineage import after_update
from bayeslearn.distributions.row_assignment import Assignment
from bayeslearn.errors import ParameterError
from bayeslearn.mixture import marginal_likelihood, merge
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.components.product import WeightedProduct
    from bayeslearn.components.rows import Rows
    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.model_values import Reader

    Floats = NDArray[np.float64]

#: The name of the components' shares among the statistics.
SHARES = "shares of the components"


@dataclass(frozen=True, eq=False)
class MixturePrior:
    """Cases before the data: of the shares of the components, and of each part."""

    shares: Dirichlet
    parts: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class MixtureModel(Saved, kind="mixture", version=2):
    """k components; :func:`~bayeslearn.mixture.fit_mixture` learns one."""

    parts: tuple[Component, ...]
    weights: NDArray[np.float64]
    parameters: tuple[Any, ...]
    prior: MixturePrior
    #: What is expected of the data; None before anything was learned.
    statistics: StatisticsBundle | None = None
    #: Whether the shares of the components are known to be equal.
    equal: bool = False
    #: Statistics of the models that this one was updated from.
    lineage: Lineage | None = None

    def __repr__(self) -> str:
        names = ", ".join(part.name for part in self.parts)
        return printable(f"MixtureModel({self.k} components of {names}; {self.cases:.10g} cases)")

    @property
    def k(self) -> int:
        """How many components there are."""
        return len(self.weights)

    @property
    def cases(self) -> float:
        """How many cases the model rests on."""
        return 0.0 if self.statistics is None else float(self.statistics[SHARES].n.sum())

    @property
    def sizes(self) -> Floats:
        """How many cases each component has."""
        return np.zeros(self.k) if self.statistics is None else self.statistics[SHARES].n

    @property
    def free_parameters(self) -> int:
        """How many numbers can be chosen."""
        return self.product.n_parameters(self.k) + (0 if self.equal else self.k - 1)

    @cached_property
    def product(self) -> Product:
        """The product of the parts."""
        return Product(self.parts)

    @cached_property
    def weighted(self) -> WeightedProduct:
        """The product with the shares and the parameters of the components."""
        with np.errstate(divide="ignore"):
            return self.product.weighted(np.log(self.weights), self.parameters)

    def __getitem__(self, name: str) -> Any:
        """The parameters of a part, by its name; a row for every component."""
        names = [part.name for part in self.parts]
        if name not in names:
            raise ParameterError(f"there is no part {name!r}", hint=f"the parts are {', '.join(names)}")
        return self.parameters[names.index(name)]

    # -- what it says of rows

    def rows(self, data: Any, sample_weight: Any = None) -> Rows:
        """Data as rows of this mixture."""
        return read(self.parts, data, sample_weight)

    def log_joint(self, data: Any) -> Floats:
        """ln P(component, row), (n, k)."""
        return np.concatenate([self.weighted.log_joint(block).T for block in self._blocks(data)])

    def log_density(self, data: Any) -> Floats:
        """ln p(row); cells that are missing are integrated out."""
        return np.concatenate([normalized(self.weighted.log_joint(block))[1] for block in self._blocks(data)])

    def responsibilities(self, data: Any) -> Floats:
        """P(component | row), (n, k)."""
        return np.concatenate([self.weighted.shares(block)[0].T for block in self._blocks(data)])

    def assign(self, data: Any) -> NDArray[np.intp]:
        """The most probable component of each row, the first when tied."""
        model = self.weighted
        joints = ((block, model.log_joint(block)) for block in self._blocks(data))
        return np.concatenate([model.comparable(block, joint).argmax(axis=0) for block, joint in joints])

    def _blocks(self, data: Any) -> list[Rows]:
        return self.rows(data).blocks(self.weighted.block)

    def log_likelihood(self, data: Any, sample_weight: Any = None) -> float:
        """Σ ln p(row)."""
        found = self.rows(data, sample_weight)
        log_p = self.log_density(found)
        return total_log_likelihood(log_p, found.sample_weight)

    def sample(
        self, n: int, random_state: np.random.Generator | int | None = None
    ) -> tuple[tuple[NDArray[Any], ...], NDArray[np.intp]]:
        """`n` rows at random, as the cells of every part, and the component of each."""
        random_state = validation.generator(random_state)
        validation.integer("n", n, min_value=1)
        require_numbers(f"{n:,} rows", (n, 1 + sum(len(part.columns) for part in self.parts)), copies=2)
        labels = Categorical(self.k).draw(self.weights, n, random_state)
        return self.product.draw(self.parameters, labels, random_state), labels

    # -- the two steps of EM

    def expected_statistics(self, data: Any) -> tuple[StatisticsBundle, float]:
        """What is expected of rows whose components are hidden, and their log likelihood."""
        found = self.weighted.expect(self.rows(data))
        return StatisticsBundle({SHARES: found.counts, **found.statistics}), found.log_likelihood

    def collected(self, data: Rows, shares: Floats) -> StatisticsBundle:
        """The statistics of rows that belong to the components by shares, (n, k)."""
        shown = self.product.collect(data.cells, Assignment(shares), self.parameters)
        return StatisticsBundle({SHARES: Counts(shares.sum(axis=0)), **self.product.total([shown], self.k)})

    def estimate(self, prior: MixturePrior | None, statistics: StatisticsBundle) -> MixtureModel:
        """Posterior means, of the shares and of every part."""
        prior = self.prior if prior is None else prior
        shares = statistics[SHARES].n + prior.shares.alpha
        weights = self.weights if self.equal else shares / shares.sum()
        found = self.product.estimate(prior.parts, statistics, self.parameters)
        return replace(self, weights=weights, parameters=found, statistics=statistics, prior=prior, lineage=None)

    def log_prior(self, prior: MixturePrior | None) -> float:
        """The log likelihood of the cases that the prior stands for."""
        prior = self.prior if prior is None else prior
        shares = 0.0 if self.equal else float(prior.shares.log_cases(self.weights))
        return shares + self.product.log_prior(prior.parts, self.parameters)

    # -- evidence adds

    def updated(self, data: Any, *, sample_weight: Any = None, keep: float = 1.0) -> MixtureModel:
        """One step of online EM: `keep` of what is known (1: all of it) and what is expected of more rows."""
        more, _ = self.expected_statistics(self.rows(data, sample_weight))
        if self.statistics is None:
            return self.estimate(self.prior, more)
        found = self.estimate(self.prior, self.statistics * keep + more)
        return replace(found, lineage=after_update(self.lineage, self.statistics, more, keep))

    def __add__(self, other: MixtureModel) -> MixtureModel:
        """Both together, component by component: for models that grew from one start, or are :meth:`aligned`.

        Rows of a model that both were updated from count once.
        """
        if not isinstance(other, MixtureModel):
            return NotImplemented
        return merge.added(self, other)

    def aligned(self, to: MixtureModel) -> MixtureModel:
        """The components in the order in which they are most alike those of another mixture."""
        return merge.aligned(self, to)

    def reordered(self, order: Any) -> MixtureModel:
        """The same mixture with its components in another order."""
        return merge.reordered(self, order)

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

    # -- scores

    def bic(self, data: Any, sample_weight: Any = None) -> float:
        """−2 ln P(D|θ) + free parameters · ln n: the lower the better."""
        found = self.rows(data, sample_weight)
        return -2 * self.log_likelihood(found) + self.free_parameters * float(np.log(found.total))

    def aic(self, data: Any, sample_weight: Any = None) -> float:
        """−2 ln P(D|θ) + 2 · free parameters: the lower the better."""
        return -2 * self.log_likelihood(data, sample_weight) + 2 * self.free_parameters

    def log_evidence(self, data: Any, sample_weight: Any = None) -> float:
        """ln P(D), parameters integrated out, as Cheeseman and Stutz bound it; see :mod:`.scoring`."""
        return marginal_likelihood.log_evidence(self, self.rows(data, sample_weight))


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
