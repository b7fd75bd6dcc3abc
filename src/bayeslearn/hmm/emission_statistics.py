"""The observations in one E step: likelihoods are laid out in lanes, and expected statistics are added.

A reading belongs to the parameters of one iteration. Three kinds serve all emissions: symbols and distinct counts are
looked up in a table, independent Gaussian columns have a kernel, and all others use log-likelihoods row by row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeslearn import kernels
from bayeslearn.distributions import Moments
from bayeslearn.distributions.moments import in_range
from bayeslearn.distributions.normal import LOG_2PI, normal_log_density
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.hmm.sequences import LANES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Starts = NDArray[np.int64]
    Floats = NDArray[np.float64]


class Reading(Protocol):
    """The interface of an E step to the emissions."""

    def lay(self, starts: Starts, lengths: Starts, b: Floats, log_p: Floats) -> None:
        """Fill b with likelihoods, up to factors whose logs are added to `log_p`."""

    def totals(self) -> Floats:
        """Arrays of sums, all zero."""

    def take(self, starts: Starts, lengths: Starts, gamma: Floats, totals: Floats) -> None:
        """Add expected statistics under γ, in lanes."""

    def take_rows(self, rows: slice, gamma: Floats, totals: Floats) -> None:
        """The same for the rows of one sequence."""

    def statistics(self, totals: Floats) -> Any:
        """The sums as statistics of the family."""

    def logs(self, rows: slice) -> Floats:
        """Log likelihoods (rows, S)."""


@dataclass(frozen=True)
class Symbols:
    """Codes that point into a table of log likelihoods (S, symbols); counts become statistics by `collected`."""

    codes: NDArray[np.int32]
    log_table: Floats
    collected: Callable[[Floats], Any]

    log_rows: Floats = field(init=False)
    table: Floats = field(init=False)

    def __post_init__(self) -> None:
        missing = np.zeros((1, len(self.log_table)))
        object.__setattr__(self, "log_rows", np.concatenate([missing, self.log_table.T]))
        object.__setattr__(self, "table", np.ascontiguousarray(np.exp(self.log_rows)))

    def lay(self, starts: Starts, lengths: Starts, b: Floats, log_p: Floats) -> None:  # noqa: ARG002 - no factor
        """Rows of the table."""
        kernels.lay_symbols(self.codes, starts, lengths, self.table, b)

    def totals(self) -> Floats:
        """A count for each symbol, the missing one first."""
        return np.zeros(self.table.shape)

    def take(self, starts: Starts, lengths: Starts, gamma: Floats, totals: Floats) -> None:
        """γ counted by symbol."""
        kernels.take_symbols(self.codes, starts, lengths, gamma, totals)

    def take_rows(self, rows: slice, gamma: Floats, totals: Floats) -> None:
        """The same for one sequence."""
        np.add.at(totals, self.codes[rows] + 1, gamma)

    def statistics(self, totals: Floats) -> Any:
        """Counts (S, symbols), without the missing."""
        return self.collected(np.ascontiguousarray(totals[1:].T))

    def logs(self, rows: slice) -> Floats:
        """Rows of the table in logs; nothing for a missing symbol."""
        return self.log_rows[self.codes[rows] + 1]


@dataclass(frozen=True)
class Normals:
    """Numbers (rows, D) against means and variances (S, D)."""

    x: Floats
    mean: Floats
    var: Floats
    parts: Floats = field(init=False)

    def __post_init__(self) -> None:
        parts = np.stack([self.mean, 0.5 / self.var, -(LOG_2PI + np.log(self.var)) / 2], axis=-1)
        object.__setattr__(self, "parts", np.ascontiguousarray(parts))

    def lay(self, starts: Starts, lengths: Starts, b: Floats, log_p: Floats) -> None:
        """Densities."""
        kernels.lay_normals(self.x, starts, lengths, self.parts, b, log_p)

    def totals(self) -> Floats:
        """γ, γ δ and γ δ² of each state and column, a lane each."""
        return np.zeros((3 * self.mean.size, LANES))

    def take(self, starts: Starts, lengths: Starts, gamma: Floats, totals: Floats) -> None:
        """Sums about the present means."""
        kernels.take_normals(self.x, starts, lengths, gamma, self.parts, totals)

    def take_rows(self, rows: slice, gamma: Floats, totals: Floats) -> None:
        """The same for one sequence."""
        off = self.x[rows][:, None, :] - self.mean
        share = np.where(np.isnan(off), 0.0, gamma[:, :, None])
        off = np.nan_to_num(off)
        for k in range(3):
            totals[k::3, 0] += (share * off**k).sum(axis=0).ravel()

    def statistics(self, totals: Floats) -> Moments:
        """Moments (S, D): the sums moved from the present means to the new ones."""
        n, first, second = np.moveaxis(totals.sum(axis=-1).reshape(*self.mean.shape, 3), -1, 0)
        slip = ratio(first, n)
        return Moments(n, self.mean + slip, np.maximum(second - n * slip * slip, 0.0))

    def logs(self, rows: slice) -> Floats:
        """Σ_d ln N(x_d | μ_d, σ²_d)."""
        with in_range():
            return normal_log_density((self.x[rows][:, None, :] - self.mean) ** 2, self.var).sum(axis=-1)


class Rows:
    """Any emissions, by their log likelihoods (rows, S); γ is kept row by row and gathered at the end."""

    def __init__(self, logs: Floats, gather: Callable[[Floats], Any]) -> None:
        self.all_logs = logs
        self.gather = gather
        self.gamma: Floats = np.zeros(logs.shape)

    def lay(self, starts: Starts, lengths: Starts, b: Floats, log_p: Floats) -> None:
        """Log likelihoods of the rows."""
        kernels.lay_logs(self.all_logs, starts, lengths, b, log_p)

    def totals(self) -> Floats:
        """No sums before the end."""
        return np.zeros(0)

    def take(self, starts: Starts, lengths: Starts, gamma: Floats, totals: Floats) -> None:  # noqa: ARG002 - see above
        """γ of the rows: no two sequences share one."""
        kernels.take_rows(self.gamma.shape[-1], starts, lengths, gamma, self.gamma)

    def take_rows(self, rows: slice, gamma: Floats, totals: Floats) -> None:  # noqa: ARG002 - see above
        """The same for one sequence."""
        self.gamma[rows] = gamma

    def statistics(self, totals: Floats) -> Any:  # noqa: ARG002 - see above
        """The statistics of the emissions with these weights."""
        return self.gather(self.gamma)

    def logs(self, rows: slice) -> Floats:
        """Log likelihoods of the rows."""
        return self.all_logs[rows]
