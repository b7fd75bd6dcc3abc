"""Running a plan without a compiler: one NumPy call for each step over a table; see :mod:`.propagation`.

The steps of a plan are strides already, so a factor, a message or a likelihood is a view that is broadcast over the
axes it does not depend on, and a belief is a sum over those axes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels import python_fallback
from bayeslearn.kernels.uncompiled_junction_tree import BELIEF, FACTOR, MESSAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bounds below which entries are divided by the largest, and looked at, as in :mod:`.strides` and :mod:`.propagation`.
EDGE, FAINT = 1e-290, 1e-40

BYTES = 8


def propagate(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    beliefs: NDArray[np.float64],
    families: NDArray[np.float64],
    weight: float,
) -> float:
    """One case: every belief, and ln P(e); see :func:`.propagation.propagate`, which runs where logs are needed."""
    run = Propagation(network, plan, codes, likelihood, weighed)
    log_p = run.collect()
    if math.isnan(log_p):
        rest = (tables, messages, beliefs, families, weight)
        interpreted = python_fallback.twin(f"{__package__}.propagation").propagate
        return float(interpreted(network, plan, sizes, codes, likelihood, weighed, *rest))
    if log_p > -math.inf:
        beliefs[:] = 0.0
        run.distribute(beliefs, families, weight)
        if len(beliefs):
            sharpen(network[5], plan[0], codes, sizes, beliefs)
    return log_p


class Propagation:
    """The tables of one case, on the way up the tree and down again."""

    def __init__(
        self,
        network: Any,
        plan: Any,
        codes: NDArray[np.int64],
        likelihood: NDArray[np.float64],
        weighed: NDArray[np.bool_],
    ) -> None:
        scope_start, scope, scope_stride, cpt_start, self.cpt, belief_start, kept, least_of_factor = network
        site, parent, rows, cols, _, _, clique, step_start, steps, dims, strides, _, _ = plan
        fixed = np.where(site < 0, codes, 0)[scope] * scope_stride
        self.base = (cpt_start[:-1] + np.add.reduceat(fixed, scope_start[:-1])).tolist()
        self.belief_start, self.least_of_factor = belief_start.tolist(), least_of_factor.tolist()
        self.likelihood, self.weighed = likelihood, weighed.tolist()
        self.parent, self.rows, self.cols = parent.tolist(), rows.tolist(), cols.tolist()
        self.known = np.flatnonzero(kept & (clique < 0)).tolist()
        self.step_start, self.steps = step_start.tolist(), steps.tolist()
        self.dims, self.strides = dims.tolist(), (strides * BYTES).tolist()
        #: Of each clique its table, the sums that it sends up, the same divided by their sum, and a bound below them.
        self.table: list[NDArray[np.float64]] = []
        self.sums: list[NDArray[np.float64]] = []
        self.message: list[NDArray[np.float64]] = []
        self.least: list[float] = []
        self.scale: list[float] = []

    # -- up

    def collect(self) -> float:
        """Tables and messages from the leaves to the roots; ln P(e), NaN where a product may underflow."""
        log_p = 0.0
        for f in self.known:
            p = float(self.cpt[self.base[f]])
            if p == 0.0:
                return -math.inf
            log_p += math.log(p)
        for c in range(len(self.parent)):
            taken, low = self._make_table(c)
            if not taken > -math.inf:
                return taken
            sums = np.add.reduce(self.table[c].reshape(self.rows[c], self.cols[c]), axis=1)
            total = float(np.add.reduce(sums))
            if not total > 0.0:
                return -math.inf
            log_p += taken + math.log(total)
            self._send(sums, total, low)
        return log_p

    def _make_table(self, c: int) -> tuple[float, float]:
        """The table of a clique; the log of what was taken out, and a bound below its positive entries."""
        table, reached, low, log_p = np.ones(1), 1, 1.0, 0.0
        for kind, who, lo, hi, entries, _ in self.steps[self.step_start[c] : self.step_start[c + 1]]:
            if kind == BELIEF and not self.weighed[who]:
                continue
            source, base, least = self._source(kind, who)
            if low * least < EDGE:
                log_top, low = rescale(table)
                log_p += log_top
                if log_top == -math.inf or low * least < EDGE:
                    self.table.append(table)
                    return (log_top if log_top == -math.inf else math.nan), low
            low *= least
            if entries > reached:
                table, reached = table.repeat(entries // reached), entries
            shape = self.dims[lo:hi]
            table.reshape(shape)[...] *= np.ndarray(shape, np.float64, source, base * BYTES, self.strides[lo:hi])
        size = self.rows[c] * self.cols[c]
        self.table.append(table.repeat(size // reached) if reached < size else table)
        return log_p, low

    def _source(self, kind: int, who: int) -> tuple[NDArray[np.float64], int, float]:
        """What a step multiplies in: numbers, where they begin, and a bound below the positive ones."""
        if kind == FACTOR:
            return self.cpt, self.base[who], self.least_of_factor[who]
        if kind == MESSAGE:
            return self.message[who], 0, self.least[who]
        lo, hi = self.belief_start[who : who + 2]
        return self.likelihood, lo, least_positive(self.likelihood[lo:hi], 1.0)

    def _send(self, sums: NDArray[np.float64], total: float, low: float) -> None:
        message = sums / total
        self.sums.append(sums)
        self.message.append(message)
        self.scale.append(total)
        self.least.append(low / total if low / total >= FAINT else least_positive(message, math.inf))

    # -- down

    def distribute(self, beliefs: NDArray[np.float64], families: NDArray[np.float64], weight: float) -> None:
        """From the roots to the leaves: each table becomes a belief, is read off and shrinks."""
        ratio: dict[int, NDArray[np.float64]] = {}
        for c in range(len(self.parent) - 1, -1, -1):
            table = self.table[c].reshape(self.rows[c], self.cols[c])
            table = table / self.scale[c] if self.parent[c] < 0 else table * ratio[c][:, None]
            reached = table.size
            for kind, who, lo, hi, entries, _ in reversed(self.steps[self.step_start[c] : self.step_start[c + 1]]):
                if (kind == FACTOR and not len(families)) or (kind == BELIEF and not len(beliefs)):
                    continue
                if entries < reached:
                    table, reached = np.add.reduce(table.reshape(entries, -1), axis=1), entries
                if kind == BELIEF:
                    self._add(table, lo, hi, beliefs, self.belief_start[who], 1.0)
                elif kind == FACTOR:
                    self._add(table, lo, hi, families, self.base[who], weight)
                else:
                    above, below = np.zeros(self.rows[who]), self.sums[who]
                    self._add(table, lo, hi, above, 0, 1.0)
                    ratio[who] = np.divide(above, below, out=np.zeros(len(below)), where=below > 0.0)

    def _add(
        self, table: NDArray[np.float64], lo: int, hi: int, target: NDArray[np.float64], base: int, weight: float
    ) -> None:
        """Add the sums of a table over the axes that a target does not have."""
        dims, strides = self.dims[lo:hi], self.strides[lo:hi]
        over = tuple([k for k, stride in enumerate(strides) if not stride])
        shape = [size for size, stride in zip(dims, strides, strict=True) if stride]
        sums = np.add.reduce(table.reshape(dims), axis=over)
        view = np.ndarray(shape, np.float64, target, base * BYTES, [stride for stride in strides if stride])
        view += sums if weight == 1.0 else weight * sums


def rescale(table: NDArray[np.float64]) -> tuple[float, float]:
    """Divide a table by its largest entry: the log of it, −∞ when all is zero, and the least positive entry left."""
    top = float(table.max())
    if top == 0.0:
        return -math.inf, 1.0
    table /= top
    return math.log(top), least_positive(table, math.inf)


def least_positive(values: NDArray[np.float64], most: float) -> float:
    """The least of the numbers that is not zero, or `most` if that is less."""
    return float(np.min(values, where=values > 0.0, initial=most))


def sharpen(
    belief_start: NDArray[np.int64],
    site: NDArray[np.int64],
    codes: NDArray[np.int64],
    sizes: NDArray[np.int64],
    beliefs: NDArray[np.float64],
) -> None:
    """Beliefs that sum to one; certainty where a variable was observed, zeros where it plays no part."""
    totals = np.add.reduceat(beliefs, belief_start[:-1])
    totals[site < 0] = 1.0
    beliefs /= np.repeat(totals, sizes)
    seen = np.flatnonzero((site < 0) & (codes >= 0))
    beliefs[belief_start[seen] + codes[seen]] = 1.0
