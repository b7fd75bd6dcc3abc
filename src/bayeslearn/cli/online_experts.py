"""The experts of ``bayeslearn online``: those of the table, naive Bayes, and columns of advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.tables import DiscreteVariable, Table

#: Rows of a batch at most, and the points that a curve has in a short table.
BATCH, POINTS = 4096, 512

#: Naive Bayes learns rows by themselves until it has so many, then as many at once as are a small share of all.
PATIENCE = 50


class Experts:
    """All experts of a table, asked batch by batch; labels are codes."""

    def __init__(self, table: Table, target: str, words: Iterable[str], advice: list[str]) -> None:
        from bayeslearn.online import TableExperts

        self.table, self.target, self.advice = table, target, advice
        self.words = set(words)
        self.cells = table.drop(advice) if advice else table
        self.own = TableExperts(self.cells.schema, target)
        self.kept = [i for i, name in enumerate(self.own.names) if ("majority" if i == 0 else "columns") in self.words]
        self.naive = Naive(self.cells, target) if "naive" in self.words else None
        self.labels = self._labels()
        self.names = [*(self.own.names[i] for i in self.kept), *(["naive Bayes"] if self.naive else []), *advice]
        if len(set(self.names)) < len(self.names):
            raise ParameterError("a column may not be called 'naive Bayes', which is an expert of its own")
        if not self.names:
            raise ParameterError("no expert is left to vote", hint="there is no column beside the target")

    def rounds(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """What they say of the rows of each batch, and what was so."""
        start, step = 0, max(1, min(BATCH, -(-self.table.n_rows // POINTS)))
        for batch in self.table.batches(step):
            cells = batch.drop(self.advice) if self.advice else batch
            said = self.own.advise(cells)
            columns = [said[:, self.kept]]
            if self.naive:
                columns.append(self.naive.advise(start, cells, said[:, 0])[:, None])
            columns += [self._told(batch, name)[:, None] for name in self.advice]
            yield np.hstack(columns), batch.codes_of(self.target).astype(np.int64)
            start += batch.n_rows

    def _labels(self) -> list[Any]:
        """Those of the target, then those that only advice has."""
        variables: list[DiscreteVariable] = [self.table.schema[name] for name in (self.target, *self.advice)]  # type: ignore[misc]
        return list(dict.fromkeys(state for v in variables for state in v.states))

    def _told(self, batch: Table, name: str) -> NDArray[np.int32]:
        states = batch.schema[name].states  # type: ignore[attr-defined]
        return np.array([*(self.labels.index(state) for state in states), -1], np.int32)[batch.codes_of(name)]


class Naive:
    """Naive Bayes that learns as rows come."""

    def __init__(self, table: Table, target: str) -> None:
        from bayeslearn.naive_bayes import fit_naive_bayes

        self.table, self.target = table, target
        self.model: Any = 0.0 * fit_naive_bayes(table, target, prior="laplace")  # the states, and no row yet
        self.known = 0

    def advise(self, start: int, batch: Table, otherwise: NDArray[np.int32]) -> NDArray[np.int32]:
        """What it says of each row, from those before; before the first, what others say."""
        from bayeslearn.naive_bayes.tabular.row_blocks import of_table

        said, i = otherwise.copy(), 0
        while i < batch.n_rows:
            self._learn(start + i)
            rows = np.arange(i, min(i + max(1, (start + i) // PATIENCE), batch.n_rows))
            if self.known:
                asked = of_table(batch.take(rows), self.model.columns)
                said[rows] = self.model.predict_proba(asked).argmax(axis=1)
            i += len(rows)
        return said

    def _learn(self, upto: int) -> None:
        """The rows before this one, once they are worth it."""
        from bayeslearn.naive_bayes.tabular.label_statistics import added
        from bayeslearn.naive_bayes.tabular.row_blocks import Cases, of_table

        if upto - self.known >= max(1, upto // PATIENCE):
            new = self.table.take(np.arange(self.known, upto))
            labels = new.codes_of(self.target).astype(np.int32)
            self.model, self.known = added(self.model, Cases(of_table(new, self.model.columns), labels)), upto
