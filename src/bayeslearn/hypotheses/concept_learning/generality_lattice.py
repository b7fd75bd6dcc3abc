"""Counting, bounding and listing conjunctions that leave out given rows, without going through all of them.

A conjunction at least as general as s has, for each attribute, a state from `options` or `?`. It leaves out a row x
when it requires, of some attribute i, a state other than x_i. So every row to leave out is a clause

    (h_1 required, not x_1)  or  (h_2 required, not x_2)  or  …

and the conjunctions wanted are the solutions of all clauses together. They are counted exactly by branching on the
attribute most clauses name, apart for clauses that share no attribute, each remaining problem solved once. The number
is exact, of any size, and mostly cheap; the problem is #P-complete, so a limit of steps guards the bad case.

    options   one mapping {state: weight} per attribute; `?` has weight 1; a conjunction weighs the product
    clause    a frozenset of (attribute, state to avoid), state −1 when every option avoids it
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bayeslearn.errors import CapacityError
from bayeslearn.hypotheses.concept_learning.examples import ANY

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

Weight: TypeAlias = "int | Fraction"
Options: TypeAlias = Sequence[Mapping[int, Weight]]
Clause: TypeAlias = frozenset[tuple[int, int]]

#: Every option of the attribute avoids the row, none does, and any option that no clause names.
ALL_DIFFER, HOPELESS, OTHER = -1, -8, -9
#: Subproblems that a count may look at, and members that a boundary may have, before it gives up.
MAX_STEPS = 200_000
MAX_BOUNDARY = 5_000
#: Clauses up to this number are searched for ones that follow from others.
ABSORB = 500


def clauses_of(options: Options, rows: NDArray[np.intp]) -> frozenset[Clause]:
    """What it takes to leave out each row; an empty clause cannot be met."""
    avoid = np.full(rows.shape, HOPELESS)
    for i, allowed in enumerate(options):
        inside = np.isin(rows[:, i], list(allowed))
        if allowed:
            avoid[:, i] = np.where(inside, HOPELESS if len(allowed) == 1 else rows[:, i], ALL_DIFFER)
    different = set(map(tuple, avoid.tolist()))
    return absorbed(frozenset((i, v) for i, v in enumerate(row) if v != HOPELESS) for row in different)


def absorbed(clauses: Iterable[Clause]) -> frozenset[Clause]:
    """Without clauses that follow from a shorter one."""
    distinct = sorted(set(clauses), key=len)
    if len(distinct) > ABSORB:
        return frozenset(distinct)
    kept: list[Clause] = []
    for clause in distinct:
        if not any(shorter <= clause for shorter in kept):
            kept.append(clause)
    return frozenset(kept)


def given(clauses: Iterable[Clause], attribute: int, state: int) -> frozenset[Clause]:
    """What is left to meet once an attribute is set to a state, or to ANY."""
    left = []
    for clause in clauses:
        avoid = next((value for i, value in clause if i == attribute), None)
        if avoid is None:
            left.append(clause)
        elif state in (ANY, avoid):
            left.append(clause - {(attribute, avoid)})
    return absorbed(left)


### how many


def count(options: Options, clauses: frozenset[Clause]) -> Weight:
    """The number (or weight) of conjunctions that meet every clause."""
    solver = _Counter(options)
    named = {i for clause in clauses for i, _ in clause}
    try:
        return solver.count(clauses) * math.prod(solver.free[i] for i in range(len(options)) if i not in named)
    except RecursionError:
        raise CapacityError(
            f"the hypotheses over {len(named)} entangled attributes are too many to count", hint="use fewer attributes"
        ) from None


class _Counter:
    """Counts over the attributes that the clauses name, remembering what it has counted."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.free = [1 + sum(allowed.values()) for allowed in options]
        self.known: dict[frozenset[Clause], Weight] = {frozenset(): 1}

    def count(self, clauses: frozenset[Clause]) -> Weight:
        if clauses not in self.known:
            if len(self.known) > MAX_STEPS:
                raise CapacityError(
                    f"counting the hypotheses takes more than {MAX_STEPS} steps",
                    hint="give more examples, above all positive ones; they make the version space small",
                    steps=MAX_STEPS,
                )
            self.known[clauses] = self._count(clauses)
        return self.known[clauses]

    def _count(self, clauses: frozenset[Clause]) -> Weight:
        if frozenset() in clauses:
            return 0
        parts = components(clauses)
        if len(parts) > 1:
            return math.prod(self.count(part) for part in parts)
        pivot = Counter(i for clause in clauses for i, _ in clause).most_common(1)[0][0]
        rest = {i for clause in clauses for i, _ in clause} - {pivot}
        total: Weight = 0
        for state, weight in self._branches(clauses, pivot):
            left = given(clauses, pivot, state)
            unnamed = rest - {i for clause in left for i, _ in clause}
            total += weight * self.count(left) * math.prod(self.free[i] for i in unnamed)
        return total

    def _branches(self, clauses: frozenset[Clause], pivot: int) -> Iterator[tuple[int, Weight]]:
        """ANY, each state that some clause avoids, and all other states together (they avoid the same rows)."""
        avoided = {value for clause in clauses for i, value in clause if i == pivot} - {ALL_DIFFER}
        yield ANY, 1
        for state in avoided:
            yield state, self.options[pivot][state]
        others = sum(weight for state, weight in self.options[pivot].items() if state not in avoided)
        if others:
            yield OTHER, others


def components(clauses: frozenset[Clause]) -> list[frozenset[Clause]]:
    """Clauses in groups that share no attribute."""
    groups: list[tuple[set[int], list[Clause]]] = []
    for clause in clauses:
        attributes, members = {i for i, _ in clause}, [clause]
        apart = []
        for group in groups:
            if group[0] & attributes:
                attributes |= group[0]
                members += group[1]
            else:
                apart.append(group)
        groups = [*apart, (attributes, members)]
    return [frozenset(members) for _, members in groups]


### which


def most_general(options: Options, clauses: frozenset[Clause]) -> list[dict[int, int]]:
    """The conjunctions that meet every clause with the fewest requirements, as {attribute: state}.

    One clause at a time, as candidate elimination does: those that meet it stay, the others are specialized in every
    way that just meets it, unless that is no more general than one that stayed.
    """
    boundary: list[frozenset[tuple[int, int]]] = [frozenset()]
    for clause in sorted(clauses, key=lambda c: (len(c), sorted(c))):
        staying = [g for g in boundary if _meets(g, clause)]
        new = {h for g in boundary if not _meets(g, clause) for h in _specialized(g, clause, options)}
        boundary = staying + [h for h in new if not any(g <= h for g in staying)]
        if len(boundary) > MAX_BOUNDARY:
            raise CapacityError(
                f"the general boundary has more than {MAX_BOUNDARY} members",
                hint="size, votes and membership do not need it; or give more positive examples",
                members=len(boundary),
            )
    return [dict(g) for g in boundary]


def solutions(options: Options, clauses: frozenset[Clause], attribute: int = 0) -> Iterator[tuple[int, ...]]:
    """Every conjunction that meets the clauses, as codes; branches without one are left early."""
    if frozenset() in clauses:
        return
    if attribute == len(options):
        yield ()
        return
    for state in (*options[attribute], ANY):
        for rest in solutions(options, given(clauses, attribute, state), attribute + 1):
            yield (state, *rest)


def _meets(g: frozenset[tuple[int, int]], clause: Clause) -> bool:
    avoid = dict(clause)
    return any(i in avoid and avoid[i] != state for i, state in g)


def _specialized(
    g: frozenset[tuple[int, int]], clause: Clause, options: Options
) -> Iterator[frozenset[tuple[int, int]]]:
    required = {i for i, _ in g}
    for i, avoid in clause:
        if i not in required:
            yield from (g | {(i, state)} for state in options[i] if state != avoid)
