"""Kernels that take many columns of states, or of numbers, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.components.component import ColumnDensity, register_kernels
from bayeslearn.distributions.categorical import Counts
from bayeslearn.distributions.moments import Moments
from bayeslearn.distributions.normal import LOG_2PI, positive
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.tables.schema import smallest_code_type
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component

    Floats = NDArray[np.float64]
    Labels = NDArray[np.int32]

#: The largest factor of a squared distance: with it a distance of 0 is 0 in the narrowest normal, too.
MAX_FACTOR = float(np.finfo(float).max)


class StateDensity(ColumnDensity):
    """ln p of the states of some columns, (columns, rows, 1 + states + 1): missing, every state, and an unseen one."""

    def __init__(self, *tables: Floats) -> None:
        widest = max(table.shape[1] for table in tables)
        self.tables = np.stack([np.pad(t, ((0, 0), (0, widest - t.shape[1]))) for t in tables])

    def __call__(self, cells: NDArray[Any], joint: Floats) -> None:
        """Add ln p of cells, (columns, cases)."""
        kernels.add_state_logs(cells, self.tables, joint)


class NormalDensity(ColumnDensity):
    """Mean, 1/2σ² and −½ ln 2πσ² of some columns, (columns, rows, 3)."""

    def __init__(self, *tables: Floats) -> None:
        self.tables = np.stack(tables)

    def __call__(self, cells: NDArray[Any], joint: Floats) -> None:
        """Add ln p of cells, (columns, cases)."""
        kernels.add_normal_logs(cells, self.tables, joint)


@register_kernels("categorical")
class StateKernels:
    """Columns of states.

    A state that was never seen in training is one state more, with the prior share of an average one:

        p(new | c) = ᾱ / (n_c + α₀ + ᾱ)        ᾱ = α₀ / K

    so it speaks for classes of which little was seen; without prior cases it says nothing.
    """

    def cells(self, component: Component, cells: NDArray[Any]) -> NDArray[Any]:
        """Codes of the smallest type, not to be written to."""
        return read_only(cells.astype(smallest_code_type(component.variable.size + 1)))

    def density(self, parameters: Floats) -> StateDensity:
        """ln p of probabilities (rows, states)."""
        tables = np.zeros((len(parameters), parameters.shape[1] + 2))
        with np.errstate(divide="ignore"):
            tables[:, 1:-1] = np.log(parameters)
        return StateDensity(tables)

    def posterior_density(self, posterior: Any, statistics: Any, _estimate: str, sharpness: float) -> StateDensity:
        """ln p of posterior means; integrated is the same."""
        alpha, before = posterior.alpha, posterior.alpha - statistics.n
        tables = np.zeros((len(alpha), alpha.shape[1] + 2))
        new, total = before.mean(axis=1), alpha.sum(axis=1)
        with np.errstate(divide="ignore"):
            tables[:, 1:-1] = np.log(ratio(alpha, np.broadcast_to(total[:, None], alpha.shape)))
            if (new > 0).all():
                tables[:, -1] = np.log(new / (total + new))
        tables[total == 0, 1:-1] = -np.log(alpha.shape[1])  # a class of which nothing is known
        return StateDensity(sharpness * tables)

    def collect(
        self,
        components: Sequence[Component],
        cells: NDArray[Any],
        labels: Labels,
        sample_weight: Floats,
        rows: int,
    ) -> Floats:
        """How often each state shows."""
        counts = np.zeros((len(components), max(c.variable.size for c in components) + 2, rows))
        kernels.count_classes(cells, labels, sample_weight, counts)
        return counts

    def statistics(self, component: Component, blocks: Floats) -> Counts:
        """Counts (rows, states)."""
        return Counts(np.ascontiguousarray(blocks.sum(axis=0)[1 : component.variable.size + 1].T))


@register_kernels("gaussian")
class NormalKernels:
    """Columns of numbers."""

    def cells(self, component: Component, cells: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002 - as of others
        """Numbers side by side, not to be written to."""
        return read_only(np.ascontiguousarray(cells, dtype=np.float64))

    def density(self, parameters: Any) -> NormalDensity:
        """ln p of means and variances."""
        mean, variance = parameters
        return self._density(mean, variance, 1.0)

    def posterior_density(
        self, posterior: Any, _statistics: Any, estimate: str, sharpness: float
    ) -> NormalDensity | None:
        """ln p of posterior means; Student's t is left to the distribution."""
        if estimate == "integrated":
            return None
        mean, variance = posterior.mean()
        return self._density(mean, variance, sharpness)

    def _density(self, mean: Floats, variance: Floats, sharpness: float) -> NormalDensity:
        variance, half = positive(variance), sharpness / 2
        with np.errstate(over="ignore"):
            factor = np.minimum(half / variance, MAX_FACTOR)
        return NormalDensity(np.stack([mean, factor, -half * (LOG_2PI + np.log(variance))], axis=1))

    def collect(
        self,
        components: Sequence[Component],
        cells: NDArray[Any],
        labels: Labels,
        sample_weight: Floats,
        rows: int,
    ) -> Floats:
        """n, x̄ and M of each row of parameters."""
        moments = np.empty((len(components), 3, rows))
        with np.errstate(invalid="ignore"):  # infinity is reported by who knows the column
            kernels.class_moments(cells, labels, sample_weight, moments)
        return moments

    def statistics(self, component: Component, blocks: Floats) -> Moments:  # noqa: ARG002 - as of others
        """Moments, merged by the pairwise formula."""
        n, mean, m2 = blocks.transpose(1, 0, 2)
        total = n.sum(axis=0)
        center = ratio((n * mean).sum(axis=0), total)
        slip = ratio((n * (mean - center)).sum(axis=0), total)  # what rounding left of the mean
        return Moments(total, center + slip, m2.sum(axis=0) + (n * (mean - center - slip) ** 2).sum(axis=0))
