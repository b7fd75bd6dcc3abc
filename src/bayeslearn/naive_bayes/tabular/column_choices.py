"""The distributions of the columns of a naive Bayes model: given, or chosen by held-out evidence.

Numeric columns without a distribution are chosen by :mod:`bayeslearn.components.distribution_choice`, on the rows with
a label; of many rows, and of a source, on a random sample, which is also where the cut points come from. Statistics are
those of all rows. Where there are few rows, a numeric column is Gaussian.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import evaluation
from bayeslearn.components.component import Component
from bayeslearn.components.distribution_choice import CANDIDATES, Choice, choose
from bayeslearn.distributions.distribution import by_name
from bayeslearn.naive_bayes.tabular.row_blocks import SourceCases
from bayeslearn.tables import NumericVariable, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tabular.row_blocks import Cases
    from bayeslearn.tables import Source

    Floats = NDArray[np.float64]

#: Rows that distributions are chosen on.
MAX_ROWS = 10_000

#: With fewer rows of a known class, numeric columns are Gaussian.
MIN_ROWS = 20

#: Folds of the choice.
FOLDS = 5

#: Options whose cut points come from the rows.
FROM_ROWS = ("kernel_density", "binned:mdl")


def choosable(variables: Iterable[Any], options: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The candidates of each numeric column of which something is open."""
    found: dict[str, tuple[str, ...]] = {}
    for variable in variables:
        option = options.get(variable.name, "auto")
        if isinstance(variable, NumericVariable) and option in {"auto", *FROM_ROWS}:
            found[variable.name] = CANDIDATES if option == "auto" else (option,)
    return found


def choices_of(
    variables: Mapping[str, NumericVariable],
    candidates: Mapping[str, tuple[str, ...]],
    values: Callable[[str, NDArray[np.intp] | slice], Floats],
    classes: NDArray[Any],
    sample_weight: Floats | None,
    n_classes: int,
) -> dict[str, Choice]:
    """The distribution of each column with candidates; of classes (rows,), or shares of them (rows, classes)."""
    known = np.arange(len(classes)) if classes.ndim == 2 else np.flatnonzero(classes >= 0)
    given = {name: options for name, options in candidates.items() if len(options) == 1}
    if len(known) < MIN_ROWS:
        known, candidates = (known if given else known[:0]), given
    if not len(known) or not candidates:
        return {}
    rng = np.random.default_rng(0)
    if len(known) > MAX_ROWS:
        known = np.sort(rng.choice(known, MAX_ROWS, replace=False))
    part: NDArray[np.intp] | slice = slice(None) if len(known) == len(classes) else known
    classes, weight = classes[part], None if sample_weight is None else sample_weight[part]
    hardest = classes if classes.ndim == 1 else classes.argmax(axis=1)
    k = min(FOLDS, len(known))
    fold = evaluation.folds(hardest, k, random_state=rng) if k > 1 else np.zeros(len(known), np.intp)
    return {
        name: choose(
            variables[name], values(name, part), classes, fold, n_classes=n_classes, sample_weight=weight,
            candidates=options,
        )
        for name, options in candidates.items()
    }  # fmt: skip


def choices_in(
    source: Source,
    target: str,
    options: Mapping[str, str],
    n_classes: int,
    shares: NDArray[np.float64] | None = None,
) -> dict[str, Choice]:
    """The same of a table, or of a sample of a source."""
    candidates = choosable((v for v in source.schema if v.name != target), options)
    if not candidates:
        return {}
    variables: dict[str, Any] = {name: source.schema[name] for name in candidates}
    if isinstance(source, Table):
        table, weight = source, None if source.sample_weight is None else np.asarray(source.sample_weight)
        labels = table.codes_of(target).astype(np.int32) if shares is None else shares
        return choices_of(
            variables, candidates, lambda name, rows: table.values_of(name)[rows], labels, weight, n_classes
        )
    columns = tuple(Component((variable,), by_name("gaussian")()) for variable in variables.values())
    found = SourceCases(source, columns, target).fold(Sample(max(source.n_rows // MAX_ROWS, 1)))
    place = {name: j for j, name in enumerate(variables)}
    return choices_of(
        variables, candidates, lambda name, rows: found.cells[place[name]][rows], found.labels, found.weight, n_classes
    )


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Some rows: classes, weights, and the cells of each column."""

    labels: NDArray[np.int32]
    weight: Floats
    cells: Floats

    def __add__(self, other: SampledRows) -> SampledRows:
        return SampledRows(
            np.append(self.labels, other.labels),
            np.append(self.weight, other.weight),
            np.concatenate([self.cells, other.cells], axis=1),
        )


@dataclass(frozen=True)
class Sample:
    """Takes about one row of `every` at random, all if that is 1; the same rows of a batch each time."""

    every: int

    def __call__(self, cases: Cases) -> SampledRows:
        """Those of one batch."""
        n = len(cases.labels)
        rows = np.arange(n)
        if self.every > 1:
            mark = zlib.crc32(np.ascontiguousarray(cases.labels).tobytes())
            rows = np.flatnonzero(np.random.default_rng([mark, n]).random(n) * self.every < 1)
        part = cases.take(rows)
        weight = np.ones(len(rows)) if part.sample_weight is None else part.sample_weight
        return SampledRows(part.labels, weight, np.array(part.rows.cells(0, len(rows)), dtype=np.float64))
