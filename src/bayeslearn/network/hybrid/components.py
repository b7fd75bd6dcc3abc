"""Numeric components: the numbers that hang together when some of them are observed.

An observed number enters its children as a constant; nodes that are joined by arcs from unobserved numbers are one
component. In each configuration d of its discrete parents the numbers of a component are jointly normal:

    μ_y = a + bᵀ μ_x        cov(y, ·) = bᵀ cov(x, ·)        var y = bᵀ Σ_xx b + v        (parents first)

With o the observed and h the unobserved numbers, a row gives configuration d the factor

    φ(d) = N(o; μ_o, Σ_oo)
    m_d  = μ_h + Σ_ho Σ_oo⁻¹ (o − μ_o)        V_d = Σ_hh − Σ_ho Σ_oo⁻¹ Σ_oh

φ is a factor over the discrete parents: with it the discrete variables have their posterior, and a number the mixture
Σ_d P(d | e) N(m_d, V_d). Only means depend on the row, so that all else is computed once for a pattern of observed
nodes. An observation that the others determine (variance 0) is left out where it agrees with them, and excludes the
configuration where it does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.capacity import size_of
from bayeslearn.distributions.normal import LOG_2PI
from bayeslearn.errors import CapacityError, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.hybrid.layout import Layout, Rows

    Floats = NDArray[np.float64]

#: A variance below this share of the marginal one is zero up to rounding, and so far a determined number may be off.
DETERMINED, AGREES = 1e-12, 1e-9

#: Numbers of one batch of matrices, one for each row and configuration.
BATCH = 1 << 21


@dataclass(frozen=True)
class Conditional:
    """What is known of a component before rows come: the matrices of the module for every configuration d.

    With r = o − μ_o: ln φ = constant − ½ |whiten r|², m = μ_h + gain r. Rows of `determined` are zero but for
    observations that the others determine: determined r = 0 where they agree.
    """

    #: Numbers of the discrete parents with their sizes, and of the observed, unobserved and constant numeric nodes.
    discrete: tuple[int, ...]
    shape: tuple[int, ...]
    observed: tuple[int, ...]
    hidden: tuple[int, ...]
    constants: tuple[int, ...]
    mean: Floats
    slope: Floats
    constant: Floats
    whiten: Floats
    gain: Floats
    covariance: Floats
    determined: Floats | None

    @property
    def n_observed(self) -> int:
        """The number of observed nodes."""
        return len(self.observed)

    def configurations(self, codes: NDArray[np.int64], free: tuple[int, ...]) -> NDArray[np.int64]:
        """The configuration of each row with every combination of states of the free parents: (n, combinations)."""
        strides = dict(zip(self.discrete, strides_of(self.shape), strict=True))
        fixed = [d for d in self.discrete if d not in free]
        base = np.zeros(len(codes), np.int64)
        for d in fixed:
            base += codes[:, d] * strides[d]
        sizes = dict(zip(self.discrete, self.shape, strict=True))
        each = combinations([sizes[d] for d in free])
        steps = np.array([strides[d] for d in free], np.int64)
        return np.asarray(base[:, None] + (steps @ each)[None, :])

    def given(self, rows: Rows, at: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """ln φ (n, combinations) and m (n, combinations, hidden) of rows in these configurations."""
        o, constants = rows.numbers[:, self.observed], rows.numbers[:, self.constants]
        mean = self.mean[at]
        if self.constants:
            mean = mean + applied(self.slope, at, constants[:, None, :])
        k = self.n_observed
        r = o[:, None, :] - mean[..., :k]
        with np.errstate(over="ignore"):
            log_φ = self.constant[at] - (applied(self.whiten, at, r) ** 2).sum(axis=-1) / 2
        if self.determined is not None:
            log_φ = np.where(self._agree(at, r, mean[..., :k], o), log_φ, -np.inf)
        m = mean[..., k:] + applied(self.gain, at, r) if self.hidden else np.empty((*at.shape, 0))
        return log_φ, m

    def _agree(self, at: NDArray[np.int64], r: Floats, mean: Floats, o: Floats) -> NDArray[np.bool_]:
        assert self.determined is not None
        off = np.abs(applied(self.determined, at, r))
        size = np.abs(mean) + np.abs(o)[:, None, :] + np.abs(r).max(axis=-1, keepdims=True, initial=0.0)
        return np.asarray((off <= AGREES * size).all(axis=-1))


def combinations(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Every combination of codes, a column each, the last variable varying fastest: (variables, combinations)."""
    return np.indices(sizes, dtype=np.int64).reshape(len(sizes), math.prod(sizes))


def strides_of(shape: tuple[int, ...]) -> list[int]:
    """The step of each axis in a flat array."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def applied(matrices: Floats, at: NDArray[np.int64], x: Floats) -> Floats:
    """The matrix (configurations, a, b) of each cell times its vector, (n, combinations or 1, b)."""
    if len(matrices) == 1:
        found = x @ matrices[0].T
        return found if found.shape[1] == at.shape[1] else np.broadcast_to(found, (*at.shape, found.shape[-1]))
    if at.size * matrices[0].size <= BATCH:
        return np.asarray(np.einsum("nhab,nhb->nha", matrices[at], np.broadcast_to(x, (*at.shape, x.shape[-1]))))
    found = np.empty((*at.shape, matrices.shape[1]))
    x = np.broadcast_to(x, (*at.shape, x.shape[-1]))
    for configuration in np.unique(at):
        cells = at == configuration
        found[cells] = x[cells] @ matrices[configuration].T
    return found


### from the parameters


def conditional_of(layout: Layout, component: tuple[int, ...], seen: NDArray[np.bool_], limit: float) -> Conditional:
    """The matrices of a component, of which the nodes that were seen are observed."""
    discrete = tuple(sorted({d for i in component for d in layout.states_of[i]}))
    shape = tuple(layout.sizes[d] for d in discrete)
    constants = tuple(sorted({p for i in component for p in layout.inputs_of[i] if seen[p]}))
    observed = tuple(i for i in component if seen[i])
    hidden = tuple(i for i in component if not seen[i])
    k = len(component)
    require_room(layout, component, discrete, shape, limit)
    α, B, Σ = joint(layout, component, discrete, shape, seen, constants)
    order = [component.index(i) for i in (*observed, *hidden)]
    α, B, Σ = α[:, order], B[:, order], Σ[:, order][:, :, order]
    o = len(observed)
    solved = by_cholesky(Σ, o) or by_pivots(Σ, o)
    constant, whiten, gain, determined = solved
    V = Σ[:, o:, o:] - gain @ Σ[:, :o, o:]
    V = (V + np.swapaxes(V, 1, 2)) / 2
    diagonal = np.arange(k - o)
    V[:, diagonal, diagonal] = np.maximum(V[:, diagonal, diagonal], 0.0)
    return Conditional(discrete, shape, observed, hidden, constants, α, B, constant, whiten, gain, V, determined)


def require_room(
    layout: Layout, component: tuple[int, ...], discrete: tuple[int, ...], shape: tuple[int, ...], limit: float
) -> None:
    """Refuse a component whose matrices do not fit into memory, with its nodes and their discrete parents."""
    names = ", ".join(layout.nodes[i].name for i in component[:6]) + (", …" if len(component) > 6 else "")
    parents = [layout.cpts[d].name for d in discrete]
    k, configurations = len(component), math.prod(shape)
    need = 6 * 8 * configurations * k * k
    if need > limit:
        raise CapacityError(
            f"the numeric component of {names} has {configurations:,} configurations of its discrete parents "
            f"{listed(parents)} and would take {size_of(need)}, more than the limit of {size_of(limit)}",
            hint=f"observe {parents[0]!r}, query fewer variables, or use method='likelihood_weighting'",
            bytes=need,
        )


def joint(
    layout: Layout,
    component: tuple[int, ...],
    discrete: tuple[int, ...],
    shape: tuple[int, ...],
    seen: NDArray[np.bool_],
    constants: tuple[int, ...],
) -> tuple[Floats, Floats, Floats]:
    """Mean α + B·constants and covariance of the nodes in every configuration, parents first."""
    C, k, p = math.prod(shape), len(component), len(constants)
    α, B, Σ = np.zeros((C, k)), np.zeros((C, k, p)), np.zeros((C, k, k))
    index = dict(zip(discrete, np.unravel_index(np.arange(C), shape), strict=True)) if discrete else {}
    place, constant_at = {i: j for j, i in enumerate(component)}, {i: j for j, i in enumerate(constants)}
    for j, i in enumerate(component):
        node = layout.nodes[i]
        row = (
            np.ravel_multi_index([index[d] for d in layout.states_of[i]], node.rows)
            if layout.states_of[i]
            else np.zeros(C, np.int64)
        )
        a, b, v = (numbers[row] for numbers in node.flat)
        α[:, j] = a
        free = [(place[x], q) for q, x in enumerate(layout.inputs_of[i]) if not seen[x]]
        for q, x in enumerate(layout.inputs_of[i]):
            if seen[x]:
                B[:, j, constant_at[x]] += b[:, q]
        at, by = [f[0] for f in free], b[:, [f[1] for f in free]]
        if at:
            α[:, j] += np.einsum("cf,cf->c", by, α[:, at])
            B[:, j] += np.einsum("cf,cfp->cp", by, B[:, at])
            across = np.einsum("cf,cfk->ck", by, Σ[:, at, :j])
            Σ[:, j, :j] = Σ[:, :j, j] = across
            v = v + np.einsum("cf,cf->c", by, across[:, at])
        Σ[:, j, j] = v
    return α, B, Σ


Solved = tuple["Floats", "Floats", "Floats", "Floats | None"]


def by_cholesky(Σ: Floats, o: int) -> Solved | None:
    """Constant, whitening and gain by a Cholesky factor of Σ_oo; None where it is singular."""
    C = len(Σ)
    if o == 0:
        return np.zeros(C), np.empty((C, 0, 0)), np.empty((C, Σ.shape[1], 0)), None
    inner = Σ[:, :o, :o]
    variances = np.diagonal(inner, axis1=1, axis2=2)
    try:
        L = np.linalg.cholesky(inner)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diagonal(L, axis1=1, axis2=2)
    if not (pivots**2 > DETERMINED * variances).all():
        return None
    whiten = np.linalg.inv(L)
    gain = Σ[:, o:, :o] @ np.swapaxes(whiten, 1, 2) @ whiten
    return -o * LOG_2PI / 2 - np.log(pivots).sum(axis=1), whiten, gain, None


def by_pivots(Σ: Floats, o: int) -> Solved:
    """The same, with observations left out that those before them determine."""
    C, h = len(Σ), Σ.shape[1] - o
    constant, whiten, gain, determined = np.zeros(C), np.zeros((C, o, o)), np.zeros((C, h, o)), np.zeros((C, o, o))
    for c in range(C):
        kept: list[int] = []
        for j in range(o):
            weights = np.linalg.solve(Σ[c][np.ix_(kept, kept)], Σ[c, kept, j]) if kept else np.empty(0)
            left = Σ[c, j, j] - weights @ Σ[c, kept, j]
            if left > DETERMINED * max(Σ[c, j, j], 0.0):
                kept.append(j)
            else:
                determined[c, j, j] = 1.0
                determined[c, j, kept] = -weights
        if kept:
            L = np.linalg.cholesky(Σ[c][np.ix_(kept, kept)])
            inverse = np.linalg.inv(L)
            constant[c] = -len(kept) * LOG_2PI / 2 - np.log(np.diagonal(L)).sum()
            whiten[c][np.ix_(kept, kept)] = inverse
            gain[c][:, kept] = Σ[c, o:][:, kept] @ inverse.T @ inverse
    return constant, whiten, gain, determined
