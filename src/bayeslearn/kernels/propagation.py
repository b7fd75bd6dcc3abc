"""Running a plan: products up the tree, ratios down again, beliefs read off.

    up     table = Π factors · Π messages of children        message = Σ over what the parent does not see
    down   table · (parent's Σ onto the separator) / message
    belief P(v | e) = Σ over the rest of a table that holds v

A table grows from its outermost axis inwards. What depends on the outer axes only is multiplied in while the table is
still small, and each grown entry is then repeated along the next axes; on the way down the table shrinks the same way,
and what depends on the outer axes only is read from the small one. So few steps go over all the entries of a clique.

Every message is normalized on the way up and the logs of the sums add to ln P(e). In most networks no product can
underflow, which is known before (`is_safe`). In others a bound below the positive entries of every table is kept:
where a product could underflow the table is divided by its largest entry, and where that does not help the way up is
gone once more in logs, see :mod:`.log_propagation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.junction_tree import BELIEF, FACTOR, MESSAGE, best_plan
from bayeslearn.kernels.log_propagation import collect_logs
from bayeslearn.kernels.table_strides import EDGE, add_up, factor_base, grow, multiply, rescaled, shrink

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Products of sums in this range need no logarithm yet: a log is dear.
LEAST, MOST = 1e-150, 1e150

#: Where the bound below the entries of a message is smaller than this, the entries are looked at.
FAINT = 1e-40


@inner
def known_factors(network: Any, plan: Any, codes: NDArray[np.int64]) -> float:
    """The log of the factors that evidence fixes altogether."""
    cpt, kept = network[4], network[6]
    site, clique = plan[0], plan[6]
    log_p, product = 0.0, 1.0
    for f in range(len(kept)):
        if kept[f] and clique[f] < 0:
            p = cpt[factor_base(network, site, codes, f)]
            if p == 0.0:
                return -np.inf
            if p < LEAST:
                log_p += np.log(p)
                continue
            product *= p
            if product < LEAST:
                log_p += np.log(product)
                product = 1.0
    return log_p + np.log(product)


@inner
def least_likelihood(likelihood: NDArray[np.float64], lo: int, hi: int) -> float:
    """The least of the likelihoods lo … hi that is not zero, at most 1."""
    least = 1.0
    for i in range(lo, hi):
        if likelihood[i] > 0.0:
            least = min(least, likelihood[i])
    return least


@inner
def is_safe(network: Any, plan: Any, likelihood: NDArray[np.float64], weighed: NDArray[np.bool_]) -> bool:
    """Return whether no product of a plan can underflow: Π least entry of each factor / Π entries of each table ≥ EDGE.

    No probability is above 1, so a message is divided by the number of entries of its table at most, times the largest
    of its likelihoods, which may be above 1.
    """
    belief_start, least_of_factor, table = network[5], network[7], plan[4]
    low, most = 1.0, EDGE
    for f in range(len(least_of_factor)):
        low *= least_of_factor[f]
    for v in range(len(weighed)):
        if weighed[v]:
            low *= least_likelihood(likelihood, belief_start[v], belief_start[v + 1])
            most *= max(1.0, likelihood[belief_start[v] : belief_start[v + 1]].max())
    for c in range(len(table) - 1):
        most *= table[c + 1] - table[c]
    return low >= most


@inner
def least_entry(
    network: Any, kind: int, who: int, likelihood: NDArray[np.float64], least: NDArray[np.float64]
) -> float:
    """A bound below the positive entries of a factor, a likelihood or a message."""
    belief_start, least_of_factor = network[5], network[7]
    if kind == BELIEF:
        return least_likelihood(likelihood, belief_start[who], belief_start[who + 1])
    return least_of_factor[who] if kind == FACTOR else least[who]


@inner
def make_table(
    network: Any,
    plan: Any,
    c: int,
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    least: Any,
    index: NDArray[np.int64],
) -> tuple[float, float]:
    """Clique c as the product of its factors, likelihoods and messages.

    Returns the log of what was taken out, and a bound below the positive entries; `least` holds such a bound for each
    message, or is None where no product can underflow: that is compiled apart, and costs nothing. The log is NaN where
    one may, and −∞ where nothing is possible: the table is not finished then.
    """
    cpt, belief_start = network[4], network[5]
    site, _, _, _, table, message, _, step_start, steps, dims, strides, _, _ = plan
    at, size = table[c], table[c + 1] - table[c]
    reached, count, log_p, low = 1, 0, 0.0, 1.0
    tables[at] = 1.0
    for s in range(step_start[c], step_start[c + 1]):
        kind, who, lo, hi, entries = steps[s, 0], steps[s, 1], steps[s, 2], steps[s, 3], steps[s, 4]
        if kind == BELIEF and not weighed[who]:
            continue
        if count > 0 and entries > reached:
            grow(tables, at, reached, entries // reached)
        reached = max(reached, entries)
        source, base = likelihood, 0
        if kind == BELIEF:
            base = belief_start[who]
        elif kind == FACTOR:
            source, base = cpt, factor_base(network, site, codes, who)
        else:
            source, base = messages, message[who]
        if least is not None:
            smallest = least_entry(network, kind, who, likelihood, least)
            if low * smallest < EDGE:
                log_top, low = rescaled(tables, at, at + reached)
                log_p += log_top
                if log_top == -np.inf:
                    return log_top, low
                if low * smallest < EDGE:
                    return np.nan, low
            low *= smallest
        multiply(tables, at, source, base, dims, strides, lo, hi, index, count == 0)  # one call compiles faster
        count += 1
    if reached < size:
        grow(tables, at, reached, size // reached)
    return log_p, low


@inner
def send_up(plan: Any, c: int, total: float, low: float, messages: NDArray[np.float64], least: Any) -> None:
    """Divide the message of a clique by `total`, for the parent to take.

    Unless it is None, `least` gets a bound below its positive entries: `low` bounds those of the table, and so their
    sums.
    """
    rows, message = plan[2], plan[5]
    inverse = 1.0 / total
    for r in range(message[c], message[c] + rows[c]):
        messages[r] *= inverse
    if least is None:
        return
    least[c] = low * inverse
    if least[c] < FAINT:
        least[c] = np.inf
        for r in range(message[c], message[c] + rows[c]):
            if messages[r] > 0.0:
                least[c] = min(least[c], messages[r])


@inner
def collect_up(
    network: Any,
    plan: Any,
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
    least: Any,
    index: NDArray[np.int64],
) -> float:
    """Tables and messages from the leaves to the roots; returns ln P(e), −∞ when the evidence is impossible.

    NaN is returned where a product may underflow; `least` as for `make_table`.
    """
    parent, rows, cols, table, message = plan[1], plan[2], plan[3], plan[4], plan[5]
    log_p, product = known_factors(network, plan, codes), 1.0
    if log_p == -np.inf:
        return log_p
    for c in range(len(parent)):
        taken, low = make_table(network, plan, c, codes, likelihood, weighed, tables, messages, least, index)
        if least is not None:
            if not taken > -np.inf:
                return taken
            log_p += taken
        at, to, width = table[c], message[c], cols[c]
        total = 0.0
        for r in range(rows[c]):
            row = 0.0
            for i in range(width):
                row += tables[at + i]
            at += width
            messages[to + r] = row
            total += row
        if not total > 0.0:
            return -np.inf
        scale[c] = total
        if least is None:
            product *= total  # P(e) is in range altogether
        elif total < LEAST:
            log_p += np.log(total)
        else:
            product *= total
            if product < LEAST or product > MOST:
                log_p += np.log(product)
                product = 1.0
        send_up(plan, c, total, low, messages, least)
    return log_p + np.log(product)


@inner
def collect(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
    index: NDArray[np.int64],
) -> float:
    """The way up as products, or in logs where these may underflow; returns ln P(e)."""
    if is_safe(network, plan, likelihood, weighed):
        return collect_up(network, plan, codes, likelihood, weighed, tables, messages, scale, None, index)
    least = np.empty(len(scale), np.float64)
    log_p = collect_up(network, plan, codes, likelihood, weighed, tables, messages, scale, least, index)
    if not np.isnan(log_p):
        return log_p
    for c in range(len(scale)):
        scale[c] = 1.0
    none = np.zeros(len(sizes), np.bool_)
    log_p = collect_logs(network, plan, sizes, codes, likelihood, weighed, none, tables, messages)
    return log_p + known_factors(network, plan, codes)


@inner
def turn_into_beliefs(
    plan: Any, c: int, tables: NDArray[np.float64], messages: NDArray[np.float64], scale: NDArray[np.float64]
) -> None:
    """Clique c as P(clique | e): a root divided by its sum, any other times what its parent put in its message."""
    parent, rows, cols, table, message = plan[1], plan[2], plan[3], plan[4], plan[5]
    if parent[c] < 0:
        inverse = 1.0 / scale[c]
        for i in range(table[c], table[c + 1]):
            tables[i] *= inverse
        return
    at, width = table[c], cols[c]
    for r in range(rows[c]):
        ratio = messages[message[c] + r]
        for i in range(at, at + width):
            tables[i] *= ratio
        at += width


@inner
def distribute_down(
    network: Any,
    plan: Any,
    codes: NDArray[np.int64],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
    beliefs: NDArray[np.float64],
    families: NDArray[np.float64],
    weight: float,
    index: NDArray[np.int64],
) -> None:
    """From the roots to the leaves: each table becomes a belief, is read off and shrinks in place.

    `families`, when it is as long as all the tables of the network, gets weight · P(family | e) added.
    """
    belief_start = network[5]
    site, parent, rows, _, table, message, _, step_start, steps, dims, strides, _, _ = plan
    widest = 0
    for c in range(len(rows)):
        widest = max(widest, rows[c])
    above = np.empty(widest, np.float64)
    for c in range(len(parent) - 1, -1, -1):
        turn_into_beliefs(plan, c, tables, messages, scale)
        at, reached = table[c], table[c + 1] - table[c]
        for s in range(step_start[c + 1] - 1, step_start[c] - 1, -1):
            kind, who, lo, hi, entries = steps[s, 0], steps[s, 1], steps[s, 2], steps[s, 3], steps[s, 4]
            if (kind == FACTOR and len(families) == 0) or (kind == BELIEF and len(beliefs) == 0):
                continue
            if entries < reached:
                shrink(tables, at, entries, reached // entries)
                reached = entries
            target, base, share = beliefs, 0, 1.0
            if kind == BELIEF:
                base = belief_start[who]
            elif kind == FACTOR:
                target, base, share = families, factor_base(network, site, codes, who), weight
            else:
                target = above
                for r in range(rows[who]):
                    above[r] = 0.0
            add_up(tables, at, target, base, dims, strides, lo, hi, index, share)
            if kind == MESSAGE:
                for r in range(rows[who]):
                    below = messages[message[who] + r] * scale[who]
                    messages[message[who] + r] = above[r] / below if below > 0.0 else 0.0


@inner
def sharpen(
    network: Any, plan: Any, sizes: NDArray[np.int64], codes: NDArray[np.int64], beliefs: NDArray[np.float64]
) -> None:
    """Beliefs that sum to one; certainty where a variable was observed, zeros where it plays no part."""
    belief_start, site = network[5], plan[0]
    for v in range(len(site)):
        to = belief_start[v]
        if site[v] < 0:
            if codes[v] >= 0:
                beliefs[to + codes[v]] = 1.0
            continue
        total = 0.0
        for k in range(sizes[v]):
            total += beliefs[to + k]
        for k in range(sizes[v]):
            beliefs[to + k] /= total


@kernel
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
    """One case: every belief, and ln P(e); −∞ and no beliefs when the evidence is impossible.

    Unless `beliefs` is empty they are written to it. Unless `families` is empty, weight · P(family | e) is added to it
    for every family that is not observed altogether.
    """
    index = np.zeros(64, np.int64)
    scale = np.empty(len(plan[1]), np.float64)
    log_p = collect(network, plan, sizes, codes, likelihood, weighed, tables, messages, scale, index)
    if log_p == -np.inf:
        return log_p
    for i in range(len(beliefs)):
        beliefs[i] = 0.0
    distribute_down(network, plan, codes, tables, messages, scale, beliefs, families, weight, index)
    if len(beliefs) > 0:
        sharpen(network, plan, sizes, codes, beliefs)
    return log_p


@kernel
def propagate_cases(
    network: Any,
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    codes: NDArray[np.int64],
    limit: float,
    beliefs: NDArray[np.float64],
    log_p: NDArray[np.float64],
) -> int:
    """Each row (n, variables) with its plan, kept while the same variables are observed.

    Returns −1, or the first case whose tables would have more than `limit` entries.
    """
    scope_start, scope, scope_stride, _, _, _, kept, _ = network
    n = codes.shape[1]
    likelihood = np.ones(1)
    families = np.empty(0)
    weighed = np.zeros(n, np.bool_)
    active = codes[0] < 0
    tables = np.empty(0)
    messages = np.empty(0)
    entries, steps = best_plan(scope_start, scope, scope_stride, sizes, log_size, active, kept, limit)
    for i in range(len(codes)):
        same = True
        for v in range(n):
            same &= active[v] == (codes[i, v] < 0)
        if not same:
            active = codes[i] < 0
            entries, steps = best_plan(scope_start, scope, scope_stride, sizes, log_size, active, kept, limit)
        if entries > limit:
            return i
        if len(tables) < steps[4][-1]:
            tables = np.empty(steps[4][-1])
        if len(messages) < steps[5][-1]:
            messages = np.empty(steps[5][-1])
        log_p[i] = propagate(
            network, steps, sizes, codes[i], likelihood, weighed, tables, messages, beliefs[i], families, 1.0
        )
    return -1
