"""The experts of ``bayeslearn online``: those of the table, naive Bayes, and columns with predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.tables import Table

#: Rows of a batch at most, and the points that a curve has in a short table.
BATCH, POINTS = 4096, 512

#: Naive Bayes learns single rows until it has this many, then batches of a small share of all.
PATIENCE = 50


class Experts:
    """All experts of a table, asked batch by batch; labels are codes."""

    def __init__(self, table: Table, target: str, kinds: Iterable[str], expert_columns: list[str]) -> None:
        from bayeslearn.online import TableExperts

        self.table, self.target, self.expert_columns = table, target, expert_columns
        self.kinds = set(kinds)
        self.cells = table.drop(expert_columns) if expert_columns else table
        self.own = TableExperts(table.schema, target, expert_columns=expert_columns)
        n = len(self.own.names) - len(expert_columns)
        self.kept = [i for i in range(n) if ("columns" if i else "majority") in self.kinds]
        self.naive = Naive(self.cells, target) if "naive" in self.kinds else None
        self.labels = self.own.classes
        naive = ["naive Bayes"] if self.naive else []
        self.names = [*(self.own.names[i] for i in self.kept), *naive, *expert_columns]
        if len(set(self.names)) < len(self.names):
            raise ParameterError("no column can have the name 'naive Bayes', which is an expert")
        if not self.names:
            raise ParameterError("there is no expert", hint="there is no column besides the target")

    def rounds(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """The predictions of the experts for the rows of each batch, and the labels."""
        start, step = 0, max(1, min(BATCH, -(-self.table.n_rows // POINTS)))
        for batch in self.table.batches(step):
            advice = self.own.advise(batch)
            columns = [advice[:, self.kept]]
            if self.naive:
                cells = batch.drop(self.expert_columns) if self.expert_columns else batch
                columns.append(self.naive.advise(start, cells, advice[:, 0])[:, None])
            columns.append(advice[:, advice.shape[1] - len(self.expert_columns) :])
            yield np.hstack(columns), batch.codes_of(self.target).astype(np.int64)
            start += batch.n_rows


class Naive:
    """Naive Bayes that learns as rows come."""

    def __init__(self, table: Table, target: str) -> None:
        from bayeslearn.naive_bayes import fit_naive_bayes

        self.table, self.target = table, target
        fitted = fit_naive_bayes(table, target, distributions="gaussian", prior="laplace", calibrate=False)
        self.model: Any = 0.0 * fitted  # the states and nothing else: what is chosen by labels would know later rows
        self.known = 0

    def advise(self, start: int, batch: Table, otherwise: NDArray[np.int32]) -> NDArray[np.int32]:
        """Its predictions from the rows before; those of `otherwise` before the first row."""
        from bayeslearn.naive_bayes.tabular.row_blocks import of_table

        advice, i = otherwise.copy(), 0
        while i < batch.n_rows:
            self._learn(start + i)
            rows = np.arange(i, min(i + max(1, (start + i) // PATIENCE), batch.n_rows))
            if self.known:
                asked = of_table(batch.take(rows), self.model.columns)
                advice[rows] = self.model.predict_proba(asked).argmax(axis=1)
            i += len(rows)
        return advice

    def _learn(self, upto: int) -> None:
        """Learn the rows before this one, if there are enough of them."""
        from bayeslearn.naive_bayes.tabular.label_statistics import added
        from bayeslearn.naive_bayes.tabular.row_blocks import Cases, of_table

        if upto - self.known >= max(1, upto // PATIENCE):
            new = self.table.take(np.arange(self.known, upto))
            labels = new.codes_of(self.target).astype(np.int32)
            self.model, self.known = added(self.model, Cases(of_table(new, self.model.columns), labels)), upto
