"""The posterior of a number as a mixture of normals, and posteriors of states and numbers together.

    p(x | e) = Σ_i w_i N(x; m_i, s_i²)        mean = Σ w_i m_i        var = Σ w_i (s_i² + m_i²) − mean²

On the scale "log" the mixture is of y = ln x: F(x) = F_y(ln x), p(x) = p_y(ln x)/x, and E[x] = Σ w_i e^(m_i + s_i²/2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from bayeslearn import lazy_imports, validation
from bayeslearn.fit_info import plain
from bayeslearn.network.inference.results import QueryResult
from bayeslearn.reports import Bars, Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.hybrid.nodes import Scale
    from bayeslearn.network.inference.results import Backend

    Floats = NDArray[np.float64]

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Bisections of a quantile: the bracket shrinks to the spacing of floats.
BISECTIONS = 200

#: The level of the bounds in frames and reports: 5 % and 95 %.
LEVEL = 0.9


class Part(NamedTuple):
    """One normal of a mixture, on the scale of the node."""

    weight: float
    mean: float
    sd: float


@dataclass(frozen=True, eq=False)
class NumericPosterior(Reported):
    """The posterior distribution of a number.

    >>> found = NumericPosterior(np.array([0.25, 0.75]), np.array([0.0, 4.0]), np.array([1.0, 1.0]))
    >>> found.mean, round(found.sd, 3), round(found.cdf(2.0), 3)
    (3.0, 2.0, 0.261)
    >>> [round(x, 3) for x in found.interval(0.9)]
    [-0.842, 5.501]
    """

    probabilities: Floats
    means: Floats
    sds: Floats
    scale: Scale = "linear"
    name: str = ""

    # -- moments

    @cached_property
    def mean(self) -> float:
        """The mean."""
        return float(self.probabilities @ self._part_means)

    @cached_property
    def variance(self) -> float:
        """The variance."""
        within = self.sds**2 if self.scale == "linear" else np.expm1(self.sds**2) * self._part_means**2
        return float(self.probabilities @ (within + (self._part_means - self.mean) ** 2))

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return float(np.sqrt(self.variance))

    @property
    def _part_means(self) -> Floats:
        return self.means if self.scale == "linear" else np.exp(self.means + self.sds**2 / 2)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The normals of the mixture: weights, means and standard deviations, of ln x on the scale "log"."""
        return tuple(map(Part, self.probabilities.tolist(), self.means.tolist(), self.sds.tolist()))

    # -- distribution

    def cdf(self, x: ArrayLike) -> Any:
        """P(number <= x)."""
        y = self._y(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (y[..., None] - self.means) / self.sds
        p = np.where(self.sds > 0, ndtr(z), (y[..., None] >= self.means).astype(float))
        return plain_number(p @ self.probabilities)

    def pdf(self, x: ArrayLike) -> Any:
        """The density at x; infinite where a part has no spread."""
        y = self._y(x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = (y[..., None] - self.means) / self.sds
            density = np.exp(-(z**2) / 2) / (self.sds * np.sqrt(2 * np.pi))
            density = np.where(self.sds > 0, density, np.where(y[..., None] == self.means, np.inf, 0.0))
            found = density @ self.probabilities
            if self.scale == "log":
                found = np.where(np.isneginf(y), 0.0, found / np.exp(y))
        return plain_number(found)

    def quantile(self, p: ArrayLike) -> Any:
        """The smallest x with P(number <= x) >= p; by bisection on the mixture."""
        p = np.asarray(p, dtype=np.float64)
        if not ((p >= 0) & (p <= 1)).all():
            validation.number("p", float(p[~((p >= 0) & (p <= 1))].flat[0]), min_value=0, max_value=1)
        reach = 40 * self.sds + 1e-300
        low, high = np.full(p.shape, (self.means - reach).min()), np.full(p.shape, (self.means + reach).max())
        log = self.scale == "log"
        for _ in range(BISECTIONS):
            middle = low + (high - low) / 2
            below = np.asarray(self.cdf(np.exp(middle) if log else middle)) < p
            low, high = np.where(below, middle, low), np.where(below, high, middle)
            if (high - low <= 4e-16 * np.abs(high)).all():
                break
        edge = np.where(p == 0, -np.inf, np.where(p == 1, np.inf, high))
        return plain_number(np.exp(edge) if log else edge)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed bounds that hold the number with this probability."""
        level = validation.number("level", level, above=0, below=1)
        low, high = self.quantile([(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def sample(self, n_samples: int = 1, *, random_state: np.random.Generator | int | None = None) -> Floats:
        """Numbers drawn at random."""
        random = validation.generator(random_state)
        part = random.choice(len(self.probabilities), n_samples, p=self.probabilities / self.probabilities.sum())
        y = self.means[part] + self.sds[part] * random.standard_normal(n_samples)
        return np.exp(y) if self.scale == "log" else y

    def _y(self, x: ArrayLike) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        if self.scale == "linear":
            return x
        with np.errstate(divide="ignore"):
            return np.log(np.where(x > 0, x, 0.0))

    # -- what it shows

    def __repr__(self) -> str:
        low, high = self.interval(LEVEL)
        return f"NumericPosterior(mean={self.mean:.6g}, sd={self.sd:.6g}, 5 %={low:.6g}, 95 %={high:.6g})"

    def to_dict(self) -> dict[str, Any]:
        """Return mean, standard deviation, the 5 %, 50 % and 95 % quantiles, and the parts."""
        low, middle, high = self.quantile([0.05, 0.5, 0.95]).tolist()
        parts = [part._asdict() for part in self.parts]
        return {"mean": self.mean, "sd": self.sd, "q05": low, "median": middle, "q95": high, "scale": self.scale,
                "parts": parts}  # fmt: skip

    def report(self) -> Report:
        """Return the moments and quantiles."""
        shown = {key: value for key, value in self.to_dict().items() if key in MOMENTS}
        return Report(self.name or "Posterior of a number", Pairs({MOMENTS[key]: shown[key] for key in MOMENTS}))

    def plot(self, *, ax: Any = None) -> Any:
        """Plot the density; see :func:`bayeslearn.plots.plot_density`."""
        return plots.plot_density(self, ax=ax)


#: Keys of a posterior, and what they are called.
MOMENTS = {"mean": "mean", "sd": "sd", "q05": "5 %", "median": "50 %", "q95": "95 %"}


def plain_number(x: Any) -> Any:
    """A float for one number, an array for several."""
    return float(x) if np.ndim(x) == 0 else x


@dataclass(frozen=True, repr=False)
class HybridPosterior(QueryResult):
    """Posterior distributions of states and numbers given evidence: by state, or as a :class:`NumericPosterior`.

    `log_evidence` is the log of a density where numbers are observed, and may be positive.
    """

    evidence: dict[str, Any]
    log_evidence: float
    beliefs: dict[str, Any] = field(default_factory=dict)

    def most_probable(self, name: str) -> Any:
        """Return the most probable state of a variable, or the mean of a number."""
        found = self[name]
        return found.mean if isinstance(found, NumericPosterior) else max(found, key=found.__getitem__)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        beliefs = {
            name: found.to_dict() if isinstance(found, NumericPosterior) else plain(found)
            for name, found in self.beliefs.items()
        }
        return {"evidence": plain(self.evidence), "log_evidence": self.log_evidence, "beliefs": beliefs}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame: variable, state and probability, or mean, sd, 5 % and 95 % quantile."""
        rows: list[tuple[Any, ...]] = []
        for name, found in self.beliefs.items():
            if isinstance(found, NumericPosterior):
                rows.append((name, None, None, found.mean, found.sd, *found.interval(LEVEL)))
            else:
                rows += [(name, str(state), p, None, None, None, None) for state, p in found.items()]
        columns = ("variable", "state", "probability", "mean", "sd", "q05", "q95")
        return frame_of({column: [row[j] for row in rows] for j, column in enumerate(columns)}, backend)

    def _block(self, name: str) -> Bars | Grid:
        found = self[name]
        if not isinstance(found, NumericPosterior):
            return Bars(found, title=name)
        return Grid(["mean", "sd", "5 %", "95 %"], [[found.mean, found.sd, *found.interval(LEVEL)]], title=name)

    def _facts(self) -> dict[str, Any]:
        return {"ln p(evidence)": self.log_evidence}


@dataclass(frozen=True, eq=False, repr=False)
class JointNumericPosterior(Reported):
    """The joint posterior of several numbers: a mixture of multivariate normals on the scales of their nodes.

    Attributes
    ----------
    names, probabilities, means, covariances
        The numbers, and for each part its probability, mean (parts, d) and covariance (parts, d, d).
    """

    names: tuple[str, ...]
    probabilities: Floats
    means: Floats
    covariances: Floats

    @cached_property
    def mean(self) -> Floats:
        """The mean of each number."""
        return np.asarray(self.probabilities @ self.means)

    @cached_property
    def cov(self) -> Floats:
        """The covariance matrix."""
        δ = self.means - self.mean
        between = np.einsum("i,ia,ib->ab", self.probabilities, δ, δ)
        return np.asarray(np.einsum("i,iab->ab", self.probabilities, self.covariances) + between)

    def __repr__(self) -> str:
        return f"JointNumericPosterior({', '.join(self.names)})"

    def to_dict(self) -> dict[str, Any]:
        """Return names, mean and covariance as plain values."""
        return {"names": list(self.names), "mean": self.mean.tolist(), "cov": self.cov.tolist()}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame: a row for each number with its mean and covariances."""
        columns: dict[str, Any] = {"variable": list(self.names), "mean": self.mean.tolist()}
        columns |= {f"cov({name})": self.cov[:, j].tolist() for j, name in enumerate(self.names)}
        return frame_of(columns, backend)

    def report(self) -> Report:
        """Return means and covariances."""
        head = ["variable", "mean", *(f"cov({name})" for name in self.names)]
        rows = [[name, self.mean[i], *self.cov[i]] for i, name in enumerate(self.names)]
        return Report(f"p({', '.join(self.names)})", Grid(head, rows))
