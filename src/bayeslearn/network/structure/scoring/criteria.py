"""Scores of structures: sums over families, each read off the counts of one family.

    N_jk   cases with the parents in state j and the child in state k        N_j = Σ_k N_jk
    q, r   states of the parents together, and of the child                  N   all cases

    loglik   Σ_jk N_jk ln N_jk / N_j
    aic      loglik − q (r − 1)
    bic      loglik − ½ ln N · q (r − 1)                       (−1/ln 2 of it is the description length in bits)
    k2       Σ_j ln (r−1)!/(N_j + r−1)! + Σ_jk ln N_jk!        (Cooper and Herskovits: α = 1)
    bdeu     Σ_j ln Γ(α/q)/Γ(α/q + N_j) + Σ_jk ln Γ(α/qr + N_jk)/Γ(α/qr)
    bds      bdeu with q the number of parent states that occur

A score takes counts of many candidates at once: the last axis runs over the states of all candidate parents, and terms
are summed within each.

A cache works out the score of each family once. Searches that consider every parent set ask for very many families of
one child. Only the child and its candidates matter, so rows that agree on these are one row with a weight. Sets with as
many cells are counted and scored together: to a score they look like one family with many candidates. States of the
parents that never occur add nothing to a Bayesian score, and where there are many of them they are not counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from scipy.special import gammaln, xlogy

from bayeslearn import kernels, validation
from bayeslearn.errors import ParameterError
from bayeslearn.network.structure.scoring.family_counts import MOST_CELLS, Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.kernels import family_cells
    from bayeslearn.network.structure.search_settings import Budget


#: No terms at all.
UNKNOWN = np.empty(0)

NAMES = ("loglik", "aic", "bic", "k2", "bdeu", "bds")


@dataclass(frozen=True)
class StructureScore:
    """A decomposable score, by name.

    >>> StructureScore.parse("bdeu:10")
    StructureScore('bdeu', equivalent_sample_size=10.0)
    """

    name: str
    #: The equivalent sample size of bdeu and bds.
    equivalent_sample_size: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", validation.choice("criterion", self.name, NAMES))
        validation.number("equivalent_sample_size", self.equivalent_sample_size, above=0)

    def __repr__(self) -> str:
        return (
            f"StructureScore({self.name!r}, equivalent_sample_size={self.equivalent_sample_size})"
            if self.name in {"bdeu", "bds"}
            else f"StructureScore({self.name!r})"
        )

    def __str__(self) -> str:
        return f"{self.name}:{self.equivalent_sample_size:g}" if self.name in {"bdeu", "bds"} else self.name

    @classmethod
    def parse(cls, text: str | StructureScore) -> StructureScore:
        """By its name; bdeu and bds with their equivalent sample size, as in ``bdeu:10``."""
        if isinstance(text, StructureScore):
            return text
        name, colon, cases = text.partition(":")
        try:
            return cls(name, float(cases)) if colon else cls("bic" if name == "mdl" else name)
        except ValueError as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                f"the equivalent sample size of {text!r} is no number", hint="write it like bdeu:1 or bds:0.5"
            ) from None

    def family(self, n: NDArray[np.float64], total: float) -> float:
        """The score of one family from N(parents, child)."""
        counts = np.array(n, np.float64).reshape(-1, n.shape[-1], 1)  # writable, as the kernel was compiled for
        return float(self.extended(counts, np.zeros(1, np.int64), total)[0][0])

    def extended(
        self,
        n: family_cells.Counts,
        start: NDArray[np.int64],
        total: float,
        known: NDArray[np.float64] = UNKNOWN,
        wanted: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.float64], float]:
        """The score of the child with each column as one more parent, and without; from counts as `counts.Extended`.

        `known` are the :meth:`terms` of whole numbers, where counts are whole. Columns not `wanted` score −∞.
        """
        scores = np.empty(len(start))
        wanted = np.ones(len(start), np.bool_) if wanted is None else wanted
        return scores, kernels.score_columns(n, start, self.kind, self.price(total), known, wanted, scores)

    def pairs(
        self, n: family_cells.Counts, start: NDArray[np.int64], total: float, known: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same for every column with no other parent, from N(state, state) of all columns against all others."""
        scores, alone = np.empty((len(start), len(start))), np.empty(len(start))
        kernels.score_pairs(n, start, self.kind, self.price(total), known, scores, alone)
        return scores, alone

    @property
    def kind(self) -> int:
        """How the kernel names it."""
        return {"k2": 1, "bdeu": 2, "bds": 3}.get(self.name, 0)

    def price(self, total: float) -> float:
        """Of a free number; for bdeu and bds the cases that the prior counts for."""
        if self.name == "bic":
            return 0.5 * math.log(max(total, 1.0))
        return {"aic": 1.0, "bdeu": self.equivalent_sample_size, "bds": self.equivalent_sample_size}.get(self.name, 0.0)

    def terms(self, most: int) -> NDArray[np.float64]:
        """N ln N, or for k2 ln N!, of whole numbers up to the most; nothing for the others."""
        n = np.arange(most + 1, dtype=float)
        return gammaln(n + 1) if self.name == "k2" else UNKNOWN if self.kind > 1 else xlogy(n, n)


#: Cells that are counted before they are scored.
BATCH = 1 << 19

#: Numbers that rows are counted by without sorting them.
FEW = 1 << 22


class ChildRows:
    """The rows of a table as one child and some columns see them; the child is column 0."""

    def __init__(
        self,
        score: StructureScore,
        total: float,
        codes: NDArray[np.integer],
        sizes: NDArray[np.int64],
        sample_weight: NDArray[np.float64],
    ) -> None:
        self.score, self.total, self.sizes = score, total, sizes
        sample_weight = sample_weight if len(sample_weight) else np.ones(codes.shape[1])
        self.codes, self.sample_weight = folded(codes, sizes, sample_weight)

    def scores(
        self, parents: NDArray[np.int64], base: NDArray[np.int64], added: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The score of the child with the columns parents[base] and added, for each pair of these."""
        found = np.empty(len(base))
        states = self.sizes[parents].prod(axis=1, dtype=float)[base]
        for part in self._batches(states, self.sizes[added]):
            start = np.cumsum([0, *self.sizes[added[part]]], dtype=np.int64)
            q = int(states[part[0]])
            table = np.empty((self._rows(q) * int(self.sizes[0]), int(start[-1])))
            kernels.extend_sets(
                self.codes, self.sample_weight, self.sizes, parents, base[part], added[part], start[:-1], q, table
            )
            n = table.reshape(-1, int(self.sizes[0]), int(start[-1]))
            score = self.score
            if score.name == "bdeu":  # the same α for each of fewer cells
                score = replace(score, equivalent_sample_size=score.equivalent_sample_size * len(n) / q)
            found[part], _ = score.extended(n, start[:-1], self.total)
        return found

    def _rows(self, states: int) -> int:
        """Rows of a table of counts: no more than can occur, unless those that do not have their price."""
        return states if self.score.name in {"aic", "bic"} else min(states, max(len(self.sample_weight), 1))

    def _batches(self, states: NDArray[np.float64], sizes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Families whose bases have as many states, not too many at a time."""
        order = np.argsort(states, kind="stable")
        filled = np.cumsum((states * sizes)[order]) * self.sizes[0] // BATCH
        ends = np.flatnonzero((np.diff(states[order]) != 0) | (np.diff(filled) != 0)) + 1
        yield from (part for part in np.split(order, ends) if len(part))

    def countable(self, parents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the child with these parents has few enough cells; more would be mostly empty."""
        return self.sizes[parents].prod(axis=1, dtype=float) * self.sizes[0] <= MOST_CELLS


def folded(
    codes: NDArray[np.integer], sizes: NDArray[np.int64], sample_weight: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Distinct rows and the weight of each; codes have a row for each column."""
    key, largest = np.zeros(codes.shape[1], np.int64), 1
    for column, size in zip(codes, sizes.tolist(), strict=True):
        if largest * size >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1]
            largest = int(key.max()) + 1
        key, largest = key * size + column, largest * size
    if largest > FEW:
        key = np.unique(key, return_inverse=True)[1]
        largest = int(key.max(initial=0)) + 1
    row = np.full(largest, -1, np.int64)
    row[key] = np.arange(len(key))
    seen = row >= 0
    distinct = np.ascontiguousarray(codes[:, row[seen]], dtype=np.int32)
    return distinct, np.bincount(key, sample_weight, minlength=largest)[seen].astype(np.float64)


Parents = tuple[int, ...]

T = TypeVar("T")


class Pairs(NamedTuple):
    """scores[x, v] of every column x with v as its only parent, −∞ for itself, and alone[x] with none."""

    scores: NDArray[np.float64]
    alone: NDArray[np.float64]


class ScoreCache:
    """score(child, parents) by position; parents are sorted, so that their order does not matter."""

    def __init__(self, counts: Counts, score: StructureScore) -> None:
        self.counts, self.score = counts, score
        self.n = len(counts.names)
        self._families: dict[tuple[int, Parents], float] = {}
        self._additions: dict[tuple[int, Parents], NDArray[np.float64]] = {}
        self._pairs: Pairs | None = None

    @cached_property
    def terms(self) -> NDArray[np.float64]:
        """What the score needs of whole numbers, once for all families."""
        most = self.counts.most
        return UNKNOWN if most is None else self.score.terms(most)

    def family(self, child: int, parents: Parents) -> float:
        """The score of one family."""
        key = child, parents
        if key not in self._families:
            self._families[key] = self._family(child, parents)
        return self._families[key]

    def _family(self, child: int, parents: Parents) -> float:
        """Known already if one parent was once considered as an addition to the others."""
        for i, v in enumerate(parents):
            fewer = self._additions.get((child, parents[:i] + parents[i + 1 :]))
            if fewer is not None and fewer[v] > -np.inf:
                return float(fewer[v])
        return self.score.family(self.counts.family(child, parents), self.counts.total)

    def graph(self, arcs: NDArray[np.bool_]) -> float:
        """The score of a whole graph, arcs[c, x] being c → x."""
        return sum(self.family(x, parents_of(arcs, x)) for x in range(self.n))

    def additions(self, child: int, parents: Parents) -> NDArray[np.float64]:
        """The score with each further column as one more parent; −∞ for the child, its parents and too large tables."""
        key = child, parents
        if key not in self._additions:
            self._additions[key] = self._extended(child, parents)
        return self._additions[key]

    def _extended(self, child: int, parents: Parents) -> NDArray[np.float64]:
        found = self.counts.extended(child, parents) if len(parents) < self.n - 1 else None
        if found is None:
            return np.full(self.n, -np.inf)
        wanted = np.ones(self.n, np.bool_)
        for v in (child, *parents):
            wanted[v] = False
        scores, without = self.score.extended(found.n, found.start, self.counts.total, self.terms, wanted)
        self._families.setdefault((child, parents), without)
        return scores

    def score_pairs(self) -> Pairs | None:
        """Every column with every other as its only parent, before they are asked for one by one; if they can be."""
        found = self.counts.pairs() if self.n > 1 and self._pairs is None else None
        if found is not None:
            self._pairs = Pairs(*self.score.pairs(found, self.counts.start, self.counts.total, self.terms))
            for x in range(self.n):
                self._additions[x, ()] = self._pairs.scores[x]
                self._families.setdefault((x, ()), float(self._pairs.alone[x]))
        return self._pairs

    def removals(self, child: int, parents: Parents) -> NDArray[np.float64]:
        """The score without each of the parents; −∞ elsewhere."""
        scores = np.full(self.n, -np.inf)
        for v in parents:
            scores[v] = self.family(child, tuple(p for p in parents if p != v))
        return scores

    def rows(self, columns: list[int]) -> ChildRows:
        """What scores every parent set of the first of these columns among the others."""
        ((_, found),) = self.counts.fetch([("rows", tuple(columns))])
        return ChildRows(self.score, self.counts.total, found.codes, self.counts.sizes[columns], found.sample_weight)

    # -- where rows are far away, scores may be guesses until they are asked for

    #: Whether they never are.
    certain = True

    def settled(self, search: Callable[[], T], budget: Budget) -> T:  # noqa: ARG002 - searches end alone
        """What a search finds."""
        return search()

    #: What to know of what was found.
    notes: tuple[str, ...] = ()

    @property
    def passes(self) -> int:
        """Over a source, for what was asked here."""
        return 0

    def expect(self, arcs: NDArray[np.bool_]) -> None:
        """The counts of this graph may be asked for."""

    def __len__(self) -> int:
        return len(self._families) + sum(self.n - len(parents) - 1 for _, parents in self._additions)


def parents_of(arcs: NDArray[np.bool_], x: int) -> Parents:
    """The parents of a variable by position, sorted."""
    return tuple(arcs[:, x].nonzero()[0].tolist())
