"""Missing values of rows filled by a mixture: by what is expected given the row, or by a draw.

    E[x_c | x] = Σ_j P(j | x) E[x_c | x, j]          P(state | x) = Σ_j P(j | x) P(state | j)

Within a component columns are independent, except for those of a joint Gaussian, whose missing part given the observed
part is μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o); a draw takes a whole random row x* in place of μ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import Categorical
from bayeslearn.tables import DiscreteVariable, Table
from bayeslearn.tables.table import code_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.mixture.model import MixtureModel

    Floats = NDArray[np.float64]
    Cells = tuple[NDArray[Any], ...]


def imputed(model: MixtureModel, data: Any, method: str, random_state: Any, markers: dict[str, Any]) -> Any:
    """Return the data with missing values filled."""
    from bayeslearn.tables.imputed_cells import completed  # noqa: PLC0415 - Arrow loads when data come in

    method = validation.choice("method", method, ["expected", "sample"])
    rng = validation.generator(random_state) if method == "sample" else None
    return completed(data, model.schema, lambda table: table_of(model, filled(model, table, rng)), **markers)


def filled(model: MixtureModel, table: Table, rng: np.random.Generator | None) -> Cells:
    """The cells of every part with nothing missing."""
    rows = model.rows(table)
    shares = model.predict_proba(rows)
    if rng is None:
        return tuple(
            expected(part, θ, cells, shares)
            for part, θ, cells in zip(model.parts, model.parameters, rows.cells, strict=True)
        )
    labels = Categorical(model.n_components).draw(shares, 1, rng)[0]
    drawn = model.product.draw(model.parameters, labels, rng)
    return tuple(
        completed_by(part, θ, cells, x, labels)
        for part, θ, cells, x in zip(model.parts, model.parameters, rows.cells, drawn, strict=True)
    )


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


def table_of(model: MixtureModel, cells: Cells) -> Table:
    """The cells of every part as a table of the columns of the model."""
    n = len(cells[0])
    codes: list[NDArray[Any]] = []
    values: list[NDArray[Any]] = []
    for part, x in zip(model.parts, cells, strict=True):
        if part.is_joint:
            values.extend(x.T)
        else:
            (codes if isinstance(part.variable, DiscreteVariable) else values).append(x)
    dtype = code_type(model.schema)
    return Table(
        model.schema,
        np.array(codes, dtype=dtype).reshape(len(codes), n),
        np.array(values, dtype=np.float64).reshape(len(values), n),
    )
