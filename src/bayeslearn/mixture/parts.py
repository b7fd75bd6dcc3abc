"""What a component is made of: parts that are independent of each other, each a family over one or several columns.

    p(x | component) = Π p(x_part | θ_part)

A Gaussian mixture has one part over all columns; classes of a table have a part for each column. The prior of a part
counts as cases, and its parameters are posterior means (:mod:`bayeslearn.mixture.evidence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, EvidenceError, ParameterError
from bayeslearn.families import (
    Categorical,
    Dirichlet,
    Gamma,
    MultivariateNormal,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from bayeslearn.families.linalg import cholesky
from bayeslearn.families.moments import MEAN_ROUNDING
from bayeslearn.families.statistics import ratio
from bayeslearn.mixture import evidence, gaussians
from bayeslearn.tables import Discrete, Numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: A component with less than this many cases is empty: without a prior it keeps its parameters.
LEAST_CASES = 1e-10

#: A variance this small beside the largest of its column has collapsed onto cases that are all alike.
COLLAPSED = 1e-14

#: The variance of a component, as the weak prior has it, beside that of the whole.
NARROW = 0.1


@dataclass(frozen=True)
class Part:
    """A family and the columns it is of; the variance of a Gaussian may be known, and then only its means are learned.

    >>> Part.of(Poisson(), "visits")
    Part(columns=(Numeric(name='visits'),), family=Poisson(), variance=None)
    """

    columns: tuple[Discrete | Numeric, ...]
    family: Any
    variance: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.family, Normal | Poisson | Categorical | MultivariateNormal):
            raise ParameterError(
                f"there is no mixture of {self.family!r:.60}",
                hint="the families are Normal, Poisson, Categorical and MultivariateNormal",
            )
        if self.variance is not None:
            validation.number("variance", self.variance, above=0)

    @classmethod
    def of(cls, family: Any, *names: str, variance: float | None = None) -> Part:
        """A part over columns with these names, x0, x1, … when not told."""
        names = names or tuple(f"x{i}" for i in range(getattr(family, "dim", 1)))
        if isinstance(family, Categorical):
            return cls((Discrete(names[0], tuple(range(family.size))),), family)
        return cls(tuple(Numeric(name) for name in names), family, variance)

    @property
    def name(self) -> str:
        """The name of its column, or of its columns."""
        return ", ".join(column.name for column in self.columns)

    @property
    def joint(self) -> bool:
        """Whether a case is a vector of numbers."""
        return isinstance(self.family, MultivariateNormal)

    def cells(self, x: Any) -> NDArray[Any]:
        """Checked cells; a Gaussian part over one column takes it as a table of one."""
        if self.joint and self.family.dim == 1 and np.ndim(x) == 1:
            x = np.asarray(x)[:, None]
        try:
            return self.family.cells(x)
        except DataError as error:
            raise type(error)(f"{self.name}: {error.message}", hint=error.hint, columns=self.name) from None

    # -- E

    def log_prob(self, parameters: Any, cells: NDArray[Any]) -> Floats:
        """ln p of each case under every component, (n, k); missing cells are integrated out."""
        if self.joint:
            return gaussians.log_densities(self.family, parameters, cells)
        return self.family.log_prob(parameters, cells)

    def collect(self, parameters: Any, cells: NDArray[Any], shares: Floats) -> Any:
        """What is expected of the cases, by their shares (n, k)."""
        if self.joint:
            return gaussians.expected_moments(self.family, parameters, cells, shares)
        return self.family.collect(cells, weights=shares)

    # -- M

    def estimate(self, prior: Any, statistics: Any, before: Any) -> Any:
        """Posterior means; components without cases keep the parameters they had before."""
        if before is not None and evidence.knows_nothing(prior):
            statistics = evidence.stand_in(statistics, before, LEAST_CASES)
        posterior = self.family.update(prior, statistics)
        if self.variance is not None:
            return type(before)(posterior.mu, before[1]) if before is not None else self._known(posterior.mu)
        return self._regular(self.family.estimate(posterior))

    def _known(self, mean: Floats) -> Any:
        from bayeslearn.families import MultivariateParameters  # noqa: PLC0415 - only here

        return MultivariateParameters(mean, np.full(len(mean), self.variance))

    def _regular(self, parameters: Any) -> Any:
        """The parameters, unless a component has no spread left in some direction."""
        if isinstance(self.family, Categorical | Poisson):
            return parameters
        Σ = parameters[1]
        full = isinstance(self.family, MultivariateNormal) and self.family.covariance in {"full", "tied"}
        var = np.diagonal(Σ, axis1=-2, axis2=-1) if full else Σ
        message = f"{self.name}: a component collapsed onto cases that are all alike"
        hint = "give a prior (the default keeps variances regular), fewer components, or no constant columns"
        if not ((var > COLLAPSED * var.max(axis=0, initial=0.0)) & (var >= np.finfo(float).tiny)).all():
            raise EvidenceError(f"{message}: its variance is {var.min():.3g}", hint=hint)
        if full:
            cholesky(Σ, message=message, hint=hint)
        return parameters

    def shaped(self, prior: Any, k: int) -> Any:
        """A prior with a row for every component."""
        return self.family.update(prior, self.family.zero((k,)))

    # -- priors

    def whole(self, cells: NDArray[Any], weights: Floats | None) -> Any:
        """The statistics of all cases together, as of one component; of numbers column by column."""
        family = MultivariateNormal(self.family.dim, "diagonal") if self.joint else self.family
        return family.collect(cells, weights=np.ones((len(cells), 1)) if weights is None else weights[:, None])

    def none(self) -> Any:
        """No cases before the data."""
        if isinstance(self.family, Categorical):
            return Dirichlet(np.zeros(self.family.size))
        if isinstance(self.family, Poisson):
            return Gamma.none()
        return self.family.none() if self.joint else NormalInverseGamma.none()

    def weak(self, whole: Any, cases: float = 1.0) -> Any:
        """`cases` that look like all of the data (`whole`: its statistics, as of one component).

        The variances of a component are taken for a tenth of those of the whole, and its centre counts for a hundredth
        of a case, so that it may lie anywhere. Nothing here depends on how many components there are.
        """
        if isinstance(self.family, Categorical):
            n = whole.n[0]
            return Dirichlet(cases * (n + 1 / len(n)) / (n.sum() + 1))
        if isinstance(self.family, Poisson):
            return Gamma.m_estimate(cases, (whole.total[0] + 0.5) / (whole.n[0] + 1))
        mean, var = whole.mean[0], variances(whole)
        var = np.where(var > 0, NARROW * var, 1.0)
        if isinstance(self.family, Normal):
            return NormalInverseGamma(mean, np.asarray(cases / 100), np.asarray(1 + cases / 2), cases * var / 2)
        unit = self.family.unit_information(mean, var, cases)
        if isinstance(unit, NormalInverseWishart):
            return NormalInverseWishart(unit.mu, unit.kappa / 100, unit.nu, unit.psi)
        return NormalInverseGamma(unit.mu, unit.kappa / 100, unit.alpha, unit.beta)

    # -- size

    def free(self, k: int) -> int:
        """Parameters that can be chosen for k components."""
        if isinstance(self.family, Categorical):
            return k * (self.family.size - 1)
        if isinstance(self.family, Poisson):
            return k
        if isinstance(self.family, Normal):
            return 2 * k
        d = self.family.dim
        if self.variance is not None:
            return k * d
        full = d * (d + 1) // 2
        return k * d + {"full": k * full, "tied": full, "diagonal": k * d, "spherical": k}[self.family.covariance]

    def draw(self, parameters: Any, labels: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """A case of the component that each label names."""
        drawn = self.family.draw(parameters, len(labels), rng)
        return drawn[np.arange(len(labels)), labels]


def variances(whole: Any) -> Floats:
    """The variance of each column of the whole, 0 up to rounding where it is constant."""
    var = ratio(whole.m2, whole.n)[0]
    return np.where(var > (MEAN_ROUNDING * whole.mean[0]) ** 2, var, 0.0)


def free_of(parts: Sequence[Part], k: int) -> int:
    """The free parameters of a mixture: those of the parts, and the shares of the components."""
    return sum(part.free(k) for part in parts) + k - 1


def logs(weights: Floats) -> Floats:
    """ln w, −∞ where it is 0."""
    with np.errstate(divide="ignore"):
        return np.log(weights)


def log_sum(joint: Floats) -> Floats:
    """ln Σ_j e^joint, row by row."""
    top = joint.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(joint - safe[:, None]).sum(axis=1))
