"""Normal likelihood, mean and variance unknown, with a normal-inverse-gamma prior.

    x ~ N(μ, σ²)      μ | σ² ~ N(m, σ²/κ),  σ² ~ InverseGamma(α, β)      statistics: moments (n, x̄, M)

The prior is evidence of the same kind: κ cases of mean m. So the posterior is a merge of moments,

    (κ, m, 2β) + (n, x̄, M) = (κ', m', 2β')          α' = α + n/2

and means may share one variance: then their squared deviations are pooled (:class:`~.multivariate.MultivariateNormal`).

What the improper priors (κ = 0, β = 0) give, with M the squared deviations of n cases:

    prior         α       mean of σ²     mode of σ²
    none          1       M / n          M / (n + 5)        the mean is maximum likelihood
    flat         −3/2     M / (n − 5)    M / n              the mode is maximum likelihood
    reference    −1/2     M / (n − 3)    M / (n + 2)        intervals of μ are the classical ones, with n − 1 degrees

The mode is that of the joint density of (μ, σ²).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import gammainccinv, gammaincinv, gammaln

from bayeslearn import validation
from bayeslearn.distributions.distribution import Distribution, Reach, register
from bayeslearn.distributions.moments import MEAN_ROUNDING, Moments, pooled, real_cells, require_squares, together
from bayeslearn.distributions.sufficient_statistics import (
    NOTHING,
    common_shape,
    fitted,
    frozen,
    kept,
    paired,
    ratio,
    require,
    shown,
)
from bayeslearn.errors import EvidenceError, ImproperPriorError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.student_t import StudentT
    from bayeslearn.distributions.sufficient_statistics import Assignment
    from bayeslearn.errors import BayeslearnError

LOG_2PI = np.log(2 * np.pi)


class NormalParameters(NamedTuple):
    """A mean and a variance, each of shape rows."""

    mean: NDArray[np.float64]
    var: NDArray[np.float64]


def normal_log_density(square: NDArray[np.float64], var: NDArray[np.float64]) -> NDArray[np.float64]:
    """−½ (ln 2πσ² + d²/σ²) at squared distance d²; 0 where that is missing."""
    with np.errstate(
        divide="ignore", invalid="ignore", over="ignore"
    ):  # nobody's variance is 0, and nobody's distance is missing
        return np.where(np.isnan(square), 0.0, -(LOG_2PI + np.log(var) + square / var) / 2)


def positive(var: ArrayLike) -> NDArray[np.float64]:
    """Variances that a density can be computed with."""
    variance = validation.float_array("var", var)
    require(
        np.isfinite(variance) & (variance > 0),
        f"a density needs variances that are finite and above 0, got {variance.min(initial=np.inf):g}",
        hint="cases that are all alike have variance 0: give a prior such as unit_information(...)",
        error=ParameterError,
    )
    return variance


def inverse_gamma_interval(
    alpha: NDArray[np.float64], beta: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Equal-tailed bounds of β/g with g ~ Gamma(α)."""
    tail = (1 - validation.number("level", level, above=0, below=1)) / 2
    return np.asarray(beta / gammainccinv(alpha, tail)), np.asarray(beta / gammaincinv(alpha, tail))


### prior


@dataclass(frozen=True, eq=False)
class NormalInverseGamma:
    """A distribution of (μ, σ²): κ pseudo-rows of mean m; α and β are the prior of σ².

    `mu` and `kappa` have the shape of the means. So have `alpha` and `beta`, unless the means along an axis of length 1
    share one variance.

    >>> NormalInverseGamma.unit_information(mean=10, var=4, equivalent_sample_size=2)
    NIG(μ=10, κ=2, α=2, β=4)
    """

    mu: NDArray[np.float64]
    kappa: NDArray[np.float64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]

    def __post_init__(self) -> None:
        names = ("mu", "kappa", "alpha", "beta")
        values = {name: validation.float_array(name, getattr(self, name)) for name in names}
        for name, value in values.items():
            if not np.isfinite(value).all():
                raise ParameterError(f"`{name}` must be finite, got {value[~np.isfinite(value)][0]}")
        for name in ("kappa", "beta"):
            validation.not_negative(name, values[name])
        shapes = {name: value.shape for name, value in values.items()}
        means = common_shape(**shapes)
        variances = common_shape(alpha=shapes["alpha"], beta=shapes["beta"])
        variances = variances if len(variances) == len(means) else means
        for name, shape in zip(names, (means, means, variances, variances), strict=True):
            value = values[name]
            object.__setattr__(self, name, frozen(value if value.shape == shape else np.broadcast_to(value, shape)))

    def __repr__(self) -> str:
        return f"NIG(μ={shown(self.mu)}, κ={shown(self.kappa)}, α={shown(self.alpha)}, β={shown(self.beta)})"

    # -- the usual choices; the table above says what the improper ones give

    @classmethod
    def none(cls) -> NormalInverseGamma:
        """No prior cases: the posterior mean is the sample mean and M/n (maximum likelihood)."""
        return cls(*np.array([0.0, 0.0, 1.0, 0.0]))

    @classmethod
    def flat(cls, sharing: int = 1) -> NormalInverseGamma:
        """Every (μ, σ²) equally probable, when `sharing` means share σ²: the posterior mode is maximum likelihood."""
        return cls(*np.array([0.0, 0.0, -1 - sharing / 2, 0.0]))

    @classmethod
    def reference(cls, sharing: int = 1) -> NormalInverseGamma:
        """Jeffreys' p(μ, σ²) ∝ 1/σ², when `sharing` means share σ²."""
        return cls(*np.array([0.0, 0.0, -sharing / 2, 0.0]))

    @classmethod
    def unit_information(cls, mean: ArrayLike, var: ArrayLike, equivalent_sample_size: float = 1) -> NormalInverseGamma:
        """As if m rows of this mean and variance were seen: E[σ²] = (M + m var + …) / (n + m), `none` when m = 0."""
        m = validation.number("equivalent_sample_size", equivalent_sample_size, min_value=0)
        var = validation.not_negative("var", validation.float_array("var", var))
        return cls(validation.float_array("mean", mean), np.asarray(m), np.asarray(1 + m / 2), m * var / 2)

    @kept
    def of(self, shape: tuple[int, ...], variances: tuple[int, ...] | None = None) -> NormalInverseGamma:
        """The same prior for every mean of `shape`, each with its own variance unless `variances` shares them."""
        means = (fitted(part, shape) for part in (self.mu, self.kappa))
        shared = shape if variances is None else variances
        return NormalInverseGamma(*means, *(fitted(part, shared, shares=True) for part in (self.alpha, self.beta)))

    # -- evidence adds

    def plus(self, statistics: Moments) -> NormalInverseGamma:
        """The posterior: moments of the prior and of the data merged, deviations pooled where a variance is shared."""
        both = Moments(self.kappa, self.mu, np.zeros(self.mu.shape)) + statistics
        n, m2 = (pooled(a, self.beta.shape) for a in (statistics.n, both.m2))
        return NormalInverseGamma(both.mean, both.n, self.alpha + n / 2, self.beta + m2 / 2)

    def log_normalizer(self) -> NDArray[np.float64]:
        """Log of ∫ of what is proportional to the density: ln Γ(α) − α ln β − ½ Σ ln κ."""
        self.require_proper("its evidence", error=ImproperPriorError)
        return gammaln(self.alpha) - self.alpha * np.log(self.beta) - pooled(np.log(self.kappa), self.beta.shape) / 2

    # -- what it says

    @property
    def sharing(self) -> float:
        """How many means share one variance."""
        return self.mu.size / max(self.beta.size, 1)

    def mean(self, otherwise: Any = None) -> NormalParameters:
        """m and β/(α − 1); those of `otherwise`, where given, in rows without cases."""
        if otherwise is not None:
            mean, var = (np.asarray(part, dtype=np.float64) for part in otherwise)
            known, cases = self.kappa > NOTHING, self.alpha - 1
            var = np.where(cases > NOTHING, ratio(self.beta, cases), var.reshape(self.beta.shape))
            return NormalParameters(np.where(known, self.mu, mean), var)
        self._require_cases("the mean")
        require(
            self.alpha > 1,
            "the mean of the variance is undefined: it is based on too few rows",
            hint="use the mode, give more cases, or a prior such as unit_information(...)",
        )
        return NormalParameters(self.mu, np.asarray(self.beta / (self.alpha - 1)))

    def log_cases(self, parameters: tuple[ArrayLike, ArrayLike]) -> NDArray[np.float64]:
        """−(α − 1) ln σ² − (β + κ(μ − m)²/2) / σ², one number per variance."""
        mean, var = np.asarray(parameters[0], dtype=float), np.reshape(parameters[1], self.beta.shape)
        own = (self.alpha - 1) * np.log(var) + self.beta / var
        return -own - pooled(self.kappa * (mean - self.mu) ** 2 / 2 / var, self.beta.shape)

    def mode(self) -> NormalParameters:
        """m and β/(α + 1 + L/2), where L means share the variance: 3/2 for one."""
        self._require_cases("the mode")
        power = self.alpha + 1 + self.sharing / 2
        require(
            power > 0,
            "the mode of the variance is undefined: it is based on too few rows",
            hint="give more cases, or a prior such as unit_information(...)",
        )
        return NormalParameters(self.mu, np.asarray(self.beta / power))

    def draw(self, random_state: np.random.Generator | int | None = None) -> NormalParameters:
        """σ² = β/g with g ~ Gamma(α), then μ ~ N(m, σ²/κ)."""
        self.require_proper("a draw")
        random_state = validation.generator(random_state)
        var = np.asarray(self.beta / random_state.standard_gamma(self.alpha))
        mean = self.mu + np.sqrt(var / self.kappa) * random_state.standard_normal(self.mu.shape)
        return NormalParameters(np.asarray(mean), var)

    def interval(self, level: float = 0.95) -> tuple[NormalParameters, NormalParameters]:
        """Equal-tailed bounds: μ is Student t with 2α degrees of freedom, 1/σ² is gamma."""
        self.require_proper("an interval")
        low, high = self._student(1 / self.kappa).interval(level)
        least, most = inverse_gamma_interval(self.alpha, self.beta, level)
        return NormalParameters(low, least), NormalParameters(high, most)

    def log_pdf(self, parameters: tuple[ArrayLike, ArrayLike]) -> NDArray[np.float64]:
        """Log density of (μ, σ²), one number per variance."""
        mean, var = np.asarray(parameters[0], dtype=float), positive(parameters[1])
        normal = -(LOG_2PI + np.log(var) + self.kappa * (mean - self.mu) ** 2 / var) / 2
        gamma = -(self.alpha + 1) * np.log(var) - self.beta / var
        return pooled(normal, self.beta.shape) + gamma - self.log_normalizer()

    def predictive(self) -> StudentT:
        """One more case: Student t with 2α degrees of freedom, scale² = β/α (1 + 1/κ)."""
        self.require_proper("a prediction")
        return self._student(1 + 1 / self.kappa)

    def _student(self, cases: NDArray[np.float64]) -> StudentT:
        from bayeslearn.distributions.student_t import StudentT  # noqa: PLC0415 - predictions alone need it

        return StudentT(2 * self.alpha, self.mu, np.sqrt(self.beta / self.alpha * cases))

    def _require_cases(self, what: str) -> None:
        require(
            self.kappa > 0,
            f"{what} is undefined: it is based on no rows",
            hint="give a prior with pseudo-rows, for instance unit_information(...)",
        )

    def require_proper(self, what: str, *, error: type[BayeslearnError] = EvidenceError) -> None:
        """Draws, densities and evidence need κ, α and β above 0."""
        require(
            pooled((self.kappa <= 0).astype(float), self.beta.shape) + (self.alpha <= 0) + (self.beta <= 0) == 0,
            f"{what} is undefined: κ, α and β must be above 0, which takes enough cases that are not all alike",
            hint="give more cases, or a proper prior such as unit_information(mean, var)",
            error=error,
        )


### likelihood


@register("gaussian")
@dataclass(frozen=True)
class Normal(Distribution[Moments, NormalInverseGamma]):
    """A real number; NaN is missing.

    >>> heights = Normal().fit([1.0, 2.0, 3.0], prior=NormalInverseGamma.none())
    >>> heights.mean()
    NormalParameters(mean=array(2.), var=array(0.66666667))
    """

    def cells(self, x: ArrayLike) -> NDArray[np.float64]:
        """A column of finite numbers; NaN is missing."""
        return real_cells(x)

    def gather(self, cells: NDArray[np.float64], to: Assignment) -> Moments:
        """n = Σ w, x̄ = Σ w x / n, M = Σ w (x − x̄)²."""
        return Moments.collect(cells, to)

    def zero(self, rows: tuple[int, ...] = ()) -> Moments:
        """No data."""
        return Moments.zero(rows)

    def update(self, prior: NormalInverseGamma, statistics: Moments) -> NormalInverseGamma:
        """Moments of prior and data, merged."""
        return prior.of(statistics.n.shape).plus(statistics)

    def log_evidence(self, prior: NormalInverseGamma, statistics: Moments) -> NDArray[np.float64]:
        """ln Γ(α')/Γ(α) + α ln β − α' ln β' + ½ ln κ/κ' − n/2 ln 2π."""
        before = prior.of(statistics.n.shape)
        gain = before.plus(statistics).log_normalizer() - before.log_normalizer()
        return gain - statistics.n / 2 * LOG_2PI

    def log_prob(
        self, parameters: tuple[ArrayLike, ArrayLike], x: ArrayLike, *, groups: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """−½ (ln 2πσ² + (x − μ)²/σ²); 0 where x is missing."""
        mean, var = np.broadcast_arrays(np.asarray(parameters[0], dtype=float), positive(parameters[1]))
        x, mean, var = paired(real_cells(x), groups, mean, var)
        return normal_log_density((x - mean) ** 2, var)

    def predictive(self, posterior: NormalInverseGamma) -> StudentT:
        """Student t."""
        return posterior.predictive()

    def draw(
        self, parameters: tuple[ArrayLike, ArrayLike], n: int, random_state: np.random.Generator | int | None = None
    ) -> NDArray[np.float64]:
        """Numbers at random."""
        mean, var = np.broadcast_arrays(*(np.asarray(p, dtype=float) for p in parameters))
        return mean + np.sqrt(var) * validation.generator(random_state).standard_normal((n, *mean.shape))

    # -- what learners ask

    centers_are_means: ClassVar[bool] = True
    prior_type: ClassVar[Any] = NormalInverseGamma
    n_free: ClassVar[int] = 2

    def like(
        self, parameters: tuple[ArrayLike, ArrayLike], sample_size: float, *, center: float = 1.0, spread: float = 1.0
    ) -> NormalInverseGamma:
        """m cases of this mean and variance; the mean counts for `center` of them, the variance is `spread` of it."""
        mean, var = parameters
        unit = NormalInverseGamma.unit_information(mean, spread * np.asarray(var), sample_size)
        return unit if center == 1 else NormalInverseGamma(unit.mu, center * unit.kappa, unit.alpha, unit.beta)

    def smoothed(self, pooled: Moments) -> NormalParameters:
        """The mean and the variance; 1 where all cases are alike."""
        whole = together(pooled)
        return NormalParameters(whole.mean, np.where(varies(whole), whole.var, 1.0))

    def pooled(
        self, pooled: Moments, sample_size: float = 1.0, *, center: float = 1.0, spread: float = 1.0
    ) -> NormalInverseGamma:
        """m cases that look like all; cases that are all alike have variance 1, whatever the `spread`."""
        mean, var = self.smoothed(pooled)
        scale = np.where(varies(together(pooled)), spread, 1.0)
        return self.like((mean, var * scale), sample_size, center=center)

    def require_range(self, cells: NDArray[np.float64], what: str) -> None:
        """Numbers whose squares can be added up."""
        require_squares(f"numbers in {what!r}", cells)

    def varies(self, pooled: Moments) -> bool:
        """Whether the numbers differ, up to rounding."""
        return bool(varies(together(pooled)).all())

    def log_likelihood(self, statistics: Moments, parameters: tuple[ArrayLike, ArrayLike]) -> NDArray[np.float64]:
        """−½ (n ln 2πσ² + (M + n (x̄ − μ)²) / σ²)."""
        return moments_log_likelihood(statistics, parameters)

    def require_regular(self, parameters: tuple[ArrayLike, ArrayLike], what: str) -> None:
        """Variances that have not collapsed onto cases that are all alike."""
        require_spread(np.asarray(parameters[1]), what)

    def reach(self, parameters: Any) -> Reach:
        """The means, and the largest and smallest standard deviation."""
        return reach_of(parameters[0], parameters[1])

    def widened(self, parameters: Any, factor: float) -> NormalParameters:
        """σ · factor."""
        return NormalParameters(parameters[0], enlarged(parameters[1], factor))

    def average(self, parameters: Any, sample_weight: NDArray[np.float64]) -> NormalParameters:
        """The mean and the variance of the mixtures."""
        mean, var = (np.asarray(p) for p in parameters)
        center = sample_weight @ mean
        return NormalParameters(center, sample_weight @ (var + mean**2) - center**2)

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """Mean ± standard deviation."""
        return f"{parameters[0][row]:.4g} ± {np.sqrt(parameters[1][row]):.3g}"

    def divergence(self, parameters: Any, whole: Any) -> NDArray[np.float64]:
        """½ (σ²/σ̄² + (μ − μ̄)²/σ̄² − 1 − ln σ²/σ̄²)."""
        (mean, var), (center, wide) = parameters, whole
        wide = np.where(np.asarray(wide) > 0, wide, 1.0)
        return np.asarray((var / wide + (mean - center) ** 2 / wide - 1 - np.log(var / wide)) / 2)


### helpers of all normals

#: A variance this small beside the largest of its column has collapsed onto cases that are all alike.
COLLAPSED = 1e-14

#: The largest variance of a widened normal.
MAX_VARIANCE = 1e300


def varies(whole: Moments) -> NDArray[np.bool_]:
    """Whether numbers differ, up to rounding of their mean."""
    return np.sqrt(whole.var) > MEAN_ROUNDING * np.abs(whole.mean)


def moments_log_likelihood(statistics: Moments, parameters: Any) -> NDArray[np.float64]:
    """The log likelihood of numbers behind moments, columns added up."""
    mean, var = parameters
    var = np.asarray(var).reshape(np.shape(var) + (1,) * (statistics.n.ndim - np.ndim(var)))
    square = statistics.m2 + statistics.n * (statistics.mean - mean) ** 2
    cells = -(statistics.n * (LOG_2PI + np.log(var)) + square / var) / 2
    return cells if cells.ndim <= 1 else cells.sum(axis=-1)


def require_spread(var: NDArray[np.float64], what: str) -> None:
    """Variances (rows, columns) none of which has collapsed."""
    if not ((var > COLLAPSED * var.max(axis=0, initial=0.0)) & (var >= np.finfo(float).tiny)).all():
        raise EvidenceError(f"{collapse(what)}: its variance is {var.min():.3g}", hint=REGULAR)


#: What keeps variances regular.
REGULAR = "give a prior (the default keeps variances regular), fewer components, or no constant columns"


def collapse(what: str) -> str:
    """What has happened."""
    return f"{what}: a component collapsed onto cases that are all alike"


def reach_of(mean: ArrayLike, var: ArrayLike, own: ArrayLike | None = None) -> Reach:
    """Where means lie, and how far their variances reach; `own` are those of the columns, of matrices."""
    centers = np.asarray(mean, dtype=np.float64)
    columns = np.asarray(var if own is None else own, dtype=np.float64)
    least = max(columns.min(), np.finfo(np.float64).tiny)
    return Reach(centers.reshape(len(centers), -1), float(np.sqrt(np.max(var))), float(np.sqrt(least)))


def enlarged(var: ArrayLike, factor: float) -> NDArray[np.float64]:
    """Variances of standard deviations `factor` times as large, within the range of floats."""
    with np.errstate(over="ignore"):
        return np.clip(np.asarray(var) * factor * factor, -MAX_VARIANCE, MAX_VARIANCE)
