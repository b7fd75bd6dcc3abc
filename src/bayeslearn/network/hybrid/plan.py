"""What is computed for all rows of one pattern of observed nodes, and the posterior of these rows.

    P(s | e) ∝ Π tables · Π_components φ          s: states of the unobserved discrete variables

Unobserved discrete variables that share a table or a component are one group. A group whose states multiply to at most
`MAX_ENUMERATED` is enumerated for all rows at once. A larger one goes to the junction tree, row by row, in which every
φ is the table of an observed child of its discrete variables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import softmax

from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.cpt import CPT
from bayeslearn.network.hybrid.components import Conditional, conditional_of
from bayeslearn.network.hybrid.layout import Layout, Rows, connected
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.inference.junction_tree import ExactInference

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

#: Combinations of states that are enumerated.
MAX_ENUMERATED = 4096

#: Numbers that a batch of rows may take.
BATCH = 1 << 21


class Part(NamedTuple):
    """A component with its unobserved discrete parents."""

    conditional: Conditional
    free: tuple[int, ...]


class Plan:
    """What is computed once for a pattern: components with their matrices, and groups of discrete variables."""

    def __init__(
        self, layout: Layout, observed: Mask, seen: Mask, keep: Mask, keep_numbers: Mask, memory_limit: float
    ) -> None:
        self.layout, self.observed, self.seen = layout, observed, seen
        self.hidden = tuple(np.flatnonzero(~observed & keep).tolist())
        self.kept = [i for i in range(len(layout.cpts)) if keep[i]]
        numbers = [i for i in range(len(layout.nodes)) if keep_numbers[i]]
        joined = connected([(i, *(x for x in layout.inputs_of[i] if not seen[x])) for i in numbers])
        self.parts: list[Part] = []
        for component in joined:
            found = conditional_of(layout, component, seen, memory_limit)
            self.parts.append(Part(found, tuple(d for d in found.discrete if not observed[d])))
        scopes = [[i for i in layout.scopes[node] if not observed[i]] for node in self.kept]
        self.groups = connected([scope for scope in (*scopes, *(part.free for part in self.parts)) if scope])
        self.cells = [math.prod(layout.sizes[i] for i in group) for group in self.groups]

    @property
    def is_enumerated(self) -> bool:
        """Whether every group is small enough to be enumerated."""
        return max(self.cells, default=1) <= MAX_ENUMERATED

    @property
    def batch(self) -> int:
        """Rows that are taken at a time."""
        each = [sum(self.cells)] if self.is_enumerated else []
        for conditional, free in self.parts:
            combinations = math.prod(self.layout.sizes[i] for i in free)
            each.append(combinations * (len(conditional.observed) + len(conditional.hidden) + 1))
        return max(1, BATCH // max([1, *each]))

    @cached_property
    def tree(self) -> Tree:
        """The junction tree for groups that are too large."""
        return Tree(self)

    def posterior(self, rows: Rows) -> RowsPosterior:
        """The posterior of some rows of the pattern."""
        evidence = []
        for conditional, free in self.parts:
            at = conditional.configurations(rows.codes, free)
            evidence.append((at, *conditional.given(rows, at)))
        if self.is_enumerated:
            log_p, groups = self._enumerated(rows, [log_φ for _, log_φ, _ in evidence])
            return RowsPosterior(self, rows, log_p, groups, None, [(at, m) for at, _, m in evidence])
        log_p, families = self.tree.run(rows, [log_φ for _, log_φ, _ in evidence])
        return RowsPosterior(self, rows, log_p, [], families, [(at, m) for at, _, m in evidence])

    def _enumerated(self, rows: Rows, factors: list[Floats]) -> tuple[Floats, list[Floats]]:
        """ln P(e) of each row, and P(group | e) with an axis for each of its variables."""
        log_p = np.zeros(len(rows))
        owner = {i: g for g, group in enumerate(self.groups) for i in group}
        joints = [np.zeros((len(rows), *(self.layout.sizes[i] for i in group))) for group in self.groups]
        for node in self.kept:
            scope = self.layout.scopes[node]
            factor, free = at_codes(self.layout.log_tables[node], scope, rows.codes, self.observed)
            add(factor, free, self.groups, joints, owner, log_p)
        for (_, free), factor in zip(self.parts, factors, strict=True):
            shaped = factor.reshape(len(rows), *(self.layout.sizes[i] for i in free))
            add(shaped, free, self.groups, joints, owner, log_p)
        shares = []
        for joint in joints:
            flat = joint.reshape(len(rows), -1)
            top = flat.max(axis=1, keepdims=True)
            with np.errstate(invalid="ignore"):
                p = np.exp(flat - np.where(np.isneginf(top), 0.0, top))
            total = p.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                log_p += top[:, 0] + np.where(total[:, 0] > 0, np.log(total[:, 0]), 0.0)
                shares.append((p / np.where(total > 0, total, 1.0)).reshape(joint.shape))
        return log_p, shares


def at_codes(
    table: Floats, scope: Sequence[int], codes: NDArray[np.int64], observed: Mask
) -> tuple[Floats, tuple[int, ...]]:
    """The part of a table that agrees with the observed states of each row: (n, free sizes), and the free variables."""
    fixed = [axis for axis, i in enumerate(scope) if observed[i]]
    free = [axis for axis, i in enumerate(scope) if not observed[i]]
    moved = table.transpose((*fixed, *free))
    found = moved[tuple(codes[:, scope[axis]] for axis in fixed)] if fixed else moved[None]
    return found, tuple(scope[axis] for axis in free)


def add(
    factor: Floats,
    free: tuple[int, ...],
    groups: list[tuple[int, ...]],
    joints: list[Floats],
    owner: dict[int, int],
    log_p: Floats,
) -> None:
    """Add a factor, (n, sizes of its free variables), to the group it belongs to, or to ln P where all is observed."""
    if not free:
        log_p += factor
        return
    g = owner[free[0]]
    order = sorted(range(len(free)), key=lambda axis: free[axis])
    axes = {free[axis] for axis in order}
    shape = [n if i in axes else 1 for i, n in zip(groups[g], joints[g].shape[1:], strict=True)]
    joints[g] += factor.transpose(0, *(axis + 1 for axis in order)).reshape(len(factor), *shape)


### the posterior of rows


@dataclass
class RowsPosterior:
    """The posterior of the unobserved nodes in some rows of one pattern."""

    plan: Plan
    rows: Rows
    log_p: Floats
    #: P(group | e), an axis for each variable; or P(scope | e) by scope, from the junction tree.
    groups: list[Floats]
    families: dict[tuple[int, ...], Floats] | None
    #: Configurations and conditional means of every component.
    found: list[tuple[NDArray[np.int64], Floats]]

    def states(self, variables: tuple[int, ...]) -> Floats:
        """P(variables | e) of unobserved discrete variables that share a table or a component, in this order."""
        n = len(self.rows)
        if not variables:
            return np.ones(n)
        if self.families is not None:
            return self._of_families(variables)
        result, order = np.ones(n), list[int]()
        for group, p in zip(self.plan.groups, self.groups, strict=True):
            inside = [i for i in group if i in variables]
            if inside:
                gone = tuple(axis + 1 for axis, i in enumerate(group) if i not in variables)
                part = p.sum(axis=gone)
                result = result[(..., *(None,) * len(inside))] * part.reshape(n, *(1,) * len(order), *part.shape[1:])
                order += inside
        return result.transpose(0, *(order.index(i) + 1 for i in variables))

    def _of_families(self, variables: tuple[int, ...]) -> Floats:
        assert self.families is not None
        scope = min((s for s in self.families if set(variables) <= set(s)), key=len)
        p = self.families[scope]
        kept = [i for i in scope if i in variables]
        p = p.sum(axis=tuple(axis + 1 for axis, i in enumerate(scope) if i not in variables))
        return p.transpose(0, *(kept.index(i) + 1 for i in variables))

    def shares(self, part: int) -> Floats:
        """P(combination of the free parents of a component | e): (n, combinations)."""
        return self.states(self.plan.parts[part].free).reshape(len(self.rows), -1)

    def numbers(self) -> Iterator[tuple[int, Floats, Floats, Floats]]:
        """Every unobserved number with the weights, means and variances of its mixture, (n, combinations) each."""
        for part, (conditional, _) in enumerate(self.plan.parts):
            at, m = self.found[part]
            if conditional.hidden:
                weights = self.shares(part)
                for j, node in enumerate(conditional.hidden):
                    yield node, weights, m[:, :, j], conditional.covariance[at, j, j]


### large groups


class Tree:
    """The junction tree of a pattern: the discrete part, with an observed child for every component."""

    def __init__(self, plan: Plan) -> None:
        from bayeslearn.network.inference.junction_tree import ExactInference  # noqa: PLC0415 - it loads when it is needed

        layout = plan.layout
        self.plan, self.parts = plan, [k for k, part in enumerate(plan.parts) if part.free]
        cpts = [layout.cpts[i] for i in plan.kept]
        names = set(layout.discrete)
        for k in self.parts:
            name = "φ"
            while name in names:
                name += "φ"
            names.add(name)
            parents = tuple(layout.cpts[i].variable for i in plan.parts[k].free)
            p = np.full((*(v.n_states for v in parents), 2), 0.5)
            cpts.append(CPT(DiscreteVariable(name, ("seen", "other")), parents, p))
        self.engine: ExactInference = ExactInference(BayesianNetwork(tuple(cpts)))
        self.scopes = [layout.scopes[i] for i in plan.kept]

    def run(self, rows: Rows, factors: list[Floats]) -> tuple[Floats, dict[tuple[int, ...], Floats]]:
        """ln P(e), and P(scope | e) of the free variables of every table and component, for each row."""
        engine, plan, layout = self.engine, self.plan, self.plan.layout
        compiled, starts = engine.compiled, engine.compiled.cpt_start
        flat = np.array(compiled.cpt, dtype=np.float64)
        n, first = len(rows), len(plan.kept)
        log_p, found = np.zeros(n), []
        still = sum((factors[k][:, 0] for k in range(len(factors)) if k not in self.parts), np.zeros(n))
        nothing = np.zeros(first + len(self.parts), np.bool_)
        for row in range(n):
            top = 0.0
            for j, k in enumerate(self.parts):
                log_φ = factors[k][row]
                high = float(log_φ.max())
                p = np.exp(log_φ - high) if high > -np.inf else np.zeros(len(log_φ))
                top += high
                flat[starts[first + j] : starts[first + j] + 2 * len(p)] = np.stack([p, 1 - p], axis=1).reshape(-1)
            codes = np.concatenate([rows.codes[row, plan.kept], np.zeros(len(self.parts), np.int64)])
            codes[:first][~plan.observed[plan.kept]] = -1
            value, families = engine.family_beliefs(compiled.with_values(flat), codes, np.ones(1), nothing)
            log_p[row] = value + top + still[row]
            found.append(families)
        every = np.stack(found)
        out: dict[tuple[int, ...], Floats] = {}
        scopes = [*self.scopes, *(plan.parts[k].free for k in self.parts)]
        for j, scope in enumerate(scopes):
            shape = [layout.sizes[i] for i in scope] + ([2] if j >= first else [])
            p = every[:, starts[j] : starts[j] + math.prod(shape)].reshape(n, *shape)
            p = p[..., 0] if j >= first else p
            fixed = tuple(axis + 1 for axis, i in enumerate(scope) if plan.observed[i])
            free = tuple(i for i in scope if not plan.observed[i])
            if free:
                out[free] = p.sum(axis=fixed)
        return log_p, out

    def most_probable(self, rows: Rows, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The codes of each row with its most probable states together."""
        return self._completed(rows, codes, lambda network, evidence: network.most_probable(evidence).case)

    def sampled(self, rows: Rows, codes: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """The codes of each row with states drawn from their joint posterior."""
        return self._completed(
            rows, codes, lambda network, evidence: network.sample(1, evidence, random_state=random).row(0)
        )

    def _completed(self, rows: Rows, codes: NDArray[np.int64], complete: Any) -> NDArray[np.int64]:
        codes, layout = codes.copy(), self.plan.layout
        names = [cpt.name for cpt in self.engine.network]
        for row in range(len(rows)):
            one = rows.take(slice(row, row + 1))
            network, evidence = self._network(one), dict.fromkeys(names[len(self.plan.kept) :], "seen")
            for name, i in zip(names, self.plan.kept, strict=False):
                if self.plan.observed[i]:
                    evidence[name] = layout.cpts[i].variable.states[int(codes[row, i])]
            found = complete(network, evidence)
            for i in self.plan.hidden:
                variable = layout.cpts[i].variable
                codes[row, i] = variable.code_of(found[variable.name])
        return codes

    def _network(self, row: Rows) -> BayesianNetwork:
        """The discrete part given the numbers of one row."""
        cpts = list(self.engine.network)
        for j, k in enumerate(self.parts):
            conditional, free = self.plan.parts[k]
            log_φ = conditional.given(row, conditional.configurations(row.codes, free))[0][0]
            p = softmax(log_φ).reshape([self.plan.layout.sizes[i] for i in free])
            before = cpts[len(self.plan.kept) + j]
            cpts[len(self.plan.kept) + j] = CPT(before.variable, before.parents, np.stack([p, 1 - p], axis=-1))
        return BayesianNetwork(tuple(cpts))
