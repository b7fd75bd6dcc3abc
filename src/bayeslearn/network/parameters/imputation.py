"""Missing cells filled: by what is most probable, by a draw, or by a distribution for each of them.

Observed cells are unchanged. What a state is written as in its column, :mod:`.imputed_data` decides.

Given what a row shows, its missing variables fall into groups that are independent of each other, so the most probable
completion of a row is that of each group alone, and so is a draw from the joint posterior of all that is missing.
Equal groups are completed once; for draws every row has its own numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.network.inference.evidence import as_evidence
from bayeslearn.network.inference.results import batch_rows, believed, impossible_row
from bayeslearn.network.parameters.em_steps import batches, log_of_rows, parts
from bayeslearn.network.parameters.imputed_data import Opened, chosen_columns
from bayeslearn.network.parameters.training_cases import FoldedCases
from bayeslearn.tables import Table, as_table
from bayeslearn.tables.schema import code_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.compiled_network import Compiled
    from bayeslearn.tables.markers import Markers

### completed tables


def impute(
    network: BayesianNetwork,
    data: Any,
    *,
    method: Literal["most_probable", "sample"] = "most_probable",
    random_state: np.random.Generator | int | None = None,
    as_intervals: bool = False,
    handle_unknown: Literal["error", "missing"] = "missing",
    na_values: Markers = (),
    keep_default_na: bool = True,
    columns: Iterable[str] | None = None,
    drop_columns: Iterable[str] = (),
) -> Any:
    """The same data with the missing cells of the network's variables filled; see :meth:`BayesianNetwork.impute`."""
    method = validation.choice("method", method, ["most_probable", "sample"])
    luck = validation.generator(random_state) if method == "sample" else None
    if hasattr(type(data), "declared"):  # a source
        data = as_table(data, schema=network.schema, missing_columns="missing", handle_unknown=handle_unknown)
    if isinstance(data, Table) and data.schema == network.schema and not data.schema.numeric:
        return coded_table_filled(network, data, luck, columns, drop_columns)
    opened = Opened.of(
        network, data, handle_unknown=handle_unknown, na_values=na_values, keep_default_na=keep_default_na,
            columns=columns,
        drop_columns=drop_columns,
    )  # fmt: skip
    opened.warn_of_dates()
    full = joined(imputed(network, opened.table, luck), opened.table)
    fills = opened.fills(full, luck, as_intervals=as_intervals)
    return opened.filled(full, fills, as_intervals=as_intervals)


def sample_given(network: BayesianNetwork, n: int, evidence: Any, random_state: Any) -> Table:
    """Return n independent rows given evidence: what it leaves open is drawn from its joint posterior."""
    n, luck = validation.integer("n_samples", n, min_value=0), validation.generator(random_state)
    engine, evidence = network.inference, as_evidence(network, evidence)
    engine.query(evidence, [])  # explains evidence that is impossible
    seen, _, several = engine.read(evidence)
    codes = np.repeat(seen[:, None], n, axis=1).astype(code_type(network.schema))
    if several.any():  # ranges, and lists of states
        joint = engine.joint([network.variables[v] for v in np.flatnonzero(several)], evidence).probabilities
        codes[several] = np.unravel_index(luck.choice(joint.size, n, p=joint.reshape(-1)), joint.shape)
    return coded_table_filled(network, Table(network.schema, codes, np.empty((0, n))), luck, None, ())


def coded_table_filled(
    network: BayesianNetwork,
    table: Table,
    luck: np.random.Generator | None,
    columns: Iterable[str] | None,
    drop_columns: Iterable[str],
) -> Table:
    """A table in the codes of the network, with the missing cells of some columns filled."""
    fillable, dropped = chosen_columns(list(table.schema.names), columns, drop_columns)
    codes = table.codes.copy()
    codes[[name in dropped for name in table.schema.names]] = -1
    shown = Table(table.schema, codes, table.values, table.sample_weight) if dropped else table
    full = joined(imputed(network, shown, luck), shown)
    stays = np.array([name not in fillable for name in table.schema.names])
    if not stays.any():
        return full
    return Table(table.schema, np.where(stays[:, None], table.codes, full.codes), table.values, table.sample_weight)


def joined(batches: Iterator[Table], table: Table) -> Table:
    """The batches of a table as one."""
    done = list(batches)
    return Table.concat(done) if done else table


def imputed(network: BayesianNetwork, table: Table, luck: np.random.Generator | None) -> Iterator[Table]:
    """Batch after batch with nothing missing, by draws when there is `luck`."""
    if network.numeric_names:
        from bayeslearn.network.hybrid.rows import completed_table  # noqa: PLC0415 - most networks have no numbers

        yield completed_table(network, table, luck)  # type: ignore[arg-type]
        return
    start = 0
    for batch in batches(table):
        yield completed(network, batch, luck, start)
        start += batch.n_rows


def completed(network: BayesianNetwork, batch: Table, luck: np.random.Generator | None, start: int) -> Table:
    """One batch, whose first row is number `start` of the table."""
    compiled = network.inference.compiled
    zeros = compiled.cpt == 0
    cases = FoldedCases.of(compiled, batch.with_weights(None), count=bool(zeros.any()))
    codes = np.ascontiguousarray(batch.codes.T, dtype=np.int64)
    uniform = np.empty((0, codes.shape[1])) if luck is None else luck.random(codes.shape)
    work = Work.folded(cases) if luck is None else Work.row_by_row(cases)
    found, log_p = filled(compiled, codes, work, uniform)
    if np.isneginf(log_p).any() or (zeros.any() and (cases.known[zeros] > 0).any()):
        never = np.isneginf(log_of_rows(compiled, cases, log_p[work.item]))
        raise impossible_row(network, batch, validation.first_position(never), start)
    return Table(batch.schema, spread(codes, cases.record_start, work.item, found).T, batch.values, batch.sample_weight)


@dataclass(frozen=True)
class Work:
    """Groups to complete, sorted, and what each row takes from them."""

    groups: NDArray[np.uint64]
    #: Where the items of each group start.
    start: NDArray[np.int64]
    #: The row that each item is read from.
    row: NDArray[np.int64]
    #: The items of the rows, those of one row after those of another.
    item: NDArray[np.int64]

    @classmethod
    def folded(cls, cases: FoldedCases) -> Work:
        """Rows that look alike around a group share an item."""
        return cls(cases.items.groups, cases.items.start, cases.items.row, cases.record_item)

    @classmethod
    def row_by_row(cls, cases: FoldedCases) -> Work:
        """Every row has its own items."""
        order = np.argsort(cases.record_item, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        start = np.searchsorted(cases.record_item[order], cases.items.start)
        rows = np.repeat(np.arange(cases.n_rows), np.diff(cases.record_start))
        return cls(cases.items.groups, start, rows[order], place)


def filled(
    compiled: Compiled, codes: NDArray[np.int64], work: Work, uniform: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """States of the missing variables of each item, −1 elsewhere; and a log that is −∞ where there are none."""
    found, log_p = np.empty((len(work.row), codes.shape[1]), np.int32), np.zeros(len(work.row))
    arrays = compiled.arrays(compiled.all)

    def part(bounds: tuple[int, int]) -> None:
        failed = kernels.complete_items(
            arrays, compiled.sizes, compiled.log_size, work.groups, work.start, *bounds, codes, work.row, uniform,
            compiled.limit, found, log_p,
        )  # fmt: skip
        if failed >= 0:
            active = codes[work.row[work.start[failed]]] < 0
            compiled.require_room(compiled.plan(active, compiled.all).entries)

    kernels.parallel(part, parts(work.start), worth=len(work.row) > 64)
    return found, log_p


def spread(
    codes: NDArray[np.int64], record_start: NDArray[np.int64], item: NDArray[np.int64], found: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The rows with every missing cell from the item that holds it: what is missing is −1 in both, so the larger."""
    full, count = codes.copy(), np.diff(record_start)
    for k in range(count.max(initial=0)):
        rows = np.flatnonzero(count > k)
        full[rows] = np.maximum(full[rows], found[item[record_start[rows] + k]])
    return full


### beliefs of missing cells


@dataclass(frozen=True)
class MissingCell:
    """One missing cell, and how probable each state is there."""

    row: int
    variable: str
    p: dict[Any, float]


@dataclass(frozen=True)
class ImputationPosterior:
    """The predictive distribution of every missing cell: P(variable | what its row shows).

    >>> found = ImputationPosterior({"wet": np.array([3])}, {"wet": np.array([[0.9, 0.1]])}, {"wet": ("yes", "no")})
    >>> list(found)
    [MissingCell(row=3, variable='wet', p={'yes': 0.9, 'no': 0.1})]
    """

    #: The rows in which each variable is missing.
    rows: dict[str, NDArray[np.int64]]
    #: For each variable an array (rows, states), a line for each of its missing cells.
    beliefs: dict[str, NDArray[np.float64]]
    states: dict[str, tuple[Any, ...]]

    def __len__(self) -> int:
        return sum(len(rows) for rows in self.rows.values())

    def __iter__(self) -> Iterator[MissingCell]:
        """Cell by cell, row after row."""
        names = list(self.rows)
        where = [(int(row), v, i) for v, name in enumerate(names) for i, row in enumerate(self.rows[name])]
        for row, v, i in sorted(where):
            name = names[v]
            yield MissingCell(row, name, dict(zip(self.states[name], self.beliefs[name][i].tolist(), strict=True)))


def missing_beliefs(network: BayesianNetwork, data: Any) -> ImputationPosterior:
    """How probable each state of each missing cell is, given what its row shows.

    >>> from bayeslearn.network.formats import read_network
    >>> holes = missing_beliefs(read_network("asia"), [{"smoke": "yes", "xray": "yes", "lung": None}])
    >>> holes.rows["lung"], holes.beliefs["lung"].round(3)
    (array([0]), array([[0.646, 0.354]]))
    """
    table = as_table(data, schema=network.schema, missing_columns="missing")
    beliefs = {name: [np.empty((0, len(network.states(name))))] for name in network.variables}
    start = 0
    for batch in table.batches(batch_rows(network)):
        found = believed(network, batch, start)
        for name, code in zip(network.variables, batch.codes, strict=True):
            beliefs[name].append(found[name][code < 0])
        start += batch.n_rows
    return ImputationPosterior(
        {name: np.flatnonzero(code < 0) for name, code in zip(network.variables, table.codes, strict=True)},
        {name: np.concatenate(found) for name, found in beliefs.items()},
        {name: network.states(name) for name in network.variables},
    )
