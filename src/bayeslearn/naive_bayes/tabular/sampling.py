"""Random rows of a naive Bayes model, and missing values filled given the other values of their rows.

P(x_j | row) = Σ_c P(c | row) P(x_j | c)        columns are independent given the class
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.priors import one_row
from bayeslearn.naive_bayes.tabular.row_blocks import with_other
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.tables.intervals import values_of
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel


def sample(model: NaiveBayesModel, n_samples: int, random_state: Any) -> Table:
    """Random rows: a class by its probability, and each column given the class."""
    from bayeslearn.tables.table_builder import join  # noqa: PLC0415 - Arrow loads when a table is made

    n, rng = validation.integer("n_samples", n_samples, min_value=0), validation.generator(random_state)
    classes = rng.choice(len(model.classes), n, p=np.exp(model.class_log_prior))
    cells = [numbers_of(c, drawn(model, c, classes, rng)) for c in model.columns]
    return join([*cells, (model.target, classes.astype(np.int32))], n, None)


def drawn(
    model: NaiveBayesModel, column: Component, classes: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[Any]:
    """A value of a column for each row, given its class."""
    posterior = model.posterior(column.name)
    if posterior is None:  # all values were equal
        return np.full(len(classes), constant_of(model, column))
    discrete = isinstance(column.variable, DiscreteVariable)
    found = np.empty(len(classes), np.int32 if discrete else np.float64)
    if model.estimate == "integrated" and len(classes):
        values = column.distribution.predictive(posterior).draw(len(classes), rng)
        found[:] = values[np.arange(len(classes)), classes]
        return found
    parameters = column.distribution.estimate(posterior)
    for c in np.unique(classes):
        rows = np.flatnonzero(classes == c)
        found[rows] = column.distribution.draw(column.distribution.take(parameters, np.array([c])), len(rows), rng)[
            :, 0
        ]
    return found


def numbers_of(column: Component, codes: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """A column with its cells; the cells of a kernel density are numbers, the medians of what they hold."""
    variable = column.variable
    if column.distribution.name != "kernel_density" or not variable.interval_values:
        return variable, codes
    return NumericVariable(variable.name, read_as=variable.read_as, origin=variable.origin), medians(variable)[codes]


def medians(variable: DiscreteVariable) -> NDArray[np.float64]:
    """A number of each interval: the median of the rows in it, where it is known, else one inside its bounds."""
    return np.array([values[(len(values) - 1) // 2] for values in values_of(variable, np.empty(0))])


def constant_of(model: NaiveBayesModel, column: Component) -> float:
    """The value of a numeric column whose values are all equal; NaN where it has none."""
    whole = one_row(model.statistics[column.name])
    seen = any(array.any() for array in whole.arrays())
    return float(column.distribution.centers(column.distribution.smoothed(whole)).ravel()[0]) if seen else float("nan")


### imputation


def impute(
    model: NaiveBayesModel, data: Any, marked: Any, method: str, random_state: Any, columns: Iterable[str] | None
) -> Any:
    """The data in their kind with missing values filled; `marked` has the markers of missing values."""
    from bayeslearn.tables.arrow_columns import gather  # noqa: PLC0415 - Arrow loads when data come in
    from bayeslearn.tables.imputed_cells import Fill, fill_cells, in_memory  # noqa: PLC0415 - as above

    method = validation.choice("method", method, ["most_probable", "sample"])
    if marked is data:
        data = marked = in_memory(data)
    names = [column.name for column in gather(data, None, ())[0]]
    wanted = names if columns is None else name_list("columns", columns)
    require_known(wanted, names)
    schema = Schema(with_other(v) for v in (model.target, *(c.variable for c in model.columns)))
    table = as_table(marked, schema=schema, handle_unknown="last", missing_columns="missing")
    cells = Cells(model, table, method, validation.generator(random_state))
    fills = {}
    for name in wanted:
        if name in schema and (rows := cells.missing(name)).size:
            fills[name] = Fill(rows, cells.values(name, rows))
    return filled(data, fills) if isinstance(data, Table) else fill_cells(data, names, fills)


class Cells:
    """The missing values of a table, by the posterior of the class of each row."""

    def __init__(self, model: NaiveBayesModel, table: Table, method: str, rng: np.random.Generator) -> None:
        self.model, self.table, self.is_drawn, self.rng = model, table, method == "sample", rng
        known = table.codes_of(model.target.name)
        self.posterior = model.predict_proba(table)
        given = np.flatnonzero((known >= 0) & (known < len(model.classes)))
        self.posterior[given] = np.eye(len(model.classes))[known[given]]
        self.classes = self.posterior.argmax(axis=1)
        if self.is_drawn and len(known):
            reached = np.cumsum(self.posterior, axis=1)
            self.classes = np.minimum((rng.random((len(known), 1)) > reached).sum(axis=1), len(model.classes) - 1)

    def missing(self, name: str) -> NDArray[np.intp]:
        """The rows in which a column is missing."""
        if isinstance(self.table.schema[name], DiscreteVariable):
            return np.flatnonzero(self.table.codes_of(name) < 0)
        return np.flatnonzero(np.isnan(self.table.values_of(name)))

    def values(self, name: str, rows: NDArray[np.intp]) -> list[Any]:
        """A value of a column for each of some rows."""
        model = self.model
        if name == model.target.name:
            return [model.classes[code] for code in self.classes[rows].tolist()]
        column = model[name]
        found = drawn(model, column, self.classes[rows], self.rng) if self.is_drawn else self.best(column, rows)
        variable = column.variable
        if not isinstance(variable, DiscreteVariable):
            return found.tolist()
        if variable.cuts is not None:
            known = not variable.cuts or column.distribution.name == "kernel_density"
            return (medians(variable) if known else middles(variable.cuts))[found].tolist()
        return [variable.states[code] for code in found.tolist()]

    def best(self, column: Component, rows: NDArray[np.intp]) -> NDArray[Any]:
        """The most probable state, or the mean; a whole number where the distribution is of counts."""
        posterior, p = self.model.posterior(column.name), self.posterior[rows]
        if posterior is None:
            return np.full(len(rows), constant_of(self.model, column))
        parameters = column.distribution.estimate(posterior)
        if isinstance(column.variable, DiscreteVariable):
            return (p @ parameters).argmax(axis=1)
        means = p @ np.asarray(column.distribution.centers(parameters)).reshape(p.shape[1])
        whole = column.distribution.draw(parameters, 1, 0).dtype.kind in "iu"
        return np.rint(means) if whole else means


def middles(cuts: tuple[float, ...]) -> NDArray[np.float64]:
    """A number of each interval: its middle, and for the outer ones the bound."""
    edges = np.array([cuts[0], *cuts, cuts[-1]])
    return (edges[:-1] + edges[1:]) / 2


def filled(table: Table, fills: dict[str, Any]) -> Table:
    """A table with new values in some cells; new states go to the end of the states."""
    from bayeslearn.tables.table_builder import join  # noqa: PLC0415 - Arrow loads when a table is made

    columns: list[tuple[Any, NDArray[Any]]] = []
    for variable in table.schema:
        discrete, fill = isinstance(variable, DiscreteVariable), fills.get(variable.name)
        cells = (table.codes_of(variable.name) if discrete else table.values_of(variable.name)).copy()
        if fill is not None and isinstance(variable, DiscreteVariable):
            new = [state for state in dict.fromkeys(fill.values) if state not in variable.states]
            variable = DiscreteVariable(variable.name, (*variable.states, *new)) if new else variable  # noqa: PLW2901
            cells = cells.astype(np.int32)
            cells[fill.rows] = [variable.code_of(state) for state in fill.values]
        elif fill is not None:
            cells[fill.rows] = fill.values
        columns.append((variable, cells))
    return join(columns, table.n_rows, table.sample_weight)
