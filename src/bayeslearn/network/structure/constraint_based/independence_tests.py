"""Tests of independence: of two columns within the slices that others make of the cases.

    E_zxy     N_zx N_zy / N_z, the cases to expect of a cell if they are
    g2        2 Σ N_zxy ln N_zxy / E_zxy
    chi2      Σ (N_zxy − E_zxy)² / E_zxy
    mi        Σ N_zxy / N · ln N_zxy / E_zxy, the mutual information in nats: G² / 2N

The p-value is that of a χ² law (for mi the law of its G²) with as many degrees of freedom as

    plain     (r_x − 1) (r_y − 1) q_z                     every cell counts, whether it can be reached or not
    adjusted  Σ_z (r_x(z) − 1) (r_y(z) − 1)               over slices that occur, r(z) the states that occur in each

Without degrees of freedom nothing contradicts independence, and p is 1. Searches ask for five rows a cell besides,

    Σ_z N_z ≥ 5 Σ_z r_x(z) r_y(z)                         on average over the cells that can be reached

for below the χ² law does not hold; where they are fewer, no degree of freedom is taken to be left. The rule is that of
the adjusted tests of R's bnlearn, which counts the cells that cannot be reached too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from scipy.special import chdtrc

from bayeslearn import kernels, validation
from bayeslearn.errors import ParameterError, UnknownColumnError, listed
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.structure.scoring.family_counts import Counts
    from bayeslearn.tables import Table

    #: (x, y, z_1 … z_k) of positions.
    Row = tuple[int, ...]

KINDS, DEGREES = ("g_test", "chi2", "mutual_information"), ("adjusted", "plain")

#: Rows a cell on average below which a search takes two columns for independent.
LEAST_ROWS = 5.0

#: Tests that one thread takes at a time.
SHARE = 64


@dataclass(frozen=True)
class Independence:
    """The answer of one test; a small p-value contradicts independence."""

    statistic: float
    degrees: float
    p_value: float


class Answers(NamedTuple):
    """The answers of many tests."""

    statistic: NDArray[np.float64]
    degrees: NDArray[np.float64]
    p_value: NDArray[np.float64]


if TYPE_CHECKING:
    #: Takes tests as rows (x, y, z_1 … z_k) of positions.
    Test = Callable[[NDArray[np.int64]], Answers]


class Cases(Protocol):
    """Rows of codes with their weights."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """States of each column."""

    @property
    def total(self) -> float:
        """All weights."""

    @property
    def codes(self) -> NDArray[np.signedinteger]:
        """A row for each column."""

    @property
    def sample_weight(self) -> NDArray[np.float64]:
        """Empty where each row counts once."""


class IndependenceTest:
    """Tests on the cases of one table; with less than `least` rows a cell on average nothing is tested."""

    def __init__(self, counts: Cases, kind: str = "g_test", *, degrees: str = "adjusted", least: float = 0.0) -> None:
        self.least = least
        self.kind = validation.choice("kind", kind, KINDS)
        self.degrees = validation.choice("degrees", degrees, DEGREES)
        self.sizes, self.total = counts.sizes, counts.total
        self.codes, self.sample_weight = counts.codes, counts.sample_weight
        if len(self.sample_weight):
            weighty = self.sample_weight > 0
            self.codes, self.sample_weight = np.ascontiguousarray(self.codes[:, weighty]), self.sample_weight[weighty]
        self.codes, self.sample_weight = self.codes.view(), self.sample_weight.view()
        self.codes.flags.writeable = self.sample_weight.flags.writeable = False  # as in a Table: compiled once

    def __call__(self, tests: NDArray[np.int64]) -> Answers:
        """The answer to each row (x, y, z_1 … z_k)."""
        statistic, degrees, cells = np.zeros((3, len(tests)))
        kernels.dependence(
            self.codes, self.sample_weight, self.sizes, tests, self.kind == "chi2", statistic, degrees, cells
        )
        statistic = np.maximum(statistic, 0.0)  # not below zero by rounding
        if self.degrees == "plain":
            sizes = self.sizes[tests].astype(np.float64)
            degrees = (sizes[:, 0] - 1) * (sizes[:, 1] - 1) * sizes[:, 2:].prod(axis=1)
        degrees = np.where(self.total < self.least * cells, 0.0, degrees)
        p_value = np.where(degrees > 0, chdtrc(np.maximum(degrees, 1.0), statistic), 1.0)
        if self.kind == "mutual_information":
            statistic = statistic / max(2 * self.total, 1e-300)
        return Answers(statistic, degrees, p_value)


def least_of(degrees: str) -> float:
    """Rows a cell that searches ask for: those that adjust the degrees of freedom to what rows show."""
    return LEAST_ROWS if degrees == "adjusted" else 0.0


@dataclass(frozen=True)
class Cells:
    """Rows of codes with their weights, or the cells of one family as rows."""

    codes: NDArray[np.signedinteger]
    sample_weight: NDArray[np.float64]
    sizes: NDArray[np.int64]
    total: float


class DeferredTest:
    """Answers that are known, or those of some rows; what is not known will be asked for."""

    def __init__(self, guess: Test, known: Mapping[Row, tuple[float, float, float]], asked: dict[Row, None]) -> None:
        self.guess, self.known, self.asked = guess, known, asked

    def __call__(self, tests: NDArray[np.int64]) -> Answers:
        """The answer to each row (x, y, z_1 … z_k)."""
        rows = [tuple(row) for row in tests.tolist()]
        new = [i for i, row in enumerate(rows) if row not in self.known]
        found = np.array([self.known.get(row, (0.0, 0.0, 0.0)) for row in rows]).reshape(-1, 3)
        if new:
            self.asked.update(dict.fromkeys(rows[i] for i in new))
            found[new] = np.stack(self.guess(np.ascontiguousarray(tests[new])), axis=1)
        return Answers(*(np.ascontiguousarray(column) for column in found.T))


def test_of(counts: Counts, kind: str, degrees: str) -> Test:
    """Tests for searches by counts; where some rows are to guess by, what they answer is asked for."""
    least, some = least_of(degrees), counts.sample
    if some is None:
        ((_, rows),) = counts.fetch([("rows", tuple(range(len(counts.names))))])
        cells = Cells(rows.codes, rows.sample_weight, counts.sizes, counts.total)
        return IndependenceTest(cells, kind, degrees=degrees, least=least)
    guess = IndependenceTest(some, kind, degrees=degrees, least=least * some.total / max(counts.total, 1e-300))
    known, asked = counts.answers.setdefault((kind, degrees), {}), counts.tests.setdefault((kind, degrees), {})
    return DeferredTest(guess, known, asked)


def independence(
    data: Table | FamilyCounts,
    x: str,
    y: str,
    given: Iterable[str] = (),
    *,
    kind: str = "g_test",
    degrees: str = "adjusted",
) -> Independence:
    """Whether two columns are independent given others.

    >>> from bayeslearn.tables import as_table
    >>> table = as_table({"a": ["n", "n", "n", "y", "y", "y"], "b": ["n", "n", "y", "n", "y", "y"]})
    >>> answer = independence(table, "a", "b", kind="chi2")
    >>> round(answer.statistic, 4), answer.degrees, round(answer.p_value, 4)
    (0.6667, 1.0, 0.4142)
    """
    counts = data if isinstance(data, FamilyCounts) else FamilyCounts(data)
    asked = [x, y, *([given] if isinstance(given, str) else given)]
    unknown = [name for name in asked if name not in counts.names]
    if unknown:
        raise UnknownColumnError(
            f"there is no discrete column {unknown[0]!r}", hint=f"columns are {listed(counts.names)}"
        )
    if len(set(asked)) < len(asked):
        raise ParameterError(f"a test names each column once, got {listed(asked)}")
    test = np.array([[counts.names.index(name) for name in asked]], np.int64)
    found = IndependenceTest(counts, kind, degrees=degrees)(test)
    return Independence(*(float(values[0]) for values in found))


def on_all_cores(test: Test, tests: NDArray[np.int64]) -> Answers:
    """The same answers from tests shared among threads."""
    parts = max(1, min(len(tests) // SHARE, 4 * kernels.thread_count()))
    found = kernels.parallel(test, np.array_split(tests, parts))
    return Answers(*(np.concatenate(values) for values in zip(*found, strict=True)))
