"""Components described: their sizes, what distinguishes each from all rows, and which rows are uncertain.

A column distinguishes a component by the divergence of its distribution there from that in all rows, in nats:

    KL(component ‖ all) = Σ_x p(x | component) ln p(x | component) / p(x)

Each distribution has its formula (:meth:`~bayeslearn.distributions.distribution.Distribution.divergence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.components.description import part_columns
from bayeslearn.errors import EvidenceError
from bayeslearn.mixture.reordering import pooled
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.mixture.model import MixtureModel

    Floats = NDArray[np.float64]

#: A row whose most probable component has a lower probability is uncertain; how many of them a fit keeps.
CERTAIN, MAX_UNCERTAIN = 0.9, 20


@dataclass(frozen=True)
class ClusterDifference:
    """A column in a component and in all rows, and the divergence between them."""

    column: str
    divergence: float
    here: str
    everywhere: str

    def __str__(self) -> str:
        return printable(f"{self.column} {self.here} (all {self.everywhere})")


@dataclass(frozen=True)
class ClusterReport:
    """One component: number, expected number of rows, weight, and columns, those that distinguish it most first."""

    number: int
    size: float
    share: float
    differences: tuple[ClusterDifference, ...]


@dataclass(frozen=True)
class UncertainRow:
    """A row with its two most probable components."""

    row: int
    best: int
    probability: float
    second: int
    second_probability: float


def describe_clusters(model: MixtureModel) -> list[ClusterReport]:
    """Return a report of every component, from the statistics of the model."""
    if model.statistics is None:
        raise EvidenceError("the mixture was not fitted, so it has no statistics to describe")
    columns = [c for part, θ in zip(model.parts, model.parameters, strict=True) for c in differences(model, part, θ)]
    return [
        ClusterReport(
            j, float(model.component_sizes[j]), float(model.weights[j]),
            tuple(sorted((column[j] for column in columns), key=lambda d: -d.divergence)),
        )
        for j in range(model.n_components)
    ]  # fmt: skip


def differences(model: MixtureModel, part: Component, θ: Any) -> Iterator[list[ClusterDifference]]:
    """Every column of a part in each component."""
    assert model.statistics is not None
    family, seen = part.distribution, pooled(model.statistics[part.name])
    whole = family.estimate(family.update(family.none(), seen), otherwise=family.take(θ, np.array([0])))
    columns = zip(part_columns(part, θ), family.marginals(θ), family.marginals(whole), strict=True)
    for column, (distribution, here), (_, everywhere) in columns:
        divergence = distribution.divergence(here, everywhere)
        words = [distribution.contrast(here, everywhere, j, variable=column) for j in range(model.n_components)]
        yield [ClusterDifference(column.name, float(d), *pair) for d, pair in zip(divergence, words, strict=True)]


### uncertain rows


def uncertain_rows(
    model: MixtureModel, data: Any, *, below: float = CERTAIN, max_results: int | None = None
) -> list[UncertainRow]:
    """Return the rows whose most probable component has a probability below a limit, the most uncertain first.

    Parameters
    ----------
    model
        The mixture.
    data
        Rows, as :meth:`MixtureModel.predict_proba` takes them.
    below
        The limit of the probability.
    max_results
        The maximum number of rows; default: all.
    """
    return most_uncertain(model, data, below, max_results)[1]


def most_uncertain(
    model: MixtureModel, data: Any, below: float = CERTAIN, max_results: int | None = MAX_UNCERTAIN
) -> tuple[int, list[UncertainRow]]:
    """The number of uncertain rows, and the most uncertain ones."""
    validation.number("below", below, min_value=0, max_value=1)
    if model.n_components == 1:
        return 0, []
    top: list[Any] = []  # row, component and probability: of the most probable one, then of the second
    first = 0
    for block in model.rows(data).blocks(model.weighted.block):
        shares = model.weighted.shares(block)[0]
        rows = np.flatnonzero(shares.max(axis=0) < below)
        order = np.argsort(-shares[:, rows], axis=0, kind="stable")[:2]
        top.append(np.vstack([first + rows, order, np.take_along_axis(shares[:, rows], order, axis=0)]))
        first += len(block)
    found = np.concatenate(top, axis=1)
    kept = found[:, np.argsort(found[3], kind="stable")[:max_results]].T
    return found.shape[1], [
        UncertainRow(int(row), int(one), float(p), int(two), float(q)) for row, one, two, p, q in kept
    ]
