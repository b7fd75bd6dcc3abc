"""Tests of independence over a source: guessed by some of its rows until they are counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import CapacityError
from bayeslearn.network.structure.sourced.counts import ordered
from bayeslearn.network.structure.testing.independence import Answers, IndependenceTest, least_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.rows import Family
    from bayeslearn.network.structure.sourced.counts import Asked, SourceCounts

#: Cells of a family beyond which its different rows are asked for instead.
DENSE = 1 << 16


class SourceTest:
    """Answers that are known, or those of some rows; what is not known will be asked for."""

    def __init__(self, counts: SourceCounts, kind: str, degrees: str) -> None:
        guessed = least_of(degrees) * counts.sample.total / max(counts.total, 1e-300)  # as if the sample were all
        self.guess = IndependenceTest(counts.sample, kind, degrees=degrees, least=guessed)
        self.known = counts.answers.setdefault((kind, degrees), {})
        self.asked = counts.tests.setdefault((kind, degrees), {})

    def __call__(self, tests: NDArray[np.int64]) -> Answers:
        """The answer to each row (x, y, z_1 … z_k)."""
        rows = [tuple(row) for row in tests.tolist()]
        new = [i for i, row in enumerate(rows) if row not in self.known]
        found = np.array([self.known.get(row, (0.0, 0.0, 0.0)) for row in rows]).reshape(-1, 3)
        if new:
            self.asked.update(dict.fromkeys(rows[i] for i in new))
            found[new] = np.stack(self.guess(np.ascontiguousarray(tests[new])), axis=1)
        return Answers(*(np.ascontiguousarray(column) for column in found.T))


@dataclass(frozen=True)
class Cells:
    """The cells of one family as rows."""

    codes: NDArray[Any]
    weights: NDArray[np.float64]
    sizes: NDArray[np.int64]
    total: float


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
        table = brought["rows", family].table
        if table is None:
            names = ", ".join(counts.names[v] for v in family)
            raise CapacityError(
                f"a test of independence needs too many different rows of ({names})",
                hint="raise `memory_limit`, give columns fewer states, or search by score",
            )
        return Cells(table.codes, table.weights, sizes, counts.total)
    n = counts.known[family] if family in counts.known else brought["family", family]
    occurring = n.nonzero()
    code = np.int8 if sizes.max() <= np.iinfo(np.int8).max else np.int32
    return Cells(np.stack(occurring).astype(code), n[occurring], sizes, counts.total)
