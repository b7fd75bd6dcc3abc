"""Missing cells of components filled, given the share of each row of parameters in each row of data.

    E[x_c | x] = Σ_j P(j | x) E[x_c | x, j]          P(state | x) = Σ_j P(j | x) P(state | j)

Within a row of parameters components are independent. The missing part of a joint Gaussian given the observed part is
μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o); a draw takes a whole random row x* in place of μ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.components.product import Product
from bayeslearn.distributions import Categorical
from bayeslearn.tables import DiscreteVariable, Schema, Table
from bayeslearn.tables.schema import code_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component

    Floats = NDArray[np.float64]
    Cells = tuple[NDArray[Any], ...]


def filled(
    components: Sequence[Component],
    parameters: Sequence[Any],
    cells: Sequence[NDArray[Any]],
    shares: Floats,
    random_state: np.random.Generator | None = None,
) -> Cells:
    """The cells of every component with nothing missing: what is expected, or drawn given a random state.

    Parameters
    ----------
    components, parameters, cells
        Components, with a row of parameters for each column of `shares`, and their cells.
    shares
        The probability of each row of parameters for each row of data, (n, k).
    random_state
        A generator for draws; None for expected values.
    """
    if random_state is None:
        each = zip(components, parameters, cells, strict=True)
        return tuple(expected(part, θ, x, shares) for part, θ, x in each)
    labels = Categorical(shares.shape[1]).draw(shares, 1, random_state)[0]
    return filled_by_draws(components, parameters, cells, labels, random_state)


def filled_by_draws(
    components: Sequence[Component],
    parameters: Sequence[Any],
    cells: Sequence[NDArray[Any]],
    labels: NDArray[np.intp],
    random_state: np.random.Generator,
) -> Cells:
    """The cells of every component with draws of the labeled rows of parameters in place of missing ones."""
    drawn = Product(tuple(components)).draw(parameters, labels, random_state)
    each = zip(components, parameters, cells, drawn, strict=True)
    return tuple(completed_by(part, θ, x, values, labels) for part, θ, x, values in each)


def expected(part: Component, parameters: Any, cells: NDArray[Any], shares: Floats) -> NDArray[Any]:
    """Cells with what is expected in place of missing ones."""
    if part.is_joint:
        each = np.asarray(parameters[0])
        found = sum(
            shares[:, j, None] * completed_by(part, parameters, cells, each[labels], labels)
            for j in range(len(each))
            for labels in [np.full(len(cells), j)]
        )
        return np.where(np.isnan(cells), found, cells)
    if isinstance(part.variable, DiscreteVariable):
        return np.where(cells < 0, (shares @ np.asarray(parameters)).argmax(axis=1), cells)
    return np.where(np.isnan(cells), shares @ part.distribution.means(parameters), cells)


def completed_by(
    part: Component, parameters: Any, cells: NDArray[Any], values: NDArray[Any], labels: NDArray[np.intp]
) -> NDArray[Any]:
    """Cells with values of a component in place of missing ones; joint columns depend on what is observed."""
    if not part.is_joint:
        return np.where(cells < 0 if isinstance(part.variable, DiscreteVariable) else np.isnan(cells), values, cells)
    missing = np.isnan(cells)
    found = np.where(missing, values, cells)
    covariances = part.distribution.covariances(parameters)
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if not pattern.any() or pattern.all():
            continue
        for j in range(len(covariances)):
            rows = np.flatnonzero((which.reshape(-1) == number) & (labels == j))
            if len(rows):
                Σ = covariances[j]
                gain = np.linalg.solve(Σ[np.ix_(~pattern, ~pattern)], Σ[np.ix_(~pattern, pattern)])
                beyond = (cells[rows] - values[rows])[:, ~pattern]
                found[np.ix_(rows, pattern)] += beyond @ gain
    return found


def table_of(components: Sequence[Component], cells: Sequence[NDArray[Any]]) -> Table:
    """The cells of every component as a table of their columns."""
    n = len(cells[0])
    schema = Schema(column for component in components for column in component.columns)
    codes: list[NDArray[Any]] = []
    values: list[NDArray[Any]] = []
    for component, x in zip(components, cells, strict=True):
        if component.is_joint:
            values.extend(x.T)
        else:
            (codes if isinstance(component.variable, DiscreteVariable) else values).append(x)
    return Table(
        schema,
        np.array(codes, dtype=code_type(schema)).reshape(len(codes), n),
        np.array(values, dtype=np.float64).reshape(len(values), n),
    )
