"""Rows of parameters described: in a few words, as numbers by name, and how much each column separates two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.fit_info import plain
from bayeslearn.printable import printable
from bayeslearn.tables import DiscreteVariable, NumericVariable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component


def part_columns(component: Component, parameters: Any) -> tuple[Any, ...]:
    """The columns of a component with a marginal distribution; those of counts of one total are one together."""
    alone = len(component.distribution.marginals(parameters)) == len(component.columns)
    return component.columns if alone else (NumericVariable(component.name),)


def marginals(components: Sequence[Component], parameters: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Each column with its distribution and parameters."""
    for part, θ in zip(components, parameters, strict=True):
        for column, (distribution, own) in zip(part_columns(part, θ), part.distribution.marginals(θ), strict=True):
            yield column, distribution, own


def described(components: Sequence[Component], parameters: Sequence[Any], row: int) -> dict[str, str]:
    """Each column under a row of parameters, in a few words."""
    return {
        column.name: printable(distribution.describe(θ, row, variable=column))
        for column, distribution, θ in marginals(components, parameters)
    }


def parameters_of(components: Sequence[Component], parameters: Sequence[Any], row: int) -> dict[str, Any]:
    """A row of the parameters of each column, as `column.parameter` or `column=state`."""
    found: dict[str, Any] = {}
    for column, _, θ in marginals(components, parameters):
        if isinstance(column, DiscreteVariable):
            found |= {f"{column.name}={s}": float(p) for s, p in zip(column.states, np.asarray(θ)[row], strict=True)}
        else:
            named = θ._asdict() if hasattr(θ, "_asdict") else {"parameter": θ}
            found |= {f"{column.name}.{name}": np.asarray(value)[row].tolist() for name, value in named.items()}
    return plain(found)


def log_odds(part: Component, parameters: Any, cells: NDArray[Any]) -> Iterator[tuple[str | None, float]]:
    """The log odds of each column, under two rows of parameters; without a name what belongs to no column."""
    if not part.is_joint:
        log_p = part.distribution.log_prob(parameters, cells)[0]
        yield part.name, float(log_p[0] - log_p[1])
        return
    seen = np.flatnonzero(~np.isnan(cells[0]))
    Σ = part.distribution.covariances(parameters)[:, seen[:, None], seen]
    z = cells[0, seen] - np.asarray(parameters[0])[:, seen]
    if len(seen):
        pulled = np.linalg.solve(Σ, z[..., None])[..., 0]
        determinants = np.linalg.slogdet(Σ)[1]
        if not np.count_nonzero(Σ - Σ * np.eye(len(seen))):  # independent columns: each has its own determinant
            quadratic = z * pulled + np.log(np.diagonal(Σ, axis1=1, axis2=2))
        else:
            quadratic = z * pulled
            yield None, float(determinants[1] - determinants[0]) / 2
    for column in range(len(part.columns)):
        at = np.flatnonzero(seen == column)
        yield part.columns[column].name, float(quadratic[1, at[0]] - quadratic[0, at[0]]) / 2 if len(at) else 0.0
