"""The rows of what was prepared: at hand, or by passes over a source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.network.structure.counting.cache import ScoreCache
from bayeslearn.network.structure.counting.counts import FamilyCounts
from bayeslearn.network.structure.holes.completions import DRAWS
from bayeslearn.network.structure.holes.shown import Far, Near
from bayeslearn.network.structure.sourced.counts import SeenCounts
from bayeslearn.network.structure.sourced.looking import ROWS, Distinct, room_of
from bayeslearn.network.structure.sourced.scores import SourceScores
from bayeslearn.sources import is_source

if TYPE_CHECKING:
    from bayeslearn.network.structure.counting.scores import Score
    from bayeslearn.network.structure.preparing import Prepared
    from bayeslearn.network.structure.results import StructureFit
    from bayeslearn.tables import Table


def scores_of(prepared: Prepared, score: Score, memory: int, known: StructureFit | None = None) -> ScoreCache:
    """Scores of complete rows, be they at hand or far away."""
    if prepared.rows is not None:
        return ScoreCache(counts_of(prepared.rows, known, memory // 4), score)
    assert prepared.looked is not None
    return SourceScores(SeenCounts(prepared.table, prepared.looked, memory=memory), score)


def rows_with_holes(prepared: Prepared, memory: int) -> Near | Far:
    """Rows to complete: at hand if there is room for so many completions of each as are drawn, else by passes."""
    looked, rows = prepared.looked, prepared.rows
    if looked is None or (rows is not None and DRAWS * room_of(rows) <= memory // ROWS):
        assert rows is not None
        return Near(rows)
    return Far(prepared.table, replace(looked, rows=Distinct(None, 0)), memory)


def require_rows(prepared: Prepared, what: str) -> Table:
    """The rows in memory; of a source the different ones."""
    if prepared.rows is None:
        raise CapacityError(
            f"{what} are learned from in memory, and the source has too many different rows for that",
            hint="raise `memory_limit`, leave columns out, or learn from a part of the rows: scan fewer files",
        )
    return prepared.rows


def require_tables(known: StructureFit, data: Any) -> None:
    """What goes on from earlier rows has them at hand."""
    if known.prepared.looked is not None or is_source(data):
        raise ParameterError(
            "`known` goes on from the rows of a table, not from those of a source",
            hint="scan the earlier and the new rows together and learn from all of them",
        )


def counts_of(table: Table, known: StructureFit | None, memory: int) -> FamilyCounts:
    """Of rows that were counted before nothing is counted again."""
    if known is None or known.counts is None:
        return FamilyCounts(table, memory=memory)
    new = np.arange(known.table.n_rows, table.n_rows)
    return known.counts + FamilyCounts(table.take(new), memory=memory)
