"""Random cases of a network: whole rows in ancestral order, and Gibbs sweeps over what was not observed.

    forward   x_v = the first state k with u < Σ_{j≤k} P(j | parents)          u uniform on [0, 1)
    weight    ln w = Σ_{v observed} ln P(e_v | parents) − ln Σ_m share_m · Π_{v tilted} Q_m(x_v | ·) / P(x_v | ·)
    Gibbs     P(x_v = k | the rest) ∝ P(k | parents) · Π_{children c} P(x_c | parents of c, x_v = k)

Uniform numbers are read off a counter, not off a state: number i of a stream is splitmix64's output i from the stream's
key (Steele, Lea and Flood 2014). A cell of a table therefore depends on the key of its column and the number of its row
alone, and any number of threads draws the same rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: States up to which all steps of a distribution function are compared at once; above, it is halved again and again.
FEW = 16

#: One row in so many is drawn from the wide proposal.
WIDE = 4

WORD = 2**64 - 1


### uniform numbers


@kernel
def _uniform(key: Any, counter: int) -> float:
    z = key + np.uint64(counter) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * 2.0**-53


def _uniform_of_integers(key: Any, counter: int) -> float:
    z = int(key) + int(counter) * 0x9E3779B97F4A7C15 & WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
    z ^= z >> 31
    return float(z >> 11) * 2.0**-53


#: Number `counter` of the stream `key` (a 64-bit word), uniform on [0, 1) in steps of 2⁻⁵³.
uniform: Any = _uniform_of_integers if numba.config.DISABLE_JIT else _uniform


@inner
def picked(cdf: NDArray[np.float64], base: int, size: int, u: float) -> int:
    """The first state whose cumulative probability is above u; the last one always is."""
    if size <= FEW:
        k = 0
        for j in range(size - 1):
            k += u >= cdf[base + j]
        return k
    lo, hi = 0, size - 1
    while lo < hi:
        middle = (lo + hi) // 2
        if u < cdf[base + middle]:
            hi = middle
        else:
            lo = middle + 1
    return lo


### whole rows


@kernel
def sample_rows(
    network: Any,
    order: NDArray[np.int64],
    cdfs: NDArray[np.float64],
    log_cpt: NDArray[np.float64],
    seen: NDArray[np.int64],
    log_likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    reject: bool,  # noqa: FBT001 - numba knows no keyword-only arguments
    tilted: NDArray[np.bool_],
    log_ratios: NDArray[np.float64],
    keys: NDArray[np.uint64],
    first: int,
    lo: int,
    hi: int,
    codes: NDArray[Any],
    log_weight: NDArray[np.float64],
) -> None:
    """Rows lo … hi of `codes` (variables, rows), which are the rows first … of the stream, and their log weights.

    An observed variable stands as observed and weighs ln P(e | parents); to `reject`, it is drawn like any other and
    weighs −∞ where it differs. A variable that is `tilted` is drawn from the second of the two distributions in `cdfs`
    in every WIDE-th row, and from the first in the others; `log_ratios` are ln P − ln Q of both.
    """
    scope_start, scope, scope_stride, cpt_start, _, belief_start, _ = network
    n = hi - lo
    base = np.empty(n, np.int64)
    cdf = cdfs[0]
    some = tilted.any()
    ratios = np.zeros((2, n if some else 0))
    for v in order:
        size = belief_start[v + 1] - belief_start[v]
        for i in range(n):
            base[i] = cpt_start[v]
        for s in range(scope_start[v], scope_start[v + 1] - 1):
            parent, stride = scope[s], scope_stride[s]
            for i in range(n):
                base[i] += codes[parent, lo + i] * stride
        state = seen[v]
        if state >= 0 and not reject:
            for i in range(n):
                codes[v, lo + i] = state
                log_weight[i] += log_cpt[base[i] + state]
            continue
        key = keys[v]
        for i in range(n):
            codes[v, lo + i] = picked(cdf, base[i], size, uniform(key, first + i))
        if tilted[v]:
            for i in range(-first % WIDE, n, WIDE):
                codes[v, lo + i] = picked(cdfs[1], base[i], size, uniform(key, first + i))
            for m in range(2):
                for i in range(n):
                    ratios[m, i] += log_ratios[m, base[i] + codes[v, lo + i]]
        if state >= 0:
            for i in range(n):
                if codes[v, lo + i] != state:
                    log_weight[i] = -np.inf
        elif weighed[v]:
            for i in range(n):
                log_weight[i] += log_likelihood[belief_start[v] + codes[v, lo + i]]
    if some:
        for i in range(n):
            less = min(ratios[0, i], ratios[1, i])
            log_weight[i] += less - np.log(
                (1.0 - 1.0 / WIDE) * np.exp(less - ratios[0, i]) + np.exp(less - ratios[1, i]) / WIDE
            )


@kernel
def tally(
    codes: NDArray[Any],
    weights: NDArray[np.float64],
    asked: NDArray[np.int64],
    starts: NDArray[np.int64],
    counts: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """Σ w and Σ w² of the rows in each state of each asked variable."""
    for v in asked:
        at = starts[v]
        for i in range(len(weights)):
            k = at + codes[v, i]
            counts[k] += weights[i]
            squares[k] += weights[i] * weights[i]


### Gibbs sampling


@inner
def blanket(
    network: Any,
    touched: Any,
    v: int,
    likelihood: NDArray[np.float64],
    codes: NDArray[np.int64],
    p: NDArray[np.float64],
) -> float:
    """p[k] ∝ P(x_v = k | all others), by the tables that v stands in; returns their sum."""
    scope_start, scope, scope_stride, cpt_start, cpt, belief_start, _ = network
    touch_start, touch, touch_stride = touched
    size = belief_start[v + 1] - belief_start[v]
    for k in range(size):
        p[k] = likelihood[belief_start[v] + k]
    total = 0.0
    for t in range(touch_start[v], touch_start[v + 1]):
        f, stride = touch[t], touch_stride[t]
        base = cpt_start[f] - codes[v] * stride
        for s in range(scope_start[f], scope_start[f + 1]):
            base += codes[scope[s]] * scope_stride[s]
        total = 0.0
        for k in range(size):
            p[k] *= cpt[base + k * stride]
            total += p[k]
    return total


@inner
def log_blanket(
    network: Any,
    touched: Any,
    v: int,
    log_likelihood: NDArray[np.float64],
    log_cpt: NDArray[np.float64],
    codes: NDArray[np.int64],
    p: NDArray[np.float64],
) -> float:
    """The same by sums of logs, for products that may underflow."""
    scope_start, scope, scope_stride, cpt_start, _, belief_start, _ = network
    touch_start, touch, touch_stride = touched
    size = belief_start[v + 1] - belief_start[v]
    for k in range(size):
        p[k] = log_likelihood[belief_start[v] + k]
    for t in range(touch_start[v], touch_start[v + 1]):
        f, stride = touch[t], touch_stride[t]
        base = cpt_start[f] - codes[v] * stride
        for s in range(scope_start[f], scope_start[f + 1]):
            base += codes[scope[s]] * scope_stride[s]
        for k in range(size):
            p[k] += log_cpt[base + k * stride]
    top = -np.inf
    for k in range(size):
        top = max(top, p[k])
    total = 0.0
    for k in range(size):
        p[k] = np.exp(p[k] - top)
        total += p[k]
    return total


@kernel
def gibbs_sweeps(
    network: Any,
    touched: Any,
    hidden: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    logs: Any,
    key: Any,
    counter: int,
    length: int,
    codes: NDArray[np.int64],
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> int:
    """Batches of `length` sweeps; `codes` is left where the chain stands. Returns the counter to go on from.

    sums[b] and squares[b] hold, for each state of a hidden variable, Σ x and Σ x² over the sweeps of batch b, where x
    is its probability given all others: it varies less than whether it was drawn (Rao and Blackwell). `logs` are those
    of the likelihoods and of the tables, and which variables need them.
    """
    belief_start = network[5]
    log_likelihood, log_cpt, in_logs = logs
    widest = 1
    for v in hidden:
        widest = max(widest, belief_start[v + 1] - belief_start[v])
    p = np.empty(widest)
    for b in range(len(sums)):
        for _ in range(length):
            for v in hidden:
                at, size = belief_start[v], belief_start[v + 1] - belief_start[v]
                if in_logs[v]:
                    total = log_blanket(network, touched, v, log_likelihood, log_cpt, codes, p)
                else:
                    total = blanket(network, touched, v, likelihood, codes, p)
                u = uniform(key, counter) * total
                counter += 1
                state, reached = codes[v], 0.0
                found = False
                for k in range(size):
                    x = p[k] / total
                    sums[b, at + k] += x
                    squares[b, at + k] += x * x
                    reached += p[k]
                    if not found and u < reached:
                        state, found = k, True
                codes[v] = state
    return counter
