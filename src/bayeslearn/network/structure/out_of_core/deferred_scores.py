"""Scores over a source: a search runs on guesses, what it asked for is counted by one pass, and it runs again.

    guess(x, P) = r · score of some rows(x, P) + d(x, P)         r the weight of all rows divided by that of some
    d(x, P)     = score(x, P) − r · score of some rows(x, P)     where it is known, else the mean of d(x, P − u) over u

until a run needs no guess: what it found is what it would have found with all rows at hand. The first thing that it
guesses is one that it truly needs, so that every pass brings it further; guesses that are good bring it there in few.
Of rows with missing values the counts of one network show how far some rows are from all under the next: d is kept.

Tests of independence are guessed by some of the rows in the same way, until they are counted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn.errors import CapacityError
from bayeslearn.network.structure.constraint_based.independence_tests import Cells, IndependenceTest, least_of
from bayeslearn.network.structure.out_of_core.source_counts import ordered
from bayeslearn.network.structure.scoring.criteria import ChildRows, ScoreCache, parents_of
from bayeslearn.network.structure.scoring.family_counts import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.out_of_core.source_counts import SourceCounts
    from bayeslearn.network.structure.scoring.criteria import Pairs, Parents, StructureScore
    from bayeslearn.network.structure.scoring.family_counts import Asked, ColumnRows, Family
    from bayeslearn.network.structure.search_settings import Budget


#: Cells of a family beyond which its different rows are asked for instead.
DENSE = 1 << 16


def asked_by_tests(counts: SourceCounts) -> list[Asked]:
    """The families of all tests that are not answered."""
    families = dict.fromkeys(ordered(row) for rows in counts.tests.values() for row in rows)
    kinds = {f: math.prod(counts.sizes[list(f)].tolist()) > DENSE for f in families if f not in counts.known}
    return [("rows" if large else "family", f) for f, large in kinds.items()]


def answer(counts: SourceCounts, brought: dict[Asked, Any]) -> None:
    """Answer the tests that were asked, by what a pass has brought."""
    for (kind, degrees), rows in counts.tests.items():
        for row in rows:
            cells = cells_of(counts, ordered(row), brought)
            place = {v: i for i, v in enumerate(ordered(row))}
            test = IndependenceTest(cells, kind, degrees=degrees, least=least_of(degrees))
            found = test(np.array([[place[v] for v in row]], np.int64))
            statistic, free, p_value = (float(values[0]) for values in found)
            counts.answers[kind, degrees][row] = statistic, free, p_value
        rows.clear()


def cells_of(counts: SourceCounts, family: Family, brought: dict[Asked, Any]) -> Cells:
    """The cells that occur, and their weights."""
    sizes = counts.sizes[list(family)]
    if ("rows", family) in brought:
        rows = brought["rows", family]
        if rows is None:
            names = ", ".join(counts.names[v] for v in family)
            raise CapacityError(
                f"a test of independence needs too many different rows of ({names})",
                hint="raise `memory_limit`, give columns fewer states, or search by score",
            )
        return Cells(rows.codes, rows.sample_weight, sizes, counts.total)
    n = counts.known[family] if family in counts.known else brought["family", family]
    occurring = n.nonzero()
    code = np.int8 if sizes.max() <= np.iinfo(np.int8).max else np.int32
    return Cells(np.stack(occurring).astype(code), n[occurring], sizes, counts.total)


T = TypeVar("T")

#: Said of a search that was ended between two passes.
GUESSED = "the search was ended while some of its scores were guessed from a part of the rows"

Key = tuple[int, "Parents"]


class DeferredScores(ScoreCache):
    """score(child, parents) by position, known or guessed."""

    counts: SourceCounts

    def __init__(self, counts: SourceCounts, score: StructureScore, before: DeferredScores | None = None) -> None:
        super().__init__(counts, score)
        self.before = before
        if before is not None:
            before.before = None  # what was asked for before that is of no more use
        self.some = ScoreCache(counts.sample, score)
        self.ratio = counts.total / counts.sample.total if counts.sample.total else 1.0
        self._wanted: dict[Asked, None] = {}
        self._expected: set[Family] = set()
        self._off: dict[Key, float] = {}
        #: Different rows of some columns; nothing where these were too many.
        self._rows: dict[Family, ColumnRows | None] = {}
        for family, n in counts.known.items():
            self._families[family[0], ()] = score.family(n, counts.total)
        self.score_pairs()

    def score_pairs(self) -> Pairs | None:
        """Where they are at hand; else they are asked for with all else."""
        return super().score_pairs() if self.counts.paired else None

    # -- what searches ask

    def family(self, child: int, parents: Parents) -> float:
        """The score of one family."""
        if self._known(child, parents) is None:
            self.counts.require_countable(child, parents)
            self._wanted["family", ordered((child, *parents))] = None
        return self._value(child, parents)

    def additions(self, child: int, parents: Parents) -> NDArray[np.float64]:
        """The score with each further column as one more parent; −∞ for the child, its parents and too large tables."""
        key = child, parents
        if key in self._additions:
            return self._additions[key]
        if len(parents) >= self.n - 1 or self.counts.cells(child, parents) * self.counts.states > MOST_CELLS:
            return np.full(self.n, -np.inf)
        self._wanted["block", ordered((child, *parents))] = None
        self.some.additions(child, parents)  # all at once, before they are asked for one by one
        others = [v for v in range(self.n) if v != child and v not in parents]
        scores = np.full(self.n, -np.inf)
        scores[others] = [self._value(child, ordered((*parents, v))) for v in others]
        return scores

    def _known(self, child: int, parents: Parents) -> float | None:
        found = self._families.get((child, parents))
        if found is None:
            for i, v in enumerate(parents):
                fewer = self._additions.get((child, parents[:i] + parents[i + 1 :]))
                if fewer is not None and fewer[v] > -np.inf:
                    found = self._families[child, parents] = float(fewer[v])
                    break
        return found

    def rows(self, columns: list[int]) -> ChildRows:
        """What scores every parent set of the first of these columns among the others."""
        family, counts = ordered(columns), self.counts
        wider = next((wide for wide in self._rows if set(family) <= set(wide)), None)
        if wider is None:
            self._wanted["rows", family] = None
            return GuessedRows(self, columns)
        found = self._rows[wider]
        if found is None:
            return BlockRows(self, columns)
        codes = found.codes[[wider.index(v) for v in columns]]
        return ChildRows(self.score, counts.total, codes, counts.sizes[columns], found.sample_weight)

    # -- guesses: as long as nothing is brought, one family has one score, or climbs would go in circles

    def _value(self, child: int, parents: Parents) -> float:
        known = self._known(child, parents)
        if known is not None:
            return known
        return self.ratio * self.some.family(child, parents) + self._offset(child, parents)

    def _offset(self, child: int, parents: Parents) -> float:
        key = child, parents
        if key not in self._off:
            off = self._known_offset(child, parents)
            if off is None and self.before is not None:
                off = self.before._known_offset(child, parents)  # noqa: SLF001 - one of its kind
            if off is None:
                fewer = [parents[:i] + parents[i + 1 :] for i in range(len(parents))]
                off = sum(self._offset(child, few) for few in fewer) / max(len(fewer), 1)
            self._off[key] = off
        return self._off[key]

    def _known_offset(self, child: int, parents: Parents) -> float | None:
        known = self._known(child, parents)
        return None if known is None else known - self.ratio * self._of_some(child, parents)

    def _of_some(self, child: int, parents: Parents) -> float:
        """What is known of a set with all others is worked out so of some rows as well."""
        for i in range(len(parents)):
            fewer = parents[:i] + parents[i + 1 :]
            if (child, fewer) in self._additions:
                self.some.additions(child, fewer)
                break
        return self.some.family(child, parents)

    # -- passes

    certain = False

    @property
    def passes(self) -> int:
        """Over the source, for what was asked here."""
        return self.counts.passes

    def expect(self, arcs: NDArray[np.bool_]) -> None:
        """The counts of this graph come along with the next pass."""
        self._expected = {ordered((x, *parents_of(arcs, x))) for x in range(self.n)}

    def settled(self, search: Callable[[], T], budget: Budget) -> T:
        """What a search finds without a guess, or with some if it was ended."""
        while True:
            found = search()
            if not self._wanted and not any(self.counts.tests.values()):
                return found
            if not budget.reached():
                self._ask()
            if budget.reached():  # perhaps during the pass: to search again would end where it begins
                self.notes = (GUESSED,)
                return found

    def _ask(self) -> None:
        asked = dict(self._wanted)
        asked.update(dict.fromkeys(asked_by_tests(self.counts)))
        for family in self._expected:
            if family not in self.counts.known and self.counts.cells(family[0], family[1:]) <= MOST_CELLS:
                asked["family", family] = None
        brought: dict[Asked, Any] = {}
        for one, counts in self.counts.fetch(asked):
            kind, family = one
            if kind == "block":
                self._score_block(family, counts)
            elif kind == "family":
                self._score_family(family, counts)
                brought[one] = counts
            else:
                brought[one] = counts
                if one in self._wanted:
                    self._rows[family] = counts
        answer(self.counts, brought)
        for memory in (self._wanted, self._off):
            memory.clear()

    def _score_block(self, family: Family, counts: NDArray[np.float64]) -> None:
        """Every column of the block as the child of the others."""
        wanted = np.ones(self.n, np.bool_)
        wanted[list(family)] = False
        for child in family:
            parents = tuple(v for v in family if v != child)
            found = self.counts.block(family, counts, child, parents)
            scores, without = self.score.extended(found.n, found.start, self.counts.total, self.terms, wanted)
            self._additions[child, parents] = scores
            self._families.setdefault((child, parents), without)

    def _score_family(self, family: Family, counts: NDArray[np.float64]) -> None:
        if ("family", family) in self._wanted or family in self._expected:
            self.counts.known[family] = counts
            for child in family:
                parents = tuple(v for v in family if v != child)
                value = self.score.family(self.counts.family(child, parents), self.counts.total)
                self._families.setdefault((child, parents), value)


class GuessedRows(ChildRows):
    """Scores of parent sets by some of the rows, as large as if they were all."""

    def __init__(self, cache: DeferredScores, columns: list[int]) -> None:
        counts = cache.counts.sample
        super().__init__(cache.score, counts.total, counts.codes[columns], counts.sizes[columns], counts.sample_weight)
        self.ratio, child = cache.ratio, columns[0]
        self.off = cache.family(child, ()) - self.ratio * cache.some.family(child, ())

    def scores(
        self, parents: NDArray[np.int64], base: NDArray[np.int64], added: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """As those of the rows."""
        return self.ratio * super().scores(parents, base, added) + self.off


class BlockRows(ChildRows):
    """Scores of parent sets whose different rows are too many, base by base."""

    def __init__(self, cache: DeferredScores, columns: list[int]) -> None:
        self.cache, self.columns = cache, columns
        self.sizes = cache.counts.sizes[columns]

    def scores(
        self, parents: NDArray[np.int64], base: NDArray[np.int64], added: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """A base with all that it is extended by at once."""
        found, more = np.empty(len(base)), np.array(self.columns)[added]
        for b in np.unique(base).tolist():
            at = base == b
            family = ordered(self.columns[v] for v in parents[b].tolist())
            found[at] = self.cache.additions(self.columns[0], family)[more[at]]
        return found
