"""Predictions: beliefs about a few variables in every row of a table, one batch of rows after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ImpossibleDataError, ImpossibleEvidenceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.inference.answers import CaseBeliefs
    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.tables import Discrete, Table

#: Beliefs in memory at a time, and the fewest rows of a batch.
MOST_BELIEFS, LEAST_ROWS = 1 << 22, 256


def predictions(network: BayesianNetwork, table: Table, targets: list[str]) -> Iterator[tuple[Table, CaseBeliefs]]:
    """Every batch with its beliefs about the targets, whose own columns are not looked at."""
    start = 0
    for batch in table.batches(batch_rows(network)):
        yield batch, believed(network, batch.hide(targets), start, ask=targets)
        start += batch.n_rows


def batch_rows(network: BayesianNetwork) -> int:
    """Rows whose beliefs are in memory at a time."""
    return max(MOST_BELIEFS // sum(cpt.variable.size for cpt in network), LEAST_ROWS)


def believed(network: BayesianNetwork, batch: Table, start: int, *, ask: list[str] | None = None) -> CaseBeliefs:
    """Beliefs of a batch whose first row is number `start` of the table."""
    try:
        return network.exact.cases(batch, ask=ask)
    except ImpossibleEvidenceError as error:
        raise renumbered(error, start) from None


def impossible_row(network: BayesianNetwork, table: Table, row: int, start: int = 0) -> ImpossibleDataError:
    """The error for a row of probability zero, of a batch that begins at `start`: what of it cannot be together."""
    try:
        believed(network, table.take([row]), start + row)
    except ImpossibleEvidenceError as error:
        return error
    return ImpossibleDataError(f"row {start + row} is too improbable to be told from impossible", row=start + row)


def renumbered(error: ImpossibleEvidenceError, start: int) -> ImpossibleEvidenceError:
    """The error of a batch, with its row counted in the whole table."""
    row = error.details["row"]
    message = error.message.replace(f"of row {row} ", f"of row {start + row} ", 1)
    return ImpossibleEvidenceError(message, hint=error.hint, **(error.details | {"row": start + row}))


def state_names(variable: Discrete) -> NDArray[Any]:
    """The states as an array of their own type; as objects when they mix types."""
    kinds = {type(state) for state in variable.states}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(variable.states)
    return np.fromiter(variable.states, dtype=object)
