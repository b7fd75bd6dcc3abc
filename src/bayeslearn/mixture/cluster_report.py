"""What classes are like: how large, what distinguishes each from the whole table, and which rows are doubtful.

A column distinguishes a class by the divergence of what it shows there from what it shows in all rows, in nats:

    KL(class ‖ all) = Σ_x p(x | class) ln p(x | class) / p(x)

Each distribution has its formula (:meth:`~bayeslearn.distributions.distribution.Distribution.divergence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import EvidenceError
from bayeslearn.mixture.merge import pooled
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.mixture.model import MixtureModel

    Floats = NDArray[np.float64]

#: A class whose share in a row is smaller than this, though it is the largest, is doubtful.
SURE = 0.9


@dataclass(frozen=True)
class ClusterDifference:
    """How a column looks in a class, how in all rows, and how far apart these are."""

    column: str
    divergence: float
    here: str
    everywhere: str

    def __str__(self) -> str:
        return printable(f"{self.column} {self.here} (all {self.everywhere})")


@dataclass(frozen=True)
class ClusterReport:
    """One class: its number, how many cases it has, and what distinguishes it, the most telling column first."""

    number: int
    size: float
    share: float
    differences: tuple[ClusterDifference, ...]


@dataclass(frozen=True)
class UncertainRow:
    """A row that may belong to two classes."""

    row: int
    best: int
    probability: float
    second: int
    second_probability: float


def describe_clusters(model: MixtureModel) -> list[ClusterReport]:
    """A report for every class, from the statistics that the model keeps."""
    if model.statistics is None:
        raise EvidenceError("the mixture has not seen a case, so there is nothing to describe")
    columns = [c for part, θ in zip(model.parts, model.parameters, strict=True) for c in differences(model, part, θ)]
    return [
        ClusterReport(
            j, float(model.sizes[j]), float(model.weights[j]),
            tuple(sorted((column[j] for column in columns), key=lambda d: -d.divergence)),
        )
        for j in range(model.k)
    ]  # fmt: skip


def differences(model: MixtureModel, part: Component, θ: Any) -> Iterator[list[ClusterDifference]]:
    """For every column of a part what each class shows."""
    assert model.statistics is not None
    family, seen = part.distribution, pooled(model.statistics[part.name])
    whole = family.estimate(family.update(family.none(), seen), otherwise=family.take(θ, np.array([0])))
    columns = zip(part.columns, family.marginals(θ), family.marginals(whole), strict=True)
    for column, (distribution, here), (_, everywhere) in columns:
        divergence = distribution.divergence(here, everywhere)
        words = [distribution.contrast(here, everywhere, j, variable=column) for j in range(model.k)]
        yield [ClusterDifference(column.name, float(d), *pair) for d, pair in zip(divergence, words, strict=True)]


### doubt


def uncertain_rows(
    model: MixtureModel, data: Any, *, below: float = SURE, most: int | None = None
) -> list[UncertainRow]:
    """Rows whose most probable class has a probability below this, the most doubtful first."""
    validation.number("below", below, min_value=0, max_value=1)
    shares = model.responsibilities(data)
    if model.k == 1:
        return []
    order = np.argsort(-shares, axis=1, kind="stable")[:, :2]
    top = np.take_along_axis(shares, order, axis=1)
    rows = np.flatnonzero(top[:, 0] < below)
    rows = rows[np.argsort(top[rows, 0], kind="stable")][:most]
    return [
        UncertainRow(int(i), int(order[i, 0]), float(top[i, 0]), int(order[i, 1]), float(top[i, 1])) for i in rows
    ]  # fmt: skip
