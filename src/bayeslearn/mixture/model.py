"""A mixture: k components of the same parts, and how much of the data each has.

    p(x) = Σ_j w_j Π_parts p(x_part | θ_j)          r_ij = P(component j | x_i), its responsibility

A model is a value that keeps its prior and the statistics it rests on, so that learning goes on: more rows are added
(:meth:`Mixture.updated`), models that grew from one start are merged (``a + b``), and what they were both updated from
counts once (:mod:`bayeslearn.families.lineage`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.families import Bundle, Categorical, Counts, Dirichlet
from bayeslearn.families.lineage import after_update
from bayeslearn.mixture import evidence, gaussians, joining, product, rows, scoring
from bayeslearn.mixture.parts import Part, free_of, log_sum, logs

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bayeslearn.families.lineage import Lineage
    from bayeslearn.mixture.rows import Rows

    Floats = NDArray[np.float64]

#: The name of the components' shares among the statistics.
SHARES = "shares of the components"

#: Numbers in the largest array that a plain E step makes.
BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class MixturePrior:
    """Cases before the data: of the shares of the components, and of each part."""

    shares: Dirichlet
    parts: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Mixture:
    """k components; :func:`~bayeslearn.mixture.fit_mixture` learns one."""

    parts: tuple[Part, ...]
    weights: NDArray[np.float64]
    parameters: tuple[Any, ...]
    prior: MixturePrior
    #: What is expected of the data; None before anything was learned.
    statistics: Bundle | None = None
    #: Whether the shares of the components are known to be equal.
    equal: bool = False
    #: Statistics of the models that this one was updated from.
    lineage: Lineage | None = None

    def __repr__(self) -> str:
        names = ", ".join(part.name for part in self.parts)
        return f"Mixture({self.k} components of {names}; {self.cases:.10g} cases)"

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
        return free_of(self.parts, self.k) - (self.k - 1 if self.equal else 0)

    def __getitem__(self, name: str) -> Any:
        """The parameters of a part, by its name; a row for every component."""
        names = [part.name for part in self.parts]
        if name not in names:
            raise ParameterError(f"there is no part {name!r}", hint=f"the parts are {', '.join(names)}")
        return self.parameters[names.index(name)]

    # -- what it says of rows

    def rows(self, data: Any, weights: Any = None) -> Rows:
        """Data as rows of this mixture."""
        return rows.read(self.parts, data, weights)

    def log_joint(self, data: Any) -> Floats:
        """ln P(component, row), (n, k)."""
        return np.concatenate([self._joint(block) for block in self.rows(data).blocks(self._block())])

    def log_density(self, data: Any) -> Floats:
        """ln p(row); cells that are missing are integrated out."""
        return np.concatenate([log_sum(self._joint(block)) for block in self.rows(data).blocks(self._block())])

    def responsibilities(self, data: Any) -> Floats:
        """P(component | row), (n, k)."""
        return np.concatenate([self._shares(block)[0] for block in self.rows(data).blocks(self._block())])

    def assign(self, data: Any) -> NDArray[np.intp]:
        """The most probable component of each row, the first when tied."""
        blocks = self.rows(data).blocks(self._block())
        return np.concatenate([self._joint(block).argmax(axis=1) for block in blocks])

    def log_likelihood(self, data: Any, weights: Any = None) -> float:
        """Σ ln p(row)."""
        found = self.rows(data, weights)
        log_p = self.log_density(found)
        return float(log_p.sum() if found.weights is None else found.weights @ log_p)

    def sample(
        self, n: int, rng: np.random.Generator | int | None = None
    ) -> tuple[tuple[NDArray[Any], ...], NDArray[np.intp]]:
        """`n` rows at random, as the cells of every part, and the component of each."""
        rng = validation.generator(rng)
        validation.integer("n", n, least=1)
        labels = Categorical(self.k).draw(self.weights, n, rng)
        cells = tuple(
            np.concatenate(
                [part.draw(θ, labels[start : start + self._block()], rng) for start in range(0, n, self._block())]
            )
            for part, θ in zip(self.parts, self.parameters, strict=True)
        )
        return cells, labels

    def _block(self) -> int:
        widest = max((getattr(part.family, "dim", 1) for part in self.parts), default=1)
        return max(BLOCK // (self.k * widest), 256)

    def _joint(self, block: Rows) -> Floats:
        return product.log_prob(self.parts, self.parameters, block, self.weights)

    def _shares(self, block: Rows) -> tuple[Floats, Floats]:
        joint = self._joint(block)
        log_p = log_sum(joint)
        known = np.where(np.isfinite(log_p), log_p, 0.0)
        return np.exp(joint - known[:, None]), log_p

    # -- the two steps of EM

    def expected_statistics(self, data: Any) -> tuple[Bundle, float]:
        """What is expected of rows whose components are hidden, and their log likelihood."""
        found = self.rows(data)
        part = self.parts[0]
        if len(self.parts) == 1 and part.joint and len(found) * self.k * part.family.dim >= gaussians.WORTH:
            return self._compiled(found)
        total: tuple[Bundle, float] | None = None
        for block in found.blocks(self._block()):
            shares, log_p = self._shares(block)
            value = float(log_p.sum() if block.weights is None else block.weights @ log_p)
            if block.weights is not None:
                shares *= block.weights[:, None]
            statistics = self._collected(block, shares)
            total = (statistics, value) if total is None else (total[0] + statistics, total[1] + value)
        assert total is not None
        return total

    def _compiled(self, found: Rows) -> tuple[Bundle, float]:
        part, x = self.parts[0], found.cells[0]
        if part.family.covariance in {"full", "tied"} and np.isnan(x.sum()):
            whole = ~np.isnan(x).any(axis=1)
            if whole.any() and not whole.all():
                there, rest = self._compiled(found.take(whole)), self._holed(found.take(~whole))
                return there[0] + rest[0], there[1] + rest[1]
            if not whole.any():
                return self._holed(found)
        shares, moments, value = gaussians.expected(
            part.family, logs(self.weights), self.parameters[0], x, found.weights
        )
        return Bundle({SHARES: shares, part.name: moments}), value

    def _holed(self, found: Rows) -> tuple[Bundle, float]:
        shares, log_p = self._shares(found)
        w = np.ones(len(found)) if found.weights is None else found.weights
        return self._collected(found, shares * w[:, None]), float(w @ log_p)

    def _collected(self, block: Rows, shares: Floats) -> Bundle:
        found = product.collect(self.parts, self.parameters, block, shares)
        return Bundle({SHARES: Counts(shares.sum(axis=0)), **found})

    def estimate(self, prior: MixturePrior | None, statistics: Bundle) -> Mixture:
        """Posterior means, of the shares and of every part."""
        prior = self.prior if prior is None else prior
        shares = statistics[SHARES].n + prior.shares.alpha
        weights = self.weights if self.equal else shares / shares.sum()
        parts = zip(self.parts, prior.parts, self.parameters, strict=True)
        found = tuple(part.estimate(p, statistics[part.name], θ) for part, p, θ in parts)
        return replace(self, weights=weights, parameters=found, statistics=statistics, prior=prior, lineage=None)

    def log_prior(self, prior: MixturePrior | None) -> float:
        """The log likelihood of the cases that the prior stands for."""
        prior = self.prior if prior is None else prior
        shares = 0.0 if self.equal else evidence.log_prior(prior.shares, self.weights)
        return shares + sum(evidence.log_prior(p, θ) for p, θ in zip(prior.parts, self.parameters, strict=True))

    # -- evidence adds

    def updated(self, data: Any, *, weights: Any = None, keep: float = 1.0) -> Mixture:
        """One step of online EM: `keep` of what is known (1: all of it) and what is expected of more rows."""
        more, _ = self.expected_statistics(self.rows(data, weights))
        if self.statistics is None:
            return self.estimate(self.prior, more)
        found = self.estimate(self.prior, self.statistics * keep + more)
        return replace(found, lineage=after_update(self.lineage, self.statistics, more, keep))

    def __add__(self, other: Mixture) -> Mixture:
        """Both together, component by component: for models that grew from one start, or are :meth:`aligned`.

        Rows of a model that both were updated from count once.
        """
        if not isinstance(other, Mixture):
            return NotImplemented
        return joining.added(self, other)

    def aligned(self, to: Mixture) -> Mixture:
        """The components in the order in which they are most alike those of another mixture."""
        return joining.aligned(self, to)

    def reordered(self, order: Any) -> Mixture:
        """The same mixture with its components in another order."""
        return joining.reordered(self, order)

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a .json or .json.gz file."""
        from bayeslearn.mixture.model_files import write  # noqa: PLC0415 - only here

        write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mixture:
        """The model of a file, checked in full."""
        from bayeslearn.mixture.model_files import read  # noqa: PLC0415 - only here

        return read(path)

    # -- scores

    def bic(self, data: Any, weights: Any = None) -> float:
        """−2 ln P(D|θ) + free parameters · ln n: the lower the better."""
        found = self.rows(data, weights)
        return -2 * self.log_likelihood(found) + self.free_parameters * float(np.log(found.total))

    def aic(self, data: Any, weights: Any = None) -> float:
        """−2 ln P(D|θ) + 2 · free parameters: the lower the better."""
        return -2 * self.log_likelihood(data, weights) + 2 * self.free_parameters

    def log_evidence(self, data: Any, weights: Any = None) -> float:
        """ln P(D), parameters integrated out, as Cheeseman and Stutz bound it; see :mod:`.scoring`."""
        return scoring.log_evidence(self, self.rows(data, weights))


def priors_of(
    parts: tuple[Part, ...], priors: Mapping[str, Any] | tuple[Any, ...], shares: Any, k: int
) -> MixturePrior:
    """Priors with a row for every component."""
    own = tuple(priors[part.name] for part in parts) if not isinstance(priors, tuple) else priors
    return MixturePrior(shares.of((k,)), tuple(part.shaped(p, k) for part, p in zip(parts, own, strict=True)))
