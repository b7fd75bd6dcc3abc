"""Experts that a table brings with it: one for each column, and the majority.

    majority       what was most frequent so far
    each column    what was most frequent so far beside the state that the column has in this row

They learn as rows come: each row is answered first and counted then. Where a column shows a missing or a new state, it
says what the majority says, and before the first row that is the first label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import ParameterError, UnknownColumnError
from bayeslearn.tables import Discrete

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables import Schema, Table

#: What the expert is called that looks at no column.
MAJORITY = "majority"


class TableExperts:
    """The experts of a table of discrete columns; :meth:`advise` rows in order, batch by batch.

    >>> from bayeslearn.tables import as_table
    >>> table = as_table({"sky": list("ssrsr"), "play": list("yynyn")}, discrete=["sky", "play"])
    >>> experts = TableExperts(table.schema, "play")
    >>> experts.names
    ('majority', 'sky')
    >>> experts.advise(table).T
    array([[0, 1, 1, 1, 1],
           [0, 1, 1, 1, 0]], dtype=int32)
    """

    def __init__(self, schema: Schema, target: str) -> None:
        variable = schema[target]
        if not isinstance(variable, Discrete):
            raise UnknownColumnError(f"the target {target!r} is a column of numbers", hint="declare it discrete")
        columns = [v for v in schema.discrete if v.name != target]
        if MAJORITY in (v.name for v in columns):
            raise ParameterError(f"a column may not be called {MAJORITY!r}, which is an expert of its own")
        self.target = variable
        self.columns = tuple(v.name for v in columns)
        self.names = (MAJORITY, *self.columns)
        most = max((v.size for v in columns), default=1)
        self._counts = np.zeros((len(self.names), most, variable.size), np.int64)

    def advise(self, table: Table) -> NDArray[np.int32]:
        """Codes of labels, rows × experts; each row is counted after its answer."""
        codes = np.zeros((len(self.names), table.n_rows), np.int32)
        for j, name in enumerate(self.columns, start=1):
            codes[j] = table.code(name)
        advice = np.empty((table.n_rows, len(self.names)), np.int32)
        truth = table.code(self.target.name).astype(np.int64)
        kernels.follow_counts(codes, truth, self._counts, advice)
        return advice
